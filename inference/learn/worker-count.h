/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How many workers a node has (model/workers.h).
 *
 * With k workers, a call is served from its start to its reply. If the queue exists, these times
 * have a sharper density than latencies. A node whose threads share processors is slower under load
 * as well, without a queue. So there is a second density, of the processor time that calls get if c
 * processors are shared by all calls that are served. k workers must be likelier than no bound,
 * each by the better of the two densities. Densities are by operation. Each half of the calls is
 * judged by the densities of the other half. No parents are needed, so nodes that call nobody are
 * judged as well.
 */
#pragma once

#include "inference/model/problem.h"

/* Counts the workers of a node, from all n calls into it, by enter; 0: no bound is likely. It looks
 * at WORKER_CALLS calls, where the node is busiest, and says nothing about few. O(n log n). */
guint32 workers_count(const CallIn *in, guint32 n);

/* Whether few of the calls that wait until their start do anything before (make a call, or reply),
 * and hardly any reply.
 * parent: by call out, an index or NO_PARENT; not looked at if there is none. */
gboolean workers_fit(const NodeProblem *node, const guint32 *parent, const gint64 *start);
