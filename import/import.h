/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What other programs know, as a trace: a format of theirs is a file here and a row in the table of
 * ravel import. Lines go in one at a time, or bytes as the format likes them; calls and returns
 * come out in the order of time.
 */
#ifndef RAVEL_IMPORT_H
#define RAVEL_IMPORT_H

#include "tracefmt/trace-writer.h"

/* An end of a packet's way, its address as text. */
typedef struct {
        const char *address;
        guint16 port;
} ImportEnd;

/* The node that own is, which has packets with peer at that time. */
typedef NodeId (*ImportName)(gpointer user, const ImportEnd *own, const ImportEnd *peer,
                             gint64 time);

typedef struct {
        guint64 lines, packets;
        guint64 calls;       /* with their return */
        guint64 lost;        /* returns whose call is not there */
        guint64 not_between; /* returns that do not go back the way that their call came */
} ImportCounts;

/* The bytes of a file. */
typedef struct {
        const char *name;
        gssize (*read)(gpointer user, void *buffer, gsize n, GError **error); /* as read(2) */
        gpointer user;
} ImportInput;

/* Something to say of what was read: "spans left out, there twice", and how many, or a
 * text of more than that. FALSE with error set where it could not be said. */
typedef gboolean (*ImportSay)(gpointer user, const char *what, const char *value, GError **error);

typedef struct {
        const char *name; /* as in --tshark */
        gpointer (*begin)(ImportName name, gpointer user);

        /* A line without its end. FALSE with error set, which says what was found and expected. */
        gboolean (*add)(gpointer import, const guint8 *line, gsize n, GError **error);

        /* After the last: all messages. */
        gboolean (*write)(gpointer import, TraceWriter *writer, GError **error);
        const ImportCounts *(*counts)(gconstpointer import);
        void (*end)(gpointer import); /* frees it */

        /* Whether a file that begins so is of this format. NULL: it has to be asked for. */
        gboolean (*is_format)(const guint8 *data, gsize n);

        /* Instead of add: a whole file. An error of the code RAVEL_ERROR_PARTIAL says that it ends
         * within something: what stood before is used. */
        gboolean (*read)(gpointer import, const ImportInput *input, GError **error);

        /* Instead of counts, after write: all that there is to say. */
        gboolean (*say)(gconstpointer import, ImportSay say, gpointer user, GError **error);
} ImportFormat;

extern const ImportFormat import_tshark;
extern const ImportFormat import_spans;

#endif
