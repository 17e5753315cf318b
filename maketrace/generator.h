/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Makes the messages of a scenario, one at a time and in time order (paper,
 * section 7.1.1): each sequence carries out a tracelet, thinks, and begins again.
 *
 * What will happen next stands in a heap of events, ordered by time and then by
 * when they were planned. Memory depends on how much is under way at once, not
 * on the length of the trace. Each sequence draws from a random stream of its
 * own, named by the tracelet and the sequence's number, so another tracelet in
 * the configuration does not change the times and nodes of the others.
 *
 * A message's id is the number of its call in hex. Its one attribute is path=,
 * the true position of the call (docs/trace-format.md). Both are unique, and a
 * return has those of its call.
 */
#ifndef RAVEL_GENERATOR_H
#define RAVEL_GENERATOR_H

#include "maketrace/scenario.h"
#include "tracefmt/message.h"

typedef struct Generator Generator;

/* scenario is borrowed and must outlive the generator; scenario_ends() holds. */
Generator *generator_new(const Scenario *scenario);

/* The next message: 1, 0 at the end, or -1 with error set, where the times run
 * past what a stamp can hold. Its texts are valid until the next call. */
int generator_next(Generator *g, Message *message, GError **error);

/* So far. A request is a call or message of a root. */
guint64 generator_requests(const Generator *g);
guint64 generator_messages(const Generator *g);

void generator_free(Generator *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Generator, generator_free)

#endif
