/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ravel watch does with each window of time: the closed window, and the consumers that take
 * it.
 *
 * tools/watch.c reads messages and finds paths. When all paths that began in a window are complete,
 * it hands a WatchWindow to each consumer of watch_consumers, in the order of the table. A consumer
 * is one file of watch/: a WatchConsumer, and its row in watch/consumers.c. The store comes first,
 * so later consumers find all requests of the window in window->store.
 *
 * All calls come from one thread, between two messages. While a consumer works, messages wait in
 * the pipe of the capture. A consumer that talks to a network therefore hands the work to a thread
 * or a process of its own, with a bounded queue. An error ends nothing: it is said, and the watch
 * goes on.
 */
#pragma once

#include "paths/verdict.h"

/* The requests of one operation: of the root's label, or of its callee where it has none. */
typedef struct {
        const char *name; /* "GET /search"; borrowed */
        NodeId node;      /* the callee of the root */
        guint64 requests, failed;
        Histogram latency; /* ns; of all its requests */
} WatchOperation;

/* The calls into one node. */
typedef struct {
        guint64 calls, errors;
        gint128 own;       /* own time, ns */
        gint128 queued;    /* the part of own before a worker took the call, ns */
        gint128 network;   /* time on the way there and back, ns */
        Histogram latency; /* ns; as the callers see it */
        WorkerLoad load;   /* workers is 0: it has no queue before its workers */
} WatchNode;

/* What came in while the window was open, by the time of arrival and not by stamps. */
typedef struct {
        guint64 packets, dropped; /* dropped by the kernel or the interface */
        guint64 holes;            /* in connections */
        guint64 late;             /* messages that came too late for their window */
} WatchCounts;

/* A closed window. All is borrowed until the consumer returns. */
typedef struct {
        guint64 number;     /* from 1, in this process */
        gint64 from, to;    /* ns; its paths began in [from, to) */
        const PathSet *set; /* the answer: patterns with all distributions, trust, workers. Its
                               summary has the counts of calls and the verdict. */
        const char *store;  /* the path of its store; NULL: it could not be written */
        guint64 requests, failed; /* paths, and those whose root failed */
        Histogram latency;        /* ns; of all paths */
        GArray *operations;       /* of WatchOperation, by total latency */
        WatchNode *nodes;         /* by NodeId */
        guint n_nodes;
        WatchCounts counts;
        guint64 cut_before; /* first window: requests that were open when the last watch was killed,
                               and are in no store */
        gint64 answered;    /* live: ns from `to` until it was answered; else the working time */
        gint64 cpu;         /* ns of CPU of this process since the window before, all threads */
        gint64 span;        /* the length of the next window, ns */
        gboolean in_time;   /* it was answered before the next window ended */
        gboolean live;      /* stamps are near the time of day */
} WatchWindow;

/* Fills requests, failed, latency, operations and nodes from set. Linear in the nodes of patterns.
 */
void watch_window_sum(WatchWindow *window);
void watch_window_clear(WatchWindow *window); /* frees what that made */

/* The name of the operation that a pattern of the window belongs to; borrowed. */
const char *watch_window_operation(const WatchWindow *window, const PathPattern *pattern);

/* Nodes with calls, of NodeId, the one with the most own time first; the caller's to free. */
GArray *watch_window_rank_nodes(const WatchWindow *window);

/* What consumers know from the beginning on. Borrowed, as long as the watch. */
typedef struct {
        const char *dir;        /* of --dir; NULL: nothing is kept */
        const char *arguments;  /* the command line */
        const char *parameters; /* for stores: "key=value" lines */
        gint64 span;            /* --window, ns */
        gboolean json;          /* --format json, or no terminal */
        gboolean screen;        /* --screen */
        /* Whether a signal has ended the watch. From any thread. */
        gboolean (*stopped)(void);
        /* Reads "10s", in ns. FALSE with error set. */
        gboolean (*duration)(const char *text, gint64 *ns, GError **error);
        /* Says something to the user, on standard error. */
        void (*say)(const char *format, ...) G_GNUC_PRINTF(1, 2);
} WatchSetup;

typedef struct {
        const char *name;            /* a word, for messages */
        const GOptionEntry *options; /* NULL: none. They go into static variables of the file. */

        /* After options are read, before the first message. Returns the consumer's own data in
         * *self; NULL: it has nothing to do, and is not asked again. FALSE with error set ends the
         * watch: an option is wrong. */
        gboolean (*begin)(const WatchSetup *setup, gpointer *self, GError **error);

        /* Before the first path of a window is added to set. NULL: nothing to do. A consumer that
         * sets a sink passes all on to the sink before. */
        gboolean (*open)(gpointer self, PathSet *set, GError **error);

        /* The window is closed. The store sets window->store. */
        gboolean (*window)(gpointer self, WatchWindow *window, GError **error);

        /* About once a second, also without messages. NULL: nothing to do. */
        void (*idle)(gpointer self);

        /* After the last window; frees self. whole: the input has ended; else a signal ends the
         * watch, and this should be quick. */
        void (*end)(gpointer self, gboolean whole);
} WatchConsumer;

/* Ends with NULL. */
extern const WatchConsumer *const watch_consumers[];
