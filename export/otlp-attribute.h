/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An attribute of OTLP in JSON: a key and a value that says its type. Integers are strings there.
 */
#pragma once

#include "write/json.h"

/* One more member of the array in hand. */
void otlp_put_bytes(Json *json, const char *key, const char *value, gsize n);
void otlp_put_string(Json *json, const char *key, const char *value);
void otlp_put_integer(Json *json, const char *key, gint64 value);

/* For a value that the caller writes between the two. */
void otlp_open_attribute(Json *json, const char *key, const char *type);
void otlp_close_attribute(Json *json);
