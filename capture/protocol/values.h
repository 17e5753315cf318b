/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The values in requests: what of the bytes of a call a client or a program has filled in, as lines
 * of text, for Protocol.values(). See identifiers.h.
 */
#pragma once

#include <glib.h>

/* Lines "Name: value" of HTTP, without headers that say how a message is sent, up to an empty
 * line, or one that is no header. */
void values_append_headers(GString *text, const guint8 *bytes, gsize n);

/* Whether a header's value is of the message or the program, and not of the request. */
gboolean values_is_common_header(const char *name, gsize n);

/* The readable parts of binary bytes, of four characters or more. */
void values_append_readable(GString *text, const guint8 *bytes, gsize n);

/* The strings in messages of gRPC: fields of protobuf with a length, of whatever depth. */
void values_append_grpc(GString *text, const guint8 *bytes, gsize n);
