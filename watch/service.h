/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A service's part of sd_notify(3): one datagram a message to the socket that $NOTIFY_SOCKET names.
 */
#pragma once

#include <glib.h>

/* "READY=1", "WATCHDOG=1" and so on. Does nothing if nobody listens. */
void service_notify(const char *state);
