/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/joint/message-causes.h"

#include "base/fill.h"
#include "base/hash.h"

enum {
        MOST_HOPS = 1000 /* hops of a path; more are a circle of messages with one time stamp */
};

static void number_messages(MessageCauses *c)
{
        const EdgeTraces *t = c->traces;

        c->first = g_new0(guint32, t->n_edges + 1);
        c->arrived = g_new0(guint32 *, t->n_edges);
        for (guint i = 0; i < t->n_edges; i++) {
                const EdgeTrace *e = &t->edges[i];

                c->first[i + 1] = c->first[i] + e->n;
                if (!e->arrival)
                        continue;
                c->arrived[i] = g_new(guint32, e->n);
                for (guint32 k = 0; k < e->n; k++)
                        c->arrived[i][e->arrival[k]] = k;
        }
        c->n = c->first[t->n_edges];
        c->edge = g_new(guint32, c->n);
        for (guint i = 0; i < t->n_edges; i++)
                for (guint32 m = c->first[i]; m < c->first[i + 1]; m++)
                        c->edge[m] = i;
}

MessageCauses *message_causes_new(const EdgeTraces *traces, const gboolean *is_root)
{
        MessageCauses *c = g_new0(MessageCauses, 1);

        g_assert(traces->messages < NO_MESSAGE);
        c->traces = traces;
        c->is_root = is_root;
        number_messages(c);
        c->cause = g_new(guint32, c->n);
        fill(c->cause, 0xff, c->n * sizeof *c->cause);
        c->probability = g_new0(float, c->n);
        c->prefix = g_new(guint32, c->n);
        c->future = g_new(guint32, c->n);
        c->n_pasts = g_new0(guint32, traces->n_nodes);
        c->n_futures = g_new0(guint32, traces->n_nodes);
        return c;
}

void message_causes_free(MessageCauses *c)
{
        if (!c)
                return;
        for (guint i = 0; i < c->traces->n_edges; i++)
                g_free(c->arrived[i]);
        g_free(c->arrived);
        g_free(c->first);
        g_free(c->edge);
        g_free(c->cause);
        g_free(c->probability);
        g_free(c->prefix);
        prefix_tree_free(c->tree);
        g_free(c->past);
        g_free(c->n_pasts);
        g_free(c->future);
        g_free(c->n_futures);
        g_free(c);
}

gint64 message_delay(const MessageCauses *c, guint32 message)
{
        guint32 cause = c->cause[message];
        const EdgeTrace *in = &c->traces->edges[c->edge[cause]];
        const EdgeTrace *out = &c->traces->edges[c->edge[message]];

        return out->sent[message - c->first[c->edge[message]]] -
               in->received[edge_trace_arrival(in, cause - c->first[c->edge[cause]])];
}

/* --- pasts ------------------------------------------------------------------ */

/* Finds the prefix of a message, and of the messages that led to it, where they are not known
 * yet. */
static void find_prefix(MessageCauses *c, guint32 message)
{
        guint32 chain[MOST_HOPS], n = 0, m = message, prefix;

        while (m != NO_MESSAGE && c->prefix[m] == NO_PREFIX) {
                if (n == MOST_HOPS)
                        return;
                chain[n++] = m;
                if (c->is_root[c->traces->edges[c->edge[m]].from])
                        break;
                m = c->cause[m];
        }
        if (m == NO_MESSAGE)
                return;
        prefix = c->prefix[m];
        if (prefix == NO_PREFIX)
                prefix = prefix_tree_add(c->tree, NO_PREFIX, c->traces->edges[c->edge[m]].from);
        while (n > 0) {
                m = chain[--n];
                prefix = prefix_tree_add(c->tree, prefix, c->traces->edges[c->edge[m]].to);
                PREFIX(c->tree, prefix)->count++;
                c->prefix[m] = prefix;
        }
}

static void find_pasts(MessageCauses *c, guint32 common)
{
        prefix_tree_free(c->tree);
        c->tree = prefix_tree_new();
        fill(c->prefix, 0xff, c->n * sizeof *c->prefix);
        for (guint32 m = 0; m < c->n; m++)
                if (c->prefix[m] == NO_PREFIX)
                        find_prefix(c, m);
        fill(c->n_pasts, 0, c->traces->n_nodes * sizeof *c->n_pasts);
        c->past = g_renew(guint32, c->past, c->tree->prefixes->len);
        for (guint32 i = 0; i < c->tree->prefixes->len; i++) {
                const Prefix *p = PREFIX(c->tree, i);

                c->past[i] = p->count >= common ? c->n_pasts[p->node]++ : NO_PREFIX;
        }
}

/* --- futures ---------------------------------------------------------------- */

/* The futures found so far, by key. */
typedef struct {
        guint64 key;
        guint32 count, number;
} Future;

typedef struct {
        Future *slots;
        guint32 n, mask;
} Futures;

static Future *find_future(Futures *f, guint64 key)
{
        guint32 i = (guint32)(key >> 20) & f->mask;

        while (f->slots[i].count && f->slots[i].key != key)
                i = (i + 1) & f->mask;
        return &f->slots[i];
}

static void grow_futures(Futures *f)
{
        Future *old = f->slots;
        guint32 n = old ? f->mask + 1 : 0;

        f->mask = n ? 4 * n - 1 : 4095;
        f->slots = g_new0(Future, f->mask + 1);
        for (guint32 i = 0; i < n; i++)
                if (old[i].count)
                        *find_future(f, old[i].key) = old[i];
        g_free(old);
}

static void count_future(Futures *f, guint64 key)
{
        Future *future = find_future(f, key);

        if (!future->count++) {
                future->key = key;
                future->number = NO_MESSAGE;
                if (++f->n > f->mask / 2)
                        grow_futures(f);
        }
}

/* One more step: a message's future gets the futures of the messages that it causes, if enough
 * messages have the same. next has room for one number a message. */
static guint32 step_on(MessageCauses *c, guint32 common, guint32 n_futures, guint64 *next)
{
        Futures futures = { 0 };

        grow_futures(&futures);
        fill(next, 0, c->n * sizeof *next);
        for (guint32 m = 0; m < c->n; m++)
                if (c->cause[m] != NO_MESSAGE) /* a sum, which does not depend on order */
                        next[c->cause[m]] += hash_word(HASH_SEED, c->future[m]);
        for (guint32 m = 0; m < c->n; m++) {
                next[m] = hash_word(next[m], c->edge[m]);
                count_future(&futures, next[m]);
        }
        for (guint32 m = 0; m < c->n; m++) {
                Future *future = find_future(&futures, next[m]);

                if (future->count < common)
                        continue;
                if (future->number == NO_MESSAGE)
                        future->number = n_futures++;
                c->future[m] = future->number;
        }
        g_free(futures.slots);
        return n_futures;
}

static void find_futures(MessageCauses *c, guint32 common, guint steps)
{
        g_autofree guint64 *next = g_new(guint64, c->n);
        g_autofree guint32 *at_node = NULL;
        guint32 n = c->traces->n_edges;

        for (guint32 m = 0; m < c->n; m++)
                c->future[m] = c->edge[m];
        for (guint step = 0; step < steps; step++)
                n = step_on(c, common, n, next);
        at_node = g_new(guint32, n);
        fill(at_node, 0xff, n * sizeof *at_node);
        fill(c->n_futures, 0, c->traces->n_nodes * sizeof *c->n_futures);
        for (guint32 m = 0; m < c->n; m++) {
                guint32 *number = &at_node[c->future[m]];

                if (*number == NO_MESSAGE)
                        *number = c->n_futures[c->traces->edges[c->edge[m]].from]++;
                c->future[m] = *number;
        }
}

void message_causes_trace(MessageCauses *c, guint32 common, guint steps)
{
        find_pasts(c, common);
        find_futures(c, common, steps);
}
