/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a report shows of a store: every path pattern in brief, and the most
 * important ones in full, with their latency over time and some real instances.
 */
#ifndef RAVEL_REPORT_H
#define RAVEL_REPORT_H

#include "paths/store/store-reader.h"
#include "tracefmt/output-file.h"

enum {
        REPORT_DETAILS = 200, /* patterns in full, by total latency */
        REPORT_ROWS = 20000,  /* patterns in brief */
        REPORT_SAMPLES = 500, /* path instances in all */
        REPORT_BUCKETS = 180, /* of time */
};

/* The moments that a pattern's instances are taken at, in the order of latency. */
typedef enum { SAMPLE_FASTEST, SAMPLE_MEDIAN, SAMPLE_P99, SAMPLE_SLOWEST, N_SAMPLES } SampleKind;

typedef struct {
        StoredPath path;
        guint64 number; /* of the path in the store, from 0 */
        GArray *calls;  /* of PathCall */
        GArray *places; /* of guint32: where in the pattern each is */
} ReportSample;

/* The instances that began in one of REPORT_BUCKETS equal parts of the run. */
typedef struct {
        guint32 bucket;
        guint64 count;
        gint64 median, max; /* latency, ns */
} ReportBucket;

typedef struct {
        guint32 row;
        PathPattern pattern;   /* without its signature */
        GArray *buckets;       /* of ReportBucket, those that are not empty */
        GPtrArray *samples;    /* of ReportSample */
        int sample[N_SAMPLES]; /* index into samples; -1 where there was no room for it */
} ReportDetail;

typedef struct {
        StoredPattern stored; /* but for its signature, NULL */
        guint64 id;
        NodeId slowest;     /* the node with the most own time: the one to blame */
        gint64 slowest_own; /* its mean, ns */
        GString *shape;     /* "client>root(child,~child)", by NodeId in base 36; ~: goes on */
        GString *latency;   /* the distribution (report_append_distribution()) */
} ReportRow;

/* Own time of a node over all paths, or of the network. */
typedef struct {
        gint128 own; /* ns */
        guint64 calls;
} ReportBlame;

typedef struct {
        NodeTable *nodes;
        GArray *captures; /* of StoredCapture, owned texts */
        GArray *trust;    /* of StoredTrust */
        GArray *doubts;   /* of StoredDoubt, owned texts */
        guint64 n_patterns, n_paths;
        gint128 total;      /* latency of all paths */
        guint n_edges;      /* pairs of caller and callee */
        double probability; /* mean over all paths */
        gint64 first, last; /* starts of paths; NO_TIME where there is none */
        gboolean goes_on;   /* a pattern does: there are completion times */
        GArray *rows;       /* of ReportRow, best first */
        GPtrArray *details; /* of ReportDetail: the first rows */
        GArray *blame;      /* of ReportBlame, by NodeId; the last is the network */
        GArray *buckets;    /* of ReportBucket, of all paths; no medians */
        PathGraph *graph;   /* of linear patterns; NULL where paths are of calls */
} Report;

/* NULL and error set where the store cannot be read. reader's rows are used up.
 * Memory: a few hundred bytes a row and 40 bytes a path of the patterns in full. */
Report *report_new(StoreReader *reader, NodeTable *nodes, GError **error);
void report_free(Report *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Report, report_free)

/* The page. made_of: what to call what it was made of, where the store is not kept; else NULL. */
gboolean report_write(const Report *report, const StoreReader *reader, const char *made_of,
                      OutputFile *out, GError **error);

/* How pages have a distribution: "r:first:n,n,-g,n". Bins are those of Histogram with 2^r
 * of them to an octave, r from 3 to 6: bin b is (histogram_bin() - 1) >> (6 - r). first is the
 * first one that holds values, n how many are in it and in those that follow, -g stands for g
 * empty ones; all in base 36. As fine as max_bins bins that hold values allow. Delays below 0
 * count as 0. */
void report_append_distribution(GString *out, const Histogram *h, guint max_bins);

/* "7.04e+09" as a JSON number of at most four digits: 704e7. */
void report_append_rounded(GString *out, gint64 n);

#endif
