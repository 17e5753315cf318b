/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The beginning of what a protocol has compressed, for a label and an outcome.
 */
#pragma once

#include <glib.h>

typedef enum { PACKED_SNAPPY, PACKED_ZLIB, PACKED_ZSTD, PACKED_LZ4 } Packing;

/* Unpacks the first bytes, up to most of them, of n compressed bytes, which may be cut. Snappy and
 * LZ4: a block without a frame. Returns how many bytes of out are written; 0 where none can be. */
gsize unpack(Packing packing, const guint8 *bytes, gsize n, guint8 *out, gsize most);
