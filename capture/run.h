/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The generic rule: a run is a message. A run is what one side says until the other says
 * something. Runs of the side that calls are calls, those of the other side their returns. If it
 * is not known who calls, or a run answers nothing, it is one-way. A run is complete when the
 * other side talks.
 *
 * The rule holds where no protocol is recognised. It holds for TLS, too, which has records but no
 * messages: a record of data belongs to a run. Where packets were cut, cut-run.h says what a run
 * is.
 */
#pragma once

#include "capture/exchange-state.h"

/* n bytes of side belong to its run. stamp: when they were seen; NULL: nobody saw them. kind: what
 * the run is if it begins here; KIND_BY_SIDE: as the generic rule says. */
void run_extend(Exchange *x, guint side, guint32 seq, guint64 n, MessageKind kind,
                const Stamp *stamp, Stamp now, const CaptureContext *context);

/* A segment of side belongs to its run. The first n of its length bytes are at hand. */
void run_take(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n, gsize length,
              Stamp stamp, Stamp now, const CaptureContext *context);

/* No protocol has recognised the buffered bytes of side: they belong to its run. */
void run_take_buffer(Exchange *x, guint side, Stamp now, const CaptureContext *context);

/* A record of side with application data begins at seq. part: PartFlags. */
void run_record(Exchange *x, guint side, guint32 seq, guint part, Stamp now,
                const CaptureContext *context);

/* What a run or a segment of side is, by the first n of its length bytes. */
MessageKind run_kind_if_cut(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                            const CaptureContext *context);

/* The cut bytes of side were no message, and more may follow in the same run. */
void run_ignore_cut(Exchange *x, guint side, MessageKind kind, const CaptureContext *context);

/* Side ends. Where packets were cut, the client's last words are no call if they can be a goodbye,
 * which nothing answers. */
void run_end_by_goodbye(Exchange *x, guint side, const CaptureContext *context);
