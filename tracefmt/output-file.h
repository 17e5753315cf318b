/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A result file that is there whole or not at all. If the target is absent or a regular file, the
 * file is written under a temporary name beside it, and renamed when it is complete. A device, a
 * pipe, the target of a symbolic link and standard output ("-") are opened and written directly.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef struct OutputFile OutputFile;

/* in_place = TRUE writes the final name from the start (a live capture).
 * NULL and error set where it cannot be opened. */
OutputFile *output_file_new(const char *path, gboolean in_place, GError **error);

/* Lets a file that output_file_new() has made be user's and group's, where that can be. */
void output_file_give(OutputFile *out, uid_t user, gid_t group);

/* Buffered. FALSE and error set on a full disk or a closed pipe. */
gboolean output_file_write(OutputFile *out, const void *data, gsize n, GError **error);
gboolean output_file_flush(OutputFile *out, GError **error);

/* The same for a text, which it empties. */
gboolean output_file_take(OutputFile *out, GString *text, GError **error);

/* A file of this text alone. */
gboolean output_file_put(const char *path, const GString *text, GError **error);

/* Bytes that were written, flushed or not. */
guint64 output_file_size(const OutputFile *out);

/* What to call the file in a message: its path, or "standard output". */
const char *output_file_name(const OutputFile *out);

/* Flushes, closes and renames; frees out either way. */
gboolean output_file_close(OutputFile *out, GError **error);

/* Gives up: removes the temporary file. NULL is allowed. */
void output_file_free(OutputFile *out);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OutputFile, output_file_free)

/* For a library that must write a file by its name (SQLite): where to write,
 * newly allocated; output_path_commit() then renames it to path. Where path is
 * not absent or a regular file the two are the same and commit does nothing. */
char *output_path_temporary(const char *path, GError **error);
gboolean output_path_commit(const char *temporary, const char *path, GError **error);

/* A file to write and read again that has no name, in the folder for temporary files (TMPDIR):
 * its descriptor, or -1 with errno set. */
int output_scratch_open(void);

/* The same with a name, which ends in suffix (".sqlite"), for what is read or written by its name.
 * At most 40 at once. NULL and error set where it cannot be made. */
char *output_scratch_new(const char *suffix, GError **error);
void output_scratch_remove(char *path); /* frees path; NULL is allowed */

/* A signal that ends the process removes its temporary files first: SIGHUP, SIGINT, SIGQUIT,
 * SIGTERM and the limit of CPU time. What is ignored (nohup) stays ignored. The handler is for a
 * program that catches one of these itself, and the second time not. */
void output_files_catch_signals(void);
void output_files_die(int number);
