/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The skewer of the paper (section 7.5.6) moves the stamps of chosen nodes and writes the trace in
 * time order again. It is a stream.
 *
 * A stamp may move before others, so messages wait until no later line can belong before them. The
 * wait is the largest difference between two nodes' skews, which a drift makes wider. Memory holds
 * the messages of that time.
 *
 * At equal stamps calls are written first, then returns, each by the observer's name, then in the
 * order of the lines. This order does not depend on the clocks, so adding and removing a skew gives
 * back the same bytes.
 */
#pragma once

#include "clocks/skew.h"
#include "tracefmt/trace-writer.h"

typedef struct Skewer Skewer;

/* skews are applied one after the other, as they stand; copied. nodes and out are
 * borrowed and must outlive the skewer. */
Skewer *skewer_new(const Skew *skews, guint n, const NodeTable *nodes, TraceWriter *out);

/* The same, but messages go to a function, and facts nowhere. FALSE with error set stops. */
typedef gboolean (*SkewerPut)(gpointer data, const Message *message, GError **error);
Skewer *skewer_new_to(const Skew *skews, guint n, const NodeTable *nodes, SkewerPut put,
                      gpointer data);

/* A fact that stands before the next message, or at the end. It goes where that
 * message goes. Copied. */
void skewer_add_fact(Skewer *skewer, const char *fact);

/* Messages in time order; one that is late is written late. FALSE and error set where
 * a stamp leaves the range of stamps, or the output cannot be written. */
gboolean skewer_add(Skewer *skewer, const Message *message, GError **error);

/* Writes all that waits. */
gboolean skewer_finish(Skewer *skewer, GError **error);

/* The most messages that waited at one time. */
guint64 skewer_most_waiting(const Skewer *skewer);

void skewer_free(Skewer *skewer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Skewer, skewer_free)
