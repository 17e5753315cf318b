/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reads a store back (docs/store.md), each table a row at a time, from its first
 * row to its last. A store is input like any other: whatever is not as the
 * program writes it is an error that names the table, the row and the column.
 */
#ifndef RAVEL_STORE_READER_H
#define RAVEL_STORE_READER_H

#include "paths/path-set.h"

typedef struct StoreReader StoreReader;

/* Rows are numbered from 0, in the order of their ids. Texts are borrowed until
 * the next row of the same table. */
typedef struct {
        const char *method, *parameters;
} StoredRun;

typedef struct {
        const char *name, *sha256; /* sha256: NULL where it was not taken */
} StoredCapture;

typedef struct {
        const char *signature;
} StoredPattern;

typedef struct {
        guint32 pattern, place;
        gint64 latency_mean, latency_p99, own_mean, own_p99; /* ns */
} StoredPatternNode;

typedef struct {
        guint32 pattern;
} StoredPath;

typedef struct {
        guint32 path;
        guint32 parent; /* a call of the same path that came before, or NO_PARENT for its first */
        NodeId caller, callee;
        gint64 start, end; /* at the caller, else at the callee; ns since the epoch */
        const char *id;    /* in the trace; not NUL-terminated */
        guint32 id_length; /* 0 where there is none */
} StoredCall;

/* Adds the names of the store's nodes to nodes, which is borrowed. NULL and error
 * set where path is no store, or one of another version, is cut short or
 * corrupt, or another program has locked it. */
StoreReader *store_reader_new(const char *path, NodeTable *nodes, GError **error);
void store_reader_free(StoreReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreReader, store_reader_free)

const char *store_reader_name(const StoreReader *reader);
const StoredRun *store_reader_run(const StoreReader *reader);

/* The next row: 1, 0 after the last, or -1 with error set. Patterns come before
 * their nodes and the paths, and paths before the calls, so that each row can be
 * checked against what it refers to. */
int store_reader_next_capture(StoreReader *reader, StoredCapture *capture, GError **error);
int store_reader_next_pattern(StoreReader *reader, StoredPattern *pattern, GError **error);
int store_reader_next_pattern_node(StoreReader *reader, StoredPatternNode *node, GError **error);
int store_reader_next_path(StoreReader *reader, StoredPath *path, GError **error);
int store_reader_next_call(StoreReader *reader, StoredCall *call, GError **error);

#endif
