/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The ciphers of TLS records (RFC 8446, sections 5.2 and 7; RFC 5246, section 6; RFC 5288, 6655,
 * 7366, 7905), to open what was captured. By nettle: its ciphers are plain structs that need no
 * allocation, no start-up and no cleaning up, so what a connection takes is known.
 */
#pragma once

#include "capture/tls/key-log.h"

enum {
        RECORD_HEADER = 5,
        MAX_PLAINTEXT = 16384,
        MAX_CIPHERTEXT = MAX_PLAINTEXT + 2048,

        QUIC_SAMPLE = 16, /* bytes of a packet by which its header is protected, */
        QUIC_MASK = 5,    /* and the bytes of that protection */

        RECORD_CHANGE_CIPHER = 20,
        RECORD_ALERT = 21,
        RECORD_HANDSHAKE = 22,
        RECORD_DATA = 23,
};

/* How the server said that records are protected. */
typedef struct {
        guint16 suite;          /* as registered */
        gboolean is_13;         /* version 1.3, else 1.2 */
        gboolean mac_of_cipher; /* encrypt-then-MAC was agreed on; of suites with CBC */
} RecordProtection;

/* Whether records protected so can be opened. */
gboolean record_protection_is_known(const RecordProtection *protection);

typedef struct RecordCipher RecordCipher;

/* The keys of one direction of a connection of version 1.3, from its traffic secret. */
RecordCipher *record_cipher_new(const RecordProtection *protection, const TlsSecret *secret);

/* Of version 1.2, from the master secret and the two randoms. server: of what it sends. */
RecordCipher *record_cipher_new_old(const RecordProtection *protection, const TlsSecret *master,
                                    const guint8 *client_random, const guint8 *server_random,
                                    gboolean server);

/* Of one direction and level of QUIC (RFC 9001), from its secret. suite: a known one of
 * version 1.3, by which packets are protected. version_2: of QUIC (RFC 9369). */
RecordCipher *record_cipher_new_quic(guint16 suite, gboolean version_2, const TlsSecret *secret);

RecordCipher *record_cipher_copy(const RecordCipher *cipher);

/* The secret of the client's or the server's Initial packets, from the connection id of n bytes
 * that the client chose for the server. */
void record_cipher_initial_secret(gboolean version_2, const guint8 *id, gsize n, gboolean server,
                                  TlsSecret *secret);

/* What the first byte and the packet number are hidden by: QUIC_MASK bytes, from QUIC_SAMPLE. */
void record_cipher_mask(const RecordCipher *cipher, const guint8 *sample, guint8 *mask);

/* As record_cipher_open(), of the packet of this number of QUIC. */
gssize record_cipher_open_packet(RecordCipher *cipher, guint64 number, const guint8 *header,
                                 gsize n_header, const guint8 *bytes, gsize n, guint8 *plain);

/* 4.5 KB each. */
void record_cipher_free(RecordCipher *cipher);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecordCipher, record_cipher_free)

/* The keys after these (RFC 8446, section 7.2; RFC 9001, section 6). Not of version 1.2. */
void record_cipher_update(RecordCipher *cipher);

/* Opens the record of this sequence number: header and n bytes of ciphertext, into plain, which
 * has room for MAX_CIPHERTEXT. *type: the record's type, or the one inside. The length of the
 * plaintext; -1 where the keys are not the record's, or it was changed. */
gssize record_cipher_open(RecordCipher *cipher, guint64 sequence, const guint8 *header,
                          const guint8 *bytes, gsize n, guint8 *plain, guint8 *type);
