/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A node problem: which of the calls into one node caused which of the calls out of it? Plain data,
 * in and out: it knows no trace, no path and no option of a command line.
 */
#ifndef RAVEL_NODE_PROBLEM_H
#define RAVEL_NODE_PROBLEM_H

#include "base/work.h"
#include "inference/node-model.h"
#include "tracefmt/node-table.h"

/* What is known of a call out of the node before the problem is solved: a set of flags. */
enum {
        OUT_DECIDED = 1, /* its parent was found in an earlier stretch */
        OUT_PAST = 2,    /* and replied before this stretch: only for learning anew */
        OUT_EXPLAIN = 4, /* the answer shall name all its candidates */
        OUT_ROOT = 8,    /* set by the solver: none of its candidates made it (roots.h) */
};

/* A call into the node. */
typedef struct {
        gint64 enter, reply; /* ns, on the node's clock */
        guint32 call;        /* the user's number of it */
        NodeId caller;       /* folded */
        guint32 context;     /* what its parent does beside it, a hash; 0: unknown */
        guint16 label;       /* 0: none */
} CallIn;

/* A call out of the node. */
typedef struct {
        gint64 start, end; /* ns, on the node's clock */
        guint32 call;      /* the user's number of it */
        NodeId callee;
        guint32 parent; /* if OUT_DECIDED: a call's number, or NO_PARENT */
        guint16 label;  /* 0: none */
        guint8 flags;
} CallOut;

typedef struct {
        CallIn *in;   /* by enter */
        CallOut *out; /* by start */
        guint32 n_in, n_out;
        gint64 window;  /* the skew window, ns */
        gint64 from;    /* calls into it that replied earlier are given no children any more, ns */
        gint64 decide;  /* calls out of it that start before this less the window, and are not
                           decided, are given a parent, ns */
        guint32 *truth; /* by call out: the number of its true parent, or NO_PARENT; NULL: not
                           told. If told, all that is learned is learned from these: the oracle */
        WorkPart *work; /* says how far it is; may be NULL */
        gboolean keep_log; /* the answer shall say how likely it is */
} NodeProblem;

/* What was found. The candidates of call[i] that are worth naming are first[i] to first[i + 1] - 1,
 * by enter. node_answer_clear() frees the arrays. */
typedef struct {
        guint32 n_out;
        guint32 *call;         /* number of a call out of the node; NO_PARENT: not its turn */
        guint32 *n_candidates; /* by call out, how many it has, named or not */
        guint32 *context;      /* by call out: what its parent does beside it, a hash; 0: unknown */
        float *family;         /* by call into it: the probability that of the calls decided on it
                                  made those that it is given, and no others */
        gsize *first;
        guint32 *parent;      /* by candidate: its number */
        float *share, *score; /* by candidate: its probability; the best score decides */
        double log;           /* if asked for: of how likely the answer is, the natural logarithm */
        double true_log;      /* and of how likely the truth is, if told */
} NodeAnswer;

/* Finds the parents of the calls out of a node, weighed together. model: what was learned of the
 * node before, which is learned on; NULL: nothing is known, nor kept. Takes calls from the arrays
 * of the problem that are not looked at. O(calls * candidates * states of a parent). */
void find_parents_jointly(NodeProblem *problem, NodeModel *model, NodeAnswer *answer);

void node_answer_clear(NodeAnswer *answer);

#endif
