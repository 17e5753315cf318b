/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/edge-trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "base/hash.h"
#include "tracefmt/fold-clients.h"

#define NO_EDGE ((guint32)-1)

/* Ends, as in bit 0 of MessageOp. */
enum { SENT, RECEIVED, N_ENDS };

/* A message as one end saw it. */
typedef struct {
        gint64 time;
        guint64 key; /* of operation and id: the same at both ends */
} Observation;

typedef struct {
        Observation *at;
        guint32 n, room;
        gboolean disorder;
} Observations;

/* An edge of the trace, before clients are folded. */
typedef struct {
        NodeId from, to;
        Observations ends[N_ENDS];
        guint64 kinds[3]; /* observations of calls, returns and one-way messages */
} RawEdge;

/* Both stamps of a message. */
typedef struct {
        gint64 sent, received;
} Stamps;

struct EdgeTraceLoader {
        NodeTable *nodes;
        GArray *edges;   /* of RawEdge, in order of first sight */
        guint32 *places; /* indices of edges by hash of their nodes, or NO_EDGE */
        guint32 mask;    /* the size of places less 1; a power of two less 1 */
        gint64 first, last;
        guint64 unmatched;
};

EdgeTraceLoader *edge_trace_loader_new(NodeTable *nodes)
{
        EdgeTraceLoader *l = g_new0(EdgeTraceLoader, 1);

        l->nodes = nodes;
        l->edges = g_array_new(FALSE, TRUE, sizeof(RawEdge));
        l->mask = 63;
        l->places = g_new(guint32, l->mask + 1);
        memset(l->places, 0xff, (l->mask + 1) * sizeof *l->places);
        l->first = G_MAXINT64;
        l->last = G_MININT64;
        return l;
}

static RawEdge *raw_edge(const EdgeTraceLoader *l, guint32 i)
{
        return &g_array_index(l->edges, RawEdge, i);
}

void edge_trace_loader_free(EdgeTraceLoader *l)
{
        if (!l)
                return;
        for (guint i = 0; i < l->edges->len; i++)
                for (guint end = 0; end < N_ENDS; end++)
                        g_free(raw_edge(l, i)->ends[end].at);
        g_array_free(l->edges, TRUE);
        g_free(l->places);
        g_free(l);
}

/* --- loading --------------------------------------------------------------- */

/* The entry of an edge in places, or the empty entry where it belongs. */
static guint32 *find_edge_entry(const EdgeTraceLoader *l, NodeId from, NodeId to)
{
        guint32 at = hash_word(HASH_SEED, (guint64)from << 32 | to) & l->mask;

        while (l->places[at] != NO_EDGE) {
                const RawEdge *e = raw_edge(l, l->places[at]);

                if (e->from == from && e->to == to)
                        break;
                at = (at + 1) & l->mask;
        }
        return &l->places[at];
}

static void grow_places(EdgeTraceLoader *l)
{
        l->mask = 2 * l->mask + 1;
        l->places = g_renew(guint32, l->places, l->mask + (gsize)1);
        memset(l->places, 0xff, (l->mask + (gsize)1) * sizeof *l->places);
        for (guint i = 0; i < l->edges->len; i++)
                *find_edge_entry(l, raw_edge(l, i)->from, raw_edge(l, i)->to) = i;
}

static RawEdge *find_raw_edge(EdgeTraceLoader *l, NodeId from, NodeId to)
{
        guint32 *place = find_edge_entry(l, from, to);
        guint32 i = *place;

        if (G_UNLIKELY(i == NO_EDGE)) {
                i = l->edges->len;
                g_array_set_size(l->edges, i + 1);
                raw_edge(l, i)->from = from;
                raw_edge(l, i)->to = to;
                *place = i;
                if (2 * l->edges->len > l->mask)
                        grow_places(l);
        }
        return raw_edge(l, i);
}

/* The key of a message. Without an id it is below 4, and the same for all of a kind. */
static guint64 observation_key(const Message *m)
{
        guint64 words[3] = { m->id_words[0], m->id_words[1],
                             (guint64)m->id_length << 32 | m->op >> 1 };

        return m->id_length ? hash_words(words, 3) | (guint64)1 << 63 : m->op >> 1;
}

gboolean edge_trace_loader_add(EdgeTraceLoader *l, const Message *m, GError **error)
{
        RawEdge *e = find_raw_edge(l, m->sender, m->receiver);
        Observations *o = &e->ends[m->op & 1];

        if (G_UNLIKELY(o->n == o->room)) {
                if (o->n >= NO_EDGE / 2)
                        return ravel_fail(error, RAVEL_ERROR_INPUT,
                                          "more than %u messages from %s to %s, expected fewer: "
                                          "narrow the trace with --from and --to",
                                          o->n, node_table_written(l->nodes, m->sender),
                                          node_table_written(l->nodes, m->receiver));
                o->room = MAX(16, 2 * o->room);
                o->at = g_renew(Observation, o->at, o->room);
        }
        if (o->n > 0 && m->time < o->at[o->n - 1].time)
                o->disorder = TRUE;
        o->at[o->n++] = (Observation){ m->time, observation_key(m) };
        e->kinds[m->op >> 1]++;
        l->first = MIN(l->first, m->time);
        l->last = MAX(l->last, m->time);
        return TRUE;
}

/* --- folding --------------------------------------------------------------- */

static const RawEdge *reverse_of(const EdgeTraceLoader *l, const RawEdge *e)
{
        guint32 i = *find_edge_entry(l, e->to, e->from);

        return i == NO_EDGE ? NULL : raw_edge(l, i);
}

/* Whether a call or a return shows that `from` called `to`. */
static gboolean is_call_edge(const RawEdge *e, const RawEdge *reverse)
{
        return e->kinds[CALL_SENT >> 1] > 0 || (reverse && reverse->kinds[RET_SENT >> 1] > 0);
}

/* Whether the first one-way message between from and to went this way. */
static gboolean is_first_edge(const RawEdge *e, const RawEdge *reverse)
{
        return e->kinds[MSG_SENT >> 1] > 0 &&
               (!reverse || reverse->kinds[MSG_SENT >> 1] == 0 || e < reverse);
}

static NodeId *fold_raw_edges(EdgeTraceLoader *l, gboolean fold, EdgeTraces *traces)
{
        g_autofree FoldEdge *edges = g_new(FoldEdge, l->edges->len);
        guint n = 0;
        NodeId *map;

        for (guint i = 0; i < l->edges->len; i++) {
                const RawEdge *e = raw_edge(l, i), *reverse = reverse_of(l, e);

                if (is_call_edge(e, reverse) || is_first_edge(e, reverse))
                        edges[n++] = (FoldEdge){ e->from, e->to };
        }
        map = fold ? fold_clients(l->nodes, edges, n, &traces->folded) : fold_nothing(l->nodes);
        traces->n_nodes = node_table_size(l->nodes);
        traces->called = g_new0(gboolean, traces->n_nodes);
        traces->calls = g_new0(gboolean, traces->n_nodes);
        traces->spoken_to = g_new0(gboolean, traces->n_nodes);
        for (guint i = 0; i < l->edges->len; i++) {
                const RawEdge *e = raw_edge(l, i), *reverse = reverse_of(l, e);

                if (e->kinds[CALL_SENT >> 1])
                        traces->called[map[e->to]] = traces->calls[map[e->from]] = TRUE;
                if (e->kinds[RET_SENT >> 1])
                        traces->called[map[e->from]] = traces->calls[map[e->to]] = TRUE;
                if (is_first_edge(e, reverse))
                        traces->spoken_to[map[e->to]] = TRUE;
        }
        return map;
}

/* --- the two stamps of a message ------------------------------------------- */

COMPARISON(compare_observations, Observation, COMPARE(a->key, b->key) ?: COMPARE(a->time, b->time))

/* The number of observations from i on with the key of i. */
static guint32 run_length(const Observations *o, guint32 i)
{
        guint32 n = 1;

        while (i + n < o->n && o->at[i + n].key == o->at[i].key)
                n++;
        return n;
}

/* Joins the observations of both ends with one key, and appends the messages. */
static void match_run(EdgeTraceLoader *l, GArray *out, const Observation *sent, guint32 n_sent,
                      const Observation *received, guint32 n_received, guint64 *n_both)
{
        guint32 both = MIN(n_sent, n_received);
        gboolean no_id = (n_sent ? sent : received)->key < 4;

        if (no_id && n_sent != n_received && both > 0) {
                /* One missing message would shift all that follow by one. */
                l->unmatched += both;
                if (n_sent > n_received)
                        n_received = 0;
                else
                        n_sent = 0;
                both = 0;
        }
        *n_both += both;
        for (guint32 i = 0; i < MAX(n_sent, n_received); i++) {
                Stamps s = { i < n_sent ? sent[i].time : received[i].time,
                             i < n_received ? received[i].time : sent[i].time };

                g_array_append_val(out, s);
        }
}

/* Appends the messages of an edge with stamps of both ends. */
static void match_ends(EdgeTraceLoader *l, RawEdge *e, GArray *out, guint64 *n_both)
{
        Observations *s = &e->ends[SENT], *r = &e->ends[RECEIVED];
        guint32 i = 0, k = 0;

        qsort(s->at, s->n, sizeof *s->at, compare_observations);
        qsort(r->at, r->n, sizeof *r->at, compare_observations);
        while (i < s->n || k < r->n) {
                gboolean take_s = i < s->n && (k == r->n || s->at[i].key <= r->at[k].key);
                gboolean take_r = k < r->n && (i == s->n || r->at[k].key <= s->at[i].key);
                guint32 n_s = take_s ? run_length(s, i) : 0;
                guint32 n_r = take_r ? run_length(r, k) : 0;

                match_run(l, out, s->at + i, n_s, r->at + k, n_r, n_both);
                i += n_s;
                k += n_r;
        }
}

/* --- the columns ----------------------------------------------------------- */

COMPARISON(compare_stamps, Stamps, COMPARE(a->sent, b->sent) ?: COMPARE(a->received, b->received))

static int compare_arrivals(const void *va, const void *vb, void *data)
{
        const Stamps *stamps = data;
        guint32 i = *(const guint32 *)va, k = *(const guint32 *)vb;

        return COMPARE(stamps[i].received, stamps[k].received) ?: COMPARE(i, k);
}

/* Fills the one column of an edge whose raw edges have stamps of one end each. */
static void fill_one_column(EdgeTrace *edge, RawEdge *const *raw, guint n_raw)
{
        gboolean sorted = n_raw == 1;
        guint32 n = 0;

        edge->sent = edge->received = g_new(gint64, edge->n);
        for (guint i = 0; i < n_raw; i++)
                for (guint end = 0; end < N_ENDS; end++) {
                        const Observations *o = &raw[i]->ends[end];

                        sorted &= !o->disorder;
                        for (guint32 k = 0; k < o->n; k++)
                                edge->sent[n++] = o->at[k].time;
                }
        if (!sorted)
                qsort(edge->sent, n, sizeof *edge->sent, compare_int64s);
}

static void fill_two_columns(EdgeTrace *edge, GArray *messages)
{
        Stamps *stamps = (Stamps *)messages->data;
        g_autofree guint32 *by_arrival = g_new(guint32, messages->len);
        gboolean same_order = TRUE, same_stamps = TRUE;

        qsort(stamps, messages->len, sizeof *stamps, compare_stamps);
        edge->n = messages->len;
        edge->sent = g_new(gint64, edge->n);
        edge->received = g_new(gint64, edge->n);
        edge->arrival = g_new(guint32, edge->n);
        for (guint32 i = 0; i < edge->n; i++)
                by_arrival[i] = i;
        qsort_r(by_arrival, edge->n, sizeof *by_arrival, compare_arrivals, stamps);
        for (guint32 i = 0; i < edge->n; i++) {
                edge->sent[i] = stamps[i].sent;
                edge->received[i] = stamps[by_arrival[i]].received;
                edge->arrival[by_arrival[i]] = i;
                same_order &= by_arrival[i] == i;
                same_stamps &= edge->sent[i] == edge->received[i];
        }
        if (same_order)
                g_clear_pointer(&edge->arrival, g_free);
        if (same_stamps) {
                g_free(edge->received);
                edge->received = edge->sent;
        }
}

/* The node whose clock made all stamps, if raw edges have stamps of one end each. */
static NodeId find_clock(const EdgeTrace *edge, RawEdge *const *raw, guint n_raw)
{
        gboolean sent = FALSE, received = FALSE;

        for (guint i = 0; i < n_raw; i++) {
                sent |= raw[i]->ends[SENT].n > 0;
                received |= raw[i]->ends[RECEIVED].n > 0;
        }
        return sent && received ? NO_NODE : sent ? edge->from : edge->to;
}

/* Makes an edge from the raw edges folded into it, and frees their observations. */
static void make_edge(EdgeTraceLoader *l, EdgeTrace *edge, RawEdge *const *raw, guint n_raw)
{
        gboolean two = FALSE;

        for (guint i = 0; i < n_raw; i++) {
                const Observations *ends = raw[i]->ends;

                edge->n += ends[SENT].n + ends[RECEIVED].n;
                edge->opens |= is_call_edge(raw[i], reverse_of(l, raw[i])) ||
                               is_first_edge(raw[i], reverse_of(l, raw[i]));
                two |= ends[SENT].n > 0 && ends[RECEIVED].n > 0;
        }
        if (!two) {
                edge->sent_clock = edge->received_clock = find_clock(edge, raw, n_raw);
                fill_one_column(edge, raw, n_raw);
        } else {
                g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(Stamps));

                for (guint i = 0; i < n_raw; i++)
                        match_ends(l, raw[i], messages, &edge->both);
                fill_two_columns(edge, messages);
                edge->sent_clock = edge->sent == edge->received ? NO_NODE : edge->from;
                edge->received_clock = edge->sent == edge->received ? NO_NODE : edge->to;
        }
        for (guint i = 0; i < n_raw; i++)
                for (guint end = 0; end < N_ENDS; end++)
                        g_clear_pointer(&raw[i]->ends[end].at, g_free);
}

/* --- all edges ------------------------------------------------------------- */

typedef struct {
        NodeId from, to;
        RawEdge *raw;
} FoldedEdge;

COMPARISON(compare_folded, FoldedEdge,
           COMPARE(a->from, b->from) ?:
           COMPARE(a->to, b->to) ?:
           COMPARE(a->raw, b->raw))

static void make_edges(EdgeTraceLoader *l, EdgeTraces *t, const NodeId *fold)
{
        guint n_raw = l->edges->len;
        g_autofree FoldedEdge *folded = g_new(FoldedEdge, n_raw);
        g_autofree RawEdge **raw = g_new(RawEdge *, n_raw);

        for (guint i = 0; i < n_raw; i++) {
                RawEdge *e = raw_edge(l, i);

                folded[i] = (FoldedEdge){ fold[e->from], fold[e->to], e };
        }
        if (n_raw > 0)
                qsort(folded, n_raw, sizeof *folded, compare_folded);
        for (guint i = 0; i < n_raw; i++)
                raw[i] = folded[i].raw;
        t->edges = g_new0(EdgeTrace, n_raw);
        for (guint i = 0, n; i < n_raw; i += n) {
                EdgeTrace *edge = &t->edges[t->n_edges++];

                edge->from = folded[i].from;
                edge->to = folded[i].to;
                for (n = 1; i + n < n_raw && folded[i + n].from == edge->from &&
                            folded[i + n].to == edge->to;
                     n++)
                        ;
                make_edge(l, edge, raw + i, n);
                t->messages += edge->n;
        }
}

/* Indexes edges by the node that they leave, as they are sorted, and by the node that they
 * enter. */
static void index_edges_by_node(EdgeTraces *t)
{
        g_autofree guint *next = NULL;

        t->first_out = g_new0(guint, t->n_nodes + 1);
        t->first_in = g_new0(guint, t->n_nodes + 1);
        t->in = g_new(guint, t->n_edges);
        for (guint i = 0; i < t->n_edges; i++) {
                t->first_out[t->edges[i].from + 1]++;
                t->first_in[t->edges[i].to + 1]++;
        }
        for (guint node = 0; node < t->n_nodes; node++) {
                t->first_out[node + 1] += t->first_out[node];
                t->first_in[node + 1] += t->first_in[node];
        }
        next = g_new(guint, t->n_nodes + 1);
        memcpy(next, t->first_in, (t->n_nodes + 1) * sizeof *next);
        for (guint i = 0; i < t->n_edges; i++)
                t->in[next[t->edges[i].to]++] = i;
}

EdgeTraces *edge_trace_loader_finish(EdgeTraceLoader *l, gboolean fold)
{
        EdgeTraces *t = g_new0(EdgeTraces, 1);
        g_autofree NodeId *map = fold_raw_edges(l, fold, t);

        t->nodes = l->nodes;
        t->first = l->edges->len ? l->first : NO_TIME;
        t->last = l->edges->len ? l->last : NO_TIME;
        make_edges(l, t, map);
        index_edges_by_node(t);
        t->unmatched = l->unmatched;
        edge_trace_loader_free(l);
        return t;
}

void edge_traces_free(EdgeTraces *t)
{
        if (!t)
                return;
        for (guint i = 0; i < t->n_edges; i++) {
                EdgeTrace *e = &t->edges[i];

                if (e->received != e->sent)
                        g_free(e->received);
                g_free(e->sent);
                g_free(e->arrival);
        }
        g_free(t->edges);
        g_free(t->first_out);
        g_free(t->first_in);
        g_free(t->in);
        g_free(t->called);
        g_free(t->calls);
        g_free(t->spoken_to);
        g_free(t);
}

const EdgeTrace *edge_traces_lookup(const EdgeTraces *t, NodeId from, NodeId to)
{
        guint low, high;

        if (from >= t->n_nodes)
                return NULL;
        low = t->first_out[from];
        high = t->first_out[from + 1];
        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (t->edges[middle].to < to)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < t->first_out[from + 1] && t->edges[low].to == to ? &t->edges[low] : NULL;
}

static void shift_stamps(gint64 *times, guint32 n, gint64 by)
{
        for (guint32 i = 0; i < n; i++)
                times[i] += by;
}

void edge_traces_shift(EdgeTraces *t, NodeId node, gint64 by)
{
        gint64 first = G_MAXINT64, last = G_MININT64;

        for (guint i = 0; i < t->n_edges; i++) {
                EdgeTrace *e = &t->edges[i];

                if (e->sent_clock == node)
                        shift_stamps(e->sent, e->n, by);
                if (e->received_clock == node && e->received != e->sent)
                        shift_stamps(e->received, e->n, by);
                first = MIN(first, MIN(e->sent[0], e->received[0]));
                last = MAX(last, MAX(e->sent[e->n - 1], e->received[e->n - 1]));
        }
        if (t->n_edges > 0) {
                t->first = first;
                t->last = last;
        }
}
