/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The result of several processes that each decided on a slice of a trace: what one process would
 * have written.
 */
#ifndef RAVEL_MERGED_H
#define RAVEL_MERGED_H

#include "nesting/decided.h"
#include "paths/path-set.h"
#include "paths/store/store.h"
#include "paths/verdict.h"

typedef struct {
        const Learned *learned; /* of the whole trace; borrowed */
        KnownCalls known;       /* without calls */
        CallLabels labels;      /* of all slices, as they come first */
        PathSet *set;
        guint64 instances;
        GArray *lines; /* of --calls; NULL: not wanted */
} Merged;

/* Of no slice yet. nodes: those of learned, or a table that begins with them; borrowed. */
void merged_init(Merged *merged, const Learned *learned, NodeTable *nodes, gboolean calls);
void merged_clear(Merged *merged);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Merged, merged_clear)

/* Before all else: the part of the first slice, with its operations, which the others are added to.
 * Takes the set. */
void merged_take(Merged *merged, PathSet *set, const GPtrArray *labels);

/* How fit the trace is. Takes doubts, of its facts. */
Verdict *merged_judge(const Merged *merged, GArray *doubts);

/* Before the first slice; verdict is borrowed. */
void merged_summarise(Merged *merged, const Verdict *verdict);

/* The numbers that operations of a slice have here, by theirs less 1; to be freed. */
guint16 *merged_number_labels(Merged *merged, const GPtrArray *labels);

/* The instances of the next slice. name: of the file, for errors. */
gboolean merged_add(Merged *merged, DecidedReader *part, const char *name, GError **error);

/* After all slices: the file of --calls. */
gboolean merged_write_calls(Merged *merged, const char *path, GError **error);

/* Begins the database, and ends it. digest: of the trace; NULL: not known. */
Store *merged_open_store(const Merged *merged, const char *arguments, gboolean patterns_only,
                         GError **error);
gboolean merged_close_store(const Merged *merged, Store *store, const char *digest, GError **error);

#endif
