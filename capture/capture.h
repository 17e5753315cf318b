/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets in, messages out (paper, section 6): the stages of a capture in one place. A packet
 * goes through link layer, IP, and TCP or UDP to its connection. The connection's bytes become
 * messages. Calls are paired with their returns, and messages leave in the order of time. Only
 * open messages and connections are kept, and never any payload.
 */
#pragma once

#include "capture/learned-names.h"
#include "capture/network/node-names.h"
#include "capture/packet/account.h"
#include "capture/packet/identifiers.h"
#include "capture/protocol/protocol.h"
#include "capture/tls/key-log.h"
#include "tracefmt/message.h"

typedef enum {
        LABELS_NONE,
        LABELS_WORDS, /* what is vocabulary (operations.h) */
        LABELS_WHOLE, /* the whole route, numbers folded */
} CaptureLabels;

typedef struct {
        /* How long (ns, of the packets' time) the trace may wait for the end of a
         * message. A call that lasts longer is written without its duration; a
         * run of the generic rule that pauses for longer is over. */
        gint64 patience;
        /* How far packets may stand from the order of their stamps (ns). */
        gint64 disorder;
        CaptureLabels labels;     /* what to write of a call's operation, as label= */
        gboolean in_order;        /* a message that comes too late is stamped as the last one */
        const char *host;         /* the node on which the packets were captured, or NULL */
        Identifiers *identifiers; /* what to write as ids=, or NULL; borrowed */
        const TagRules *tags;     /* what to write as tags=, or NULL; borrowed */
        LearnedNames *learned;    /* where to note names that packets tell; borrowed, or NULL */
        KeyLog *keys;             /* of TLS connections; borrowed, or NULL */
        const Protocol **ports;   /* 65536, by server port, NULL where content decides; or NULL */
        gboolean named_by_proxy;  /* a caller is whom the PROXY protocol names */
        const guint8 *tunnels;    /* 65536, kinds by UDP port (tunnel.h), 0: by content; or NULL */
        guint64 memory; /* bytes that all may take that grows with packets; 0: the default */
} CaptureOptions;

#define CAPTURE_MEMORY G_GUINT64_CONSTANT(0x80000000)

#define CAPTURE_PATIENCE      (10 * G_GINT64_CONSTANT(1000000000))
#define CAPTURE_PATIENCE_LIVE (1 * G_GINT64_CONSTANT(1000000000))

/* Queues of a network card; several interfaces, each with its own buffer. */
#define CAPTURE_DISORDER      (10 * G_GINT64_CONSTANT(1000000))
#define CAPTURE_DISORDER_TAPS (200 * G_GINT64_CONSTANT(1000000))

/* What of a kind there may be in this memory, of which `most` may be in CAPTURE_MEMORY. */
guint capture_share(guint64 memory, guint most);

typedef struct Capture Capture;

/* Everything is borrowed and must outlive the capture; options are copied. */
Capture *capture_new(const CaptureOptions *options, NodeTable *nodes, NodeNames *names);
void capture_free(Capture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Capture, capture_free)

void capture_add(Capture *capture, const Packet *packet);

/* Time has passed without packets: it is now at least time (ns). */
void capture_idle(Capture *capture, gint64 time);

/* No more packets come. */
void capture_finish(Capture *capture);

/* The next message that is ready, in order. Its id and attributes are valid
 * until the next call. FALSE where there is none yet. */
gboolean capture_next(Capture *capture, Message *message);

/* Whether the last message of capture_next() is no return, but the end of a call without one. */
gboolean capture_call_ended(const Capture *capture);

/* What is doubtful (Doubt) of what was found since the last time, and the calls of each edge
 * (EdgeCalls). */
void capture_weigh(Capture *capture, GArray *doubts, GArray *edges);

/* The time of the latest packet, NO_TIME before the first. */
gint64 capture_time(const Capture *capture);

Account *capture_account(Capture *capture);
