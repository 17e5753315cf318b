/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/consumers.h"

#include <stddef.h>

const WatchConsumer *const watch_consumers[] = { &watch_stores, &watch_lines, &watch_metrics,
                                                 &watch_alerts, &watch_screen, NULL };
