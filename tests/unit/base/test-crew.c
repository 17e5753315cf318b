/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Works that wait for each other, in parts, on any number of threads. Each part is done once, after
 * the work that it waits for. Parts of one slot are done one after the other.
 */
#include "base/crew.h"

enum { N_WORKS = 20, N_PARTS = 50, N_SLOTS = 8 };

typedef struct {
        Crew *crew;
        guint n_taken, n_done;
        struct Work {
                gint done[N_PARTS], busy[N_SLOTS];

        } work[N_WORKS];
} Works;

static void do_part(gpointer data, guint32 part, guint slot)
{
        struct Work *w = data;

        g_assert_cmpuint(slot, <, N_SLOTS);
        g_assert_cmpint(g_atomic_int_add(&w->busy[slot], 1), ==, 0);
        g_thread_yield();
        g_atomic_int_inc(&w->done[part]);
        g_assert_cmpint(g_atomic_int_add(&w->busy[slot], -1), ==, 1);
}

/* Works come in pairs, and a pair waits for the pair before it. */
static CrewNext take(gpointer data, gpointer *work)
{
        Works *w = data;

        if (w->n_done == N_WORKS)
                return CREW_END;
        if (w->n_taken == N_WORKS || w->n_taken / 2 * 2 > w->n_done)
                return CREW_WAIT;
        *work = &w->work[w->n_taken++];
        return CREW_WORK;
}

static Works *present;

static void do_work(gpointer data, gpointer work)
{
        (void)data;
        crew_share(present->crew, N_PARTS, do_part, work);
        for (guint i = 0; i < N_PARTS; i++)
                g_assert_cmpint(((struct Work *)work)->done[i], ==, 1);
}

static void end(gpointer data, gpointer work)
{
        (void)work;
        ((Works *)data)->n_done++;
}

static void test_crew(void)
{
        const CrewList list = { take, do_work, end };

        for (guint n = 1; n <= N_SLOTS; n++) {
                g_autofree Works *w = g_new0(Works, 1);

                present = w;
                w->crew = crew_new(n);
                g_assert_cmpuint(crew_size(w->crew), ==, n);
                crew_run(w->crew, &list, w);
                g_assert_cmpuint(w->n_done, ==, N_WORKS);
                crew_free(w->crew);
        }
}

static void test_alone(void)
{
        g_autofree struct Work *work = g_new0(struct Work, 1);

        g_assert_cmpuint(crew_size(NULL), ==, 1);
        crew_share(NULL, N_PARTS, do_part, work);
        for (guint i = 0; i < N_PARTS; i++)
                g_assert_cmpint(work->done[i], ==, 1);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/crew/crew", test_crew);
        g_test_add_func("/crew/alone", test_alone);
        return g_test_run();
}
