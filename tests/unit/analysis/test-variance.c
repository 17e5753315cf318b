/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the variance of latency is divided by: exact sums against rational numbers, how busy a node
 * is against counting, slots of paths against those drawn by hand.
 */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "analysis/variance/exact-moments.h"
#include "analysis/variance/node-load.h"
#include "analysis/variance/variance-sums.h"
#include "paths/place-slots.h"

/* --- exact moments --------------------------------------------------------- */

static void check_moments(const gint64 *x, const gint64 *y, guint n)
{
        gint128 sum_x = 0, sum_y = 0, products = 0, apart = 0;

        for (guint i = 0; i < n; i++) {
                sum_x += x[i];
                sum_y += y[i];
                products += (gint128)x[i] * y[i];
                for (guint k = 0; k < i; k++)
                        apart += (gint128)(x[i] - x[k]) * (y[i] - y[k]);
        }
        /* n^2 times the covariance is the sum over all pairs of their differences' products. */
        double expected = (double)apart / n;
        double found = moment_covariance(n, sum_x, sum_y, products);
        g_assert_cmpfloat(fabs(found - expected), <=, 1e-12 * fabs(expected));
}

static void test_moments(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);

        for (guint turn = 0; turn < 500; turn++) {
                guint n = 1 + turn % 40, bits = 1 + turn % 46;
                gint64 x[40], y[40];
                gint64 base = turn % 3 == 0 ? 0 : MOMENT_LIMIT - ((gint64)1 << bits);

                for (guint i = 0; i < n; i++) {
                        gint64 size = (gint64)(g_rand_double(rand) * (double)((gint64)1 << bits));

                        x[i] = turn % 3 == 1 ? -(base + size) : base + size;
                        y[i] = base + (gint64)(g_rand_double(rand) * 1000) * (turn % 5 != 0);
                }
                check_moments(x, y, n);
        }
        g_assert_cmpfloat(moment_covariance(0, 0, 0, 0), ==, 0);
}

/* As many as there may be of the greatest: all but one of them are equal. */
static void test_most(void)
{
        gint128 n = (gint128)MOMENT_COUNT, most = MOMENT_LIMIT - 1;
        gint128 sum = n * most - 1, squares = n * most * most - 2 * most + 1;

        g_assert_cmpfloat(fabs(moment_covariance(MOMENT_COUNT, sum, sum, squares) - 1), <, 1e-9);
        g_assert_cmpfloat(fabs(moment_covariance(MOMENT_COUNT, -sum, sum, -squares) + 1), <, 1e-9);
}

/* --- load ------------------------------------------------------------------ */

typedef struct {
        NodeId node;
        gint64 enter, reply, own;
        guint32 cell;
} Call;

static guint count_others(const Call *calls, guint n, guint i)
{
        guint others = 0;

        for (guint k = 0; k < n; k++)
                others += calls[k].node == calls[i].node && calls[k].enter < calls[i].enter &&
                          calls[k].reply > calls[i].enter;
        return others;
}

/* Of less than 16 others, each number is a bin. */
static void check_effect(const NodeLoad *load, const Call *calls, guint n, guint32 cell)
{
        double own = 0, others = 0, square = 0, across = 0, up = 0, between = 0;
        double sum[16] = { 0 };
        guint count[16] = { 0 }, all = 0, bins = 0;

        for (guint i = 0; i < n; i++) {
                guint k = count_others(calls, n, i);

                g_assert_cmpuint(k, <, 16);
                if (calls[i].cell != cell)
                        continue;
                all++;
                own += (double)calls[i].own;
                others += k;
                sum[k] += (double)calls[i].own;
                count[k]++;
        }
        own /= all;
        others /= all;
        for (guint i = 0; i < n; i++) {
                double x = (double)calls[i].own - own, k = count_others(calls, n, i) - others;

                if (calls[i].cell != cell)
                        continue;
                square += x * x;
                across += k * k;
                up += x * k;
        }
        for (guint k = 0; k < 16; k++)
                if (count[k]) {
                        between += count[k] * (sum[k] / count[k] - own) * (sum[k] / count[k] - own);
                        bins++;
                }
        LoadEffect e = node_load_effect(load, &cell, 1);
        g_assert_cmpuint(e.calls, ==, all);
        g_assert_cmpfloat(fabs(e.others - others), <, 1e-9);
        g_assert_cmpfloat(fabs(e.slope - up / across), <, 1e-6);
        g_assert_cmpfloat(fabs(e.explained - MAX(0, between / square - (bins - 1.0) / all)), <,
                          1e-9);
        g_assert_cmpfloat(fabs(e.idle - sum[0] / count[0]), <, 1e-6);
}

static void test_load(void)
{
        enum { N = 3000 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);
        g_autoptr(NodeLoad) load = node_load_new(3);
        g_autofree Call *calls = g_new(Call, N);
        gint64 start = -1000;

        for (guint i = 0; i < N; i++) {
                Call *c = &calls[i];

                if (i % 3 == 0)
                        start += g_rand_int_range(rand, 0, 3); /* many come at once */
                c->node = (NodeId)g_rand_int_range(rand, 0, 3) * 70;
                c->enter = start + g_rand_int_range(rand, 0, 4);
                c->reply = c->enter + g_rand_int_range(rand, 0, 8);
                c->own = g_rand_int_range(rand, 0, 1000) + 100 * (c->reply - c->enter);
                c->cell = c->node / 70;
                node_load_advance(load, start);
                node_load_add(load, c->cell, c->node, c->enter, c->reply, c->own);
        }
        node_load_finish(load);
        for (guint32 cell = 0; cell < 3; cell++)
                check_effect(load, calls, N, cell);
}

/* Calls without a cell make the node busy, too; and no memory is kept of what is long over. */
static void test_load_others(void)
{
        g_autoptr(NodeLoad) load = node_load_new(2);
        const guint32 cells[] = { 0, 1 };
        const gint64 second = 1000000000;

        for (gint64 i = 0; i < 1000; i++) {
                node_load_advance(load, 10 * i * second);
                for (guint k = 0; k < 40; k++)
                        node_load_add(load, NO_CELL, 5, 10 * i * second, (10 * i + 5) * second, 0);
                node_load_add(load, 0, 5, (10 * i + 1) * second, (10 * i + 2) * second,
                              400 + i % 2);
                node_load_add(load, 0, 5, (10 * i + 6) * second, (10 * i + 7) * second,
                              100 + i % 2);
        }
        node_load_finish(load);
        LoadEffect e = node_load_effect(load, cells, 2);
        g_assert_cmpuint(e.calls, ==, 2000);
        g_assert_cmpfloat(e.others, ==, 20);
        g_assert_cmpfloat(e.idle, ==, 100.5);
        g_assert_cmpfloat(fabs(e.slope - 300.0 / 40), <, 1e-9);
        g_assert_cmpfloat(e.explained, >, 0.99);
        e = node_load_effect(load, cells + 1, 1);
        g_assert_cmpuint(e.calls, ==, 0);
}

/* --- slots ----------------------------------------------------------------- */

typedef struct {
        NodeTable *nodes;
        PlaceSlots *slots;
        guint32 chains[16];
} Slots;

/* "lb(web1(auth,catalog),...)": a name is a letter here; '~' before one that goes on. */
static void add_pattern(Slots *s, guint64 count, const char *text)
{
        SlotPlace places[16];
        guint32 n = 0, parent = NO_PARENT;

        for (gboolean goes_on = FALSE; *text; text++) {
                if (*text == '(')
                        parent = n - 1;
                else if (*text == ')')
                        parent = places[parent].parent;
                else if (*text == '~')
                        goes_on = TRUE;
                else {
                        places[n++] = (SlotPlace){ parent, node_table_add(s->nodes, text, 1),
                                                   goes_on, 1, 0 };
                        goes_on = FALSE;
                }
        }
        place_slots_add(s->slots, count, places, n, s->chains);
}

static void find_slots(Slots *s, const char *const *patterns, const guint64 *counts)
{
        s->nodes = node_table_new();
        s->slots = place_slots_new();
        for (guint i = 0; patterns[i]; i++)
                add_pattern(s, counts[i], patterns[i]);
        place_slots_find(s->slots, s->nodes);
}

/* Each slot after its parent's: "l 0:ab 1:c 1:d"; '~' before one that goes on. */
static char *spell(const Slots *s)
{
        GString *text = g_string_new(NULL);

        for (guint32 i = 0; i < place_slots_size(s->slots); i++) {
                const PlaceSlot *slot = place_slots_at(s->slots, i);

                if (slot->parent != NO_PARENT)
                        g_string_append_printf(text, " %u:%s", slot->parent,
                                               slot->goes_on ? "~" : "");
                for (guint k = 0; k < slot->nodes->len; k++)
                        g_string_append(text, node_table_name(s->nodes, g_array_index(slot->nodes,
                                                                                      NodeId, k)));
        }
        place_slots_free(s->slots);
        node_table_free(s->nodes);
        return g_string_free(text, FALSE);
}

static void check_slots(const char *const *patterns, const guint64 *counts, const char *expected)
{
        Slots s;
        g_autofree char *found = NULL;

        find_slots(&s, patterns, counts);
        found = spell(&s);
        g_assert_cmpstr(found, ==, expected);
}

static void test_slots(void)
{
        static const guint64 even[] = { 50, 50, 50, 50 };

        check_slots((const char *const[]){ "l(w(a(r)c(pp)))", "l(x(a(r)c(pp)))", NULL }, even,
                    "l 0:wx 1:a 1:c 2:r 3:p");
        /* Replicas of replicas. */
        check_slots((const char *const[]){ "l(w(a))", "l(w(b))", "l(x(a))", "l(x(b))", NULL }, even,
                    "l 0:wx 1:ab");
        /* Both are asked by some: they are two places. */
        check_slots((const char *const[]){ "l(wx)", "l(w)", "l(x)", NULL }, even, "l 0:w 0:x");
        /* Neither is, by some: they do not stand for each other. */
        check_slots((const char *const[]){ "l(w)", "l(x)", "l", NULL }, even, "l 0:w 0:x");
        /* So seldom that it may be an error: they are. */
        check_slots((const char *const[]){ "l(w)", "l(x)", "l(wx)", "l", NULL },
                    (const guint64[]){ 500, 495, 4, 1 }, "l 0:wx");
        check_slots((const char *const[]){ "l(w)", "l(x)", "l(wx)", "l", NULL },
                    (const guint64[]){ 500, 480, 19, 1 }, "l 0:w 0:x");
        /* What goes on is no replica of what is nested. */
        check_slots((const char *const[]){ "l(w)", "l(~x)", "l(~y)", "l(z)", NULL }, even,
                    "l 0:w 0:~x 0:~y 0:z");
        check_slots((const char *const[]){ "l", NULL }, even, "l");
}

static void test_cells(void)
{
        static const char *const patterns[] = { "l(w(a))", "l(x(a))", NULL };
        static const guint64 counts[] = { 10, 20 };
        Slots s;

        find_slots(&s, patterns, counts);
        /* chains holds those of the last pattern: l, l-x, l-x-a */
        g_assert_cmpuint(place_slots_slot(s.slots, s.chains[1]), ==, 1);
        g_assert_cmpuint(place_slots_cell(s.slots, s.chains[1]), ==,
                         place_slots_at(s.slots, 1)->first_cell + 1);
        g_assert_cmpuint(place_slots_slot(s.slots, s.chains[2]), ==, 2);
        g_assert_cmpuint(place_slots_chain_parent(s.slots, s.chains[2]), ==, s.chains[1]);
        g_assert_cmpfloat(place_slots_at(s.slots, 2)->own, ==, 2);
        g_free(spell(&s));
}

/* As many callees as a hostile store has, and a chain as long. */
static void test_many(void)
{
        enum { N = 100000 };
        g_autofree SlotPlace *places = g_new(SlotPlace, N);
        g_autofree guint32 *chains = g_new(guint32, N);
        g_autoptr(NodeTable) nodes = node_table_new();

        for (guint turn = 0; turn < 2; turn++) {
                g_autoptr(PlaceSlots) slots = place_slots_new();

                for (guint32 i = 0; i < N; i++) {
                        g_autofree char *name = g_strdup_printf("n%u", i);

                        places[i] = (SlotPlace){ i == 0      ? NO_PARENT
                                                 : turn == 0 ? 0
                                                             : i - 1,
                                                 node_table_add(nodes, name, strlen(name)), FALSE,
                                                 1, 0 };
                }
                place_slots_add(slots, 5, places, N, chains);
                place_slots_find(slots, nodes);
                g_assert_cmpuint(place_slots_size(slots), ==, N);
        }
}

/* --- sums ------------------------------------------------------------------ */

/* Two groups whose means differ in opposite directions: within them the factors go together. */
static void test_groups(void)
{
        g_autoptr(RequestFactors) r = request_factors_new(2);
        VarianceSums *s = variance_sums_new(2, 2, 200);

        for (gint64 i = 0; i < 200; i++) {
                gint64 group = i % 2, away = i / 2 % 10;

                g_assert_true(request_factors_add(r, 0, 1000 * group + away, FALSE));
                g_assert_true(request_factors_add(r, 1, 1000 * (1 - group) + away, FALSE));
                r->time = 1000 + 2 * away;
                variance_sums_add(s, r, (guint)group, FALSE, FALSE);
        }
        g_assert_cmpfloat(fabs(variance_sums_within_pair(s, 0, 1) - 200 * 8.25), <, 1e-9);
        g_assert_cmpfloat(fabs(variance_sums_within(s, 0) - 200 * 16.5), <, 1e-9);
        g_assert_cmpfloat(fabs(factor_sums_covariance(&s->all, 2, 2) - 200 * 33), <, 1e-9);
        g_assert_cmpfloat(fabs(variance_sums_error(s, 0)), <, 1e-12); /* all batches are alike */
        variance_sums_free(s);
}

static void test_limit(void)
{
        g_autoptr(RequestFactors) r = request_factors_new(1);

        g_assert_false(request_factors_add(r, 0, MOMENT_LIMIT, FALSE));
        g_assert_false(request_factors_add(r, 0, G_MININT64, FALSE));
        g_assert_true(request_factors_add(r, 0, MOMENT_LIMIT - 1, FALSE));
        g_assert_false(request_factors_add(r, 0, 1, FALSE));
        g_assert_cmpint(r->value[0], ==, MOMENT_LIMIT - 1);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/variance/moments", test_moments);
        g_test_add_func("/variance/most", test_most);
        g_test_add_func("/variance/load", test_load);
        g_test_add_func("/variance/load-others", test_load_others);
        g_test_add_func("/variance/slots", test_slots);
        g_test_add_func("/variance/cells", test_cells);
        g_test_add_func("/variance/many", test_many);
        g_test_add_func("/variance/groups", test_groups);
        g_test_add_func("/variance/limit", test_limit);
        return g_test_run();
}
