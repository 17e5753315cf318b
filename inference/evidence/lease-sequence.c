/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/lease-sequence.h"

#include "base/fill.h"
#include "base/numbering.h"
#include "base/xorshift.h"

static LeaseSequence with_room(guint32 n)
{
        return (LeaseSequence){ .connection = g_new(guint32, n),
                                .before = g_new(guint32, n),
                                .lead = g_new(gint64, n) };
}

/* Finds the call before each. */
static void find_before(LeaseSequence *s, guint32 n_out)
{
        g_autofree guint32 *latest = g_new(guint32, s->n_connections);

        fill(latest, 0xff, s->n_connections * sizeof *latest);
        for (guint32 i = 0; i < n_out; i++) {
                s->before[i] = NO_PARENT;
                if (s->connection[i] == NO_PARENT)
                        continue;
                s->before[i] = latest[s->connection[i]];
                latest[s->connection[i]] = i;
        }
}

/* Numbers the connections of this problem from 0. */
static void number_connections(LeaseSequence *s, const NodeProblem *node)
{
        g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);

        for (guint32 i = 0; i < node->n_out; i++) {
                guint32 connection = node->out[i].connection;

                s->lead[i] = node->out[i].lead;
                s->connection[i] = connection ? number_of(numbers, connection) : NO_PARENT;
        }
        s->n_connections = g_hash_table_size(numbers);
}

void lease_sequence_init(LeaseSequence *s, const NodeProblem *node)
{
        *s = with_room(node->n_out);
        number_connections(s, node);
        find_before(s, node->n_out);
}

LeaseSequence lease_sequence_copy(const LeaseSequence *s, guint32 n_out)
{
        LeaseSequence copy = with_room(n_out);

        copy.n_connections = s->n_connections;
        memcpy(copy.connection, s->connection, n_out * sizeof *copy.connection);
        memcpy(copy.before, s->before, n_out * sizeof *copy.before);
        memcpy(copy.lead, s->lead, n_out * sizeof *copy.lead);
        return copy;
}

void lease_sequence_clear(LeaseSequence *s)
{
        g_clear_pointer(&s->connection, g_free);
        g_clear_pointer(&s->before, g_free);
        g_clear_pointer(&s->lead, g_free);
}

/* Orders the calls whose connection is known by callee, then by time. n: their number. */
static guint32 *order_by_callee(const LeaseSequence *s, const guint32 *callee, guint32 n_out,
                                guint32 n_callees, guint32 *n)
{
        guint32 *order = g_new(guint32, n_out);
        g_autofree guint32 *first = g_new0(guint32, n_callees + 1);

        for (guint32 i = 0; i < n_out; i++)
                first[callee[i] + 1] += s->connection[i] != NO_PARENT;
        for (guint32 k = 0; k < n_callees; k++)
                first[k + 1] += first[k];
        *n = first[n_callees];
        for (guint32 i = 0; i < n_out; i++)
                if (s->connection[i] != NO_PARENT)
                        order[first[callee[i]]++] = i;
        return order;
}

static void swap(LeaseSequence *s, guint32 a, guint32 b)
{
        guint32 connection = s->connection[a];
        gint64 lead = s->lead[a];

        s->connection[a] = s->connection[b];
        s->lead[a] = s->lead[b];
        s->connection[b] = connection;
        s->lead[b] = lead;
}

/* Shuffles the connections of some calls. */
static void shuffle(LeaseSequence *s, const guint32 *call, guint32 n, guint64 *random)
{
        for (guint32 k = n; k > 1; k--)
                swap(s, call[k - 1], call[xorshift_below(random, k)]);
}

void lease_sequence_deal(LeaseSequence *s, const NodeProblem *node, const guint32 *callee,
                         guint32 n_callees, guint64 *random)
{
        guint32 n;
        g_autofree guint32 *order = order_by_callee(s, callee, node->n_out, n_callees, &n);

        for (guint32 from = 0, to; from < n; from = to) {
                guint32 of = callee[order[from]];
                gint64 second = node->out[order[from]].start / 1000000000;

                for (to = from; to < n && callee[order[to]] == of &&
                                node->out[order[to]].start / 1000000000 == second;
                     to++)
                        ;
                shuffle(s, order + from, to - from, random);
        }
        find_before(s, node->n_out);
}
