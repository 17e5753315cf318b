/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is kept of a connection while its protocol is on trial (choice.h): the runs that were seen,
 * and the messages that the parser found in them.
 */
#pragma once

#include "capture/network/sequencer.h"

/* A run of side: when it was seen, and where its bytes stand. */
typedef struct {
        Stamp first, last;
        guint64 bytes;
        guint32 seq; /* of the first byte */
        guint8 side;
} Turn;

typedef struct {
        GArray *turns;    /* Turn, 16 at most */
        GArray *messages; /* CapturedMessage, calls and one-way messages, 1,024 at most */
        gpointer before;  /* what choice.c puts back; owned */
        guint8 doubted;   /* bytes were refused */
} Trial;

Trial *trial_new(gpointer before);
void trial_free(Trial *trial); /* and what its messages own */

/* n more bytes of side. FALSE: there were too many runs. */
gboolean trial_see(Trial *trial, guint side, guint32 seq, gsize n, Stamp first, Stamp last);

/* Keeps a message. FALSE: there are too many. */
gboolean trial_keep(Trial *trial, const CapturedMessage *message);
