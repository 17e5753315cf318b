/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/work-in-turn.h"

enum { MESSAGES = 400, MOST_CALLS = 3 * MESSAGES, MS = 1000000 };

/* A worker and what it really did. */
typedef struct {
        TurnJob message[MESSAGES];
        gint64 done[MESSAGES]; /* when its last call was over; 0: it had none */
        WorkerCall call[MOST_CALLS];
        guint n_calls;
} Worker;

/* Messages come in groups of up to burst, on average every gap ns; each is a job of one of three
 * kinds. kinds: whether their calls are told apart. */
static void work(Worker *w, GRand *random, guint burst, gint64 gap, gboolean kinds)
{
        static const guint8 jobs[3][3] = { { 1, 2, 0 }, { 1, 2, 3 }, { 4, 0, 0 } };
        gint64 now = 0, come = 0;

        w->n_calls = 0;
        for (guint m = 0; m < MESSAGES; m++) {
                const guint8 *job = jobs[g_rand_int_range(random, 0, 3)];

                if (m % burst == 0)
                        come += (gint64)(burst * gap * (0.5 + g_rand_double(random)));
                w->message[m] = (TurnJob){ come + m % burst, G_MAXINT64, 0 };
                now = MAX(now, w->message[m].earliest);
                for (guint i = 0; i < 3 && job[i]; i++) {
                        gint64 start = now + g_rand_int_range(random, 1, MS);

                        now = start + g_rand_int_range(random, MS, 3 * MS);
                        w->call[w->n_calls++] =
                                (WorkerCall){ start, now, kinds ? job[i] : 1, 0, NULL };
                }
                w->done[m] = now;
        }
}

/* How many of the messages end where they did. */
static guint run(guint32 seed, guint burst, gint64 gap, gboolean kinds)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(seed);
        Worker *w = g_new(Worker, 1);
        guint right = 0;

        work(w, random, burst, gap, kinds);
        g_assert_true(work_in_turn_find(w->message, MESSAGES, w->call, w->n_calls, MS));
        for (guint m = 0; m < MESSAGES; m++) {
                g_assert_cmpint(w->message[m].end, >=, w->message[m].earliest);
                right += w->message[m].end == w->done[m];
        }
        g_free(w);
        return right;
}

static guint32 seeds(void)
{
        return g_getenv("RAVEL_LONG") ? 5 : 2;
}

static void test_leisure(void)
{
        for (guint32 seed = 1; seed <= seeds(); seed++) {
                g_assert_cmpuint(run(seed, 1, 60 * MS, FALSE), ==, MESSAGES);
                g_assert_cmpuint(run(seed, 1, 60 * MS, TRUE), ==, MESSAGES);
                g_assert_cmpuint(run(seed, 4, 12 * MS, TRUE), >=, MESSAGES * 17 / 20);
        }
}

/* Many wait at a time, and the worker is hardly ever idle. */
static void test_hurry(void)
{
        for (guint32 seed = 1; seed <= seeds(); seed++)
                g_assert_cmpuint(run(seed, 8, 6 * MS, TRUE), >=, MESSAGES * 9 / 10);
}

/* What is acknowledged ends there at the latest, several at once. */
static void test_together(void)
{
        TurnJob messages[] = { { 0, 40, 0 }, { 1, 40, 0 }, { 2, 60, 0 }, { 3, 100, 0 } };
        WorkerCall calls[] = { { 5, 10, 1, 0, NULL },  { 11, 15, 2, 0, NULL },
                               { 16, 20, 1, 0, NULL }, { 21, 25, 2, 0, NULL },
                               { 45, 50, 1, 0, NULL }, { 51, 55, 2, 0, NULL },
                               { 70, 75, 1, 0, NULL }, { 76, 80, 2, 0, NULL } };

        g_assert_true(work_in_turn_find(messages, 4, calls, 8, 100));
        g_assert_cmpint(messages[0].end, ==, 15);
        g_assert_cmpint(messages[1].end, ==, 25);
        g_assert_cmpint(messages[2].end, ==, 55);
        g_assert_cmpint(messages[3].end, ==, 80);
}

static void test_overlap(void)
{
        TurnJob messages[] = { { 0, 100, 0 }, { 1, 100, 0 } };
        WorkerCall calls[] = { { 5, 20, 1, 0, NULL }, { 11, 30, 1, 0, NULL } };

        g_assert_false(work_in_turn_find(messages, 2, calls, 2, 10));
        g_assert_false(work_in_turn_find(messages, 0, calls, 1, 10));
        g_assert_false(work_in_turn_find(messages, 2, calls, 0, 10));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/work-in-turn/leisure", test_leisure);
        g_test_add_func("/work-in-turn/hurry", test_hurry);
        g_test_add_func("/work-in-turn/together", test_together);
        g_test_add_func("/work-in-turn/overlap", test_overlap);
        return g_test_run();
}
