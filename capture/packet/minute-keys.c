/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/packet/minute-keys.h"

#include <errno.h>
#include <nettle/cmac.h>
#include <nettle/hmac.h>
#include <unistd.h>

enum { N_KEYS = 4 };

typedef struct {
        gint64 minute;
        gboolean made;
        struct cmac_aes128_ctx cmac;
} Key;

struct MinuteKeys {
        struct hmac_sha256_ctx secret;
        gboolean derived; /* from that */
        Key key[N_KEYS];
};

MinuteKeys *minute_keys_new(const guint8 *secret, gsize n)
{
        MinuteKeys *k = g_new0(MinuteKeys, 1);

        k->derived = secret != NULL;
        if (secret)
                hmac_sha256_set_key(&k->secret, n, secret);
        return k;
}

void minute_keys_free(MinuteKeys *k)
{
        if (!k)
                return;
        explicit_bzero(k, sizeof *k);
        g_free(k);
}

static void key_make(MinuteKeys *k, Key *key, gint64 minute)
{
        guint8 bytes[AES128_KEY_SIZE], number[8];

        if (k->derived) {
                for (guint b = 0; b < sizeof number; b++)
                        number[b] = (guint8)((guint64)minute >> (56 - 8 * b));
                hmac_sha256_update(&k->secret, sizeof number, number);
                hmac_sha256_digest(&k->secret, sizeof bytes, bytes);
        } else if (getentropy(bytes, sizeof bytes) < 0) {
                g_error("no random numbers: %s", g_strerror(errno));
        }
        key->minute = minute;
        key->made = TRUE;
        cmac_aes128_set_key(&key->cmac, bytes);
        explicit_bzero(bytes, sizeof bytes);
}

/* That of a minute, in place of an older one. */
static Key *minute_key_of(MinuteKeys *k, gint64 minute)
{
        Key *key = &k->key[(guint64)minute % N_KEYS];

        if (!key->made || key->minute != minute)
                key_make(k, key, minute);
        return key;
}

guint32 minute_keys_hash(MinuteKeys *k, gint64 minute, const char *word, gsize n)
{
        Key *key = minute_key_of(k, minute);
        guint8 digest[4];

        cmac_aes128_update(&key->cmac, n, (const guint8 *)word);
        cmac_aes128_digest(&key->cmac, sizeof digest, digest);
        return (guint32)digest[0] << 24 | (guint32)digest[1] << 16 | (guint32)digest[2] << 8 |
               digest[3];
}
