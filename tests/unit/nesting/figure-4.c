/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/nesting/figure-4.h"

#include <math.h>
#include <string.h>

#include "nesting/scoreboard.h"

static FigureCall *call_at(const Figure4 *f, guint i)
{
        return &g_array_index(f->calls, FigureCall, i);
}

/* --- FindCallPairs --------------------------------------------------------- */

static gint64 one_of(const FigureCall *c, MessageOp first, MessageOp second)
{
        return c->stamp[first] != NO_TIME ? c->stamp[first] : c->stamp[second];
}

static gboolean was_called(const FigureCall *c)
{
        return one_of(c, CALL_SENT, CALL_RECV) != NO_TIME;
}

static gboolean was_returned(const FigureCall *c)
{
        return one_of(c, RET_SENT, RET_RECV) != NO_TIME;
}

/* Can the entry be a further stamp of the call? */
static gboolean belongs(const Figure4 *f, const TraceEntry *e, const FigureCall *c)
{
        gboolean is_return = e->op == RET_SENT || e->op == RET_RECV;
        gboolean at_caller = e->op == CALL_SENT || e->op == RET_RECV;
        NodeId caller = is_return ? e->receiver : e->sender;
        NodeId callee = is_return ? e->sender : e->receiver;
        gint64 call_here = c->stamp[at_caller ? CALL_SENT : CALL_RECV];
        gint64 call_there = c->stamp[at_caller ? CALL_RECV : CALL_SENT];
        gint64 return_here = c->stamp[at_caller ? RET_RECV : RET_SENT];
        gint64 return_there = c->stamp[at_caller ? RET_SENT : RET_RECV];
        gint64 window = f->options.window;

        if (caller != c->caller || callee != c->callee || strcmp(e->id, c->id) ||
            c->stamp[e->op] != NO_TIME)
                return FALSE;
        /* One clock says which came first; two clocks, where each has one stamp,
         * as far as the skew window allows. */
        if (is_return) {
                if (call_here != NO_TIME)
                        return call_here <= e->time;
                if (call_there != NO_TIME && return_there == NO_TIME)
                        return call_there <= e->time + window;
        } else {
                if (return_here != NO_TIME)
                        return e->time <= return_here;
                if (return_there != NO_TIME && call_there == NO_TIME)
                        return e->time <= return_there + window;
        }
        return TRUE;
}

static void add_edge(Figure4 *f, NodeId caller, NodeId callee, gint64 latency)
{
        Edge new = { .caller = caller, .callee = callee, .longest = MAX(latency, 0) };

        for (guint i = 0; i < f->edges->len; i++) {
                Edge *e = &g_array_index(f->edges, Edge, i);

                if (e->caller == caller && e->callee == callee) {
                        e->longest = MAX(e->longest, latency);
                        return;
                }
        }
        g_array_append_val(f->edges, new);
}

static void add_unmatched(Figure4 *f, gint64 time, NodeId caller, NodeId callee, gboolean is_return)
{
        LoneMessage m = {
                .time = time, .caller = caller, .callee = callee, .is_return = is_return
        };

        g_array_append_val(f->unmatched, m);
}

static void find_call_pairs(Figure4 *f, const TraceEntry *entries, guint n)
{
        g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(FigureCall));

        for (const TraceEntry *e = entries; e < entries + n; e++) {
                gboolean is_return = e->op == RET_SENT || e->op == RET_RECV;
                FigureCall new = { .caller = is_return ? e->receiver : e->sender,
                                   .callee = is_return ? e->sender : e->receiver,
                                   .stamp = { NO_TIME, NO_TIME, NO_TIME, NO_TIME },
                                   .parent = NO_PARENT,
                                   .probability = 1,
                                   .family = 1 };
                guint i = 0;

                if (e->op == MSG_SENT || e->op == MSG_RECV)
                        continue;
                strcpy(new.id, e->id);
                add_edge(f, new.caller, new.callee, 0);
                while (i < open->len && !belongs(f, e, &g_array_index(open, FigureCall, i)))
                        i++;
                if (i == open->len) {
                        if (is_return && f->options.window == 0) {
                                add_unmatched(f, e->time, new.caller, new.callee, TRUE);
                                continue;
                        }
                        g_array_append_val(open, new);
                }
                g_array_index(open, FigureCall, i).stamp[e->op] = e->time;
        }
        for (guint i = 0; i < open->len; i++) {
                FigureCall *c = &g_array_index(open, FigureCall, i);

                c->start = one_of(c, CALL_SENT, CALL_RECV);
                c->enter = one_of(c, CALL_RECV, CALL_SENT);
                c->reply = one_of(c, RET_SENT, RET_RECV);
                c->end = one_of(c, RET_RECV, RET_SENT);
                if (was_called(c) && was_returned(c)) {
                        g_array_append_val(f->calls, *c);
                        add_edge(f, c->caller, c->callee, c->end - c->start);
                } else {
                        add_unmatched(f, was_called(c) ? c->enter : c->reply, c->caller, c->callee,
                                      was_returned(c));
                }
        }
}

/* --- folding of clients ---------------------------------------------------- */

static gboolean is_called(const Figure4 *f, NodeId node)
{
        for (guint i = 0; i < f->edges->len; i++)
                if (g_array_index(f->edges, Edge, i).callee == node)
                        return TRUE;
        return FALSE;
}

static void fold(Figure4 *f)
{
        for (guint i = 0; f->options.fold && i < f->edges->len; i++) {
                const Edge *e = &g_array_index(f->edges, Edge, i);
                guint alike = 0; /* nodes that only call, and call this callee */

                for (guint k = 0; k < f->edges->len; k++) {
                        const Edge *other = &g_array_index(f->edges, Edge, k);

                        alike += other->callee == e->callee && !is_called(f, other->caller);
                }
                if (alike > 16 && !is_called(f, e->caller))
                        f->is_client[e->caller] = TRUE;
        }
}

/* The node that a scoreboard or a path shows for it. */
static NodeId shown(const Figure4 *f, NodeId node)
{
        return f->is_client[node] ? f->n_nodes : node;
}

/* --- candidates, ScoreNestings --------------------------------------------- */

static gboolean is_candidate(const Figure4 *f, guint parent, guint child)
{
        const FigureCall *p = call_at(f, parent), *c = call_at(f, child);
        gint64 over = MAX(c->start, c->end);

        return parent != child && p->callee == c->caller &&
               p->enter < c->start + f->options.window && p->reply >= over - f->options.window;
}

static guint count_candidates(const Figure4 *f, guint child)
{
        guint n = 0;

        for (guint p = 0; p < f->calls->len; p++)
                n += is_candidate(f, p, child);
        return n;
}

static guint bin_of(const Figure4 *f, const FigureCall *parent, const FigureCall *child)
{
        gint64 delay = child->start + f->options.window - parent->enter;

        return delay < 1 ? 0 : floor(log(delay) / log(1.05));
}

/* The histogram of (A, B, C); the scoreboard has them by name. */
static double *histogram(const Figure4 *f, GHashTable *scoreboard, const FigureCall *parent,
                         const FigureCall *child)
{
        g_autofree char *key =
                g_strdup_printf("%u %u %u", shown(f, parent->caller), child->caller, child->callee);
        double *bins = g_hash_table_lookup(scoreboard, key);

        if (!bins) {
                bins = g_new0(double, N_DELAY_BINS);
                g_hash_table_insert(scoreboard, g_steal_pointer(&key), bins);
        }
        return bins;
}

/* Convolves with a Gaussian of three deviations either way, and rounds. */
static void smooth(double *bins, double deviation)
{
        int reach = ceil(3 * deviation);
        double out[N_DELAY_BINS] = { 0 }, whole = 0;

        for (int i = -reach; i <= reach; i++)
                whole += exp(-0.5 * (i / deviation) * (i / deviation));
        for (int to = 0; to < N_DELAY_BINS; to++)
                for (int from = MAX(to - reach, 0); from <= to + reach && from < N_DELAY_BINS;
                     from++) {
                        double x = (to - from) / deviation;

                        out[to] += bins[from] * exp(-0.5 * x * x) / whole;
                }
        for (int i = 0; i < N_DELAY_BINS; i++)
                bins[i] = rint(out[i]);
}

static GHashTable *score_nestings_of(Figure4 *f)
{
        GHashTable *scoreboard = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        GHashTableIter iter;
        gpointer bins;

        for (guint c = 0; c < f->calls->len; c++) {
                FigureCall *child = call_at(f, c);

                child->candidates = count_candidates(f, c);
                for (guint p = 0; p < f->calls->len; p++)
                        if (is_candidate(f, p, c))
                                histogram(f, scoreboard, call_at(f, p),
                                          child)[bin_of(f, call_at(f, p), child)] +=
                                        SCORE_UNIT / child->candidates;
        }
        g_hash_table_iter_init(&iter, scoreboard);
        while (f->options.smooth > 0 && g_hash_table_iter_next(&iter, NULL, &bins))
                smooth(bins, f->options.smooth);
        return scoreboard;
}

/* --- FindNestedPairs ------------------------------------------------------- */

static double scale(double score, guint count, double exponent)
{
        return count ? score / pow(count, exponent) : score;
}

static double penalised(const Figure4 *f, double score, guint parent, guint child)
{
        const FigureCall *c = call_at(f, child);
        guint overlap = 0, same = 0, any = 0;

        for (guint i = 0; i < f->calls->len; i++) {
                const FigureCall *other = call_at(f, i);

                if (other->parent != parent)
                        continue;
                any++;
                same += other->callee == c->callee;
                overlap += other->start < c->end && c->start < other->end;
        }
        score = scale(score, overlap, f->options.overlap);
        score = scale(score, same, f->options.same);
        return scale(score, any, f->options.any);
}

static gboolean descends_from(const Figure4 *f, guint call, guint ancestor)
{
        while (call != ancestor && call != NO_PARENT)
                call = call_at(f, call)->parent;
        return call == ancestor;
}

static void choose_parent(Figure4 *f, GHashTable *scoreboard, guint child)
{
        FigureCall *c = call_at(f, child);
        double best = 0, sum = 0;
        guint chosen = NO_PARENT;

        for (guint p = 0; p < f->calls->len; p++) {
                const FigureCall *parent = call_at(f, p);
                double score;

                if (!is_candidate(f, p, child) || descends_from(f, p, child))
                        continue;
                score = penalised(f, histogram(f, scoreboard, parent, c)[bin_of(f, parent, c)], p,
                                  child);
                sum += score;
                if (score > best ||
                    (score == best && score > 0 && parent->enter < call_at(f, chosen)->enter)) {
                        best = score;
                        chosen = p;
                }
        }
        if (chosen == NO_PARENT)
                return;
        c->probability = best / sum;
        for (guint p = 0; p < f->calls->len; p++)
                if (is_candidate(f, p, child) && !descends_from(f, p, child)) {
                        double share = penalised(f,
                                                 histogram(f, scoreboard, call_at(f, p),
                                                           c)[bin_of(f, call_at(f, p), c)],
                                                 p, child) /
                                       sum;

                        call_at(f, p)->family *= p == chosen ? share : 1 - share;
                }
        c->parent = chosen;
}

static void find_nested_pairs_of(Figure4 *f, GHashTable *scoreboard)
{
        g_autofree gboolean *visited = g_new0(gboolean, f->calls->len);

        for (;;) {
                guint first = NO_PARENT;

                for (guint c = 0; c < f->calls->len; c++)
                        if (!visited[c] &&
                            (first == NO_PARENT || call_at(f, c)->start < call_at(f, first)->start))
                                first = c;
                if (first == NO_PARENT)
                        break;
                visited[first] = TRUE;
                choose_parent(f, scoreboard, first);
        }
}

/* --- FindCallPaths --------------------------------------------------------- */

static char *name_of(const Figure4 *f, NodeId node)
{
        return f->is_client[node] ? g_strdup("client") : g_strdup_printf("n%u", node);
}

static int compare_texts(gconstpointer a, gconstpointer b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* CreatePathNode: adds what is below call to the sums, and spells it. */
static char *create_path_node(const Figure4 *f, guint call, gint64 parent_time, FigurePattern *sums)
{
        const FigureCall *c = call_at(f, call);
        g_autoptr(GPtrArray) children = g_ptr_array_new_with_free_func(g_free);
        g_autofree gboolean *visited = g_new0(gboolean, f->calls->len);
        g_autofree char *name = name_of(f, c->callee), *inner = NULL;

        sums->latency += c->end - c->start;
        sums->call_delay += c->start - parent_time;
        sums->probability *= c->family;
        for (;;) {
                guint first = NO_PARENT;

                for (guint i = 0; i < f->calls->len; i++)
                        if (call_at(f, i)->parent == call && !visited[i] &&
                            (first == NO_PARENT || call_at(f, i)->start < call_at(f, first)->start))
                                first = i;
                if (first == NO_PARENT)
                        break;
                visited[first] = TRUE;
                g_ptr_array_add(children, create_path_node(f, first, c->enter, sums));
        }
        if (!children->len)
                return g_steal_pointer(&name);
        if (f->order == SIBLINGS_MULTISET)
                g_ptr_array_sort(children, compare_texts);
        g_ptr_array_add(children, NULL);
        inner = g_strjoinv(",", (char **)children->pdata);
        return g_strdup_printf("%s(%s)", name, inner);
}

static gint64 longest_on(const Figure4 *f, NodeId caller, NodeId callee)
{
        for (guint i = 0; i < f->edges->len; i++) {
                const Edge *e = &g_array_index(f->edges, Edge, i);

                if (e->caller == caller && e->callee == callee)
                        return e->longest;
        }
        g_assert_not_reached();
}

/* May a call that reaches over an end of the trace have caused this root? It may
 * where the trace goes no further from its return to the start, or from its call
 * to the end, than the longest call on the same edge lasts. */
static gboolean is_cut(const Figure4 *f, const FigureCall *root, gint64 first, gint64 last)
{
        for (guint i = 0; i < f->unmatched->len; i++) {
                const LoneMessage *m = &g_array_index(f->unmatched, LoneMessage, i);
                gint64 longest = longest_on(f, m->caller, m->callee);

                if (m->callee != root->caller)
                        continue;
                if (m->is_return ? m->time - first <= longest && root->end <= m->time
                                 : last - m->time <= longest && m->time < root->start)
                        return TRUE;
        }
        return FALSE;
}

static void find_call_paths(Figure4 *f, const TraceEntry *entries, guint n)
{
        for (guint i = 0; i < f->calls->len; i++) {
                const FigureCall *root = call_at(f, i);
                FigurePattern sums = { .probability = 1 }, *pattern;
                g_autofree char *client = NULL, *below = NULL, *signature = NULL;

                if (root->parent != NO_PARENT)
                        continue;
                if (is_cut(f, root, entries[0].time, entries[n - 1].time)) {
                        f->cut++;
                        continue;
                }
                client = name_of(f, root->caller);
                below = create_path_node(f, i, root->start, &sums);
                signature = g_strdup_printf("%s>%s", client, below);
                pattern = g_hash_table_lookup(f->patterns, signature);
                if (!pattern) {
                        pattern = g_new0(FigurePattern, 1);
                        g_hash_table_insert(f->patterns, g_strdup(signature), pattern);
                }
                pattern->count++;
                pattern->latency += sums.latency;
                pattern->call_delay += sums.call_delay;
                pattern->root_latency += root->end - root->start;
                pattern->probability += sums.probability;
        }
}

Figure4 *figure4_new(const TraceEntry *entries, guint n, guint n_nodes,
                     const NestingOptions *options, SiblingOrder order)
{
        Figure4 *f = g_new0(Figure4, 1);
        g_autoptr(GHashTable) scoreboard = NULL;

        f->n_nodes = n_nodes;
        f->options = *options;
        f->order = order;
        f->calls = g_array_new(FALSE, FALSE, sizeof(FigureCall));
        f->unmatched = g_array_new(FALSE, FALSE, sizeof(LoneMessage));
        f->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
        f->is_client = g_new0(gboolean, n_nodes);
        f->patterns = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

        find_call_pairs(f, entries, n);
        fold(f);
        scoreboard = score_nestings_of(f);
        find_nested_pairs_of(f, scoreboard);
        find_call_paths(f, entries, n);
        return f;
}

void figure4_free(Figure4 *f)
{
        if (!f)
                return;
        g_array_free(f->calls, TRUE);
        g_array_free(f->unmatched, TRUE);
        g_array_free(f->edges, TRUE);
        g_free(f->is_client);
        g_hash_table_destroy(f->patterns);
        g_free(f);
}
