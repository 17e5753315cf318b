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

/* The same for a store, never standard output. */
gboolean run_files_write_store(const char *option, const char *path, GError **error);

/* What a run needs beside these files. */
typedef struct {
        gboolean packets;    /* it parses packets */
        gboolean interfaces; /* of interfaces, which are open */
        gboolean processes;  /* it reads /proc */
        gboolean open_files; /* it looks at what other processes have open */
        gboolean draws;      /* ravel-draw draws for it */
        const char *folder;  /* more outputs are made there; NULL: none */
} RunNeeds;

/* Enters the sandbox (base/sandbox.h): from now on these files alone are read and written, and
 * temporary ones unless packets are of interfaces. Does nothing after --no-sandbox, nor if it is in
 * it. Each verb calls it after it named its files, before it parses any, and before threads start.
 * FALSE: error set. */
gboolean run_files_confine(const RunNeeds *needs, GError **error);

/* The same for a reader of traces or stores. */
gboolean run_files_confine_reader(gboolean draws, GError **error);

/* Whether two files that are there are one. */
gboolean run_files_same(const char *a, const char *b);
