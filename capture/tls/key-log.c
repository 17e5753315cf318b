/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/tls/key-log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"

enum {
        MAX_LINE = 1024, /* a label, 32 bytes and at most 64, in hexadecimal */
        READ_SIZE = 65536,
};

typedef struct {
        guint8 random[TLS_RANDOM];
        TlsSecret secret[N_SECRETS];
} ConnectionSecrets;

struct KeyLog {
        /* ConnectionSecrets, by their random. The older are dropped when the newer are full. */
        GHashTable *newer, *older;
        guint most;          /* connections of each */
        char line[MAX_LINE]; /* the beginning of one whose end has not come */
        gsize n_line;
        int fd; /* -1: none, or it has ended */
        gboolean follow, used, too_long;
        guint64 forgotten; /* connections */
        guint64 n_secrets, n_broken, n_other;
};

static guint random_hash(gconstpointer random)
{
        return (guint)hash_keyed_bytes(hash_key(), random, TLS_RANDOM);
}

static gboolean random_equal(gconstpointer a, gconstpointer b)
{
        return memcmp(a, b, TLS_RANDOM) == 0;
}

static GHashTable *connections_new(void)
{
        return g_hash_table_new_full(random_hash, random_equal, NULL, g_free);
}

KeyLog *key_log_new(void)
{
        KeyLog *log = g_new0(KeyLog, 1);
        log->newer = connections_new();
        log->older = connections_new();
        log->most = G_MAXUINT;
        log->fd = -1;
        return log;
}

void key_log_free(KeyLog *log)
{
        if (!log)
                return;
        if (log->fd >= 0)
                close(log->fd);
        g_hash_table_unref(log->newer);
        g_hash_table_unref(log->older);
        g_free(log);
}

void key_log_bound(KeyLog *log, guint most)
{
        log->most = most / 2;
}

guint64 key_log_forgotten(const KeyLog *log)
{
        return log->forgotten;
}

static ConnectionSecrets *secrets_lookup(const KeyLog *log, const guint8 *random)
{
        ConnectionSecrets *c = g_hash_table_lookup(log->newer, random);
        return c ? c : g_hash_table_lookup(log->older, random);
}

/* --- lines ----------------------------------------------------------------- */

static SecretKind key_log_kind_of(const char *label, gsize n)
{
        static const char *const labels[N_SECRETS] = {
                [SECRET_MASTER] = "CLIENT_RANDOM",
                [SECRET_CLIENT_EARLY] = "CLIENT_EARLY_TRAFFIC_SECRET",
                [SECRET_CLIENT_HANDSHAKE] = "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
                [SECRET_SERVER_HANDSHAKE] = "SERVER_HANDSHAKE_TRAFFIC_SECRET",
                [SECRET_CLIENT_TRAFFIC] = "CLIENT_TRAFFIC_SECRET_0",
                [SECRET_SERVER_TRAFFIC] = "SERVER_TRAFFIC_SECRET_0",
        };
        for (SecretKind kind = 0; kind < N_SECRETS; kind++)
                if (strlen(labels[kind]) == n && memcmp(labels[kind], label, n) == 0)
                        return kind;
        return N_SECRETS;
}

/* The bytes that the n characters at text say in hexadecimal, at most max. How many; 0 where
 * they say none. */
static gsize decode_hex(const char *text, gsize n, guint8 *bytes, gsize max)
{
        if (n % 2 != 0 || n / 2 > max)
                return 0;
        for (gsize i = 0; i < n / 2; i++) {
                int high = g_ascii_xdigit_value(text[2 * i]),
                    low = g_ascii_xdigit_value(text[2 * i + 1]);
                if (high < 0 || low < 0)
                        return 0;
                bytes[i] = (guint8)(high << 4 | low);
        }
        return n / 2;
}

static void secret_add(KeyLog *log, SecretKind kind, const guint8 *random, const TlsSecret *secret)
{
        ConnectionSecrets *c = secrets_lookup(log, random);
        if (!c) {
                if (g_hash_table_size(log->newer) >= log->most) {
                        log->forgotten += g_hash_table_size(log->older);
                        g_hash_table_unref(log->older);
                        log->older = log->newer;
                        log->newer = connections_new();
                }
                c = g_new0(ConnectionSecrets, 1);
                memcpy(c->random, random, TLS_RANDOM);
                g_hash_table_add(log->newer, c);
        }
        c->secret[kind] = *secret;
        log->n_secrets++;
}

/* The word of a line that begins at *at, and its length; moves on past it. */
static const char *key_log_next_word(const char *line, gsize n, gsize *at, gsize *length)
{
        while (*at < n && line[*at] == ' ')
                ++*at;
        const char *word = line + *at;
        while (*at < n && line[*at] != ' ')
                ++*at;
        *length = (gsize)(line + *at - word);
        return word;
}

static gboolean is_label(const char *word, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if (!g_ascii_isupper(word[i]) && !g_ascii_isdigit(word[i]) && word[i] != '_')
                        return FALSE;
        return n > 0;
}

/* A line without its end. */
static void key_log_line_read(KeyLog *log, const char *line, gsize n)
{
        guint8 random[TLS_MAX_SECRET];
        TlsSecret secret;
        gsize at = 0, n_label, n_random, n_secret, n_rest;
        while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' '))
                n--;
        if (n == 0 || line[0] == '#')
                return;
        const char *label = key_log_next_word(line, n, &at, &n_label);
        const char *first = key_log_next_word(line, n, &at, &n_random);
        const char *second = key_log_next_word(line, n, &at, &n_secret);
        key_log_next_word(line, n, &at, &n_rest);
        SecretKind kind = key_log_kind_of(label, n_label);
        secret.n = (guint8)decode_hex(second, n_secret, secret.bytes, sizeof secret.bytes);
        gsize n_bytes = decode_hex(first, n_random, random, sizeof random);
        if (kind == N_SECRETS && is_label(label, n_label) && n_bytes > 0 && secret.n > 0)
                log->n_other++; /* such as EXPORTER_SECRET */
        else if (kind == N_SECRETS || secret.n == 0 || n_rest > 0 || n_bytes != TLS_RANDOM)
                log->n_broken++;
        else
                secret_add(log, kind, random, &secret);
}

/* Bytes of a file, which may end within a line. */
static void key_log_take(KeyLog *log, const char *bytes, gsize n)
{
        while (n > 0) {
                const char *end = memchr(bytes, '\n', n);
                gsize length = end ? (gsize)(end - bytes) : n;
                log->too_long |= log->n_line + length > MAX_LINE;
                if (!log->too_long) {
                        memcpy(log->line + log->n_line, bytes, length);
                        log->n_line += length;
                }
                if (!end)
                        return;
                if (log->too_long)
                        log->n_broken++;
                else
                        key_log_line_read(log, log->line, log->n_line);
                log->n_line = 0;
                log->too_long = FALSE;
                bytes = end + 1;
                n -= length + 1;
        }
}

void key_log_add(KeyLog *log, const guint8 *bytes, gsize n)
{
        log->used = TRUE;
        key_log_take(log, "\n", log->n_line > 0);
        key_log_take(log, (const char *)bytes, n);
        key_log_take(log, "\n", 1);
}

/* --- the file -------------------------------------------------------------- */

/* Takes what the file has more. */
static gboolean read_on(KeyLog *log, GError **error, const char *name)
{
        char buffer[READ_SIZE];
        for (;;) {
                gssize n = read(log->fd, buffer, sizeof buffer);
                if (n > 0) {
                        key_log_take(log, buffer, (gsize)n);
                } else if (n < 0 && errno == EINTR) {
                        continue;
                } else if (n < 0 && errno != EAGAIN) {
                        return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: %s", name,
                                          g_strerror(errno));
                } else {
                        return TRUE;
                }
        }
}

gboolean key_log_read(KeyLog *log, int fd, const char *name, gboolean follow, GError **error)
{
        log->fd = fd;
        log->follow = follow;
        log->used = TRUE;
        if (!read_on(log, error, name))
                return FALSE;
        if (!follow)
                key_log_take(log, "\n", log->n_line > 0);
        if (log->n_broken > 0 && log->n_secrets + log->n_other == 0)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: not a key log: no line is a label, a random and a secret, "
                                  "such as \"CLIENT_RANDOM 5a1c... 9f04...\"",
                                  name);
        return TRUE;
}

const TlsSecret *key_log_find(KeyLog *log, const guint8 *random)
{
        const ConnectionSecrets *c = secrets_lookup(log, random);
        if (log->follow && (!c || !c->secret[SECRET_MASTER].n)) {
                read_on(log, NULL, NULL);
                c = secrets_lookup(log, random);
        }
        return c ? c->secret : NULL;
}

gboolean key_log_follows(const KeyLog *log)
{
        return log->follow;
}

gboolean key_log_is_used(const KeyLog *log)
{
        return log->used;
}

guint64 key_log_broken_lines(const KeyLog *log)
{
        return log->n_broken;
}
