/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A protocol on trial. It was recognised by the bytes of one side, or --proto named it, and nothing
 * of the other side has fitted yet. Until something does, the messages that the parser finds are
 * kept, with the runs that they are made of (trial.h). Then either the trial is passed, and the
 * messages are given out. Or the choice is taken back (parsing.h): the messages are dropped, and
 * the runs are messages by the generic rule (run.h).
 *
 * An open item holds the sequencer at the first run. When it is overdue the trial ends.
 */
#pragma once

#include "capture/pairing.h"
#include "capture/trial.h"

/* A trial begins, unless there is one. */
void choice_try(Pairing *p);

/* n more bytes of side. FALSE: the trial has lasted for too many runs. */
gboolean choice_see(Pairing *p, guint side, guint32 seq, gsize n, Stamp first, Stamp last,
                    const CaptureContext *context);

/* A call that waited when the trial began is given out in it. */
void choice_include_call(Pairing *p);

/* The trial is over, the messages are dropped, and the pairing is as it was; but if the role is
 * certain it stays. No message may be open. The caller frees the trial, and closes the item. */
Trial *choice_undo(Pairing *p, gboolean role_is_certain, const CaptureContext *context);
