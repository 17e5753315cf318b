/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The contents of a report: every path pattern in brief, the most important ones in full, and the
 * slowest requests. In full means with latency over time and some real instances.
 */
#pragma once

#include "analysis/advise/advise.h"
#include "analysis/map-data.h"
#include "analysis/variance/variance.h"
#include "analysis/why/why-failed.h"
#include "analysis/why/why-waiting.h"
#include "analysis/why/why.h"
#include "store/store-reader.h"

enum {
        REPORT_DETAILS = 200, /* patterns in full, by total latency */
        REPORT_ROWS = 20000,  /* patterns in brief */
        REPORT_SAMPLES = 500, /* path instances in all */
        REPORT_BUCKETS = 180, /* of time */
        REPORT_SLOWEST = 200, /* of all requests, and of each bucket: */
        REPORT_SLOWEST_OF_BUCKET = 5,
        REPORT_PLACES = 2000, /* of a pattern: with more, no request is explained, nor variance */
        REPORT_FAILURES = 20, /* culprits, each with */
        REPORT_FAILED = 20,   /* of its requests */
        REPORT_OCTAVES = 64,  /* of a time */
        REPORT_FEWEST = 100,  /* requests of a pattern or entry, or its slowest hundredth is none */
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

/* The parts of a pattern that are compared, in the order of time until all is done: the slowest
 * hundredth, and from 40 to 60 %. */
typedef enum { PART_NONE, PART_SLOW, PART_MIDDLE, N_PARTS } ReportPart;

/* At a place, all calls there together, ns. */
typedef struct {
        gint64 own, queued, network;
        gint64 cause[N_WAY_CAUSES]; /* parts of network */
} ReportSpent;

typedef struct {
        guint32 row;
        guint64 n_of_part[N_PARTS]; /* requests; 0 where there are too few of the pattern */
        gint64 time_of_part[N_PARTS];
        ReportSpent *spent[N_PARTS]; /* by place; NULL where there are none */
        PathPattern pattern;         /* without its signature */
        GArray *buckets;             /* of ReportBucket, without empty ones */
        GPtrArray *samples;          /* of ReportSample */
        int sample[N_SAMPLES];       /* index into samples; -1 where there was no room for it */
} ReportDetail;

typedef struct {
        StoredPattern stored; /* but for its signature, NULL */
        NodeId slowest;       /* the node with the most own time: the one to blame */
        gint64 slowest_own;   /* of all its calls, the mean of a path, ns */
        gint64 good_p50; /* of the latency of paths that did not fail, ns; 0: no path failed, or all
                          */
        GString *shape;  /* "client>root(child,~child)", by NodeId in base 36; ~: goes on;
                             child! and child*: no answer, late */
        GString *latency; /* the distribution (report_append_distribution()) */
} ReportRow;

/* A request as the list of the slowest has it. */
typedef struct {
        StoredPath path;
        guint64 number;  /* of the path in the store, from 0 */
        guint8 failure;  /* 1 + which of the first REPORT_FAILURES it is of; 0: none */
        guint32 row;     /* of its pattern; G_MAXUINT32 where that has none */
        WhyRequest *why; /* what is unusual about the request */
        GArray *calls;   /* of PathCall; NULL where there was no room */
        GArray *ports;   /* of guint: the caller's port of each call, 0: unknown */
        guint moment; /* index of Report.moments: its call with the most own time; else G_MAXUINT */
} ReportRequest;

/* What calls find at a node when they come, and how long they lay in a queue before. */
typedef struct {
        guint64 calls;
        gint128 queued;         /* ns, of all of them */
        guint32 p50, p95, most; /* calls there, itself among them; see node_load_quantile() */
} ReportLoad;

/* The calls from a node to another, in all paths. */
typedef struct {
        NodeId caller, callee;
        guint64 calls, errors;       /* errors as ravel stats counts them */
        guint64 unanswered, late;    /* calls */
        gboolean seen;               /* outcomes or operations were */
        Histogram latency;           /* of the answered */
        gint128 cause[N_WAY_CAUSES]; /* time on the way, ns */
} ReportEdge;

/* Own time of a node over all paths, or of the network. */
typedef struct {
        gint128 own; /* ns */
        guint64 calls;
        gint128 own_queued; /* the part of own before a worker took the call, ns */
        guint32 workers;    /* that serve its queue; 0: no bound, or not known */
} ReportBlame;

typedef struct {
        NodeTable *nodes;
        GArray *captures; /* of StoredCapture, owned texts */
        GArray *trust;    /* of StoredTrust */
        GArray *doubts;   /* of StoredDoubt, owned texts */
        guint64 n_patterns, n_paths, n_failed;
        gint128 total;       /* latency of all paths */
        guint n_edges;       /* pairs of caller and callee */
        double probability;  /* mean over all paths */
        gboolean is_drawn;   /* patterns have counts by drawings */
        double drawn;        /* how many paths these add up to */
        gint64 first, last;  /* starts of paths; NO_TIME where there is none */
        guint32 most_places; /* of a pattern */
        gboolean goes_on;    /* a pattern does: there are completion times */
        gboolean waits;      /* a node of a pattern has a queue before workers */
        GArray *rows;        /* of ReportRow, best first */
        GPtrArray *details;  /* of ReportDetail: the first rows */
        GArray *blame;       /* of ReportBlame, by NodeId; the last is the network */
        GArray *buckets;     /* of ReportBucket, of all paths; no medians */
        GArray *loads;       /* of ReportLoad, by NodeId */
        GArray *workers;     /* of StoredWorkers */
        GPtrArray *edges;    /* of ReportEdge, by caller and callee; empty without requests */
        GPtrArray *slowest;  /* of ReportRequest, the one that took longest first */
        guint32 heat[REPORT_BUCKETS][REPORT_OCTAVES]; /* requests, by start and the octave of their
                                                         time: from 2^i to 2^(i+1) ns */
        WhyFailures *failures;                        /* NULL where no request failed */
        guint32 failed_at[REPORT_FAILURES][REPORT_BUCKETS]; /* requests of each, by start */
        GArray *pauses;   /* of WhyPause; NULL without requests, as are: */
        GPtrArray *kinds; /* of WhyKind */
        GArray *moments;  /* of WhyMoment */
        Why *why;         /* of these, else NULL */
        StoreReader *of_why;
        Variance *variance;  /* NULL where there are no requests */
        Advice *advice;      /* likewise, and where paths are not fit */
        WhyWaiting *waiting; /* likewise, whether they are fit or not */
        PathGraph *graph;    /* of linear patterns; NULL where paths are of calls */
        SystemMap *map;      /* without workers */
} Report;
