/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The trellis gives belief propagation (beliefs.c) the share of each call among one parent's
 * families. The new message of the parent on the call follows from that share. The picture and the
 * formulas are in trellis.h.
 *
 * Events have the numbers of parent-walk.h. Number 2 * n_callees has two meanings. As the next
 * event it is the reply. As a trigger it is the parent's entry, as nothing follows a reply.
 */
#include "inference/search/trellis.h"

#include "base/exponent.h"
#include "base/hash.h"
#include "inference/model/tuning.h"

enum {
        END = 0, /* the vertex of the reply */
        START,   /* the vertex that all walks begin with */
        NOWHERE = G_MAXUINT32,
        AT_CALL_BITS = 5,   /* log2 of the size of a call's hash table of vertices */
        FAR = 64,           /* binary exponents of vertices are multiples of this */
        RATIO_BITS = 2,     /* log2 of the number of ratios that are remembered for an offer */
        SKIPS_PER_LOOK = 4, /* skips that cost as much as an offer that an edge looks at */
};

/* The offers whose bits share a word. */
#define WORD 64

/* Vertices with a smaller share count nothing: counts are whole parts of DENSITY_COUNT. */
#define LEAST_COUNTED (0.49 / DENSITY_COUNT)

/* The fields of an offered call that decide whether an edge passes it over, side by side. */
struct TrellisOffer {
        gint64 start;
        double total;
        double least; /* an edge is left out if step probability times density is lower; 0: never */
        double later; /* the lowest `least` of later calls to the callee, 0 aside */
        guint64 alike; /* bits of its word: later calls to the callee */
        guint32 callee;
        guint32 after; /* the first offer that starts after it returned */
};

/* The ratio of serving order for an offer with this class and trigger. */
typedef struct {
        gint64 trigger;
        guint32 class; /* + 1; 0: none yet */
        double ratio;
} Ratio;

/* Ratios that were looked up for one offer, by a hash of the trigger. Vertices of one call look up
 * the same ratios. */
struct TrellisRatios {
        Ratio of[1 << RATIO_BITS];
};

struct TrellisVertex {
        guint32 call;  /* the latest call; START has none */
        guint32 state; /* the state after that call */
        guint32 open, n_open;
        guint32 returns, n_returns; /* index of its first return step; their number */
        guint32 edges, n_edges;
        gint32 exponent; /* binary exponent of forward; negated, of backward */
        double forward, backward;
        guint64 key; /* the sum of the keys of its open calls */
};

/* The vertices of a call, and a hash table of them, with open addressing, by open calls and state:
 * number + 1; 0: free. */
struct TrellisVertices {
        guint32 n;
        guint8 place[1 << AT_CALL_BITS];
        guint32 vertex[MAX_AT_CALL];
};

struct TrellisEdge {
        guint32 to; /* vertex */
        guint32 step;
        guint16 bin;
        guint16 n_returns; /* returns before the edge leaves */
        double weight;
};

struct TrellisReturn {
        guint32 step;
        guint32 state; /* after it */
        guint32 next;  /* the first offer that starts after it */
        gint64 time;
        double probability; /* of this return and all before it */
};

/* The step from one state to a callee. */
struct TrellisStep {
        guint32 mark; /* equals Trellis.mark if it is for the present state */
        WalkEntry entry;
        const float *density;
        double probability; /* with the probability of the returns before it */
        double most;        /* the highest density it can still have, per ns */
        /* Used while offers are prepared: later calls to the callee. */
        guint64 alike;
        guint32 word;
        double later;
};

void trellis_init(Trellis *l, guint32 n_callees)
{
        memset(l, 0, sizeof *l);
        l->least = tuning.trellis_least;
        l->budget = G_MAXUINT64;
        l->steps = g_new0(TrellisStep, n_callees);
}

void trellis_clear(Trellis *l)
{
        g_free(l->offers);
        g_free(l->left);
        g_free(l->skip);
        g_free(l->ratios);
        g_free(l->vertices);
        g_free(l->edges);
        g_free(l->returns);
        g_free(l->open);
        g_free(l->at);
        g_free(l->steps);
        g_free(l->room);
}

void trellis_begin(Trellis *l, NodeModel *model)
{
        guint64 budget = l->budget;
        gboolean hasty = l->hasty;

        trellis_clear(l);
        trellis_init(l, model->n_callees);
        l->budget = budget;
        l->hasty = hasty;
        l->order = &model->evidence.order;
}

TrellisCall *trellis_room(Trellis *l, guint32 n)
{
        if (n > l->room_calls || !l->room) {
                l->room_calls = MAX(n, 2 * l->room_calls);
                l->room = g_renew(TrellisCall, l->room, l->room_calls);
        }
        return l->room;
}

#define ROOM(array, n, room)                                                                       \
        do {                                                                                       \
                if ((n) > (room)) {                                                                \
                        (room) = MAX(256, 2 * (n));                                                \
                        (array) = g_realloc_n((array), (room), sizeof *(array));                   \
                }                                                                                  \
        } while (0)

/* The key of an open call. The key of a vertex is a sum of these. */
static inline guint64 key_of(guint32 call)
{
        return hash_word(HASH_SEED, call + 1);
}

/* Whether a vertex is in this state and has these calls open besides its own. */
static gboolean is_vertex(const Trellis *l, const TrellisVertex *vertex, guint32 state,
                          guint32 open, guint32 n_open)
{
        if (vertex->state != state || vertex->n_open != n_open + 1)
                return FALSE;
        for (guint32 i = 0, k = vertex->open; i < n_open; i++, k++) {
                if (l->open[k] == vertex->call)
                        k++;
                if (l->open[k] != l->open[open + i])
                        return FALSE;
        }
        return TRUE;
}

/* Adds a vertex of a call. There must be room for it. */
static guint32 add_vertex(Trellis *l, const TrellisCall *calls, guint32 call, guint32 state,
                          guint32 open, guint32 n_open, guint64 key)
{
        guint32 v = l->n_vertices++, i = 0;
        gint64 end = calls[call].call.end;

        l->vertices[v] = (TrellisVertex){
                .call = call, .state = state, .open = l->n_open, .n_open = n_open + 1, .key = key
        };
        for (; i < n_open && calls[l->open[open + i]].call.end <= end; i++)
                l->open[l->n_open++] = l->open[open + i];
        l->open[l->n_open++] = call;
        for (; i < n_open; i++)
                l->open[l->n_open++] = l->open[open + i];
        return v;
}

/* Finds or adds the vertex of a call with this state and with these calls open besides it.
 * NOWHERE if the call has too many. key is the sum of the keys of the open calls. */
static inline guint32 get_vertex(Trellis *l, const TrellisCall *calls, guint32 call, guint32 state,
                                 guint32 open, guint32 n_open, guint64 key)
{
        TrellisVertices *at = &l->at[call];
        guint32 place, v;

        if (G_UNLIKELY(n_open == MAX_OPEN))
                key -= key_of(l->open[open + --n_open]);
        key += key_of(call);
        for (place = hash_word(key, state) >> (64 - AT_CALL_BITS); at->place[place];
             place = (place + 1) % G_N_ELEMENTS(at->place)) {
                v = at->vertex[at->place[place] - 1];
                if (l->vertices[v].key == key && is_vertex(l, &l->vertices[v], state, open, n_open))
                        return v;
        }
        if (at->n == MAX_AT_CALL)
                return NOWHERE;
        v = add_vertex(l, calls, call, state, open, n_open, key);
        at->vertex[at->n++] = v;
        at->place[place] = at->n;
        return v;
}

/* The step from the present state to a callee, after returns of this probability. */
static inline TrellisStep *step_to(Trellis *l, ParentWalk *w, guint32 state, guint32 callee,
                                   double before)
{
        TrellisStep *step = &l->steps[callee];

        if (step->mark != l->mark) {
                const WalkEntry *entry = parent_walk_find(w, state, callee);
                WalkEntry none;

                if (G_UNLIKELY(entry->number == 0)) {
                        none = parent_walk_foresee(w, state, callee);
                        entry = &none;
                }
                step->mark = l->mark;
                step->entry = *entry;
                step->density = delay_densities_row(&w->delays, entry->row);
                step->probability = entry->probability * before;
                step->most = step->probability * w->delays.rest[entry->row][0];
        }
        return step;
}

static inline void add_edge(Trellis *l, guint32 to, guint32 step, guint bin, guint32 n_returns,
                            double weight)
{
        TrellisEdge *edge;

        edge = &l->edges[l->n_edges++];
        /* One by one: a copy would wait for the two halves of a word to be written. */
        edge->to = to;
        edge->step = step;
        edge->bin = bin;
        edge->n_returns = n_returns;
        edge->weight = weight;
}

/* Adds the returns of the calls that are open at a vertex, in order of time. */
static void add_returns(Trellis *l, ParentWalk *w, guint32 v, const TrellisCall *calls)
{
        TrellisVertex *vertex = &l->vertices[v];
        guint32 state = vertex->state;
        double probability = 1;

        vertex->returns = l->n_returns;
        vertex->n_returns = vertex->n_open;
        ROOM(l->returns, l->n_returns + vertex->n_open, l->returns_room);
        for (guint32 i = 0; i < vertex->n_open; i++) {
                guint32 open = l->open[vertex->open + i];
                const TrellisCall *call = &calls[open];
                WalkEntry step = parent_walk_get(w, state, w->n_callees + call->call.callee);

                probability *= step.probability;
                state = step.next;
                l->returns[l->n_returns++] =
                        (TrellisReturn){ step.number - 1, state, l->offers[open].after,
                                         call->call.end, probability };
        }
}

/* The time of the latest event of a vertex after n_returns returns. */
static inline gint64 moment_of(const Trellis *l, const TrellisVertex *v, guint32 n_returns,
                               const TrellisParent *parent, const TrellisCall *calls)
{
        if (n_returns > 0)
                return l->returns[v->returns + n_returns - 1].time;
        return v->call == G_MAXUINT32 ? parent->enter : calls[v->call].call.start;
}

/* The latest event of a vertex after n_returns returns, as a trigger: 2 * n_callees: its entry. */
static inline guint32 event_of(const Trellis *l, const ParentWalk *w, const TrellisVertex *v,
                               guint32 n_returns, const TrellisCall *calls)
{
        if (n_returns > 0)
                return w->steps[l->returns[v->returns + n_returns - 1].step].event;
        return v->call == G_MAXUINT32 ? 2 * w->n_callees : calls[v->call].call.callee;
}

/* Finds the probabilities that other parents make all offers from one on, up to each later one and
 * up to the reply. l->reach ends the offers for which this is not negligible. */
static void find_skips(Trellis *l, guint32 from, guint32 n)
{
        double skip = 1;
        guint32 i = from;

        for (; i < n && skip > LEAST_SKIP; skip *= l->left[i++])
                l->skip[i] = skip;
        l->skip[n] = skip > LEAST_SKIP ? skip : 0;
        l->reach = i;
        l->looked += (i - from) / SKIPS_PER_LOOK;
}

/* A vertex after some of its returns. */
typedef struct {
        guint32 vertex, n_returns, state;
        guint32 open, n_open; /* the calls that are still open */
        guint64 key;          /* the sum of their keys */
        gint64 latest;
        double before; /* the probability of these returns */
} Standing;

static inline Standing first_standing(const Trellis *l, guint32 v, const TrellisParent *parent,
                                      const TrellisCall *calls)
{
        const TrellisVertex *vertex = &l->vertices[v];

        return (Standing){ .vertex = v,
                           .state = vertex->state,
                           .open = vertex->open,
                           .n_open = vertex->n_open,
                           .key = vertex->key,
                           .latest = moment_of(l, vertex, 0, parent, calls),
                           .before = 1 };
}

/* Advances it over one more return, or over the start of a parent that waited. */
static inline void go_on(const Trellis *l, Standing *at)
{
        const TrellisReturn *r = &l->returns[l->vertices[at->vertex].returns + at->n_returns++];

        if (at->n_open > 0) {
                at->key -= key_of(l->open[at->open++]);
                at->n_open--;
        }
        at->state = r->state;
        at->latest = r->time;
        at->before = r->probability;
}

/* An output of the parent, with the event before it. */
static inline PlacedOutput place_output(const Trellis *l, const ParentWalk *w,
                                        const TrellisVertex *v, guint32 n_returns,
                                        const TrellisParent *parent, const TrellisCall *calls,
                                        guint32 output, guint32 callee, guint32 row)
{
        guint32 event = event_of(l, w, v, n_returns, calls);

        return (PlacedOutput){ .output = output,
                               .parent = parent->number,
                               .class = trellis_class(w, event, callee),
                               .row = row,
                               .trigger = moment_of(l, v, n_returns, parent, calls) };
}

/* The ratio of serving order for an output. */
static double ratio_of(const Trellis *l, const PlacedOutput *o)
{
        return serving_order_factor(l->order, o->output, o->class, o->trigger, o->parent);
}

/* The ratio of serving order if the next output is offer i. It is constant in one run. */
static double ratio_of_output(Trellis *l, const ParentWalk *w, const Standing *at,
                              const TrellisParent *parent, const TrellisCall *calls, guint32 i,
                              guint32 callee, guint32 row)
{
        PlacedOutput o = place_output(l, w, &l->vertices[at->vertex], at->n_returns, parent, calls,
                                      calls[i].output, callee, row);
        Ratio *known = &l->ratios[i].of[hash_word(HASH_SEED, o.trigger) >> (64 - RATIO_BITS)];

        if (known->class != o.class + 1 || known->trigger != o.trigger)
                *known = (Ratio){ o.trigger, o.class + 1, ratio_of(l, &o) };
        return known->ratio;
}

/* Adds an edge of this weight to the vertex of a call, and passes the forward weight on. */
static inline void lead_on(Trellis *l, ParentWalk *w, const Standing *at, const TrellisCall *calls,
                           guint32 call, TrellisStep *step, guint bin, double weight)
{
        const TrellisVertex *from = &l->vertices[at->vertex];
        TrellisVertex *vertex;
        guint32 to;

        if (G_UNLIKELY(step->entry.number == 0))
                step->entry = parent_walk_add(w, at->state, calls[call].call.callee);
        to = get_vertex(l, calls, call, step->entry.next, at->open, at->n_open, at->key);
        if (to == NOWHERE)
                return;
        vertex = &l->vertices[to];
        if (vertex->forward == 0)
                vertex->exponent = from->exponent + exponent_of(from->forward) / FAR * FAR;
        weight = times_power(weight, from->exponent - vertex->exponent);
        vertex->forward += from->forward * weight;
        add_edge(l, to, step->entry.number - 1, bin, at->n_returns, weight);
}

/* Adds the edges to the offers of one word. */
static inline void expand_to(Trellis *l, ParentWalk *w, const Standing *at,
                             const TrellisParent *parent, const TrellisCall *calls, gboolean asked,
                             guint32 word, guint64 offers)
{
        for (; offers; l->looked++) {
                guint32 i = word + __builtin_ctzll(offers);
                const TrellisOffer *offer = &l->offers[i];
                TrellisStep *step = step_to(l, w, at->state, offer->callee, at->before);

                offers &= offers - 1;
                if (step->most >= offer->least) {
                        guint bin = density_bin(offer->start - at->latest);
                        double weight = step->probability * step->density[bin];

                        if (weight >= offer->least) {
                                weight *= l->skip[i] / offer->total;
                                if (asked)
                                        weight *= ratio_of_output(l, w, at, parent, calls, i,
                                                                  offer->callee, step->entry.row);
                                lead_on(l, w, at, calls, i, step, bin, weight);
                                continue;
                        }
                        step->most = step->probability * w->delays.rest[step->entry.row][bin];
                }
                /* Most later offers to this callee come too late for the state, and are passed
                 * over. */
                if (step->most < offer->later)
                        offers &= ~offer->alike;
        }
}

/* Adds the edge to the reply. */
static inline void expand_to_end(Trellis *l, ParentWalk *w, const Standing *at,
                                 const TrellisParent *parent, const TrellisCall *calls,
                                 gboolean asked, double skip)
{
        const TrellisVertex *from = &l->vertices[at->vertex];
        TrellisVertex *end = &l->vertices[END];
        WalkEntry step = parent_walk_get(w, at->state, 2 * w->n_callees);
        guint bin = density_bin(parent->reply - at->latest);
        double weight = at->before * step.probability *
                        delay_densities_row(&w->delays, step.row)[bin] * skip;

        if (asked) {
                PlacedOutput o = place_output(l, w, from, at->n_returns, parent, calls,
                                              parent->output, w->n_callees, step.row);

                weight *= ratio_of(l, &o);
        }
        if (end->forward == 0)
                end->exponent = from->exponent;
        weight = times_power(weight, from->exponent - end->exponent);
        end->forward += from->forward * weight;
        add_edge(l, END, step.number - 1, bin, at->n_returns, weight);
}

/* Adds the edges of a vertex and passes its forward weight on. */
static void expand(Trellis *l, ParentWalk *w, guint32 v, const TrellisParent *parent,
                   const TrellisCall *calls, guint32 n)
{
        gboolean asked = l->ordered;
        /* Before the first return was seen there is no array to point into. */
        const TrellisReturn *returns = l->returns ? l->returns + l->vertices[v].returns : NULL;
        guint32 i = l->vertices[v].call + 1, n_returns = l->vertices[v].n_returns;
        Standing at = first_standing(l, v, parent, calls);

        ROOM(l->vertices, l->n_vertices + n, l->vertices_room);
        ROOM(l->open, l->n_open + (n - i) * MIN(l->vertices[v].n_open + 1, MAX_OPEN), l->open_room);
        ROOM(l->edges, l->n_edges + n - i + 1, l->edges_room);
        l->vertices[v].edges = l->n_edges;
        for (;; go_on(l, &at)) {
                guint32 next = at.n_returns < n_returns ? returns[at.n_returns].next : n;

                next = MIN(next, l->reach);
                if (i < next)
                        l->mark++;
                while (i < next) {
                        guint32 word = i / WORD * WORD;
                        guint64 offers = G_MAXUINT64 << i % WORD;

                        i = next;
                        if (next - word < WORD)
                                offers &= ((guint64)1 << (next - word)) - 1;
                        else
                                i = word + WORD;
                        expand_to(l, w, &at, parent, calls, asked, word, offers);
                }
                if (at.n_returns == n_returns)
                        break;
        }
        if (l->skip[n] > 0)
                expand_to_end(l, w, &at, parent, calls, asked, l->skip[n]);
        l->vertices[v].n_edges = l->n_edges - l->vertices[v].edges;
}

/* Counts the steps of a vertex in the model, each with its share. */
static void count_vertex(Trellis *l, ParentWalk *w, const TrellisVertex *v, double scale)
{
        double of_returns = 0;
        guint32 n_returns = v->n_returns;

        /* The later an edge leaves, the more returns are before it. */
        for (guint32 i = v->n_edges; i-- > 0;) {
                const TrellisEdge *e = &l->edges[v->edges + i];
                double share = scale * e->weight * l->vertices[e->to].backward;

                for (; n_returns > e->n_returns; n_returns--)
                        parent_walk_count(w, l->returns[v->returns + n_returns - 1].step, NO_DELAY,
                                          of_returns);
                of_returns += share;
                parent_walk_count(w, e->step, e->bin, share);
        }
        for (; n_returns > 0; n_returns--)
                parent_walk_count(w, l->returns[v->returns + n_returns - 1].step, NO_DELAY,
                                  of_returns);
}

/* Notes in serving order the outputs that the parent may have made from a vertex on. */
static void note_vertex(Trellis *l, const ParentWalk *w, const TrellisVertex *v, double scale,
                        const TrellisParent *parent, const TrellisCall *calls)
{
        for (guint32 i = 0; i < v->n_edges; i++) {
                const TrellisEdge *e = &l->edges[v->edges + i];
                const TrellisVertex *to = e->to == END ? NULL : &l->vertices[e->to];
                const TrellisCall *call = to ? &calls[to->call] : NULL;
                PlacedOutput o = place_output(
                        l, w, v, e->n_returns, parent, calls, call ? call->output : parent->output,
                        call ? call->call.callee : w->n_callees, w->steps[e->step].row);

                serving_order_note(l->order, &o, scale * e->weight * (to ? to->backward : 1));
        }
}

/* Serving order gives up what this parent noted in an earlier run. */
static void clear_notes(Trellis *l, const TrellisParent *parent, const TrellisCall *calls,
                        guint32 n)
{
        serving_order_clear_note(l->order, parent->output, parent->number);
        for (guint32 i = 0; i < n; i++)
                serving_order_clear_note(l->order, calls[i].output, parent->number);
}

/* Finds the backward weight of a vertex from the vertices that its edges lead to. Returns the
 * vertex's share of all families. */
static double go_back(Trellis *l, ParentWalk *w, TrellisVertex *vertex, double end,
                      const TrellisParent *parent, const TrellisCall *calls, gboolean count)
{
        double backward = 0, scale = vertex->forward / end;

        for (guint32 k = 0; k < vertex->n_edges; k++) {
                const TrellisEdge *e = &l->edges[vertex->edges + k];

                backward += e->weight * l->vertices[e->to].backward;
        }
        vertex->backward = backward;
        if (count && scale * backward >= LEAST_COUNTED)
                count_vertex(l, w, vertex, scale);
        if (l->notes)
                note_vertex(l, w, vertex, scale, parent, calls);
        return scale * backward;
}

/* Finds the later offers to the same callee for each offer. */
static void find_later(Trellis *l, guint32 n)
{
        l->mark++;
        for (guint32 i = n; i-- > 0;) {
                TrellisOffer *offer = &l->offers[i];
                TrellisStep *step = &l->steps[offer->callee];

                if (step->mark != l->mark) {
                        step->mark = l->mark;
                        step->later = G_MAXDOUBLE;
                        step->word = n;
                }
                if (step->word != i / WORD) {
                        step->word = i / WORD;
                        step->alike = 0;
                }
                offer->later = step->later;
                offer->alike = step->alike;
                if (offer->least > 0) {
                        step->later = MIN(step->later, offer->least);
                        step->alike |= (guint64)1 << i % WORD;
                }
        }
}

static void start_offers(Trellis *l, const TrellisCall *calls, guint32 n)
{
        guint32 after = 0;

        ROOM(l->at, n, l->at_room);
        if (n >= l->offers_room) {
                l->offers_room = 2 * n + 1;
                l->offers = g_renew(TrellisOffer, l->offers, l->offers_room);
                l->left = g_renew(double, l->left, l->offers_room);
                l->skip = g_renew(double, l->skip, l->offers_room);
                l->ratios = g_renew(TrellisRatios, l->ratios, l->offers_room);
        }
        for (guint32 i = 0; i < n; i++) {
                const TrellisCall *call = &calls[i];
                double left = 1 - call->taken, least = l->least * left * call->total;

                for (; after < n && calls[after].call.start < call->call.end; after++)
                        ;
                for (; after > 0 && calls[after - 1].call.start >= call->call.end; after--)
                        ;
                l->at[i].n = 0;
                memset(l->at[i].place, 0, sizeof l->at[i].place);
                l->left[i] = left;
                l->offers[i] = (TrellisOffer){ .start = call->call.start,
                                               .total = call->total,
                                               .least = least,
                                               .callee = call->call.callee,
                                               .after = after };
        }
        if (l->ordered)
                memset(l->ratios, 0, n * sizeof *l->ratios);
        find_later(l, n);
}

/* Adds the vertex that all walks begin with. A parent that waited has a return step for its start:
 * both are events whose time the parent does not choose. */
static void add_start(Trellis *l, ParentWalk *w, const TrellisParent *parent,
                      const TrellisCall *calls, guint32 n)
{
        TrellisVertex *start = &l->vertices[START];
        guint32 next = 0;
        WalkEntry step;

        *start = (TrellisVertex){ .call = G_MAXUINT32,
                                  .state = w->first[parent->kind],
                                  .forward = 1 };
        if (parent->start <= parent->enter)
                return;
        start->state = parent_walk_wait(w, parent->kind, parent->enter).state;
        if (parent->start > parent->reply) /* out of turn */
                return;
        start->n_returns = 1;
        while (next < n && calls[next].call.start < parent->start)
                next++;
        step = parent_walk_get(w, start->state, 2 * w->n_callees + 1);
        ROOM(l->returns, 1, l->returns_room);
        l->returns[l->n_returns++] = (TrellisReturn){ step.number - 1, step.next, next,
                                                      parent->start, step.probability };
}

/* Finds shares while at most `most` offers are looked at. */
static gboolean find_shares(Trellis *l, ParentWalk *w, const TrellisParent *parent,
                            TrellisCall *calls, guint32 n, gboolean count, guint64 most)
{
        double end;

        l->n_vertices = START + 1;
        l->n_edges = l->n_returns = l->n_open = 0;
        l->looked = n;
        l->ordered = l->order && serving_order_counts(l->order);
        l->notes = l->order && l->order->watched;
        start_offers(l, calls, n);
        ROOM(l->vertices, l->n_vertices, l->vertices_room);
        l->vertices[END] = (TrellisVertex){ .backward = 1 };
        add_start(l, w, parent, calls, n);
        find_skips(l, 0, n);
        expand(l, w, START, parent, calls, n);
        double mass = 1; /* of all families so far, had they no further call; scaled */
        gint32 mass_exponent = 0;
        for (guint32 i = 0; i < n && l->looked <= most; i++) {
                mass *= l->left[i];
                for (guint32 k = 0; k < l->at[i].n; k++) {
                        const TrellisVertex *vertex = &l->vertices[l->at[i].vertex[k]];

                        mass += times_power(vertex->forward, vertex->exponent - mass_exponent);
                }
                if (!(mass < 1e100 && mass > 1e-100)) {
                        gint32 by = exponent_of(mass);
                        mass_exponent += by;
                        mass *= power_of_two(-by);
                }
                if (l->at[i].n > 0)
                        find_skips(l, i + 1, n);
                for (guint32 k = 0; k < l->at[i].n; k++) {
                        guint32 v = l->at[i].vertex[k];
                        TrellisVertex *vertex = &l->vertices[v];

                        if (times_power(vertex->forward, vertex->exponent - mass_exponent) <
                            l->least * mass) {
                                vertex->n_edges = 0;
                                continue;
                        }
                        add_returns(l, w, v, calls);
                        expand(l, w, v, parent, calls, n);
                }
        }
        for (guint32 i = 0; i < n; i++)
                calls[i].share = 0;
        if (l->notes)
                clear_notes(l, parent, calls, n);
        end = l->vertices[END].forward;
        if (l->looked > most || !(end > 1e-290 && end < 1e290)) {
                for (guint32 i = 0; i < n; i++)
                        calls[i].share = calls[i].taken;
                return FALSE;
        }
        /* Vertices of later calls come first. Vertices of one call do not lead to each other. */
        for (guint32 i = n; i-- > 0;)
                for (guint32 k = 0; k < l->at[i].n; k++) {
                        TrellisVertex *vertex = &l->vertices[l->at[i].vertex[k]];

                        calls[i].share += go_back(l, w, vertex, end, parent, calls, count);
                }
        go_back(l, w, &l->vertices[START], end, parent, calls, count);
        return TRUE;
}

gboolean trellis_find_shares(Trellis *l, ParentWalk *w, const TrellisParent *parent,
                             TrellisCall *calls, guint32 n, gboolean count)
{
        gboolean found = find_shares(l, w, parent, calls, n, count,
                                     MIN(l->budget, (guint64)(tuning.effort * MOST_LOOKED_AT)));

        l->budget -= MIN(l->budget, l->looked);
        l->hasty |= l->budget == 0;
        return found;
}

gboolean trellis_run(Trellis *l, ParentWalk *w, const TrellisParent *parent, TrellisCall *calls,
                     guint32 n, gboolean count)
{
        const TrellisVertex *end;

        if (!find_shares(l, w, parent, calls, n, count, G_MAXUINT64))
                return FALSE;
        end = &l->vertices[END];
        l->log =
                fixed_log(end->forward) + (gint64)(end->exponent * 177.445678223346); /* 256 ln 2 */
        return TRUE;
}
