/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Puts clocks right before messages are paired. Messages come out in order of the moved stamps.
 *
 * If the facts of a trace say which skew was added, just that is removed. With --window, offsets
 * are estimated from the messages of the first window, at most 65,536. They wait meanwhile. The
 * offsets then stay. Other messages pass.
 */
#pragma once

#include "nesting/nesting-options.h"
#include "tracefmt/message.h"
#include "tracefmt/trace-clocks.h"

typedef struct MovedMessages MovedMessages;

/* Takes a message. FALSE with error set stops. */
typedef gboolean (*MessageNext)(gpointer data, const Message *message, GError **error);

/* nodes and options are borrowed. options: max_offset 0 moves nothing. */
MovedMessages *moved_messages_new(NodeTable *nodes, const NestingOptions *options, MessageNext next,
                                  gpointer data);
void moved_messages_free(MovedMessages *moved);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MovedMessages, moved_messages_free)

/* Before the first message. facts: the facts so far. FALSE with error set if a skew cannot be read.
 */
gboolean moved_messages_begin(MovedMessages *moved, char *const *facts, guint n, GError **error);

/* Messages in time order; late ones come out late. */
gboolean moved_messages_add(MovedMessages *moved, const Message *message, GError **error);
gboolean moved_messages_finish(MovedMessages *moved, GError **error);

/* Of ClockOffset: what was found so far; empty: nothing. Borrowed. */
const GArray *moved_messages_clocks(const MovedMessages *moved);

/* The clocks by the facts, without the skews that are removed here. */
TraceClocks moved_messages_trace_clocks(const MovedMessages *moved, char *const *facts, guint n);
