/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A hash of 64 bits that may be written: the same on every machine. Sums of digests, modulo 2^64,
 * stand for a set of things in no order.
 */
#ifndef RAVEL_DIGEST_H
#define RAVEL_DIGEST_H

#include <glib.h>
#include <string.h>

#define DIGEST_BEGIN G_GUINT64_CONSTANT(0xcbf29ce484222325)

/* Mixes a number into a digest. (Steele, Lea and Flood, 2014: each bit changes all.) */
static inline guint64 digest_number(guint64 digest, guint64 x)
{
        x = (digest ^ x) + G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
        x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
        return x ^ x >> 31;
}

/* Mixes n bytes and their number into it. */
static inline guint64 digest_bytes(guint64 digest, const char *p, gsize n)
{
        guint64 word = n;

        for (; n >= 8; p += 8, n -= 8) {
                digest = digest_number(digest, word);
                memcpy(&word, p, 8);
                word = GUINT64_FROM_LE(word);
        }
        if (n > 0) {
                digest = digest_number(digest, word);
                word = 0;
                if (n >= 4) { /* most ids: two halves, which may share bytes */
                        guint32 low, high;

                        memcpy(&low, p, 4);
                        memcpy(&high, p + n - 4, 4);
                        word = GUINT32_FROM_LE(low) | (guint64)GUINT32_FROM_LE(high) << 8 * (n - 4);
                } else {
                        for (gsize i = 0; i < n; i++)
                                word |= (guint64)(guint8)p[i] << 8 * i;
                }
        }
        return digest_number(digest, word);
}

#endif
