/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The text of a configuration, split into groups, keys and values, in the syntax of GLib's key
 * files. Unlike there, each key keeps its line and column, a repeated key or group is an error, and
 * values have no escapes.
 */
#pragma once

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
        char *file;          /* its name in error messages */
        guint8 *data;        /* the text, which the cursors point into */
        GArray *groups;      /* of KeyFileGroup */
        GArray *keys;        /* of KeyFileKey, in the order of the file */
        GHashTable *by_name; /* groups: name to number + 1 */
} KeyFile;

/* Takes a copy of the n bytes at data. NULL and error set if they are no key file. */
KeyFile *key_file_parse(const guint8 *data, gsize n, const char *file, GError **error);

void key_file_free(KeyFile *k);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KeyFile, key_file_free)
