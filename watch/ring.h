/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Follows the files of a packet ring, such as dumpcap -b and tcpdump -C, -G and -W write: as one
 * stream of packets, each file once, in the order in which they were written, the last one as it
 * grows.
 *
 * Only whole packets are passed on. So a file whose writer was killed does not spoil the next one.
 */
#pragma once

#include <glib.h>

/* patterns: names of files with '*' and '?', NULL at the end. Files that were last written before
 * `since` (ns) are left out. Writes to the descriptor `out` until SIGTERM, or until nobody reads.
 * say: tells of files that cannot be read, and of lost packets. FALSE with error set if writing
 * fails. */
gboolean ring_follow(const char *const *patterns, gint64 since, int out,
                     void (*say)(const char *format, ...), GError **error);
