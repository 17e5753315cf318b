/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Follows a folder into which hosts put their traces: merges them as they come, as one trace in the
 * order of time, each message once.
 *
 * A trace is taken when it is whole, or when nothing was added to it for the time of `wait`. When
 * the oldest trace has waited so long for those of other hosts, all messages up to its end are
 * passed on. A trace that comes still later lacks its first messages, which is said.
 */
#pragma once

#include <glib.h>

typedef struct {
        const char *folder;
        gint64 wait;   /* ns */
        gint64 since;  /* earlier messages are left out, ns */
        guint64 *late; /* counts messages that came too late */
        void (*say)(const char *format, ...) G_GNUC_PRINTF(1, 2);
} TracesOptions;

/* Writes the trace to standard output until SIGTERM. FALSE with error set if that fails. A file
 * that is no trace is said and left out. */
gboolean traces_follow(const TracesOptions *options, GError **error);
