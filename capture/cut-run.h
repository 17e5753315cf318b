/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a run is if the snapshot length has left only a few bytes of its packets, or none.
 *
 * Lengths are in the headers, so the generic rule (run.h) needs no bytes. A few bytes can say
 * otherwise. A login belongs to the session, and "100 Continue" is no return. In SMTP and other
 * protocols of commands and reply codes many runs make one mail. On a connection of HTTP/2 many
 * calls are under way at a time, so that its runs are one-way. If a server greets and no byte is
 * there, runs are one-way, too: it may be SMTP.
 *
 * Two bytes are enough for all this. A snapshot length of 68 leaves two of a TCP segment with
 * timestamps on Ethernet.
 */
#pragma once

#include "capture/protocol/protocol.h"

typedef enum {
        TALK_UNKNOWN, /* runs are calls and returns, and so in the next three */
        TALK_PLAIN,
        TALK_TLS,            /* where they are of application data */
        TALK_MYSQL_LOGIN,    /* after the login */
        TALK_POSTGRES_START, /* what may be a start was sent */
        TALK_POSTGRES_LOGIN,
        TALK_MAIL,    /* SMTP, parsed where its bytes are seen */
        TALK_ONE_WAY, /* runs are no calls */
} CutTalkKind;

/* What is known of a connection. All zero before its first run. */
typedef struct {
        guint8 kind;      /* CutTalkKind */
        guint8 runs;      /* how many were seen, 255 at most */
        guint8 called;    /* TLS: the client has sent data */
        guint8 preface;   /* the client began as one of HTTP/2, */
        guint8 frames;    /* and the server */
        guint8 http;      /* the server's last run may be an interim response of HTTP */
        guint8 begins[2]; /* the first bytes of the last run of the side that calls */
        guint8 has_begins;
        guint8 is_full; /* the last segment of that side is as long as segments get */
} CutTalk;

/* The first segment of a run, in TLS any segment. */
typedef struct {
        const guint8 *bytes;
        gsize n, length; /* at hand, on the wire */
        gboolean calls;  /* its side calls */
        gboolean start_seen;
} CutSegment;

/* KIND_BY_SIDE: a call or a return. KIND_SESSION, KIND_ONE_WAY. KIND_INTERIM, KIND_CONTROL: no
 * message, and no run: what the other side said goes on. before: what a run of the other side
 * that was taken for a call or a return was instead, else left alone. */
MessageKind cut_run_kind(CutTalk *talk, const CutSegment *segment, MessageKind *before);

/* Whether a segment has the length of "100 Continue", and too few bytes to tell. */
gboolean cut_run_may_be_interim(const CutSegment *segment);

/* Whether a later segment of a call may be another call. It is if the segment before had room
 * for more, and it begins as the first did or has no bytes. n bytes are at hand. */
gboolean cut_run_repeats(const CutTalk *talk, const guint8 *bytes, gsize n);

/* A segment of the side that calls, after cut_run_repeats(). */
void cut_run_see(CutTalk *talk, gsize length);

/* Whether the last n bytes of a client may be a goodbye, which nothing answers. */
gboolean cut_run_is_goodbye(gsize n);
