/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The files of a run. No output takes the place of an input, and no two outputs are one file,
 * by whichever names: links are followed, and a file that is not there yet is known by its
 * folder and name. Each verb names all of its files here before it opens the first output.
 * Pipes, devices and terminals may be read and written at once.
 */
#pragma once

#include <glib.h>

/* "-" is standard input. FALSE and error set where path is an output, too. */
gboolean run_files_read(const char *path, GError **error);

/* The same for what has to be a store: its error says what path is instead, and which verb
 * reads that. */
gboolean run_files_read_store(const char *path, GError **error);

/* option ("-w") is what the user knows the output by; an option that comes again has done with
 * its file before. "-" or NULL is standard output. FALSE and error set where path is an input
 * or another output, too, or cannot be written. */
gboolean run_files_write(const char *option, const char *path, GError **error);

/* Whether two files that are there are one. */
gboolean run_files_same(const char *a, const char *b);
