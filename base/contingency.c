/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/contingency.h"

#include <math.h>

#include "base/hash.h"

void contingency_init(Contingency *t)
{
        t->pairs = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        t->rows = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        t->columns = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        t->n = 0;
}

void contingency_clear(Contingency *t)
{
        g_hash_table_unref(t->pairs);
        g_hash_table_unref(t->rows);
        g_hash_table_unref(t->columns);
}

static void count_up(GHashTable *counts, guint64 key)
{
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, &key));

        g_hash_table_insert(counts, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(n + 1));
}

void contingency_add(Contingency *t, guint64 row, guint64 column)
{
        count_up(t->pairs, hash_word(hash_word(HASH_SEED, row), column));
        count_up(t->rows, row);
        count_up(t->columns, column);
        t->n++;
}

/* The sum of n ln n over the counts n. */
static double sum_of_logs(GHashTable *counts)
{
        GHashTableIter iter;
        gpointer n;
        double sum = 0;

        g_hash_table_iter_init(&iter, counts);
        while (g_hash_table_iter_next(&iter, NULL, &n))
                sum += GPOINTER_TO_UINT(n) * log(GPOINTER_TO_UINT(n));
        return sum;
}

double contingency_gain(const Contingency *t)
{
        double freedom = (g_hash_table_size(t->rows) - 1.0) * (g_hash_table_size(t->columns) - 1.0);

        if (t->n == 0)
                return 0;
        return sum_of_logs(t->pairs) - sum_of_logs(t->rows) - sum_of_logs(t->columns) +
               t->n * log(t->n) - freedom / 2;
}
