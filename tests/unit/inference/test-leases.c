/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is known of leases of connections, and what is learned of them.
 */
#include "inference/evidence/lease-spans.h"
#include "inference/evidence/lease-table.h"

/* A transaction that a server reports is enough where chance spans nearly all leases, too. The counts
 * are those of real ones. */
static void test_transactions(void)
{
        SpanCount all = { 432, 432 }, astray = { 432, 425 }, by_chance = { 2628, 2590 };
        SpanCount few = { 3653, 2660 }, none = { 0 };

        g_assert_false(lease_spans_tell(LEASED_WHOLE, all, by_chance));
        g_assert_true(lease_spans_tell(LEASED_TRANSACTION, all, by_chance));
        g_assert_false(lease_spans_tell(LEASED_TRANSACTION, astray, by_chance));
        g_assert_false(lease_spans_tell(LEASED_TRANSACTION, none, none));
        g_assert_true(lease_spans_tell(LEASED_WHOLE, all, few));
}

/* What is known counts where what was learned does not. */
static void test_reject(void)
{
        LeaseTable t = { .leased = LEASED_TRANSACTION };
        LeaseCounts more = { { 0 } };

        for (guint before = IDLE; before <= TRANSACTION; before++) {
                t.seen[situation(before, TRUE)][HOLDS] = 90;
                t.seen[situation(before, TRUE)][FRESH] = 10;
                t.dealt[situation(before, TRUE)][HOLDS] = 10;
                t.dealt[situation(before, TRUE)][FRESH] = 90;
        }
        lease_table_learn(&t, &more, FALSE);
        g_assert_true(t.in_use && t.ties[IDLE] && t.ties[TRANSACTION]);
        lease_table_reject(&t, TRUE);
        g_assert_true(!t.ties[IDLE] && t.ties[TRANSACTION]);
        g_assert_cmpfloat(t.ratio[situation(IDLE, TRUE)][HOLDS], ==, 1);
        g_assert_cmpfloat(t.ratio[situation(TRANSACTION, TRUE)][HOLDS], >, 2);
        lease_table_learn(&t, &more, FALSE);
        g_assert_true(t.in_use && !t.ties[IDLE]);
        t.leased = LEASED_NO;
        lease_table_learn(&t, &more, FALSE);
        g_assert_false(t.in_use);
        lease_table_reject(&t, FALSE);
        lease_table_learn(&t, &more, FALSE);
        g_assert_true(t.in_use && t.ties[IDLE]);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/leases/transactions", test_transactions);
        g_test_add_func("/leases/reject", test_reject);
        return g_test_run();
}
