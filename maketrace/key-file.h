/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The text of a configuration, cut into groups, keys and values: the syntax of
 * GLib's key files, but each key keeps its line and column, a key or group that
 * comes twice is an error, and values are taken as they stand (no escapes).
 */
#ifndef RAVEL_KEY_FILE_H
#define RAVEL_KEY_FILE_H

#include "maketrace/text-cursor.h"

typedef struct {
        char *name;
        TextCursor text;  /* the name, where it stands */
        guint first, end; /* its keys: keys[first] .. keys[end - 1] */
} KeyFileGroup;

typedef struct {
        char *name;
        TextCursor text;  /* the name, where it stands */
        TextCursor value; /* without blanks around it; may be empty */
} KeyFileKey;

typedef struct {
        char *file;          /* what to call it in a message */
        guint8 *data;        /* of which the cursors speak */
        GArray *groups;      /* of KeyFileGroup */
        GArray *keys;        /* of KeyFileKey, in the order of the file */
        GHashTable *by_name; /* groups: name to number + 1 */
} KeyFile;

/* Takes a copy of the n bytes at data. NULL and error set where they are not a
 * key file. */
KeyFile *key_file_parse(const guint8 *data, gsize n, const char *file, GError **error);

void key_file_free(KeyFile *k);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KeyFile, key_file_free)

#endif
