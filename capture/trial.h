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

enum { MAX_TURNS = 16 };

typedef struct {
        CapturedMessage *messages; /* calls and one-way messages, 1,024 at most; owned */
        guint n_messages, n_turns;
        guint8 doubted; /* bytes were refused */
        Turn turns[MAX_TURNS];
        guint64 before[]; /* what choice.c puts back */
} Trial;

/* before: of n bytes, copied. */
Trial *trial_new(gconstpointer before, gsize n);
void trial_free(Trial *trial); /* and what its messages own */

/* n more bytes of side. FALSE: there were too many runs. */
gboolean trial_see(Trial *trial, guint side, guint32 seq, gsize n, Stamp first, Stamp last);

/* Keeps a message. FALSE: there are too many. */
gboolean trial_keep(Trial *trial, const CapturedMessage *message);
