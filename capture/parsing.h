/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Drives a protocol's parser over the bytes of each direction. It begins and ends messages as
 * the parser says. It keeps bytes that the parser wants to see again, and passes over bytes that
 * the parser need not see. After a hole or a cut it finds the way back.
 */
#pragma once

#include "capture/exchange-state.h"

/* Bytes of one side, shown to its parser. */
typedef struct {
        const guint8 *bytes;
        gsize n, at;   /* how many there are; how many are settled */
        gsize old;     /* this many at the beginning arrived with an earlier segment */
        gboolean cut;  /* the bytes that follow were cut off */
        guint32 seq;   /* of the first */
        Stamp stamp;   /* of the last */
        guint refused; /* how many boundaries among them were none */
} Stretch;

/* Which side a sender is (Sender), as far as it is known. */
guint8 parsing_sender(const Exchange *x, guint side);

/* How many of the bytes were taken: all, or up to where the connection speaks something else. */
gsize parsing_bytes(Exchange *x, guint side, Stretch *b, const CaptureContext *context);

/* Whether side may send what was recognised. Who opened the connection is the client. */
gboolean parsing_may_send(const Exchange *x, guint side, const Protocol *protocol,
                          const Parsed *parsed);

/* The trial is over, if there is one (choice.h). If bytes were refused the choice is taken back. */
void parsing_end_trial(Exchange *x, const CaptureContext *context);

/* Passes over bytes that the parser need not see. How many of the n bytes they are. The first seen
 * of them are at hand. */
gsize parsing_skip(Exchange *x, guint side, const guint8 *bytes, gsize seen, gsize n, Stamp stamp,
                   const CaptureContext *context);

/* After the bytes that the parser has seen, n bytes of side were cut off. How many were taken, as
 * parsing_bytes() says it. */
gsize parsing_hidden(Exchange *x, guint side, guint32 seq, gsize n, Stamp stamp,
                     const CaptureContext *context);

/* More bytes of a side whose message goes on to the end of its run (ExchangeSide.by_run). */
void parsing_cut_goes_on(Exchange *x, guint side, const guint8 *bytes, gsize n, gsize length,
                         Stamp stamp, const CaptureContext *context);

/* length bytes of side, from seq on, were cut after the first n, where the parser must see them.
 * The open message goes on to the end of the run. If none is open, or its kind is not known, the
 * bytes begin one. */
void parsing_cut(Exchange *x, guint side, guint32 seq, const guint8 *bytes, gsize n, gsize length,
                 Stamp stamp, const CaptureContext *context);

/* Whether side is about to answer a call that was a run. No parser can tell what its answer is. */
gboolean parsing_answers_run(const Exchange *x, guint side);

/* A message of this kind begins on side. If the other side's message goes on to the end of its run,
 * it ends here. */
void parsing_turn(Exchange *x, guint side, MessageKind kind, Stamp now,
                  const CaptureContext *context);

/* The order of messages of side is lost. A message whose kind is known goes on until the next
 * boundary, or until the other side talks. */
void parsing_lose(Exchange *x, guint side, const CaptureContext *context);

/* Whether each call of the connection is owed a return: a parser has told what is a call, and what
 * says goodbye. Where both sides call, what was delivered is not always acknowledged. */
gboolean parsing_owes_returns(const Exchange *x);

/* Side will send no more: the parser's last word on its open message. */
void parsing_end(Exchange *x, guint side, Stamp stamp, const CaptureContext *context);

/* The protocol forgets the connection. */
void parsing_forget(Exchange *x);
