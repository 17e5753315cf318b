/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-report-calls.h"

#include "base/each.h"
#include "write/page-data.h"

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

static guint report_page_number_of(Texts *t, const char *text)
{
        gpointer number = g_hash_table_lookup(t->numbers, text);

        if (number)
                return GPOINTER_TO_UINT(number) - 1;
        g_ptr_array_add(t->texts, (gpointer)text);
        g_hash_table_insert(t->numbers, (gpointer)text, GUINT_TO_POINTER(t->texts->len));
        return t->texts->len - 1;
}

static void append_texts(Json *j, const char *key, const Texts *t)
{
        json_put_open(j, key, '[');
        for (guint i = 0; i < t->texts->len; i++)
                json_string(j, t->texts->pdata[i]);
        json_close(j, ']');
}

/* --- loads ------------------------------------------------------------------------- */

/* By node: calls, time in queues, how many calls are there: p50, p95, most. */
static void append_loads(Json *j, const Report *r)
{
        json_put_open(j, "loads", '[');
        EACH (const ReportLoad, l, r->loads)
                page_record(j, l->calls, (gint64)CLAMP(l->queued, 0, G_MAXINT64), l->p50, l->p95,
                            l->most);
        json_close(j, ']');
}

/* By node with a queue before workers: it, workers, calls, served, waited. */
static void append_workers(Json *j, const Report *r)
{
        json_put_open(j, "workers", '[');
        EACH (const StoredWorkers, w, r->workers)
                page_record(j, w->node, w->load.workers, (gint64)w->load.calls, w->load.served,
                            w->load.waited);
        json_close(j, ']');
}

/* --- edges ------------------------------------------------------------------------- */

/* Name and remedy, by number. */
static void append_causes(Json *j)
{
        json_put_open(j, "causes", '[');
        for (guint i = 0; i < N_WAY_CAUSES; i++) {
                const char *remedy = way_cause_remedy(i);

                json_open(j, '[');
                json_string(j, way_cause_name(i));
                json_string(j, remedy ? remedy : "");
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* Each cause that has time, and the time. */
static void append_ways(Json *j, const gint64 cause[N_WAY_CAUSES])
{
        json_open(j, '[');
        for (guint i = 0; i < N_WAY_CAUSES; i++)
                if (cause[i] != 0)
                        page_numbers(j, i, cause[i]);
        json_close(j, ']');
}

/* Caller, callee, calls; in error, -1: not seen; without an answer, late; p50 and p99 of the
 * others; time on the way. */
static void report_page_append_edges(Json *j, const Report *r)
{
        json_put_open(j, "calling", '[');
        EACH_OF (const ReportEdge, e, r->edges) {
                gint64 cause[N_WAY_CAUSES];

                for (guint k = 0; k < N_WAY_CAUSES; k++)
                        cause[k] = (gint64)CLAMP(e->cause[k], 0, G_MAXINT64);
                json_open(j, '[');
                page_numbers(j, e->caller, e->callee, (gint64)e->calls,
                             e->seen ? (gint64)e->errors : -1, (gint64)e->unanswered,
                             (gint64)e->late, histogram_quantile(&e->latency, 0.5),
                             histogram_quantile(&e->latency, 0.99));
                append_ways(j, cause);
                json_close(j, ']');
        }
        json_close(j, ']');
}

void write_report_way(Json *j, const PathCall *c)
{
        if (c->network != 0)
                append_ways(j, c->cause);
}

/* --- the slowest requests ------------------------------------------------------------- */

/* Callee, parent; start, entry, reply and end after the request's start; own time, network;
 * probability, candidates, operation or -1, port or 0. Then, as far as a call has them: how it
 * continues, queued; queued for a worker; time since its connection was opened; last, an array of
 * its time on the way by cause. */
static void report_page_append_call(Json *j, const ReportRequest *q, guint i,
                                    const StoreReader *reader, Texts *labels)
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

        json_open(j, '[');
        page_number_array(j, numbers, G_N_ELEMENTS(numbers));
        page_probability(j, (double)c->probability);
        json_integer(j, c->candidates);
        json_integer(j, label ? (int)report_page_number_of(labels, label) : -1);
        json_integer(j, g_array_index(q->ports, guint, i));
        if (c->continues != WORK_NESTED || c->workers > 0 || c->connecting > 0) {
                json_integer(j, c->continues);
                json_integer(j, c->queued);
        }
        if (c->workers > 0 || c->connecting > 0)
                json_integer(j, c->own_queued);
        if (c->connecting > 0)
                json_integer(j, c->connect);
        write_report_way(j, c);
        json_close(j, ']');
}

/* Where, own time, what is usual; calls there and usual, others there and usual; probability. */
static void append_unusual(Json *j, const WhyRequest *why, Texts *wheres)
{
        json_open(j, '[');
        for (guint i = 0; i < MIN(why->places->len, MAX_UNUSUAL); i++) {
                const WhyPlace *p = &g_array_index(why->places, WhyPlace, i);
                const gint64 numbers[] = { report_page_number_of(wheres, p->where),
                                           p->own,
                                           p->usual,
                                           p->calls,
                                           p->usual_calls,
                                           p->load,
                                           p->usual_load };

                json_open(j, '[');
                page_number_array(j, numbers, G_N_ELEMENTS(numbers));
                page_probability(j, p->probability);
                if (p->node)
                        json_string(j, p->node);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* The call with the most own time, how many other requests were in its node when it came; of some
 * of them the id, operation or -1, and how long before and until how long after. */
static void append_moment(Json *j, const WhyMoment *m, const PathCall *call, Texts *labels)
{
        json_open(j, '[');
        page_numbers(j, m->call, (gint64)m->others);
        for (guint i = 0; i < m->n; i++) {
                const WhyBeside *b = &m->beside[i];

                page_numbers(j, (gint64)b->request,
                             b->label ? (int)report_page_number_of(labels, b->label) : -1,
                             call->enter - b->enter, b->reply - call->enter);
        }
        json_close(j, ']');
}

/* Id, pattern's row or -1, start after the first, time, probability; the kind's median, the share
 * of the kind with less; operation or -1; what is unusual, calls. Then, as far as there are any:
 * the failure or -1, who was beside it. */
static void report_page_append_request(Json *j, const Report *r, const ReportRequest *q,
                                       const StoreReader *reader, Texts *wheres, Texts *labels)
{
        const WhyRequest *why = q->why;

        json_open(j, '[');
        json_integer(j, (gint64)q->number + 1);
        json_integer(j, (int)q->row);
        json_integer(j, q->path.start - r->first);
        json_integer(j, q->path.completion);
        page_probability(j, q->path.probability);
        json_integer(j, why->usual);
        page_double(j, why->slower);
        json_integer(j, why->label ? (int)report_page_number_of(labels, why->label) : -1);
        append_unusual(j, why, wheres);
        json_open(j, '[');
        for (guint i = 0; q->calls && i < q->calls->len; i++)
                report_page_append_call(j, q, i, reader, labels);
        json_close(j, ']');
        if (q->failure > 0 || q->moment != G_MAXUINT)
                json_integer(j, q->failure - 1);
        if (q->moment != G_MAXUINT) {
                const WhyMoment *m = &g_array_index(r->moments, WhyMoment, q->moment);

                append_moment(j, m, &g_array_index(q->calls, PathCall, m->call), labels);
        }
        json_close(j, ']');
}

static void append_slowest(Json *j, const Report *r, const StoreReader *reader)
{
        Texts wheres = texts_new(), labels = texts_new();

        json_put_open(j, "slowest", '[');
        for (guint i = 0; i < r->slowest->len; i++)
                report_page_append_request(j, r, r->slowest->pdata[i], reader, &wheres, &labels);
        json_close(j, ']');
        append_texts(j, "wheres", &wheres);
        append_texts(j, "labels", &labels);
        texts_clear(&wheres);
        texts_clear(&labels);
}

/* --- variance ---------------------------------------------------------------------- */

/* Kind, where, depth; shares: all, same path, which path, mean, tail; error; how much of a call's
 * goes with load, own time for each other call; the replica with most of the same path, its share.
 */
static void append_row(Json *j, const VarianceRow *row)
{
        const double numbers[] = { row->all,  row->same,  row->which,          row->mean,
                                   row->tail, row->error, row->load.explained, row->load.slope };

        json_open(j, '[');
        json_integer(j, row->kind);
        json_string(j, row->where ? row->where : "");
        json_integer(j, row->depth);
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                page_double(j, numbers[i]);
        if (row->replica) {
                json_string(j, row->replica);
                page_double(j, row->replica_share);
        }
        json_close(j, ']');
}

static void report_page_append_entry(Json *j, const VarianceEntry *e, const NodeTable *nodes)
{
        json_open(j, '{');
        page_text(j, "client", node_table_written(nodes, e->client));
        page_text(j, "root", node_table_written(nodes, e->root));
        page_text(j, "label", e->label ? e->label : "");
        json_put_integer(j, "count", (gint64)e->count);
        json_put_integer(j, "mean", (gint64)e->mean);
        json_put_integer(j, "deviation", (gint64)e->deviation);
        json_put_integer(j, "p50", e->p50);
        json_put_integer(j, "p99", e->p99);
        json_put_integer(j, "half", (gint64)e->half);
        json_put_open(j, "rows", '[');
        for (guint i = 0; i < MIN(e->rows->len, MAX_ROWS); i++)
                append_row(j, &g_array_index(e->rows, VarianceRow, i));
        json_close(j, ']');
        json_close(j, '}');
}

/* The entries with rows, the most time in all first. */
static void append_variance(Json *j, const Report *r)
{
        guint shown = 0;

        json_put_open(j, "variance", '[');
        for (guint i = 0; r->variance && i < r->variance->entries->len; i++) {
                const VarianceEntry *e = r->variance->entries->pdata[i];

                if (e->rows->len > 0 && shown++ < MAX_ENTRIES)
                        report_page_append_entry(j, e, r->nodes);
        }
        json_close(j, ']');
        json_put_integer(j, "varianceEntries", shown);
}

void write_report_calls(Json *j, const Report *r, const StoreReader *reader)
{
        append_loads(j, r);
        append_workers(j, r);
        append_causes(j);
        report_page_append_edges(j, r);
        append_slowest(j, r, reader);
        append_variance(j, r);
}

/* --- slow against middle of a pattern -------------------------------------------------- */

static gint64 mean(gint128 sum, guint64 n)
{
        return (gint64)(sum / n);
}

/* Means of a request at a vertex: own time and queued of the slow ones, of the middle; network. */
static void append_spent(Json *j, const ReportDetail *d, const guint32 *places, guint32 n)
{
        json_open(j, '[');
        for (guint part = PART_SLOW; part < N_PARTS; part++) {
                gint128 own = 0, queued = 0, network = 0;

                for (guint32 k = 0; k < n; k++) {
                        const ReportSpent *s = &d->spent[part][places[k]];

                        own += s->own;
                        queued += s->queued;
                        network += s->network;
                }
                json_integer(j, mean(own, d->n_of_part[part]));
                json_integer(j, mean(queued, d->n_of_part[part]));
                json_integer(j, mean(network, d->n_of_part[part]));
        }
        json_close(j, ']');
}

/* Vertex, cause, mean of a slow request, of one in the middle. */
static void append_spent_ways(Json *j, const ReportDetail *d, const CollapsedTree *tree)
{
        json_put_open(j, "spentWays", '[');
        for (guint32 i = 0; i < tree->n_vertices; i++)
                for (guint cause = 0; cause < N_WAY_CAUSES; cause++) {
                        const CollapsedCall *v = &tree->vertices[i];
                        gint128 sum[N_PARTS] = { 0 };

                        for (guint part = PART_SLOW; part < N_PARTS; part++)
                                for (guint32 k = 0; k < v->n; k++)
                                        sum[part] += d->spent[part][tree->places[v->first + k]]
                                                             .cause[cause];
                        if (sum[PART_SLOW] == 0 && sum[PART_MIDDLE] == 0)
                                continue;
                        page_record(j, i, cause, mean(sum[PART_SLOW], d->n_of_part[PART_SLOW]),
                                    mean(sum[PART_MIDDLE], d->n_of_part[PART_MIDDLE]));
                }
        json_close(j, ']');
}

void write_report_spent(Json *j, const ReportDetail *d, const CollapsedTree *tree)
{
        if (!d->spent[PART_SLOW] || !d->spent[PART_MIDDLE])
                return;
        json_put_open(j, "parts", '['); /* how many, their mean time: slow, middle */
        for (guint part = PART_SLOW; part < N_PARTS; part++) {
                json_integer(j, (gint64)d->n_of_part[part]);
                json_integer(j, mean(d->time_of_part[part], d->n_of_part[part]));
        }
        json_close(j, ']');
        json_put_open(j, "spent", '[');
        for (guint32 i = 0; i < tree->n_vertices; i++) {
                const CollapsedCall *v = &tree->vertices[i];

                append_spent(j, d, &tree->places[v->first], v->n);
        }
        json_close(j, ']');
        append_spent_ways(j, d, tree);
}
