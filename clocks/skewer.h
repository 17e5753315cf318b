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

#include "tracefmt/message.h"
#include "tracefmt/trace-writer.h"

/* A skew: an offset and a drift by which the clock of one node is wrong (paper, section 7.5.6).
 * Adding it to a stamp gives the stamp that the clock would have shown; removing it undoes that.
 *
 * All is in integers, so that results are the same on every machine. With an offset, or a clock
 * that runs fast, adding and removing give back the very stamp. If the clock runs slow, two stamps
 * may become one, and the result is off by 1 ns at most. */

/* One part in a million, in the units of drift. */
#define SKEW_PPM G_GINT64_CONSTANT(1000000000)

/* Drifts beyond a tenth are no clock's. */
#define SKEW_MAX_DRIFT (100000 * SKEW_PPM)

typedef struct {
        NodeId node;     /* whose stamps are meant: see message_observer() */
        gint64 offset;   /* ns that the clock is ahead at since */
        gint64 drift;    /* and gains for each ns from then on, in units of 10^-15 */
        gint64 since;    /* ns since the Unix epoch, on a clock without the skew */
        gboolean remove; /* it is to be, or was, removed and not added */
} Skew;

/* The stamp after it; beyond MAX_STAMP where it leaves the range of stamps.
 * |time| and |offset| are at most MAX_STAMP, |drift| at most SKEW_MAX_DRIFT. Never
 * decreases where time grows. */
gint64 skew_apply(const Skew *skew, gint64 time);

/* The fact that tells readers of a trace what was done, without its "# ", such as
 * "skew added: WS2 +0.030000000 s +50.000000000 ppm since 1047680084.482205000". The
 * caller's to free. */
char *skew_to_fact(const Skew *skew, const NodeTable *nodes);

gboolean skew_is_fact(const char *fact);

/* Back from skew_to_fact(); the node is added to nodes. FALSE and error set where it is
 * not what that writes. */
gboolean skew_from_fact(Skew *skew, const char *fact, NodeTable *nodes, GError **error);

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
