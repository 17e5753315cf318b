/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The secrets of TLS connections, as clients and servers write them (SSLKEYLOGFILE,
 * draft-ietf-tls-keylogfile): lines of a label, the client's random and a secret, in
 * hexadecimal. From a file, which may grow, and from pcapng's Decryption Secrets Blocks.
 */
#pragma once

#include <glib.h>

enum { TLS_RANDOM = 32, TLS_MAX_SECRET = 64 };

typedef enum {
        SECRET_MASTER,       /* up to version 1.2, the master secret */
        SECRET_CLIENT_EARLY, /* 1.3, for data before the server's hello; */
        SECRET_CLIENT_HANDSHAKE,
        SECRET_SERVER_HANDSHAKE,
        SECRET_CLIENT_TRAFFIC,
        SECRET_SERVER_TRAFFIC,
        N_SECRETS
} SecretKind;

typedef struct {
        guint8 n; /* bytes; 0: not known */
        guint8 bytes[TLS_MAX_SECRET];
} TlsSecret;

typedef struct KeyLog KeyLog;

KeyLog *key_log_new(void);
void key_log_free(KeyLog *log);

/* Keeps the secrets of at most the last `most` connections, some 400 bytes each. */
void key_log_bound(KeyLog *log, guint most);

/* The connections whose secrets were forgotten. */
guint64 key_log_forgotten(const KeyLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KeyLog, key_log_free)

/* Takes what a file has, and reads on there when a secret is looked for that is not known
 * yet, if follow is set. fd is the log's from now on. FALSE: error set, it cannot be read, or
 * it does not look like a key log at all. */
gboolean key_log_read(KeyLog *log, int fd, const char *name, gboolean follow, GError **error);

/* n bytes of whole lines; what is no line of a key log is counted. */
void key_log_add(KeyLog *log, const guint8 *bytes, gsize n);

/* The secrets of a connection by its client's random of TLS_RANDOM bytes: N_SECRETS, valid until
 * the next call of any function here. NULL where none is known. */
const TlsSecret *key_log_find(KeyLog *log, const guint8 *random);

/* Whether secrets that are not known may come. */
gboolean key_log_follows(const KeyLog *log);

/* Whether any key was ever asked to be used: a file was given, or secrets came. */
gboolean key_log_is_used(const KeyLog *log);

/* Lines without a secret that are neither blank nor comments nor of another label. */
guint64 key_log_broken_lines(const KeyLog *log);
