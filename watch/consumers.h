/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The consumers of closed windows, a file each.
 */
#pragma once

#include "watch/window.h"

extern const WatchConsumer watch_stores;  /* stores.c: the folder of --dir */
extern const WatchConsumer watch_lines;   /* lines.c: a line a window on standard output */
extern const WatchConsumer watch_alerts;  /* alerts.c: conditions that begin and end */
extern const WatchConsumer watch_metrics; /* metrics.c: for Prometheus */
extern const WatchConsumer watch_screen;  /* screen.c: a live screen */
