/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The nesting algorithm (paper, section 5.1): messages to call pairs, to the
 * parent of each, to causal paths. This is the data that its four procedures
 * work on, and the order they run in:
 *
 *     FindCallPairs    find-call-pairs.c, fed by nesting_add()
 *     ScoreNestings    score-nestings.c, by nesting_find_parents()
 *     FindNestedPairs  find-nested-pairs.c \ call by call, by
 *     FindCallPaths    find-call-paths.c   / nesting_find_paths()
 *
 * Instead of the middle two, nesting_find_parents() finds all parents where they are found
 * jointly (inference.h, a node at a time), or where the algorithm cheats to be validated
 * (section 7.5.1; find-true-parents.c).
 *
 * Call pairs lie in one array in the order in which they were opened and name
 * each other by index.
 */
#ifndef RAVEL_NESTING_H
#define RAVEL_NESTING_H

#include "base/work.h"
#include "calls/call-labels.h"
#include "calls/call-order.h"
#include "calls/call-tree.h"
#include "calls/candidates.h"
#include "calls/find-call-pairs.h"
#include "inference/inference.h"
#include "nesting/clock-offsets.h"
#include "nesting/scoreboard.h"
#include "tracefmt/trace-clocks.h"

typedef struct {
        double overlap, same, any; /* exponents of the penalties: x, y, z (5.1.1.3) */
        gint64 window;             /* skew window, ns */
        gint64 max_offset;         /* joint: the largest that clocks are looked for, ns; 0: none */
        gint64 max_call;           /* the longest that a call may last, ns; 0: no limit */
        gint64 span;               /* of the windows of time that are reported on, ns; 0: none */
        double smooth;             /* standard deviation of the Gaussian, bins; 0: none */
        gboolean fold;             /* fold clients */
        gboolean keep;             /* ids, causes and numbers of candidates will be asked for */
        gboolean places;           /* calls.place will be */
        gboolean joint;            /* parents of a node's calls are found together, */
        guint threads;             /* of so many nodes at a time; 0: one */
        gboolean cheat;            /* parents are what the attribute path= says; with joint,
                                      only what is learned comes from these: the oracle */
        WorkShow progress;         /* of finding parents and paths with joint; may be NULL */
} NestingOptions;

/* Section 5.1.1.3: near-optimal on all of the paper's workloads. */
#define NESTING_DEFAULTS                                                                           \
        {                                                                                          \
                .overlap = 2, .max_offset = G_GINT64_CONSTANT(1000000000), .fold = TRUE            \
        }

/* What there was to cheat by. */
typedef struct {
        guint64 calls, returns;  /* messages with path= */
        guint64 returns_without; /* they cannot match a call that has it */
        guint32 calls_without;   /* call pairs; they are roots */
        guint32 lost;            /* roots for want of the call that path= puts above them */
        guint32 repeated;        /* calls whose path= an earlier call has too */
} TruthCounts;

/* A call that might be the parent of another. */
typedef struct {
        guint32 call; /* index into the calls */
        double score; /* joint: the share of its belief when all have decided; paper: of its delay's
                         score in those of all candidates, before penalties */
        double penalty; /* paper: what the children that it had leave of it, a factor; joint: 1 */
        double probability; /* that it is the parent */
} PossibleParent;

/* What the parent of a call was chosen from. */
typedef struct {
        guint32 call;
        GArray *parents; /* of PossibleParent, by enter; empty where it has no candidate */
} Explanation;

typedef struct Windows Windows;

/* What of the calls a step of windows is about, where parents are found jointly: all of them before
 * there are steps. */
typedef struct {
        gint64 from;   /* calls that returned before it are given no children any more, ns */
        gint64 decide; /* calls that start before it, and were not, are given a parent, ns */
} View;

/* A node that is called and calls, and the calls into it that are open. */
typedef struct {
        Candidates scoring, open; /* for ScoreNestings and for FindNestedPairs */
        guint32 n_callers;        /* folded */
} CallingNode;

/* What an edge is at its two ends. */
typedef struct {
        NodeId caller, callee;
        NodeId shown;                       /* the caller, folded */
        guint32 number;                     /* of that among the callee's callers */
        CallingNode *at_caller, *at_callee; /* NULL where that is not called, or calls nothing */
} EdgeRole;

typedef struct {
        NestingOptions options;
        NodeTable *nodes; /* borrowed */
        CallMatcher *matcher;
        TraceClocks clocks; /* see nesting_set_clocks() */

        CallPairs calls;
        CallLabels labels;    /* joint */
        double log;           /* joint: how likely the answer is, the natural logarithm; if kept */
        double true_log;      /* oracle: how likely the true parents are */
        guint32 *true_parent; /* oracle: by call, or NO_PARENT */
        GArray *offsets;      /* joint: of ClockOffset; NULL where not looked for */
        gint64 *offset;       /* these by NodeId; NULL where there are none */
        guint64 dropped;      /* calls that are no longer there, all before the others */
        NodeId *fold;         /* by NodeId: the node that stands for it */
        guint folded;         /* how many nodes were folded into one */
        guint64 children;     /* calls with a candidate parent */
        guint64 nestings;     /* candidate parents of them, all together */
        GByteArray *ids;      /* of all calls, one after the other; NULL where not kept */
        GString *key;         /* to cheat: "PATH ID", which stands for a message's id */
        TruthCounts truth;

        guint32 *rank; /* joint: by NodeId, where it stands when callers come first */

        EdgeRole *roles; /* by edge */
        guint n_roles;
        CallingNode **calling; /* by NodeId; NULL for others */
        guint n_calling;       /* how long that is */
        GHashTable *numbers;   /* callee << 32 | caller, folded, to the caller's number */
        CallOrder order;
        Scoreboard board;
        float *scores; /* paper: of one call's candidates */
        guint32 scores_size;
        CallTrees trees;
        gboolean ended;        /* there are no more calls to come */
        gboolean cycles;       /* clocks may disagree, so that a call may lie within itself */
        double two_overlap;    /* the penalty for a second child at a time */
        gboolean sole_is_sure; /* a call's only candidate is its parent, if no penalty applies */

        GArray *explanations; /* of Explanation; NULL where none is wanted */

        PathSet *set;   /* where instances go; borrowed */
        Cut *cuts;      /* by NodeId */
        guint64 number; /* of the next instance */
        PathCall *path; /* the instance in hand */
        guint32 path_size;
        Windows *windows; /* NULL where there are none */
        View view;
        NodeModel **models; /* by NodeId, joint with windows: what is learned outlives a step */
        guint n_models;     /* how long that is */
} Nesting;

Nesting *nesting_new(NodeTable *nodes, const NestingOptions *options);
void nesting_free(Nesting *nesting);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Nesting, nesting_free)

/* What the facts of the trace say so far: before the first message, and again after the last. */
void nesting_set_clocks(Nesting *nesting, TraceClocks clocks);

/* Line 2 of Figure 4: for each trace entry. Messages in time order. FALSE with
 * error set past 2^32 - 2 calls. */
gboolean nesting_add(Nesting *nesting, const Message *message, GError **error);

/* After the last message: from now on the calls are those that have a return, with their
 * edges. nesting_find_parents() does it where it was not done. */
void nesting_end_calls(Nesting *nesting);

/* Between these two: call shall be explained. It is in explanations at once, and has its
 * candidates after nesting_find_paths(). Finding parents then takes time in proportion to how many
 * are. Not with cheat alone, nor with windows. */
void nesting_explain(Nesting *nesting, guint32 call);

/* After the last message: learns what parents are found by, or finds them. */
void nesting_find_parents(Nesting *nesting);

/* Adds each path instance to set, in order of start; those that the capture's
 * start or end has cut are counted apart. After it, calls.cause and calls.place are set, if
 * they are kept. Once only. FALSE with error set if set's sink fails. */
gboolean nesting_find_paths(Nesting *nesting, PathSet *set, GError **error);

/* --- instead of these two, windows ------------------------------------------ */

/* Takes a window of time: set has all instances whose roots start in it, which is from the
 * first of its summary on and before the last; calls.place of these calls, if kept, numbers from
 * first_instance on. Returns the path set for those of the next window, borrowed until then;
 * NULL with error set to stop. */
typedef PathSet *(*WindowDone)(gpointer data, PathSet *set, guint64 first_instance, GError **error);

/* Before the first message, where options.span is set. From then on nesting_add() fails
 * also where done does. */
void nesting_begin_windows(Nesting *nesting, PathSet *first, WindowDone done, gpointer data);

/* After the last message: the last windows. */
gboolean nesting_finish_windows(Nesting *nesting, GError **error);

/* The id of a call, as written, not NUL-terminated; length 0 where it has none. */
const char *nesting_call_id(const Nesting *nesting, guint32 call, guint32 *length);

/* Puts indices of calls in order of start, ties in the order of the trace. */
void nesting_sort_calls(const Nesting *nesting, guint32 *calls, guint32 n);

/* The edge of a call. */
static inline const EdgeRole *nesting_edge(const Nesting *n, guint32 call)
{
        return &n->roles[n->calls.edge[call] - 1];
}

/* --- between its files ---------------------------------------------------- */

/* Learn from and go through n->order; the latter puts n->trees together. */
void score_nestings(Nesting *nesting);
gboolean find_nested_pairs(Nesting *nesting, GError **error);

/* Goes through n->order; puts n->trees together where causes are known. */
gboolean place_nested_pairs(Nesting *nesting, GError **error);

/* Brings what is known of edges and nodes, and the room on the scoreboard, up to what was
 * read. all: any node that is called may yet call. */
void nesting_find_roles(Nesting *nesting, gboolean all);

/* Where instances are cut, as far as lone messages are known. */
void nesting_find_cuts(Nesting *nesting);

/* Takes the pairs that were completed. */
gboolean nesting_take_done(Nesting *nesting, GError **error);

/* Takes an instance (CallTreeDone; data: the nesting). */
gboolean nesting_take_instance(gpointer data, guint32 root, GError **error);

/* windows.c: a message was added; the next instance is the first n of path. */
gboolean windows_add(Nesting *nesting, gint64 time, GError **error);
gboolean windows_begin_instance(Nesting *nesting, guint32 n, GError **error);
void windows_free(Windows *windows);

/* Where the candidates of call go; NULL where it is not to be explained. */
Explanation *nesting_explanation(const Nesting *nesting, guint32 call);

/* Notes how many candidate parents a call has. */
static inline void nesting_note_candidates(Nesting *n, guint32 call, guint32 n_found)
{
        if (n->calls.candidates)
                n->calls.candidates[call] = n_found;
        n->children += n_found > 0;
        n->nestings += n_found;
}

/* --- a node at a time ------------------------------------------------------ */

/* Runs find_parents_jointly() for each node that is called and calls, on options.threads threads,
 * and sets causes. What is found does not depend on how many these are. */
void find_parents_at_nodes(Nesting *nesting);

/* Whether the parent of a call was found in an earlier step; it may be that it has none. */
static inline gboolean nesting_is_decided(const Nesting *n, guint32 call)
{
        return n->windows && (n->calls.progress[call] & CALL_STARTED);
}

/* Whether it is found in this one. */
static inline gboolean nesting_decides(const Nesting *n, guint32 call)
{
        return !nesting_is_decided(n, call) &&
               n->calls.at_caller[call].from < n->view.decide - n->options.window;
}

/* Whether call is other, or was caused by it, directly or not, as far as parents are known. */
static inline gboolean nesting_is_within(const Nesting *n, guint32 call, guint32 other)
{
        while (call != NO_PARENT && call != other)
                call = n->calls.cause[call].parent;
        return call != NO_PARENT;
}

/* --- cheating --------------------------------------------------------------- */

/* Puts the message's path= before its id, so that a call and its return match by
 * both. The id lies in nesting->key until the next message. */
void true_path_join(Nesting *nesting, Message *message);

/* How long the path is that such an id begins with, 0 where there was none; a
 * blank follows it. */
guint32 true_path_length(const char *id, guint32 length);

/* By call, the parent that its path names, if that is there, or NO_PARENT; to be freed. */
guint32 *find_true_parents(Nesting *nesting);

/* Gives each call that parent. */
void take_true_parents(Nesting *nesting);

#endif
