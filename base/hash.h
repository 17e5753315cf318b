/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The hash of the hot paths: eight bytes at a time, by multiplication. It is for tables in memory
 * and is never written, so it may change. Whoever knows the multiplier can choose keys that
 * collide. So tables of keys that come from packets or traces use the keyed hash.
 */
#pragma once

#include <glib.h>
#include <string.h>

#include "base/int128.h"

/* 2^64 over the golden ratio, the usual odd multiplier (Knuth, vol. 3, 6.4). */
#define HASH_SEED G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)

/* Mixes one word into h. The fold brings the well mixed high bits down, where
 * tables with a power of two of slots look. */
static inline guint64 hash_word(guint64 h, guint64 word)
{
        h = (h ^ word) * HASH_SEED;
        return h ^ (h >> 32);
}

/* Hashes n bytes. The last eight are one word, which may overlap the word before: so there is no
 * tail. */
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

/* The key of keyed hashes. */
typedef struct {
        guint64 start, factor;
} HashKey;

/* The key of this process, random. No result may depend on it. */
const HashKey *hash_key(void);

/* Both halves of a product. */
static inline guint64 hash_fold(guint64 a, guint64 b)
{
        guint128 product = (guint128)a * b;
        return (guint64)product ^ (guint64)(product >> 64);
}

/* Mixes one word into h. All bits of the result are well mixed. The second product parts words in
 * even steps, which one product may leave in even steps. */
static inline guint64 hash_keyed_word(const HashKey *key, guint64 h, guint64 word)
{
        return hash_fold(hash_fold(h ^ word, key->factor), HASH_SEED);
}

/* Hashes n bytes, as hash_bytes(). */
static inline guint64 hash_keyed_bytes(const HashKey *key, const char *p, gsize n)
{
        guint64 h = key->start ^ n, word = 0;

        for (gsize i = 0; i + 8 < n; i += 8) {
                memcpy(&word, p + i, 8);
                h = hash_keyed_word(key, h, word);
        }
        if (n < 8)
                memcpy(&word, p, n);
        else
                memcpy(&word, p + n - 8, 8);
        return hash_keyed_word(key, h, word);
}

/* For GLib's tables of texts. g_str_hash() has no key. */
guint hash_text(gconstpointer text);

/* For GLib's tables of 64-bit keys. g_int64_hash() uses the low half alone. In a key of two ids
 * (caller, callee), all keys with the same callee would collide. */
static inline guint hash_int64(gconstpointer key)
{
        guint64 word;

        memcpy(&word, key, sizeof word);
        return (guint)hash_word(HASH_SEED, word);
}

/* Mixes n words, up to four. Only the high bits are well mixed: a table with 2^k slots uses the
 * highest k. */
static inline guint64 hash_words(const guint64 *words, guint n)
{
        /* The fractions of the golden ratio and of the roots of 3, 7 and 11. */
        static const guint64 odd[] = {
                HASH_SEED,
                G_GUINT64_CONSTANT(0xbb67ae8584caa73b),
                G_GUINT64_CONSTANT(0xa54ff53a5f1d36f1),
                G_GUINT64_CONSTANT(0x510e527fade682d1),
        };
        guint64 h = 0;

        for (guint i = 0; i < n; i++)
                h += words[i] * odd[i];
        return h;
}
