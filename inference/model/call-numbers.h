/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How many calls to some callees a parent of a kind makes, where that is always the same number.
 * Examples are one look-up in a cache, or one BEGIN. The number shows before any parent is known.
 * At any time, the calls made so far are at most all calls that the parents entered so far will
 * make. They are at least all calls that the parents replied so far must have made. If the number
 * is wrong, or parents of a kind differ, the curve of calls leaves this band at some time.
 */
#pragma once

#include "base/bytes.h"
#include "inference/inference.h"

enum { NO_NUMBER = 0xff };

/* Sets of callees with known numbers. Kinds and callees, NUMBERS_KINDS at most, are the ones that
 * existed when the numbers were found. Nothing is known about later ones. */
typedef struct {
        guint32 n_kinds, n_callees, n_sets;
        guint8 *member; /* by set and callee: whether it is one of the set */
        guint8 *number; /* by set and kind of parent; NO_NUMBER: it varies, or is not known */
} CallNumbers;

void call_numbers_init(CallNumbers *n, guint32 n_kinds, guint32 n_callees);
void call_numbers_clear(CallNumbers *n);

/* Writes to bytes, or reads from bytes into numbers that are not initialised yet. */
void call_numbers_bytes(CallNumbers *n, Bytes *b);

/* Whether a parent of this kind breaks any number by one call more, or by its reply. made: the
 * calls that it has made, by callee. O(sets * callees). */
gboolean call_numbers_break_by_call(const CallNumbers *n, guint32 kind, const guint32 *made,
                                    guint32 callee);
gboolean call_numbers_break_by_reply(const CallNumbers *n, guint32 kind, const guint32 *made);

/* The events of a node that numbers are found from. */
typedef struct CallCurve CallCurve;

/* kind: by call into the node. callee: by call out of the node. Both are borrowed, and so is the
 * node. stretch: the number of consecutive parents in a stretch. Between stretches other parents
 * may have been left out; 0: none were. */
CallCurve *call_curve_new(const NodeProblem *node, const guint32 *kind, guint32 n_kinds,
                          const guint32 *callee, guint32 stretch);
void call_curve_free(CallCurve *c);

/* Finds the numbers of the calls to a set of callees, and adds the set if any number is known.
 * member: by callee. Does nothing where a number would not show, or the work has become too much.
 * Returns whether the set was added. */
gboolean call_numbers_find(CallNumbers *n, CallCurve *c, const guint8 *member);
