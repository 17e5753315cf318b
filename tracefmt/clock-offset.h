/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A node whose clock seems to be off: what the estimators of clocks/ find, and all outputs show.
 */
#pragma once

#include "tracefmt/node-table.h"

typedef struct {
        NodeId node;
        gboolean doubtful;  /* it is not proven, so the clock is taken as it is */
        gint64 offset;      /* its stamps are taken to be so much too late, ns; below 0: early */
        gint64 least, most; /* offsets between these are as good, ns; G_MININT64 and G_MAXINT64
                               where nothing says; the same where the trace says the offset */
} ClockOffset;
