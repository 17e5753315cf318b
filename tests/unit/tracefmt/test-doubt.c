/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Doubts as facts and back, added up, put together and in words.
 */
#include "tracefmt/doubt.h"

#include <string.h>

static void test_fact(void)
{
        static const char *const values[] = {
                "a b multiplexed 3 4",
                "a%20b c%2Cd cut 1 1",
                "* b several-at-once 231 600",
                "etcd1 etcd2 unseen 2241 3819 kind=http2 bytes=10/20",
        };
        g_autoptr(NodeTable) nodes = node_table_new();

        for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
                g_autofree char *fact = g_strconcat("doubt: ", values[i], NULL);
                Doubt doubt;

                g_assert_true(doubt_from_fact(&doubt, fact, nodes));
                g_autofree char *value = doubt_to_value(&doubt, nodes);
                g_assert_cmpstr(value, ==, values[i]);
        }
        for (guint i = 0; i < N_DOUBT_REASONS; i++)
                for (const char *p = doubt_word(i); *p; p++)
                        g_assert_true(g_ascii_islower(*p) || *p == '-');
}

/* A reader takes no harm from what a later version or somebody else wrote. */
static void test_broken(void)
{
        static const char *const facts[] = {
                "judgement: fit",
                "doubt: ",
                "doubt: a b",
                "doubt: a b multiplexed",
                "doubt: a b multiplexed 3",
                "doubt: a b multiplexed 5 4",
                "doubt: a b multiplexed 0 4",
                "doubt: a b multiplexed -1 4",
                "doubt: a b multiplexed 1 99999999999999999999",
                "doubt: a b unheard-of 3 4",
                "doubt: a * multiplexed 3 4",
                "doubt: a%zz b multiplexed 3 4",
                "doubt: a b unseen 3 4 kind=<script>",
                "doubt: a b unseen 3 4 kind=a-name-that-is-too-long",
                "doubt: a b unseen 3 4 bytes=4/3",
                "doubt: a b unseen 3 4 bytes=4",
        };
        g_autoptr(NodeTable) nodes = node_table_new();
        Doubt doubt;

        for (guint i = 0; i < G_N_ELEMENTS(facts); i++)
                g_assert_false(doubt_from_fact(&doubt, facts[i], nodes));
        g_assert_true(doubt_from_fact(&doubt, "doubt: a b cut 3 4 later=yes", nodes));
}

static void test_many(void)
{
        char *facts[] = {
                "doubt: a b unseen 9 10", "doubt: a b cut 1 2", "packets: 3",
                "doubt: a b cut 2 2",     "doubt: b a cut 5 5", "doubt: a c inverted 2 2"
        };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(GArray) doubts = doubts_from_facts(facts, G_N_ELEMENTS(facts), nodes);
        g_auto(GStrv) lines = doubts_to_lines(doubts, nodes);
        NodeId a = node_table_lookup(nodes, "a", 1), b = node_table_lookup(nodes, "b", 1);

        g_assert_cmpuint(doubts->len, ==, 4);
        g_assert_true(g_str_has_prefix(lines[0], "b>a: 5 of 5 calls: packets were cut"));
        g_assert_true(g_str_has_prefix(lines[1], "a>b: 3 of 4 calls: packets were cut"));
        g_assert_true(g_str_has_prefix(lines[3], "a>b: 9 of 10 segments: payload"));
        g_assert_cmpint(doubts_find(doubts, a, b)->reason, ==, DOUBT_CUT);
        g_assert_null(doubts_find(doubts, b, b));
        g_assert_cmpuint(doubts_find(doubts, NO_NODE, a)->count, ==, 5);
}

static void test_fold(void)
{
        for (guint n = MANY_CALLERS; n <= MANY_CALLERS + 1; n++) {
                g_autoptr(NodeTable) nodes = node_table_new();
                g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
                NodeId web = node_table_add(nodes, "web", 3);

                for (guint i = 0; i < n; i++) {
                        g_autofree char *name = g_strdup_printf("c%u", i);
                        Doubt doubt = { .caller = node_table_add(nodes, name, strlen(name)),
                                        .callee = web,
                                        .reason = DOUBT_MULTIPLEXED,
                                        .count = 1,
                                        .of = 2 };
                        doubts_add(doubts, &doubt);
                }
                doubts_fold(doubts);
                doubts_sort(doubts, nodes);
                if (n > MANY_CALLERS) {
                        g_autofree char *value =
                                doubt_to_value(&g_array_index(doubts, Doubt, 0), nodes);
                        g_assert_cmpuint(doubts->len, ==, 1);
                        g_assert_cmpstr(value, ==, "* web multiplexed 17 34");
                        g_assert_nonnull(doubts_find(doubts, 3, web));
                } else {
                        g_auto(GStrv) lines = doubts_to_lines(doubts, nodes);
                        g_assert_cmpuint(doubts->len, ==, n);
                        g_assert_cmpstr(lines[MAX_DOUBT_LINES], ==, "and 11 more edges");
                }
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/doubt/fact", test_fact);
        g_test_add_func("/doubt/broken", test_broken);
        g_test_add_func("/doubt/many", test_many);
        g_test_add_func("/doubt/fold", test_fold);
        return g_test_run();
}
