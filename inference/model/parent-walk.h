/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The walk of a parent, a call into the node: it starts, makes calls, sees them return, and
 * replies. Each of these is an event. The state of a walk has the parent's kind (its caller, here)
 * and the latest event. For each callee it also has how many calls have returned and how many are
 * open, up to three. For each state the model learns the probability of each next event, and the
 * density of its delay since the latest event. Returns have no delay, as the node does not decide
 * when they come.
 *
 * So a walk gives the likelihood that a parent made exactly these children. Optional, repeated,
 * serial and parallel calls all follow from the counts.
 *
 * A parent that waits for a worker before it starts (workers.h) begins in a state of its own. It
 * leaves that state by starting, an event that has no delay either. If it is served out of turn, it
 * leaves the state by any other event.
 *
 * A step is a state and the event that leaves it. A rarely seen step backs off to the same step of
 * a more general state, which has caller and latest event alone. That step backs off to a state
 * that has nothing.
 *
 * Logarithms are in 1/LOG_UNIT.
 */
#pragma once

#include "base/hash.h"
#include "inference/model/call-numbers.h"
#include "inference/model/delay-density.h"

/* A child: a call that the node makes. */
typedef struct {
        gint64 start, end;
        guint32 callee; /* number among the node's callees, less than WALK_MAX_CALLEES */
} WalkCall;

enum {
        WALK_MAX_CALLEES = 1 << 14, /* event numbers fit into two bytes */
        NO_DELAY = DENSITY_BINS,    /* instead of a bin: the step has no delay, as returns */
};

typedef struct {
        guint32 state, event;
        guint32 next;    /* state */
        guint32 backoff; /* the step it backs off to; itself: none */
        guint32 own_row; /* its own row of delay densities; 0: none */
        guint32 row;     /* its own row, or the row of its backoff */
        guint32 at;      /* index in step_at */
        guint32 count;   /* how often it was seen, times DENSITY_COUNT */
        guint32 kept;    /* the part of count kept from earlier steps of --window */
        float probability;
        guint8 breaks; /* whether it breaks a number of calls that parents make */
} WalkStep;

/* The fields of a step that are looked up often, side by side. */
typedef struct {
        guint64 key;    /* state << 32 | event */
        guint32 number; /* number of the step + 1; 0: the entry is free */
        guint32 next, row;
        gint32 log; /* of the probability; NO_STEP_LOG until it is asked for */
        double probability;
} WalkEntry;

#define NO_STEP_LOG G_MAXINT32

typedef struct {
        gsize key;        /* offset in keys */
        guint32 survival; /* row of survival; 0: none of its own */
        guint32 general;  /* the state it backs off to; itself: none */
        guint32 count;    /* the sum of the counts of its steps */
} WalkState;

typedef struct {
        guint32 n_callees, key_length;
        guint32 n_callers;
        guint32 *first;   /* by caller: the state of the start */
        guint32 *waiting; /* by caller: the state of waiting for a worker, + 1; 0: not made yet */
        WalkState *states;
        guint32 n_states, states_room;
        guint8 *keys;
        gsize keys_length, keys_room;
        WalkStep *steps;
        guint32 n_steps, steps_room;
        guint32 *state_at;  /* hash table, open addressing: number of a state + 1; 0: free */
        WalkEntry *step_at; /* hash table of steps, by key */
        guint32 state_mask, step_mask;
        DelayDensities delays;
        gint16 (*survival)[DENSITY_BINS]; /* by row and bin: log of the survival of a state, the
                                             probability that it lasts longer; NO_LOG until it is
                                             asked for */
        double (*longer)[DENSITY_BINS];   /* the same probability */
        guint32 survival_room;
        gboolean survival_known;    /* survival is of the latest learning */
        const CallNumbers *numbers; /* of callers and callees; NULL: none are known */
        gboolean unheld;            /* they do not count */
} ParentWalk;

/* n_callers and n_callees are at least 1. */
void parent_walk_init(ParentWalk *w, guint32 n_callers, guint32 n_callees);
void parent_walk_clear(ParentWalk *w);

/* Copies all but survival, which is learned when it is needed. to is not initialised yet. */
void parent_walk_copy(ParentWalk *to, const ParentWalk *w);

/* Sets numbers of calls. Events by which a parent would make more or fewer calls become improbable
 * from the next learning on. The numbers are borrowed. */
void parent_walk_set_numbers(ParentWalk *w, const CallNumbers *numbers);

/* Sets whether these numbers count from the next learning on. */
void parent_walk_hold(ParentWalk *w, gboolean hold);

/* How far the walk of a parent has come. */
typedef struct {
        guint32 state;
        gint64 latest; /* the time of the latest event, ns */
} WalkPlace;

/* Adds callers, up to n_callers in all. */
void parent_walk_add_callers(ParentWalk *w, guint32 n_callers);

/* The place where a parent of this caller starts. */
WalkPlace parent_walk_start(const ParentWalk *w, guint32 caller, gint64 time);

/* The place where a parent waits; and where it starts after that. */
WalkPlace parent_walk_wait(ParentWalk *w, guint32 caller, gint64 enter);
WalkPlace parent_walk_take(ParentWalk *w, WalkPlace at, gint64 time);

/* The place after a call to callee, or its return. */
WalkPlace parent_walk_call(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time);
WalkPlace parent_walk_return(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time);

/* The hazard of a call: the log of the rate, per ns, at which a parent calls callee now. The parent
 * has done nothing since at.latest. Numbers of calls are ignored: where calls are assigned one by
 * one, one wrong call would push the parent's own call to a third parent. Needs
 * parent_walk_learn_survival() first. */
gint32 parent_walk_hazard(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time);

/* Events are numbered. A call to callee has the number callee, and its return n_callees + callee.
 * The reply has 2 * n_callees. The start of a parent that waited has 2 * n_callees + 1. */
static inline guint64 parent_walk_key(guint32 state, guint32 event)
{
        return (guint64)state << 32 | event;
}

/* The entry of a step; a free entry if there is no such step. The steps of a state lie side by
 * side, as they are looked up together. */
static inline WalkEntry *parent_walk_find(const ParentWalk *w, guint32 state, guint32 event)
{
        guint64 key = parent_walk_key(state, event);

        for (guint64 h = hash_word(HASH_SEED, state) + event;; h++) {
                WalkEntry *at = &w->step_at[h & w->step_mask];

                if (at->number == 0 || at->key == key)
                        return at;
        }
}

/* Adds a step that does not exist. */
WalkEntry parent_walk_add(ParentWalk *w, guint32 state, guint32 event);

/* The entry of a step, which is added if it does not exist. */
static inline WalkEntry parent_walk_get(ParentWalk *w, guint32 state, guint32 event)
{
        const WalkEntry *at = parent_walk_find(w, state, event);

        return G_LIKELY(at->number) ? *at : parent_walk_add(w, state, event);
}

/* The entry with its logarithm, until the next step is added. */
static inline const WalkEntry *parent_walk_log(ParentWalk *w, guint32 state, guint32 event)
{
        WalkEntry *at = parent_walk_find(w, state, event);

        if (G_UNLIKELY(at->number == 0)) {
                parent_walk_add(w, state, event);
                at = parent_walk_find(w, state, event);
        }
        if (G_UNLIKELY(at->log == NO_STEP_LOG))
                at->log = fixed_log(at->probability);
        return at;
}

/* The entry that a step would have if it were added. */
WalkEntry parent_walk_foresee(ParentWalk *w, guint32 state, guint32 event);

/* Learning, in this order. First halve the counts (fade), or drop all but the kept ones (forget).
 * Then count steps by their shares, with the bin of the delay or NO_DELAY. Then make probabilities
 * and densities from the counts (learn). */
void parent_walk_fade(ParentWalk *w);
void parent_walk_forget(ParentWalk *w);
void parent_walk_count(ParentWalk *w, guint32 step, guint bin, double share);
void parent_walk_learn(ParentWalk *w);

/* Keeps all counts so far for later learning; half: half of them. */
void parent_walk_keep(ParentWalk *w, gboolean half);

/* The numbers of states and steps. parent_walk_take_back() drops the states and steps that were
 * added since. A walk that has learned nothing since is then unchanged. */
typedef struct {
        guint32 n_states, n_steps;
} WalkSize;

static inline WalkSize parent_walk_size(const ParentWalk *w)
{
        return (WalkSize){ w->n_states, w->n_steps };
}

void parent_walk_take_back(ParentWalk *w, WalkSize size);

/* Writes to bytes, or reads from bytes into a walk that is not initialised yet. */
void parent_walk_bytes(ParentWalk *w, Bytes *b);

/* Learns the survival of states, for parent_walk_hazard(). */
void parent_walk_learn_survival(ParentWalk *w);
void parent_walk_forget_survival(ParentWalk *w); /* it is not worth keeping */
