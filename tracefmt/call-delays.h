/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the attributes of a call and its return say of delays on the way (docs/trace-format.md).
 */
#pragma once

#include "tracefmt/attributes.h"

/* ns. Less time from the first byte to the last is no delay: it belongs to the callee. */
#define LEAST_SPAN G_GINT64_CONSTANT(1000000)

/* The sender of a message sees it as it is sent, the receiver as it comes. */
enum { AT_SENDER, AT_RECEIVER, N_ENDS };

/* Delays of one message, ns. */
typedef struct {
        gint64 span[N_ENDS];     /* from its first byte to its last; 0: not seen, or short */
        gint64 stall, shut, ack; /* parts: bytes were held up, and of that the window was shut; the
                                    sender waited for a delayed acknowledgement */
        gint64 pause;            /* another part: the sender had nothing to send */
        gint64 again; /* since its last byte (of a call), or after it (of a return), until bytes of
                         it were last sent again */
} LegDelays;

/* All in ns. 0: none, or not known. */
typedef struct {
        LegDelays call, ret;
        gint64 opened;          /* of the first call of a connection: since its SYN */
        gint64 tcp, tls, login; /* parts of opened; tcp of 0: what the others leave */
        gint64 syn_again;       /* the part of tcp until the SYN was last sent again */
} CallDelays;

/* Whether a call or return with these attributes has delays. */
static inline gboolean attributes_have_delays(const Attributes *a)
{
        return a->dur >= LEAST_SPAN || (a->syn | a->stall | a->ack | a->resent | a->again) != 0;
}

/* Adds those of a call, or of a return, that was seen as op. */
void call_delays_add(CallDelays *delays, MessageOp op, const Attributes *attributes);
