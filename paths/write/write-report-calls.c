/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/write/write-report-calls.h"

#include "paths/write/page-data.h"
#include "paths/write/path-text.h"

enum {
        MAX_ENTRIES = 24, /* of variance */
        MAX_ROWS = 16,    /* of an entry */
        MAX_UNUSUAL = 4,  /* places of a request */
};

/* Texts that come again, by number. */
typedef struct {
        GHashTable *numbers;
        GPtrArray *texts; /* borrowed */
} Texts;

static Texts texts_new(void)
{
        return (Texts){ g_hash_table_new(g_str_hash, g_str_equal), g_ptr_array_new() };
}

static void texts_clear(Texts *t)
{
        g_hash_table_destroy(t->numbers);
        g_ptr_array_unref(t->texts);
}

static guint number_of(Texts *t, const char *text)
{
        gpointer number = g_hash_table_lookup(t->numbers, text);

        if (number)
                return GPOINTER_TO_UINT(number) - 1;
        g_ptr_array_add(t->texts, (gpointer)text);
        g_hash_table_insert(t->numbers, (gpointer)text, GUINT_TO_POINTER(t->texts->len));
        return t->texts->len - 1;
}

static void append_texts(GString *out, const char *key, const Texts *t)
{
        page_key(out, key);
        g_string_append_c(out, '[');
        for (guint i = 0; i < t->texts->len; i++) {
                page_separator(out);
                path_append_json_string(out, t->texts->pdata[i]);
        }
        g_string_append_c(out, ']');
}

static void append_int(GString *out, gint64 n)
{
        page_separator(out);
        g_string_append_printf(out, "%" G_GINT64_FORMAT, n);
}

static void append_real(GString *out, double number)
{
        page_separator(out);
        page_double(out, number);
}

/* --- loads ------------------------------------------------------------------------- */

/* By node: calls, time in queues, how many calls are there: p50, p95, most. */
static void append_loads(GString *out, const Report *r)
{
        page_key(out, "loads");
        g_string_append_c(out, '[');
        for (guint i = 0; i < r->loads->len; i++) {
                const ReportLoad *l = &g_array_index(r->loads, ReportLoad, i);

                page_separator(out);
                g_string_append_printf(out, "[%" G_GUINT64_FORMAT ",%" G_GINT64_FORMAT ",%u,%u,%u]",
                                       l->calls, (gint64)CLAMP(l->queued, 0, G_MAXINT64), l->p50,
                                       l->p95, l->most);
        }
        g_string_append_c(out, ']');
}

/* --- the slowest requests ------------------------------------------------------------- */

/* Callee, parent; start, entry, reply and end after the request's start; own time, network;
 * probability, candidates, operation or -1, port or 0; how it continues and queued, where it does;
 * queued for a worker. */
static void append_call(GString *out, const ReportRequest *q, guint i, const StoreReader *reader,
                        Texts *labels)
{
        const PathCall *c = &g_array_index(q->calls, PathCall, i);
        const char *label = store_reader_label(reader, c->label);
        const gint64 numbers[] = { c->callee,
                                   (int)c->parent,
                                   c->start - q->path.start,
                                   c->enter - q->path.start,
                                   c->reply - q->path.start,
                                   c->end - q->path.start,
                                   c->own,
                                   c->network };

        page_separator(out);
        g_string_append_c(out, '[');
        for (guint k = 0; k < G_N_ELEMENTS(numbers); k++)
                append_int(out, numbers[k]);
        g_string_append_c(out, ',');
        page_probability(out, (double)c->probability);
        append_int(out, c->candidates);
        append_int(out, label ? (int)number_of(labels, label) : -1);
        append_int(out, g_array_index(q->ports, guint, i));
        if (c->continues != WORK_NESTED || c->workers > 0) {
                append_int(out, c->continues);
                append_int(out, c->queued);
        }
        if (c->workers > 0)
                append_int(out, c->own_queued);
        g_string_append_c(out, ']');
}

/* Where, own time, what is usual; calls there and usual, others there and usual; probability. */
static void append_unusual(GString *out, const WhyRequest *why, Texts *wheres)
{
        g_string_append(out, ",[");
        for (guint i = 0; i < MIN(why->places->len, MAX_UNUSUAL); i++) {
                const WhyPlace *p = &g_array_index(why->places, WhyPlace, i);
                const gint64 numbers[] = { number_of(wheres, p->where),
                                           p->own,
                                           p->usual,
                                           p->calls,
                                           p->usual_calls,
                                           p->load,
                                           p->usual_load };

                page_separator(out);
                g_string_append_c(out, '[');
                for (guint k = 0; k < G_N_ELEMENTS(numbers); k++)
                        append_int(out, numbers[k]);
                g_string_append_c(out, ',');
                page_probability(out, p->probability);
                if (p->node) {
                        g_string_append_c(out, ',');
                        path_append_json_string(out, p->node);
                }
                g_string_append_c(out, ']');
        }
        g_string_append_c(out, ']');
}

/* Id, pattern's row or -1, start after the first, time, probability; the kind's median, how much of
 * it is less; operation or -1; what is unusual, calls. */
static void append_request(GString *out, const Report *r, const ReportRequest *q,
                           const StoreReader *reader, Texts *wheres, Texts *labels)
{
        const WhyRequest *why = q->why;

        page_separator(out);
        g_string_append_c(out, '[');
        append_int(out, (gint64)q->number + 1);
        append_int(out, (int)q->row);
        append_int(out, q->path.start - r->first);
        append_int(out, q->path.completion);
        g_string_append_c(out, ',');
        page_probability(out, q->path.probability);
        append_int(out, why->usual);
        append_real(out, why->slower);
        append_int(out, why->label ? (int)number_of(labels, why->label) : -1);
        append_unusual(out, why, wheres);
        g_string_append(out, ",[");
        for (guint i = 0; q->calls && i < q->calls->len; i++)
                append_call(out, q, i, reader, labels);
        g_string_append(out, "]]");
}

static void append_slowest(GString *out, const Report *r, const StoreReader *reader)
{
        Texts wheres = texts_new(), labels = texts_new();

        page_key(out, "slowest");
        g_string_append_c(out, '[');
        for (guint i = 0; i < r->slowest->len; i++)
                append_request(out, r, r->slowest->pdata[i], reader, &wheres, &labels);
        g_string_append_c(out, ']');
        append_texts(out, "wheres", &wheres);
        append_texts(out, "labels", &labels);
        texts_clear(&wheres);
        texts_clear(&labels);
}

/* --- variance ---------------------------------------------------------------------- */

/* Kind, where, depth; shares: all, same path, which path, mean, tail; error; how much of a call's
 * goes with load, own time for each other call. */
static void append_row(GString *out, const VarianceRow *row)
{
        const double numbers[] = { row->all,  row->same,  row->which,          row->mean,
                                   row->tail, row->error, row->load.explained, row->load.slope };

        page_separator(out);
        g_string_append_printf(out, "[%u,", row->kind);
        path_append_json_string(out, row->where ? row->where : "");
        append_int(out, row->depth);
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                append_real(out, numbers[i]);
        g_string_append_c(out, ']');
}

static void append_entry(GString *out, const VarianceEntry *e, const NodeTable *nodes)
{
        page_separator(out);
        g_string_append_c(out, '{');
        page_text(out, "client", node_table_written(nodes, e->client));
        page_text(out, "root", node_table_written(nodes, e->root));
        page_text(out, "label", e->label ? e->label : "");
        page_number(out, "count", (gint64)e->count);
        page_number(out, "mean", (gint64)e->mean);
        page_number(out, "deviation", (gint64)e->deviation);
        page_number(out, "p50", e->p50);
        page_number(out, "p99", e->p99);
        page_number(out, "half", (gint64)e->half);
        page_key(out, "rows");
        g_string_append_c(out, '[');
        for (guint i = 0; i < MIN(e->rows->len, MAX_ROWS); i++)
                append_row(out, &g_array_index(e->rows, VarianceRow, i));
        g_string_append(out, "]}");
}

/* Those that have rows, the one with most time in all first. */
static void append_variance(GString *out, const Report *r)
{
        guint shown = 0;

        page_key(out, "variance");
        g_string_append_c(out, '[');
        for (guint i = 0; r->variance && i < r->variance->entries->len; i++) {
                const VarianceEntry *e = r->variance->entries->pdata[i];

                if (e->rows->len > 0 && shown++ < MAX_ENTRIES)
                        append_entry(out, e, r->nodes);
        }
        g_string_append_c(out, ']');
        page_number(out, "varianceEntries", shown);
}

void write_report_calls(GString *out, const Report *r, const StoreReader *reader)
{
        append_loads(out, r);
        append_slowest(out, r, reader);
        append_variance(out, r);
}

/* --- slow against middle of a pattern -------------------------------------------------- */

static gint64 mean(gint128 sum, guint64 n)
{
        return (gint64)(sum / n);
}

/* Means of a request at a vertex: own time and queued of the slow ones, of the middle; network. */
static void append_spent(GString *out, const ReportDetail *d, const guint32 *places, guint32 n)
{
        page_separator(out);
        g_string_append_c(out, '[');
        for (guint part = PART_SLOW; part < N_PARTS; part++) {
                gint128 own = 0, queued = 0, network = 0;

                for (guint32 k = 0; k < n; k++) {
                        const ReportSpent *s = &d->spent[part][places[k]];

                        own += s->own;
                        queued += s->queued;
                        network += s->network;
                }
                append_int(out, mean(own, d->n_of_part[part]));
                append_int(out, mean(queued, d->n_of_part[part]));
                append_int(out, mean(network, d->n_of_part[part]));
        }
        g_string_append_c(out, ']');
}

void write_report_spent(GString *out, const ReportDetail *d, const CollapsedTree *tree)
{
        if (!d->spent[PART_SLOW] || !d->spent[PART_MIDDLE])
                return;
        page_key(out, "parts"); /* how many, their mean time: slow, middle */
        g_string_append_c(out, '[');
        for (guint part = PART_SLOW; part < N_PARTS; part++) {
                append_int(out, (gint64)d->n_of_part[part]);
                append_int(out, mean(d->time_of_part[part], d->n_of_part[part]));
        }
        g_string_append_c(out, ']');
        page_key(out, "spent");
        g_string_append_c(out, '[');
        for (guint32 i = 0; i < tree->n_vertices; i++) {
                const CollapsedCall *v = &tree->vertices[i];

                append_spent(out, d, &tree->places[v->first], v->n);
        }
        g_string_append_c(out, ']');
}
