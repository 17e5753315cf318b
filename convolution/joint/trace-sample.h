/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A sample of a trace: stretches of time, spread evenly, with all messages sent in them. Some
 * hundred thousand messages show the behaviour of a system as well as all messages.
 */
#pragma once

#include "convolution/edge-trace.h"

/* Samples about `most` messages of traces, which have more, in stretches of at least `shortest` ns,
 * if possible. Keeps all nodes and edges; an edge may be empty. The time from first to last is the
 * length of all stretches together. Linear in the sample, but for both stamps. Freed by
 * edge_traces_free(). */
EdgeTraces *trace_sample_new(const EdgeTraces *traces, guint64 most, gint64 shortest);
