/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/work-in-processes.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

enum { MESSAGES = 800, PROCESSES = 3, MOST_CALLS = 3 * MESSAGES, MS = 1000000 };

/* A worker and what it really did. */
typedef struct {
        Job message[MESSAGES];
        gint64 done[MESSAGES]; /* by message, at first: when its last call was over */
        gint64 ends[MESSAGES]; /* these, once messages are in order */
        WorkerCall call[MOST_CALLS];
        guint n_calls;
} Worker;

static int compare_calls(const void *a, const void *b)
{
        const WorkerCall *x = a, *y = b;

        return COMPARE(x->start, y->start);
}

static int compare_messages(const void *a, const void *b)
{
        const Job *x = a, *y = b;

        return COMPARE(x->begun, y->begun);
}

static gint64 between(GRand *random, gint64 least, gint64 most)
{
        return least + (gint64)(g_rand_double(random) * (double)(most - least));
}

/* The process that has been idle for longest. */
static guint take_process(const gint64 *free)
{
        guint process = 0;

        for (guint i = 1; i < PROCESSES; i++)
                if (free[i] < free[process])
                        process = i;
        return process;
}

/* A message's calls, from now on, by what it asks for; those of the third kind are on connections
 * of their own. Returns when the last is over. */
static gint64 do_job(Worker *w, GRand *random, guint process, gint64 now, guint asked)
{
        static const guint8 jobs[3][3] = { { 1, 2, 0 }, { 1, 2, 3 }, { 2, 1, 2 } };
        const guint8 *job = jobs[asked];

        for (guint i = 0; i < 3 && job[i]; i++) {
                gint64 start = between(random, now, now + MS);
                guint32 connection = job[i] == 3 ? 0 : 1 + process * 2 + (job[i] == 1);

                now = between(random, start + MS, start + 5 * MS);
                w->call[w->n_calls++] = (WorkerCall){ start, now, job[i], connection, NULL };
        }
        return now;
}

/* Messages come every gap ns in the mean, and are acknowledged somewhat after they were begun.
 * told: it is known what they ask for. */
static void work(Worker *w, GRand *random, gint64 gap, gboolean told)
{
        gint64 come = 0, free[PROCESSES] = { 0 };

        w->n_calls = 0;
        for (guint m = 0; m < MESSAGES; m++) {
                guint process = take_process(free), asked = (guint)g_rand_int_range(random, 0, 3);
                gint64 now;

                come += (gint64)(-log(1 - g_rand_double(random)) * (double)gap);
                now = MAX(come, free[process]);
                w->message[m] =
                        (Job){ come, now + between(random, 0, MS), told ? asked : 0, m, NULL };
                w->done[m] = do_job(w, random, process, now, asked);
                free[process] = between(random, w->done[m], w->done[m] + MS);
        }
        qsort(w->call, w->n_calls, sizeof *w->call, compare_calls);
        qsort(w->message, MESSAGES, sizeof *w->message, compare_messages);
        for (guint m = 0; m < MESSAGES; m++)
                w->ends[m] = w->done[w->message[m].end];
}

/* How many of the messages last until they were done with. */
static guint run(guint32 seed, gint64 gap, gboolean told)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(seed);
        Worker *w = g_new(Worker, 1);
        guint right = 0;

        work(w, random, gap, told);
        g_assert_true(work_in_processes_find(w->message, MESSAGES, w->call, w->n_calls));
        for (guint m = 0; m < MESSAGES; m++) {
                g_assert_cmpint(w->message[m].end, >=, w->message[m].earliest);
                right += w->message[m].end == w->ends[m];
        }
        g_free(w);
        return right;
}

static guint32 seeds(void)
{
        return g_getenv("RAVEL_LONG") ? 5 : 1;
}

static void test_leisure(void)
{
        for (guint32 seed = 1; seed <= seeds(); seed++)
                g_assert_cmpuint(run(seed, 12 * MS, FALSE), >=, MESSAGES * 17 / 20);
}

/* Work waits, and all processes are mostly busy. */
static void test_hurry(void)
{
        for (guint32 seed = 1; seed <= seeds(); seed++)
                g_assert_cmpuint(run(seed, 4 * MS, FALSE), >=, MESSAGES / 2);
}

/* The same, and it is known what messages ask for. */
static void test_asked(void)
{
        for (guint32 seed = 1; seed <= seeds(); seed++) {
                g_assert_cmpuint(run(seed, 12 * MS, TRUE), >=, MESSAGES * 17 / 20);
                g_assert_cmpuint(run(seed, 4 * MS, TRUE), >=, MESSAGES / 2);
        }
}

/* Nearly all jobs come after the last call, so hardly one of them has calls. */
static void test_few_calls(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(1);
        Worker *w = g_new(Worker, 1);

        work(w, random, 12 * MS, FALSE);
        g_assert_true(work_in_processes_find(w->message, MESSAGES / 5, w->call, w->n_calls / 5));
        g_assert_false(work_in_processes_find(w->message, MESSAGES, w->call, w->n_calls / 5));
        g_free(w);
}

/* What cannot be told apart: all on one connection, or on none that is known. */
static void test_no_processes(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(1);
        Worker *w = g_new(Worker, 1);

        work(w, random, 8 * MS, FALSE);
        for (guint i = 0; i < w->n_calls; i++)
                w->call[i].connection = 0;
        g_assert_false(work_in_processes_find(w->message, MESSAGES, w->call, w->n_calls));
        for (guint i = 0; i < w->n_calls; i++)
                w->call[i].connection = 1;
        g_assert_false(work_in_processes_find(w->message, MESSAGES, w->call, w->n_calls));
        g_assert_false(work_in_processes_find(w->message, 0, w->call, w->n_calls));
        g_assert_false(work_in_processes_find(w->message, MESSAGES, w->call, 0));
        g_free(w);
}

/* Whose a connection is, by what it never meets. */
static void test_processes(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(2);
        guint8 process[MOST_CALLS], of[2 * PROCESSES + 1];
        Worker *w = g_new(Worker, 1);

        work(w, random, 4 * MS, FALSE);
        g_assert_cmpuint(worker_processes_find(w->call, w->n_calls, process), ==, PROCESSES);
        for (guint i = 0; i < w->n_calls; i++)
                of[w->call[i].connection] = process[i];
        g_assert_cmpuint(of[0], ==, NO_PROCESS);
        for (guint i = 0; i < PROCESSES; i++) {
                g_assert_cmpuint(of[1 + 2 * i], ==, of[2 + 2 * i]);
                g_assert_cmpuint(of[1 + 2 * i], !=, of[1 + 2 * ((i + 1) % PROCESSES)]);
        }
        g_free(w);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/work-in-processes/leisure", test_leisure);
        g_test_add_func("/work-in-processes/hurry", test_hurry);
        g_test_add_func("/work-in-processes/asked", test_asked);
        g_test_add_func("/work-in-processes/few-calls", test_few_calls);
        g_test_add_func("/work-in-processes/no-processes", test_no_processes);
        g_test_add_func("/work-in-processes/processes", test_processes);
        return g_test_run();
}
