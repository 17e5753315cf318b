/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How many calls of some callees a parent of a kind makes, where that is always the same number:
 * one look-up in a cache, one BEGIN. It shows before any parent is known. Whoever made which, the
 * calls made so far are no more than all that the parents that have entered will make, and no fewer
 * than all that the parents that have replied must have made. With other numbers, or where parents
 * of a kind differ, the curve of calls leaves this band sooner or later.
 */
#ifndef RAVEL_CALL_NUMBERS_H
#define RAVEL_CALL_NUMBERS_H

#include "base/bytes.h"
#include "inference/inference.h"

enum { NO_NUMBER = 0xff };

/* Sets of callees of which numbers are known. Kinds and callees, NUMBERS_KINDS at most, are those
 * that there were when they were found; of later ones nothing is known. */
typedef struct {
        guint32 n_kinds, n_callees, n_sets;
        guint8 *member; /* by set and callee: whether it is one of the set */
        guint8 *number; /* by set and kind of parent; NO_NUMBER: not always the same, or not known
                         */
} CallNumbers;

void call_numbers_init(CallNumbers *n, guint32 n_kinds, guint32 n_callees);
void call_numbers_clear(CallNumbers *n);

/* To bytes; or back, into what is not initialised yet. */
void call_numbers_bytes(CallNumbers *n, Bytes *b);

/* Whether a parent of this kind that has made so many calls, by callee, breaks any of these numbers
 * by one call more; or by its reply. O(sets * callees). */
gboolean call_numbers_break_by_call(const CallNumbers *n, guint32 kind, const guint32 *made,
                                    guint32 callee);
gboolean call_numbers_break_by_reply(const CallNumbers *n, guint32 kind, const guint32 *made);

/* What happens at a node. */
typedef struct CallCurve CallCurve;

/* kind: by call into the node. callee: by call out of it. Both are borrowed, and so is the node.
 * stretch: between so many parents that follow each other others may have been left out; 0: none
 * were. */
CallCurve *call_curve_new(const NodeProblem *node, const guint32 *kind, guint32 n_kinds,
                          const guint32 *callee, guint32 stretch);
void call_curve_free(CallCurve *c);

/* Finds the numbers of the calls of a set of callees, and adds the set if any is known. member: by
 * callee. Does nothing where that would not show, or has become too much work. Returns whether it
 * was added. */
gboolean call_numbers_find(CallNumbers *n, CallCurve *c, const guint8 *member);

#endif
