/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Text eight bytes at a time: the digits, the separators and the bytes of short texts. The first
 * byte of a text is the lowest of its word. Up to TEXT_PAD bytes past the end of a text are read.
 */
#pragma once

#include <glib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
        TEXT_PAD = 80,
        LONGEST_WORDS = 32, /* most bytes that text_words() takes */
};

#define WORD_ONES  G_GUINT64_CONSTANT(0x0101010101010101)
#define WORD_HIGHS (WORD_ONES * 0x80)

static inline guint64 word_load(const char *p)
{
        guint64 word;

        memcpy(&word, p, 8);
        return GUINT64_FROM_LE(word);
}

/* The number that eight digits make; each byte is 0 to 9, the first the lowest. */
static inline guint64 word_number(guint64 v)
{
        v = v * 10 + (v >> 8);
        return ((v & 0x000000ff000000ff) * 0x000f424000000064 +
                ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
               32;
}

/* The high bit of each byte that is not 0 to 9, and perhaps of later ones. */
static inline guint64 word_not_digits(guint64 v)
{
        return ((v + WORD_ONES * 0x76) | v) & WORD_HIGHS;
}

/* How many decimal digits a word begins with. value: set, the number that they make. */
static inline guint word_digits(guint64 word, guint64 *value)
{
        guint64 v = word ^ (WORD_ONES * '0');
        guint64 hit = word_not_digits(v);
        guint n = hit ? (guint)__builtin_ctzll(hit) >> 3 : 8;

        if (n == 0) {
                *value = 0;
                return 0;
        }
        *value = word_number(v << (64 - 8 * n)); /* leading zeros */
        return n;
}

/* A bit for each byte at p, from the lowest: is it a blank or a control character? */
#ifdef __SSE2__
static inline guint32 separators16(const char *p)
{
        const __m128i space = _mm_set1_epi8(' ');
        __m128i bytes = _mm_loadu_si128((const __m128i *)p);

        return (guint)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes));
}
#else
static inline guint64 separators8(const char *p)
{
        guint64 word = word_load(p);
        guint64 other = ((word & ~WORD_HIGHS) + WORD_ONES * (0x7f - ' ')) | word;

        return ((~other & WORD_HIGHS) >> 7) * G_GUINT64_CONSTANT(0x0102040810204080) >> 56;
}

static inline guint32 separators16(const char *p)
{
        return separators8(p) | separators8(p + 8) << 8;
}
#endif

static inline guint32 separators32(const char *p)
{
        return separators16(p) | separators16(p + 16) << 16;
}

/* The length of a text up to its separator. */
static inline gsize token_length(const char *p)
{
        const char *base = p;
        guint32 mask;

        while (G_UNLIKELY(!(mask = separators32(base))))
                base += 32;
        return (gsize)(base - p) + (gsize)__builtin_ctz(mask);
}

/* The first n bytes at p, then zeros, as they lie in memory, into 8 * n_words bytes. n is
 * at most 8 * n_words, and that number of bytes must be readable. */
static inline void text_words(const char *p, gsize n, guint64 *words, guint n_words)
{
        static const guint8 keep[2 * LONGEST_WORDS] = {
                255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        };
        guint64 word, mask;

        for (guint i = 0; i < n_words; i++) {
                memcpy(&word, p + 8 * i, 8);
                memcpy(&mask, keep + LONGEST_WORDS + 8 * i - n, 8);
                words[i] = word & mask;
        }
}
