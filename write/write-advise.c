/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Findings, in each format.
 */
#include "write/write-advise.h"

#include <math.h>

#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/fields.h"
#include "write/text-table.h"

static const struct {
        const char *name, *remedy, *condition;
} advice_kinds[N_ADVICE_KINDS] = {
        [ADVICE_REPEATED] = { "repeated call", "ask for all of it in one call",
                              "if a call for all takes as long as the first one" },
        [ADVICE_SERIAL] = { "calls in series", "make these calls at the same time",
                            "if none of these calls needs the answer of another" },
        [ADVICE_WAY] = { "time on the way", NULL, NULL },
        [ADVICE_DNS] = { "DNS query", "keep answers for as long as they are valid", NULL },
        [ADVICE_RETRY] = { "retry", "mend the errors, which the retries hide", NULL },
        [ADVICE_WORKERS] = { "full pool", "add a worker", "if its host has room for one more" },
        [ADVICE_REPLICA] = { "slow replica", "mend it, or send it fewer calls", NULL },
        [ADVICE_SHARE] = { "uneven share", "balance calls by those that wait",
                           "if all are as able" },
};

static const char *finding_condition(const Finding *f)
{
        return f->proposal->varies ? NULL : advice_kinds[f->proposal->kind].condition;
}

static char *advice_node(const NodeTable *nodes, NodeId node)
{
        return node == NO_NODE ? NULL
                               : printable_new(node_table_written(nodes, node), PRINTABLE_TEXT);
}

/* "user, price, stock" */
static char *advice_nodes(const NodeTable *nodes, const GArray *list)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; list && i < list->len; i++) {
                g_autofree char *name = advice_node(nodes, g_array_index(list, NodeId, i));

                g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", name);
        }
        return g_string_free(text, FALSE);
}

static char *advice_duration(double ns)
{
        return path_format_duration((gint64)round(ns));
}

char *finding_sentence(const Finding *f, const NodeTable *nodes)
{
        const Proposal *c = f->proposal;
        const char *remedy = advice_kinds[c->kind].remedy;
        g_autofree char *node = advice_node(nodes, c->node);
        g_autofree char *callee = advice_node(nodes, c->callee);
        g_autofree char *list = advice_nodes(nodes, c->callees);
        g_autofree char *calls = path_format_count(c->calls);
        g_autofree char *own = advice_duration(c->own), *usual = advice_duration(c->usual);
        g_autofree char *label = f->label ? printable_new(f->label, PRINTABLE_TEXT) : NULL;
        g_autofree char *operation = label ? g_strdup_printf(" (%s)", label) : g_strdup("");

        switch (c->kind) {
        case ADVICE_REPEATED:
                return g_strdup_printf("%s calls %s%s %.3g times in a row: %s", node, callee,
                                       operation, (double)c->calls / (double)c->visits, remedy);
        case ADVICE_SERIAL:
                return g_strdup_printf("%s%s calls one after the other%s: %s: %s", node, operation,
                                       c->varies ? ", in any order" : "", list, remedy);
        case ADVICE_WAY:
                return g_strdup_printf("%s > %s: %s in %s calls: %s", node, callee,
                                       way_cause_name(c->cause), calls, way_cause_remedy(c->cause));
        case ADVICE_DNS:
                return g_strdup_printf("%s asks %s for names %s times: %s", node, callee, calls,
                                       remedy);
        case ADVICE_RETRY:
                return g_strdup_printf("%s calls %s again after an error %s times: %s", node,
                                       callee, calls, remedy);
        case ADVICE_WORKERS:
                return g_strdup_printf("%s: %u worker%s, %.0f %% busy, and calls wait: %s", node,
                                       c->workers, c->workers == 1 ? "" : "s", 100 * f->busy,
                                       remedy);
        case ADVICE_SHARE:
                return g_strdup_printf("%s gets %.0f %% of the calls that %s could have, too: %s",
                                       node, 100 * c->own, list, remedy);
        case ADVICE_REPLICA:
        case N_ADVICE_KINDS:
        default:
                return g_strdup_printf("%s needs %s for a call that takes %s at %s: %s", node, own,
                                       usual, list, remedy);
        }
}

static char *finding_entry(const Finding *f, const NodeTable *nodes)
{
        g_autofree char *edge = g_strdup_printf("%s>%s", node_table_written(nodes, f->client),
                                                node_table_written(nodes, f->root));

        return path_pattern_title(f->entry_label, edge);
}

/* --- evidence -------------------------------------------------------------- */

/* 'a' as SQL has it. */
static char *sql_text(const NodeTable *nodes, NodeId node)
{
        g_auto(GStrv) parts =
                g_strsplit(node == NO_NODE ? "" : node_table_written(nodes, node), "'", -1);
        g_autofree char *doubled = g_strjoinv("''", parts);

        return g_strdup_printf("'%s'", doubled);
}

static char *sql_nodes(const NodeTable *nodes, const Proposal *c)
{
        g_autofree char *first = sql_text(nodes, c->node);
        GString *text = g_string_new(first);

        for (guint i = 0; i < c->callees->len; i++) {
                g_autofree char *name = sql_text(nodes, g_array_index(c->callees, NodeId, i));

                g_string_append_printf(text, ", %s", name);
        }
        return g_string_free(text, FALSE);
}

/* NULL: a request shows it, as ravel why explains it. */
static char *evidence_query(const Finding *f, const NodeTable *nodes)
{
        const Proposal *c = f->proposal;
        g_autofree char *node = sql_text(nodes, c->node), *callee = sql_text(nodes, c->callee);

        switch (c->kind) {
        case ADVICE_REPEATED:
                return g_strdup_printf(
                        "SELECT * FROM repeated_call WHERE caller = %s AND callee = %s", node,
                        callee);
        case ADVICE_DNS:
        case ADVICE_SERIAL:
                return g_strdup_printf("SELECT node, label, start, end FROM hop "
                                       "WHERE request = %" G_GUINT64_FORMAT
                                       " AND caller = %s ORDER BY start",
                                       f->examples[0], node);
        case ADVICE_WORKERS:
                return g_strdup_printf("SELECT worker.* FROM worker JOIN node ON node.id = "
                                       "worker.node WHERE written = %s",
                                       node);
        case ADVICE_REPLICA:
        case ADVICE_SHARE: {
                g_autofree char *all = sql_nodes(nodes, c);
                return g_strdup_printf("SELECT node, count(*), avg(own), p99(own) FROM hop "
                                       "WHERE node IN (%s) GROUP BY node",
                                       all);
        }
        case ADVICE_WAY:
        case ADVICE_RETRY:
        case N_ADVICE_KINDS:
        default:
                return NULL;
        }
}

static char *finding_evidence(const Finding *f, const NodeTable *nodes, const char *store)
{
        g_autofree char *query = evidence_query(f, nodes);
        g_autofree char *quoted = query ? g_shell_quote(query) : NULL;

        if (!query)
                return g_strdup_printf("ravel why %s %" G_GUINT64_FORMAT, store, f->examples[0]);
        return g_strdup_printf("ravel query %s %s", store, quoted);
}

static char *finding_examples(const Finding *f, const char *between)
{
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < FINDING_EXAMPLES && f->examples[i] > 0; i++)
                g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, i > 0 ? between : "",
                                       f->examples[i]);
        return g_string_free(text, FALSE);
}

/* --- text ------------------------------------------------------------------ */

static char *advice_gain(const WhatIfFigure *f)
{
        g_autofree char *gain = advice_duration(f->now - f->then);
        g_autofree char *error = advice_duration(f->error);
        g_autofree char *now = advice_duration(f->now);

        return f->is_known ? g_strdup_printf("%s +-%s of %s", gain, error, now)
                           : g_strdup_printf("? of %s", now);
}

static void append_finding(const Advice *advice, guint i, const NodeTable *nodes, const char *store,
                           guint width, GString *out)
{
        const Finding *f = advice->findings->pdata[i];
        g_autofree char *sentence = finding_sentence(f, nodes);
        g_autofree char *entry = finding_entry(f, nodes);
        g_autofree char *count = path_format_count(f->count);
        g_autofree char *p99 = advice_gain(&f->figures[FIGURE_P99]);
        g_autofree char *mean = advice_gain(&f->figures[FIGURE_MEAN]);
        g_autofree char *quicker = path_format_count(f->requests);
        g_autofree char *all = path_format_count(advice->requests);
        g_autofree char *examples = finding_examples(f, ", ");
        g_autofree char *evidence = finding_evidence(f, nodes, store);
        const char *condition = finding_condition(f);

        text_append_line(out, " ", 0, width, "%u. %s.", i + 1, sentence);
        text_append_line(out, " ", 3, width,
                         "%s, %s requests: p99 falls by %s, the mean by %s%s%s.", entry, count, p99,
                         mean, condition ? ", " : "", condition ? condition : "");
        text_append_line(
                out, " ", 3, width,
                "%s of %s requests get quicker, such as %s. Their calls are right with %.0f %%.",
                quicker, all, examples, 100 * f->probability);
        g_string_append_printf(out, "   %s\n\n", evidence);
}

void advice_write_text(const Advice *advice, const NodeTable *nodes, const char *store, guint width,
                       GString *out)
{
        for (guint i = 0; i < advice->findings->len; i++)
                append_finding(advice, i, nodes, store, width, out);
        if (advice->findings->len == 0)
                g_string_append(out, "No finding.\n");
}

/* --- rows ------------------------------------------------------------------ */

typedef struct {
        char *kind, *finding, *condition, *entry, *examples, *evidence;
        guint64 requests, quicker;
        double p99, p99_gain, p99_error, mean, mean_gain, mean_error, probability;
} FindingRow;

static const Field finding_fields[] = {
        { "kind", FIELD_TEXT, G_STRUCT_OFFSET(FindingRow, kind) },
        { "finding", FIELD_TEXT, G_STRUCT_OFFSET(FindingRow, finding) },
        { "condition", FIELD_TEXT, G_STRUCT_OFFSET(FindingRow, condition) },
        { "entry", FIELD_TEXT, G_STRUCT_OFFSET(FindingRow, entry) },
        { "requests", FIELD_COUNT, G_STRUCT_OFFSET(FindingRow, requests) },
        { "p99", FIELD_MEAN, G_STRUCT_OFFSET(FindingRow, p99) },
        { "p99_gain", FIELD_MEAN, G_STRUCT_OFFSET(FindingRow, p99_gain) },
        { "p99_error", FIELD_MEAN, G_STRUCT_OFFSET(FindingRow, p99_error) },
        { "mean", FIELD_MEAN, G_STRUCT_OFFSET(FindingRow, mean) },
        { "mean_gain", FIELD_MEAN, G_STRUCT_OFFSET(FindingRow, mean_gain) },
        { "mean_error", FIELD_MEAN, G_STRUCT_OFFSET(FindingRow, mean_error) },
        { "quicker", FIELD_COUNT, G_STRUCT_OFFSET(FindingRow, quicker) },
        { "examples", FIELD_TEXT, G_STRUCT_OFFSET(FindingRow, examples) },
        { "probability", FIELD_NUMBER, G_STRUCT_OFFSET(FindingRow, probability) },
        { "evidence", FIELD_TEXT, G_STRUCT_OFFSET(FindingRow, evidence) },
};

static FindingRow finding_row(const Finding *f, const NodeTable *nodes, const char *store)
{
        const WhatIfFigure *p99 = &f->figures[FIGURE_P99], *mean = &f->figures[FIGURE_MEAN];

        return (FindingRow){ (char *)advice_kinds[f->proposal->kind].name,
                             finding_sentence(f, nodes),
                             (char *)finding_condition(f),
                             finding_entry(f, nodes),
                             finding_examples(f, " "),
                             finding_evidence(f, nodes, store),
                             f->count,
                             f->requests,
                             p99->now,
                             p99->now - p99->then,
                             p99->error,
                             mean->now,
                             mean->now - mean->then,
                             mean->error,
                             f->probability };
}

static void finding_row_clear(FindingRow *row)
{
        g_free(row->finding);
        g_free(row->entry);
        g_free(row->examples);
        g_free(row->evidence);
}

void advice_write_tsv(const Advice *advice, const NodeTable *nodes, const char *store, GString *out)
{
        fields_append_names(out, finding_fields, G_N_ELEMENTS(finding_fields));
        out->str[out->len - 1] = '\n';
        for (guint i = 0; i < advice->findings->len; i++) {
                FindingRow row = finding_row(advice->findings->pdata[i], nodes, store);

                fields_append_cells(out, finding_fields, G_N_ELEMENTS(finding_fields), &row);
                out->str[out->len - 1] = '\n';
                finding_row_clear(&row);
        }
}

void advice_put(const Advice *advice, const NodeTable *nodes, const char *store, guint most,
                Json *j)
{
        json_line(j, 2);
        json_put_open(j, "findings", '[');
        for (guint i = 0; i < MIN(most, advice->findings->len); i++) {
                FindingRow row = finding_row(advice->findings->pdata[i], nodes, store);

                json_line(j, 4);
                json_open(j, '{');
                fields_put(j, finding_fields, G_N_ELEMENTS(finding_fields), &row);
                json_close(j, '}');
                finding_row_clear(&row);
        }
        json_close(j, ']');
}

void advice_write_json(const Advice *advice, const NodeTable *nodes, const char *store,
                       GString *out)
{
        Json json = JSON_IN(out), *j = &json;

        json_open_document(j, "ravel advise");
        json_put_count(j, "requests", advice->requests);
        advice_put(advice, nodes, store, G_MAXUINT, j);
        json_line(j, 0);
        json_close(j, '}');
        g_string_append_c(out, '\n');
}
