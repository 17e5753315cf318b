/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Drives a protocol's parser over the bytes of each direction: begins and ends messages, keeps what
 * the parser has yet to settle, passes over what it need not see, and finds the way back after a
 * hole or a cut.
 */
#ifndef RAVEL_PARSING_H
#define RAVEL_PARSING_H

#include "capture/exchange-state.h"

/* Bytes of one side, shown to its parser. */
typedef struct {
        const guint8 *bytes;
        gsize n, at;   /* how many there are, and how many are settled */
        gsize old;     /* the first of them were buffered: they arrived with an earlier segment */
        gboolean cut;  /* what follows them was cut off */
        guint32 seq;   /* of the first */
        Stamp stamp;   /* of the last */
        guint refused; /* boundaries among them that were none */
} Stretch;

/* How many of the bytes were taken: all, or up to where the connection speaks something else. */
gsize parsing_bytes(Exchange *x, guint side, Stretch *b, const CaptureContext *context);

/* Passes over what the parser need not see. How many of n bytes that were. */
gsize parsing_skip(Exchange *x, guint side, gsize n, Stamp stamp, const CaptureContext *context);

/* n bytes of side were cut off, after what its parser has seen. How many were taken, as
 * parsing_bytes() says it. */
gsize parsing_hidden(Exchange *x, guint side, guint32 seq, gsize n, Stamp stamp,
                     const CaptureContext *context);

/* More of a run that is cut. */
void parsing_cut_goes_on(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                         Stamp stamp, const CaptureContext *context);

/* The first n bytes of length, from seq on, are cut where the parser must see them: the open
 * message goes on to the end of the run. Where none is open, or its kind is not known, they begin
 * one. */
void parsing_cut(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n, gsize length,
                 Stamp stamp, const CaptureContext *context);

/* Whether side is about to answer a call that was a run: no parser can tell what its answer is. */
gboolean parsing_answers_run(const Exchange *x, guint side);

/* A message of this kind begins on side. Where the other side's message goes on to the end of its
 * run, that ends here. */
void parsing_turn(Exchange *x, guint side, MessageKind kind, Stamp now,
                  const CaptureContext *context);

/* The order of messages of side is lost. A message whose kind is known goes on until the next
 * boundary, or until the other side talks. */
void parsing_lose(Exchange *x, guint side, const CaptureContext *context);

/* Side will send no more: the parser's last word on its open message. */
void parsing_end(Exchange *x, guint side, Stamp stamp, const CaptureContext *context);

/* The protocol forgets the connection. */
void parsing_forget(Exchange *x);

#endif
