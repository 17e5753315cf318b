/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One clock or several, by the facts of a trace, and of traces that are merged.
 */
#include "tracefmt/trace-clocks.h"

#define SPLIT(facts) g_strsplit((facts), "|", -1)

static TraceClocks of(const char *facts)
{
        g_auto(GStrv) list = SPLIT(facts);

        return trace_clocks(list, g_strv_length(list));
}

static void test_one_trace(void)
{
        g_assert_cmpint(of(""), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("source: a.pcap|link type: x"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("source: a.pcap|clocks: one"), ==, CLOCKS_ONE);
        g_assert_cmpint(of("clocks: several"), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(of("clocks: sundry"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("clocks: oneself"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("more clocks: one"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("captured on host: a"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("captured on host: a|captured on host: a"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("captured on host: a|captured on host: b"), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(of("clocks: one|captured on host: a"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("clocks: one|captured on host: a|observer: x|captured on host: "
                           "b|observer: x"),
                        ==, CLOCKS_ONE);
        g_assert_cmpint(of("clocks: one|skew added: a +1 s +0 ppm since 0"), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(of("clocks: one|skew removed: a +1 s +0 ppm since 0"), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(of("clocks: one|clocks: unknown"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("clocks: one|clocks: several"), ==, CLOCKS_SEVERAL);
}

/* As cat makes them. */
static void test_one_after_the_other(void)
{
        g_assert_cmpint(of("clocks: one|clocks: one"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("observer: x|clocks: one|observer: x|clocks: one"), ==, CLOCKS_ONE);
        g_assert_cmpint(of("observer: x|clocks: one|observer: y|clocks: one"), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(of("observer: x|clocks: one|clocks: one"), ==, CLOCKS_UNKNOWN);
}

static TraceClocks merged(const char *a, const char *b, const char *c)
{
        const char *traces[] = { a, b, c };
        MergedClocks m = { 0 };

        for (guint i = 0; i < G_N_ELEMENTS(traces) && traces[i]; i++) {
                g_auto(GStrv) list = SPLIT(traces[i]);

                merged_clocks_add(&m, list, g_strv_length(list));
        }
        merged_clocks_clear(&m);
        return m.clocks;
}

static void test_merged(void)
{
        const char *x = "observer: x|clocks: one", *y = "observer: y|clocks: one";

        g_assert_cmpint(merged("", NULL, NULL), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(merged(x, NULL, NULL), ==, CLOCKS_ONE);
        g_assert_cmpint(merged(x, x, NULL), ==, CLOCKS_ONE);
        g_assert_cmpint(merged(x, x, x), ==, CLOCKS_ONE);
        g_assert_cmpint(merged(x, x, y), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(merged(x, y, x), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(merged("clocks: one", "clocks: one", NULL), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(merged("clocks: one", "captured on host: a", NULL), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(
                merged("captured on host: a|observer: x", "captured on host: b|observer: x", NULL),
                ==, CLOCKS_ONE);
        g_assert_cmpint(merged("clocks: one", "", NULL), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(merged("", "", NULL), ==, CLOCKS_UNKNOWN);
        g_assert_cmpint(merged("", "clocks: several", ""), ==, CLOCKS_SEVERAL);
        g_assert_cmpint(merged("observer: x", "observer: x|clocks: several", NULL), ==,
                        CLOCKS_SEVERAL);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/trace-clocks/one-trace", test_one_trace);
        g_test_add_func("/trace-clocks/one-after-the-other", test_one_after_the_other);
        g_test_add_func("/trace-clocks/merged", test_merged);
        return g_test_run();
}
