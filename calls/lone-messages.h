/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls without a return and returns without a call: the first 100,000 returns and the last 100,000
 * calls, by time. That is far more than the start and end of a capture cut.
 */
#pragma once

#include "tracefmt/message.h"

typedef struct {
        gint64 time; /* ns */
        NodeId caller, callee;
        NodeId observer; /* whose clock shows the time */
        gboolean is_return;
} LoneMessage;

typedef struct {
        GArray *list; /* of LoneMessage */
        guint n[2];   /* calls, returns */
} LoneMessages;

void lone_messages_init(LoneMessages *lone);
void lone_messages_clear(LoneMessages *lone); /* frees what it holds */

void lone_messages_add(LoneMessages *lone, const LoneMessage *message);

/* In no particular order. Borrowed. */
LoneMessage *lone_messages_list(LoneMessages *lone, guint *n);

/* Subtracts the offset of its clock from each stamp; ns, by NodeId. */
void lone_messages_move(LoneMessages *lone, const gint64 *offset);

void lone_messages_forget(LoneMessages *lone, gint64 before);
