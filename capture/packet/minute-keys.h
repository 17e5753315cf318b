/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Keyed hashes of words, with another key in each minute: AES-CMAC, of which 32 bits are taken.
 */
#pragma once

#include <glib.h>

typedef struct MinuteKeys MinuteKeys;

/* secret: the key of a minute is HMAC-SHA-256 of the minute with it; NULL: it is random. The keys
 * of four minutes are kept, and then overwritten. */
MinuteKeys *minute_keys_new(const guint8 *secret, gsize n);
void minute_keys_free(MinuteKeys *k);

/* minute: since the epoch, from -1 on. */
guint32 minute_keys_hash(MinuteKeys *k, gint64 minute, const char *word, gsize n);
