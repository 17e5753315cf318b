/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-calls.h"

#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "paths/path-text.h"
#include "write/text-table.h"

enum {
        SHOWN = 20,        /* candidates of a call */
        LEGEND_WIDTH = 100 /* where there is no terminal */
};

/* --- tables ----------------------------------------------------------------- */

static char *format_call(const KnownCalls *k, guint32 call)
{
        guint32 length;
        const EdgeRole *edge = known_calls_edge(k, call);
        const char *id = known_calls_id(k, call, &length);

        return g_strdup_printf("%s>%s:%.*s", node_table_written(k->nodes, edge->caller),
                               node_table_written(k->nodes, edge->callee), length ? (int)length : 1,
                               length ? id : "-");
}

static char *format_time(gint64 time)
{
        GString *text = g_string_new(NULL);

        path_append_time(text, time);
        return g_string_free(text, FALSE);
}

/* Best first, and those left out last; of equal ones the earliest. */
static int compare_parents(gconstpointer va, gconstpointer vb, gpointer data)
{
        const PossibleParent *a = va, *b = vb;
        double x = a->score * a->penalty, y = b->score * b->penalty;

        (void)data;
        return a->left_out != b->left_out ? a->left_out - b->left_out : COMPARE(y, x);
}

static char *format_share(double share)
{
        return g_strdup_printf("%.3f", share);
}

/* How many of the call's identifiers the candidate has: "2 of 3". Nothing where it has none. */
static char *format_shared(const KnownCalls *k, guint32 call, guint32 candidate)
{
        const guint32 *lists = call_identifiers_lists(&k->identifiers);
        guint32 list = call_identifiers_get(&k->identifiers, call);
        guint32 other = call_identifiers_get(&k->identifiers, candidate);

        if (!list)
                return g_strdup("");
        return g_strdup_printf("%u of %u", call_identifiers_shared(lists + list, lists + other),
                               lists[list]);
}

static gboolean has_identifiers(const KnownCalls *k, const Explanation *e)
{
        return call_identifiers_get(&k->identifiers, e->call) > 0;
}

/* --- evidence --------------------------------------------------------------- */

/* A source of evidence (inference.h), as people call it. Others say nothing by themselves: they
 * tell kinds of calls apart, whose delays and calls differ. */
static const struct {
        const char *name, *heading, *meaning;
} sources[] = {
        { "delays", "delays", "how usual the delays up to calls and replies are" },
        { "events", "calls", "how usual this sequence of calls is" },
        { "workers", "workers", "whether a worker had taken the candidate by then" },
        { "leases", "connection", "who made the neighbouring calls on the same connections" },
        { "processes", "together", "whether the connections used belong to one process or thread" },
        { "identifiers", "identifiers", "how often a parent shares this number of ids" },
        { "order", "order", "whether the node serves in order, as it mostly does" },
};

enum { N_SOURCES = G_N_ELEMENTS(sources) };

/* What there is to explain in the legend. */
typedef struct {
        gboolean any, ids, out, by[N_SOURCES];
} Told;

static char *format_weight(const PossibleParent *p, guint source)
{
        double weight = (double)p->weight[weight_source(sources[source].name)];
        double tenths = round(weight * 10);

        if (p->left_out && !strcmp(sources[source].name, "leases"))
                return g_strdup("out");
        if (!p->weighed)
                return g_strdup("");
        if (tenths == 0)
                return g_strdup("0.0");
        return g_strdup_printf("%+.1f", tenths / 10);
}

/* Whether a source says anything of the first n_shown candidates. */
static gboolean is_telling(const Explanation *e, guint n_shown, guint source)
{
        for (guint i = 0; i < n_shown; i++) {
                g_autofree char *says =
                        format_weight(&g_array_index(e->parents, PossibleParent, i), source);

                if (*says && strcmp(says, "0.0") != 0)
                        return TRUE;
        }
        return FALSE;
}

/* --- tables of candidates ----------------------------------------------------- */

static TextTable *parent_table(const KnownCalls *k, const Explanation *e, guint n_shown,
                               gboolean joint, gboolean probable, const gboolean *telling)
{
        TextTable *table = text_table_new();
        gint64 from = k->pairs.at_caller[e->call].from, to = k->pairs.at_caller[e->call].to;

        text_table_add_column(table, "", TEXT_LEFT, 0);
        text_table_add_column(table, "called at", TEXT_RIGHT, 2);
        text_table_add_column(table, "after", TEXT_RIGHT, 0);
        text_table_add_column(table, "left", TEXT_RIGHT, 3);
        text_table_add_column(table, has_identifiers(k, e) ? "ids" : "", TEXT_RIGHT, 1);
        text_table_add_column(table, "score", TEXT_RIGHT, 0);
        text_table_add_column(table, joint ? "" : "penalty", TEXT_RIGHT, 1);
        text_table_add_column(table, probable ? "prob" : "", TEXT_RIGHT, 0);
        for (guint i = 0; i < N_SOURCES; i++)
                text_table_add_column(table, telling[i] ? sources[i].heading : "", TEXT_RIGHT, 0);
        text_table_add_column(table, "candidate", TEXT_LEFT, 0);
        for (guint i = 0; i < n_shown; i++) {
                const PossibleParent *p = &g_array_index(e->parents, PossibleParent, i);
                Span at_callee = k->pairs.at_callee[p->call];
                gboolean chosen = p->call == k->pairs.cause[e->call].parent;

                text_table_add(table, g_strdup(chosen ? "*" : ""));
                text_table_add(table, format_time(k->pairs.at_caller[p->call].from));
                text_table_add(table, path_format_duration(from - at_callee.from));
                text_table_add(table, path_format_duration(at_callee.to - to));
                text_table_add(table, format_shared(k, e->call, p->call));
                text_table_add(table, p->left_out ? g_strdup("") : format_share(p->score));
                text_table_add(table, joint ? g_strdup("") : format_share(p->penalty));
                text_table_add(table, probable && !p->left_out ? format_share(p->probability)
                                                               : g_strdup(""));
                for (guint m = 0; m < N_SOURCES; m++)
                        text_table_add(table, telling[m] ? format_weight(p, m) : g_strdup(""));
                text_table_add(table, format_call(k, p->call));
        }
        return table;
}

static void append_heading(GString *out, const KnownCalls *k, const Explanation *e, guint columns)
{
        g_autoptr(GString) text = g_string_new(NULL);
        Span span = k->pairs.at_caller[e->call];
        g_autofree char *call = format_call(k, e->call);
        g_autofree char *latency = path_format_duration(span.to - span.from);
        const char *caller = node_table_written(k->nodes, known_calls_edge(k, e->call)->caller);

        g_string_append_printf(text, "%s was called at ", call);
        path_append_time(text, span.from);
        g_string_append_printf(text, " and took %s. ", latency);
        if (e->parents->len == 0)
                g_string_append_printf(
                        text, "No call into %s was open all that time: it begins a path.", caller);
        else if (e->parents->len == 1)
                g_string_append_printf(text, "One call into %s was open all that time.", caller);
        else
                g_string_append_printf(text, "%u calls into %s were open all that time.",
                                       e->parents->len, caller);
        text_append_wrapped(out, text->str, " ", 0, columns);
}

/* Notes in told what the table has. */
static void append_table(GString *out, const KnownCalls *k, const Explanation *e, guint columns,
                         gboolean joint, gboolean probable, Told *told)
{
        guint n_shown = MIN(e->parents->len, SHOWN);
        gboolean telling[N_SOURCES];
        g_autoptr(TextTable) table = NULL;

        g_array_sort_with_data(e->parents, compare_parents, NULL);
        for (guint i = 0; i < N_SOURCES; i++)
                told->by[i] |= telling[i] = is_telling(e, n_shown, i);
        for (guint i = 0; i < n_shown; i++)
                told->out |= g_array_index(e->parents, PossibleParent, i).left_out;
        told->ids |= has_identifiers(k, e);
        told->any = TRUE;
        table = parent_table(k, e, n_shown, joint, probable, telling);
        text_table_fit(table, columns);
        text_table_write(table, "", out);
        if (n_shown < e->parents->len)
                g_string_append_printf(out, "... %u more, less likely\n",
                                       e->parents->len - n_shown);
}

static void append_legend(GString *out, guint columns, gboolean joint, gboolean probable,
                          gboolean ids)
{
        g_autofree char *scores = g_strconcat(
                ids ? "ids: how many of the call's identifiers the candidate has. " : "",
                joint ? "score: its share of the call when all calls of the node are decided "
                        "together; the largest has it."
                      : "score: how usual this delay is, as a share of all candidates'. penalty: a "
                        "factor, for the calls that the candidate was given before.",
                !probable ? NULL
                : joint   ? " prob: how probable it is as the parent."
                          : " prob: the share of score times penalty.",
                NULL);

        text_append_wrapped(out,
                            "*: the parent. after: from when the candidate reached its node to "
                            "this call. left: from this call's return to the candidate's reply.",
                            " ", 0, columns);
        text_append_wrapped(out, scores, " ", 0, columns);
}

static void append_evidence_legend(GString *out, guint columns, const Told *told)
{
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < N_SOURCES; i++)
                if (told->by[i])
                        g_string_append_printf(text, " %s: %s.", sources[i].heading,
                                               sources[i].meaning);
        if (text->len == 0)
                return;
        if (told->out)
                g_string_append(text, " out: the candidate was left out at once, as it was not "
                                      "open for all calls that the connection was leased for.");
        g_string_prepend(
                text,
                "The columns before candidate weigh evidence, in nats: at x the candidate is e^x "
                "times as likely as the parent, at -2.3 a tenth as likely. For that the two "
                "exchange more of their calls where this is likelier; all others keep theirs.");
        text_append_wrapped(out, text->str, " ", 0, columns);
}

void explanations_write(const GArray *explanations, const KnownCalls *k, gboolean joint,
                        gboolean probable, guint columns, GString *out)
{
        guint width = columns ? columns : LEGEND_WIDTH;
        Told told = { 0 };

        for (guint i = 0; i < explanations->len; i++) {
                const Explanation *e = &g_array_index(explanations, Explanation, i);

                if (i > 0)
                        g_string_append_c(out, '\n');
                append_heading(out, k, e, width);
                if (e->parents->len > 0) {
                        g_string_append_c(out, '\n');
                        append_table(out, k, e, columns, joint, probable, &told);
                }
        }
        if (told.any) {
                g_string_append_c(out, '\n');
                append_legend(out, width, joint, probable, told.ids);
                append_evidence_legend(out, width, &told);
        }
}
