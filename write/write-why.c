/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-why.h"

#include <math.h>
#include <string.h>

#include "base/each.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/fields.h"
#include "write/text-table.h"
#include "write/write-why-shared.h"

/* Rows of text are those with so much of what a request, or a kind, takes longer. */
#define LEAST_SHARE 0.02
enum { MOST_ROWS = 8, NARROWEST = 12 };

/* This many calls more than usual are worth a line. */
enum { MORE_LOAD = 2 };
/* And this part of the variance of own time that goes with load. */
#define GOES_WITH 0.1

static char *format_more(gint64 ns)
{
        g_autofree char *size = path_format_duration(ns < 0 ? -ns : ns);

        return g_strdup_printf("%c%s", ns < 0 ? '-' : '+', size);
}

/* "99.8 %", never 100 of what is less. */
static char *format_slower(double share)
{
        double percent = floor(share * 1000) / 10;

        return g_strdup_printf("%.*f %%", percent < 99 ? 0 : 1,
                               percent < 99 ? floor(percent) : percent);
}

#define append_line(out, indent, columns, ...)                                                     \
        text_append_line(out, " ,/|(", indent, columns, __VA_ARGS__)

/* The first column, place, gives way as far as it can. */
static void why_text_append_table(GString *out, TextTable *table, guint columns)
{
        text_table_fit(table, columns > 2 ? columns - 2 : 0);
        text_table_write(table, "  ", out);
}

/* The end of a long name tells more: the last node is who it is about. */
static char *shorten_place(const char *where, guint columns)
{
        guint room = columns == 0 ? 60 : MAX(NARROWEST, columns > 90 ? columns - 60 : columns / 3);
        const char *from = where;

        if (text_width(where) <= room)
                return g_strdup(where);
        while (text_width(from) + 3 > room && strchr(from, '/'))
                from = strchr(from, '/') + 2;
        if (from == where || text_width(from) + 4 > room)
                return text_shorten(from, room);
        return g_strdup_printf(".. / %s", from);
}

/* --- a request, for people -------------------------------------------------------- */

static gboolean is_worth_a_row(const WhyRequest *r, guint i)
{
        const WhyPlace *p = &g_array_index(r->places, WhyPlace, i);
        double more = (double)ABS(p->excess);

        return i == 0 || (i < MOST_ROWS && more >= LEAST_SHARE * (double)ABS(r->time - r->usual)) ||
               p->calls != p->usual_calls;
}

/* "app1|app2 (app2)" */
static char *name_request_place(const WhyPlace *p, guint columns)
{
        g_autofree char *place = shorten_place(p->where, columns);
        const char *last = strrchr(p->where, '/');

        if (!p->node || !strchr(last ? last : p->where, '|'))
                return g_steal_pointer(&place);
        return g_strdup_printf("%s (%s)", place, p->node);
}

static void why_text_append_places(GString *out, const WhyRequest *r, guint columns)
{
        g_autoptr(TextTable) t = text_table_new();

        text_table_add_column(t, "place", TEXT_LEFT, 0);
        text_table_add_column(t, "own time", TEXT_RIGHT, 1);
        text_table_add_column(t, "usually", TEXT_RIGHT, 2);
        text_table_add_column(t, "more", TEXT_RIGHT, 0);
        text_table_add_column(t, "slower than", TEXT_RIGHT, 3);
        text_table_add_column(t, "calls", TEXT_RIGHT, 5);
        text_table_add_column(t, "serving", TEXT_RIGHT, 4);
        for (guint i = 0; i < r->places->len; i++) {
                const WhyPlace *p = &g_array_index(r->places, WhyPlace, i);

                if (!is_worth_a_row(r, i))
                        continue;
                text_table_add(t, name_request_place(p, columns));
                text_table_add(t, path_format_duration(p->own));
                text_table_add(t, path_format_duration(p->usual));
                text_table_add(t, format_more(p->excess));
                text_table_add(t, p->own > 0 ? format_slower(p->slower) : g_strdup("-"));
                text_table_add(t,
                               p->calls == p->usual_calls
                                       ? g_strdup_printf("%u", p->calls)
                                       : g_strdup_printf("%u, not %u", p->calls, p->usual_calls));
                text_table_add(t, p->node ? g_strdup_printf("%u (%u)", p->load, p->usual_load)
                                          : g_strdup("-"));
        }
        why_text_append_table(out, t, columns);
}

static void append_calls(GString *out, const WhyPlace *p, guint columns)
{
        if (!p->node && p->calls == 0 && p->usual_calls == 0)
                return;
        if (p->usual_calls == 0 && p->calls > 0)
                append_line(out, 2, columns, "Calls that most others do not make: %u to %s.",
                            p->calls, p->where);
        else if (p->calls > p->usual_calls)
                append_line(out, 2, columns, "More calls to %s than usual: %u, not %u.", p->where,
                            p->calls, p->usual_calls);
        else if (p->calls < p->usual_calls)
                append_line(out, 2, columns, "Fewer calls to %s than usual: %u, not %u.", p->where,
                            p->calls, p->usual_calls);
}

/* How busy it was, and whether that goes with time. */
static void why_text_append_load(GString *out, const WhyPlace *p, guint columns)
{
        g_autofree char *each = path_format_duration((gint64)p->each);

        if (!p->node || p->load < p->usual_load + MORE_LOAD)
                return;
        if (p->goes_with_load >= GOES_WITH && p->each > 0)
                append_line(out, 2, columns,
                            "%s was serving %u others when it was called, usually %u; its own time "
                            "goes with that: %s more for each.",
                            p->node, p->load, p->usual_load, each);
        else
                append_line(out, 2, columns,
                            "%s was serving %u others when it was called, usually %u.", p->node,
                            p->load, p->usual_load);
}

static void append_waiting(GString *out, const WhyPlace *p, guint columns)
{
        g_autofree char *queued = path_format_duration(p->queued);
        g_autofree char *connecting = path_format_duration(p->connecting);

        if (p->queued > 0)
                append_line(out, 2, columns, "What was sent to %s lay in a queue for %s.", p->where,
                            queued);
        if (p->connecting > 0)
                append_line(out, 2, columns,
                            "A connection to %s was opened for it, %s before the call.", p->where,
                            connecting);
}

/* Of the place with the greatest excess. */
static void append_remedy(GString *out, const WhyPlace *p, guint columns)
{
        const char *remedy = p->cause < N_WAY_CAUSES ? way_cause_remedy(p->cause) : NULL;

        if (remedy)
                append_line(out, 2, columns, "%s: %s.", p->where, remedy);
}

/* Calls of few places can be wrong in a request; the worst is said. */
static void append_doubt(GString *out, const WhyRequest *r, guint columns)
{
        const WhyPlace *worst = NULL;

        for (guint i = 0; i < r->places->len && is_worth_a_row(r, i); i++) {
                const WhyPlace *p = &g_array_index(r->places, WhyPlace, i);

                if (p->probability < WHY_SURE && (!worst || p->probability < worst->probability))
                        worst = p;
        }
        if (worst)
                append_line(out, 2, columns,
                            "This may be wrong: at %s a call has its parent with probability %.2f "
                            "only, the whole path is right with %.2f.",
                            worst->where, worst->probability, r->probability);
        else if (r->probability < WHY_SURE)
                append_line(out, 2, columns,
                            "This may be wrong: the path is right with probability %.2f only.",
                            r->probability);
}

static void write_request_text(GString *out, const WhyRequest *r, guint columns)
{
        g_autofree char *time = path_format_duration(r->time),
                        *usual = path_format_duration(r->usual), *slower = format_slower(r->slower),
                        *start = path_format_moment(r->start, 6),
                        *alike = path_format_count(r->alike),
                        *title = path_pattern_title(r->label, r->signature);

        append_line(out, 0, columns,
                    "request %" G_GUINT64_FORMAT ": %s, usually %s: slower than %s of %s alike",
                    r->request, time, usual, slower, alike);
        append_line(out, 2, columns, "at %s", start);
        append_line(out, 2, columns, "%s", title);
        if (r->alike < WHY_FEWEST)
                append_line(out, 2, columns, "Fewer than %d are alike: what is usual says little.",
                            WHY_FEWEST);
        why_text_append_places(out, r, columns);
        for (guint i = 0; i < r->places->len; i++)
                append_calls(out, &g_array_index(r->places, WhyPlace, i), columns);
        if (r->places->len > 0)
                why_text_append_load(out, &g_array_index(r->places, WhyPlace, 0), columns);
        for (guint i = 0; i < r->places->len; i++)
                append_waiting(out, &g_array_index(r->places, WhyPlace, i), columns);
        if (r->faults)
                append_line(out, 2, columns, "%s", r->faults);
        if (r->places->len > 0)
                append_remedy(out, &g_array_index(r->places, WhyPlace, 0), columns);
        append_doubt(out, r, columns);
}

/* --- a request, for programs ------------------------------------------------------- */

/* As JSON names them; columns of TSV have longer names where a place has a member of that name. */
static const Field request_fields[] = {
        { "request", FIELD_COUNT, G_STRUCT_OFFSET(WhyRequest, request) },
        { "start", FIELD_TIME, G_STRUCT_OFFSET(WhyRequest, start) },
        { "time", FIELD_TIME, G_STRUCT_OFFSET(WhyRequest, time) },
        { "usual", FIELD_TIME, G_STRUCT_OFFSET(WhyRequest, usual) },
        { "slower", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyRequest, slower) },
        { "alike", FIELD_COUNT, G_STRUCT_OFFSET(WhyRequest, alike) },
        { "pattern_count", FIELD_COUNT, G_STRUCT_OFFSET(WhyRequest, pattern_count) },
        { "probability", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyRequest, probability) },
        { "operation", FIELD_TEXT, G_STRUCT_OFFSET(WhyRequest, label) },
        { "path", FIELD_TEXT, G_STRUCT_OFFSET(WhyRequest, signature) },
};

static const Field place_fields[] = {
        { "place", FIELD_TEXT, G_STRUCT_OFFSET(WhyPlace, where) },
        { "node", FIELD_TEXT, G_STRUCT_OFFSET(WhyPlace, node) },
        { "own", FIELD_TIME, G_STRUCT_OFFSET(WhyPlace, own) },
        { "usual", FIELD_TIME, G_STRUCT_OFFSET(WhyPlace, usual) },
        { "excess", FIELD_TIME, G_STRUCT_OFFSET(WhyPlace, excess) },
        { "slower", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyPlace, slower) },
        { "calls", FIELD_UINT, G_STRUCT_OFFSET(WhyPlace, calls) },
        { "usual_calls", FIELD_UINT, G_STRUCT_OFFSET(WhyPlace, usual_calls) },
        { "load", FIELD_UINT, G_STRUCT_OFFSET(WhyPlace, load) },
        { "usual_load", FIELD_UINT, G_STRUCT_OFFSET(WhyPlace, usual_load) },
        { "each", FIELD_CUT, G_STRUCT_OFFSET(WhyPlace, each) },
        { "goes_with_load", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyPlace, goes_with_load) },
        { "queued", FIELD_TIME, G_STRUCT_OFFSET(WhyPlace, queued) },
        { "connecting", FIELD_TIME, G_STRUCT_OFFSET(WhyPlace, connecting) },
        { "probability", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyPlace, probability) },
};

static void write_request_tsv(GString *out, const WhyRequest *r, gboolean first)
{
        if (first)
                g_string_append(out,
                                "request\tstart\ttime\tusual_time\tslower\talike\tpattern_count\t"
                                "path_probability\toperation\tpath\tplace\tnode\town\tusual\t"
                                "excess\town_slower\tcalls\tusual_calls\tload\tusual_load\teach\t"
                                "goes_with_load\tqueued\tconnecting\tprobability\n");
        EACH (const WhyPlace, place, r->places) {
                fields_append_cells(out, request_fields, G_N_ELEMENTS(request_fields), r);
                fields_append_cells(out, place_fields, G_N_ELEMENTS(place_fields), place);
                out->str[out->len - 1] = '\n';
        }
}

/* One line. */
static void write_request_json(GString *out, const WhyRequest *r)
{
        Json json = JSON_IN(out);

        json_open(&json, '{');
        fields_put(&json, request_fields, G_N_ELEMENTS(request_fields), r);
        if (r->faults)
                json_put_string(&json, "faults", r->faults);
        fields_put_list(&json, "places", -1, place_fields, G_N_ELEMENTS(place_fields), r->places);
        json_close(&json, '}');
        g_string_append_c(out, '\n');
}

void why_write_request(GString *out, const WhyRequest *r, WhyFormat format, gboolean first,
                       guint columns)
{
        switch (format) {
        case WHY_TEXT:
                if (!first)
                        g_string_append_c(out, '\n');
                write_request_text(out, r, columns);
                break;
        case WHY_TSV:
                write_request_tsv(out, r, first);
                break;
        case WHY_JSON:
                write_request_json(out, r);
                break;
        }
}

void why_write_shared(GString *out, const GArray *shared, WhyFormat format, guint columns)
{
        Json json = JSON_IN(out);

        if (format == WHY_TEXT && shared->len > 0) {
                g_string_append_c(out, '\n');
                why_shared_append_text(out, 0, shared, columns);
        } else if (format == WHY_JSON && shared->len > 0) {
                json_open(&json, '{');
                why_shared_put(&json, shared);
                json_close(&json, '}');
                g_string_append_c(out, '\n');
        }
}

/* --- kinds, for people ------------------------------------------------------------- */

static void append_burst(GString *out, guint indent, const WhyBurst *b, guint columns)
{
        g_autofree char *length = path_format_duration(b->to - b->from);
        g_autofree char *since = path_format_duration(b->since);
        g_autofree char *from = path_format_moment(b->from, 6), *all = path_format_count(b->all);

        if (b->n == 0) {
                append_line(out, indent, columns,
                            "The slow ones began at any time, not in one burst.");
                return;
        }
        append_line(out, indent, columns,
                    "%u of the %u slowest began within %s, at %s (%s after the first), when %s "
                    "requests did%s.",
                    b->n, b->of, length, from, since, all,
                    b->n * 2 < b->of ? "; the others at any time" : "");
}

static gboolean differs(double slow, double middle)
{
        return fabs(slow - middle) >= 0.05;
}

static char *format_change(double slow, double middle)
{
        return differs(slow, middle) ? g_strdup_printf("%.1f (%.1f)", slow, middle)
                                     : g_strdup_printf("%.1f", slow);
}

/* "web1|web2 (queue) (web1 in 12 of 12)" */
static char *name_place(const WhyDifference *d, guint columns)
{
        g_autofree char *place = shorten_place(d->where, columns);

        if (!d->replica)
                return g_steal_pointer(&place);
        return g_strdup_printf("%s (%s in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ")", place,
                               d->replica, d->replica_slow, d->slow_there);
}

static void append_differences(GString *out, const WhyKind *k, guint columns)
{
        g_autoptr(TextTable) t = text_table_new();
        gboolean waits = FALSE;

        EACH (const WhyDifference, d, k->places)
                waits |= d->slow_waiting > 0 || d->middle_waiting > 0;
        text_table_add_column(t, "place", TEXT_LEFT, 0);
        text_table_add_column(t, "slow", TEXT_RIGHT, 2);
        text_table_add_column(t, "middle", TEXT_RIGHT, 1);
        text_table_add_column(t, "more", TEXT_RIGHT, 0);
        text_table_add_column(t, "share", TEXT_RIGHT, 0);
        text_table_add_column(t, "calls", TEXT_RIGHT, 5);
        text_table_add_column(t, "serving", TEXT_RIGHT, 3);
        if (waits)
                text_table_add_column(t, "waiting", TEXT_RIGHT, 4);
        for (guint i = 0; i < k->places->len; i++) {
                const WhyDifference *d = &g_array_index(k->places, WhyDifference, i);
                gint64 waiting = (gint64)(d->slow_waiting - d->middle_waiting);

                if (i > 0 && fabs(d->share) < LEAST_SHARE &&
                    !differs(d->slow_calls, d->middle_calls))
                        continue;
                text_table_add(t, name_place(d, columns));
                text_table_add(t, path_format_duration((gint64)d->slow));
                text_table_add(t, path_format_duration((gint64)d->middle));
                text_table_add(t, format_more((gint64)(d->slow - d->middle)));
                text_table_add(t, g_strdup_printf("%.0f %%", 100 * d->share));
                text_table_add(t, format_change(d->slow_calls, d->middle_calls));
                text_table_add(t, format_change(d->slow_load, d->middle_load));
                if (waits)
                        text_table_add(t, waiting ? format_more(waiting) : g_strdup("-"));
        }
        why_text_append_table(out, t, columns);
}

/* What is waited for at a replica that has more to do than the others. */
static void append_busiest(GString *out, const WhyKind *k, guint columns)
{
        EACH (const WhyDifference, d, k->places)
                if (d->busiest && d->share >= LEAST_SHARE)
                        append_line(out, 2, columns, "%s: %s gets %.0f %% of the calls.", d->where,
                                    d->busiest, 100 * d->busiest_share);
}

/* Whether one place has most of the difference, or all grow. */
static void append_verdict(GString *out, const WhyKind *k, guint columns)
{
        g_autoptr(GString) grown = g_string_new(NULL);
        const WhyDifference *first = &g_array_index(k->places, WhyDifference, 0);
        guint n = 0;

        if (first->share >= 0.5) {
                append_line(out, 2, columns, "%s has most of it.", first->where);
                return;
        }
        EACH (const WhyDifference, d, k->places) {
                if (d->share < 0.05 || d->middle <= 0)
                        continue;
                g_string_append_printf(grown, "%s%s to %.1f times", n++ > 0 ? ", " : "", d->where,
                                       d->slow / d->middle);
        }
        if (n > 0)
                append_line(out, 2, columns, "No place has half of it. Own time grows at %s.",
                            grown->str);
}

static void write_kind_text(GString *out, const WhyKind *k, guint columns)
{
        g_autofree char *count = path_format_count(k->count),
                        *slow = path_format_duration((gint64)k->slow),
                        *middle = path_format_duration((gint64)k->middle),
                        *title = k->label ? printable_new(k->label, PRINTABLE_CELL) : NULL;

        append_line(out, 0, columns,
                    "%s%s%s > %s: %s requests; the slowest %" G_GUINT64_FORMAT
                    " take %s, the middle %s",
                    title ? title : "", title ? " " : "", k->client, k->entry, count, k->n_slow,
                    slow, middle);
        append_differences(out, k, columns);
        if (k->places->len > 0)
                append_verdict(out, k, columns);
        append_busiest(out, k, columns);
        why_shared_append_text(out, 2, k->shared, columns);
        if (k->burst.n > 0)
                append_burst(out, 2, &k->burst, columns);
        if (k->doubtful > 0)
                append_line(out, 2, columns,
                            "%.0f %% of the slow ones have a path that is right with less than "
                            "%.1f: their time may be another place's.",
                            ceil(100 * k->doubtful), WHY_SURE);
}

char *why_pause_sentence(const WhyPause *p)
{
        g_autofree char *mean = path_format_duration(p->mean), *count = path_format_count(p->slow),
                        *of = path_format_count(p->slow_of),
                        *every = path_format_duration(p->every),
                        *first = path_format_moment(g_array_index(p->times, WhyStandstill, 0).from,
                                                    6);
        const char *cause = p->everywhere           ? "the capture, or the network"
                            : strchr(p->nodes, ',') ? "a host that stopped"
                                                    : "a garbage collector, a stop of the machine";

        return g_strdup_printf("%s stood still %u %s with calls to serve, %s%s%s%s, first at %s; "
                               "%s of the %s requests above p99 were in one (%s).",
                               p->everywhere ? "All nodes" : p->nodes, p->count,
                               p->count == 1 ? "time" : "times", mean,
                               p->count > 1 ? " in the mean" : "", p->count > 1 ? ", every " : "",
                               p->count > 1 ? every : "", first, count, of, cause);
}

static void write_kinds_text(GString *out, const GPtrArray *kinds, const WhyBurst *burst,
                             const GArray *pauses, const WhyWaiting *waiting, guint64 requests,
                             guint columns)
{
        g_autofree char *count = path_format_count(requests);

        if (kinds->len == 0) {
                append_line(out, 0, columns,
                            "%s requests, but no 100 of one kind: what slow ones have cannot be "
                            "told. --slowest 3 shows requests.",
                            count);
                why_append_held(out, waiting, columns);
                return;
        }
        append_line(out, 0, columns,
                    "%s requests. What the slowest hundredth of each kind has that its middle "
                    "fifth has not; the means of own time:",
                    count);
        if (kinds->len > 1 || burst->n == 0) {
                g_string_append_c(out, '\n');
                append_burst(out, 0, burst, columns);
        }
        if (pauses->len > 0)
                g_string_append_c(out, '\n');
        for (guint i = 0; i < pauses->len; i++) {
                g_autofree char *text = why_pause_sentence(&g_array_index(pauses, WhyPause, i));

                append_line(out, 0, columns, "%s", text);
        }
        why_append_held(out, waiting, columns);
        for (guint i = 0; i < kinds->len; i++) {
                g_string_append_c(out, '\n');
                write_kind_text(out, kinds->pdata[i], columns);
        }
}

/* --- kinds, for programs ------------------------------------------------------------- */

/* As JSON names them; columns of TSV say of which times slow and middle are. */
static const Field kind_fields[] = {
        { "client", FIELD_TEXT, G_STRUCT_OFFSET(WhyKind, client) },
        { "entry", FIELD_TEXT, G_STRUCT_OFFSET(WhyKind, entry) },
        { "operation", FIELD_TEXT, G_STRUCT_OFFSET(WhyKind, label) },
        { "requests", FIELD_COUNT, G_STRUCT_OFFSET(WhyKind, count) },
        { "slow_requests", FIELD_COUNT, G_STRUCT_OFFSET(WhyKind, n_slow) },
        { "slow", FIELD_MEAN, G_STRUCT_OFFSET(WhyKind, slow) },
        { "middle", FIELD_MEAN, G_STRUCT_OFFSET(WhyKind, middle) },
        { "doubtful", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyKind, doubtful) },
};

static const Field difference_fields[] = {
        { "place", FIELD_TEXT, G_STRUCT_OFFSET(WhyDifference, where) },
        { "slow", FIELD_MEAN, G_STRUCT_OFFSET(WhyDifference, slow) },
        { "middle", FIELD_MEAN, G_STRUCT_OFFSET(WhyDifference, middle) },
        { "share", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyDifference, share) },
        { "slow_calls", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyDifference, slow_calls) },
        { "middle_calls", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyDifference, middle_calls) },
        { "slow_load", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyDifference, slow_load) },
        { "middle_load", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyDifference, middle_load) },
        { "slow_waiting", FIELD_MEAN, G_STRUCT_OFFSET(WhyDifference, slow_waiting) },
        { "middle_waiting", FIELD_MEAN, G_STRUCT_OFFSET(WhyDifference, middle_waiting) },
        { "replica", FIELD_TEXT, G_STRUCT_OFFSET(WhyDifference, replica) },
        { "replica_slow", FIELD_COUNT, G_STRUCT_OFFSET(WhyDifference, replica_slow) },
        { "slow_there", FIELD_COUNT, G_STRUCT_OFFSET(WhyDifference, slow_there) },
        { "busiest", FIELD_TEXT, G_STRUCT_OFFSET(WhyDifference, busiest) },
        { "busiest_share", FIELD_DECIMAL, G_STRUCT_OFFSET(WhyDifference, busiest_share) },
};

static void write_kind_tsv(GString *out, const WhyKind *k)
{
        EACH (const WhyDifference, d, k->places) {
                fields_append_cells(out, kind_fields, G_N_ELEMENTS(kind_fields), k);
                g_string_append_printf(out, "%u\t%" G_GINT64_FORMAT "\t%" G_GINT64_FORMAT "\t",
                                       k->burst.n, k->burst.from, k->burst.to);
                fields_append_cells(out, difference_fields, G_N_ELEMENTS(difference_fields), d);
                why_shared_append_cells(out, k->shared);
                out->str[out->len - 1] = '\n';
        }
}

static void write_burst_json(Json *json, const WhyBurst *b)
{
        json_key(json, "burst");
        if (b->n == 0) {
                json_null(json);
                return;
        }
        json_open(json, '{');
        json_put_count(json, "slow", b->n);
        json_put_count(json, "of", b->of);
        json_put_count(json, "requests", b->all);
        json_put_time(json, "from", b->from);
        json_put_time(json, "to", b->to);
        json_close(json, '}');
}

static void write_kind_json(Json *json, const WhyKind *k)
{
        json_open(json, '{');
        fields_put(json, kind_fields, G_N_ELEMENTS(kind_fields), k);
        write_burst_json(json, &k->burst);
        why_shared_put(json, k->shared);
        fields_put_list(json, "places", -1, difference_fields, G_N_ELEMENTS(difference_fields),
                        k->places);
        json_close(json, '}');
}

static const Field pause_fields[] = {
        { "nodes", FIELD_TEXT, G_STRUCT_OFFSET(WhyPause, nodes) },
        { "count", FIELD_UINT, G_STRUCT_OFFSET(WhyPause, count) },
        { "mean", FIELD_TIME, G_STRUCT_OFFSET(WhyPause, mean) },
        { "every", FIELD_TIME, G_STRUCT_OFFSET(WhyPause, every) },
        { "slow", FIELD_COUNT, G_STRUCT_OFFSET(WhyPause, slow) },
        { "slow_of", FIELD_COUNT, G_STRUCT_OFFSET(WhyPause, slow_of) },
};

static void write_pauses_json(Json *json, const GArray *pauses)
{
        json_put_open(json, "pauses", '[');
        for (guint i = 0; i < pauses->len; i++) {
                const WhyPause *p = &g_array_index(pauses, WhyPause, i);

                json_open(json, '{');
                fields_put(json, pause_fields, G_N_ELEMENTS(pause_fields), p);
                json_put_boolean(json, "everywhere", p->everywhere);
                json_put_open(json, "times", '[');
                for (guint t = 0; t < p->times->len; t++) {
                        const WhyStandstill *time = &g_array_index(p->times, WhyStandstill, t);

                        json_open(json, '{');
                        json_put_time(json, "from", time->from);
                        json_put_time(json, "to", time->to);
                        json_close(json, '}');
                }
                json_close(json, ']');
                json_close(json, '}');
        }
        json_close(json, ']');
}

/* A second table, if there are any. */
static void write_pauses_tsv(GString *out, const GArray *pauses)
{
        if (pauses->len > 0)
                g_string_append(out, "\nnodes\teverywhere\tfrom\tto\n");
        EACH (const WhyPause, p, pauses)
                EACH (const WhyStandstill, time, p->times)
                        g_string_append_printf(
                                out, "%s\t%d\t%" G_GINT64_FORMAT "\t%" G_GINT64_FORMAT "\n",
                                p->nodes, p->everywhere, time->from, time->to);
}

static void write_kinds_json(GString *out, const GPtrArray *kinds, const WhyBurst *burst,
                             const GArray *pauses, const WhyWaiting *waiting, guint64 requests)
{
        Json json = JSON_IN(out);

        json_open(&json, '{');
        json_put_count(&json, "requests", requests);
        write_burst_json(&json, burst);
        write_pauses_json(&json, pauses);
        why_put_held(&json, waiting, G_MAXUINT);
        json_put_open(&json, "kinds", '[');
        for (guint i = 0; i < kinds->len; i++)
                write_kind_json(&json, kinds->pdata[i]);
        json_close(&json, ']');
        json_close(&json, '}');
        g_string_append_c(out, '\n');
}

void why_write_kinds(GString *out, const GPtrArray *kinds, const WhyBurst *burst,
                     const GArray *pauses, const WhyWaiting *waiting, guint64 requests,
                     WhyFormat format, guint columns)
{
        switch (format) {
        case WHY_TEXT:
                write_kinds_text(out, kinds, burst, pauses, waiting, requests, columns);
                break;
        case WHY_TSV:
                g_string_append(out,
                                "client\tentry\toperation\trequests\tslow_requests\tslow_time\t"
                                "middle_time\tdoubtful\tburst\tburst_from\tburst_to\tplace\t"
                                "slow\tmiddle\tshare\tslow_calls\tmiddle_calls\tslow_load\t"
                                "middle_load\tslow_waiting\tmiddle_waiting\treplica\treplica_slow\t"
                                "slow_there\tbusiest\tbusiest_share\t" WHY_SHARED_COLUMNS "\n");
                for (guint i = 0; i < kinds->len; i++)
                        write_kind_tsv(out, kinds->pdata[i]);
                write_pauses_tsv(out, pauses);
                break;
        case WHY_JSON:
                write_kinds_json(out, kinds, burst, pauses, waiting, requests);
                break;
        }
}
