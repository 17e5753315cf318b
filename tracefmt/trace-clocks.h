/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether the stamps of a trace are of one clock or of several, as its facts say:
 *
 *     # clocks: one                  written by a capture of one tap, or of one machine, and by a
 *                                    merge of several from one observer
 *     # clocks: several              written by a merge of several observers
 *     # observer: ...                the running system whose clock it was, where that is known
 *     # captured on host: ...        of two hosts: two clocks
 *     # skew added: ...              by the skewer; so clocks are no longer one
 *
 * With one clock, no stamp is moved. With several, a clock is corrected if it seems to be off; if
 * nothing is known, only if it is proven to be off.
 */
#pragma once

#include <glib.h>

typedef enum { CLOCKS_UNKNOWN, CLOCKS_ONE, CLOCKS_SEVERAL } TraceClocks;

/* What all facts of a trace say. Several outweighs one, and doubt does, too. */
TraceClocks trace_clocks(char *const *facts, guint n);

/* What the facts of one more trace do to those of the traces that are merged with it. */
typedef struct {
        guint traces;
        TraceClocks clocks; /* all together */
        char *observer;     /* of all of them; NULL where there is none */
        gboolean all_known; /* each is of one clock, or was captured on a host */
} MergedClocks;

void merged_clocks_add(MergedClocks *merged, char *const *facts, guint n);
void merged_clocks_clear(MergedClocks *merged);

/* "one" or "several", the value of the fact; NULL for neither. */
const char *trace_clocks_word(TraceClocks clocks);

/* Whether it is a fact that a merge replaces by its own. */
gboolean trace_clocks_is_fact(const char *fact);
