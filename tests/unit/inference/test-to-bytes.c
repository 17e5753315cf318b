/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A model and an answer go to bytes and back, and give the same solution. Unexpected
 * bytes are refused, and never do harm.
 */
#include "tests/unit/inference/crowd.h"

static void assert_equal_bytes(GBytes *a, GBytes *b)
{
        g_assert_true(g_bytes_equal(a, b));
        g_bytes_unref(a);
        g_bytes_unref(b);
}

static NodeModel *copy_model(const NodeModel *model)
{
        g_autoptr(GBytes) bytes = node_model_to_bytes(model);
        gsize n;
        const guint8 *data = g_bytes_get_data(bytes, &n);
        g_autoptr(GError) error = NULL;
        NodeModel *copy = node_model_from_bytes(data, n, &error);

        g_assert_no_error(error);
        assert_equal_bytes(node_model_to_bytes(copy), g_bytes_ref(bytes));
        return copy;
}

/* Each of some steps is solved with the model that learned from the steps before, and with a copy
 * of that by bytes. */
static void test_model(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        NodeModel *model = node_model_new();

        for (guint step = 0; step < 4; step++) {
                NodeModel *copy = copy_model(model);
                Crowd *p = g_new(Crowd, 2);
                NodeAnswer answer[2];

                make_problem(&p[0], rand, (1000 + 2000 * step) * MS);
                add_identifiers(&p[0], rand, OWN);
                add_sizes(&p[0], rand);
                memcpy(&p[1], &p[0], sizeof *p);
                p[1].node.in = p[1].in;
                p[1].node.out = p[1].out;
                find_parents_jointly(&p[0].node, model, &answer[0]);
                find_parents_jointly(&p[1].node, copy, &answer[1]);
                assert_equal_bytes(node_answer_to_bytes(&answer[0]),
                                   node_answer_to_bytes(&answer[1]));
                assert_equal_bytes(node_model_to_bytes(model), node_model_to_bytes(copy));
                node_answer_clear(&answer[0]);
                node_answer_clear(&answer[1]);
                node_model_free(copy);
                g_free(p);
        }
        node_model_free(model);
}

static void test_answer(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(2);
        g_autofree Crowd *p = g_new(Crowd, 1);
        g_autoptr(GBytes) said = NULL;
        g_autoptr(GError) error = NULL;
        NodeAnswer answer, again;
        const guint8 *data;
        gsize n;

        make_problem(p, rand, 0);
        add_identifiers(p, rand, OWN);
        find_parents_jointly(&p->node, NULL, &answer);
        said = node_answer_to_bytes(&answer);
        data = g_bytes_get_data(said, &n);
        g_assert_true(node_answer_from_bytes(&again, data, n, &error));
        assert_equal_bytes(node_answer_to_bytes(&again), g_bytes_ref(said));
        node_answer_clear(&again);
        node_answer_clear(&answer);
}

/* Reads and, if it is as expected, uses it. Returns whether it was. */
typedef gboolean (*Reader)(const guint8 *data, gsize n, GError **error);

static gboolean read_model(const guint8 *data, gsize n, GError **error)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);
        g_autofree Crowd *p = g_new(Crowd, 1);
        NodeModel *model = node_model_from_bytes(data, n, error);
        NodeAnswer answer;

        if (!model)
                return FALSE;
        make_problem(p, rand, 5000 * MS);
        p->node.n_in = 20;
        p->node.n_out = 40;
        find_parents_jointly(&p->node, model, &answer);
        node_answer_clear(&answer);
        g_bytes_unref(node_model_to_bytes(model));
        node_model_free(model);
        return TRUE;
}

static gboolean read_answer(const guint8 *data, gsize n, GError **error)
{
        NodeAnswer answer;

        if (!node_answer_from_bytes(&answer, data, n, error))
                return FALSE;
        node_answer_clear(&answer);
        return TRUE;
}

/* Cut anywhere, with a byte more, or with some bytes changed. */
static void attack(GBytes *bytes, Reader reader, guint rounds)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(4);
        gsize n;
        const guint8 *data = g_bytes_get_data(bytes, &n);
        g_autofree guint8 *bad = g_malloc(n + 1);

        g_assert_true(reader(data, n, NULL));
        for (gsize cut = 0; cut < n; cut += 1 + cut / 20) {
                g_autoptr(GError) error = NULL;

                g_assert_false(reader(data, cut, &error));
                g_assert_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
        }
        memcpy(bad, data, n);
        bad[n] = 0;
        g_assert_false(reader(bad, n + 1, NULL));
        for (guint round = 0; round < rounds; round++) {
                gsize early = round % 2 ? n : MIN(n, 400);

                memcpy(bad, data, n);
                for (guint k = 0; k < 1 + round % 3; k++)
                        bad[g_rand_int_range(rand, 0, early)] =
                                round % 4 ? g_rand_int_range(rand, 0, 256) : 0xff;
                reader(bad, n, NULL);
        }
}

static void test_hostile(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(5);
        g_autofree Crowd *p = g_new(Crowd, 1);
        NodeModel *model = node_model_new();
        g_autoptr(GBytes) learned = NULL, said = NULL;
        NodeAnswer answer;

        make_problem(p, rand, 0);
        add_identifiers(p, rand, OWN);
        p->node.n_in = 30;
        p->node.n_out = 60;
        find_parents_jointly(&p->node, model, &answer);
        learned = node_model_to_bytes(model);
        said = node_answer_to_bytes(&answer);
        attack(learned, read_model, is_long() ? 300 : 100);
        attack(said, read_answer, 1000);
        node_answer_clear(&answer);
        node_model_free(model);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/to-bytes/model", test_model);
        g_test_add_func("/to-bytes/answer", test_answer);
        g_test_add_func("/to-bytes/hostile", test_hostile);
        return g_test_run();
}
