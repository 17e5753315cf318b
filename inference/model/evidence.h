/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Evidence on who made a call, besides the walk of a parent (parent-walk.h). A kind is one file,
 * inference/evidence/evidence-NAME.c, and one row of the table in evidence-table.c. A row says what
 * the kind learns of a node, and how much likelier or less likely it makes a parent with given
 * children. A function that a kind does not need is NULL.
 *
 * What a kind learned is an object in the node's model, from problem to problem; a kind with more
 * to keep has a struct that begins with Evidence. Workers and serving order are evidence of other
 * forms: a parent's start, and outputs that depend on each other. Whoever needs them calls them by
 * name.
 */
#ifndef RAVEL_EVIDENCE_H
#define RAVEL_EVIDENCE_H

#include "inference/model/joint.h"
#include "inference/model/placed-family.h"
#include "inference/model/serving-order.h"
#include "inference/model/workers.h"

typedef struct EvidenceKind EvidenceKind;

typedef struct {
        const EvidenceKind *kind;
        gboolean watched;  /* it is told what the chain finds in this problem */
        gboolean in_use;   /* and what it says counts. The kind sets all of these */
        gboolean ties;     /* it knows calls that hang together: block() */
        gboolean rejected; /* the parents found with it are not consistent: it does not count */
} Evidence;

/* What the ratio of a call may go by, of the other calls. */
typedef enum {
        BY_EARLIER_CALLS, /* the assignment of calls that start earlier (Joint.assignment) */
        BY_ASSIGNMENT,    /* the whole assignment */
        BY_BELIEFS,       /* beliefs (Joint.beliefs) */
} EvidenceBasis;

/* What evidence learns from. */
typedef enum {
        FIRST_PARENTS, /* the first assignment; nothing is learned of walks */
        ROUND_PARENTS, /* an assignment that walks were learned from */
        NEAR_BELIEFS,  /* beliefs that have nearly settled, or a model that goes on */
        CHAIN_PARENTS, /* the assignment that a chain begins with */
        TRUE_PARENTS,
} EvidenceStage;

struct EvidenceKind {
        const char *name;

        /* Makes the object: nothing is known. NULL: an Evidence and no more. free: what it has. */
        Evidence *(*make)(void);
        void (*free)(Evidence *e);
        /* What was learned, to bytes or from them (bytes.h). NULL: there is nothing. */
        void (*bytes)(Evidence *e, Bytes *b);

        /* One node problem, or a part of it: calls, candidates and outputs are known, no parent. */
        void (*begin)(Evidence *e, const Joint *j);
        void (*end)(Evidence *e);

        /* Called if it watches. CHAIN_PARENTS: also that place() will tell each family. */
        void (*learn)(Evidence *e, Joint *j, EvidenceStage stage);
        /* What it has learned, to be freed with g_free(); goes back to that after a failed try. */
        gpointer (*save)(const Evidence *e);
        void (*restore)(Evidence *e, gconstpointer saved);

        /* The ratio of likelihoods if this parent made this call: once a call for each run of the
         * trellis and of a walk. 1: it says nothing. Positive and finite. */
        double (*call)(const Evidence *e, const Joint *j, guint32 parent, guint32 call,
                       EvidenceBasis basis);
        /* Before a chain: given the chances of candidates without this kind, which sum to 1 for
         * each call, finds those with it. */
        void (*refine)(Evidence *e, float *chance);

        /* The chain, for a kind whose ratio depends on the other families of the assignment. There
         * it speaks by these, not by call().
         * Two families are to replace those of their parents: returns the change of the log
         * likelihood, in 1/LOG_UNIT. undo() undoes the latest swap. */
        void (*place)(Evidence *e, const Family *f);
        gint64 (*swap)(Evidence *e, const Family f[2]);
        void (*undo)(Evidence *e);
        /* Finds the calls of two parents, of which one has the call, that hang together with it:
         * whoever made one of them made the others, too. The same calls whichever of the two has
         * which of them. Writes up to 2 * MOST_CHILDREN calls, in order; returns their number. */
        guint32 (*block)(Evidence *e, guint32 call, guint32 parent, guint32 other, guint32 *calls);
        /* What was learned of such calls is rejected, or counts again. Returns whether any are
         * known to hang together, which count in any case. */
        gboolean (*reject)(Evidence *e, gboolean rejected);
};

enum { EVIDENCE_MOST = 4 }; /* rows that there is room for */

/* What is known of one node. */
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

/* To bytes; or back, into a set that was made of the same table. */
void evidence_set_bytes(EvidenceSet *s, Bytes *b);

void evidence_begin(EvidenceSet *s, const Joint *j);
void evidence_end(EvidenceSet *s);

/* Before evidence_begin(), where nothing is learned: what is in use watches. */
void evidence_watch_used(EvidenceSet *s);

/* Nothing watches; or nothing that is not in use. */
void evidence_unwatch(EvidenceSet *s);
void evidence_unwatch_unused(EvidenceSet *s);

/* Kinds that watch learn. */
void evidence_learn(const EvidenceSet *s, Joint *j, EvidenceStage stage);

/* What rounds have taught; goes back to that. */
typedef struct {
        gpointer of[EVIDENCE_MOST], order; /* NULL: it did not watch */
} SavedEvidence;

SavedEvidence evidence_save(const EvidenceSet *s);
void evidence_restore(EvidenceSet *s, const SavedEvidence *saved);
void saved_evidence_clear(SavedEvidence *saved);

/* The product of the ratios of a call. chain: without kinds that speak by swap(). */
double evidence_call(const EvidenceSet *s, const Joint *j, guint32 parent, guint32 call,
                     EvidenceBasis basis, gboolean chain);
gboolean evidence_has_calls(const EvidenceSet *s); /* whether any kind has a say there */

/* Lets all kinds refine chances. */
void evidence_refine(const EvidenceSet *s, float *chance);
gboolean evidence_refines(const EvidenceSet *s);

/* Whether any kind that counts knows calls that hang together; rejects all that do, but for what is
 * known, or takes that back. */
gboolean evidence_blocks(const EvidenceSet *s);
void evidence_reject_blocks(EvidenceSet *s, gboolean rejected);

/* Whether anything that counts speaks by swap(). */
gboolean evidence_swaps(const EvidenceSet *s);

#endif
