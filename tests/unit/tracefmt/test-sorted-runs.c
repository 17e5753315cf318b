/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages put in order, against a sort of all of them: by the buffer as far as it reaches,
 * by parts on disk always.
 */
#include "tracefmt/sorted-runs.h"

#include <string.h>
#include <sys/stat.h>

#include "tests/unit/scratch.h"
#include "base/error.h"

typedef struct {
        gint64 time;
        guint number;
} Stamp;

static int by_time(gconstpointer a, gconstpointer b)
{
        const Stamp *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        return x->number < y->number ? -1 : x->number > y->number;
}

/* The texts of the i-th message: short and long ids, with attributes and without. */
static void make_message(const Stamp *s, Message *m, char *text)
{
        int n = g_snprintf(text, 100, s->number % 3 ? "%u" : "a-longer-id-than-words-%u",
                           s->number);
        int more = s->number % 2 ? g_snprintf(text + n, 50, "label=%u", s->number) : 0;

        *m = (Message){ .time = s->time,
                        .sender = s->number % 7,
                        .receiver = s->number % 5,
                        .op = s->number % N_MESSAGE_OPS,
                        .attrs = text + n,
                        .attrs_length = more };
        message_set_id(m, text, n);
}

static void assert_same(const Message *m, const Stamp *s)
{
        char text[200];
        Message e;

        make_message(s, &e, text);
        g_assert_cmpint(m->time, ==, e.time);
        g_assert_cmpmem(m->id, m->id_length, e.id, e.id_length);
        g_assert_cmpmem(m->attrs, m->attrs_length, e.attrs, e.attrs_length);
        g_assert_cmpmem(m->id_words, sizeof m->id_words, e.id_words, sizeof e.id_words);
        g_assert_cmpuint(m->sender, ==, e.sender);
        g_assert_cmpuint(m->receiver, ==, e.receiver);
        g_assert_cmpint(m->op, ==, e.op);
}

/* In order but for what is at most by late. Many stamps are equal. */
static Stamp *make_stamps(guint n, gint64 by, guint32 seed)
{
        Stamp *s = g_new(Stamp, n);
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);

        for (guint i = 0; i < n; i++)
                s[i] = (Stamp){ i / 3 - (by ? g_rand_int_range(rand, 0, by) : 0), i };
        return s;
}

static void check_runs(const Stamp *stamps, guint n, gsize memory, guint parts)
{
        g_autoptr(SortedRuns) runs = sorted_runs_new(memory);
        g_autofree Stamp *sorted = g_memdup2(stamps, n * sizeof *stamps);
        g_autoptr(GError) error = NULL;
        char text[200];
        Message m;

        scratch_empty();
        for (guint i = 0; i < n; i++) {
                make_message(&stamps[i], &m, text);
                g_assert_true(sorted_runs_add(runs, &m, &error));
        }
        g_assert_true(sorted_runs_finish(runs, &error));
        g_assert_cmpuint(sorted_runs_parts(runs), >=, parts);
        g_assert_cmpuint(sorted_runs_parts(runs) > 0, ==, parts > 0);
        g_assert_cmpuint(scratch_count(), ==, 0); /* the file has no name */
        if (n)
                qsort(sorted, n, sizeof *sorted, by_time);
        for (guint i = 0; i < n; i++) {
                g_assert_cmpint(sorted_runs_next(runs, &m, &error), ==, 1);
                assert_same(&m, &sorted[i]);
        }
        g_assert_cmpint(sorted_runs_next(runs, &m, &error), ==, 0);
        g_assert_cmpint(sorted_runs_next(runs, &m, &error), ==, 0);
        g_assert_no_error(error);
}

static void test_runs(void)
{
        enum { N = 20000 };

        for (guint32 seed = 0; seed < 3; seed++) {
                g_autofree Stamp *near = make_stamps(N, 50, seed), *far = make_stamps(N, N, seed);

                check_runs(near, N, 1 << 26, 0);
                check_runs(near, N, 100000, 10);
                check_runs(far, N, 100000, 10);
                check_runs(far, N, 2000, 500); /* each buffer is the least one */
        }
        check_runs(NULL, 0, 1000, 0);
        g_autofree Stamp *one = make_stamps(1, 0, 0);
        check_runs(one, 1, 1, 1);
}

/* A text that is longer than any buffer. */
static void test_long(void)
{
        g_autoptr(SortedRuns) runs = sorted_runs_new(1000);
        g_autofree char *text = g_strnfill(1000000, 'x');
        Message m = { .attrs = text, .attrs_length = 1000000 };
        g_autoptr(GError) error = NULL;

        message_set_id(&m, text, 300000);
        for (int i = 5; i > 0; i--) {
                m.time = i;
                g_assert_true(sorted_runs_add(runs, &m, &error));
        }
        g_assert_true(sorted_runs_finish(runs, &error));
        for (int i = 1; i <= 5; i++) {
                g_assert_cmpint(sorted_runs_next(runs, &m, &error), ==, 1);
                g_assert_cmpint(m.time, ==, i);
                g_assert_cmpmem(m.id, m.id_length, text, 300000);
                g_assert_cmpmem(m.attrs, m.attrs_length, text, 1000000);
        }
}

static void test_no_folder(void)
{
        if (g_test_subprocess()) {
                g_autoptr(SortedRuns) runs = sorted_runs_new(1);
                g_autoptr(GError) error = NULL;
                Message m = { .id = "", .attrs = "" };

                g_assert_false(sorted_runs_add(runs, &m, &error));
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
                g_assert_nonnull(strstr(error->message, "/no/such (TMPDIR): "));
                return;
        }
        g_setenv("TMPDIR", "/no/such", TRUE);
        g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
        g_setenv("TMPDIR", scratch, TRUE);
        g_test_trap_assert_passed();
}

/* As many messages as it holds may pass a late one, and no more. */
static void test_reorder(void)
{
        enum { N = 300000 };
        static const gint64 by[] = { 0, 1, 100, 20000 };

        for (guint k = 0; k < G_N_ELEMENTS(by); k++) {
                g_autofree Stamp *stamps = make_stamps(N, by[k], k);
                g_autofree Stamp *sorted = g_memdup2(stamps, N * sizeof *stamps);
                g_autoptr(Reorder) reorder = reorder_new();
                gint64 newest = G_MININT64, most = 0, found;
                guint n_late = 0, n = 0;
                char text[200];
                Message m;

                qsort(sorted, N, sizeof *sorted, by_time);
                for (guint i = 0; i < N; i++) {
                        if (reorder_is_full(reorder)) {
                                g_assert_true(reorder_take(reorder, &m));
                                assert_same(&m, &sorted[n++]);
                        }
                        make_message(&stamps[i], &m, text);
                        reorder_put(reorder, &m);
                        n_late += stamps[i].time < newest;
                        if (stamps[i].time < newest)
                                most = MAX(most, newest - stamps[i].time);
                        newest = MAX(newest, stamps[i].time);
                }
                g_assert_cmpuint(n, ==, N - 65536);
                while (reorder_take(reorder, &m))
                        assert_same(&m, &sorted[n++]);
                g_assert_cmpuint(n, ==, N);
                g_assert_cmpuint(reorder_late(reorder, &found), ==, n_late);
                g_assert_cmpint(found, ==, most);
        }
}

/* Long texts fill it, too, and are not kept. */
static void test_reorder_bytes(void)
{
        g_autoptr(Reorder) reorder = reorder_new();
        g_autofree char *text = g_strnfill(1 << 20, 'x');
        Message m = { .id = "", .attrs = text, .attrs_length = 1 << 20 };

        for (guint round = 0; round < 3; round++) {
                guint n = 0;

                while (!reorder_is_full(reorder)) {
                        reorder_put(reorder, &m);
                        n++;
                }
                g_assert_cmpuint(n, ==, 64);
                while (reorder_take(reorder, &m))
                        n--;
                g_assert_cmpuint(n, ==, 0);
                m = (Message){ .id = "", .attrs = text, .attrs_length = 1 << 20 };
        }
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        if (!g_test_subprocess()) {
                scratch_make();
                g_setenv("TMPDIR", scratch, TRUE);
        }
        g_test_add_func("/sorted-runs/all", test_runs);
        g_test_add_func("/sorted-runs/long", test_long);
        g_test_add_func("/sorted-runs/no-folder", test_no_folder);
        g_test_add_func("/reorder/all", test_reorder);
        g_test_add_func("/reorder/bytes", test_reorder_bytes);
        status = g_test_run();
        if (!g_test_subprocess())
                scratch_remove();
        return status;
}
