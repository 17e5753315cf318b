/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why requests failed: the culprits of failed requests (paths/path-failure.h), the most frequent
 * first, and what was tried again.
 */
#pragma once

#include "paths/path-failure.h"
#include "store/store-reader.h"

/* Failed requests with one culprit. */
typedef struct {
        char *where;       /* "web1>auth>redis" in written names, from the root's node on */
        char *outcome;     /* of the culprit, as st= has it */
        const char *class; /* of that, outcome_class_name() */
        char *label;       /* operation of the culprit; NULL: none */
        guint64 count;     /* requests */
        guint64 request;   /* path.id of the first */
        GArray *requests;  /* of guint64: of all, ascending */
} WhyFailure;

/* Calls that were tried again alike. */
typedef struct {
        char *caller, *node; /* as written */
        char *outcome;       /* of the last attempt in error */
        char *label;         /* operation; NULL: none */
        guint64 count;       /* how often, and how often the last attempt was in error, too */
        guint64 failed;
        guint attempts, errors; /* of one of them */
        gint64 lost;            /* from the first attempt to the last, the mean, ns */
        guint64 request;        /* path.id of the first */
} WhyRetry;

typedef struct {
        guint64 requests, failed;
        gint64 good_p50;     /* median time of the requests that did not fail, ns; 0: none */
        gint64 failed_p50;   /* of the others */
        GPtrArray *failures; /* of WhyFailure, the most requests first */
        GPtrArray *retries;  /* of WhyRetry, the most time lost first */
} WhyFailures;

/* Reads all of the store. NULL and error set where it cannot be read or has no requests. */
WhyFailures *why_failures_new(StoreReader *reader, const NodeTable *nodes, GError **error);
void why_failures_free(WhyFailures *failures);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WhyFailures, why_failures_free)

/* What went wrong in a path, in words, as WhyRequest has it. The caller's to free. */
char *why_faults_text(const NodeTable *nodes, const PathCall *calls, guint32 n);

/* "db x4, 3 of them 503, 90.1 ms lost". The caller's to free. */
char *why_retry_text(const char *node, guint attempts, guint errors, const char *outcome,
                     gint64 lost);
