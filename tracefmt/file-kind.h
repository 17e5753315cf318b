/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a file is, by how it begins: for whoever gave a verb the file of another one.
 */
#pragma once

#include <glib.h>

typedef enum {
        FILE_UNKNOWN,
        FILE_CAPTURE,  /* of packets: pcap or pcapng */
        FILE_TRACE,    /* text */
        FILE_STORE,    /* what -o writes */
        FILE_DATABASE, /* SQLite, of another program */
} FileKind;

/* 80 bytes tell all of them apart. */
FileKind file_kind_of(const void *data, gsize n);

/* Of a regular file, which may be compressed; "-" is standard input, which is left where it was.
 * FILE_UNKNOWN where it cannot be read, too. */
FileKind file_kind_read(const char *path);

/* FALSE, and error set to what the file is and which verb reads it, where found is known and
 * is not wanted. name: what the file is called. */
gboolean file_kind_expect(FileKind found, FileKind wanted, const char *name, GError **error);
