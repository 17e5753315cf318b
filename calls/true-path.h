/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The true position of a call (paper, section 7.5.1): path=17.1.2 is the second child of the first
 * child of request 17. Both messages of a call have it.
 *
 * Messages are still matched by the matcher of calls. There a position becomes part of the id,
 * since ids may be missing or repeat where positions do not.
 */
#pragma once

#include "tracefmt/attributes.h"

/* Messages with path=. */
typedef struct {
        guint64 calls, returns;
        guint64 returns_without; /* they cannot match a call that has it */
} TruePathCounts;

/* Puts the message's path= before its id, so that a call and its return match by both. The id lies
 * in key until the next message. */
void true_path_join(Message *message, AttributeText path, GString *key, TruePathCounts *counts);

/* How long the path is that such an id begins with, 0 where there was none; a blank follows it. */
guint32 true_path_length(const char *id, guint32 length);
