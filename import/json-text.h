/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The texts and numbers of a JSON value (RFC 8259), each with the keys of the objects that it is
 * in, in the order in which they stand. Nothing is kept of it.
 */
#ifndef RAVEL_JSON_TEXT_H
#define RAVEL_JSON_TEXT_H

#include <glib.h>

enum { JSON_MAX_DEPTH = 16 }; /* of objects and arrays; what is deeper is no JSON of ours */

/* keys: those of the n_keys objects around the value, the outermost first; value: the text, or the
 * number, true, false or null as it stands. All end with a NUL, and are gone after the call. */
typedef void (*JsonText)(gpointer user, const char *const *keys, guint n_keys, const char *value);

/* FALSE where the bytes are no JSON value; what came before was given already. */
gboolean json_texts(const guint8 *data, gsize n, JsonText take, gpointer user);

#endif
