/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/slices.h"

#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/hash.h"
#include "nesting/nesting-run.h"
#include "nesting/score-nestings.h"
#include "nesting/seam.h"

struct SliceRun {
        Nesting run;
        LearnedHow how;
        Slice slice;
        SliceKeeps keeps;
        const Learned *learned; /* NULL: it learns */
        gboolean ended;         /* all calls are known */
        gboolean turned;        /* they are those that were learned from */
        gint64 longest;         /* for seams_new() */
        GHashTable *one_way;    /* sender << 32 | receiver, to OneWay: those of the slice */
        guint64 n_one_way;
        guint64 ops[N_MESSAGE_OPS]; /* messages of the slice, by kind */
        /* While it decides. */
        InstanceTaken take;
        gpointer data;
};

typedef struct {
        guint64 n[2]; /* MSG_SENT, MSG_RECV */
} OneWay;

static NestingOptions options_of(const LearnedHow *how, SliceKeeps keeps, gboolean learns)
{
        NestingOptions o = NESTING_DEFAULTS;

        o.method = METHOD_PAPER;
        o.overlap = how->overlap;
        o.same = how->same;
        o.any = how->any;
        o.smooth = how->smooth;
        o.window = how->window;
        o.max_call = how->max_call;
        o.fold = how->fold && !learns; /* rows of callers that are folded add up later */
        o.keep = keeps >= SLICE_KEEPS_FACTS;
        o.ordinals = keeps == SLICE_KEEPS_ALL;
        return o;
}

/* The kinds of stamps that edges had shown before the first message that is read. */
static void know_edges(SliceRun *r)
{
        gint64 begin = slice_read_from(&r->slice);

        for (guint i = 0; i < r->learned->edges->len; i++) {
                const Edge *e = &g_array_index(r->learned->edges, Edge, i);
                gint64 since = 0;
                guint8 kinds = 0;

                for (guint op = 0; op < G_N_ELEMENTS(e->first); op++)
                        if (e->first[op] < begin) {
                                since = kinds ? MAX(since, e->first[op]) : e->first[op];
                                kinds |= 1 << op;
                        }
                call_matcher_know_edge(r->run.calls.matcher, e->caller, e->callee, kinds, since);
        }
}

/* Seams are told by ids, or what stands for them where nothing else needs them. */
static void want_seams(KnownCalls *calls, SliceKeeps keeps)
{
        calls->pairs.wanted |= keeps == SLICE_KEEPS_LITTLE ? WANT_KEYS : WANT_IDS;
        if (keeps > SLICE_KEEPS_LITTLE && !calls->ids)
                calls->ids = g_byte_array_new();
}

SliceRun *slice_run_new(NodeTable *nodes, const LearnedHow *how, const Slice *slice,
                        SliceKeeps keeps, const Learned *learned)
{
        SliceRun *r = g_new0(SliceRun, 1);
        NestingOptions options = options_of(how, keeps, !learned);

        r->how = *how;
        r->slice = *slice;
        r->keeps = keeps;
        r->learned = learned;
        r->one_way = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);
        nesting_run_init(&r->run, nodes, &options);
        want_seams(&r->run.calls, keeps);
        if (learned)
                know_edges(r);
        return r;
}

void slice_run_free(SliceRun *r)
{
        if (!r)
                return;
        nesting_run_clear(&r->run);
        g_hash_table_unref(r->one_way);
        g_free(r);
}

static void count_one_way(SliceRun *r, const Message *message)
{
        gint64 key = (gint64)((guint64)message->sender << 32 | message->receiver);
        OneWay *n = g_hash_table_lookup(r->one_way, &key);

        if (!n) {
                n = g_new0(OneWay, 1);
                g_hash_table_insert(r->one_way, g_memdup2(&key, sizeof key), n);
        }
        n->n[message->op - MSG_SENT]++;
        r->n_one_way++;
}

gboolean slice_run_add(SliceRun *r, const Message *message, GError **error)
{
        gboolean here = slice_has(&r->slice, message->time);

        r->ops[message->op] += here;
        if (message->op >= MSG_SENT && here)
                count_one_way(r, message);
        return known_calls_add(&r->run.calls, message, error);
}

/* --- after the last message ------------------------------------------------------ */

G_DEFINE_QUARK(slice - error - quark, slice_error)

static gboolean refuse(GError **error, SliceError code, const char *text)
{
        g_set_error_literal(error, SLICE_ERROR, code, text);
        return FALSE;
}

/* What pairs are depends on nothing but the messages of each. */
static gboolean check_calls(SliceRun *r, GError **error)
{
        const MatchCounts *counts = call_matcher_counts(r->run.calls.matcher);

        if (counts->repeated)
                return refuse(error, SLICE_ERROR_WHOLE,
                              "a call has the id of one that is open, or no id: which "
                              "return is whose depends on all that came before, and slices "
                              "do not know that: expected ids that tell calls apart, or "
                              "the whole trace in one process");
        if (counts->linked || r->run.calls.links.linked)
                return refuse(error, SLICE_ERROR_WHOLE,
                              "messages continue others (link=), however much later: "
                              "expected a trace without links, or the whole of it in one "
                              "process");
        if (counts->lone_calls > MOST_LONE || counts->lone_returns > MOST_LONE)
                return refuse(error, SLICE_ERROR_WHOLE,
                              "more than 100,000 calls have no return here, or returns no "
                              "call: expected fewer, in shorter slices");
        return TRUE;
}

/* With stamps of one end, that the longest call lasts. */
static gint64 find_longest(const KnownCalls *calls)
{
        guint n;
        const Edge *edges = call_matcher_edges(calls->matcher, &n);
        gint64 longest = 0;

        if (calls->pairs.both_ends || call_matcher_counts(calls->matcher)->disorder)
                return UNKNOWN_LONGEST;
        for (guint i = 0; i < n; i++)
                longest = MAX(longest, edges[i].longest);
        return longest;
}

static gboolean end_calls(SliceRun *r, GError **error)
{
        KnownCalls *calls = &r->run.calls;

        if (r->ended)
                return TRUE;
        r->ended = TRUE;
        if (!known_calls_finish(calls, error))
                return FALSE;
        known_calls_close_up(calls);
        r->longest = find_longest(calls);
        return check_calls(r, error);
}

static void order_calls(SliceRun *r, gboolean split)
{
        Nesting *n = &r->run;

        n->cycles = n->options.window > 0 || split;
        call_order_clear(&n->order);
        call_order_init(&n->order, &n->calls.pairs, n->options.window,
                        !call_matcher_counts(n->calls.matcher)->disorder);
}

guint64 slice_run_digest(const SliceRun *r)
{
        const CallPairs *c = &r->run.calls.pairs;
        Seams seams = seams_new(&r->run.calls, &r->slice, r->how.window, r->longest);
        guint64 sum = 0;

        for (guint32 i = 0; i < c->n; i++)
                if (slice_has(&r->slice, c->at_caller[i].from))
                        sum += digest_number(r->keeps == SLICE_KEEPS_LITTLE ? seams_times(&seams, i)
                                                                            : seams_call(&seams, i),
                                             c->edge[i] > 0);
        seams_clear(&seams);
        return sum;
}

/* --- learning --------------------------------------------------------------------- */

/* The edges as they were seen, without counts. */
static void list_edges(const SliceRun *r, Learned *l)
{
        guint n;
        const Edge *edges = call_matcher_edges(r->run.calls.matcher, &n);

        for (guint i = 0; i < n; i++) {
                Edge edge = { .caller = edges[i].caller,
                              .callee = edges[i].callee,
                              .kinds = edges[i].kinds };
                gint64 key = (gint64)((guint64)edge.caller << 32 | edge.callee);
                const OneWay *one_way = g_hash_table_lookup(r->one_way, &key);

                for (guint op = 0; op < G_N_ELEMENTS(edge.first); op++)
                        edge.first[op] = edges[i].first[op];
                for (guint side = 0; one_way && side < 2; side++)
                        edge.one_way[side] = one_way->n[side];
                g_array_append_val(l->edges, edge);
        }
}

/* How many stamps a call has; a builtin would be a call into a library. */
static guint count_stamps(guint8 stamps)
{
        static const guint8 bits[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };

        return bits[stamps & 15] + bits[stamps >> 4];
}

static void count_call(const CallPairs *c, guint32 i, Learned *l)
{
        Edge *edge = &g_array_index(l->edges, Edge, c->edge[i] - 1);
        const guint all = 1 << CALL_SENT | 1 << CALL_RECV | 1 << RET_SENT | 1 << RET_RECV;

        l->counts.pairs++;
        edge->pairs++;
        edge->messages += count_stamps(c->stamps[i]);
        edge->longest = MAX(edge->longest, c->at_caller[i].to - c->at_caller[i].from);
        edge->longest_stay = MAX(edge->longest_stay, c->at_callee[i].to - c->at_callee[i].from);
        if ((c->stamps[i] & all) != all || !c->both_ends)
                return;
        l->both_ends++;
        l->too_early += c->at_callee[i].from < c->at_caller[i].from ||
                        c->at_caller[i].to < c->at_callee[i].to;
}

static void count_lone(SliceRun *r, Learned *l, GArray *beyond)
{
        g_autoptr(GHashTable) index =
                g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        guint n;
        const LoneMessage *lone = call_matcher_lone(r->run.calls.matcher, &n);
        gint64 until = slice_read_to(&r->slice) - r->slice.halo / 2;

        for (guint i = 0; i < l->edges->len; i++) {
                const Edge *e = &g_array_index(l->edges, Edge, i);
                gint64 key = (gint64)((guint64)e->caller << 32 | e->callee);

                g_hash_table_insert(index, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(i));
        }
        for (guint i = 0; i < n; i++) {
                gint64 key = (gint64)((guint64)lone[i].caller << 32 | lone[i].callee);
                Edge *edge = &g_array_index(l->edges, Edge,
                                            GPOINTER_TO_UINT(g_hash_table_lookup(index, &key)));

                if (!lone[i].is_return && lone[i].time >= r->slice.to && lone[i].time < until)
                        g_array_append_val(beyond, lone[i]);
                if (!slice_has(&r->slice, lone[i].time))
                        continue;
                g_array_append_val(l->lone, lone[i]);
                edge->messages++;
                *(lone[i].is_return ? &edge->lone_returns : &edge->lone_calls) += 1;
                *(lone[i].is_return ? &l->counts.lone_returns : &l->counts.lone_calls) += 1;
        }
}

static void take_row(const Scoreboard *b, gsize at, guint32 out, guint32 in, GArray *rows)
{
        LearnedRow row = { .out = out, .in = in };

        for (guint32 i = 0; i < b->n_bins; i++)
                row.n += b->cells[at + i] > 0;
        row.bin = g_new(guint32, row.n);
        row.weight = g_new(guint64, row.n);
        for (guint32 i = 0, k = 0; i < b->n_bins; i++)
                if (b->cells[at + i] > 0) {
                        row.bin[k] = i;
                        row.weight[k++] = b->cells[at + i];
                }
        g_array_append_val(rows, row);
}

/* Where the scoreboard has the delays of an edge by calls of another into the same node; 0: there
 * are none. */
static gsize find_row(const Nesting *n, guint32 out, guint32 in)
{
        const EdgeRole *role = &n->calls.roles.edge[in];
        const ScoreRows *rows = &n->board.rows[out];

        if (!role->at_callee || role->number >= rows->n)
                return 0;
        return rows->row[role->number];
}

/* The edges into each node. */
static GPtrArray *list_into(const EdgeRoles *roles, guint n_nodes)
{
        GPtrArray *into = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

        for (guint i = 0; i < n_nodes; i++)
                g_ptr_array_add(into, g_array_new(FALSE, FALSE, sizeof(guint32)));
        for (guint32 i = 0; i < roles->n_edges; i++)
                g_array_append_vals(into->pdata[roles->edge[i].callee], &i, 1);
        return into;
}

static void take_board(const Nesting *n, GArray *rows)
{
        const EdgeRoles *roles = &n->calls.roles;
        g_autoptr(GPtrArray) into = list_into(roles, node_table_size(n->calls.nodes));

        for (guint32 out = 0; out < roles->n_edges; out++) {
                const GArray *ins = into->pdata[roles->edge[out].caller];

                for (guint i = 0; n->board.rows[out].n && i < ins->len; i++) {
                        guint32 in = g_array_index(ins, guint32, i);
                        gsize at = find_row(n, out, in);

                        if (at)
                                take_row(&n->board, at, out, in, rows);
                }
        }
}

static LearnedSlice describe_slice(const SliceRun *r)
{
        Seams seams = seams_new(&r->run.calls, &r->slice, r->how.window, r->longest);
        LearnedSlice slice = { .slice = r->slice,
                               .seam = { seams_open(&seams, r->slice.from),
                                         seams_open(&seams, r->slice.to) },
                               .beyond = g_array_new(FALSE, FALSE, sizeof(LoneMessage)) };

        seams_clear(&seams);
        return slice;
}

Learned *slice_run_count(SliceRun *r, GError **error)
{
        g_autoptr(Learned) l = learned_new();
        KnownCalls *calls = &r->run.calls;
        LearnedSlice slice;

        if (!end_calls(r, error))
                return NULL;
        node_table_add_all(l->nodes, calls->nodes);
        l->how = r->how;
        list_edges(r, l);
        for (guint32 i = 0; i < calls->pairs.n; i++) {
                known_calls_pass(calls, i);
                if (slice_has(&r->slice, calls->pairs.at_caller[i].from))
                        count_call(&calls->pairs, i, l);
        }
        slice = describe_slice(r);
        count_lone(r, l, slice.beyond);
        g_array_append_val(l->slices, slice);
        l->counts.one_way = r->n_one_way;
        l->counts.first = call_matcher_counts(calls->matcher)->first;
        l->counts.last = call_matcher_counts(calls->matcher)->last;
        l->counts.disorder = call_matcher_counts(calls->matcher)->disorder;
        l->split = calls->pairs.both_ends;
        return g_steal_pointer(&l);
}

Learned *slice_run_learn(SliceRun *r, GError **error)
{
        g_autoptr(Learned) l = slice_run_count(r, error);
        KnownCalls *calls = &r->run.calls;

        if (!l)
                return NULL;
        nesting_run_find_roles(&r->run, FALSE);
        order_calls(r, calls->pairs.both_ends);
        score_nestings(calls, &r->run.order, &r->run.board, &r->slice, 0, r->run.cycles);
        l->children = calls->children;
        l->nestings = calls->nestings;
        take_board(&r->run, l->rows);
        return g_steal_pointer(&l);
}

/* --- deciding ---------------------------------------------------------------------- */

static gboolean same_calls(const SliceRun *r, GError **error)
{
        gint at;

        if (r->turned)
                return TRUE;
        if ((at = learned_find_slice(r->learned, &r->slice, error)) < 0)
                return FALSE;
        return slice_run_digest(r) == g_array_index(r->learned->slices, LearnedSlice, at).calls ||
               refuse(error, SLICE_ERROR_HALO,
                      "these are not the calls that were learned from: expected the same "
                      "trace, and a longer --halo where it is");
}

static guint64 key_on_edge(guint64 key, NodeId caller, NodeId callee)
{
        return digest_number(digest_number(key, caller), callee);
}

/* By key, when the first call came that found no return. */
static GHashTable *index_lone(const Learned *l)
{
        GHashTable *times = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, g_free);

        for (guint i = 0; i < l->lone->len; i++) {
                const LoneMessage *m = &g_array_index(l->lone, LoneMessage, i);
                guint64 key = key_on_edge(m->key, m->caller, m->callee);
                gint64 *first = g_hash_table_lookup(times, &key);

                if (m->is_return)
                        continue;
                if (first)
                        *first = MIN(*first, m->time);
                else
                        g_hash_table_insert(times, g_memdup2(&key, sizeof key),
                                            g_memdup2(&m->time, sizeof m->time));
        }
        return times;
}

static guint64 key_of(const KnownCalls *k, guint32 call)
{
        guint32 length;
        const char *id = k->ids ? known_calls_id(k, call, &length) : NULL;

        return id ? lone_message_key(id, length) : k->pairs.key[call];
}

/* The return of a call may be that of an earlier one with the same id, which was lost. */
static gboolean ids_are_new(const SliceRun *r, GError **error)
{
        const KnownCalls *k = &r->run.calls;
        g_autoptr(GHashTable) times = index_lone(r->learned);
        guint n_edges;
        const Edge *edges = call_matcher_edges(k->matcher, &n_edges);

        for (guint32 i = 0; g_hash_table_size(times) > 0 && i < k->pairs.n; i++) {
                const Edge *edge = &edges[k->pairs.edge[i] - 1];
                guint64 key = key_on_edge(key_of(k, i), edge->caller, edge->callee);
                const gint64 *first = g_hash_table_lookup(times, &key);

                if (first && *first <= k->pairs.at_caller[i].from)
                        return refuse(error, SLICE_ERROR_WHOLE,
                                      "a call has the id of an earlier one that found no "
                                      "return: whose return it was depends on all that "
                                      "came before: expected the whole trace in one "
                                      "process");
        }
        return TRUE;
}

/* The scoreboard that was learned. */
static gboolean give_board(SliceRun *r, GError **error)
{
        Nesting *n = &r->run;

        for (guint i = 0; i < r->learned->rows->len; i++) {
                const LearnedRow *row = &g_array_index(r->learned->rows, LearnedRow, i);
                const EdgeRole *in = &n->calls.roles.edge[row->in];
                gsize at;

                if (!in->at_callee || (row->n && row->bin[row->n - 1] >= n->board.n_bins))
                        return refuse(error, SLICE_ERROR_WHOLE,
                                      "a histogram has delays that no call has: expected a "
                                      "state that ravel merge-state wrote");
                scoreboard_rows(&n->board, row->out, in->at_callee->n_callers);
                at = n->board.rows[row->out].row[in->number];
                if (!at)
                        at = scoreboard_add_row(&n->board, row->out, in->number);
                for (guint32 k = 0; k < row->n; k++)
                        n->board.cells[at + row->bin[k]] += row->weight[k];
        }
        scoreboard_show(&n->board, n->options.smooth);
        return TRUE;
}

/* An empty scoreboard. longest: how long after its parent's call a child can start, ns. */
static void make_board(Nesting *n, gint64 longest)
{
        guint n_edges;

        call_matcher_edges(n->calls.matcher, &n_edges);
        scoreboard_clear(&n->board);
        scoreboard_init(&n->board);
        scoreboard_extend(&n->board, n_edges, longest + 2 * n->options.window);
}

/* From now on, what is known of calls and edges is what is known of the whole trace. */
static gboolean take_learned(SliceRun *r, GError **error)
{
        const Learned *l = r->learned;
        Nesting *n = &r->run;
        gint64 longest;

        call_matcher_take(n->calls.matcher, (const Edge *)l->edges->data, l->edges->len, &l->counts,
                          (const LoneMessage *)l->lone->data, l->lone->len);
        /* Once: clients are folded each time anew. */
        longest = known_calls_find_roles(&n->calls, FALSE);
        make_board(n, longest);
        order_calls(r, l->split);
        if (r->keeps >= SLICE_KEEPS_FACTS) /* how many candidates there were */
                score_nestings(&n->calls, &n->order, &n->board, &SLICE_ALL, 0, n->cycles);
        make_board(n, longest);
        call_order_restart(&n->order);
        return give_board(r, error);
}

guint32 *slice_run_place_edges(const SliceRun *r, const Learned *learned)
{
        const KnownCalls *k = &r->run.calls;
        g_autoptr(GHashTable) index =
                g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        guint n;
        const Edge *edges = call_matcher_edges(k->matcher, &n);
        guint32 *place = g_new0(guint32, n + 1);

        for (guint i = 0; i < learned->edges->len; i++) {
                const Edge *e = &g_array_index(learned->edges, Edge, i);
                gint64 key = (gint64)((guint64)e->caller << 32 | e->callee);

                g_hash_table_insert(index, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(i + 1));
        }
        for (guint i = 0; i < n; i++) {
                const char *caller = node_table_name(k->nodes, edges[i].caller);
                const char *callee = node_table_name(k->nodes, edges[i].callee);
                gint64 key =
                        (gint64)((guint64)node_table_lookup(learned->nodes, caller, strlen(caller))
                                         << 32 |
                                 node_table_lookup(learned->nodes, callee, strlen(callee)));

                place[i + 1] = GPOINTER_TO_UINT(g_hash_table_lookup(index, &key));
        }
        return place;
}

/* Whether all edges have stamps of one end: how long a call waits for the others does not matter.
 */
static gboolean one_end_each(const Learned *learned)
{
        const guint calls = 1 << CALL_SENT | 1 << CALL_RECV,
                    returns = 1 << RET_SENT | 1 << RET_RECV;

        for (guint i = 0; i < learned->edges->len; i++) {
                guint kinds = g_array_index(learned->edges, Edge, i).kinds;

                if ((kinds & calls) == calls || (kinds & returns) == returns)
                        return FALSE;
        }
        return TRUE;
}

gboolean slice_run_turn(SliceRun *r, NodeTable *nodes, const Learned *learned)
{
        KnownCalls *k = &r->run.calls;
        g_autofree guint32 *place = NULL;

        g_assert(r->ended && !r->learned);
        if (!one_end_each(learned))
                return FALSE;
        place = slice_run_place_edges(r, learned);
        for (guint32 i = 0; i < k->pairs.n; i++) {
                known_calls_pass(k, i);
                k->pairs.edge[i] = place[k->pairs.edge[i]];
        }
        call_matcher_free(k->matcher);
        k->matcher =
                call_matcher_new(r->how.window, r->how.max_call ? r->how.max_call : G_MAXINT64);
        k->nodes = nodes;
        r->learned = learned;
        r->turned = TRUE;
        know_edges(r);
        edge_roles_clear(&k->roles);
        edge_roles_init(&k->roles, r->how.fold, r->how.window);
        r->run.options.fold = r->how.fold;
        k->children = k->nestings = 0;
        return TRUE;
}

/* InstanceTaken; data: the run. */
static gboolean take_instance(gpointer data, const PathCall *path, guint32 n, gboolean is_cut,
                              GError **error)
{
        SliceRun *r = data;
        gint64 end = path[0].end;

        if (!slice_has(&r->slice, path[0].start))
                return TRUE;
        for (guint32 i = 0; i < n; i++)
                end = MAX(end, MAX(path[i].end, path[i].reply));
        if (r->slice.to != G_MAXINT64 && end + 2 * r->how.window >= r->slice.to + r->slice.halo / 2)
                return refuse(error, SLICE_ERROR_HALO,
                              "a path lasts longer after the slice than half the halo: "
                              "expected a longer --halo, in both steps");
        return r->take(r->data, path, n, is_cut, error);
}

/* ParentNoted; data: the seams. */
static void note_parent(gpointer data, guint32 call, guint32 parent, double probability)
{
        seams_note_parent(data, call, parent, probability);
}

static gboolean find_paths(SliceRun *r, Seams *seams, GError **error)
{
        Nesting *n = &r->run;
        PairSearch search = nesting_run_pair_search(n);

        search.noted = note_parent;
        search.data = seams;
        search.untold = seams->first_quiet;
        search.told = seams->end_quiet;
        call_paths_find_cuts(&n->paths);
        n->paths.take = take_instance;
        n->paths.data = r;
        if (!n->order.at_once)
                call_pairs_want(&n->calls.pairs, WANT_TREES);
        return find_nested_pairs(&search, &n->paths.trees, error) &&
               call_trees_hand_on(&n->paths.trees, G_MAXINT64, error);
}

gboolean slice_run_decide(SliceRun *r, InstanceTaken take, gpointer data, guint64 seam[2],
                          GError **error)
{
        Seams seams;
        gboolean ok;

        g_assert(r->learned);
        r->take = take;
        r->data = data;
        if (!end_calls(r, error))
                return FALSE;
        if (!same_calls(r, error) || !ids_are_new(r, error))
                return FALSE;
        seams = seams_new(&r->run.calls, &r->slice, r->how.window, r->longest);
        seams_begin(&seams, &r->run.calls.pairs);
        ok = take_learned(r, error) && find_paths(r, &seams, error);
        seam[0] = seams.parents[0];
        seam[1] = seams.parents[1];
        seams_clear(&seams);
        return ok;
}

const guint64 *slice_run_ops(const SliceRun *r)
{
        return r->ops;
}

guint32 slice_run_ordinal(const SliceRun *r, guint32 call)
{
        const GArray *ordinals = r->run.calls.ordinals;

        return ordinals && call < ordinals->len ? g_array_index(ordinals, guint32, call) : 0;
}

const KnownCalls *slice_run_calls(const SliceRun *r)
{
        return &r->run.calls;
}
