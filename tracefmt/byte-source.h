/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes from a file, a pipe or standard input ("-"), decompressed on the way
 * where they begin with the magic of gzip or zstd. Traces and captures are both
 * read through this.
 */
#pragma once

#include <glib.h>

typedef struct ByteSource ByteSource;

/* NULL and error set where path cannot be read (absent, a directory, no
 * permission). */
ByteSource *byte_source_new(const char *path, GError **error);

/* Asks for wait(user, fd) before each read of stored bytes from fd, which it may poll
 * meanwhile. Where it returns FALSE the bytes end. */
typedef gboolean (*ByteSourceWait)(gpointer user, int fd);
void byte_source_set_wait(ByteSource *source, ByteSourceWait wait, gpointer user);

/* Asks for progress(n) after each read of stored bytes, of n of them, 0 at their end. */
typedef void (*ByteSourceProgress)(gsize n);
void byte_source_set_progress(ByteSource *source, ByteSourceProgress progress);

/* Up to n bytes into buffer: as soon as there are any, so that a live pipe is
 * read as it is written. Returns how many; 0 at the end, or -1 with error set
 * (an unreadable disk, compressed data that is corrupt or ends early). */
gssize byte_source_read(ByteSource *source, void *buffer, gsize n, GError **error);

/* Whether the last error was that compressed data ends early: what was read is right. */
gboolean byte_source_ended_early(const ByteSource *source);

/* Whether the bytes are compressed, after the first read. */
gboolean byte_source_is_packed(const ByteSource *source);

/* What to call it in a message: the path, or "standard input", or what it is called from now on. */
const char *byte_source_name(const ByteSource *source);
void byte_source_set_name(ByteSource *source, const char *name);

/* Asks for the SHA-256 of the bytes as stored (not decompressed). Call before
 * the first read; the digest is there after the last, else NULL. Borrowed. */
void byte_source_want_digest(ByteSource *source);
const char *byte_source_digest(ByteSource *source);

void byte_source_free(ByteSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ByteSource, byte_source_free)
