/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The values in requests: what of the bytes of a call a client or a program has filled in, as lines
 * of text, for Protocol.values(). See identifiers.h.
 */
#pragma once

#include "capture/protocol/body-name.h"

/* Lines "Name: value" of HTTP, without headers that say how a message is sent, up to an empty
 * line, or one that is no header. */
void values_append_headers(GString *text, const guint8 *bytes, gsize n);

/* Whether a header's value is of the message or the program, and not of the request. */
gboolean values_is_common_header(const char *name, gsize n);

/* The readable parts of binary bytes, of four characters or more. */
void values_append_readable(GString *text, const guint8 *bytes, gsize n);

/* The strings and numbers in messages of gRPC: fields of protobuf, of whatever depth. */
void values_append_grpc(GString *text, const guint8 *bytes, gsize n);

/* The values in the first n bytes of a body. Of JSON these are the strings and whole numbers,
 * without keys; of a form not the names; of XML the text of elements. whole: there are no more
 * bytes. */
void values_append_body(GString *text, BodyKind kind, const guint8 *bytes, gsize n, gboolean whole);

/* A text that a program passes to a queue or a cache. Of JSON as above, also arrays that a string
 * packs as base64; else the first MAX_ARGUMENT bytes. */
enum { MAX_ARGUMENT = 256 };
void values_append_argument(GString *text, const guint8 *bytes, gsize n);
