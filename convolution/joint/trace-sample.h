/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A sample of a trace: stretches of it, spread evenly, with all messages that were sent in
 * them. What a system does is as well seen in some hundred thousand messages as in all.
 */
#ifndef RAVEL_TRACE_SAMPLE_H
#define RAVEL_TRACE_SAMPLE_H

#include "convolution/edge-trace.h"

/* About most messages of traces, which has more, in stretches of at least shortest ns, as
 * far as there is one. Nodes and edges are the same; an edge may be empty. first and last are
 * as far apart as the stretches are long, all together. Linear in the sample, but for both
 * stamps. Freed by edge_traces_free(). */
EdgeTraces *trace_sample_new(const EdgeTraces *traces, guint64 most, gint64 shortest);

#endif
