/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Kinds of evidence on who made a call, besides the walk of a parent (parent-walk.h). A kind is one
 * file, inference/evidence/evidence-NAME.c, and one row of the table in evidence-table.c. A row says what
 * the kind learns of a node, how much likelier or less likely it makes a parent with given
 * children, and whether that was worth anything at this node. A function that a kind does not need
 * is NULL.
 *
 * What a kind learned is an object in the node's model, from problem to problem; a kind with more
 * to keep has a struct that begins with Evidence.
 */
#ifndef RAVEL_EVIDENCE_H
#define RAVEL_EVIDENCE_H

#include <glib.h>

#include "base/bytes.h"
#include "inference/model/joint.h"

typedef struct EvidenceKind EvidenceKind;

enum { MOST_CHILDREN = 48 }; /* the chain leaves parents with more children alone */

/* An output of the node, a call or a reply, as one parent would make it. Its delay counts since the
 * trigger, an earlier event of the same parent. */
typedef struct {
        guint32 output; /* number, in order of time: Problem.output */
        guint32 parent;
        guint32 class; /* the kind of the trigger and its own kind: trellis_class() */
        guint32 row;   /* of the densities of its delay */
        gint64 trigger;
} PlacedOutput;

/* A family: a parent with the children that it is given (family.h). */
typedef struct {
        guint32 parent, n;
        guint32 child[MOST_CHILDREN];         /* in order of start */
        gint32 log;                           /* the log likelihood of its walk, in 1/LOG_UNIT */
        PlacedOutput made[MOST_CHILDREN + 1]; /* by child, then the reply */
} Family;

typedef struct {
        const EvidenceKind *kind;
        gboolean watched;  /* it is told what the trellis and the chain find in this problem */
        gboolean in_use;   /* and what it says counts. The kind sets all of these */
        gboolean ties;     /* it knows calls that hang together: block() */
        gboolean refuted; /* the parents that it found did not bear it out: it does not count */
        gboolean by_chain; /* by it the chain finds parents that beliefs do not come to */
} Evidence;

/* What the ratio of a call may go by, of the other calls. */
typedef enum {
        BY_EARLIER_CALLS, /* the assignment of calls that start earlier (Joint.assignment) */
        BY_ASSIGNMENT,    /* the whole assignment */
        BY_BELIEFS,       /* beliefs (Joint.beliefs) */
} EvidenceBasis;

struct EvidenceKind {
        const char *name;

        /* --- what it learns --- */

        /* Makes the object: nothing is known. NULL: an Evidence and no more. */
        Evidence *(*make)(const NodeModel *model);
        void (*free)(Evidence *e);
        /* Keeps what was counted for later problems; half: with half the weight. */
        void (*keep)(Evidence *e, gboolean half);
        /* What was learned, to bytes or from them (bytes.h). NULL: there is nothing. */
        void (*bytes)(Evidence *e, Bytes *b);

        /* --- one node problem, or a part of it --- */

        /* Its calls and candidates are known. Leaves out candidates that cannot have made their
         * call: problem_keep_candidates(). */
        void (*narrow)(Evidence *e, Joint *j);
        /* Its calls, candidates and outputs are known, and no parent. */
        void (*begin)(Evidence *e, const Joint *j);
        void (*end)(Evidence *e);

        /* --- learning, in this order --- */

        /* There is a first assignment, and nothing is learned of walks. The kind tries what it
         * supposes (joint_judge()), and keeps it or not. It may reset the walks. */
        void (*try_first)(Evidence *e, Joint *j);
        /* The walks were learned anew from an assignment of calls. */
        void (*round)(Evidence *e, Joint *j);
        /* Beliefs have nearly settled, or a model goes on: the kind may begin to watch. */
        void (*watch)(Evidence *e, const Joint *j);
        /* Beliefs are learned. The kind tries itself with the chain (rounds.h). TRUE: it stays in
         * use, and the model has been learned with it; FALSE: all is as it was. */
        gboolean (*try_last)(Evidence *e, Joint *j);
        /* The assignment is the truth. */
        void (*learn_truth)(Evidence *e, Joint *j);
        /* A round of a later problem, with a model that goes on. */
        void (*learn)(Evidence *e, Joint *j);
        /* A part of a problem is decided by what was learned, and beliefs have begun: finds parents
         * to go on from (Scores.learned) where beliefs do not come to good ones. */
        void (*find)(Evidence *e, Joint *j);
        /* What rounds have taught it so far, to be freed with g_free(); goes back to that. For a
         * try that fails. */
        gpointer (*save)(const Evidence *e);
        void (*restore)(Evidence *e, gconstpointer saved);
        /* Forgets what it noted of the present outputs; keeps what it learned. */
        void (*forget)(Evidence *e);

        /* --- the likelihood: asked only if watched and in use --- */

        /* When the parent began: its first delay counts since then. The default is its entry. Call
         * joint_find_starts() when it changes. */
        gint64 (*start)(const Evidence *e, const Joint *j, guint32 parent);
        /* The number of workers that serve a queue of the node; 0: no bound. */
        guint32 (*n_workers)(const Evidence *e);
        /* Whether parents do in the assignment what it supposes of them. */
        gboolean (*borne_out)(const Evidence *e, Joint *j);
        /* The ratio of likelihoods if this parent made this call: once a call for each run of the
         * trellis and of a walk. 1: it says nothing. Positive and finite. */
        double (*call)(const Evidence *e, const Joint *j, guint32 parent, guint32 call,
                       EvidenceBasis basis);
        /* The same for an output with its trigger: for edges of the trellis. It may not go by the
         * row, as it is asked once for edges that differ in that alone. */
        double (*output)(const Evidence *e, const PlacedOutput *o);
        /* Told if watched: after a run of the trellis, each output with its share. First clear()
         * for each output that the parent may have noted in a run before. */
        void (*clear)(Evidence *e, guint32 output, guint32 parent);
        void (*note)(Evidence *e, const PlacedOutput *o, double share);

        /* --- the chain: a kind whose ratio depends on the other families of the assignment.
         * It speaks by these and not by call() --- */

        /* A chain begins, or the model has changed. Then seat() tells each family; no ratio is
         * asked for. */
        void (*begin_chain)(Evidence *e);
        void (*seat)(Evidence *e, const Family *f);
        /* Two families are to replace those of their parents. Returns the change of the log
         * likelihood, in 1/LOG_UNIT. back() undoes the latest one. */
        gint64 (*put)(Evidence *e, const Family f[2]);
        void (*back)(Evidence *e);
        /* Before a chain: given the chances of candidates without this kind, which sum to 1 for
         * each call, finds those with it. */
        void (*refine)(Evidence *e, float *chance);
        /* Finds the calls of two parents, of which one has the call, that hang together with it:
         * whoever made one of them made the others, too. The same calls whichever of the two has
         * which of them. Writes up to 2 * MOST_CHILDREN calls, in order; returns their number. */
        guint32 (*block)(Evidence *e, guint32 call, guint32 parent, guint32 other, guint32 *calls);
        /* What was learned of such calls counts no more, or again. Returns whether any are known to
         * hang together, which count in any case. */
        gboolean (*doubt)(Evidence *e, gboolean doubted);
};

enum { EVIDENCE_MOST = 16 }; /* rows that there is room for */

/* What is known of one node, by row of the table. */
typedef struct {
        Evidence *of[EVIDENCE_MOST];
        guint n;
} EvidenceSet;

static inline gboolean evidence_counts(const Evidence *e)
{
        return e->watched && e->in_use && !e->refuted;
}

void evidence_set_make(EvidenceSet *s, const EvidenceKind *const *table, const NodeModel *model);
void evidence_set_clear(EvidenceSet *s);
void evidence_set_keep(EvidenceSet *s, gboolean half);

/* To bytes; or back, into a set that was made of the same table. */
void evidence_set_bytes(EvidenceSet *s, Bytes *b);

void evidence_narrow(EvidenceSet *s, Joint *j);
void evidence_begin(EvidenceSet *s, const Joint *j);
void evidence_end(EvidenceSet *s);

void evidence_try_first(EvidenceSet *s, Joint *j);
void evidence_round(EvidenceSet *s, Joint *j);
/* What kinds have learned by rounds, each to be freed with g_free() or NULL; goes back to that. */
void evidence_save(const EvidenceSet *s, gpointer saved[EVIDENCE_MOST]);
void evidence_restore(EvidenceSet *s, const gpointer saved[EVIDENCE_MOST]);
void evidence_watch(EvidenceSet *s, const Joint *j);
gboolean evidence_try_last(EvidenceSet *s, Joint *j); /* whether any kind kept itself */
void evidence_learn_truth(EvidenceSet *s, Joint *j);
void evidence_learn(EvidenceSet *s, Joint *j);
void evidence_find(EvidenceSet *s, Joint *j);
void evidence_forget(EvidenceSet *s);
void evidence_refine(const EvidenceSet *s, float *chance);

/* Before evidence_begin(), where nothing is learned: what is in use watches. */
void evidence_watch_used(EvidenceSet *s);

/* No kind watches; or no kind that is not in use. */
void evidence_unwatch(EvidenceSet *s);
void evidence_unwatch_unused(EvidenceSet *s);

/* The number of workers that evidence in use says the node has; 0: no bound, or not known. */
guint32 evidence_n_workers(const EvidenceSet *s);

/* Whether the assignment bears out all evidence that counts. */
gboolean evidence_borne_out(const EvidenceSet *s, Joint *j);

/* Whether a kind was not borne out by the parents that were learned with it, and is not supposed. */
gboolean evidence_is_refuted(const EvidenceSet *s);

/* The start of a parent that entered at this time. */
gint64 evidence_start(const EvidenceSet *s, const Joint *j, guint32 parent, gint64 enter);

/* The product of the ratios of a call. chain: without kinds that speak by put(). */
double evidence_call(const EvidenceSet *s, const Joint *j, guint32 parent, guint32 call,
                     EvidenceBasis basis, gboolean chain);

/* Whether any kind that counts has a function of call(), or of output(). */
gboolean evidence_has_calls(const EvidenceSet *s);
gboolean evidence_has_outputs(const EvidenceSet *s);
gboolean evidence_refines(const EvidenceSet *s);

/* Whether the chain finds parents, by any kind that counts, that beliefs do not come to. */
gboolean evidence_by_chain(const EvidenceSet *s);

/* Whether any kind that counts knows calls that hang together; and says of all kinds that do whether
 * they are refuted, but for what is known of them. */
gboolean evidence_blocks(const EvidenceSet *s);
void evidence_refute_blocks(EvidenceSet *s, gboolean refuted);

/* Whether any kind that counts speaks by put(). */
gboolean evidence_ties(const EvidenceSet *s);

#endif
