/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pauses of nodes: silences with calls to serve that chance does not make.
 *
 *     call     |--------- stretch ---------|   callee   |-- stretch --|
 *            enter                       calls        return        reply
 *
 * A *stretch* is the time in which a call waits for nothing but its node. A node *moves* when one
 * of its calls calls or replies. A *silence* lasts until a move, from the last move or from when
 * the node had something to do again.
 *
 * In a pause all stretches are longer than usual. The kind of a stretch is its operation and the
 * moves before and after it. Where calls queue, one slow call makes the stretches behind it long.
 * So a pause is a silence of one of two sorts:
 *  - Chance makes less than one silence of this length among all that begin with the same number of
 *    stretches. The product of the stretches' probabilities, times the number of silences, is below
 *    CHANCE.
 *  - Chance makes fewer than one in which the first stretches, one for each worker of the node, are
 *    as long. For all stretches the same product is below the square of CHANCE. These are short
 *    pauses, which are so frequent that they make the law of silences.
 */
#include <math.h>
#include <string.h>

#include "analysis/why/why-model.h"
#include "base/compare.h"
#include "base/time-search.h"

#define LEAST_PAUSE ((gint64)10000000) /* ns */
#define CHANCE      1e-6
#define EVERYWHERE  0.01 /* probability that one of all pauses is wrongly taken for the capture */

/* A stretch that goes on through a silence with more than this probability explains it: a long call
 * holds the node, behind which others wait. */
#define ORDINARY 0.05

/* Long silences are left out of the lengths of a kind, unless they touch more than this share. */
#define MOST_LOST 0.2

/* Of the pauses of a node, one in this number has several calls that come late, there or at nodes
 * that pause with it. Otherwise they may as well be slow calls. */
enum { SEVERAL_OF = 3, FEWEST_SILENCES = 100 };

/* A node has a worker more than one in OVERTAKING_OF calls overtakes; up to MOST_WORKERS. */
enum { OVERTAKING_OF = 100, MOST_WORKERS = 8 };

enum { MOST_ROUNDS = 10 /* of learning without the pauses that are found */ };

typedef struct {
        gint64 begin, end; /* ns */
        guint32 request;
        guint32 before, after; /* NodeId + 1 of the callee that it follows or calls; 0: none */
        guint16 label;
        float probability; /* of its end: that the parent of the callee is right */
} Stretch;

typedef struct {
        gint64 from, to;  /* ns */
        guint32 covering; /* stretches that were there all the time */
        double chance;    /* of this length or more */
        gboolean suspect; /* perhaps a pause: kinds are learned without it */
} Silence;

/* All of a node. */
typedef struct {
        GArray *stretches;     /* by begin */
        GArray *begins, *ends; /* of gint64: of stretches, ascending */
        GArray *moves;         /* of gint64, ascending */
        GArray *silences;      /* by time */
        guint workers;         /* at least */
} NodeWork;

/* P(length >= x): up to the 99th percentile as seen, then a power law through it and the 90th. */
typedef struct {
        GArray *lengths; /* of gint64, ascending */
        gint64 p99;
        double slope;
} Survival;

/* Stretches of one kind. */
typedef struct {
        guint32 label, before, after; /* after: ANY_END of the kinds that differ in it alone */
        GArray *lost;                 /* lengths of stretches in a silence */
        Survival survival;
} StretchKind;

#define ANY_END G_MAXUINT32

typedef struct {
        gint64 from, to;
        NodeId node;
        guint late;       /* calls that came late by it */
        GArray *requests; /* of guint32: of calls there */
} Pause;

typedef struct {
        const Why *why;
        NodeWork *work; /* by node */
        guint n_nodes;
        double n_silences;
        GArray *starts, *ends; /* of gint64: of requests, ascending */
        GArray *rates;         /* of double: by requests in progress, how many begin, per ns */
        GArray *pauses;        /* of Pause */
} PauseSearch;

#define TIMES(array) ((const gint64 *)(gconstpointer)(array)->data)

/* --- stretches ---------------------------------------------------------------- */

typedef struct {
        gint64 start;
        guint32 parent, call;
} Child;

COMPARISON(compare_children, Child,
           COMPARE(a->parent, b->parent) ?: COMPARE(a->start, b->start)
                                         ?: COMPARE(a->call, b->call))

static void add_stretch(NodeWork *work, const Stretch *s)
{
        if (s->end <= s->begin)
                return;
        g_array_append_val(work->stretches, *s);
        g_array_append_val(work->begins, s->begin);
        g_array_append_val(work->ends, s->end);
}

/* Its children are n, in order of time. */
static void add_call_stretches(PauseSearch *p, guint32 request, const Call *c,
                               const Child *children, guint n)
{
        const Request *r = why_request_at(p->why, request);
        NodeWork *work = &p->work[c->node];
        Stretch s = { .begin = c->begin, .request = request, .label = c->label };
        float sure = 1;

        for (guint i = 0; i < n && children[i].start < c->reply; i++) {
                const Call *child = why_call_at(p->why, r->first + children[i].call);
                gint64 back = child->is_waited_for ? child->end : child->start;

                g_array_append_val(work->moves, child->start);
                s.end = child->start;
                s.after = child->node + 1;
                s.probability = child->probability;
                add_stretch(work, &s);
                sure = MIN(sure, child->probability);
                if (back >= s.begin) {
                        s.begin = back;
                        s.before = child->node + 1;
                }
        }
        g_array_append_val(work->moves, c->reply);
        s.end = c->reply;
        s.after = 0;
        s.probability = sure;
        add_stretch(work, &s);
}

static void add_request_stretches(PauseSearch *p, guint32 request, GArray *children)
{
        const Request *r = why_request_at(p->why, request);
        guint first = 0, end;

        g_array_set_size(children, 0);
        for (guint32 i = 1; i < r->n; i++) {
                const Call *c = why_call_at(p->why, r->first + i);
                Child child = { c->start, c->parent, i };

                g_array_append_val(children, child);
        }
        g_array_sort(children, compare_children);
        for (guint32 i = 0; i < r->n; i++, first = end) {
                for (end = first; end < children->len; end++)
                        if (g_array_index(children, Child, end).parent != i)
                                break;
                add_call_stretches(p, request, why_call_at(p->why, r->first + i),
                                   &g_array_index(children, Child, first), end - first);
        }
}

COMPARISON(compare_stretches, Stretch,
           COMPARE(a->begin, b->begin) ?: COMPARE(a->end, b->end)
                                       ?: COMPARE(a->request, b->request))

/* --- silences ----------------------------------------------------------------- */

/* How many of sorted times are not after time. */
static guint count_until(const GArray *times, gint64 time)
{
        return (guint)time_search(TIMES(times), times->len, time + 1);
}

/* How many stretches began, and did not end, until time. */
static guint32 count_open(const NodeWork *work, gint64 time)
{
        return count_until(work->begins, time) - count_until(work->ends, time);
}

static void find_silences(NodeWork *work)
{
        gint64 last = G_MININT64 / 2;

        g_array_sort(work->stretches, compare_stretches);
        g_array_sort(work->begins, compare_int64s);
        g_array_sort(work->ends, compare_int64s);
        g_array_sort(work->moves, compare_int64s);
        for (guint i = 0; i < work->moves->len; i++) {
                Silence s = { .from = last, .to = TIMES(work->moves)[i] };
                guint next = count_until(work->begins, last);

                if (s.to == last)
                        continue;
                if (!count_open(work, last))
                        s.from = next < work->begins->len ? TIMES(work->begins)[next] : s.to;
                last = s.to;
                if (s.from >= s.to)
                        continue;
                s.covering = count_open(work, s.from);
                g_array_append_val(work->silences, s);
        }
}

static void survival_learn(Survival *s)
{
        guint n = s->lengths->len;
        gint64 p90;

        if (n < WHY_FEWEST)
                return;
        g_array_sort(s->lengths, compare_int64s);
        p90 = TIMES(s->lengths)[(n - 1) * 9 / 10];
        s->p99 = TIMES(s->lengths)[(guint)((guint64)(n - 1) * 99 / 100)];
        /* Of equal lengths: as steep as a double can tell. */
        s->slope = s->p99 > p90 ? log(10) / log((double)s->p99 / (double)p90) : 1000;
}

/* The share of lengths that are at least x; 1 where too few are known. */
static double survival_seen(const Survival *s, gint64 x)
{
        guint n = s->lengths->len;

        return n < WHY_FEWEST ? 1 : (double)(n - time_search(TIMES(s->lengths), n, x)) / n;
}

/* The same, with the power law. */
static double survival_at(const Survival *s, gint64 x)
{
        if (s->lengths->len < WHY_FEWEST || x <= s->p99)
                return survival_seen(s, x);
        return 0.01 * pow((double)x / (double)s->p99, -s->slope);
}

/* By the number of stretches, in octaves; an octave with few silences has the law of the last. */
static void rate_silences(NodeWork *work)
{
        enum { OCTAVES = 33 };
        Survival of[OCTAVES];
        guint known = 0;

        for (guint i = 0; i < OCTAVES; i++)
                of[i] = (Survival){ .lengths = g_array_new(FALSE, FALSE, sizeof(gint64)) };
        for (guint i = 0; i < work->silences->len; i++) {
                const Silence *s = &g_array_index(work->silences, Silence, i);
                gint64 length = s->to - s->from;

                g_array_append_val(of[g_bit_storage(s->covering)].lengths, length);
        }
        for (guint o = 0; o < OCTAVES; o++) {
                survival_learn(&of[o]);
                if (of[o].lengths->len >= FEWEST_SILENCES || known == 0)
                        known = o;
                for (guint i = 0; i < work->silences->len && of[o].lengths->len > 0; i++) {
                        Silence *s = &g_array_index(work->silences, Silence, i);

                        if (g_bit_storage(s->covering) == o)
                                s->chance = survival_at(&of[known], s->to - s->from);
                }
        }
        for (guint i = 0; i < OCTAVES; i++)
                g_array_unref(of[i].lengths);
}

/* With n workers and one queue, a call can overtake at most n - 1 others. Only the
 * first stretches of calls count: a worker may wait for its callee, and go on before its next call.
 */
static guint count_workers(const NodeWork *work)
{
        gint64 last[MOST_WORKERS] = { 0 }; /* ends, the latest first */
        guint overtaking[MOST_WORKERS] = { 0 }, n = 0, workers = 1;

        for (guint i = 0; i < work->stretches->len; i++) {
                const Stretch *s = &g_array_index(work->stretches, Stretch, i);
                guint at = 0;

                if (s->before != 0)
                        continue;
                n++;
                for (; at < MOST_WORKERS && last[at] > s->end; at++)
                        overtaking[at]++;
                if (at == MOST_WORKERS)
                        continue;
                memmove(last + at + 1, last + at, (MOST_WORKERS - 1 - at) * sizeof *last);
                last[at] = s->end;
        }
        while (workers < MOST_WORKERS && OVERTAKING_OF * overtaking[workers - 1] > n)
                workers++;
        return workers;
}

/* --- kinds of stretches ------------------------------------------------------- */

static guint hash_kind(gconstpointer key)
{
        const StretchKind *k = key;

        return (k->label * 31 + k->before) * 31 + k->after;
}

static gboolean equal_kinds(gconstpointer va, gconstpointer vb)
{
        const StretchKind *a = va, *b = vb;

        return a->label == b->label && a->before == b->before && a->after == b->after;
}

static void free_stretch_kind(gpointer data)
{
        StretchKind *k = data;

        g_array_unref(k->lost);
        g_array_unref(k->survival.lengths);
        g_free(k);
}

static StretchKind *find_stretch_kind(GHashTable *kinds, const Stretch *s, guint32 after)
{
        StretchKind key = { .label = s->label, .before = s->before, .after = after };
        StretchKind *k = g_hash_table_lookup(kinds, &key);

        if (k)
                return k;
        k = g_new(StretchKind, 1);
        *k = key;
        k->lost = g_array_new(FALSE, FALSE, sizeof(gint64));
        k->survival.lengths = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_hash_table_add(kinds, k);
        return k;
}

/* Whether it overlaps one of these silences, which are in order. */
static gboolean is_in_silence(const Stretch *s, const GArray *silences)
{
        guint low = 0, high = silences->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (g_array_index(silences, Silence, middle).to <= s->begin)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < silences->len && g_array_index(silences, Silence, low).from < s->end;
}

/* Learns from the stretches outside of silences that may be pauses. The caller's to free. */
static GHashTable *learn_kinds(const NodeWork *work, const GArray *suspects)
{
        GHashTable *kinds = g_hash_table_new_full(hash_kind, equal_kinds, NULL, free_stretch_kind);
        GHashTableIter i;
        gpointer data;

        for (guint n = 0; n < work->stretches->len; n++) {
                const Stretch *s = &g_array_index(work->stretches, Stretch, n);
                gboolean lost = is_in_silence(s, suspects);
                gint64 length = s->end - s->begin;
                const guint32 afters[] = { s->after, ANY_END };

                for (guint a = 0; a < G_N_ELEMENTS(afters); a++) {
                        StretchKind *k = find_stretch_kind(kinds, s, afters[a]);

                        g_array_append_val(lost ? k->lost : k->survival.lengths, length);
                }
        }
        g_hash_table_iter_init(&i, kinds);
        while (g_hash_table_iter_next(&i, NULL, &data)) {
                StretchKind *k = data;
                guint n = k->lost->len;

                if (n > MOST_LOST * (n + k->survival.lengths->len))
                        g_array_append_vals(k->survival.lengths, k->lost->data, n);
                survival_learn(&k->survival);
        }
        return kinds;
}

/* After a pause many calls move at once, and parents are uncertain. Then a rare end says nothing.
 */
static const Survival *survival_of(GHashTable *kinds, const Stretch *s)
{
        const Survival *known = &find_stretch_kind(kinds, s, s->after)->survival;

        if (known->lengths->len >= WHY_FEWEST || s->probability >= WHY_SURE)
                return known;
        return &find_stretch_kind(kinds, s, ANY_END)->survival;
}

/* --- pauses ------------------------------------------------------------------- */

/* A silence, judged by its stretches. */
typedef struct {
        double chance;  /* that all its stretches last until its end */
        double first;   /* that the first of them do, one for each worker */
        double most;    /* that the most ordinary of them does */
        gboolean burst; /* at least one of those from before it ends as soon as usual afterwards;
                           the others are slow for themselves, and count for nothing */
        Pause pause;
} Trial;

/* The law of a kind may have a few slow calls that are beyond its power law. */
static double stretch_survival(const Survival *known, gint64 x)
{
        return MAX(survival_at(known, x), survival_seen(known, x));
}

static void try_stretch(Trial *t, const Stretch *s, const Survival *known, guint workers)
{
        gboolean few = known->lengths->len < WHY_FEWEST;
        const Pause *p = &t->pause;

        t->pause.late += !few && p->to - s->begin > known->p99;
        double before = stretch_survival(known, MAX(p->from - s->begin, 0));
        double chance = before > 0 ? stretch_survival(known, p->to - s->begin) / before : 1;
        gboolean is_first = p->requests->len < workers, there = s->begin <= p->from;
        g_array_append_val(p->requests, s->request);
        if (there && !few && s->end - p->to > known->p99)
                return;
        t->burst |= there;
        t->chance *= chance;
        if (is_first)
                t->first *= chance;
        if (there)
                t->most = MAX(t->most, chance);
}

/* open: the stretches that are there at its end, of guint32, by begin. */
static Trial try_silence(const NodeWork *work, NodeId node, const Silence *s, GHashTable *kinds,
                         const GArray *open)
{
        Trial t = { .chance = 1,
                    .first = 1,
                    .pause = { .from = s->from,
                               .to = s->to,
                               .node = node,
                               .requests = g_array_new(FALSE, FALSE, sizeof(guint32)) } };

        for (guint i = 0; i < open->len && t.most < ORDINARY; i++) {
                const Stretch *stretch =
                        &g_array_index(work->stretches, Stretch, g_array_index(open, guint32, i));

                try_stretch(&t, stretch, survival_of(kinds, stretch), work->workers);
        }
        return t;
}

/* Goes on to the stretches that are there at a later time; next: the first that is yet to come. */
static guint update_open(const NodeWork *work, GArray *open, guint next, gint64 time)
{
        guint n = 0;

        for (; next < work->stretches->len && TIMES(work->begins)[next] < time; next++)
                if (g_array_index(work->stretches, Stretch, next).end >= time)
                        g_array_append_val(open, next);
        for (guint i = 0; i < open->len; i++) {
                guint32 stretch = g_array_index(open, guint32, i);

                if (g_array_index(work->stretches, Stretch, stretch).end >= time)
                        g_array_index(open, guint32, n++) = stretch;
        }
        g_array_set_size(open, n);
        return next;
}

static void free_pause(gpointer data)
{
        g_array_unref(((Pause *)data)->requests);
}

/* Whether its stretches are too long together, even if all but the first ones are a queue.
 * Stretches are never quite independent, so far more is asked of their product than of one with its
 * silence. */
static gboolean is_long_together(const PauseSearch *p, const Trial *t)
{
        return p->n_silences * t->first < 1 && p->n_silences * t->chance < CHANCE * CHANCE &&
               t->most < ORDINARY;
}

/* Tries all long silences with these kinds. Returns how many suspects there are more than before.
 */
static guint try_silences(const PauseSearch *p, NodeId node, GHashTable *kinds, GArray *pauses)
{
        const NodeWork *work = &p->work[node];
        g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(guint32));
        guint next = 0, more = 0;

        g_array_set_size(pauses, 0);
        for (guint i = 0; i < work->silences->len; i++) {
                Silence *s = &g_array_index(work->silences, Silence, i);

                if (s->to - s->from < LEAST_PAUSE)
                        continue;
                next = update_open(work, open, next, s->to);
                Trial t = try_silence(work, node, s, kinds, open);
                gboolean together = is_long_together(p, &t);
                gboolean alone = p->n_silences * s->chance < 1 && p->n_silences * t.chance < CHANCE;

                more += together && !s->suspect;
                s->suspect |= together;
                if ((together || alone) && t.most < ORDINARY && t.burst)
                        g_array_append_val(pauses, t.pause);
                else
                        free_pause(&t.pause);
        }
        return more;
}

/* Of Silence. */
static GArray *find_suspects(const NodeWork *work)
{
        GArray *suspects = g_array_new(FALSE, FALSE, sizeof(Silence));

        for (guint i = 0; i < work->silences->len; i++)
                if (g_array_index(work->silences, Silence, i).suspect)
                        g_array_append_val(suspects, g_array_index(work->silences, Silence, i));
        return suspects;
}

/* Pauses hide one another while kinds are learned from them: again until there are no more. */
static void find_node_pauses(PauseSearch *p, NodeId node)
{
        NodeWork *work = &p->work[node];
        g_autoptr(GArray) pauses = g_array_new(FALSE, FALSE, sizeof(Pause));
        gboolean more = FALSE;

        g_array_set_clear_func(pauses, free_pause);
        for (guint i = 0; i < work->silences->len; i++) {
                Silence *s = &g_array_index(work->silences, Silence, i);

                s->suspect = s->to - s->from >= LEAST_PAUSE && p->n_silences * s->chance < 1;
                more |= s->to - s->from >= LEAST_PAUSE;
        }
        work->workers = count_workers(work);
        for (guint round = 0; more && round < MOST_ROUNDS; round++) {
                g_autoptr(GArray) suspects = find_suspects(work);
                g_autoptr(GHashTable) kinds = learn_kinds(work, suspects);

                more = try_silences(p, node, kinds, pauses) > 0;
        }
        g_array_set_clear_func(pauses, NULL);
        g_array_append_vals(p->pauses, pauses->data, pauses->len);
}

/* Clients that wait for an answer ask for nothing, so the rate depends on how many do. */
static void find_rates(PauseSearch *p)
{
        g_autoptr(GArray) times = g_array_new(FALSE, TRUE, sizeof(double));
        gint64 last = 0;

        for (guint begun = 0, ended = 0; begun < p->starts->len;) {
                gint64 start = TIMES(p->starts)[begun], end = TIMES(p->ends)[ended];
                guint open = begun - ended;
                gint64 now = MIN(start, end);

                g_array_set_size(times, MAX(times->len, open + 1));
                g_array_set_size(p->rates, times->len);
                g_array_index(times, double, open) += begun > 0 ? (double)(now - last) : 0;
                last = now;
                if (start <= end) {
                        g_array_index(p->rates, double, open)++;
                        begun++;
                } else {
                        ended++;
                }
        }
        for (guint open = 0; open < times->len; open++)
                g_array_index(p->rates, double, open) /= MAX(g_array_index(times, double, open), 1);
}

static void search_begin(PauseSearch *p, const Why *why)
{
        g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(Child));

        p->why = why;
        p->n_nodes = node_table_size(why->nodes);
        p->work = g_new(NodeWork, p->n_nodes);
        p->pauses = g_array_new(FALSE, FALSE, sizeof(Pause));
        g_array_set_clear_func(p->pauses, free_pause);
        p->starts = g_array_new(FALSE, FALSE, sizeof(gint64));
        p->ends = g_array_new(FALSE, FALSE, sizeof(gint64));
        p->rates = g_array_new(FALSE, TRUE, sizeof(double));
        for (guint i = 0; i < p->n_nodes; i++)
                p->work[i] = (NodeWork){ g_array_new(FALSE, FALSE, sizeof(Stretch)),
                                         g_array_new(FALSE, FALSE, sizeof(gint64)),
                                         g_array_new(FALSE, FALSE, sizeof(gint64)),
                                         g_array_new(FALSE, FALSE, sizeof(gint64)),
                                         g_array_new(FALSE, FALSE, sizeof(Silence)),
                                         1 };
        for (guint32 i = 0; i < why->requests->len; i++) {
                const Request *r = why_request_at(why, i);
                gint64 end = r->start + r->time;

                g_array_append_val(p->starts, r->start);
                g_array_append_val(p->ends, end);
                add_request_stretches(p, i, children);
        }
        g_array_sort(p->starts, compare_int64s);
        g_array_sort(p->ends, compare_int64s);
        find_rates(p);
        for (guint i = 0; i < p->n_nodes; i++) {
                find_silences(&p->work[i]);
                rate_silences(&p->work[i]);
                p->n_silences += p->work[i].silences->len;
        }
}

static void search_clear(PauseSearch *p)
{
        for (guint i = 0; i < p->n_nodes; i++) {
                g_array_unref(p->work[i].stretches);
                g_array_unref(p->work[i].begins);
                g_array_unref(p->work[i].ends);
                g_array_unref(p->work[i].moves);
                g_array_unref(p->work[i].silences);
        }
        g_free(p->work);
        g_array_unref(p->starts);
        g_array_unref(p->ends);
        g_array_unref(p->rates);
        g_array_unref(p->pauses);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PauseSearch, search_clear)

/* --- rows --------------------------------------------------------------------- */

COMPARISON(compare_pauses, Pause, COMPARE(a->from, b->from) ?: COMPARE(a->node, b->node))

static const Pause *pause_at(const PauseSearch *p, guint i)
{
        return &g_array_index(p->pauses, Pause, i);
}

/* The end of the pauses from first on that share at least half of the shorter with it. */
static guint end_of_group(const PauseSearch *p, guint first)
{
        const Pause *a = pause_at(p, first);
        guint end = first + 1;

        for (; end < p->pauses->len; end++) {
                const Pause *b = pause_at(p, end);

                if (MIN(a->to, b->to) - b->from < MIN(a->to - a->from, b->to - b->from) / 2)
                        break;
        }
        return end;
}

static void drop_slow_calls(PauseSearch *p)
{
        g_autofree guint *all = g_new0(guint, p->n_nodes), *several = g_new0(guint, p->n_nodes);

        for (guint first = 0, end; first < p->pauses->len; first = end) {
                guint late = 0;

                end = end_of_group(p, first);
                for (guint i = first; i < end; i++)
                        late += pause_at(p, i)->late;
                for (guint i = first; i < end; i++) {
                        all[pause_at(p, i)->node]++;
                        several[pause_at(p, i)->node] += late > 1;
                }
        }
        for (guint i = p->pauses->len; i-- > 0;) {
                NodeId node = pause_at(p, i)->node;

                if (SEVERAL_OF * several[node] < all[node])
                        g_array_remove_index(p->pauses, i);
        }
}

/* Whether no call came and no node moved in a pause, its edges apart. By chance this must be
 * unlikely, at the rate of new requests while the same number of requests is in progress. */
static gboolean is_everywhere(const PauseSearch *p, const Pause *pause)
{
        gint64 edge = (pause->to - pause->from) / 8;
        gint64 from = pause->from + edge, to = pause->to - edge;

        for (guint i = 0; i < p->n_nodes; i++) {
                const NodeWork *w = &p->work[i];

                if (count_until(w->begins, to) > count_until(w->begins, from) ||
                    count_until(w->moves, to) > count_until(w->moves, from))
                        return FALSE;
        }
        guint open = count_until(p->starts, from) - count_until(p->ends, from);
        double rate = open < p->rates->len ? g_array_index(p->rates, double, open) : 0;

        return p->pauses->len * exp(-rate * (double)(to - from)) < EVERYWHERE;
}

/* Pauses of the same nodes, while they are counted. */
typedef struct {
        WhyPause row;
        GHashTable *slow; /* requests */
} PauseRow;

static void free_pause_row(gpointer data)
{
        PauseRow *r = data;

        g_hash_table_unref(r->slow);
        g_free(r);
}

static PauseRow *find_pause_row(GPtrArray *rows, char *nodes, gboolean everywhere)
{
        PauseRow *r;

        for (guint i = 0; i < rows->len; i++) {
                r = rows->pdata[i];
                if (r->row.everywhere == everywhere &&
                    (everywhere || !strcmp(r->row.nodes, nodes))) {
                        g_free(nodes);
                        return r;
                }
        }
        r = g_new0(PauseRow, 1);
        r->row.nodes = nodes;
        r->row.everywhere = everywhere;
        r->row.times = g_array_new(FALSE, FALSE, sizeof(WhyStandstill));
        r->slow = g_hash_table_new(NULL, NULL);
        g_ptr_array_add(rows, r);
        return r;
}

static void add_group(const PauseSearch *p, GPtrArray *rows, guint first, guint end,
                      const guint8 *slow)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        WhyStandstill time = { pause_at(p, first)->from, pause_at(p, first)->to };
        PauseRow *r;

        for (guint i = first; i < end; i++) {
                NodeId node = pause_at(p, i)->node;

                g_ptr_array_add(names, (char *)node_table_written(p->why->nodes, node));
        }
        g_ptr_array_sort(names, compare_strings);
        g_ptr_array_add(names, NULL);
        r = find_pause_row(rows, g_strjoinv(", ", (char **)names->pdata),
                           is_everywhere(p, pause_at(p, first)));
        g_array_append_val(r->row.times, time);
        for (guint i = first; i < end; i++) {
                const Pause *pause = pause_at(p, i);

                for (guint n = 0; n < pause->requests->len; n++) {
                        guint32 request = g_array_index(pause->requests, guint32, n);

                        if (slow[request])
                                g_hash_table_add(r->slow, GUINT_TO_POINTER(request + 1));
                }
        }
}

COMPARISON(compare_pause_rows, WhyPause,
           COMPARE(b->slow, a->slow) ?: COMPARE(b->count, a->count)
                                     ?: strcmp(a->nodes, b->nodes))

static void clear_pause(gpointer data)
{
        WhyPause *p = data;

        g_free(p->nodes);
        g_array_unref(p->times);
}

static WhyPause sum_up(const PauseRow *r, guint64 n_slow)
{
        WhyPause p = r->row;
        gint64 first = g_array_index(p.times, WhyStandstill, 0).from, last = first;

        p.count = p.times->len;
        for (guint i = 0; i < p.count; i++) {
                const WhyStandstill *time = &g_array_index(p.times, WhyStandstill, i);

                p.mean += (time->to - time->from) / p.count;
                last = time->from;
        }
        p.every = p.count > 1 ? (last - first) / (p.count - 1) : 0;
        p.slow = g_hash_table_size(r->slow);
        p.slow_of = n_slow;
        return p;
}

GArray *why_pauses(Why *why)
{
        g_auto(PauseSearch) p = { 0 };
        g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_pause_row);
        GArray *pauses = g_array_new(FALSE, FALSE, sizeof(WhyPause));
        guint64 n_slow;
        g_autofree guint8 *slow = why_find_slow(why, &n_slow);

        g_array_set_clear_func(pauses, clear_pause);
        search_begin(&p, why);
        for (guint i = 0; i < p.n_nodes; i++)
                find_node_pauses(&p, i);
        g_array_sort(p.pauses, compare_pauses);
        drop_slow_calls(&p);
        for (guint i = 0, end; i < p.pauses->len; i = end) {
                end = end_of_group(&p, i);
                add_group(&p, rows, i, end, slow);
        }
        for (guint i = 0; i < rows->len; i++) {
                WhyPause row = sum_up(rows->pdata[i], n_slow);

                g_array_append_val(pauses, row);
        }
        g_array_sort(pauses, compare_pause_rows);
        return pauses;
}
