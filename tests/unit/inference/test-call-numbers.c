/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Numbers of calls that parents make, found without knowing which made which.
 */
#include "base/compare.h"
#include "inference/model/call-numbers.h"

enum { PARENTS = 1500, MS = 1000000, KINDS = 3, CALLEES = 3, MOST = 8 * PARENTS };

typedef struct {
        CallIn in[PARENTS];
        CallOut out[MOST];
        guint32 kind[PARENTS], callee[MOST];
        NodeProblem node;
} Calls;

/* How often a parent of a kind makes each call: always so often, and with a chance once more. */
typedef struct {
        guint number[KINDS][CALLEES];
        double chance[KINDS][CALLEES];
} Habits;

static int by_start(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        return COMPARE(x->start, y->start);
}

/* Some eight parents at a time. */
static Calls *make_calls(const Habits *h, guint seed)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        Calls *c = g_new0(Calls, 1);
        guint32 n = 0;

        for (guint32 p = 0; p < PARENTS; p++) {
                CallIn *in = &c->in[p];

                in->enter = (gint64)p * 2 * MS + g_rand_int_range(rand, 0, 2 * MS);
                in->reply = in->enter + g_rand_int_range(rand, 8 * MS, 24 * MS);
                c->kind[p] = (guint32)g_rand_int_range(rand, 0, KINDS);
                for (guint32 k = 0; k < CALLEES; k++) {
                        guint number = h->number[c->kind[p]][k] +
                                       (g_rand_double(rand) < h->chance[c->kind[p]][k]);

                        for (guint i = 0; i < number; i++)
                                c->out[n++] =
                                        (CallOut){ .start = g_rand_int_range(rand, 1, 8 * MS) +
                                                            in->enter,
                                                   .callee = k };
                }
        }
        qsort(c->out, n, sizeof *c->out, by_start);
        for (guint32 i = 0; i < n; i++)
                c->callee[i] = c->out[i].callee;
        c->node = (NodeProblem){ .in = c->in, .out = c->out, .n_in = PARENTS, .n_out = n };
        return c;
}

/* The numbers of the callees that are members. */
static CallNumbers find(const Calls *c, const guint8 member[CALLEES], guint32 stretch)
{
        CallCurve *curve = call_curve_new(&c->node, c->kind, KINDS, c->callee, stretch);
        CallNumbers n;
        gboolean found;

        call_numbers_init(&n, KINDS, CALLEES);
        found = call_numbers_find(&n, curve, member);
        g_assert_cmpuint(n.n_sets, ==, found);
        call_curve_free(curve);
        return n;
}

static void assert_numbers(const Calls *c, const guint8 member[CALLEES], guint32 stretch,
                           const guint8 number[KINDS])
{
        CallNumbers n = find(c, member, stretch);

        g_assert_cmpuint(n.n_sets, ==, 1);
        g_assert_cmpmem(n.member, CALLEES, member, CALLEES);
        g_assert_cmpmem(n.number, KINDS, number, KINDS);
        call_numbers_clear(&n);
}

static void assert_none(const Calls *c, const guint8 member[CALLEES])
{
        CallNumbers n = find(c, member, 0);

        g_assert_cmpuint(n.n_sets, ==, 0);
        call_numbers_clear(&n);
}

static const guint8 first[CALLEES] = { 1 }, second[CALLEES] = { 0, 1 }, last[CALLEES] = { 0, 0, 1 },
                    both[CALLEES] = { 0, 1, 1 };

static void test_fixed(void)
{
        const Habits h = { .number = { { 1, 0, 2 }, { 1, 1, 0 }, { 0, 3, 1 } } };

        for (guint seed = 1; seed < 4; seed++) {
                g_autofree Calls *c = make_calls(&h, seed);

                assert_numbers(c, first, 0, (const guint8[]){ 1, 1, 0 });
                assert_numbers(c, second, 0, (const guint8[]){ 0, 1, 3 });
                assert_numbers(c, last, 0, (const guint8[]){ 2, 0, 1 });
                assert_numbers(c, last, 250, (const guint8[]){ 2, 0, 1 });
                /* 4 are more than states count */
                assert_numbers(c, both, 0, (const guint8[]){ 2, 1, NO_NUMBER });
        }
}

/* A call that a tenth of the parents of any kind leave out, or that one kind makes once more by
 * chance. */
static void test_by_chance(void)
{
        const Habits h = { .number = { { 0, 0, 1 }, { 0, 1, 1 }, { 0, 1, 1 } },
                           .chance = { { 0.9, 0.5, 0.3 }, { 0.9 }, { 0.9 } } };

        for (guint seed = 1; seed < 4; seed++) {
                g_autofree Calls *c = make_calls(&h, seed);

                assert_none(c, first);
                assert_none(c, second);
                assert_none(c, last);
        }
}

/* One of two callees, by chance: only together are they fixed. */
static void test_together(void)
{
        const Habits h = { .chance = { { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 }, { 0.5, 0.5, 0.5 } } };
        g_autofree Calls *c = make_calls(&h, 5);
        guint32 n = 0;

        for (guint32 p = 0; p < PARENTS; p++)
                c->out[n++] =
                        (CallOut){ .start = c->in[p].enter + MS, .callee = 1 + p * p % 7 % 2 };
        qsort(c->out, n, sizeof *c->out, by_start);
        for (guint32 i = 0; i < n; i++)
                c->callee[i] = c->out[i].callee;
        c->node.n_out = n;
        assert_none(c, first);
        assert_none(c, second);
        assert_none(c, last);
        assert_numbers(c, both, 0, (const guint8[]){ 1, 1, 1 });
}

/* Where stretches of parents were left out, with what they call, numbers show in each. */
static void test_stretches(void)
{
        const Habits h = { .number = { { 1, 0, 0 }, { 2, 1, 0 }, { 0, 1, 0 } } };
        g_autofree Calls *c = make_calls(&h, 7);
        NodeProblem *node = &c->node;
        guint32 kept = 0, n_in = 0;
        const guint32 stretch = PARENTS / 5;

        for (guint32 i = 0; i < node->n_out; i++) {
                gint64 at = node->out[i].start;

                if (at < c->in[2 * stretch].enter || at >= c->in[3 * stretch].enter)
                        node->out[kept++] = node->out[i];
        }
        for (guint32 p = 0; p < PARENTS; p++)
                if (p / stretch != 2) {
                        c->kind[n_in] = c->kind[p];
                        node->in[n_in++] = node->in[p];
                }
        node->n_in = n_in;
        node->n_out = kept;
        for (guint32 i = 0; i < kept; i++)
                c->callee[i] = node->out[i].callee;
        assert_numbers(c, first, stretch, (const guint8[]){ 1, 2, 0 });
        assert_numbers(c, second, stretch, (const guint8[]){ 0, 1, 1 });
}

/* Two calls of 1,000 were not captured. */
static void test_lost(void)
{
        const Habits h = { .number = { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 0 } } };
        g_autofree Calls *c = make_calls(&h, 8);
        guint32 kept = 0;

        for (guint32 i = 0; i < c->node.n_out; i++)
                if (i % 1000 != 500) {
                        c->callee[kept] = c->callee[i];
                        c->out[kept++] = c->out[i];
                }
        c->node.n_out = kept;
        assert_numbers(c, first, 0, (const guint8[]){ 1, 1, 1 });
}

static void test_few(void)
{
        const Habits h = { .number = { { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 } } };
        g_autofree Calls *c = make_calls(&h, 9);

        assert_none(c, second); /* no call at all */
        c->node.n_in = c->node.n_out = 60;
        assert_none(c, first);
        c->node.n_in = c->node.n_out = 0;
        assert_none(c, first);
}

static void test_breaks(void)
{
        guint8 member[] = { 1, 0, 0, 0, 1, 1 }, number[] = { 1, NO_NUMBER, 0, 2, 0, NO_NUMBER };
        const CallNumbers n = { 3, 3, 2, member, number };
        const guint32 none[CALLEES] = { 0 }, one[CALLEES] = { 1, 0, 0 }, all[CALLEES] = { 1, 1, 1 };

        g_assert_false(call_numbers_break_by_call(&n, 0, none, 0));
        g_assert_true(call_numbers_break_by_call(&n, 0, one, 0));
        g_assert_false(call_numbers_break_by_call(&n, 0, one, 2));
        g_assert_true(call_numbers_break_by_call(&n, 0, all, 2));
        g_assert_false(call_numbers_break_by_call(&n, 1, one, 0));
        g_assert_true(call_numbers_break_by_call(&n, 2, none, 0));
        g_assert_true(call_numbers_break_by_reply(&n, 0, none));
        g_assert_true(call_numbers_break_by_reply(&n, 0, one));
        g_assert_false(call_numbers_break_by_reply(&n, 0, all));
        g_assert_false(call_numbers_break_by_reply(&n, 2, none));
        /* of kinds and callees that came later nothing is known */
        g_assert_false(call_numbers_break_by_call(&n, 3, all, 0));
        g_assert_false(call_numbers_break_by_call(&n, 0, all, 3));
        g_assert_false(call_numbers_break_by_reply(&n, 3, none));
}

static void test_bytes(void)
{
        const Habits h = { .number = { { 1, 0, 2 }, { 1, 1, 0 }, { 0, 3, 1 } } };
        g_autofree Calls *c = make_calls(&h, 1);
        CallNumbers n = find(c, last, 0), back;
        Bytes b = bytes_to_write();
        g_autoptr(GBytes) bytes = NULL;
        g_autoptr(GError) error = NULL;
        const guint8 *data;
        gsize size;

        call_numbers_bytes(&n, &b);
        bytes = bytes_written(&b);
        data = g_bytes_get_data(bytes, &size);
        b = bytes_to_read(data, size);
        call_numbers_bytes(&back, &b);
        g_assert_true(bytes_end(&b, &error));
        g_assert_cmpmem(back.member, CALLEES, n.member, CALLEES);
        g_assert_cmpmem(back.number, KINDS, n.number, KINDS);
        call_numbers_clear(&back);
        for (gsize cut = 0; cut < size; cut++) {
                g_autoptr(GError) wrong = NULL;

                b = bytes_to_read(data, cut);
                call_numbers_bytes(&back, &b);
                g_assert_false(bytes_end(&b, &wrong));
                g_assert_cmpuint(back.n_sets, ==, 0);
                call_numbers_clear(&back);
        }
        call_numbers_clear(&n);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/call-numbers/fixed", test_fixed);
        g_test_add_func("/call-numbers/by-chance", test_by_chance);
        g_test_add_func("/call-numbers/together", test_together);
        g_test_add_func("/call-numbers/stretches", test_stretches);
        g_test_add_func("/call-numbers/lost", test_lost);
        g_test_add_func("/call-numbers/few", test_few);
        g_test_add_func("/call-numbers/breaks", test_breaks);
        g_test_add_func("/call-numbers/bytes", test_bytes);
        return g_test_run();
}
