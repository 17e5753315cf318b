/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/tls/record-cipher.h"

#include <nettle/aes.h>
#include <nettle/cbc.h>
#include <nettle/ccm.h>
#include <nettle/chacha-poly1305.h>
#include <nettle/chacha.h>
#include <nettle/gcm.h>
#include <nettle/hkdf.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <string.h>

enum {
        NONCE = 12,
        TAG = 16,
        SHORT_TAG = 8,
        EXPLICIT = 8, /* the part of a nonce that stands in the record, version 1.2 */
        BLOCK = AES_BLOCK_SIZE,
        MAX_KEY = 32,
        MAX_HASH = SHA384_DIGEST_SIZE,
};

typedef enum {
        GCM_128,
        GCM_256,
        CCM_128,
        CCM_256,
        CCM_128_SHORT,
        CCM_256_SHORT,
        CHACHA,
        CBC_128,
        CBC_256
} Algorithm;

typedef enum { SHA_1, SHA_256, SHA_384 } Hash;

typedef struct {
        guint16 number;
        guint8 algorithm, hash; /* hash: of the key derivation, and, but for SHA_1, of the MAC */
} Suite;

/* By their numbers in IANA's registry of TLS cipher suites. */
static const Suite suites[] = {
        { 0x002f, CBC_128, SHA_1 },         { 0x0033, CBC_128, SHA_1 },
        { 0x0035, CBC_256, SHA_1 },         { 0x0039, CBC_256, SHA_1 },
        { 0x003c, CBC_128, SHA_256 },       { 0x003d, CBC_256, SHA_256 },
        { 0x0067, CBC_128, SHA_256 },       { 0x006b, CBC_256, SHA_256 },
        { 0x008c, CBC_128, SHA_1 },         { 0x008d, CBC_256, SHA_1 },
        { 0x009c, GCM_128, SHA_256 },       { 0x009d, GCM_256, SHA_384 },
        { 0x009e, GCM_128, SHA_256 },       { 0x009f, GCM_256, SHA_384 },
        { 0x00a8, GCM_128, SHA_256 },       { 0x00a9, GCM_256, SHA_384 },
        { 0x1301, GCM_128, SHA_256 },       { 0x1302, GCM_256, SHA_384 },
        { 0x1303, CHACHA, SHA_256 },        { 0x1304, CCM_128, SHA_256 },
        { 0x1305, CCM_128_SHORT, SHA_256 }, { 0xc009, CBC_128, SHA_1 },
        { 0xc00a, CBC_256, SHA_1 },         { 0xc013, CBC_128, SHA_1 },
        { 0xc014, CBC_256, SHA_1 },         { 0xc023, CBC_128, SHA_256 },
        { 0xc024, CBC_256, SHA_384 },       { 0xc027, CBC_128, SHA_256 },
        { 0xc028, CBC_256, SHA_384 },       { 0xc02b, GCM_128, SHA_256 },
        { 0xc02c, GCM_256, SHA_384 },       { 0xc02f, GCM_128, SHA_256 },
        { 0xc030, GCM_256, SHA_384 },       { 0xc035, CBC_128, SHA_1 },
        { 0xc036, CBC_256, SHA_1 },         { 0xc037, CBC_128, SHA_256 },
        { 0xc038, CBC_256, SHA_384 },       { 0xc09c, CCM_128, SHA_256 },
        { 0xc09d, CCM_256, SHA_256 },       { 0xc09e, CCM_128, SHA_256 },
        { 0xc09f, CCM_256, SHA_256 },       { 0xc0a0, CCM_128_SHORT, SHA_256 },
        { 0xc0a1, CCM_256_SHORT, SHA_256 }, { 0xc0a2, CCM_128_SHORT, SHA_256 },
        { 0xc0a3, CCM_256_SHORT, SHA_256 }, { 0xc0ac, CCM_128, SHA_256 },
        { 0xc0ad, CCM_256, SHA_256 },       { 0xc0ae, CCM_128_SHORT, SHA_256 },
        { 0xc0af, CCM_256_SHORT, SHA_256 }, { 0xcca8, CHACHA, SHA_256 },
        { 0xcca9, CHACHA, SHA_256 },        { 0xccaa, CHACHA, SHA_256 },
        { 0xccab, CHACHA, SHA_256 },        { 0xccac, CHACHA, SHA_256 },
};

/* The labels by which keys are derived from a secret: of TLS, and of the versions of QUIC. */
typedef struct {
        const char *key, *nonce, *update, *mask;
} KeyLabels;

static const KeyLabels labels_tls = { "key", "iv", "traffic upd", NULL };
static const KeyLabels labels_quic[2] = {
        { "quic key", "quic iv", "quic ku", "quic hp" },
        { "quicv2 key", "quicv2 iv", "quicv2 ku", "quicv2 hp" },
};

struct RecordCipher {
        Suite suite;
        gboolean is_13, mac_of_cipher;
        guint8 nonce[NONCE]; /* whole, or, with an explicit part, its first four bytes */
        guint8 mac_key[MAX_HASH];
        TlsSecret secret; /* version 1.3: that the keys come from */
        const KeyLabels *labels;
        guint8 mask_key[MAX_KEY]; /* QUIC: of header protection */
        union {
                struct gcm_aes128_ctx gcm_128;
                struct gcm_aes256_ctx gcm_256;
                struct ccm_aes128_ctx ccm_128;
                struct ccm_aes256_ctx ccm_256;
                struct chacha_poly1305_ctx chacha;
                struct aes128_ctx cbc_128;
                struct aes256_ctx cbc_256;
        } key;
};

static const Suite *suite_find(guint16 number)
{
        for (gsize i = 0; i < G_N_ELEMENTS(suites); i++)
                if (suites[i].number == number)
                        return &suites[i];
        return NULL;
}

gboolean record_protection_is_known(const RecordProtection *protection)
{
        const Suite *suite = suite_find(protection->suite);
        return suite && (protection->suite >> 8 == 0x13) == (protection->is_13 != FALSE);
}

/* --- hashes ---------------------------------------------------------------- */

typedef struct {
        Hash hash;
        union {
                struct hmac_sha1_ctx sha_1;
                struct hmac_sha256_ctx sha_256;
                struct hmac_sha384_ctx sha_384;
        } state;
} Mac;

static gsize hash_size(Hash hash)
{
        return hash == SHA_384   ? SHA384_DIGEST_SIZE
               : hash == SHA_256 ? SHA256_DIGEST_SIZE
                                 : SHA1_DIGEST_SIZE;
}

static Mac mac_new(Hash hash, const guint8 *key, gsize n)
{
        Mac h = { .hash = hash };
        if (hash == SHA_384)
                hmac_sha384_set_key(&h.state.sha_384, n, key);
        else if (hash == SHA_256)
                hmac_sha256_set_key(&h.state.sha_256, n, key);
        else
                hmac_sha1_set_key(&h.state.sha_1, n, key);
        return h;
}

static void mac_update(Mac *h, const guint8 *bytes, gsize n)
{
        if (h->hash == SHA_384)
                hmac_sha384_update(&h->state.sha_384, n, bytes);
        else if (h->hash == SHA_256)
                hmac_sha256_update(&h->state.sha_256, n, bytes);
        else
                hmac_sha1_update(&h->state.sha_1, n, bytes);
}

/* digest has hash_size() bytes; begins anew with the same key. */
static void mac_digest(Mac *h, guint8 *digest)
{
        if (h->hash == SHA_384)
                hmac_sha384_digest(&h->state.sha_384, SHA384_DIGEST_SIZE, digest);
        else if (h->hash == SHA_256)
                hmac_sha256_digest(&h->state.sha_256, SHA256_DIGEST_SIZE, digest);
        else
                hmac_sha1_digest(&h->state.sha_1, SHA1_DIGEST_SIZE, digest);
}

/* RFC 8446, section 7.1: HKDF-Expand-Label without context, n bytes. */
static void expand_label(Hash hash, const TlsSecret *secret, const char *label, guint8 *out,
                         gsize n)
{
        guint8 info[64];
        gsize n_label = strlen(label), at = 0;
        info[at++] = 0;
        info[at++] = (guint8)n;
        info[at++] = (guint8)(6 + n_label);
        memcpy(info + at, "tls13 ", 6);
        memcpy(info + at + 6, label, n_label);
        at += 6 + n_label;
        info[at++] = 0;
        Mac h = mac_new(hash, secret->bytes, secret->n);
        if (hash == SHA_384)
                hkdf_expand(&h.state, (nettle_hash_update_func *)hmac_sha384_update,
                            (nettle_hash_digest_func *)hmac_sha384_digest, SHA384_DIGEST_SIZE, at,
                            info, n, out);
        else
                hkdf_expand(&h.state, (nettle_hash_update_func *)hmac_sha256_update,
                            (nettle_hash_digest_func *)hmac_sha256_digest, SHA256_DIGEST_SIZE, at,
                            info, n, out);
}

/* RFC 5246, section 5: the key block of n bytes, from the master secret. */
static void expand_master(Hash hash, const TlsSecret *master, const guint8 *client_random,
                          const guint8 *server_random, guint8 *out, gsize n)
{
        static const char label[] = "key expansion";
        guint8 seed[sizeof label - 1 + 2 * TLS_RANDOM], a[MAX_HASH], digest[MAX_HASH];
        gsize size = hash_size(hash);
        memcpy(seed, label, sizeof label - 1);
        memcpy(seed + sizeof label - 1, server_random, TLS_RANDOM);
        memcpy(seed + sizeof label - 1 + TLS_RANDOM, client_random, TLS_RANDOM);
        Mac h = mac_new(hash, master->bytes, master->n);
        mac_update(&h, seed, sizeof seed);
        mac_digest(&h, a);
        for (gsize at = 0; at < n; at += size) {
                mac_update(&h, a, size);
                mac_update(&h, seed, sizeof seed);
                mac_digest(&h, digest);
                memcpy(out + at, digest, MIN(size, n - at));
                mac_update(&h, a, size);
                mac_digest(&h, a);
        }
}

/* --- keys ------------------------------------------------------------------ */

static gsize key_size(Algorithm algorithm)
{
        return algorithm == GCM_128 || algorithm == CCM_128 || algorithm == CCM_128_SHORT ||
                               algorithm == CBC_128
                       ? AES128_KEY_SIZE
                       : MAX_KEY;
}

static gboolean is_cbc(Algorithm algorithm)
{
        return algorithm == CBC_128 || algorithm == CBC_256;
}

static void key_set(RecordCipher *c, const guint8 *key)
{
        switch ((Algorithm)c->suite.algorithm) {
        case GCM_128:
                gcm_aes128_set_key(&c->key.gcm_128, key);
                break;
        case GCM_256:
                gcm_aes256_set_key(&c->key.gcm_256, key);
                break;
        case CCM_128:
        case CCM_128_SHORT:
                ccm_aes128_set_key(&c->key.ccm_128, key);
                break;
        case CCM_256:
        case CCM_256_SHORT:
                ccm_aes256_set_key(&c->key.ccm_256, key);
                break;
        case CHACHA:
                chacha_poly1305_set_key(&c->key.chacha, key);
                break;
        case CBC_128:
                aes128_set_decrypt_key(&c->key.cbc_128, key);
                break;
        case CBC_256:
                aes256_set_decrypt_key(&c->key.cbc_256, key);
                break;
        }
}

static void keys_from_secret(RecordCipher *c)
{
        guint8 key[MAX_KEY];
        expand_label(c->suite.hash, &c->secret, c->labels->key, key, key_size(c->suite.algorithm));
        expand_label(c->suite.hash, &c->secret, c->labels->nonce, c->nonce, NONCE);
        key_set(c, key);
}

static RecordCipher *cipher_new(const RecordProtection *protection)
{
        RecordCipher *c = g_new0(RecordCipher, 1);
        c->suite = *suite_find(protection->suite);
        c->is_13 = protection->is_13;
        c->mac_of_cipher = protection->mac_of_cipher && is_cbc(c->suite.algorithm);
        return c;
}

RecordCipher *record_cipher_new(const RecordProtection *protection, const TlsSecret *secret)
{
        RecordCipher *c = cipher_new(protection);
        c->secret = *secret;
        c->labels = &labels_tls;
        keys_from_secret(c);
        return c;
}

RecordCipher *record_cipher_new_quic(guint16 suite, gboolean version_2, const TlsSecret *secret)
{
        RecordCipher *c = cipher_new(&(RecordProtection){ .suite = suite, .is_13 = TRUE });
        c->secret = *secret;
        c->labels = &labels_quic[version_2 != FALSE];
        keys_from_secret(c);
        expand_label(c->suite.hash, secret, c->labels->mask, c->mask_key,
                     key_size(c->suite.algorithm));
        return c;
}

RecordCipher *record_cipher_copy(const RecordCipher *cipher)
{
        return g_memdup2(cipher, sizeof *cipher);
}

/* RFC 9001, section 5.2; RFC 9369, section 3.3.1. */
void record_cipher_initial_secret(gboolean version_2, const guint8 *id, gsize n, gboolean server,
                                  TlsSecret *secret)
{
        static const guint8 salts[2][20] = {
                { 0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17,
                  0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a },
                { 0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93,
                  0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9, 0xbd, 0x2e, 0xd9 },
        };
        TlsSecret initial = { .n = SHA256_DIGEST_SIZE };
        Mac h = mac_new(SHA_256, salts[version_2 != FALSE], sizeof salts[0]);
        mac_update(&h, id, n);
        mac_digest(&h, initial.bytes);
        secret->n = SHA256_DIGEST_SIZE;
        expand_label(SHA_256, &initial, server ? "server in" : "client in", secret->bytes,
                     SHA256_DIGEST_SIZE);
}

RecordCipher *record_cipher_new_old(const RecordProtection *protection, const TlsSecret *master,
                                    const guint8 *client_random, const guint8 *server_random,
                                    gboolean server)
{
        RecordCipher *c = cipher_new(protection);
        Algorithm algorithm = c->suite.algorithm;
        gsize n_mac = is_cbc(algorithm) ? hash_size(c->suite.hash) : 0, n_key = key_size(algorithm),
              n_nonce = algorithm == CHACHA ? NONCE
                        : is_cbc(algorithm) ? 0
                                            : NONCE - EXPLICIT;
        guint8 block[2 * (MAX_HASH + MAX_KEY + NONCE)];
        expand_master(c->suite.hash == SHA_384 ? SHA_384 : SHA_256, master, client_random,
                      server_random, block, 2 * (n_mac + n_key + n_nonce));
        memcpy(c->mac_key, block + server * n_mac, n_mac);
        key_set(c, block + 2 * n_mac + server * n_key);
        memcpy(c->nonce, block + 2 * (n_mac + n_key) + server * n_nonce, n_nonce);
        return c;
}

void record_cipher_free(RecordCipher *cipher)
{
        g_free(cipher);
}

void record_cipher_update(RecordCipher *c)
{
        TlsSecret next = { .n = c->secret.n };
        expand_label(c->suite.hash, &c->secret, c->labels->update, next.bytes,
                     hash_size(c->suite.hash));
        next.n = (guint8)hash_size(c->suite.hash);
        c->secret = next;
        keys_from_secret(c);
}

/* --- opening --------------------------------------------------------------- */

static void put_sequence(guint8 *to, guint64 sequence)
{
        for (guint i = 0; i < 8; i++)
                to[i] = (guint8)(sequence >> (56 - 8 * i));
}

/* Ciphertext of n bytes, its tag of TAG bytes, and the data that is authenticated with it. */
typedef struct {
        const guint8 *nonce, *data, *bytes, *tag;
        gsize n_data, n;
} Sealed;

static gboolean open_gcm(RecordCipher *c, const Sealed *s, guint8 *plain)
{
        guint8 digest[TAG];
        if (c->suite.algorithm == GCM_128) {
                struct gcm_aes128_ctx *k = &c->key.gcm_128;
                gcm_aes128_set_iv(k, NONCE, s->nonce);
                gcm_aes128_update(k, s->n_data, s->data);
                gcm_aes128_decrypt(k, s->n, plain, s->bytes);
                gcm_aes128_digest(k, TAG, digest);
        } else {
                struct gcm_aes256_ctx *k = &c->key.gcm_256;
                gcm_aes256_set_iv(k, NONCE, s->nonce);
                gcm_aes256_update(k, s->n_data, s->data);
                gcm_aes256_decrypt(k, s->n, plain, s->bytes);
                gcm_aes256_digest(k, TAG, digest);
        }
        return memeql_sec(digest, s->tag, TAG);
}

static gboolean open_chacha(RecordCipher *c, const Sealed *s, guint8 *plain)
{
        guint8 digest[TAG];
        chacha_poly1305_set_nonce(&c->key.chacha, s->nonce);
        chacha_poly1305_update(&c->key.chacha, s->n_data, s->data);
        chacha_poly1305_decrypt(&c->key.chacha, s->n, plain, s->bytes);
        chacha_poly1305_digest(&c->key.chacha, TAG, digest);
        return memeql_sec(digest, s->tag, TAG);
}

static gboolean open_ccm(RecordCipher *c, const Sealed *s, gsize n_tag, guint8 *plain)
{
        if (c->suite.algorithm == CCM_128 || c->suite.algorithm == CCM_128_SHORT)
                return ccm_aes128_decrypt_message(&c->key.ccm_128, NONCE, s->nonce, s->n_data,
                                                  s->data, n_tag, s->n, plain, s->bytes);
        return ccm_aes256_decrypt_message(&c->key.ccm_256, NONCE, s->nonce, s->n_data, s->data,
                                          n_tag, s->n, plain, s->bytes);
}

static gboolean open_sealed(RecordCipher *c, const Sealed *s, gsize n_tag, guint8 *plain)
{
        switch ((Algorithm)c->suite.algorithm) {
        case GCM_128:
        case GCM_256:
                return open_gcm(c, s, plain);
        case CHACHA:
                return open_chacha(c, s, plain);
        default:
                return open_ccm(c, s, n_tag, plain);
        }
}

static gsize tag_size(Algorithm algorithm)
{
        return algorithm == CCM_128_SHORT || algorithm == CCM_256_SHORT ? SHORT_TAG : TAG;
}

/* The nonce of a record or packet of this number. */
static void put_nonce(const RecordCipher *c, guint64 number, guint8 *nonce)
{
        guint8 bytes[8];
        memcpy(nonce, c->nonce, NONCE);
        put_sequence(bytes, number);
        for (guint i = 0; i < sizeof bytes; i++)
                nonce[NONCE - 8 + i] ^= bytes[i];
}

gssize record_cipher_open_packet(RecordCipher *c, guint64 number, const guint8 *header,
                                 gsize n_header, const guint8 *bytes, gsize n, guint8 *plain)
{
        guint8 nonce[NONCE];
        gsize n_tag = tag_size(c->suite.algorithm);
        if (n < n_tag || n > MAX_CIPHERTEXT)
                return -1;
        Sealed s = { .nonce = nonce,
                     .data = header,
                     .n_data = n_header,
                     .bytes = bytes,
                     .n = n - n_tag,
                     .tag = bytes + n - n_tag };
        put_nonce(c, number, nonce);
        return open_sealed(c, &s, n_tag, plain) ? (gssize)s.n : -1;
}

/* RFC 9001, section 5.4. */
void record_cipher_mask(const RecordCipher *c, const guint8 *sample, guint8 *mask)
{
        guint8 block[BLOCK] = { 0 };
        if (c->suite.algorithm == CHACHA) {
                struct chacha_ctx chacha;
                chacha_set_key(&chacha, c->mask_key);
                chacha_set_nonce96(&chacha, sample + CHACHA_COUNTER32_SIZE); /* sets the counter */
                chacha_set_counter32(&chacha, sample);
                chacha_crypt32(&chacha, QUIC_MASK, block, block);
        } else if (key_size(c->suite.algorithm) == AES128_KEY_SIZE) {
                struct aes128_ctx aes;
                aes128_set_encrypt_key(&aes, c->mask_key);
                aes128_encrypt(&aes, BLOCK, block, sample);
        } else {
                struct aes256_ctx aes;
                aes256_set_encrypt_key(&aes, c->mask_key);
                aes256_encrypt(&aes, BLOCK, block, sample);
        }
        memcpy(mask, block, QUIC_MASK);
}

/* A cipher that authenticates, too. The length of the plaintext, or -1. */
static gssize open_authenticated(RecordCipher *c, guint64 sequence, const guint8 *header,
                                 const guint8 *bytes, gsize n, guint8 *plain)
{
        guint8 nonce[NONCE], data[8 + RECORD_HEADER];
        gsize n_tag = tag_size(c->suite.algorithm);
        gsize outside = c->is_13 || c->suite.algorithm == CHACHA ? 0 : EXPLICIT;
        if (n < outside + n_tag)
                return -1;
        Sealed s = { .nonce = nonce,
                     .data = data,
                     .bytes = bytes + outside,
                     .n = n - outside - n_tag,
                     .tag = bytes + n - n_tag };
        if (outside > 0) {
                memcpy(nonce, c->nonce, NONCE);
                memcpy(nonce + NONCE - EXPLICIT, bytes, EXPLICIT);
        } else {
                put_nonce(c, sequence, nonce);
        }
        if (c->is_13) {
                memcpy(data, header, RECORD_HEADER);
                s.n_data = RECORD_HEADER;
        } else {
                put_sequence(data, sequence);
                memcpy(data + 8, header, 3);
                data[11] = (guint8)(s.n >> 8);
                data[12] = (guint8)s.n;
                s.n_data = sizeof data;
        }
        return open_sealed(c, &s, n_tag, plain) ? (gssize)s.n : -1;
}

static gboolean mac_is_right(const RecordCipher *c, guint64 sequence, const guint8 *header,
                             const guint8 *bytes, gsize n, const guint8 *mac)
{
        guint8 data[8 + RECORD_HEADER], digest[MAX_HASH];
        gsize size = hash_size(c->suite.hash);
        put_sequence(data, sequence);
        memcpy(data + 8, header, 3);
        data[11] = (guint8)(n >> 8);
        data[12] = (guint8)n;
        Mac h = mac_new(c->suite.hash, c->mac_key, size);
        mac_update(&h, data, sizeof data);
        mac_update(&h, bytes, n);
        mac_digest(&h, digest);
        return memeql_sec(digest, mac, size);
}

/* Blocks, with the first as the start value; padding and the MAC inside, or the MAC behind. */
static gssize open_cbc(RecordCipher *c, guint64 sequence, const guint8 *header, const guint8 *bytes,
                       gsize n, guint8 *plain)
{
        guint8 start[BLOCK];
        gsize n_mac = hash_size(c->suite.hash), inside = c->mac_of_cipher ? 0 : n_mac;
        if (c->mac_of_cipher) {
                if (n < n_mac ||
                    !mac_is_right(c, sequence, header, bytes, n - n_mac, bytes + n - n_mac))
                        return -1;
                n -= n_mac;
        }
        if (n < 2 * BLOCK || n % BLOCK != 0)
                return -1;
        memcpy(start, bytes, BLOCK);
        n -= BLOCK;
        if (c->suite.algorithm == CBC_128)
                cbc_decrypt(&c->key.cbc_128, (nettle_cipher_func *)aes128_decrypt, BLOCK, start, n,
                            plain, bytes + BLOCK);
        else
                cbc_decrypt(&c->key.cbc_256, (nettle_cipher_func *)aes256_decrypt, BLOCK, start, n,
                            plain, bytes + BLOCK);
        gsize padding = (gsize)plain[n - 1] + 1;
        if (padding + inside > n)
                return -1;
        n -= padding + inside;
        if (inside > 0 && !mac_is_right(c, sequence, header, plain, n, plain + n))
                return -1;
        return (gssize)n;
}

gssize record_cipher_open(RecordCipher *c, guint64 sequence, const guint8 *header,
                          const guint8 *bytes, gsize n, guint8 *plain, guint8 *type)
{
        gssize length;
        if (n > MAX_CIPHERTEXT)
                return -1;
        length = is_cbc(c->suite.algorithm)
                         ? open_cbc(c, sequence, header, bytes, n, plain)
                         : open_authenticated(c, sequence, header, bytes, n, plain);
        *type = header[0];
        if (length < 0 || !c->is_13)
                return length;
        while (length > 0 && plain[length - 1] == 0)
                length--;
        if (length == 0)
                return -1; /* only padding: no type */
        *type = plain[--length];
        return length;
}
