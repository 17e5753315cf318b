/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Evidence on the parent of a call, besides the walk of a parent (parent-walk.h). A kind is one
 * file, inference/evidence/evidence-NAME.c, and one row of the table in evidence-table.c. A row has
 * functions that learn about a node, and that find how much likelier the kind makes a parent with
 * given children. A function that a kind does not need is NULL.
 *
 * A kind keeps what it learned in an object in the node's model, from problem to problem. A kind
 * with more to keep has a struct that begins with Evidence. Workers and serving order are evidence
 * of other forms: a parent's start, and outputs that depend on each other. They are called by name.
 */
#pragma once

#include "inference/model/joint.h"
#include "inference/model/placed-family.h"
#include "inference/model/serving-order.h"
#include "inference/model/workers.h"

typedef struct EvidenceKind EvidenceKind;

typedef struct {
        const EvidenceKind *kind;
        gboolean watched;  /* it follows this problem: learn() and place() are called */
        gboolean in_use;   /* its ratios count. The kind sets all of these */
        gboolean ties;     /* it knows calls that belong together: block() */
        gboolean rejected; /* the parents found with it are not consistent: it does not count */
} Evidence;

/* The parents of the other calls that the ratio of a call may depend on. */
typedef enum {
        BY_EARLIER_CALLS, /* the assignment of calls that start earlier (Joint.assignment) */
        BY_ASSIGNMENT,    /* the whole assignment */
        BY_BELIEFS,       /* beliefs (Joint.beliefs) */
} EvidenceBasis;

/* The parents that evidence learns from. */
typedef enum {
        FIRST_PARENTS, /* the first assignment; nothing is learned of walks */
        ROUND_PARENTS, /* an assignment that walks were learned from */
        NEAR_BELIEFS,  /* beliefs that have nearly settled, or a model that goes on */
        CHAIN_PARENTS, /* the assignment that a chain begins with */
        TRUE_PARENTS,
} EvidenceStage;

struct EvidenceKind {
        const char *name;

        /* make() makes the object, which knows nothing. NULL: it is an Evidence and no more. free()
         * frees its fields. */
        Evidence *(*make)(void);
        void (*free)(Evidence *e);
        /* Writes what was learned to bytes, or reads it (bytes.h). NULL: nothing is kept. */
        void (*bytes)(Evidence *e, Bytes *b);

        /* begin() and end() frame one node problem, or a part. Calls, candidates and outputs are
         * known, parents are not. */
        void (*begin)(Evidence *e, const Joint *j);
        void (*end)(Evidence *e);

        /* Called if it watches. After CHAIN_PARENTS, place() follows for each family. */
        void (*learn)(Evidence *e, Joint *j, EvidenceStage stage);
        /* save() returns what it has learned, to be freed with g_free(). restore() returns to that
         * state after a failed try. */
        gpointer (*save)(const Evidence *e);
        void (*restore)(Evidence *e, gconstpointer saved);

        /* The ratio of likelihoods if this parent made this call; 1: no evidence. It is positive
         * and finite. Called once for each call in a run of the trellis or of a walk. */
        double (*call)(const Evidence *e, const Joint *j, guint32 parent, guint32 call,
                       EvidenceBasis basis);
        /* Called before a chain. Turns chances of candidates without this kind into chances with
         * it. They sum to 1 for each call. */
        void (*refine)(Evidence *e, float *chance);

        /* For a kind whose ratio depends on the other families of the assignment. In the chain
         * these functions count instead of call(). place() adds a family. swap() replaces the
         * families of two parents; it returns the change of the log likelihood, in 1/LOG_UNIT.
         * undo() undoes the latest swap. */
        void (*place)(Evidence *e, const Family *f);
        gint64 (*swap)(Evidence *e, const Family f[2]);
        void (*undo)(Evidence *e);
        /* Finds the calls of two parents that belong together with one call: all of them have the
         * same parent. One of the two parents has the call. The result does not depend on which
         * parent has which call. Writes up to 2 * MOST_CHILDREN calls, in order. Returns their
         * number. */
        guint32 (*block)(Evidence *e, guint32 call, guint32 parent, guint32 other, guint32 *calls);
        /* Rejects what was learned about such calls, or lets it count again. Returns whether some
         * calls are known to belong together. These count in any case. */
        gboolean (*reject)(Evidence *e, gboolean rejected);
};

enum { EVIDENCE_MOST = 4 }; /* rows that there is room for */

/* The evidence of one node. */
typedef struct {
        Evidence *of[EVIDENCE_MOST]; /* by row of the table, n */
        guint n;
        Workers workers;
        ServingOrder order;
} EvidenceSet;

static inline gboolean evidence_counts(const Evidence *e)
{
        return e->watched && e->in_use && !e->rejected;
}

/* table: ends with NULL. n_callees: kinds of callees that the model has room for. */
void evidence_set_make(EvidenceSet *s, const EvidenceKind *const *table, guint32 n_callees);
void evidence_set_clear(EvidenceSet *s);

/* Writes to bytes, or reads from bytes into a set that was made of the same table. */
void evidence_set_bytes(EvidenceSet *s, Bytes *b);

void evidence_begin(EvidenceSet *s, const Joint *j);
void evidence_end(EvidenceSet *s);

/* Lets the evidence in use watch. Called before evidence_begin(), if nothing is learned. */
void evidence_watch_used(EvidenceSet *s);

/* Stops all evidence from watching, or only the evidence that is not in use. */
void evidence_unwatch(EvidenceSet *s);
void evidence_unwatch_unused(EvidenceSet *s);

/* Kinds that watch learn. */
void evidence_learn(const EvidenceSet *s, Joint *j, EvidenceStage stage);

/* What evidence has learned in rounds, to return to. */
typedef struct {
        gpointer of[EVIDENCE_MOST], order; /* NULL: it did not watch */
} SavedEvidence;

SavedEvidence evidence_save(const EvidenceSet *s);
void evidence_restore(EvidenceSet *s, const SavedEvidence *saved);
void saved_evidence_clear(SavedEvidence *saved);

/* The product of the ratios of a call. chain: leaves out kinds that have swap(). */
double evidence_call(const EvidenceSet *s, const Joint *j, guint32 parent, guint32 call,
                     EvidenceBasis basis, gboolean chain);
gboolean evidence_has_calls(const EvidenceSet *s); /* whether any kind that counts has call() */

/* Lets all kinds refine chances. */
void evidence_refine(const EvidenceSet *s, float *chance);
gboolean evidence_refines(const EvidenceSet *s);

/* Whether any kind that counts knows calls that belong together. evidence_reject_blocks() rejects
 * them, except known ones, or lets them count again. */
gboolean evidence_blocks(const EvidenceSet *s);
void evidence_reject_blocks(EvidenceSet *s, gboolean rejected);
