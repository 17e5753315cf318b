/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages that are known in a random order come out in that of their stamps.
 */
#include "capture/network/sequencer.h"

enum { N = 20000 };

/* Each message is announced by an item at its stamp and added some time later. */
static void test_order(void)
{
        g_autoptr(Sequencer) s = sequencer_new(1000, 3);
        GRand *rand = g_rand_new_with_seed(6);
        g_autofree OpenItem *items = g_new0(OpenItem, N);
        guint out = 0;
        gint64 last = 0;
        CapturedMessage m;
        GArray *by_time[N + 200] = { NULL };
        for (guint i = 0; i < N + 200; i++) {
                if (i < N) {
                        guint end = i + (guint)g_rand_int_range(rand, 0, 100);
                        sequencer_open(s, &items[i], i);
                        if (!by_time[end])
                                by_time[end] = g_array_new(FALSE, FALSE, sizeof(guint));
                        g_array_append_val(by_time[end], i);
                }
                for (guint k = 0; by_time[i] && k < by_time[i]->len; k++) {
                        guint which = g_array_index(by_time[i], guint, k);
                        CapturedMessage add = { .stamp = { which, which }, .number = which };
                        sequencer_close(&items[which]);
                        sequencer_add(s, &add);
                }
                if (by_time[i])
                        g_array_free(by_time[i], TRUE);
                g_assert_null(sequencer_overdue(s, i));
                while (sequencer_next(s, i, &m)) {
                        g_assert_cmpint(m.stamp.time, >=, last);
                        g_assert_cmpuint(m.number, ==, out);
                        last = m.stamp.time;
                        out++;
                }
        }
        g_assert_cmpuint(out, ==, N);
        g_rand_free(rand);
}

static void test_equal_stamps(void)
{
        g_autoptr(Sequencer) s = sequencer_new(10, 0);
        CapturedMessage m = { .stamp = { 5, 5 } };
        for (m.number = 0; m.number < 100; m.number++)
                sequencer_add(s, &m);
        for (guint i = 0; i < 100; i++) {
                g_assert(sequencer_next(s, 5, &m));
                g_assert_cmpuint(m.number, ==, i);
        }
}

/* Where all stamps are alike nothing would ever be late enough. */
static void test_bounded(void)
{
        g_autoptr(Sequencer) s = sequencer_new(10, 10);
        CapturedMessage m = { .stamp = { 5, 5 } };
        guint64 out = 0;
        sequencer_bound(s, 200000);
        for (guint64 i = 0; i < 300000; i++) {
                m.number = i;
                sequencer_add(s, &m);
                while (sequencer_next(s, 5, &m))
                        g_assert_cmpuint(m.number, ==, out++);
        }
        g_assert_cmpuint(out, >=, 100000);
}

/* Items opened, moved and closed in any order: the overdue one is the earliest. */
static void test_items(void)
{
        enum { ITEMS = 500 };
        g_autoptr(Sequencer) s = sequencer_new(0, 0);
        GRand *rand = g_rand_new_with_seed(7);
        g_autofree OpenItem *items = g_new0(OpenItem, ITEMS);
        for (guint i = 0; i < 20000; i++) {
                OpenItem *item = &items[g_rand_int_range(rand, 0, ITEMS)];
                if (g_rand_int_range(rand, 0, 3) == 0)
                        sequencer_close(item);
                else
                        sequencer_open(s, item, g_rand_int_range(rand, 0, 1000));
                gint64 earliest = G_MAXINT64;
                for (guint k = 0; k < ITEMS; k++)
                        if (open_item_is_open(&items[k]))
                                earliest = MIN(earliest, items[k].time);
                const OpenItem *overdue = sequencer_overdue(s, G_MAXINT64);
                g_assert_cmpint(overdue ? overdue->time : G_MAXINT64, ==, earliest);
        }
        g_rand_free(rand);
}

static void test_overdue(void)
{
        g_autoptr(Sequencer) s = sequencer_new(10, 0);
        OpenItem a = { .kind = 0 }, b = { .kind = 0 };
        sequencer_open(s, &b, 7);
        sequencer_open(s, &a, 5);
        g_assert_null(sequencer_overdue(s, 15));
        g_assert(sequencer_overdue(s, 16) == &a);
        sequencer_open(s, &a, 9); /* moves */
        g_assert_null(sequencer_overdue(s, 16));
        g_assert(sequencer_overdue(s, 18) == &b);
        sequencer_close(&b);
        g_assert_null(sequencer_overdue(s, 18));
        sequencer_close(&a);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/sequencer/order", test_order);
        g_test_add_func("/sequencer/equal-stamps", test_equal_stamps);
        g_test_add_func("/sequencer/bounded", test_bounded);
        g_test_add_func("/sequencer/items", test_items);
        g_test_add_func("/sequencer/overdue", test_overdue);
        return g_test_run();
}
