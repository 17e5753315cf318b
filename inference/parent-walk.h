/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a call into a node does, as a walk: it starts, makes calls, which return, and
 * replies. Each of these is an event. The state it is in is its caller, its latest event,
 * and of each callee how many calls have returned and how many have not (up to three).
 * For each state it is learned how often each event comes next, and after which delay
 * since the latest; returns have no delay, as they are not the node's doing.
 *
 * So a walk says of any set of calls how likely it is that one call into the node has
 * made just these: optional, repeated, serial and parallel calls all come out of the
 * counts. A step (a state and the event that leaves it) leans on a more general step the more, the
 * less it was seen: that of a state of the caller and latest event alone; this, on one of no state
 * at all. A caller may be a part of another, by what it does beside the call (contexts.c): it
 * takes a step as much more or less often as it was seen to do.
 *
 * Logarithms are in 1/LOG_UNIT.
 */
#ifndef RAVEL_PARENT_WALK_H
#define RAVEL_PARENT_WALK_H

#include "base/hash.h"
#include "inference/delay-density.h"

/* A call that the node makes. */
typedef struct {
        gint64 start, end;
        guint32 callee; /* number among the node's callees, less than WALK_MAX_CALLEES */
} WalkCall;

enum {
        WALK_MAX_STATES = 1 << 15, /* what comes after them is in a general state */
        WALK_MAX_CALLEES = 1 << 14,
        NO_DELAY = DENSITY_BINS,
};

typedef struct {
        guint32 state, event;
        guint32 next;    /* state */
        guint32 backoff; /* step; of itself: leans on nothing */
        guint32 own_row; /* of the densities; 0: none */
        guint32 row;     /* own, or that of the backoff */
        guint32 at;      /* its entry in the table of steps */
        guint32 count;   /* times DENSITY_COUNT, */
        guint32 kept;    /* of which so much of before */
        float probability;
        gint32 log;
} WalkStep;

/* What is looked up of a step, side by side. */
typedef struct {
        guint64 key;    /* state << 32 | event */
        guint32 number; /* of the step + 1; 0: there is none */
        guint32 next, row;
        float most; /* the density of the likeliest delay */
        double probability;
} WalkEntry;

typedef struct {
        gsize key;        /* where in keys it begins */
        guint32 survival; /* row of survival; 0: none of its own */
        guint32 general;  /* the state it leans on; itself where it leans on nothing */
        gboolean part;    /* that is the same one of the whole caller */
        guint32 count;    /* of all its steps */
} WalkState;

typedef struct {
        guint32 n_callees, key_length;
        guint32 n_callers;
        guint32 *first; /* state, by caller */
        guint32 *whole; /* by caller, the one it is a part of, or itself */
        WalkState *states;
        guint32 n_states, states_room;
        guint8 *keys;
        gsize keys_length, keys_room;
        WalkStep *steps;
        guint32 n_steps, steps_room;
        guint32 *state_at;  /* table of open addressing: number + 1, 0: free; */
        WalkEntry *step_at; /* by key; free where there is no number */
        guint32 state_mask, step_mask;
        DelayDensities delays;
        gint16 (*survival)[DENSITY_BINS]; /* how likely it is that a state lasts longer */
        guint32 survival_room;
        gboolean survival_known; /* since the latest learning */
} ParentWalk;

/* Of a node with so many callers and callees, at least one each. whole: by caller, the one that it
 * is a part of; itself if that is none. */
void parent_walk_init(ParentWalk *w, guint32 n_callers, const guint32 *whole, guint32 n_callees);
void parent_walk_clear(ParentWalk *w);

/* One parent on its way: what is known of it so far. */
typedef struct {
        guint32 state;
        gint64 latest; /* when it came into that */
} WalkPlace;

/* There are more callers now. */
void parent_walk_add_callers(ParentWalk *w, guint32 n_callers, const guint32 *whole);

/* Where a parent of this caller starts. */
WalkPlace parent_walk_start(const ParentWalk *w, guint32 caller, gint64 enter);

/* The place after a call to callee, or its return. */
WalkPlace parent_walk_call(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time);
WalkPlace parent_walk_return(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time);

/* How likely it is per ns that a parent which has waited at a place up to time now makes
 * a call to callee. After parent_walk_learn_survival(). */
gint32 parent_walk_hazard(ParentWalk *w, WalkPlace at, guint32 callee, gint64 time);

/* The step of an event in a state: a call to callee is the event of its number, its return
 * n_callees more, the reply 2 * n_callees. */
guint32 parent_walk_step(ParentWalk *w, guint32 state, guint32 event);

static inline guint64 parent_walk_key(guint32 state, guint32 event)
{
        return (guint64)state << 32 | event;
}

/* What is known of it, or where that is going to be. */
static inline WalkEntry *parent_walk_find(const ParentWalk *w, guint32 state, guint32 event)
{
        guint64 key = parent_walk_key(state, event);

        for (guint64 h = hash_word(HASH_SEED, key);; h++) {
                WalkEntry *at = &w->step_at[h & w->step_mask];

                if (at->number == 0 || at->key == key)
                        return at;
        }
}

/* What is known of it from now on, where there was none. */
WalkEntry parent_walk_add(ParentWalk *w, guint32 state, guint32 event);

/* What is known of it, be it added. */
static inline WalkEntry parent_walk_get(ParentWalk *w, guint32 state, guint32 event)
{
        const WalkEntry *at = parent_walk_find(w, state, event);

        return G_LIKELY(at->number) ? *at : parent_walk_add(w, state, event);
}

/* What it would be where there is none so far. */
WalkEntry parent_walk_foresee(ParentWalk *w, guint32 state, guint32 event);

/* Learning: halve or forget what was seen before (but for what was kept), count what is seen now (a
 * step by its share, and the bin of its delay or NO_DELAY), and draw the conclusion. */
void parent_walk_fade(ParentWalk *w);
void parent_walk_forget(ParentWalk *w);
void parent_walk_count(ParentWalk *w, guint32 step, guint bin, double share);
void parent_walk_learn(ParentWalk *w);

/* From now on what was seen so far is kept; half: half of it. */
void parent_walk_keep(ParentWalk *w, gboolean half);

/* Learns from that how long states last, for parent_walk_hazard(). */
void parent_walk_learn_survival(ParentWalk *w);

#endif
