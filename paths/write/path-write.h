/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The writers of a path set, one a format, each in its write-FORMAT.c. All of
 * them write the n_patterns first patterns of rank, and for the same path set
 * always the same bytes.
 */
#ifndef RAVEL_PATH_WRITE_H
#define RAVEL_PATH_WRITE_H

#include "paths/path-set.h"
#include "tracefmt/output-file.h"

typedef struct {
        const guint32 *rank; /* indices of patterns, best first */
        guint32 n_patterns;  /* how many of them to write */
        gboolean colour;     /* text: on a terminal that wants it */
        guint columns;       /* text: width of the terminal; 0 for no limit */
        gboolean windows;    /* tsv: one of several, which say by when they begin which it is */
        gboolean later;      /* tsv: not the first of them */
} PathWriteOptions;

typedef gboolean (*PathWriter)(const PathSet *set, const PathWriteOptions *options, OutputFile *out,
                               GError **error);

/* The writer of a format ("text", "dot", "svg", "json", "tsv"), or NULL. */
PathWriter path_writer_lookup(const char *format);

gboolean path_write_text(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_dot(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_svg(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_json(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);
gboolean path_write_tsv(const PathSet *, const PathWriteOptions *, OutputFile *, GError **);

/* "12.3 ms": a duration for people, three significant digits, in ns, us, ms or s. */
char *path_format_duration(gint64 ns);

/* "1,234,567". */
char *path_format_count(guint64 n);

/* All digits of a sum. The result lies within digits. */
enum { PATH_INTEGER_SIZE = 41 };
const char *path_format_integer(gint128 n, char digits[PATH_INTEGER_SIZE]);

/* Appends text, which is UTF-8, as a JSON string. '<' is escaped in it too, so that it can
 * stand in a page. */
void path_append_json_string(GString *out, const char *text);

/* "64 %": a share of a whole, to a whole percent; "<1 %" and ">99 %" where that
 * would say none or all and it is not so, "-" where there is no whole. */
char *path_format_share(gint128 part, gint128 whole);

/* The signature for people: siblings with the same one are written once, "db x17". */
char *path_short_signature(const char *signature);

/* A pattern for people: the operation of its root, if it has one (label), and the short signature.
 */
char *path_pattern_title(const char *label, const char *signature);

/* Appends an operation as a cell of TSV; "-" where there is none. */
void path_append_label_cell(GString *out, const char *label);

/* The operation of a node of a pattern: "GET /cart", and "+2" where its calls had two more. NULL:
 * none. Newly allocated; printable. */
char *path_node_operation(const PatternNode *node);

/* The indices of the pattern's nodes in the order to show them in: pre-order,
 * siblings by mean call delay, as they were called, which says more than the
 * signature's order by name. The caller's to free. */
guint32 *path_pattern_call_order(const PathPattern *pattern);

/* What the shares of a pattern are of: its own and network times, which is its
 * total latency. */
gint128 path_pattern_total(const PathPattern *pattern);

/* The network's part of it. */
gint128 path_pattern_network(const PathPattern *pattern);

#endif
