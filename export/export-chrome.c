/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Trace events as Chrome writes them, for Perfetto and speedscope. A call is a pair of events, its
 * begin and its end, on a lane, which is a thread to the viewer. A request takes a free lane, and
 * calls within their caller lie below it. Calls that overlap a sibling, as no thread could make
 * them, have a lane of their own. Times are in us since the first stamp of the trace, which
 * otherData has in full: a double does not hold both.
 *
 * The arguments of a call stand at its end. speedscope makes arguments of a begin part of the name,
 * so that no two calls would have the same name. The events of a lane are in the order of time, and
 * at the same time in the order in which they nest, so viewers need not sort.
 */
#include "base/each.h"
#include "export/export-requests.h"
#include "export/export.h"
#include "paths/path-text.h"
#include "write/json.h"

#include "base/compare.h"

/* Where a request's call lies, and until when what lies below it there lasts. */
typedef struct {
        guint32 lane;
        gint64 start, end, below;
        guint32 within; /* the caller, if the call lies on its lane; else NO_PARENT */
} Slice;

/* One of the lanes that a request needs: from when to when, and which it is given. */
typedef struct {
        gint64 start, end;
        guint32 lane;
} RequestLane;

typedef struct {
        GString *text;
        Json json;
        const StoreReader *reader;
        const NodeTable *nodes;
        gint64 origin;  /* ns since the epoch */
        GArray *slices; /* of Slice, by call of the request in hand */
        GArray *order;  /* of guint32: these calls by lane and start */
        GArray *wanted; /* of RequestLane */
        GArray *lanes;  /* of gint64: from when on each is free */
} Chrome;

/* Nanoseconds as us with three decimals. */
static void put_us(Json *j, const char *key, gint64 ns)
{
        GString *text;
        guint64 size = ns < 0 ? -(guint64)ns : (guint64)ns;
        guint rest = size % 1000;
        char decimals[] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                            (char)('0' + rest % 10) };

        json_key(j, key);
        text = json_value(j);
        if (ns < 0)
                g_string_append_c(text, '-');
        path_append_integer(text, size / 1000);
        if (rest > 0)
                g_string_append_len(text, decimals, sizeof decimals);
}

static void chrome_put_probability(Json *j, const char *key, double probability)
{
        json_key(j, key);
        export_append_probability(json_value(j), probability);
}

/* What a thread, or the process, is called. */
static void put_title(Json *j, const char *what, guint32 thread, const char *title)
{
        json_line(j, 0);
        json_open(j, '{');
        json_put_string(j, "ph", "M");
        json_put_string(j, "name", what);
        json_put_count(j, "pid", 1);
        json_put_count(j, "tid", thread);
        json_put_open(j, "args", '{');
        json_put_string(j, "name", title);
        json_close(j, '}');
        json_close(j, '}');
}

/* --- lanes ----------------------------------------------------------------- */

/* The first lane of the request that is free at start, or one more. */
static guint32 want_lane(Chrome *o, gint64 start, gint64 end)
{
        RequestLane more = { start, end, 0 };

        for (guint32 i = 0; i < o->wanted->len; i++) {
                RequestLane *lane = &g_array_index(o->wanted, RequestLane, i);

                if (lane->end >= start) /* also where it ends just then, but is written later */
                        continue;
                lane->end = end;
                return i;
        }
        g_array_append_val(o->wanted, more);
        return o->wanted->len - 1;
}

/* Callers come before their callees, and siblings in the order of their calls. */
static void lay_out(Chrome *o, const ExportRequest *request)
{
        g_array_set_size(o->slices, request->n_calls);
        g_array_set_size(o->wanted, 0);
        for (guint32 i = 0; i < request->n_calls; i++) {
                const PathCall *c = &request->calls[i];
                Slice *slice = &g_array_index(o->slices, Slice, i), *caller = NULL;

                *slice = (Slice){ 0, c->start, MAX(c->end, c->start), c->start, NO_PARENT };
                if (c->parent != NO_PARENT)
                        caller = &g_array_index(o->slices, Slice, c->parent);
                if (caller && slice->start >= caller->below && slice->end <= caller->end) {
                        slice->lane = caller->lane;
                        slice->within = c->parent;
                        caller->below = slice->end;
                } else {
                        slice->lane = want_lane(o, slice->start, slice->end);
                }
        }
}

static void put_lane(Json *j, guint32 thread)
{
        g_autofree char *title = g_strdup_printf("lane %u", thread);

        put_title(j, "thread_name", thread, title);
}

/* Gives the request lanes that are free for as long as it needs each: the lowest. */
static void take_lanes(Chrome *o)
{
        EACH (RequestLane, wanted, o->wanted) {
                guint32 lane = 0;

                while (lane < o->lanes->len &&
                       g_array_index(o->lanes, gint64, lane) > wanted->start)
                        lane++;
                if (lane == o->lanes->len) {
                        g_array_append_val(o->lanes, wanted->end);
                        put_lane(&o->json, lane + 1);
                }
                g_array_index(o->lanes, gint64, lane) = wanted->end;
                wanted->lane = lane;
        }
}

/* --- events ---------------------------------------------------------------- */

/* An event of a call, which it leaves open. */
static void open_event(Chrome *o, const PathCall *c, guint32 lane, const char *phase, gint64 time)
{
        const char *label = store_reader_label(o->reader, c->label);
        const char *name = node_table_name(o->nodes, c->callee);
        Json *j = &o->json;

        json_line(j, 0);
        json_open(j, '{');
        json_put_plain(j, "ph", phase);
        json_put_count(j, "pid", 1);
        json_put_count(j, "tid", g_array_index(o->wanted, RequestLane, lane).lane + 1);
        put_us(j, "ts", time - o->origin);
        json_put_plain(j, "cat", "call");
        json_key(j, "name");
        if (label)
                json_joined(j, name, " ", label);
        else
                json_string(j, name);
}

static void put_begin(Chrome *o, const ExportRequest *request, guint32 i)
{
        const Slice *slice = &g_array_index(o->slices, Slice, i);

        open_event(o, &request->calls[i], slice->lane, "B", slice->start);
        json_close(&o->json, '}');
}

static void put_end(Chrome *o, const ExportRequest *request, guint32 i)
{
        const Slice *slice = &g_array_index(o->slices, Slice, i);
        const PathCall *c = &request->calls[i];
        Json *j = &o->json;

        open_event(o, c, slice->lane, "E", slice->end);
        json_put_open(j, "args", '{');
        json_put_string(j, "caller", node_table_name(o->nodes, c->caller));
        put_us(j, "own_us", c->own);
        if (c->network != 0)
                put_us(j, "network_us", c->network);
        for (guint k = 0; c->network != 0 && k < N_WAY_CAUSES; k++) {
                g_autofree char *key = g_strdup_printf("%s_us", way_cause_key(k));

                if (c->cause[k] != 0)
                        put_us(j, key, c->cause[k]);
        }
        if (c->connecting > 0)
                put_us(j, "connecting_us", c->connecting);
        if (c->continues == WORK_QUEUED)
                put_us(j, "queued_us", c->queued);
        if (c->workers > 0)
                put_us(j, "own_queued_us", c->own_queued);
        if (c->parent == NO_PARENT) {
                json_put_count(j, "request", request->number);
                json_put_id(j, "pattern", request->pattern);
                chrome_put_probability(j, "request_probability", request->probability);
        } else {
                chrome_put_probability(j, "probability", (double)c->probability);
                json_put_count(j, "candidates", c->candidates);
        }
        json_close(j, '}');
        json_close(j, '}');
}

static int compare_slices(gconstpointer a, gconstpointer b, gpointer data)
{
        guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;
        const Slice *slices = data, *x = &slices[i], *y = &slices[k];

        return COMPARE(x->lane, y->lane) ?: COMPARE(x->start, y->start) ?: COMPARE(i, k);
}

/* Ends the calls that are open on a lane, the innermost first, up to the one that is within. */
static void end_calls(Chrome *o, const ExportRequest *request, guint32 open, guint32 within)
{
        for (; open != within; open = g_array_index(o->slices, Slice, open).within)
                put_end(o, request, open);
}

/* Lane by lane. A call ends after the calls below it, and before the next that is not. */
static gboolean put_request(gpointer data, const ExportRequest *request, GError **error)
{
        Chrome *o = data;
        guint32 open = NO_PARENT; /* the last call that has begun and not ended */

        lay_out(o, request);
        take_lanes(o);
        g_array_set_size(o->order, request->n_calls);
        for (guint32 i = 0; i < request->n_calls; i++)
                g_array_index(o->order, guint32, i) = i;
        g_array_sort_with_data(o->order, compare_slices, o->slices->data);
        for (guint32 k = 0; k < request->n_calls; k++) {
                guint32 i = g_array_index(o->order, guint32, k);

                end_calls(o, request, open, g_array_index(o->slices, Slice, i).within);
                put_begin(o, request, i);
                open = i;
        }
        end_calls(o, request, open, NO_PARENT);
        (void)error;
        return TRUE;
}

static void open_events(Chrome *o)
{
        Json *j = &o->json;

        json_open(j, '{');
        json_put_string(j, "displayTimeUnit", "ms");
        json_put_open(j, "otherData", '{');
        json_put_time(j, "origin_unix_ns", o->origin);
        json_put_string(j, "inferred", "true");
        json_close(j, '}');
        json_line(j, 0);
        json_put_open(j, "traceEvents", '[');
}

static Chrome *chrome_new(const NodeTable *nodes, const StoreReader *reader)
{
        const StoredRun *run = store_reader_run(reader);
        Chrome *o = g_new0(Chrome, 1);

        o->text = g_string_new(NULL);
        o->json = JSON_TIGHT_IN(o->text);
        o->reader = reader;
        o->nodes = nodes;
        o->origin = run->first == NO_TIME ? 0 : run->first;
        o->slices = g_array_new(FALSE, FALSE, sizeof(Slice));
        o->order = g_array_new(FALSE, FALSE, sizeof(guint32));
        o->wanted = g_array_new(FALSE, FALSE, sizeof(RequestLane));
        o->lanes = g_array_new(FALSE, FALSE, sizeof(gint64));
        return o;
}

static void chrome_free(Chrome *o)
{
        g_string_free(o->text, TRUE);
        g_array_free(o->slices, TRUE);
        g_array_free(o->order, TRUE);
        g_array_free(o->wanted, TRUE);
        g_array_free(o->lanes, TRUE);
        g_free(o);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Chrome, chrome_free)

gboolean export_chrome(StoreReader *reader, const NodeTable *nodes, OutputFile *out, GError **error)
{
        g_autoptr(Chrome) o = chrome_new(nodes, reader);
        g_autoptr(GArray) patterns = export_patterns_load(reader, error);

        open_events(o);
        if (!patterns || !export_requests(reader, patterns, put_request, o, o->text, out, error))
                return FALSE;
        put_title(&o->json, "process_name", 1, "requests, inferred by ravel");
        g_string_append(o->text, "\n]}\n");
        return output_file_take(out, o->text, error);
}
