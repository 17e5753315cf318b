/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The one hash of the hot paths: eight bytes at a time, by multiplication. It is
 * for tables in memory only and never written anywhere, so it may change.
 */
#ifndef RAVEL_HASH_H
#define RAVEL_HASH_H

#include <glib.h>

/* 2^64 over the golden ratio, the usual odd multiplier (Knuth, vol. 3, 6.4). */
#define HASH_SEED G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

/* Mixes one word into h. The fold brings the well mixed high bits down, where
 * tables with a power of two of slots look. */
static inline guint64 hash_word(guint64 h, guint64 word)
{
        h = (h ^ word) * HASH_SEED;
        return h ^ (h >> 32);
}

#endif
