/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/why/held-calls.h"

#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "base/each.h"

enum {
        MOST_STATEMENTS = 4,   /* named of a transaction */
        MOST_LOOKED_AT = 1000, /* calls, for its statements */
};

HeldCalls *held_calls_new(StoreReader *reader, const NodeTable *nodes)
{
        HeldCalls *held = g_new0(HeldCalls, 1);

        held->reader = reader;
        held->nodes = nodes;
        held->calls = g_array_new(FALSE, FALSE, sizeof(HeldCall));
        return held;
}

void held_calls_free(HeldCalls *held)
{
        if (!held)
                return;
        g_array_unref(held->calls);
        g_free(held->by_connection);
        g_free(held);
}

/* --- calls ------------------------------------------------------------------- */

static gint64 held_limit(gint64 time)
{
        return CLAMP(time, -PATH_TIME_LIMIT, PATH_TIME_LIMIT);
}

void held_calls_add(HeldCalls *held, const GArray *calls)
{
        guint32 first = held->calls->len;

        for (guint32 i = 0; i < calls->len; i++) {
                const PathCall *c = &g_array_index(calls, PathCall, i);
                HeldCall call = { .start = held_limit(c->start),
                                  .enter = held_limit(c->enter),
                                  .reply = held_limit(MAX(c->reply, c->enter)),
                                  .end = held_limit(MAX(c->end, c->start)),
                                  .ready = NO_TIME,
                                  .parent = NO_PARENT,
                                  .root = first,
                                  .connection = c->connection,
                                  .caller = c->caller,
                                  .callee = c->callee,
                                  .label = c->label,
                                  .transaction = c->transaction,
                                  .opened = c->connect > 0 };

                if (c->parent != NO_PARENT)
                        call.parent = first + c->parent;
                g_array_append_val(held->calls, call);
        }
        g_autofree gint64 *latest = g_new(gint64, calls->len); /* by parent: end of its calls */

        for (guint32 i = 0; i < calls->len; i++) {
                HeldCall *c = &g_array_index(held->calls, HeldCall, first + i);

                latest[i] = c->enter;
                if (c->parent == NO_PARENT)
                        continue;
                gint64 *before = &latest[c->parent - first];

                if (*before <= c->start &&
                    !work_goes_on(g_array_index(calls, PathCall, i).continues))
                        c->ready = *before;
                *before = MAX(*before, c->end);
        }
}

static int held_compare_calls(gconstpointer va, gconstpointer vb, gpointer data)
{
        guint32 i = *(const guint32 *)va, j = *(const guint32 *)vb;
        const HeldCall *a = held_call_at(data, i), *b = held_call_at(data, j);

        return COMPARE(a->connection, b->connection) ?: COMPARE(a->start, b->start)
               ?: COMPARE(i, j);
}

void held_calls_sort(HeldCalls *held)
{
        held->by_connection = g_new(guint32, held->calls->len);
        for (guint32 i = 0; i < held->calls->len; i++)
                if (held_call_at(held, i)->connection)
                        held->by_connection[held->n++] = i;
        g_qsort_with_data(held->by_connection, (gint)held->n, sizeof *held->by_connection,
                          held_compare_calls, held);
}

/* --- chance ------------------------------------------------------------------ */

gboolean held_is_long(gint64 length, gint64 usual)
{
        return length / HELD_TIMES >= usual && length - usual >= HELD_WAIT;
}

gboolean held_is_explained(const HeldWait *w)
{
        return w->rest >= 0 &&
               (double)w->rest <= HELD_REST * (double)(w->to - w->from) + (double)w->usual;
}

/* Fisher's method: the chance that the product of n probabilities is as small. -2 times the sum of
 * their logarithms has a chi-square distribution of 2 n degrees of freedom. */
double held_chance(const GArray *waits)
{
        double sum = 0, term = 0, tail = 0;
        guint n = 0;

        EACH (const HeldWait, w, waits) {
                double length = (double)(w->to - w->from);

                if (w->rest < 0 || length <= 0)
                        continue;
                double rest = MIN((double)MAX(w->rest, w->usual) / length, 1);

                sum -= log(MAX(1 - pow(1 - rest, w->releases), HELD_LEAST));
                n++;
        }
        if (n == 0)
                return 1;
        for (guint i = 0; i < n; i++) { /* term: log(sum^i / i!) */
                tail += exp(term - sum);
                term += log(MAX(sum, 1e-300) / (i + 1));
        }
        return MIN(tail, 1);
}

gint64 held_usual(GArray *lengths)
{
        g_array_sort(lengths, compare_int64s);
        return g_array_index(lengths, gint64, (guint)(HELD_USUAL * (lengths->len - 1)));
}

/* --- rows -------------------------------------------------------------------- */

static void held_waiting_free(gpointer data)
{
        HeldWaiting *w = data;

        g_hash_table_unref(w->holders);
        g_free(w);
}

HeldRows *held_rows_new(WhyWaiting *result)
{
        HeldRows *rows = g_new0(HeldRows, 1);

        rows->result = result;
        rows->waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, held_waiting_free);
        return rows;
}

HeldWaiting *held_rows_waiting(HeldRows *rows, const char *name)
{
        HeldWaiting *w = g_hash_table_lookup(rows->waiting, name);

        if (w)
                return w;
        w = g_new0(HeldWaiting, 1);
        w->holders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_hash_table_insert(rows->waiting, g_strdup(name), w);
        return w;
}

void held_waiting_charge(HeldWaiting *w, const char *holder, double time, double open)
{
        HeldHolder *h = g_hash_table_lookup(w->holders, holder);

        if (!h) {
                h = g_new0(HeldHolder, 1);
                g_hash_table_insert(w->holders, g_strdup(holder), h);
        }
        h->time += time;
        h->open += open;
        h->waits++;
}

void held_rows_finish(HeldRows *rows, const WhyWait *like)
{
        GHashTableIter kinds, holders;
        gpointer name, kind, holder_name, holder;

        g_hash_table_iter_init(&kinds, rows->waiting);
        while (g_hash_table_iter_next(&kinds, &name, &kind)) {
                const HeldWaiting *w = kind;
                double rest = w->wait;
                WhyWait row = *like;

                if (g_hash_table_size(w->holders) == 0)
                        continue;
                row.waiting = g_string_chunk_insert_const(rows->result->text, name);
                row.calls = w->calls;
                row.waited = w->waited;
                row.mean = w->wait / (double)w->calls;
                rows->result->held += w->wait;
                g_hash_table_iter_init(&holders, w->holders);
                while (g_hash_table_iter_next(&holders, &holder_name, &holder)) {
                        const HeldHolder *h = holder;

                        row.holding = g_string_chunk_insert_const(rows->result->text, holder_name);
                        row.time = h->time;
                        row.share = h->time / w->wait;
                        row.open = h->open / (double)h->waits;
                        rest -= h->time;
                        g_array_append_val(rows->result->waits, row);
                }
                if (rest < 1)
                        continue;
                row.holding = NULL;
                row.time = rest;
                row.share = rest / w->wait;
                row.open = 0;
                g_array_append_val(rows->result->waits, row);
        }
        g_hash_table_unref(rows->waiting);
        g_free(rows);
}

/* --- names ------------------------------------------------------------------- */

const char *held_label(const HeldCalls *held, guint32 call)
{
        const char *label = store_reader_label(held->reader, held_call_at(held, call)->label);

        return label ? label : "";
}

void held_append_entry(const HeldCalls *held, guint32 call, gboolean caller, GString *name)
{
        const HeldCall *c = held_call_at(held, call);
        const char *entry = held_label(held, c->root);

        if (c->parent == NO_PARENT)
                g_string_append(name, node_table_written(held->nodes, c->caller));
        else if (entry[0])
                g_string_append(name, entry);
        else
                g_string_append(
                        name, node_table_written(held->nodes, held_call_at(held, c->root)->callee));
        if (caller && c->parent != NO_PARENT)
                g_string_append_printf(name, " > %s", node_table_written(held->nodes, c->caller));
}

static gboolean is_bracket(const char *label)
{
        static const char *const brackets[] = { "BEGIN", "START", "COMMIT", "ROLLBACK",
                                                "END",   "SET",   "",       NULL };

        return g_strv_contains(brackets, label);
}

void held_append_statements(const HeldCalls *held, guint32 first, guint32 n, GString *name)
{
        g_autoptr(GPtrArray) labels = g_ptr_array_new();

        for (guint32 i = first; i < first + MIN(n, MOST_LOOKED_AT); i++) {
                const char *label = held_label(held, held->by_connection[i]);

                if (is_bracket(label) || g_ptr_array_find(labels, label, NULL))
                        continue;
                g_ptr_array_add(labels, (char *)label);
                if (labels->len <= MOST_STATEMENTS)
                        g_string_append_printf(name, "%s%s", labels->len > 1 ? ", " : "", label);
                else {
                        g_string_append(name, ", ...");
                        return;
                }
        }
        if (labels->len == 0)
                g_string_append(name, "no statement");
}
