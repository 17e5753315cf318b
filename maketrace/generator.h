/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Makes the messages of a scenario, one at a time and in time order (paper, section 7.1.1). A
 * scenario has *sequences*. Each carries out a tracelet, thinks, and begins again.
 *
 * It is a discrete-event simulation: planned events are in a heap, by time and then by when they
 * were planned. Memory grows with the calls under way at once, not with the length of the trace.
 * Each sequence draws from a random stream of its own, named by its tracelet and its number. So
 * another tracelet in the configuration does not change the times and nodes of the others.
 *
 * A message's id is the number of its call in hex. Its one attribute is path=, the true position of
 * the call (docs/trace-format.md). Each call has its own id and position, and its return has the
 * same.
 */
#pragma once

#include "maketrace/scenario.h"
#include "tracefmt/message.h"

typedef struct Generator Generator;

/* scenario is borrowed and must outlive the generator; scenario_ends() holds. */
Generator *generator_new(const Scenario *scenario);

/* The next message: 1, 0 at the end, or -1 with error set, where the times run
 * past what a stamp can hold. Its texts are valid until the next call. */
int generator_next(Generator *g, Message *message, GError **error);

/* The requests and messages so far. A request is a call or message of a root. */
guint64 generator_requests(const Generator *g);
guint64 generator_messages(const Generator *g);

void generator_free(Generator *g);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Generator, generator_free)
