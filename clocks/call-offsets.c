/* SPDX-License-Identifier: BSD-2-Clause */
#include "clocks/call-offsets.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/fixed-log.h"

enum {
        STRETCHES = 4,     /* stretches of the trace, if it is not looked at as a whole; */
        STRETCH = 4096,    /* calls in each, half of which are looked at as children */
        LEAST_MISFITS = 8, /* fewer are no reason to move a node */
        SPREAD = 16,       /* steps that an offset is tried in, in each octave, */
        ROUGH = 5,         /* and at first, in one stretch alone */
        REFINE = 6,        /* halvings of the last one */
        CENTRE = 3,        /* rounds of moving nodes to the middle of their bounds */
        MOST_TRIED = 16,   /* nodes at a time */
};

#define FIRST_STEP G_GINT64_CONSTANT(50000) /* ns */

/* The share of a node's calls that are misfits without a reason; and how much that share grows with
 * the share of messages into the node that have no other half. */
#define USUAL_SHARE 0.001
#define LOST_SHARE  1.5

/* An offset is as good as the best one if it leaves at most this share of what that mends. */
#define AS_GOOD 0.1

/* A node is moved again if that is worth this share of moving another one. */
#define ABOUT 0.9

/* A move must mend at least this share of the misfits around the node. */
#define WORTH_IT 0.2

/* An offset that leaves more than this share of the misfits around a node explains nothing. */
#define MOST_LEFT 0.2

/* The proof of an offset, if nothing says that there are several clocks: see is_proven().
 *
 * Chosen on clocks that are off: four servers of multi-tier by 30 to 60 ms, and a hotel's own
 * clocks at 50 and 100 requests a second. There offsets left at most 1 % of the misfits, had bounds
 * close together and mended nothing elsewhere. Also chosen on relayed mail and HTTP/2 in TLS of one
 * tap, where any large offset mends misfits. Other offsets, servers, loads and captures of one tap
 * were decided correctly. */
#define PROVEN_LEFT  0.05 /* at most this share of the misfits remains; */
#define PROVEN_SHARE 0.02 /* misfits are at least this share of the calls around, */
#define PROVEN_LEAST 20   /* and at least this number */
#define ELSEWHERE    0.5  /* no other offset mends this share of the misfits */
#define MOST_PASSING 1.0  /* calls that start, in the mean, in the time between the bounds */

/* A call at one of its ends. */
typedef struct {
        Span span;
        SpanClocks clocks;
} Stay;

typedef struct {
        Stay *in, *out; /* calls into the node that are looked at, and calls by the node */
        guint32 n_in, n_out;
        guint32 usual; /* misfits */
        GArray *near;  /* of NodeId, some twice: its callers and callees, and itself */
} NodeStays;

typedef struct {
        NodeStays *nodes;
        guint n_nodes;
        const CallSpans *of; /* borrowed */
        gint64 limit;
        guint32 most_stretches, spread; /* see STRETCHES and SPREAD */
        guint32 least;                  /* misfits beyond the usual, to look at a node */
        gint64 span;                    /* from the first call that is looked at to the last, ns, */
        double sampled;                 /* and the share of all calls that they are */
        gint64 *offset;                 /* by NodeId; taken off the stamps already, */
        guint8 *group;                  /* but for these nodes, by NodeId, which are tried to be */
        gint64 by;                      /* moved by so much more, ns; */
        GArray *around;                 /* of NodeId: those whose misfits it may change */
        Span *called, *calls;           /* room for those of one node */
} Search;

/* --- the calls that are looked at ------------------------------------------ */

typedef struct {
        guint32 first, end; /* of all calls; */
        guint32 from, to;   /* these as children, too */
} Stretch;

static guint n_stretches(const Search *s, guint32 n)
{
        return n <= s->most_stretches * STRETCH ? 1 : s->most_stretches;
}

static Stretch get_stretch(const Search *s, guint32 n, guint i)
{
        guint32 first;

        if (n <= s->most_stretches * STRETCH)
                return (Stretch){ 0, n, 0, n };
        first = (guint64)(n - STRETCH) * (2 * i + 1) / (2 * s->most_stretches);
        return (Stretch){ first, first + STRETCH, first + STRETCH / 4, first + 3 * STRETCH / 4 };
}

/* A call that may be the child of one that is not there is no misfit. */
static gboolean is_whole(const CallSpans *c, NodeId caller, Span span)
{
        return span.to > c->whole[caller].from && span.from <= c->whole[caller].to;
}

/* Each call to both of its nodes; where there is no room yet, it is but counted. */
static void put_stays(Search *s)
{
        const CallSpans *c = s->of;

        for (guint i = 0; i < n_stretches(s, c->n); i++) {
                Stretch stretch = get_stretch(s, c->n, i);

                for (guint32 call = stretch.first; call < stretch.end; call++) {
                        const CallEdge *e = &c->edges[c->edge[call] - 1];
                        NodeStays *caller = &s->nodes[e->caller], *callee = &s->nodes[e->callee];

                        if (callee->in)
                                callee->in[callee->n_in] =
                                        (Stay){ c->at_callee[call],
                                                clocks_at_callee(c->stamps[call], e->caller,
                                                                 e->callee) };
                        callee->n_in++;
                        if (call < stretch.from || call >= stretch.to ||
                            !is_whole(c, e->caller, c->at_caller[call]))
                                continue;
                        if (caller->out)
                                caller->out[caller->n_out] =
                                        (Stay){ c->at_caller[call],
                                                clocks_at_caller(c->stamps[call], e->caller,
                                                                 e->callee) };
                        caller->n_out++;
                }
        }
}

COMPARISON(compare_stays, Stay, COMPARE(a->span.from, b->span.from))

static void sort_stays(Stay *stays, guint32 n)
{
        if (n > 0)
                qsort(stays, n, sizeof *stays, compare_stays);
}

static void sort_all_stays(const Search *s)
{
        for (NodeId id = 0; id < s->n_nodes; id++) {
                sort_stays(s->nodes[id].in, s->nodes[id].n_in);
                sort_stays(s->nodes[id].out, s->nodes[id].n_out);
        }
}

static void search_init(Search *s, const CallSpans *calls)
{
        g_autofree guint64 *lost = g_new0(guint64, calls->n_nodes);
        g_autofree guint64 *all = g_new0(guint64, calls->n_nodes);
        guint32 most_in = 0, most_out = 0;

        s->of = calls;
        s->n_nodes = calls->n_nodes;
        s->span = 1;
        s->sampled = MIN(1, (double)s->most_stretches * STRETCH / calls->n);
        for (guint i = 0; i < n_stretches(s, calls->n); i++) {
                Stretch stretch = get_stretch(s, calls->n, i);

                s->span += ABS(calls->at_caller[stretch.end - 1].from -
                               calls->at_caller[stretch.first].from);
        }
        s->nodes = g_new0(NodeStays, s->n_nodes);
        s->offset = g_new0(gint64, s->n_nodes);
        s->group = g_new0(guint8, s->n_nodes);
        s->around = g_array_new(FALSE, FALSE, sizeof(NodeId));
        put_stays(s);
        for (NodeId id = 0; id < s->n_nodes; id++) {
                NodeStays *node = &s->nodes[id];

                most_in = MAX(most_in, node->n_in);
                most_out = MAX(most_out, node->n_out);
                node->in = g_new(Stay, node->n_in);
                node->out = g_new(Stay, node->n_out);
                node->n_in = node->n_out = 0;
                node->near = g_array_new(FALSE, FALSE, sizeof(NodeId));
                g_array_append_val(node->near, id);
        }
        put_stays(s);
        sort_all_stays(s);
        s->called = g_new(Span, most_in);
        s->calls = g_new(Span, most_out);
        for (guint i = 0; i < calls->n_edges; i++) {
                const CallEdge *e = &calls->edges[i];

                lost[e->callee] += e->lone;
                all[e->callee] += e->lone + e->pairs;
                if (e->pairs == 0)
                        continue;
                g_array_append_val(s->nodes[e->caller].near, e->callee);
                g_array_append_val(s->nodes[e->callee].near, e->caller);
        }
        for (NodeId id = 0; id < s->n_nodes; id++) {
                double share = all[id] ? (double)lost[id] / (double)all[id] : 0;

                s->nodes[id].usual = s->nodes[id].n_out * MIN(USUAL_SHARE + LOST_SHARE * share, 1);
        }
}

static void search_clear(Search *s)
{
        for (NodeId id = 0; id < s->n_nodes; id++) {
                g_free(s->nodes[id].in);
                g_free(s->nodes[id].out);
                g_array_free(s->nodes[id].near, TRUE);
        }
        g_free(s->nodes);
        g_free(s->offset);
        g_free(s->group);
        g_array_free(s->around, TRUE);
        g_free(s->called);
        g_free(s->calls);
}

/* --- misfits ---------------------------------------------------------------- */

/* As they are with the group moved, in order: its stamps stay in order among themselves, and so do
 * the others. */
static void get_spans(const Search *s, const Stay *stays, guint32 n, Span *spans)
{
        guint32 own = 0, other = 0;

        for (guint32 k = 0; k < n; k++) {
                const Stay *stay;

                while (own < n && !s->group[stays[own].clocks.from])
                        own++;
                while (other < n && s->group[stays[other].clocks.from])
                        other++;
                if (other == n ||
                    (own < n && stays[own].span.from - s->by < stays[other].span.from))
                        stay = &stays[own++];
                else
                        stay = &stays[other++];
                spans[k].from = stay->span.from - (s->group[stay->clocks.from] ? s->by : 0);
                spans[k].to = stay->span.to - (s->group[stay->clocks.to] ? s->by : 0);
        }
}

typedef struct {
        guint32 outlasting; /* they start where a candidate is open, which is replied to too early
                             */
        guint32 others;
} Misfits;

/* Of the calls that a node makes. */
static Misfits find_misfits(const Search *s, NodeId id)
{
        const NodeStays *node = &s->nodes[id];
        gint64 latest = node->n_in ? G_MININT64 : G_MAXINT64; /* reply of those called so far */
        Misfits misfits = { 0 };
        guint32 k = 0;

        get_spans(s, node->in, node->n_in, s->called);
        get_spans(s, node->out, node->n_out, s->calls);
        for (guint32 i = 0; i < node->n_out; i++) {
                Span call = s->calls[i];

                for (; k < node->n_in && s->called[k].from <= call.from; k++)
                        latest = MAX(latest, s->called[k].to);
                if (call.to < call.from || call.from > latest)
                        misfits.others++;
                else
                        misfits.outlasting += call.to > latest;
        }
        return misfits;
}

static guint32 count_misfits(const Search *s, NodeId id)
{
        Misfits misfits = find_misfits(s, id);

        return misfits.outlasting + misfits.others;
}

static guint32 count_around(const Search *s)
{
        guint32 misfits = 0;

        for (guint i = 0; i < s->around->len; i++)
                misfits += count_misfits(s, g_array_index(s->around, NodeId, i));
        return misfits;
}

/* --- moving nodes ------------------------------------------------------------ */

typedef struct {
        NodeId node;
        gboolean below;        /* with all nodes that are called by it, or below it, alone */
        gint64 by;             /* ns; 0: nowhere */
        guint32 before, after; /* misfits around them */
        double worth;
} Move;

/* Adds those whose callers are all in the group. FALSE where there are none. */
static gboolean extend_group(Search *s, guint8 *others)
{
        gboolean extended = FALSE;

        memset(others, 0, s->n_nodes);
        for (guint i = 0; i < s->of->n_edges; i++)
                others[s->of->edges[i].callee] |=
                        s->of->edges[i].pairs > 0 && !s->group[s->of->edges[i].caller];
        for (guint i = 0; i < s->of->n_edges; i++) {
                NodeId callee = s->of->edges[i].callee;

                if (s->of->edges[i].pairs == 0 || others[callee] || s->group[callee])
                        continue;
                s->group[callee] = extended = TRUE;
        }
        return extended;
}

/* Whose misfits the group may change. */
static void find_around(Search *s)
{
        g_autofree guint8 *seen = g_new0(guint8, s->n_nodes);

        g_array_set_size(s->around, 0);
        for (NodeId i = 0; i < s->n_nodes; i++) {
                const GArray *near = s->nodes[i].near;

                for (guint k = 0; s->group[i] && k < near->len; k++) {
                        NodeId node = g_array_index(near, NodeId, k);

                        if (!seen[node])
                                g_array_append_val(s->around, node);
                        seen[node] = TRUE;
                }
        }
}

/* Returns how many nodes are in it. */
static guint set_group(Search *s, NodeId id, gboolean below)
{
        g_autofree guint8 *seen = g_new0(guint8, s->n_nodes);
        guint n = 0;

        memset(s->group, 0, s->n_nodes);
        s->group[id] = TRUE;
        while (below && extend_group(s, seen))
                ;
        find_around(s);
        for (NodeId i = 0; i < s->n_nodes; i++)
                n += s->group[i];
        return n;
}

static guint32 try_move(Search *s, gint64 by)
{
        guint32 misfits;

        s->by = by;
        misfits = count_around(s);
        s->by = 0;
        return misfits;
}

static void move_stays(const Search *s, Stay *stays, guint32 n, gint64 by)
{
        for (guint32 i = 0; i < n; i++) {
                stays[i].span.from -= s->group[stays[i].clocks.from] ? by : 0;
                stays[i].span.to -= s->group[stays[i].clocks.to] ? by : 0;
        }
}

static void shift_group(Search *s, gint64 by)
{
        for (NodeId i = 0; i < s->n_nodes; i++) {
                s->offset[i] += s->group[i] ? by : 0;
                move_stays(s, s->nodes[i].in, s->nodes[i].n_in, by);
                move_stays(s, s->nodes[i].out, s->nodes[i].n_out, by);
        }
        sort_all_stays(s);
}

static void make_move(Search *s, const Move *move)
{
        set_group(s, move->node, move->below);
        shift_group(s, move->by);
}

/* How far the group can go one way. */
static gint64 room_of(const Search *s, int way)
{
        gint64 room = G_MAXINT64;

        for (NodeId id = 0; id < s->n_nodes; id++)
                if (s->group[id])
                        room = MIN(room, s->limit - way * s->offset[id]);
        return room;
}

static gint64 step_length(const Search *s, guint step)
{
        gint64 length = FIRST_STEP << step / s->spread;

        return length + length * (step % s->spread) / s->spread;
}

/* The worth of a move: the misfits that it mends. A move by which many calls pass is worth less,
 * since calls then have candidates by chance. */
static double worth_of(const Search *s, NodeId id, gint64 by, guint32 before, guint32 after)
{
        double passed = (double)(s->nodes[id].n_in + s->nodes[id].n_out) / (double)s->span *
                        (double)ABS(by);

        return after < before ? (before - after) / (1 + (double)fixed_log(1 + passed) / LOG_UNIT)
                              : 0;
}

/* The least move of the group one way that is as good as any. */
static Move find_move(Search *s, NodeId id, gboolean below, guint32 before, int way)
{
        Move move = { id, below, 0, before, before, 0 };
        gint64 room = room_of(s, way);
        gint64 low, high, end;
        guint32 tried[SPREAD * 40];
        guint n = 0, best = 0, last;
        double most = 0, enough;

        for (; n < G_N_ELEMENTS(tried) && step_length(s, n) <= room; n++) {
                double worth;

                tried[n] = try_move(s, way * step_length(s, n));
                worth = worth_of(s, id, step_length(s, n), before, tried[n]);
                if (worth > most) {
                        most = worth;
                        best = n;
                }
        }
        if (most == 0)
                return move;
        enough = tried[best] + AS_GOOD * (before - tried[best]);
        for (best = 0; tried[best] > enough;)
                best++;
        for (last = best; last + 1 < n && tried[last + 1] <= enough;)
                last++;
        low = best > 0 ? step_length(s, best - 1) : 0;
        high = step_length(s, best);
        end = step_length(s, last);
        for (guint i = 0; i < REFINE; i++) {
                gint64 middle = low + (high - low) / 2;

                if (try_move(s, way * middle) <= enough)
                        high = middle;
                else
                        low = middle;
        }
        move.by = way * MIN(high + high / 2, high + (end - high) / 2);
        move.after = try_move(s, move.by);
        move.worth = worth_of(s, id, move.by, before, move.after);
        return move;
}

/* The best move, which may be none. A move of a node that was moved already is preferred if it is
 * about as good. */
static Move choose_move(const Search *s, const Move *moves, guint n)
{
        Move best = { 0 };
        double most = 0;

        for (guint i = 0; i < n; i++) {
                double worth = moves[i].worth;

                if (most == 0)
                        best = moves[i];
                if (s->offset[moves[i].node] == 0)
                        worth *= ABOUT;
                if (worth > most) {
                        most = worth;
                        best = moves[i];
                }
        }
        return best;
}

typedef struct {
        NodeId node;
        guint32 n_calls;
} Candidate;

COMPARISON(compare_candidates, Candidate,
           COMPARE(b->n_calls, a->n_calls) ?: COMPARE(a->node, b->node))

/* Nodes that have more misfits than usual, and those near them, the ones with the most calls. */
static GArray *find_candidates(const Search *s)
{
        g_autofree guint8 *look_at = g_new0(guint8, s->n_nodes);
        GArray *found = g_array_new(FALSE, FALSE, sizeof(Candidate));

        for (NodeId id = 0; id < s->n_nodes; id++) {
                const NodeStays *node = &s->nodes[id];

                if (node->n_out < s->least || count_misfits(s, id) < node->usual + s->least)
                        continue;
                for (guint i = 0; i < node->near->len; i++)
                        look_at[g_array_index(node->near, NodeId, i)] = TRUE;
        }
        for (NodeId id = 0; id < s->n_nodes; id++) {
                Candidate c = { id, s->nodes[id].n_in + s->nodes[id].n_out };

                if (look_at[id])
                        g_array_append_val(found, c);
        }
        g_array_sort(found, compare_candidates);
        if (found->len > MOST_TRIED)
                g_array_set_size(found, MOST_TRIED);
        return found;
}

static Move find_best_move(Search *s)
{
        g_autoptr(GArray) candidates = find_candidates(s);
        Move moves[4 * MOST_TRIED];
        guint n = 0;

        for (guint i = 0; i < candidates->len; i++)
                for (guint below = 0; below <= 1; below++) {
                        const Candidate *c = &g_array_index(candidates, Candidate, i);
                        guint32 before;

                        if (set_group(s, c->node, below) == 1 && below)
                                continue;
                        before = count_around(s);
                        if (c->n_calls < WORTH_IT * before)
                                continue;
                        moves[n++] = find_move(s, c->node, below, before, -1);
                        moves[n++] = find_move(s, c->node, below, before, 1);
                }
        return choose_move(s, moves, n);
}

static gboolean is_worth_it(const Move *move)
{
        return move->worth > 0 && move->after <= move->before * (1 - WORTH_IT);
}

/* Makes the moves; returns them, of Move, those of one group added up. */
static GArray *move_nodes(Search *s)
{
        GArray *moves = g_array_new(FALSE, FALSE, sizeof(Move));

        for (guint i = 0; i < 2 * s->n_nodes; i++) {
                Move move = find_best_move(s), *made = (Move *)moves->data;
                guint k = 0;

                if (move.after + LEAST_MISFITS > move.before || !is_worth_it(&move))
                        break;
                make_move(s, &move);
                while (k < moves->len && (made[k].node != move.node || made[k].below != move.below))
                        k++;
                if (k < moves->len)
                        made[k].by += move.by;
                else
                        g_array_append_val(moves, move);
        }
        return moves;
}

/* --- proof ------------------------------------------------------------------- */

/* What moving the group on from where it is, either way, does to the misfits around it. */
typedef struct {
        guint32 before, after; /* without its offset, and as it is */
        gint64 least, most;    /* it can be moved on by these and mend as much, ns; G_MININT64 and
                                  G_MAXINT64: as far as was tried */
        gboolean only;         /* elsewhere nothing mends half as much */
} Profile;

static double mended_by(const Profile *p, guint32 misfits)
{
        return p->after < p->before ? ((double)p->before - misfits) / (p->before - p->after) : 0;
}

/* Where between two offsets, the first of which is as good, that ends. */
static gint64 find_bound(Search *s, const Profile *p, gint64 good, gint64 bad)
{
        for (guint i = 0; i < REFINE; i++) {
                gint64 middle = good + (bad - good) / 2;

                if (mended_by(p, try_move(s, middle)) >= 1 - AS_GOOD)
                        good = middle;
                else
                        bad = middle;
        }
        return good;
}

/* One way. Where nothing ends it, *bound stays as it is. */
static void profile_way(Search *s, Profile *p, gint64 reach, int way, gint64 *bound)
{
        gboolean is_good = TRUE, is_near = TRUE; /* all along, as good, or half as good */
        gint64 last = 0;

        for (guint i = 0; step_length(s, i) <= reach; i++) {
                gint64 step = way * step_length(s, i);
                double mended = mended_by(p, try_move(s, step));

                if (is_good && mended < 1 - AS_GOOD) {
                        *bound = find_bound(s, p, last, step);
                        is_good = FALSE;
                }
                p->only &= is_near || mended < ELSEWHERE;
                is_near &= mended >= ELSEWHERE;
                last = step;
        }
        p->only &= !is_near;
}

/* before: misfits around the group without its offset of by, ns. */
static Profile profile_group(Search *s, guint32 before, gint64 by)
{
        Profile p = { before, count_around(s), G_MININT64, G_MAXINT64, TRUE };
        gint64 reach = s->limit + ABS(by);

        profile_way(s, &p, reach, -1, &p.least);
        profile_way(s, &p, reach, 1, &p.most);
        return p;
}

/* The mean number of calls that start in that time between the group and others: into the group or
 * out of the group, whichever is more. */
static double passing(const Search *s, gint64 time)
{
        guint64 in = 0, out = 0;

        for (guint i = 0; i < s->of->n_edges; i++) {
                const CallEdge *e = &s->of->edges[i];

                if (s->group[e->callee] && !s->group[e->caller])
                        in += e->pairs;
                if (s->group[e->caller] && !s->group[e->callee])
                        out += e->pairs;
        }
        return (double)MAX(in, out) * s->sampled / (double)s->span * (double)time;
}

/* Whether the misfits that an offset mends are all of one node's calls that outlast its reply. A
 * node that does not wait for its calls makes such, too, and they fit if these returned sooner. */
static gboolean may_outlast(Search *s, gint64 by)
{
        guint witnesses = 0;

        for (guint i = 0; i < s->around->len; i++) {
                NodeId id = g_array_index(s->around, NodeId, i);
                Misfits with = find_misfits(s, id), without;

                s->by = -by;
                without = find_misfits(s, id);
                s->by = 0;
                if (without.others >= with.others + LEAST_MISFITS)
                        return FALSE;
                witnesses += without.outlasting >= with.outlasting + LEAST_MISFITS;
        }
        return witnesses < 2;
}

/* The misfits around the group that are there in any case. */
static guint32 usual_around(const Search *s, guint32 *n_calls)
{
        guint32 usual = 0;

        *n_calls = 0;
        for (guint i = 0; i < s->around->len; i++) {
                const NodeStays *node = &s->nodes[g_array_index(s->around, NodeId, i)];

                usual += node->usual;
                *n_calls += node->n_out;
        }
        return usual;
}

static gboolean is_proven(const Search *s, const Profile *p)
{
        guint32 n_calls, usual = usual_around(s, &n_calls);
        guint32 mended = p->before > p->after ? p->before - p->after : 0;

        return p->only && p->least != G_MININT64 && p->most != G_MAXINT64 &&
               passing(s, p->most - p->least) <= MOST_PASSING &&
               p->after <= usual + PROVEN_LEFT * p->before && mended >= PROVEN_LEAST &&
               mended >= PROVEN_SHARE * n_calls;
}

static gboolean prove_move(Search *s, const Move *move)
{
        Profile p;

        set_group(s, move->node, move->below);
        p = profile_group(s, try_move(s, -move->by), move->by);
        return is_proven(s, &p) && !may_outlast(s, move->by);
}

static void undo_move(Search *s, Move *move)
{
        move->by = -move->by;
        make_move(s, move);
        move->by = 0;
}

/* Notes what a move that is about to be undone was good for, as doubtful. */
static void note_doubt(Search *s, const Move *move, ClockOffset *doubt)
{
        ClockOffset c = {
                .doubtful = TRUE, .offset = move->by, .least = G_MININT64, .most = G_MAXINT64
        };

        set_group(s, move->node, move->below);
        if (count_around(s) > MOST_LEFT * try_move(s, -move->by))
                return;
        for (c.node = 0; c.node < s->n_nodes; c.node++)
                if (s->group[c.node])
                        doubt[c.node] = c;
}

/* Undoes moves until all that are left are proven. */
static void drop_unproven(Search *s, GArray *moves, ClockOffset *doubt)
{
        gboolean dropped;

        do {
                dropped = FALSE;
                EACH (Move, move, moves) {
                        if (move->by == 0 || prove_move(s, move))
                                continue;
                        note_doubt(s, move, doubt);
                        undo_move(s, move);
                        dropped = TRUE;
                }
        } while (dropped);
}

/* --- the answer -------------------------------------------------------------- */

/* Nodes that were moved by as much share what bounds that. */
static void find_bounds(Search *s, ClockOffset *c)
{
        Profile p;

        set_group(s, c->node, FALSE);
        for (NodeId id = 0; id < s->n_nodes; id++)
                s->group[id] = s->offset[id] == c->offset;
        find_around(s);
        p = profile_group(s, try_move(s, -c->offset), c->offset);
        c->least = p.least == G_MININT64 ? p.least : c->offset + p.least;
        c->most = p.most == G_MAXINT64 ? p.most : c->offset + p.most;
}

/* Moves nodes to the middle of their bounds, where the shortest delays on both sides are equal.
 * Bounds depend on the other nodes, so it is done CENTRE times. */
static void centre_offsets(Search *s, ClockOffset *offsets)
{
        for (guint round = 0; round < CENTRE; round++)
                for (NodeId id = 0; id < s->n_nodes; id++) {
                        ClockOffset *c = &offsets[id];

                        if (s->offset[id] == 0)
                                continue;
                        c->offset = s->offset[id];
                        find_bounds(s, c);
                        if (c->least == G_MININT64 || c->most == G_MAXINT64)
                                continue;
                        shift_group(s, c->least + (c->most - c->least) / 2 - c->offset);
                        c->offset = s->offset[id];
                }
}

/* The offset of a node, which is taken back where it is good for little. */
static ClockOffset judge_offset(Search *s, NodeId id)
{
        ClockOffset c = { .node = id, .offset = s->offset[id] };
        guint32 before, after;

        if (c.offset == 0)
                return c;
        set_group(s, id, FALSE);
        after = count_around(s);
        before = try_move(s, -c.offset);
        if (after > MOST_LEFT * before) {
                Move back = { id, FALSE, -c.offset, after, before, 0 };

                make_move(s, &back);
                c.offset = 0;
        }
        return c;
}

/* Whether there are nodes to look at, but one stretch shows none to move. Nodes often make calls of
 * their own accord; this keeps their cost small. */
static gboolean is_hopeless(const CallSpans *calls, gint64 limit)
{
        Search s = { .limit = limit,
                     .most_stretches = 1,
                     .spread = ROUGH,
                     .least = LEAST_MISFITS / STRETCHES };
        Move move;

        search_init(&s, calls);
        move = find_best_move(&s);
        search_clear(&s);
        return move.before > 0 && !is_worth_it(&move);
}

GArray *call_offsets_find(const CallSpans *calls, gint64 limit, gboolean prove)
{
        GArray *found = g_array_new(FALSE, FALSE, sizeof(ClockOffset));
        g_autofree ClockOffset *offsets = g_new0(ClockOffset, calls->n_nodes);
        g_autoptr(GArray) moves = NULL;
        Search s = { .limit = limit,
                     .most_stretches = STRETCHES,
                     .spread = SPREAD,
                     .least = LEAST_MISFITS };

        if (calls->n == 0 || is_hopeless(calls, limit))
                return found;
        search_init(&s, calls);
        moves = move_nodes(&s);
        if (prove)
                drop_unproven(&s, moves, offsets);
        for (NodeId id = 0; id < s.n_nodes; id++)
                if (s.offset[id] != 0)
                        offsets[id] = judge_offset(&s, id);
        centre_offsets(&s, offsets);
        for (NodeId id = 0; id < s.n_nodes; id++) {
                if (s.offset[id] != 0)
                        find_bounds(&s, &offsets[id]);
                if (offsets[id].offset != 0)
                        g_array_append_val(found, offsets[id]);
        }
        search_clear(&s);
        return found;
}
