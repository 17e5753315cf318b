/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why a request was slow: its own time in each place of its kind (paths/place-slots.h) against what
 * is usual there. Then its calls that others did not make, the load of its nodes, and whether it
 * waited. Also the difference between the slowest hundredth of a kind and its middle
 * (docs/analysis.md has the formulas).
 *
 * A *kind* is the requests with one client, one node that it calls, and one operation where the
 * store has any. The *time* of a request is until all its work is done: its latency if nothing goes
 * on. Of load, all calls of the store count, whatever their parents: it is exact however parents
 * were inferred.
 */
#pragma once

#include "store/store-reader.h"

enum { WHY_FEWEST = 50 /* requests of a kind, or the median says little */ };

/* Below this, a parent is worth a warning. */
#define WHY_SURE 0.9

/* A place of a kind in one request. */
typedef struct {
        const char *where; /* "web1|web2 / auth" in written names, from below the root on; the
                              root's is its node; "web > db (resent)" of the time on the way by
                              its cause; "(network)" of the rest; "... (queue)" of the time that
                              messages to it lay at their caller. Borrowed of the Why */
        const char *node;  /* who it was, of replicas; NULL of the network. Borrowed */
        gint64 own, usual; /* own time of all calls there, and the kind's median, ns */
        gint64 excess;     /* own less usual */
        double slower;     /* the share of the kind's requests with less, 0 to 1 */
        guint calls, usual_calls; /* how many calls there, and the kind's median */
        guint load, usual_load; /* others that the node was serving when the call with the most own
                                   time came, and the median of requests that call it */
        double each; /* own time there for each other call that the node was serving, ns: the
                        regression line over the kind */
        double goes_with_load;     /* its share of the variance of own time there, 0 to 1 */
        gint64 queued, connecting; /* how long it lay at its caller, and before it a connection was
                                      opened, ns */
        guint cause;               /* of time on the way: WayCause; else N_WAY_CAUSES */
        double probability; /* the least of a call there, one above or one that it made, that its
                               parent is right */
} WhyPlace;

typedef struct {
        guint64 request;               /* path.id */
        const char *signature, *label; /* label: NULL: none. Borrowed of the Why */
        gint64 start, time, usual;     /* ns; usual: the kind's median */
        double slower;                 /* the share of the kind that took less */
        guint64 alike, pattern_count;  /* requests of the kind, and of the pattern */
        double probability;            /* that the path is right */
        GArray *places;                /* of WhyPlace, the greatest excess first */
        char *faults; /* "Failed by web1>auth>redis LOADING. Tried again: db x4, ..."; NULL: none */
} WhyRequest;

/* Of the slow ones, many that began within a short time. n of m: 0 where they are spread like all
 * others. */
typedef struct {
        guint n, of;
        guint64 all;            /* requests of any speed that began in it */
        gint64 from, to, since; /* ns; since the first request of these kinds */
} WhyBurst;

/* A place of a kind, in its slow requests and in the middle: means over each. */
typedef struct {
        const char *where;   /* as in WhyPlace */
        double slow, middle; /* own time, ns */
        double share; /* of what slow requests take longer; over all places they add up to 1 */
        double slow_calls, middle_calls;
        double slow_load, middle_load;       /* over its calls */
        double slow_waiting, middle_waiting; /* queued and connecting, ns */
        const char *replica;  /* who served more of the slow requests than chance explains, of
                                 replicas; NULL: none. Borrowed */
        guint64 replica_slow; /* how many of them it served, */
        guint64 slow_there;   /* the slow requests with calls there */
        const char *busiest;  /* of a queue: the replica with more calls than the others; NULL */
        double busiest_share; /* of the requests, 0 to 1 */
} WhyDifference;

/* A value that more of the slow requests have than chance explains. */
typedef struct {
        const char *kind;      /* "tag", "operation", "node", "client" or "hour" */
        char *value;           /* "tenant=acme", "SELECT orders", "app2", ... */
        guint64 slow, slowest; /* how many of the slowest have it, */
        guint64 all, requests; /* and of all */
        double chance;         /* that any value is so frequent among them by chance, at most */
        double log_chance;
} WhyShared;

typedef struct {
        const char *client, *entry, *label; /* written; label: NULL: none. Borrowed of the Why */
        guint64 count, n_slow;
        double slow, middle; /* mean times, ns */
        double doubtful;     /* the share of slow requests whose path has a probability below
                                WHY_SURE */
        WhyBurst burst;
        GArray *places; /* of WhyDifference, the greatest share first */
        GArray *shared; /* of WhyShared, the least likely first */
} WhyKind;

typedef struct Why Why;

/* Reads all of the store. NULL and error set where it cannot be read or has no requests. Memory:
 * about 130 bytes a call. */
Why *why_new(StoreReader *reader, const NodeTable *nodes, GError **error);
void why_free(Why *why);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Why, why_free)

guint64 why_requests(const Why *why); /* path.id is from 1 to this */

/* Whether there is such a request; else error is set. */
gboolean why_expect_request(const Why *why, guint64 request, GError **error);

/* The ids of the n slowest requests, slowest first; or of n requests at a moment, the greatest
 * excess over the median of their kind first. The caller's to free. */
GArray *why_slowest(Why *why, guint n);
GArray *why_at(Why *why, gint64 time, guint n, guint *n_there);

/* What the n slowest requests share, of WhyShared, the least likely first. The caller's to free. */
GArray *why_shared(Why *why, guint n);

/* request: from 1 to why_requests(). */
WhyRequest *why_request(Why *why, guint64 request);
void why_request_free(WhyRequest *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WhyRequest, why_request_free)

/* Of WhyKind, those with the most time in all first; kinds with fewer than 100 requests have none.
 * burst: of the slow ones of all of them together. */
GPtrArray *why_kinds(Why *why, WhyBurst *burst);

typedef struct {
        gint64 from, to; /* ns since the epoch: from its first call to the first move after it */
} WhyStandstill;

/* How often a node, or several at once, stood still while it had calls to serve. */
typedef struct {
        char *nodes;         /* "web2", or "web1, web2" of several at once; as written */
        gboolean everywhere; /* no message at all was seen in it: the capture, or the network,
                                stood still; nodes: of the first time */
        GArray *times;       /* of WhyStandstill, in order */
        guint count;
        gint64 mean;           /* length, ns */
        gint64 every;          /* between begins, the mean, ns; 0: there is one */
        guint64 slow, slow_of; /* requests above p99 of their kind with a call in one; of all */
} WhyPause;

/* Of WhyPause, the most slow requests first. The caller's to free. O(n log n) of n calls. */
GArray *why_pauses(Why *why);

enum { WHY_BESIDE = 5 /* other requests that are named */ };

/* Another request that was in a node. */
typedef struct {
        guint64 request;     /* path.id */
        const char *label;   /* operation of its call there; NULL: none. Borrowed of the reader */
        gint64 enter, reply; /* of that call, ns since the epoch */
} WhyBeside;

/* The moment at which a call of a request came to its node. */
typedef struct {
        guint64 request; /* path.id */
        guint32 call;    /* its index in the request */
        guint64 others;  /* other requests with a call there at that moment */
        guint n;         /* of beside: those with the longest calls, in the order of enter */
        WhyBeside beside[WHY_BESIDE];
} WhyMoment;

/* Fills moments, of WhyMoment with request and call, in one pass over all calls. */
void why_find_beside(const Why *why, GArray *moments);

/* The packets of a call: those from or to this port of TCP or UDP, in this time. */
typedef struct {
        guint port;      /* its caller's */
        gint64 from, to; /* ns since the epoch, both included; from the opening of its connection if
                            its caller waited for that */
} WhyPackets;

/* Appends those of each call of a request to packets (of WhyPackets). FALSE and error set if ids
 * are not from ravel capture. */
gboolean why_packets(Why *why, guint64 request, GArray *packets, GError **error);

/* How Wireshark and tcpdump find them. NULL and error set as above. The caller's to free. */
char *why_display_filter(Why *why, guint64 request, GError **error);
char *why_capture_filter(Why *why, guint64 request, GError **error);

/* The port of the caller of a call of this store, of which the display filter is made; 0 where its
 * id does not say it. */
guint why_call_port(const Why *why, const PathCall *call);
