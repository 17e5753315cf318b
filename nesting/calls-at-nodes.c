/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls into each node and out of it, side by side, for what is found a node at a
 * time.
 */
#include <stdlib.h>

#include "nesting/nesting.h"
#include "nesting/node-order.h"
#include "tracefmt/big-memory.h"
#include "tracefmt/fill.h"

/* The indices of all calls, those into a node together and in order; and those
 * out of it. first_in[node] to first_in[node + 1] are the node's. */
typedef struct {
        guint32 *in, *out;
        guint32 *first_in, *first_out;
} CallsByNode;

static void index_calls(Nesting *n, CallsByNode *by, guint n_nodes)
{
        const CallPairs *c = &n->calls;
        gboolean starts, enters;
        guint32 call;

        by->in = big_renew(NULL, 0, c->n * sizeof *by->in);
        by->out = big_renew(NULL, 0, c->n * sizeof *by->out);
        /* One longer: while they are filled, [node + 1] is where the next one goes. */
        by->first_in = g_new0(guint32, n_nodes + 2);
        by->first_out = g_new0(guint32, n_nodes + 2);
        while (call_order_next(&n->order, &call, &starts, &enters)) {
                by->first_in[nesting_edge(n, call)->callee + 2] += enters;
                by->first_out[nesting_edge(n, call)->caller + 2] += starts;
        }
        call_order_restart(&n->order);
        for (guint i = 0; i < n_nodes; i++) {
                by->first_in[i + 2] += by->first_in[i + 1];
                by->first_out[i + 2] += by->first_out[i + 1];
        }
        while (call_order_next(&n->order, &call, &starts, &enters)) {
                const EdgeRole *role = nesting_edge(n, call);

                if (starts)
                        by->out[by->first_out[role->caller + 1]++] = call;
                if (enters)
                        by->in[by->first_in[role->callee + 1]++] = call;
        }
        call_order_restart(&n->order);
}

static int compare_in(const void *a, const void *b)
{
        const CallIn *x = a, *y = b;

        if (x->enter != y->enter)
                return x->enter < y->enter ? -1 : 1;
        return (x->call > y->call) - (x->call < y->call);
}

static int compare_out(const void *a, const void *b)
{
        const CallOut *x = a, *y = b;

        if (x->start != y->start)
                return x->start < y->start ? -1 : 1;
        return (x->call > y->call) - (x->call < y->call);
}

/* Takes the offsets of the clocks off that the stamps are of. */
static void shift_node(const Nesting *n, NodeId id, NodeCalls *node)
{
        const gint64 *offset = n->offset;

        for (guint32 i = 0; i < node->n_in; i++) {
                CallIn *in = &node->in[i];
                SpanClocks clocks = clocks_at_callee(n->calls.stamps[in->call],
                                                     nesting_edge(n, in->call)->caller, id);

                in->enter -= offset[clocks.from];
                in->reply -= offset[clocks.to];
        }
        for (guint32 i = 0; i < node->n_out; i++) {
                CallOut *out = &node->out[i];
                SpanClocks clocks = clocks_at_caller(n->calls.stamps[out->call], id,
                                                     nesting_edge(n, out->call)->callee);

                out->start -= offset[clocks.from];
                out->end -= offset[clocks.to];
        }
        qsort(node->in, node->n_in, sizeof *node->in, compare_in);
        qsort(node->out, node->n_out, sizeof *node->out, compare_out);
}

/* Copies the calls of one node side by side. */
static void gather_node(const Nesting *n, const CallsByNode *by, NodeId id, NodeCalls *node)
{
        const guint32 *in = by->in + by->first_in[id], *out = by->out + by->first_out[id];

        for (guint32 i = 0; i < node->n_in; i++) {
                Span span = n->calls.at_callee[in[i]];
                NodeId caller = n->fold[nesting_edge(n, in[i])->caller];

                node->in[i] = (CallIn){ span.from, span.to, in[i], caller };
        }
        for (guint32 i = 0; i < node->n_out; i++) {
                Span span = n->calls.at_caller[out[i]];
                NodeId callee = nesting_edge(n, out[i])->callee;

                node->out[i] = (CallOut){ span.from, span.to, out[i], callee };
        }
        node->habits = n->habits ? n->habits[id] : NULL;
}

/* --- causes ------------------------------------------------------------------ */

static void explain(const Nesting *n, const NodeParents *found, guint32 child)
{
        Explanation *e = nesting_explanation(n, found->call[child]);

        for (gsize k = found->first[child]; e && k < found->first[child + 1]; k++) {
                PossibleParent p = { found->parent[k], (double)found->score[k], 1,
                                     (double)found->share[k] };

                g_array_append_val(e->parents, p);
        }
}

/* Each call's parent with the best score, of equal ones the earliest. Frees found's arrays. */
static void set_causes(Nesting *n, NodeParents *found)
{
        for (guint32 i = 0; i < found->n_out; i++) {
                guint32 call = found->call[i];
                Cause best = { NO_PARENT, 0 };
                float most = -1;

                if (call == NO_PARENT)
                        continue;
                for (gsize k = found->first[i]; k < found->first[i + 1]; k++) {
                        guint32 parent = found->parent[k];

                        if (found->score[k] > most &&
                            !(n->cycles && nesting_is_within(n, parent, call))) {
                                best = (Cause){ parent, found->share[k] };
                                most = found->score[k];
                        }
                }
                if (best.parent != NO_PARENT)
                        n->calls.cause[call] = best;
                if (n->explanations)
                        explain(n, found, i);
        }
        g_free(found->call);
        g_free(found->first);
        g_free(found->parent);
        g_free(found->share);
        g_free(found->score);
        found->n_out = 0;
}

/* --- node by node, on threads ------------------------------------------------ */

typedef struct {
        NodeId node;
        guint32 n_in, n_out;
        guint32 n_waits; /* for so many tasks */
        gboolean taken;
        double work; /* in proportion to this, about */
        NodeParents found;
} Task;

typedef struct {
        Nesting *nesting;
        CallsByNode by;
        GArray *tasks;   /* the one with the most work first */
        NodeOrder order; /* of tasks */
        guint32 most_in, most_out;
        guint n_taken;
        Work work;
        GMutex lock; /* of what follows from tasks taken and done */
        GCond done;
} Search;

static inline Task *task_of(const Search *s, guint i)
{
        return &g_array_index(s->tasks, Task, i);
}

static int compare_work(const void *a, const void *b)
{
        double x = ((const Task *)a)->work, y = ((const Task *)b)->work;

        return (x < y) - (x > y);
}

static int compare_nodes(const void *a, const void *b)
{
        NodeId x = ((const Task *)a)->node, y = ((const Task *)b)->node;

        return (x > y) - (x < y);
}

/* How long calls into a node take together, ns. */
static double time_at(const Search *s, NodeId node)
{
        double time = 0;

        for (guint32 i = s->by.first_in[node]; i < s->by.first_in[node + 1]; i++) {
                Span span = s->nesting->calls.at_callee[s->by.in[i]];

                time += (double)(span.to - span.from);
        }
        return time;
}

/* A node's work is that of all nestings that there may be: calls out of it, times the calls into it
 * that are open in the mean. */
static void find_tasks(Search *s, guint n_nodes)
{
        const CallsByNode *by = &s->by;

        for (NodeId id = 0; id < n_nodes; id++) {
                Task task = { .node = id,
                              .n_in = by->first_in[id + 1] - by->first_in[id],
                              .n_out = by->first_out[id + 1] - by->first_out[id] };

                if (!task.n_in || !task.n_out)
                        continue;
                task.work = task.n_out * time_at(s, id);
                s->most_in = MAX(s->most_in, task.n_in);
                s->most_out = MAX(s->most_out, task.n_out);
                g_array_append_val(s->tasks, task);
        }
        g_array_sort(s->tasks, compare_work);
}

/* Callers come first: which of their calls belong together is evidence at the callee. */
static void order_tasks(Search *s, guint n_nodes)
{
        Nesting *n = s->nesting;
        guint n_tasks = s->tasks->len;
        g_autofree guint32 *number = g_new(guint32, n_nodes);
        g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(NodeLink));

        fill(number, 0xff, n_nodes * sizeof *number);
        for (guint i = 0; i < n_tasks; i++)
                number[task_of(s, i)->node] = i;
        for (guint i = 0; i < n->n_roles; i++) {
                NodeLink link = { number[n->roles[i].caller], number[n->roles[i].callee] };

                if (link.caller < n_tasks && link.callee < n_tasks && link.caller != link.callee)
                        g_array_append_val(links, link);
        }
        node_order_init(&s->order, n_tasks, (const NodeLink *)links->data, links->len);
        n->rank = g_renew(guint32, n->rank, n_nodes);
        fill(n->rank, 0, n_nodes * sizeof *n->rank);
        for (guint i = 0; i < n_tasks; i++) {
                n->rank[task_of(s, i)->node] = s->order.rank[i];
                task_of(s, i)->n_waits = s->order.n_before[i];
        }
}

/* The task with the most work of those that need not wait; NULL if all are taken. */
static Task *take_task(Search *s)
{
        Task *task = NULL;

        g_mutex_lock(&s->lock);
        while (!task && s->n_taken < s->tasks->len) {
                for (guint i = 0; i < s->tasks->len && !task; i++)
                        if (!task_of(s, i)->taken && task_of(s, i)->n_waits == 0)
                                task = task_of(s, i);
                if (!task)
                        g_cond_wait(&s->done, &s->lock);
        }
        if (task) {
                task->taken = TRUE;
                s->n_taken++;
        }
        g_mutex_unlock(&s->lock);
        return task;
}

static void end_task(Search *s, const Task *task)
{
        const NodeOrder *o = &s->order;
        guint i = (guint)(task - task_of(s, 0));

        g_mutex_lock(&s->lock);
        for (guint32 k = o->first[i]; k < o->first[i + 1]; k++)
                if (o->rank[o->callee[k]] > o->rank[i])
                        task_of(s, o->callee[k])->n_waits--;
        g_cond_broadcast(&s->done);
        g_mutex_unlock(&s->lock);
}

/* A thread: takes tasks until there are none. */
static gpointer search_nodes(gpointer data)
{
        Search *s = data;
        Nesting *n = s->nesting;
        Task *task;
        gsize size_in = s->most_in * sizeof(CallIn), size_out = s->most_out * sizeof(CallOut);
        NodeCalls node = { .in = big_renew(NULL, 0, size_in), .out = big_renew(NULL, 0, size_out) };
        Candidates candidates;

        candidates_init(&candidates, n->options.window);
        while ((task = take_task(s))) {
                WorkPart part = { .work = &s->work, .size = task->work };

                node.work = &part;
                node.node = task->node;
                node.n_in = task->n_in;
                node.n_out = task->n_out;
                gather_node(n, &s->by, task->node, &node);
                if (n->offset)
                        shift_node(n, task->node, &node);
                candidates_restart(&candidates);
                find_parents_jointly(n, &node, &candidates, &task->found);
                if (!n->cycles)
                        set_causes(n, &task->found);
                work_part_done(&part, 1);
                end_task(s, task);
        }
        candidates_clear(&candidates);
        big_free(node.in, size_in);
        big_free(node.out, size_out);
        return NULL;
}

static void run_threads(Search *s, guint n_threads)
{
        g_autofree GThread **threads = g_new(GThread *, n_threads);

        for (guint i = 1; i < n_threads; i++)
                threads[i] = g_thread_new("nesting", search_nodes, s);
        search_nodes(s);
        for (guint i = 1; i < n_threads; i++)
                g_thread_join(threads[i]);
}

/* Adds up in the order of nodes. Where a call may come to lie within itself, its cause depends on
 * those at other nodes, and is set now. */
static void sum_up(Nesting *n, GArray *tasks)
{
        g_array_sort(tasks, compare_nodes);
        for (guint i = 0; i < tasks->len; i++) {
                NodeParents *found = &g_array_index(tasks, Task, i).found;

                n->children += found->children;
                n->nestings += found->nestings;
                n->log += found->log;
                n->true_log += found->true_log;
                if (n->cycles)
                        set_causes(n, found);
        }
}

void find_parents_at_nodes(Nesting *n)
{
        guint n_nodes = node_table_size(n->nodes);
        g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(Task));
        Search s = { .nesting = n, .tasks = tasks };
        double work = 0;

        index_calls(n, &s.by, n_nodes);
        find_tasks(&s, n_nodes);
        order_tasks(&s, n_nodes);
        for (guint i = 0; i < tasks->len; i++)
                work += task_of(&s, i)->work;
        work_init(&s.work, n->options.progress, work);
        g_mutex_init(&s.lock);
        g_cond_init(&s.done);
        if (tasks->len > 0)
                run_threads(&s, CLAMP(n->options.threads, 1, tasks->len));
        g_cond_clear(&s.done);
        g_mutex_clear(&s.lock);
        work_clear(&s.work);
        node_order_clear(&s.order);
        sum_up(n, tasks);
        big_free(s.by.in, n->calls.n * sizeof *s.by.in);
        big_free(s.by.out, n->calls.n * sizeof *s.by.out);
        g_free(s.by.first_in);
        g_free(s.by.first_out);
}
