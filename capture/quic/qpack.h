/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The header blocks of HTTP/3 (QPACK, RFC 9204), of one direction of a connection, written anew as
 * HTTP/2 has them (RFC 7541) without its table.
 */
#pragma once

#include <glib.h>

typedef struct Qpack Qpack;

typedef enum {
        QPACK_READ,
        QPACK_BLOCKED, /* it refers to what the stream of instructions has yet to say */
        QPACK_BROKEN,
} QpackResult;

/* capacity: bytes of the table that its reader allows. NULL: there is no memory. */
Qpack *qpack_new(gsize capacity);
void qpack_free(Qpack *qpack);

/* The next n bytes of the stream of instructions. FALSE: they are none, and the table is lost. */
gboolean qpack_instruct(Qpack *qpack, const guint8 *bytes, gsize n);

/* Whether a block of n bytes refers to the table. */
gboolean qpack_needs_table(const guint8 *bytes, gsize n);

/* A whole block of a stream, appended to plain. */
QpackResult qpack_read(Qpack *qpack, gint64 stream, const guint8 *bytes, gsize n,
                       GByteArray *plain);
