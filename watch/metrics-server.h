/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Answers HTTP requests for metrics, on loopback or a Unix socket, from a thread of its own. Only
 * metrics-server.c knows libmicrohttpd.
 */
#pragma once

#include <glib.h>

typedef struct MetricsServer MetricsServer;

/* address: "127.0.0.1:9464", "[::1]:9464", "localhost:9464" or "unix:PATH". A socket at PATH that
 * nobody listens to is replaced. NULL with error set if the address is none of these or is in use,
 * or if ravel was built without libmicrohttpd. */
MetricsServer *metrics_server_new(const char *address, GError **error);
void metrics_server_free(MetricsServer *server);

/* What to answer from now on: plain is Prometheus's format, open is that of OpenMetrics for clients
 * that accept it. Both are emptied. */
void metrics_server_put(MetricsServer *server, GString *plain, GString *open);
