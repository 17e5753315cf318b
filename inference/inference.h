/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Inference: which calls into a node caused which calls out of the node? This is the interface of
 * the folder: plain data in and out, and a model. It knows no trace, no path and no option.
 */
#pragma once

#include "base/crew.h"
#include "base/work.h"
#include "tracefmt/node-table.h"
#include "tracefmt/parent.h"

/* What is known about a call out of the node beforehand: a set of flags. */
enum {
        OUT_DECIDED = 1, /* its parent was found in an earlier stretch */
        OUT_PAST = 2,    /* and that parent replied before this stretch: only for learning anew */
        OUT_EXPLAIN = 4, /* the answer shall name all its candidates, and weigh the evidence */
        OUT_ROOT = 8,    /* set by the solver: none of its candidates made it (roots.h) */
        OUT_TRANSACTION = 16, /* a transaction is open on its connection after its return */
};

/* A call into the node. */
typedef struct {
        gint64 enter, reply; /* ns, on the node's clock */
        guint32 call;        /* the user's number */
        NodeId caller;       /* folded */
        guint32 connection;  /* the connection that it came by; 0: unknown */
        guint32 identifiers; /* where its list begins; 0: none */
        guint16 label;       /* 0: none */
        guint8 size[2];      /* classes of call and return (base/size-class.h); 0: unknown */
} CallIn;

/* A call out of the node. */
typedef struct {
        gint64 start, end; /* ns, on the node's clock */
        guint32 call;      /* the user's number */
        NodeId callee;
        guint32 parent;        /* if OUT_DECIDED: a call's number, or NO_PARENT */
        guint32 connection;    /* the connection that it went by; 0: unknown */
        guint32 identifiers;   /* where its list begins; 0: none */
        guint16 label;         /* 0: none */
        guint8 size[2], flags; /* size: as of CallIn */
        gint64 lead; /* of a connection's first call: how long it was open before, ns; else 0 */
} CallOut;

typedef struct {
        CallIn *in;   /* by enter */
        CallOut *out; /* by start */
        guint32 n_in, n_out;
        const guint32 *identifiers; /* lists: a length, then the numbers, ascending; or NULL */
        gint64 window;              /* the skew window, ns */
        gint64 from;                /* calls in that replied before this get no more children, ns */
        gint64 decide;  /* calls out that start before this less the window get a parent, ns */
        guint32 *truth; /* by call out: its true parent, or NO_PARENT, to learn from; or NULL */
        Crew *crew;     /* the threads that solve the parts; NULL: the caller alone */
        WorkPart *work; /* to report progress; may be NULL */
        gboolean draws, keep_log, best_only, in_files; /* wanted of the answer; see pass-calls.h */
} NodeProblem;

/* What was learned about a node. It names nothing of the trace, so it can outlive the trace. */
typedef struct NodeModel NodeModel;
NodeModel *node_model_new(void); /* knows nothing */
void node_model_free(NodeModel *model);

/* The answer. The candidates of call[i] that are worth naming (best_only: the best, unless
 * OUT_EXPLAIN) are first[i] to first[i + 1] - 1, by enter. node_answer_clear() frees the arrays. */
enum { ANSWER_DRAWINGS = 4 };
typedef struct {
        guint32 n_in, n_out, n_workers; /* n_workers serve its queue; 0: no bound, or not known */
        guint32 n_hasty, most_open; /* calls decided in haste; candidates of one call, at most */
        guint32 *call;         /* number of a call out of the node; NO_PARENT: not decided yet */
        guint32 *n_candidates; /* by call out: all it has */
        float *family; /* by call in: the probability that it made just the children it is given */
        gint64 *wait;  /* by call in: how long for one of them, ns; NULL: no queue */
        gsize *first;
        guint32 *parent;      /* by candidate: its number */
        float *share, *score; /* by candidate: its probability; the best score decides */
        guint32 *drawn;       /* by call out and drawing: its parent; NO_PARENT: as above. NULL */
        GArray *weights; /* of candidates of OUT_EXPLAIN (weights.h); not in bytes. NULL: none */
        double log, true_log; /* log likelihoods, natural: of the answer if asked for, of truth */
} NodeAnswer;

/* Finds the parents of all calls out of a node together. model: what was learned of the node
 * before, which it goes on learning; NULL: start anew, keep nothing. Drops calls that it does not
 * look at from the arrays of the problem. O(calls * candidates * states of a parent). */
void find_parents_jointly(NodeProblem *problem, NodeModel *model, NodeAnswer *answer);
void node_answer_clear(NodeAnswer *answer);

/* For a node that makes no calls: finds n_workers and wait, the rest stays empty. O(n log n). */
void find_waits(const NodeProblem *problem, NodeAnswer *answer);

/* Write and read bytes, for any machine. The error (G_FILE_ERROR) names the wrong part. */
GBytes *node_model_to_bytes(const NodeModel *model);
GBytes *node_answer_to_bytes(const NodeAnswer *answer);
NodeModel *node_model_from_bytes(const guint8 *data, gsize n, GError **error);
gboolean node_answer_from_bytes(NodeAnswer *answer, const guint8 *data, gsize n, GError **error);
