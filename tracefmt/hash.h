/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The one hash of the hot paths: eight bytes at a time, by multiplication. It is
 * for tables in memory only and never written anywhere, so it may change.
 */
#ifndef RAVEL_HASH_H
#define RAVEL_HASH_H

#include <glib.h>
#include <string.h>

/* 2^64 over the golden ratio, the usual odd multiplier (Knuth, vol. 3, 6.4). */
#define HASH_SEED G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

/* Mixes one word into h. The fold brings the well mixed high bits down, where
 * tables with a power of two of slots look. */
static inline guint64 hash_word(guint64 h, guint64 word)
{
        h = (h ^ word) * HASH_SEED;
        return h ^ (h >> 32);
}

/* The same for n bytes. The last eight are taken whole, some of them twice, so
 * that there is no tail to treat byte by byte. */
static inline guint64 hash_bytes(const char *p, gsize n)
{
        guint64 h = HASH_SEED ^ n, word = 0;

        if (n < 8) {
                memcpy(&word, p, n);
                return hash_word(h, word);
        }
        for (gsize i = 0; i + 8 < n; i += 8) {
                memcpy(&word, p + i, 8);
                h = hash_word(h, word);
        }
        memcpy(&word, p + n - 8, 8);
        return hash_word(h, word);
}

#endif
