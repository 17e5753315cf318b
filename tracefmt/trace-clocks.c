/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/trace-clocks.h"

#include <string.h>

/* The value of a fact with this key; NULL for others. */
static const char *fact_value(const char *fact, const char *key)
{
        gsize n = strlen(key);

        return !strncmp(fact, key, n) && fact[n] == ':' && fact[n + 1] == ' ' ? fact + n + 2 : NULL;
}

/* The values of a key: how many there are, and whether all are the same. */
typedef struct {
        const char *first;
        guint n;
        gboolean differ;
} Values;

static Values find_values(char *const *facts, guint n, const char *key)
{
        Values values = { 0 };

        for (guint i = 0; i < n; i++) {
                const char *value = fact_value(facts[i], key);

                if (!value)
                        continue;
                if (values.n++ == 0)
                        values.first = value;
                values.differ |= strcmp(value, values.first) != 0;
        }
        return values;
}

TraceClocks trace_clocks(char *const *facts, guint n)
{
        Values clocks = find_values(facts, n, "clocks");
        Values hosts = find_values(facts, n, "captured on host");
        Values observers = find_values(facts, n, "observer");
        guint captures = MAX(clocks.n, hosts.n);

        if (find_values(facts, n, "skew added").n || find_values(facts, n, "skew removed").n)
                return CLOCKS_SEVERAL;
        for (guint i = 0; i < n; i++)
                if (!g_strcmp0(fact_value(facts[i], "clocks"), "several"))
                        return CLOCKS_SEVERAL;
        if (clocks.n > 0 && (clocks.differ || strcmp(clocks.first, "one") != 0))
                return CLOCKS_UNKNOWN;
        /* Captures that were put together are of one clock if one observer says so. */
        if (clocks.n > 0 &&
            ((clocks.n == 1 && hosts.n == 0) || (observers.n >= captures && !observers.differ)))
                return CLOCKS_ONE;
        return hosts.differ ? CLOCKS_SEVERAL : CLOCKS_UNKNOWN;
}

void merged_clocks_add(MergedClocks *m, char *const *facts, guint n)
{
        TraceClocks clocks = trace_clocks(facts, n);
        Values observers = find_values(facts, n, "observer");
        const char *observer = observers.differ ? NULL : observers.first;
        gboolean known =
                clocks != CLOCKS_UNKNOWN || find_values(facts, n, "captured on host").n > 0;

        if (m->traces++ == 0) {
                m->clocks = clocks;
                m->observer = g_strdup(observer);
                m->all_known = known;
                return;
        }
        if (g_strcmp0(observer, m->observer) != 0)
                g_clear_pointer(&m->observer, g_free);
        m->all_known = m->all_known && known;
        if (m->clocks == CLOCKS_SEVERAL || clocks == CLOCKS_SEVERAL)
                m->clocks = CLOCKS_SEVERAL;
        else if (m->observer)
                m->clocks = CLOCKS_ONE;
        else
                m->clocks = m->all_known ? CLOCKS_SEVERAL : CLOCKS_UNKNOWN;
}

void merged_clocks_clear(MergedClocks *m)
{
        g_clear_pointer(&m->observer, g_free);
}

const char *trace_clocks_word(TraceClocks clocks)
{
        static const char *const words[] = { NULL, "one", "several" };

        return words[clocks];
}

gboolean trace_clocks_is_fact(const char *fact)
{
        return fact_value(fact, "clocks") != NULL;
}
