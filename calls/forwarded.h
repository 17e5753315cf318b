/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Forwarded calls: A calls B, B passes the call on to C, and C answers A. The call has no return,
 * and the answer no call. So nesting leaves both out; convolution (paper, section 5.2) needs no
 * pairs.
 *
 * Forwarded calls are found by edges, since C may not know the id: A gets returns of C, which it
 * never calls, A's calls to B have no return, and B sends messages to C.
 */
#pragma once

#include "calls/find-call-pairs.h"

typedef struct {
        NodeId caller, callee; /* A and B */
        NodeId answering;      /* C */
        guint64 answers;       /* C's returns to A */
} Forwarded;

/* Of Forwarded, most answers first; empty where there are none. The caller's to free. Of a
 * caller's callees the 16 with the most calls without a return are looked at. O(n log n) in the
 * edges. */
GArray *forwarded_find(const CallMatcher *matcher);
