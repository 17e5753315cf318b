/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/screen-data.h"

#include <math.h>

#include "base/printable.h"
#include "paths/path-text.h"

const ScreenTableKind screen_tables[N_SCREEN_TABLES] = {
        [SCREEN_OPERATIONS] = { "Operations",
                                "OPERATION",
                                "MOST OWN TIME",
                                3,
                                5,
                                { { "req/s", SCREEN_RATE, 1 },
                                  { "p50", SCREEN_TIME, 4 },
                                  { "p99", SCREEN_TIME, 2 },
                                  { "time", SCREEN_SHARE, 5 },
                                  { "errors", SCREEN_ERRORS, 3 } } },
        [SCREEN_NODES] = { "Nodes",
                           "NODE",
                           NULL,
                           3,
                           7,
                           { { "calls/s", SCREEN_RATE, 4 },
                             { "p99", SCREEN_TIME, 2 },
                             { "own/call", SCREEN_TIME, 6 },
                             { "own", SCREEN_SHARE, 1 },
                             { "queued", SCREEN_SHARE, 7 },
                             { "busy", SCREEN_SHARE, 5 },
                             { "errors", SCREEN_ERRORS, 3 } } },
        [SCREEN_REQUESTS] = { "Slowest",
                              "REQUEST",
                              "MOST OWN TIME",
                              1,
                              4,
                              { { "start", SCREEN_MOMENT, 2 },
                                { "latency", SCREEN_TIME, 1 },
                                { "calls", SCREEN_COUNT, 4 },
                                { "errors", SCREEN_COUNT, 3 } } },
};

/* --- rows ------------------------------------------------------------------------ */

static void clear_screen_call(gpointer data)
{
        ScreenCall *call = data;

        g_free(call->name);
        g_free(call->outcome);
}

ScreenRow *screen_row_new(void)
{
        ScreenRow *row = g_atomic_rc_box_new0(ScreenRow);

        for (guint i = 0; i < SCREEN_VALUES; i++)
                row->values[i] = NAN;
        return row;
}

ScreenRow *screen_row_ref(ScreenRow *row)
{
        return g_atomic_rc_box_acquire(row);
}

static void clear_screen_row(gpointer data)
{
        ScreenRow *row = data;

        g_free(row->name);
        g_free(row->note);
        g_free(row->search);
        g_clear_pointer(&row->calls, g_array_unref);
}

void screen_row_unref(ScreenRow *row)
{
        g_atomic_rc_box_release_full(row, clear_screen_row);
}

static double share_of(gint128 part, gint128 whole)
{
        return whole > 0 ? (double)part / (double)whole : NAN;
}

static char *node_name(const PathSet *set, NodeId node)
{
        return printable_new(node_table_name(path_set_nodes(set), node), PRINTABLE_CELL);
}

/* --- own time by node ------------------------------------------------------------ */

/* The own time of an operation at a node, or of a request at a node. */
typedef struct {
        guint64 key; /* the operation's place, and the node */
        gint128 own; /* ns */
} OwnTime;

static GHashTable *own_times_new(void)
{
        return g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
}

static void own_times_add(GHashTable *times, guint place, NodeId node, gint128 own)
{
        guint64 key = (guint64)place << 32 | node;
        OwnTime *time = g_hash_table_lookup(times, &key);

        if (!time) {
                time = g_new0(OwnTime, 1);
                time->key = key;
                g_hash_table_insert(times, &time->key, time);
        }
        time->own += own;
}

/* Writes the node with the most own time into the note of each row. */
static void note_most(GHashTable *times, GPtrArray *rows, const PathSet *set)
{
        g_autofree OwnTime *most = g_new0(OwnTime, rows->len + 1);
        g_autofree gint128 *sums = g_new0(gint128, rows->len + 1);
        GHashTableIter i;
        gpointer value;

        g_hash_table_iter_init(&i, times);
        while (g_hash_table_iter_next(&i, NULL, &value)) {
                const OwnTime *time = value;
                OwnTime *best = &most[time->key >> 32];

                sums[time->key >> 32] += time->own;
                if (time->own > best->own || (time->own == best->own && time->key < best->key))
                        *best = *time;
        }
        for (guint k = 0; k < rows->len; k++) {
                ScreenRow *row = g_ptr_array_index(rows, k);
                g_autofree char *name = node_name(set, (NodeId)most[k].key);
                g_autofree char *share = path_format_share(most[k].own, sums[k]);

                if (most[k].own > 0)
                        row->note = g_strconcat(share, " ", name, NULL);
        }
}

/* --- tables ---------------------------------------------------------------------- */

static GPtrArray *screen_rows_new(void)
{
        return g_ptr_array_new_with_free_func((GDestroyNotify)screen_row_unref);
}

static void add_operation_row(GPtrArray *rows, const WatchWindow *w, const WatchOperation *o)
{
        ScreenRow *row = screen_row_new();
        double *v = row->values;

        row->name = printable_new(o->name, PRINTABLE_CELL);
        v[0] = (double)o->requests * 1e9 / (double)MAX(w->to - w->from, 1);
        v[1] = (double)histogram_quantile(&o->latency, 0.5);
        v[2] = (double)histogram_quantile(&o->latency, 0.99);
        v[3] = share_of(o->latency.sum, w->latency.sum);
        v[4] = share_of(o->failed, o->requests);
        g_ptr_array_add(rows, row);
}

static void note_operations(GPtrArray *rows, const WatchWindow *w)
{
        g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) times = own_times_new();

        for (guint i = 0; i < w->operations->len; i++)
                g_hash_table_insert(places,
                                    (gpointer)g_array_index(w->operations, WatchOperation, i).name,
                                    GUINT_TO_POINTER(i));
        for (guint32 i = 0; i < path_set_size(w->set); i++) {
                const PathPattern *p = path_set_pattern(w->set, i);
                const char *name =
                        p->label ? p->label
                                 : node_table_name(path_set_nodes(w->set), p->nodes[0].node);
                guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, name));

                for (guint32 k = 0; k < p->n_nodes; k++)
                        own_times_add(times, place, p->nodes[k].node, p->nodes[k].own.sum);
        }
        note_most(times, rows, w->set);
}

static GPtrArray *operation_rows(const WatchWindow *w)
{
        GPtrArray *rows = screen_rows_new();

        for (guint i = 0; i < w->operations->len; i++)
                add_operation_row(rows, w, &g_array_index(w->operations, WatchOperation, i));
        note_operations(rows, w);
        return rows;
}

static void add_node_row(GPtrArray *rows, const WatchWindow *w, NodeId node, gint128 own)
{
        const WatchNode *n = &w->nodes[node];
        gint64 time = MAX(w->to - w->from, 1);
        ScreenRow *row = screen_row_new();
        double *v = row->values;

        row->name = node_name(w->set, node);
        v[0] = (double)n->calls * 1e9 / (double)time;
        v[1] = (double)histogram_quantile(&n->latency, 0.99);
        v[2] = (double)n->own / (double)n->calls;
        v[3] = share_of(n->own, own);
        v[4] = n->load.workers ? share_of(n->queued, n->own) : NAN;
        v[5] = n->load.workers ? worker_load_busy(&n->load, time) : NAN;
        v[6] = share_of(n->errors, n->calls);
        g_ptr_array_add(rows, row);
}

static GPtrArray *node_rows(const WatchWindow *w)
{
        GPtrArray *rows = screen_rows_new();
        gint128 own = 0;

        for (NodeId i = 0; i < w->n_nodes; i++)
                own += w->nodes[i].own;
        for (NodeId i = 0; i < w->n_nodes; i++)
                if (w->nodes[i].calls)
                        add_node_row(rows, w, i, own);
        return rows;
}

ScreenData *screen_data_new(const WatchWindow *w, const GPtrArray *slowest)
{
        const Verdict *verdict = path_set_summary(w->set)->verdict;
        ScreenData *data = g_new0(ScreenData, 1);

        data->from = w->from;
        data->to = w->to;
        data->p50 = histogram_quantile(&w->latency, 0.5);
        data->p99 = histogram_quantile(&w->latency, 0.99);
        data->number = w->number;
        data->requests = w->requests;
        data->failed = w->failed;
        data->dropped = w->counts.dropped;
        data->late = w->counts.late;
        data->in_time = w->in_time;
        if (verdict && !verdict->fit)
                data->judgement = printable_new(verdict->judgement, PRINTABLE_CELL);
        data->rows[SCREEN_OPERATIONS] = operation_rows(w);
        data->rows[SCREEN_NODES] = node_rows(w);
        data->rows[SCREEN_REQUESTS] = screen_rows_new();
        for (guint i = 0; i < slowest->len; i++)
                g_ptr_array_add(data->rows[SCREEN_REQUESTS],
                                screen_row_ref(g_ptr_array_index(slowest, i)));
        return data;
}

void screen_data_free(ScreenData *data)
{
        if (!data)
                return;
        for (guint i = 0; i < N_SCREEN_TABLES; i++)
                g_ptr_array_unref(data->rows[i]);
        g_free(data->judgement);
        g_free(data);
}

/* --- a request ------------------------------------------------------------------- */

static const char *call_label(const PathSet *set, const PathCall *call)
{
        const GPtrArray *labels = path_set_labels(set);

        return call->label && labels ? g_ptr_array_index(labels, call->label - 1) : NULL;
}

static void add_screen_call(ScreenRow *row, const PathSet *set, const PathCall *calls, guint32 i)
{
        const PathCall *c = &calls[i];
        const char *label = call_label(set, c);
        g_autofree char *node = node_name(set, c->callee);
        g_autofree char *operation = label ? printable_new(label, PRINTABLE_CELL) : NULL;
        char outcome[OUTCOME_TEXT + 1] = "";
        ScreenCall call = { .start = c->start - calls[0].start,
                            .latency = c->end - c->start,
                            .own = c->own,
                            .network = c->network,
                            .has_error = outcome_is_error(c->outcome) };

        if (c->outcome != OUTCOME_OK)
                outcome_write(c->outcome, outcome);
        call.name = g_strjoin(" ", node, operation, NULL);
        call.outcome = g_strdup(outcome);
        if (i > 0)
                call.depth = g_array_index(row->calls, ScreenCall, c->parent).depth + 1;
        g_array_append_val(row->calls, call);
}

ScreenRow *screen_request_new(const PathSet *set, const PathCall *calls, guint32 n)
{
        g_autoptr(GHashTable) times = own_times_new();
        g_autoptr(GPtrArray) one = g_ptr_array_new();
        g_autoptr(GString) search = g_string_new(NULL);
        const char *label = call_label(set, calls);
        ScreenRow *row = screen_row_new();
        guint errors = 0;

        row->calls = g_array_new(FALSE, FALSE, sizeof(ScreenCall));
        g_array_set_clear_func(row->calls, clear_screen_call);
        row->name = label ? printable_new(label, PRINTABLE_CELL) : node_name(set, calls->callee);
        for (guint32 i = 0; i < n; i++) {
                add_screen_call(row, set, calls, i);
                own_times_add(times, 0, calls[i].callee, calls[i].own);
                g_string_append(search, g_array_index(row->calls, ScreenCall, i).name);
                g_string_append_c(search, '\n');
                errors += outcome_is_error(calls[i].outcome) != 0;
        }
        row->search = g_string_free(g_steal_pointer(&search), FALSE);
        g_ptr_array_add(one, row);
        note_most(times, one, set);
        row->values[0] = (double)calls->start;
        row->values[1] = (double)(calls->end - calls->start);
        row->values[2] = n;
        row->values[3] = errors;
        return row;
}
