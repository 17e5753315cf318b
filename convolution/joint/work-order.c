/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A node that asks several others at once goes on after the last answer, whichever answer the
 * delays point to. So each message out of the node is put behind the last message into it of the
 * same work. Then a path has all that happened to a request, in turn.
 */
#include "convolution/joint/joint-search.h"

#include "base/compare.h"

enum {
        MOST_RETURN = 24, /* hops until a path comes back to a node */
        MOST_VISITS = 24, /* visits of a path to a node */
};

/* A message into a node led to a later one into it, which came in at this time. */
typedef struct {
        guint32 message, later;
        gint64 time;
} Return;

COMPARISON(compare_returns, Return,
           COMPARE(a->message, b->message) ?:
           COMPARE(a->time, b->time) ?:
           COMPARE(a->later, b->later))

/* The message into the node that led to this one into it, over messages that the node sent; or
 * NO_MESSAGE. */
static guint32 visit_before(const MessageCauses *m, NodeId node, guint32 message)
{
        for (guint hops = 0; hops < MOST_RETURN && message != NO_MESSAGE; hops++) {
                message = m->cause[message];
                if (message != NO_MESSAGE && m->traces->edges[m->edge[message]].from == node)
                        return m->cause[message];
        }
        return NO_MESSAGE;
}

/* The cause of the request that this message into the node answers; NO_MESSAGE if it is no
 * answer. */
static guint32 asked_because_of(const MessageCauses *m, NodeId node, guint32 answer)
{
        const EdgeTrace *edges = m->traces->edges;
        guint32 sent = m->cause[answer];

        for (guint hops = 1; hops < MOST_RETURN && sent != NO_MESSAGE; hops++) {
                if (edges[m->edge[sent]].from == node)
                        break;
                sent = m->cause[sent];
        }
        if (sent == NO_MESSAGE || edges[m->edge[sent]].from != node ||
            edges[m->edge[sent]].to != edges[m->edge[answer]].from)
                return NO_MESSAGE;
        return m->cause[sent];
}

/* The message that began the work at the node that this message into it belongs to. */
static guint32 first_of_work(const MessageCauses *m, NodeId node, guint32 message)
{
        for (guint visits = 0; visits < MOST_VISITS; visits++) {
                guint32 before = asked_because_of(m, node, message);

                if (before == NO_MESSAGE)
                        break;
                message = before;
        }
        return message;
}

/* Finds the returns to a node: a GArray of Return. */
static GArray *find_returns(const MessageCauses *m, NodeId node)
{
        const EdgeTraces *t = m->traces;
        GArray *returns = g_array_new(FALSE, FALSE, sizeof(Return));

        for (guint i = t->first_in[node]; i < t->first_in[node + 1]; i++) {
                const EdgeTrace *edge = &t->edges[t->in[i]];

                for (guint32 k = 0; k < edge->n; k++) {
                        Return r = { .later = message_that_arrived(m, t->in[i], k),
                                     .time = edge->received[k] };

                        r.message = r.later;
                        for (guint visits = 0; visits < MOST_VISITS; visits++) {
                                r.message = visit_before(m, node, r.message);
                                if (r.message == NO_MESSAGE)
                                        break;
                                g_array_append_val(returns, r);
                        }
                }
        }
        g_array_sort(returns, compare_returns);
        return returns;
}

static gint64 arrival_time(const MessageCauses *m, guint32 message)
{
        guint edge = m->edge[message];
        const EdgeTrace *e = &m->traces->edges[edge];

        return e->received[edge_trace_arrival(e, message - m->first[edge])];
}

/* The last message into the node before `time` that belongs to the same work as `message`. At the
 * same moment only `message` is taken, since others may be caused by what left then. */
static guint32 last_of_work(const MessageCauses *m, NodeId node, const GArray *returns,
                            guint32 message, gint64 time)
{
        guint32 first = first_of_work(m, node, message);
        guint low = 0, high = returns->len;
        const Return *last;

        while (low < high) {
                guint middle = low + (high - low) / 2;
                const Return *r = &g_array_index(returns, Return, middle);

                if (r->message < first || (r->message == first && r->time < time))
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0)
                return message;
        last = &g_array_index(returns, Return, low - 1);
        return last->message == first && last->time > arrival_time(m, message) ? last->later
                                                                               : message;
}

void put_work_in_order(MessageCauses *m)
{
        const EdgeTraces *t = m->traces;
        guint32 *cause = g_memdup2(m->cause, m->n * sizeof *cause);

        for (NodeId node = 0; node < t->n_nodes; node++) {
                g_autoptr(GArray) returns = NULL;

                if (!edge_traces_n_out(t, node) || !edge_traces_n_in(t, node) || m->is_root[node])
                        continue;
                returns = find_returns(m, node);
                for (guint k = t->first_out[node]; k < t->first_out[node + 1]; k++)
                        for (guint32 i = 0; i < t->edges[k].n; i++) {
                                guint32 z = m->first[k] + i;

                                if (m->cause[z] != NO_MESSAGE)
                                        cause[z] = last_of_work(m, node, returns, m->cause[z],
                                                                t->edges[k].sent[i]);
                        }
        }
        g_free(m->cause);
        m->cause = cause;
}
