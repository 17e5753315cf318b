/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The scalars of a JSON value (RFC 8259), in order, each with the keys of the objects around it.
 * Nothing is kept.
 */
#pragma once

#include <glib.h>

enum { JSON_MAX_DEPTH = 16 }; /* levels of objects and arrays; deeper values are refused */

/* keys are those of the n_keys objects around the value, the outermost first. value is the text, or
 * the number, true, false or null as written. All end with a NUL and are valid during the call. */
typedef void (*JsonText)(gpointer user, const char *const *keys, guint n_keys, const char *value);

/* Calls take for each scalar. FALSE if the bytes are no JSON value; take had the scalars before the
 * error. */
gboolean json_texts(const guint8 *data, gsize n, JsonText take, gpointer user);
