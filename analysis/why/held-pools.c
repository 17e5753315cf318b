/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests that wait in a node for one of its connections to another, while all are in use. A
 * *lease* is the calls that one request makes in a row on a connection. A pool is full while as
 * many leases go on as ever do. A request waited for a connection if it began to use it just after
 * the lease before it, which was one of a full pool. That it had called something before, or that
 * the owner of that lease goes on, shows that it did not wait for a worker.
 */
#include "analysis/why/held-calls.h"

#include "base/compare.h"
#include "base/each.h"

typedef struct {
        guint32 call;     /* its first */
        guint32 first, n; /* in HeldCalls.by_connection */
        gint64 from, to;  /* ns */
        guint32 before;   /* lease on the connection before it, index; or NO_LEASE */
        gboolean frees;   /* the pool was full until its end */
} Lease;

#define NO_LEASE G_MAXUINT32

enum { MOST_LEASES = 1000 /* looked at for a wait */ };

/* The connections from a node to another. */
typedef struct {
        NodeId caller, callee;
        gboolean shared;  /* calls overlap on a connection */
        GArray *leases;   /* of Lease, by connection */
        guint32 size;     /* leases at a time, at most */
        GArray *frees;    /* of gint64: when a full pool is no longer full, in order, ns */
        GHashTable *gaps; /* by label: of gint64, GArray of gaps before leases */
        GArray *waits;    /* of HeldWait; holder: its own lease */
        guint proven, explained;
} ConnectionPool;

/* A lease begins or ends. */
typedef struct {
        gint64 time;
        gint32 change; /* 1 or -1 */
        guint32 lease;
} LeaseEvent;

static void pool_clear(gpointer data)
{
        ConnectionPool *p = data;

        g_array_unref(p->leases);
        g_array_unref(p->frees);
        g_array_unref(p->waits);
        g_hash_table_unref(p->gaps);
}

static Lease *lease_at(const ConnectionPool *p, guint32 i)
{
        return &g_array_index(p->leases, Lease, i);
}

/* The pool of an edge. */
static ConnectionPool *held_pool_of(GArray *pools, GHashTable *index, const HeldCall *c)
{
        gint64 key = (gint64)c->caller << 32 | c->callee;
        guint32 at = GPOINTER_TO_UINT(g_hash_table_lookup(index, &key));
        ConnectionPool p = { .caller = c->caller, .callee = c->callee };

        if (at)
                return &g_array_index(pools, ConnectionPool, at - 1);
        p.leases = g_array_new(FALSE, FALSE, sizeof(Lease));
        p.frees = g_array_new(FALSE, FALSE, sizeof(gint64));
        p.waits = g_array_new(FALSE, FALSE, sizeof(HeldWait));
        p.gaps = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
        g_array_append_val(pools, p);
        g_hash_table_insert(index, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(pools->len));
        return &g_array_index(pools, ConnectionPool, pools->len - 1);
}

static void pools_add_leases(const HeldCalls *held, GArray *pools, GHashTable *index)
{
        const HeldCall *last = NULL; /* on the connection */

        for (guint32 i = 0; i < held->n; i++) {
                guint32 call = held->by_connection[i];
                const HeldCall *c = held_call_at(held, call);
                ConnectionPool *p = held_pool_of(pools, index, c);
                gboolean begins = !last || last->connection != c->connection;
                Lease l = { .call = call,
                            .first = i,
                            .n = 1,
                            .from = c->start,
                            .to = MAX(c->end, c->start + 1),
                            .before = begins ? NO_LEASE : p->leases->len - 1 };

                p->shared |= !begins && c->start < last->end;
                if (!begins &&
                    (last->transaction || (c->parent != NO_PARENT && c->parent == last->parent))) {
                        lease_at(p, l.before)->to = MAX(c->end, c->start + 1);
                        lease_at(p, l.before)->n++;
                } else {
                        g_array_append_val(p->leases, l);
                }
                last = c;
        }
}

COMPARISON(compare_lease_events, LeaseEvent,
           COMPARE(a->time, b->time) ?: COMPARE(a->change, b->change) ?: COMPARE(a->lease, b->lease))

/* Its size, and when it was full. */
static void pool_find_full(ConnectionPool *p)
{
        g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(LeaseEvent));
        guint32 now = 0;

        for (guint32 i = 0; i < p->leases->len; i++) {
                LeaseEvent from = { lease_at(p, i)->from, 1, i },
                           to = { lease_at(p, i)->to, -1, i };

                g_array_append_val(events, from);
                g_array_append_val(events, to);
        }
        g_array_sort(events, compare_lease_events);
        EACH (LeaseEvent, e, events) {
                now += (guint32)e->change;
                p->size = MAX(p->size, now);
        }
        now = 0;
        EACH (LeaseEvent, e, events) {
                if (now == p->size && e->change < 0) {
                        lease_at(p, e->lease)->frees = TRUE;
                        g_array_append_val(p->frees, e->time);
                }
                now += (guint32)e->change;
        }
}

static gboolean may_wait(const HeldCalls *held, const Lease *l)
{
        return held_call_at(held, l->call)->ready != NO_TIME;
}

static void pool_find_gaps(const HeldCalls *held, const ConnectionPool *p)
{
        EACH (Lease, l, p->leases) {
                const HeldCall *c = held_call_at(held, l->call);
                gpointer label = GUINT_TO_POINTER((guint)c->label);
                GArray *gaps = g_hash_table_lookup(p->gaps, label);

                if (!may_wait(held, l))
                        continue;
                gint64 gap = c->start - c->ready;

                if (!gaps) {
                        gaps = g_array_new(FALSE, FALSE, sizeof(gint64));
                        g_hash_table_insert(p->gaps, label, gaps);
                }
                g_array_append_val(gaps, gap);
        }
}

/* How often the pool was freed from a time to another. */
static guint32 pool_count_frees(const ConnectionPool *p, gint64 from, gint64 to)
{
        const gint64 *frees = (const gint64 *)p->frees->data;
        guint32 bounds[2];
        gint64 times[] = { from, to };

        for (guint i = 0; i < 2; i++) {
                guint32 low = 0, high = p->frees->len;

                while (low < high) {
                        guint32 middle = low + (high - low) / 2;

                        if (frees[middle] <= times[i])
                                low = middle + 1;
                        else
                                high = middle;
                }
                bounds[i] = low;
        }
        return bounds[1] - bounds[0];
}

static gboolean is_no_worker(const HeldCalls *held, const HeldCall *c, const Lease *before)
{
        const HeldCall *owner = held_call_at(held, before->call);

        return c->ready > held_call_at(held, c->parent)->enter ||
               (owner->parent != NO_PARENT && held_call_at(held, owner->parent)->reply > c->start);
}

static void pool_find_waits(const HeldCalls *held, ConnectionPool *p)
{
        GHashTableIter gaps;
        gpointer of_label;

        g_hash_table_iter_init(&gaps, p->gaps);
        while (g_hash_table_iter_next(&gaps, NULL, &of_label))
                held_usual(of_label); /* sorts them */
        for (guint32 i = 0; i < p->leases->len; i++) {
                const Lease *l = lease_at(p, i);
                const HeldCall *c = held_call_at(held, l->call);
                const Lease *before = l->before == NO_LEASE ? NULL : lease_at(p, l->before);
                HeldWait w = {
                        .call = l->call, .from = c->ready, .to = c->start, .rest = -1, .holder = i
                };

                if (!may_wait(held, l))
                        continue;
                GArray *lengths = g_hash_table_lookup(p->gaps, GUINT_TO_POINTER((guint)c->label));
                w.usual = g_array_index(lengths, gint64, (guint)(HELD_USUAL * (lengths->len - 1)));
                if (!held_is_long(w.to - w.from, w.usual))
                        continue;
                if (before && before->frees && before->to > w.from && before->to <= w.to) {
                        w.rest = w.to - before->to;
                        w.releases = MAX(1, pool_count_frees(p, w.from, w.to));
                        if (held_is_explained(&w)) {
                                p->explained++;
                                p->proven += (guint)is_no_worker(held, c, before);
                        }
                }
                g_array_append_val(p->waits, w);
        }
}

/* --- who held it ----------------------------------------------------------------- */

/* From a time until the release, to the leases of all connections alike. order: leases by their
 * begin. longest: of them, ns. */
static void charge_leases(const HeldCalls *held, const ConnectionPool *p, HeldWaiting *waiting,
                          gint64 from, gint64 to, const GArray *order, gint64 longest)
{
        g_autoptr(GString) name = g_string_new(NULL);
        guint32 low = 0, high = order->len;

        while (low < high) {
                guint32 middle = low + (high - low) / 2;

                if (lease_at(p, g_array_index(order, guint32, middle))->from < to)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (guint seen = 0; low > 0 && seen < MOST_LEASES; low--, seen++) {
                const Lease *l = lease_at(p, g_array_index(order, guint32, low - 1));
                gint64 time = MIN(to, l->to) - MAX(from, l->from);

                if (from - l->from > longest)
                        return;
                if (time <= 0)
                        continue;
                g_string_truncate(name, 0);
                held_append_entry(held, l->call, FALSE, name);
                g_string_append(name, " > ");
                held_append_statements(held, l->first, l->n, name);
                held_waiting_charge(waiting, name->str, (double)time / p->size,
                                    (double)(l->to - l->from));
        }
}

static int compare_leases(gconstpointer va, gconstpointer vb, gpointer pool)
{
        guint32 i = *(const guint32 *)va, j = *(const guint32 *)vb;

        return COMPARE(lease_at(pool, i)->from, lease_at(pool, j)->from) ?: COMPARE(i, j);
}

static void add_pool_rows(const HeldCalls *held, ConnectionPool *p, WhyWaiting *result)
{
        HeldRows *rows = held_rows_new(result);
        g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autoptr(GString) name = g_string_new(NULL);
        gint64 longest = 0;
        WhyWait row = { .what = "connection",
                        .type = WAIT_CONNECTION,
                        .node = node_table_written(held->nodes, p->caller),
                        .of = node_table_written(held->nodes, p->callee),
                        .workers = p->size };

        for (guint32 i = 0; i < p->leases->len; i++) {
                longest = MAX(longest, lease_at(p, i)->to - lease_at(p, i)->from);
                g_array_append_val(order, i);
        }
        g_array_sort_with_data(order, compare_leases, p);
        EACH (Lease, l, p->leases) {
                if (!may_wait(held, l))
                        continue;
                g_string_truncate(name, 0);
                held_append_entry(held, l->call, FALSE, name);
                held_rows_waiting(rows, name->str)->calls++;
        }
        EACH (HeldWait, w, p->waits) {
                gint64 to = w->to - w->rest, from = w->from + MIN(w->usual, to - w->from);

                if (!held_is_explained(w))
                        continue;
                g_string_truncate(name, 0);
                held_append_entry(held, w->call, FALSE, name);
                HeldWaiting *waiting = held_rows_waiting(rows, name->str);

                waiting->waited++;
                waiting->wait += (double)(to - from);
                charge_leases(held, p, waiting, from, to, order, longest);
        }
        held_rows_finish(rows, &row);
}

void held_find_pools(const HeldCalls *held, WhyWaiting *result)
{
        g_autoptr(GArray) pools = g_array_new(FALSE, TRUE, sizeof(ConnectionPool));
        g_autoptr(GHashTable) index =
                g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        guint tested = 0;

        g_array_set_clear_func(pools, pool_clear);
        pools_add_leases(held, pools, index);
        EACH (ConnectionPool, p, pools) {
                if (p->shared)
                        continue;
                pool_find_full(p);
                pool_find_gaps(held, p);
                pool_find_waits(held, p);
                tested += p->explained > 0;
        }
        EACH (ConnectionPool, p, pools)
                if (2 * p->proven >= p->explained && held_chance(p->waits) * tested <= HELD_CHANCE)
                        add_pool_rows(held, p, result);
}
