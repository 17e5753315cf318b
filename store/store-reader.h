/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reads a store back (docs/store.md), each table a row at a time, from its first
 * row to its last. A store is input like any other: whatever is not as the
 * program writes it is an error that names the table, the row and the column.
 */
#pragma once

#include "paths/path-set.h"

typedef struct StoreReader StoreReader;

/* Rows are numbered from 0, in the order of their ids. Texts are borrowed until
 * the next row of the same table. */
typedef struct {
        const char *version, *method, *parameters;
        guint64 messages, calls, unmatched_calls, unmatched_returns, cut_paths;
        double parallelism;    /* 0: unknown */
        gint64 first, last;    /* stamps of the trace; NO_TIME where it is empty */
        const char *judgement; /* NULL: nobody judged */
        gboolean fit;          /* FALSE: probabilities are not to be shown */
} StoredRun;

typedef struct {
        const char *name, *sha256; /* sha256: NULL where it was not taken */
        const char *facts;         /* "key: value" lines */
} StoredCapture;

/* A doubtful edge, and what else packets could not tell (tracefmt/doubt.h). */
typedef struct {
        const char *reason;    /* a word */
        const char *text;      /* the edge, how much, and the remedy */
        NodeId caller, callee; /* caller may be NO_NODE: many */
        guint64 count, of;
        const char *kind;        /* of connections: a protocol's name; NULL where it is no matter */
        guint64 bytes, of_bytes; /* of payload; 0 where that is no matter */
} StoredDoubt;

typedef struct {
        const char *signature;
        const char *label; /* NULL: none */
        guint64 id;        /* path_pattern_id() */
        NodeId client;
        guint64 count;
        gint64 total, mean, deviation, p50, p90, p99, min, max; /* of the latency, ns */
        double probability;
        guint64 failed;   /* path instances that failed; 0 in older stores */
        gboolean goes_on; /* some work is not nested: */
        struct {
                gint64 total, mean, p50, p99;
        } completion;         /* time until all work is done, ns; the latency if nothing goes on */
        int doubt;            /* the worst of its edges, as doubts come; -1: none */
        gboolean misassigned; /* probably (paths/misassigned.h) */
        gboolean is_drawn;    /* there are counts by drawings: */
        double drawn, drawn_error;
} StoredPattern;

/* A histogram as the store has it; borrowed until the next row. */
typedef struct {
        const guint8 *data;
        gsize n;
} StoredHistogram;

typedef struct {
        guint32 pattern, place;
        guint32 parent; /* a place less than its own, or NO_PARENT for place 0 */
        NodeId node;
        gint64 latency_mean, latency_p99, own_mean, own_p99; /* ns */
        const char *label; /* the operation that most of its calls had; NULL: none */
        guint32 n_labels;  /* how many they had */
        guint8 continues;  /* WorkContinues */
        union {
                StoredHistogram times[N_NODE_TIMES];
                struct {
                        StoredHistogram latency, call_delay, own, network, connecting, queued,
                                own_queued, serving;
                };
        };
        StoredHistogram completion; /* of place 0: the pattern's; empty where nothing goes on */
        StoredHistogram good;       /* likewise; empty where nothing failed */
        NodeFaults faults;
        gint64 own_queued_mean; /* ns */
        guint32 workers;        /* 0: no bound, or not known */
} StoredPatternNode;

typedef struct {
        guint32 pattern;
        gint64 start, latency; /* ns */
        gint64 completion;     /* time until all work is done, ns */
        guint32 first_call, n_calls;
        double probability;
} StoredPath;

typedef struct {
        guint32 path;
        guint32 parent; /* a call of the same path that came before, or NO_PARENT for its first */
        NodeId caller, callee;
        gint64 start, end;  /* at the caller, else at the callee; ns since the epoch */
        const char *id;     /* in the trace; not NUL-terminated */
        guint32 id_length;  /* 0 where there is none */
        double probability; /* that its parent is right */
} StoredCall;

/* The calls that a node makes, and how far their parents can be trusted. */
typedef struct {
        NodeId node;
        guint64 calls, guessed; /* with a parent; with more than one that was possible */
        double probability;     /* mean, that the parent is the right one */
} StoredTrust;

/* The workers of a node with a queue. */
typedef struct {
        NodeId node;
        WorkerLoad load;
} StoredWorkers;

/* Of convolution's graph (paths/path-graph.h). */
typedef struct {
        NodeId node;
        guint32 parent; /* a vertex before it, or NO_PARENT */
        guint64 count;
        double probability;
        PathEnd end;
} StoredVertex;

typedef struct {
        guint32 vertex;
        gint64 delay; /* ns */
        guint64 count;
} StoredVertexDelay;

/* Adds the names of the store's nodes to nodes, which is borrowed. NULL and error
 * set where path is no store, or one of a later version, is cut short or
 * corrupt, or another program has locked it. */
StoreReader *store_reader_new(const char *path, NodeTable *nodes, GError **error);
void store_reader_free(StoreReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreReader, store_reader_free)

const char *store_reader_name(const StoreReader *reader);
const StoredRun *store_reader_run(const StoreReader *reader);

/* Whether patterns have operations, or there are none at all that could. */
gboolean store_reader_has_labels(const StoreReader *reader);

/* Whether time on the way has its causes, which came with version 6. */
gboolean store_reader_has_causes(const StoreReader *reader);

/* Whether a call goes on, was late or got no answer: whether calls have `continues`. */
gboolean store_reader_continues(StoreReader *reader);

/* The operation that a call has by number (PathCall); NULL: none. */
const char *store_reader_label(const StoreReader *reader, guint32 label);

/* FALSE with error set where there are patterns, but no paths and calls: such is what
 * nesting --no-requests makes. */
gboolean store_reader_expect_requests(StoreReader *reader, GError **error);

/* A tag of the calls whose tags are `id`; borrowed until the next. By rising id. */
typedef struct {
        guint32 id; /* from 1 */
        const char *name, *value;
} StoredTag;

int store_reader_next_tag(StoreReader *reader, StoredTag *tag, GError **error);

/* The next doubtful edge, in words, the worst first; borrowed until the next. They come before
 * patterns. */
int store_reader_next_doubt(StoreReader *reader, StoredDoubt *doubt, GError **error);

/* The next row: 1, 0 after the last, or -1 with error set. Patterns come before
 * their nodes and the paths, and paths before the calls, so that each row can be
 * checked against what it refers to. */
int store_reader_next_capture(StoreReader *reader, StoredCapture *capture, GError **error);
int store_reader_next_pattern(StoreReader *reader, StoredPattern *pattern, GError **error);
int store_reader_next_pattern_node(StoreReader *reader, StoredPatternNode *node, GError **error);
int store_reader_next_path(StoreReader *reader, StoredPath *path, GError **error);
int store_reader_next_call(StoreReader *reader, StoredCall *call, GError **error);

/* By node; at any time. */
int store_reader_next_trust(StoreReader *reader, StoredTrust *trust, GError **error);
int store_reader_next_workers(StoreReader *reader, StoredWorkers *workers, GError **error);

/* The same for the graph; a store of path instances has none. */
int store_reader_next_vertex(StoreReader *reader, StoredVertex *vertex, GError **error);
int store_reader_next_vertex_delay(StoreReader *reader, StoredVertexDelay *delay, GError **error);

/* Adds a distribution of the row of pattern_node that was read last. */
gboolean store_reader_histogram(StoreReader *reader, const StoredHistogram *stored, Histogram *h,
                                GError **error);

/* Adds the distributions of its causes, N_WAY_CAUSES of them, to causes: of calls that have them.
 */
gboolean store_reader_causes(StoreReader *reader, const StoredPatternNode *stored,
                             Histogram *causes, GError **error);

/* Appends the node of that row, with all its distributions. */
gboolean store_reader_append_node(StoreReader *reader, const StoredPatternNode *stored,
                                  PathPattern *pattern, GError **error);

/* "FILE: the store is corrupt: ...", an error. FALSE. */
gboolean store_reader_fail(const StoreReader *reader, GError **error, const char *format, ...)
        G_GNUC_PRINTF(3, 4);

/* All calls of one path, at any time and apart from the rows above. calls (of PathCall) is filled
 * anew, and places (of guint32) with the place of each call in the pattern. Ids of calls are
 * borrowed until the next time. Costs what reading n_calls rows costs. */
gboolean store_reader_path_calls(StoreReader *reader, const StoredPath *path, GArray *calls,
                                 GArray *places, GError **error);
