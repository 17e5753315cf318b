/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A bounded buffer that sorts messages which are a little out of order, as from several interfaces.
 * Each message waits until 65,536 messages are there, or 64 MB of text. Equal stamps keep their
 * order. A message in order costs its copy; a late one costs the logarithm of the number of late
 * messages.
 */
#pragma once

#include "tracefmt/message.h"

typedef struct Reorder Reorder;

Reorder *reorder_new(void);
void reorder_free(Reorder *reorder); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Reorder, reorder_free)

/* Whether one has to be taken before the next is put. */
gboolean reorder_is_full(const Reorder *reorder);

/* Copies message. */
void reorder_put(Reorder *reorder, const Message *message);

/* The earliest: its texts are valid until the next call. FALSE where there is none. */
gboolean reorder_take(Reorder *reorder, Message *message);

/* How many came late, and by how much at most (ns). */
guint64 reorder_late(const Reorder *reorder, gint64 *most);
