/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files for --nodes. Which of these one is, is known by its first line that says something:
 *
 * - lines as of hosts(5) (node-names.h), which are a user's own: a wrong one is an error;
 * - what `ss -tnp` or `lsof -nP -i` printed, once or again and again: whose process has which
 *   end of which connection. A process is called as a line of the first kind calls an
 *   address and port at which it serves, else by its own name;
 * - what `conntrack -L` or `conntrack -E -o timestamp` printed: which connections go through
 *   address translation, and to whom.
 *
 * Of the last two, lines that are not understood are left out: processes choose their names.
 */
#pragma once

#include "capture/network/node-names.h"

typedef struct NodeFiles NodeFiles;

/* Both are borrowed. */
NodeFiles *node_files_new(NodeNames *names, NodeTable *nodes);
void node_files_free(NodeFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeFiles, node_files_free)

/* Adds a file, or the n bytes at text, called source in errors. FALSE: error set. */
gboolean node_files_load(NodeFiles *files, const char *path, GError **error);
gboolean node_files_parse(NodeFiles *files, const char *text, gsize n, const char *source,
                          GError **error);

/* When all files are there: names what they tell. */
void node_files_settle(NodeFiles *files);
