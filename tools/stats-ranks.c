/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stats-ranks.h"

#include <string.h>

#include "tools/rank-slice.h"
#include "tools/ranks.h"
#include "tools/tool.h"

/* What a slice adds beside what is learned of it, by edges of that. */
typedef struct {
        GPtrArray *latencies; /* of Histogram */
        GArray *busy;         /* of gint128 */
} EdgeTimes;

static void histogram_free(gpointer h)
{
        histogram_clear(h);
        g_free(h);
}

static EdgeTimes times_new(guint n_edges)
{
        EdgeTimes t = { g_ptr_array_new_with_free_func(histogram_free),
                        g_array_new(FALSE, TRUE, sizeof(gint128)) };

        for (guint i = 0; i < n_edges; i++)
                g_ptr_array_add(t.latencies, g_new0(Histogram, 1));
        g_array_set_size(t.busy, n_edges);
        return t;
}

static void times_clear(EdgeTimes *t)
{
        if (t->latencies)
                g_ptr_array_unref(t->latencies);
        if (t->busy)
                g_array_unref(t->busy);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EdgeTimes, times_clear)

static void count_calls(const RankSlice *of, EdgeTimes *t)
{
        const CallPairs *c = &slice_run_calls(of->run)->pairs;
        g_autofree guint32 *place = slice_run_place_edges(of->run, of->learned);

        for (guint32 i = 0; i < c->n; i++) {
                guint32 edge = place[c->edge[i]] - 1;

                if (!slice_has(&of->slice, c->at_caller[i].from))
                        continue;
                histogram_add(t->latencies->pdata[edge], c->at_caller[i].to - c->at_caller[i].from);
                g_array_index(t->busy, gint128, edge) += c->at_callee[i].to - c->at_callee[i].from;
        }
}

static void histogram_bytes(Histogram *h, Bytes *b)
{
        g_autoptr(GBytes) packed = bytes_reads(b) ? NULL : histogram_pack(h);
        guint8 *data = packed ? (guint8 *)g_bytes_get_data(packed, NULL) : NULL;
        guint32 n = packed ? (guint32)g_bytes_get_size(packed) : 0;
        Histogram part = HISTOGRAM_INIT;

        bytes_count(b, &n, 1);
        bytes_u8s(b, &data, n);
        if (!bytes_reads(b))
                return;
        if (n > 0 && bytes_expect(b, histogram_unpack(&part, data, n), "a histogram"))
                histogram_merge(h, &part);
        histogram_clear(&part);
        g_free(data);
}

/* To bytes, or from them added to what is there. */
static void times_bytes(EdgeTimes *t, guint64 *ops, Bytes *b)
{
        for (guint i = 0; i < N_MESSAGE_OPS; i++) {
                guint64 n = bytes_reads(b) ? 0 : ops[i];

                bytes_u64(b, &n);
                ops[i] += bytes_reads(b) ? n : 0;
        }
        for (guint i = 0; i < t->busy->len && bytes_good(b); i++) {
                gint128 *busy = &g_array_index(t->busy, gint128, i);
                guint64 high = (guint64)((guint128)*busy >> 64), low = (guint64)*busy;

                bytes_u64(b, &high);
                bytes_u64(b, &low);
                if (bytes_reads(b))
                        *busy += (gint128)((guint128)high << 64 | low);
                histogram_bytes(t->latencies->pdata[i], b);
        }
}

static GBytes *times_of_slice(const RankSlice *of)
{
        Bytes b = bytes_to_write();
        g_auto(EdgeTimes) times = times_new(of->learned->edges->len);
        guint64 ops[N_MESSAGE_OPS] = { 0 };

        if (of->run) {
                count_calls(of, &times);
                memcpy(ops, slice_run_ops(of->run), sizeof ops);
        }
        times_bytes(&times, ops, &b);
        return bytes_written(&b);
}

/* On rank 0: what all ranks have counted is what one process counts. */
static Stats *stats_of(const Learned *l, GPtrArray *all, GError **error)
{
        Stats *s = g_new0(Stats, 1);
        g_auto(EdgeTimes) times = times_new(l->edges->len);

        for (guint i = 0; i < all->len && !*error; i++) {
                gsize n;
                const guint8 *data = g_bytes_get_data(all->pdata[i], &n);
                Bytes b = bytes_to_read(data, n);

                times_bytes(&times, s->ops, &b);
                bytes_end(&b, error);
        }
        for (guint i = 0; i < l->edges->len; i++)
                g_array_index(l->edges, Edge, i).busy = g_array_index(times.busy, gint128, i);
        s->matcher = call_matcher_new(0, G_MAXINT64);
        call_matcher_take(s->matcher, (const Edge *)l->edges->data, l->edges->len, &l->counts,
                          (const LoneMessage *)l->lone->data, l->lone->len);
        s->latencies = g_steal_pointer(&times.latencies);
        s->both_ends = l->both_ends;
        s->too_early = l->too_early;
        return s;
}

/* What is printed. The nodes that rank 0 met are the first of all. */
static Stats *gather(RankSlice *of, NodeTable **nodes, TraceReader **reader, GError **error)
{
        g_autoptr(GBytes) mine = times_of_slice(of);
        g_autoptr(GPtrArray) all = ranks_gather(mine);
        const NodeTable *learned = of->learned->nodes;

        if (!all)
                return NULL;
        for (guint i = 0; i < node_table_size(learned); i++) {
                const char *name = node_table_name(learned, i);

                node_table_add(of->nodes, name, strlen(name));
        }
        *reader = rank_slice_take_reader(of);
        *nodes = g_steal_pointer(&of->nodes);
        return stats_of(of->learned, all, error);
}

gboolean stats_on_ranks(const char *path, Stats **stats, NodeTable **nodes, TraceReader **reader,
                        int *status)
{
        g_auto(RankSlice) of = { .counts = TRUE };
        GError *error = NULL;

        *status = EXIT_DONE;
        if (ranks_n() == 1)
                return FALSE;
        if (!ranks_begin(&error)) {
                *status = tool_fail(error);
                return TRUE;
        }
        if (!strcmp(path, "-"))
                return ranks_leave_it("standard input, which rank 0 alone has");
        if (rank_slice_learn(&of, path, 0, &error))
                *stats = gather(&of, nodes, reader, &error);
        if (!error)
                return TRUE;
        if (error->domain == SLICE_ERROR) {
                g_autoptr(GError) left = error;

                return ranks_leave_it(left->message);
        }
        *status = tool_fail(error);
        return TRUE;
}
