/* SPDX-License-Identifier: BSD-2-Clause */
#include "ranks/find-together.h"

#include "base/bytes.h"
#include "inference/shared-node.h"

/* A task of a wave. A wave has at most one task for each thread of each process. The first process
 * puts the parts of nodes together, because it needs all answers. */
typedef struct {
        NodeTask *task;
        guint learner;   /* the process that learns the model */
        double load;     /* the load of learning */
        GBytes *learned; /* learned, for parts; NULL: all parents were found */
        gboolean in_parts;
        NodeProblem problem; /* if this process needs it */
        SharedNode *node;    /* if this process needs it */
        GBytes *share;       /* the answers of this process's parts; NULL: none, or kept in node */
} Together;

static Together *together_at(GArray *wave, guint i)
{
        return &g_array_index(wave, Together, i);
}

/* The next tasks, in order of work, the most first. */
static GArray *next_wave(NodeTasks *s, const double *load)
{
        const Peers *peers = s->of->peers;
        guint n_threads = crew_size(s->crew);
        GArray *wave = g_array_new(FALSE, TRUE, sizeof(Together));
        g_autofree guint *n_learn = g_new0(guint, peers->n);
        g_autofree gboolean *is_full = g_new0(gboolean, peers->n);
        gpointer task;

        while (wave->len < peers->n * n_threads && node_tasks_take(s, &task) == CREW_WORK) {
                Together t = { .task = task,
                               .learner = peers_least_loaded(load, is_full, peers->n) };

                is_full[t.learner] = ++n_learn[t.learner] == n_threads;
                g_array_append_val(wave, t);
        }
        return wave;
}

/* A step that is done for each node of a wave, on threads. */
typedef struct {
        NodeTasks *search;
        GArray *wave;
        void (*run)(NodeTasks *s, Together *t);
        guint n_taken, n_done;
} WaveStep;

/* CrewTake, CrewDo, CrewDone; data: the step. */
static CrewNext take_in_step(gpointer data, gpointer *work)
{
        WaveStep *step = data;

        if (step->n_taken == step->wave->len)
                return step->n_done == step->wave->len ? CREW_END : CREW_WAIT;
        *work = together_at(step->wave, step->n_taken++);
        return CREW_WORK;
}

static void do_in_step(gpointer data, gpointer work)
{
        const WaveStep *step = data;

        step->run(step->search, work);
}

static void end_in_step(gpointer data, gpointer work)
{
        WaveStep *step = data;

        (void)work;
        step->n_done++;
}

static void run_step(NodeTasks *s, GArray *wave, void (*run)(NodeTasks *s, Together *t))
{
        const CrewList list = { take_in_step, do_in_step, end_in_step };
        WaveStep step = { .search = s, .wave = wave, .run = run };

        crew_run(s->crew, &list, &step);
}

static void make_problem(NodeTasks *s, Together *t)
{
        t->problem = node_task_problem(s, t->task);
        node_calls_make_problem(s->of, &s->by, t->task->node, &t->problem);
}

static void begin_node(NodeTasks *s, Together *t)
{
        make_problem(s, t);
        t->node = shared_node_new(&t->problem);
}

static GPtrArray *tell_all(const Peers *peers, Bytes *b)
{
        g_autoptr(GBytes) bytes = bytes_written(b);
        g_autofree GBytes **to = g_new(GBytes *, peers->n);

        for (guint i = 0; i < peers->n; i++)
                to[i] = bytes;
        return peers->swap(to);
}

static Bytes bytes_from(GPtrArray *all, guint peer)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(all->pdata[peer], &n);

        return bytes_to_read(data, n);
}

/* --- learning ------------------------------------------------------------------ */

static void learn_mine(NodeTasks *s, Together *t)
{
        if (t->learner != s->of->peers->mine)
                return;
        begin_node(s, t);
        t->learned = shared_node_learn(t->node);
        t->load = shared_node_learning(t->node);
}

static void together_bytes(Together *t, Bytes *b)
{
        t->in_parts = t->learned != NULL;
        bytes_double(b, &t->load);
        bytes_bool(b, &t->in_parts);
        if (t->in_parts)
                bytes_blob(b, &t->learned);
}

static void tell_learned(const Peers *peers, GArray *wave)
{
        Bytes b = bytes_to_write();
        g_autoptr(GPtrArray) all = NULL;
        g_autofree Bytes *from = g_new(Bytes, peers->n);

        for (guint i = 0; i < wave->len; i++)
                if (together_at(wave, i)->learner == peers->mine)
                        together_bytes(together_at(wave, i), &b);
        all = tell_all(peers, &b);
        for (guint i = 0; i < peers->n; i++)
                from[i] = bytes_from(all, i);
        for (guint i = 0; i < wave->len; i++) {
                Together *t = together_at(wave, i);

                if (t->learner != peers->mine)
                        together_bytes(t, &from[t->learner]);
        }
        for (guint i = 0; i < peers->n; i++)
                g_assert(bytes_end(&from[i], NULL));
}

static void take_learned(NodeTasks *s, Together *t)
{
        if (t->in_parts && t->learner != s->of->peers->mine) {
                begin_node(s, t);
                shared_node_take(t->node, t->learned);
        }
        g_clear_pointer(&t->learned, g_bytes_unref);
}

/* Each node of the wave is learned by one process. */
static void learn_wave(NodeTasks *s, GArray *wave, double *load)
{
        run_step(s, wave, learn_mine);
        tell_learned(s->of->peers, wave);
        run_step(s, wave, take_learned);
        for (guint i = 0; i < wave->len; i++)
                load[together_at(wave, i)->learner] += together_at(wave, i)->load;
}

/* --- finding ------------------------------------------------------------------- */

static void find_share(NodeTasks *s, Together *t)
{
        if (t->in_parts)
                t->share = shared_node_find(t->node, s->of->peers->mine == 0);
}

/* Each process finds some parts of every node in the wave. */
static void find_wave(NodeTasks *s, GArray *wave, double *load)
{
        for (guint i = 0; i < wave->len; i++) {
                Together *t = together_at(wave, i);

                if (t->in_parts)
                        shared_node_assign(t->node, s->of->peers->mine, load, s->of->peers->n);
        }
        run_step(s, wave, find_share);
}

/* Sends bytes to the first process. Returns the bytes of all, by process. */
static GPtrArray *tell_first(const Peers *peers, GBytes *bytes)
{
        g_autofree GBytes **to = g_new0(GBytes *, peers->n);

        if (peers->mine > 0)
                to[0] = bytes;
        return peers->swap(to);
}

/* The first process gets the parts of all processes, and puts them together. */
static void gather_shares(const Peers *peers, Together *t)
{
        g_autoptr(GPtrArray) all = tell_first(peers, t->share);

        g_clear_pointer(&t->share, g_bytes_unref);
        if (peers->mine > 0)
                return;
        for (guint i = 1; i < peers->n; i++) {
                shared_node_add(t->node, all->pdata[i]);
                g_clear_pointer((GBytes **)&all->pdata[i], g_bytes_unref);
        }
        shared_node_end(t->node, &t->task->found);
}

/* The first process gets the answer of the process that found all parents. */
static void gather_answer(const Peers *peers, Together *t)
{
        g_autoptr(GBytes) answer = NULL;
        g_autoptr(GPtrArray) all = NULL;
        Bytes b;

        if (t->learner == peers->mine) {
                shared_node_end(t->node, &t->task->found);
                answer = node_answer_to_bytes(&t->task->found);
        }
        if (t->learner == 0)
                return;
        all = tell_first(peers, answer);
        if (peers->mine > 0)
                return;
        b = bytes_from(all, t->learner);
        g_assert(node_answer_from_bytes(&t->task->found, b.data, b.n, NULL));
}

/* Gathers the answer of one node at a time, because answers are long. */
static void gather_found(const Peers *peers, Together *t)
{
        if (t->in_parts)
                gather_shares(peers, t);
        else
                gather_answer(peers, t);
}

static void end_node(NodeTasks *s, Together *t)
{
        if (s->of->peers->mine == 0) {
                if (!t->problem.in)
                        make_problem(s, t);
                node_task_take_found(s, t->task, &t->problem);
        } else {
                node_answer_clear(&t->task->found);
        }
        shared_node_free(t->node);
        node_task_free_problem(t->task, &t->problem);
        node_tasks_end(s, t->task);
}

void find_tasks_together(NodeTasks *s)
{
        g_autofree double *load = g_new0(double, s->of->peers->n);

        while (s->n_done < s->tasks->len) {
                g_autoptr(GArray) wave = next_wave(s, load);

                learn_wave(s, wave, load);
                find_wave(s, wave, load);
                for (guint i = 0; i < wave->len; i++) {
                        gather_found(s->of->peers, together_at(wave, i));
                        end_node(s, together_at(wave, i));
                }
        }
}
