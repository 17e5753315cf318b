/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The edges of the lines read lately: from the text "sender receiver", as it stood in a line, to
 * the two nodes. Traces have few edges, so most lines need no look-up of names.
 */
#pragma once

#include "base/hash.h"
#include "tracefmt/message.h"
#include "tracefmt/text-words.h"

enum { EDGE_CACHE_BITS = 12, EDGE_CACHE_SLOTS = 1 << EDGE_CACHE_BITS };

/* The text from the sender's first byte to the receiver's last, and its nodes. */
typedef struct {
        guint64 words[LONGEST_WORDS / 8]; /* a short text, then zeros */
        char *text;                       /* a longer one, else NULL */
        guint32 length;                   /* of text */
        NodeId sender, receiver;
} CachedEdge;

/* A slot that no text matches: a text that begins with a NUL is a single byte. */
static const CachedEdge no_edge = { .words = { 0, 1 } };

static inline void cached_edge_clear(CachedEdge *c)
{
        g_free(c->text);
        *c = no_edge;
}

static inline CachedEdge *edge_cache_new(void)
{
        CachedEdge *cache = g_new(CachedEdge, EDGE_CACHE_SLOTS);

        for (guint i = 0; i < EDGE_CACHE_SLOTS; i++)
                cache[i] = no_edge;
        return cache;
}

static inline void edge_cache_free(CachedEdge *cache)
{
        for (guint i = 0; i < EDGE_CACHE_SLOTS; i++)
                g_free(cache[i].text);
        g_free(cache);
}

/* The slot for a text, which has LONGEST_WORDS readable bytes. words: set; zeros for a longer one.
 */
static inline CachedEdge *edge_cache_slot(CachedEdge *cache, const char *text, gsize n,
                                          guint64 *words)
{
        if (G_UNLIKELY(n > LONGEST_WORDS)) {
                memset(words, 0, LONGEST_WORDS);
                words[0] = hash_bytes(text, n);
        } else {
                text_words(text, n, words, LONGEST_WORDS / 8);
        }
        return &cache[hash_words(words, LONGEST_WORDS / 8) >> (64 - EDGE_CACHE_BITS)];
}

static inline gboolean cached_edge_is(const CachedEdge *c, const char *text, gsize n,
                                      const guint64 *words)
{
        if (G_UNLIKELY(n > LONGEST_WORDS))
                return c->length == n && !memcmp(c->text, text, n);
        return !((c->words[0] ^ words[0]) | (c->words[1] ^ words[1]) | (c->words[2] ^ words[2]) |
                 (c->words[3] ^ words[3]));
}

/* From now on the n bytes mean the message's nodes. */
static inline void edge_cache_put(CachedEdge *cache, const char *text, gsize n, const Message *m)
{
        guint64 words[LONGEST_WORDS / 8];
        CachedEdge *c = edge_cache_slot(cache, text, n, words);

        cached_edge_clear(c);
        if (n > LONGEST_WORDS) {
                c->text = g_memdup2(text, n);
                c->length = n;
        } else {
                memcpy(c->words, words, sizeof words);
        }
        c->sender = m->sender;
        c->receiver = m->receiver;
}

/* Sets the nodes of the message; FALSE: the text is not in the cache. */
G_ALWAYS_INLINE static inline gboolean edge_cache_find(CachedEdge *cache, const char *text, gsize n,
                                                       Message *m)
{
        guint64 words[LONGEST_WORDS / 8];
        const CachedEdge *c = edge_cache_slot(cache, text, n, words);

        if (G_UNLIKELY(!cached_edge_is(c, text, n, words)))
                return FALSE;
        m->sender = c->sender;
        m->receiver = c->receiver;
        return TRUE;
}
