/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Statements that wait in a database until a transaction of another connection ends, which touched
 * the same table before. Locks are not seen: a table may be touched without one, and held by one
 * transaction after the other. That waits end as transactions do is the evidence.
 */
#include "analysis/why/held-calls.h"

#include <string.h>

#include "base/compare.h"
#include "base/each.h"

enum {
        MOST_RELEASES = 1000, /* within a wait; with more, the last one is no evidence */
        MOST_TOUCHES = 10000, /* looked at for a wait */
        MOST_TURNS = 16,      /* holders one after the other, in a wait */
        ANY_TABLE = 0,        /* of transactions that began before the capture */
};

/* A call whose return leaves no transaction open, and the calls since one was. */
typedef struct {
        guint32 first, n; /* in HeldCalls.by_connection */
        gint64 release;   /* when it lets go, ns */
        gboolean cut;     /* its begin was not seen */
} Transaction;

/* A transaction that has reached a table. */
typedef struct {
        NodeId callee;
        guint32 table;
        gint64 release;         /* ns */
        gint64 asked, acquired; /* first call there: its enter and reply, ns */
        guint32 call;           /* this one */
        guint32 transaction;
        guint32 before; /* touch whose release it waited for, if it is cut; else NO_TOUCH */
} Touch;

#define NO_TOUCH G_MAXUINT32

/* Of a transaction that began before the capture: its first call that is seen comes this soon (ns)
 * after another such one let go. So it had waited. */
#define CUT_WAIT 10000000

/* Statements with one operation into one node, within transactions or not. */
typedef struct {
        NodeId callee;
        guint32 table;
        gint64 usual;  /* latency, ns */
        GArray *calls; /* of guint32 */
        GArray *waits; /* of HeldWait: of calls that took long */
} StatementKind;

typedef struct {
        const HeldCalls *held;
        WhyWaiting *result;
        gboolean *databases;   /* by NodeId: transactions were seen there */
        GHashTable *tables;    /* by name: its number, from 1 */
        GHashTable *table_of;  /* by label */
        GHashTable *kind_of;   /* by callee, label and whether within a transaction: index + 1 */
        GArray *kinds;         /* of StatementKind */
        guint32 *kind;         /* by call: index + 1; 0: none */
        GArray *transactions;  /* of Transaction */
        GArray *touches;       /* of Touch, sorted */
        GHashTable *explained; /* by call + 1: its HeldWait, borrowed */
} Locks;

static void locks_clear(Locks *l)
{
        EACH (StatementKind, k, l->kinds) {
                g_array_unref(k->calls);
                g_array_unref(k->waits);
        }
        g_array_unref(l->kinds);
        g_array_unref(l->transactions);
        g_array_unref(l->touches);
        g_hash_table_unref(l->tables);
        g_hash_table_unref(l->table_of);
        g_hash_table_unref(l->kind_of);
        g_hash_table_unref(l->explained);
        g_free(l->databases);
        g_free(l->kind);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Locks, locks_clear)

static const HeldCall *lock_call(const Locks *l, guint32 place)
{
        return held_call_at(l->held, l->held->by_connection[place]);
}

static gboolean find_databases(Locks *l)
{
        gboolean any = FALSE;

        for (guint32 i = 0; i < l->held->n; i++) {
                const HeldCall *c = lock_call(l, i);

                l->databases[c->callee] |= c->transaction;
                any |= c->transaction;
        }
        return any;
}

/* The table that a statement names; ANY_TABLE: none. */
static guint32 find_table(Locks *l, const HeldCall *c)
{
        gpointer label = GUINT_TO_POINTER((guint)c->label), found;
        const char *text = store_reader_label(l->held->reader, c->label);
        const char *name = text ? strchr(text, ' ') : NULL;

        if (!name)
                return ANY_TABLE;
        if ((found = g_hash_table_lookup(l->table_of, label)))
                return GPOINTER_TO_UINT(found);
        found = g_hash_table_lookup(l->tables, name);
        if (!found) {
                found = GUINT_TO_POINTER(g_hash_table_size(l->tables) + 1);
                g_hash_table_insert(l->tables, (char *)name, found);
        }
        g_hash_table_insert(l->table_of, label, found);
        return GPOINTER_TO_UINT(found);
}

/* --- kinds of statements ------------------------------------------------------- */

static void add_statement(Locks *l, guint32 call, gboolean within)
{
        const HeldCall *c = held_call_at(l->held, call);
        gint64 key = (gint64)c->callee << 17 | (gint64)c->label << 1 | within;
        guint32 at = GPOINTER_TO_UINT(g_hash_table_lookup(l->kind_of, &key));

        if (!at) {
                StatementKind kind = { .callee = c->callee,
                                       .table = find_table(l, c),
                                       .calls = g_array_new(FALSE, FALSE, sizeof(guint32)),
                                       .waits = g_array_new(FALSE, FALSE, sizeof(HeldWait)) };

                g_array_append_val(l->kinds, kind);
                at = l->kinds->len;
                g_hash_table_insert(l->kind_of, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(at));
        }
        g_array_append_val(g_array_index(l->kinds, StatementKind, at - 1).calls, call);
        l->kind[call] = at;
}

static void find_usual_latencies(const Locks *l)
{
        g_autoptr(GArray) lengths = g_array_new(FALSE, FALSE, sizeof(gint64));

        EACH (StatementKind, k, l->kinds) {
                g_array_set_size(lengths, 0);
                EACH (guint32, call, k->calls) {
                        const HeldCall *c = held_call_at(l->held, *call);
                        gint64 length = c->reply - c->enter;

                        g_array_append_val(lengths, length);
                }
                k->usual = held_usual(lengths);
        }
}

static gint64 usual_latency(const Locks *l, guint32 call)
{
        return g_array_index(l->kinds, StatementKind, l->kind[call] - 1).usual;
}

/* --- transactions ------------------------------------------------------------ */

/* Whether the first call that was seen on a connection may be within a transaction. */
static gboolean is_within(const Locks *l, guint32 call)
{
        const HeldCall *c = held_call_at(l->held, call);
        const char *label = held_label(l->held, call);

        if (c->opened)
                return FALSE;
        return c->transaction ? !g_str_equal(label, "BEGIN") && !g_str_equal(label, "START")
                              : g_str_equal(label, "COMMIT") || g_str_equal(label, "ROLLBACK") ||
                                        g_str_equal(label, "END");
}

/* The calls of a connection, from first up to end. */
static void add_transactions(Locks *l, guint32 first, guint32 end)
{
        guint32 since = first;
        gboolean cut = is_within(l, l->held->by_connection[first]), open = cut;

        for (guint32 i = first; i < end; i++) {
                guint32 call = l->held->by_connection[i];
                const HeldCall *c = lock_call(l, i);
                Transaction t = { .first = since, .n = i - since + 1, .cut = cut };

                add_statement(l, call, open || c->transaction);
                if (open && !c->transaction) {
                        g_array_append_val(l->transactions, t);
                        cut = FALSE;
                }
                open = c->transaction;
                if (!open)
                        since = i + 1;
        }
}

static void find_transactions(Locks *l)
{
        guint32 end;

        for (guint32 i = 0; i < l->held->n; i = end) {
                const HeldCall *c = lock_call(l, i);

                for (end = i + 1; end < l->held->n; end++)
                        if (lock_call(l, end)->connection != c->connection)
                                break;
                if (l->databases[c->callee])
                        add_transactions(l, i, end);
        }
}

static void add_touch(Locks *l, guint32 transaction, guint32 call, guint32 table)
{
        const Transaction *t = &g_array_index(l->transactions, Transaction, transaction);
        const HeldCall *c = held_call_at(l->held, call);
        Touch touch = { .callee = c->callee,
                        .table = table,
                        .release = t->release,
                        .asked = t->cut ? G_MININT64 : c->enter,
                        .acquired = t->cut ? G_MININT64 : c->reply,
                        .call = call,
                        .transaction = transaction,
                        .before = NO_TOUCH };

        if (touch.acquired < touch.release)
                g_array_append_val(l->touches, touch);
}

COMPARISON(compare_touches, Touch,
           COMPARE(a->callee, b->callee) ?: COMPARE(a->table, b->table)
           ?: COMPARE(a->release, b->release) ?: COMPARE(a->call, b->call))

/* Finds which transactions from before the capture waited for another such one. */
static void chain_cut_touches(Locks *l)
{
        for (guint32 i = 1; i < l->touches->len; i++) {
                Touch *t = &g_array_index(l->touches, Touch, i);
                const Touch *last = t - 1;
                const Transaction *of =
                        &g_array_index(l->transactions, Transaction, t->transaction);
                gint64 seen = lock_call(l, of->first)->enter;

                if (t->table != ANY_TABLE || last->table != ANY_TABLE ||
                    last->callee != t->callee || seen < last->release ||
                    seen - last->release > CUT_WAIT)
                        continue;
                t->before = i - 1;
                t->acquired = last->release;
        }
}

/* A transaction lets go when its last call comes, or as long after as that usually takes: if the
 * whole database stands still, so does its last call. */
static void find_touches(Locks *l)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

        for (guint32 i = 0; i < l->transactions->len; i++) {
                Transaction *t = &g_array_index(l->transactions, Transaction, i);
                guint32 last = l->held->by_connection[t->first + t->n - 1];
                const HeldCall *c = held_call_at(l->held, last);
                gint64 usual = usual_latency(l, last);

                t->release = c->enter + MIN((c->reply - c->enter) / 2, usual) * 2;
                g_hash_table_remove_all(seen);
                if (t->cut)
                        add_touch(l, i, last, ANY_TABLE);
                for (guint32 k = 0; !t->cut && k + 1 < t->n; k++) {
                        guint32 call = l->held->by_connection[t->first + k];
                        guint32 table = find_table(l, held_call_at(l->held, call));

                        if (table != ANY_TABLE && g_hash_table_add(seen, GUINT_TO_POINTER(table)))
                                add_touch(l, i, call, table);
                }
        }
        g_array_sort(l->touches, compare_touches);
        chain_cut_touches(l);
}

/* --- waits --------------------------------------------------------------------- */

/* How many touches of the table were released before a time. */
static guint32 search_touches(const Locks *l, NodeId callee, guint32 table, gint64 time)
{
        guint32 low = 0, high = l->touches->len;
        Touch key = { .callee = callee, .table = table, .release = time };

        while (low < high) {
                guint32 middle = low + (high - low) / 2;

                if (compare_touches(&g_array_index(l->touches, Touch, middle), &key) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Whether a transaction came before a call: it had the table, or waited for it itself. */
static gboolean comes_before(const Locks *l, const Touch *t, const HeldCall *c)
{
        return held_call_at(l->held, t->call)->connection != c->connection &&
               (t->asked <= c->enter ||
                held_is_long(t->acquired - t->asked, usual_latency(l, t->call)));
}

/* The touches of the table that were released while the call waited. */
static void find_releases(const Locks *l, const HeldCall *c, guint32 table, HeldWait *w)
{
        guint32 first = search_touches(l, c->callee, table, c->enter);
        guint32 end = search_touches(l, c->callee, table, c->reply + 1);

        for (guint32 i = end; i > first && end - i < MOST_TOUCHES; i--) {
                const Touch *t = &g_array_index(l->touches, Touch, i - 1);

                if (!comes_before(l, t, c))
                        continue;
                if (w->rest < 0 || c->reply - t->release < w->rest) {
                        w->rest = c->reply - t->release;
                        w->holder = i - 1;
                }
                if (++w->releases == MOST_RELEASES)
                        return;
        }
}

static void find_waits(const Locks *l, StatementKind *k)
{
        EACH (guint32, call, k->calls) {
                const HeldCall *c = held_call_at(l->held, *call);
                HeldWait w = { .call = *call,
                               .from = c->enter,
                               .to = c->reply,
                               .usual = k->usual,
                               .rest = -1 };

                if (!held_is_long(c->reply - c->enter, k->usual))
                        continue;
                find_releases(l, c, k->table, &w);
                find_releases(l, c, ANY_TABLE, &w);
                g_array_append_val(k->waits, w);
        }
}

/* --- who held it ----------------------------------------------------------------- */

/* "cron: SELECT stock, UPDATE stock" */
static char *name_holder(const Locks *l, const Touch *touch)
{
        const Transaction *t = &g_array_index(l->transactions, Transaction, touch->transaction);
        GString *name = g_string_new(NULL);

        held_append_entry(l->held, touch->call, TRUE, name);
        g_string_append(name, t->cut ? ": since before the capture, " : ": ");
        held_append_statements(l->held, t->first, t->n, name);
        return g_string_free(name, FALSE);
}

/* Charges the part of a wait between two times to its holder. The part before the holder had the
 * table is charged to the previous holder. */
static void charge_wait(const Locks *l, HeldWaiting *waiting, const HeldWait *w, gint64 from,
                        gint64 to)
{
        guint32 holder = w->holder;

        for (guint turn = 0; turn < MOST_TURNS && holder != NO_TOUCH && from < to; turn++) {
                const Touch *t = &g_array_index(l->touches, Touch, holder);
                const Transaction *transaction =
                        &g_array_index(l->transactions, Transaction, t->transaction);
                gint64 since = MAX(from, t->acquired);
                g_autofree char *name = name_holder(l, t);
                gint64 begin = transaction->cut ? from : lock_call(l, transaction->first)->enter;

                if (since < to)
                        held_waiting_charge(waiting, name, (double)(to - since),
                                            (double)(t->release - MIN(begin, t->release)));
                to = MIN(to, since);
                holder = t->before;
                if ((w = g_hash_table_lookup(l->explained, GUINT_TO_POINTER(t->call + 1))))
                        holder = w->holder;
        }
}

static void add_lock_rows(const Locks *l, const StatementKind *k)
{
        HeldRows *rows = held_rows_new(l->result);
        const char *table = strchr(held_label(l->held, g_array_index(k->calls, guint32, 0)), ' ');
        WhyWait row = { .what = "lock",
                        .type = WAIT_LOCK,
                        .node = node_table_written(l->held->nodes, k->callee),
                        .of = g_string_chunk_insert_const(l->result->text,
                                                          table ? table + 1 : "") };
        g_autoptr(GString) name = g_string_new(NULL);
        HeldWaiting *waiting;

        EACH (guint32, call, k->calls) {
                g_string_truncate(name, 0);
                held_append_entry(l->held, *call, FALSE, name);
                g_string_append_printf(name, " > %s", held_label(l->held, *call));
                waiting = held_rows_waiting(rows, name->str);
                waiting->calls++;
        }
        EACH (HeldWait, w, k->waits) {
                if (!held_is_explained(w))
                        continue;
                g_string_truncate(name, 0);
                held_append_entry(l->held, w->call, FALSE, name);
                g_string_append_printf(name, " > %s", held_label(l->held, w->call));
                waiting = held_rows_waiting(rows, name->str);
                waiting->waited++;
                waiting->wait += (double)(w->to - w->from - w->usual);
                charge_wait(l, waiting, w, w->from, w->to - w->usual);
        }
        held_rows_finish(rows, &row);
}

static guint explain_waits(Locks *l)
{
        guint tested = 0;

        EACH (StatementKind, k, l->kinds) {
                gboolean any = FALSE;

                if (k->table == ANY_TABLE)
                        continue;
                find_waits(l, k);
                EACH (HeldWait, w, k->waits) {
                        any |= w->rest >= 0;
                        if (held_is_explained(w))
                                g_hash_table_insert(l->explained, GUINT_TO_POINTER(w->call + 1), w);
                }
                tested += any;
        }
        return tested;
}

void held_find_locks(const HeldCalls *held, WhyWaiting *result)
{
        g_auto(Locks)
                l = { .held = held,
                      .result = result,
                      .databases = g_new0(gboolean, node_table_size(held->nodes)),
                      .tables = g_hash_table_new(g_str_hash, g_str_equal),
                      .table_of = g_hash_table_new(NULL, NULL),
                      .kind_of = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                      .kinds = g_array_new(FALSE, TRUE, sizeof(StatementKind)),
                      .kind = g_new0(guint32, held->calls->len),
                      .transactions = g_array_new(FALSE, FALSE, sizeof(Transaction)),
                      .touches = g_array_new(FALSE, FALSE, sizeof(Touch)),
                      .explained = g_hash_table_new(NULL, NULL) };
        guint tested;

        if (!find_databases(&l))
                return;
        find_transactions(&l);
        find_usual_latencies(&l);
        find_touches(&l);
        tested = explain_waits(&l);
        EACH (StatementKind, k, l.kinds)
                if (held_chance(k->waits) * tested <= HELD_CHANCE)
                        add_lock_rows(&l, k);
}
