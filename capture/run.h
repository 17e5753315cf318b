/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The generic rule: a run is a message. A run is what one side says until the other says something.
 * Runs of the side that calls are calls, those of the other side their returns. Where it is not
 * known who calls, or a run answers nothing, it is one-way. Only its end says that a run is
 * complete.
 *
 * The rule holds where no protocol is recognised, and for protocols that have records but no
 * messages (TLS): there a record of data belongs to a run. Where packets were cut, cut-run.h says
 * what a run is.
 */
#ifndef RAVEL_RUN_H
#define RAVEL_RUN_H

#include "capture/exchange-state.h"

/* n bytes of side, seen at stamp (NULL: by nobody), belong to its run. kind: of a run that begins
 * with them; KIND_BY_SIDE: as the generic rule says. */
void run_extend(Exchange *x, guint side, guint32 seq, guint64 n, MessageKind kind,
                const Stamp *stamp, Stamp now, const CaptureContext *context);

/* A segment of side: the first n bytes of length are at hand. */
void run_take(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n, gsize length,
              Stamp stamp, Stamp now, const CaptureContext *context);

/* No protocol has recognised the buffered bytes of side: they belong to its run. */
void run_take_buffer(Exchange *x, guint side, Stamp now, const CaptureContext *context);

/* A record of side with application data begins at seq. part: PartFlags. */
void run_record(Exchange *x, guint side, guint32 seq, guint part, Stamp now,
                const CaptureContext *context);

/* What a run of side is, or a segment of it, by its first n bytes of length. */
MessageKind run_kind_if_cut(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                            const CaptureContext *context);

/* The cut bytes of side were no message, and more may follow in the same run. */
void run_ignore_cut(Exchange *x, guint side, MessageKind kind, const CaptureContext *context);

/* Side ends. Where packets were cut, the client's last words may be a goodbye that nothing answers:
 * then they are no call. */
void run_end_by_goodbye(Exchange *x, guint side, const CaptureContext *context);

#endif
