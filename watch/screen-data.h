/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the screen of ravel watch shows of a closed window: tables of operations, nodes and slow
 * requests. It is a copy that borrows nothing, for another thread. All texts are escaped.
 */
#pragma once

#include "watch/window.h"

typedef enum { SCREEN_OPERATIONS, SCREEN_NODES, SCREEN_REQUESTS, N_SCREEN_TABLES } ScreenTable;

enum {
        SCREEN_VALUES = 7,  /* columns of numbers in a table, at most */
        SCREEN_SLOWEST = 20 /* requests of a window that are kept */
};

/* A call of a request, in pre-order. */
typedef struct {
        guint depth;
        char *name;         /* its callee and operation */
        char *outcome;      /* empty: plain success */
        gint64 start;       /* since the start of the request, ns */
        gint64 latency;     /* ns */
        gint64 own;         /* at the callee, ns */
        gint64 network;     /* on the way there and back, ns */
        gboolean has_error; /* whoever's fault it is */
} ScreenCall;

/* A row of a table. Counted by reference: requests stay for several windows. */
typedef struct {
        char *name;
        char *note;   /* operations and requests: "64 % db", the node with the most own time */
        char *search; /* what else a filter finds it by; may be NULL */
        double values[SCREEN_VALUES]; /* by ScreenColumn; NaN: unknown */
        GArray *calls;                /* of ScreenCall; NULL: it is no request */
} ScreenRow;

ScreenRow *screen_row_new(void);
ScreenRow *screen_row_ref(ScreenRow *row);
void screen_row_unref(ScreenRow *row);

/* How a value is written. */
typedef enum {
        SCREEN_RATE,   /* a second */
        SCREEN_TIME,   /* ns */
        SCREEN_SHARE,  /* 0 to 1 */
        SCREEN_ERRORS, /* likewise, and bad above 0 */
        SCREEN_COUNT,
        SCREEN_MOMENT /* ns since the epoch */
} ScreenKind;

typedef struct {
        const char *heading;
        ScreenKind kind;
        guint drop; /* where the screen is narrow, columns with the greatest go first */
} ScreenColumn;

typedef struct {
        const char *name;  /* "Operations" */
        const char *first; /* the heading of the names */
        const char *note;  /* the heading of the notes; NULL: there are none */
        guint sort;        /* the column it is sorted by at first */
        guint n;
        ScreenColumn columns[SCREEN_VALUES];
} ScreenTableKind;

extern const ScreenTableKind screen_tables[N_SCREEN_TABLES];

typedef struct {
        gint64 from, to; /* ns */
        gint64 p50, p99; /* latency of all requests, ns */
        guint64 number;  /* of the window */
        guint64 requests, failed, dropped, late;
        char *judgement; /* NULL: the capture is fit */
        gboolean in_time;
        GPtrArray *rows[N_SCREEN_TABLES]; /* of ScreenRow */
} ScreenData;

/* slowest: rows of requests, the latest first. The set of the window is read: linear in the nodes
 * of patterns. */
ScreenData *screen_data_new(const WatchWindow *window, const GPtrArray *slowest);
void screen_data_free(ScreenData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ScreenData, screen_data_free)

/* A request of n calls as a row. */
ScreenRow *screen_request_new(const PathSet *set, const PathCall *calls, guint32 n);
