/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The writers of a path set, one a format, each in its write-FORMAT.c. All of
 * them write the n_patterns first patterns of rank, and for the same path set
 * always the same bytes.
 */
#pragma once

#include "paths/path-set.h"
#include "tracefmt/output-file.h"

typedef struct {
        const guint32 *rank; /* indices of all patterns, best first */
        guint32 n_patterns;  /* how many of them to write */
        gboolean all;        /* text: patterns that are probably misassigned, too */
        gboolean colour;     /* text: on a terminal that wants it */
        guint columns;       /* text: width of the terminal; 0 for no limit */
        gboolean windows;    /* tsv: one of several, which say by when they begin which it is */
        gboolean later;      /* tsv: not the first of them */
        gboolean goes_on;    /* tsv, of windows: the first had the columns of what goes on */
} PathWriteOptions;

typedef gboolean (*PathWriter)(const PathSet *set, const PathWriteOptions *options, OutputFile *out,
                               GError **error);

/* The names of all formats, the usual one first; NULL after the last. */
extern const char *const path_write_formats[];

PathWriter path_writer_lookup(const char *format);

gboolean path_write_text(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_dot(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_svg(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_json(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_tsv(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_map(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_map_svg(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_map_json(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
