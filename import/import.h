/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Imports the output of other programs as a trace. A format is a file here and a row in the table
 * of ravel import. It takes lines one at a time, or whole files. Calls and returns come out in the
 * order of time.
 */
#pragma once

#include "tracefmt/trace-writer.h"

/* The sender or receiver of a packet, its address as text. */
typedef struct {
        const char *address;
        guint16 port;
} ImportEnd;

/* The node at own, which exchanges packets with peer at that time. */
typedef NodeId (*ImportName)(gpointer user, const ImportEnd *own, const ImportEnd *peer,
                             gint64 time);

typedef struct {
        guint64 lines, packets;
        guint64 calls;       /* calls with their returns */
        guint64 lost;        /* returns whose call is missing */
        guint64 not_between; /* returns that do not reverse the addresses of their call */
} ImportCounts;

/* A file to read. */
typedef struct {
        const char *name;
        gssize (*read)(gpointer user, void *buffer, gsize n, GError **error); /* as read(2) */
        gpointer user;
} ImportInput;

/* Reports a fact about the input: "spans left out: duplicates", and their number or a text. FALSE
 * with error set if it could not be written. */
typedef gboolean (*ImportSay)(gpointer user, const char *what, const char *value, GError **error);

typedef struct {
        const char *name; /* as in --tshark */
        gpointer (*begin)(ImportName name, gpointer user);

        /* Adds a line, without its newline. FALSE with error set: what was found and expected. */
        gboolean (*add)(gpointer import, const guint8 *line, gsize n, GError **error);

        /* After the last line: writes all messages. */
        gboolean (*write)(gpointer import, TraceWriter *writer, GError **error);
        const ImportCounts *(*counts)(gconstpointer import);
        void (*end)(gpointer import); /* frees it */

        /* Whether a file with these first bytes is of this format. NULL: the user has to name the
         * format. */
        gboolean (*is_format)(const guint8 *data, gsize n);

        /* Instead of add: reads a whole file. The error RAVEL_ERROR_PARTIAL says that the file is
         * truncated; what was read before is used. */
        gboolean (*read)(gpointer import, const ImportInput *input, GError **error);

        /* Instead of counts, after write: reports all facts. */
        gboolean (*say)(gconstpointer import, ImportSay say, gpointer user, GError **error);
} ImportFormat;

extern const ImportFormat import_tshark;
extern const ImportFormat import_spans;
