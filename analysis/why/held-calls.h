/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who held what calls waited for, where packets show no queue: locks of a database (held-locks.c)
 * and the connections of a full pool (held-pools.c).
 *
 * A wait counts as explained by a holder if it ends just after the holder let go. That is tested:
 * in a wait of length d that has m releases within it, the last of them comes within g of its end
 * by chance with 1 - (1 - g/d)^m. The product of these probabilities, over all such waits of one
 * kind, is judged by Fisher's method.
 */
#pragma once

#include "analysis/why/why-wait.h"
#include "store/store-reader.h"

/* The chance that a store names a holder without cause is below this. */
#define HELD_CHANCE 1e-4

/* The least probability of one wait: no wait alone is evidence enough. */
#define HELD_LEAST 1e-3

/* A call waits if it takes this many times the usual, and this much longer (ns). The usual is a
 * quantile of its kind. A release explains a wait if the rest after it is a quarter at most. */
#define HELD_TIMES 4
#define HELD_WAIT  1000000
#define HELD_USUAL 0.25
#define HELD_REST  0.25

typedef struct {
        gint64 start, enter, reply, end; /* as in PathCall, ns */
        gint64 ready;       /* when its caller could have made it: the caller's enter, or the end of
                               an earlier call of the caller; NO_TIME: others were open, or it is
                               nobody's */
        guint32 parent;     /* index of a call, or NO_PARENT */
        guint32 connection; /* not 0 */
        guint32 root;       /* index of the root of its request */
        NodeId caller, callee;
        guint16 label;
        gboolean transaction; /* open after it */
        gboolean opened;      /* it is the first call of its connection */
} HeldCall;

typedef struct {
        StoreReader *reader;
        const NodeTable *nodes;
        GArray *calls;          /* of HeldCall, requests one after the other */
        guint32 *by_connection; /* n calls of known connections: by connection, then by start */
        guint32 n;
} HeldCalls;

/* A call that waited, or the gap before one. */
typedef struct {
        guint32 call;
        gint64 from, to; /* ns */
        gint64 usual;    /* length, ns */
        gint64 rest;     /* after the last release within it, ns; -1: there is none */
        guint32 holder;  /* what was released then */
        guint32 releases;
} HeldWait;

HeldCalls *held_calls_new(StoreReader *reader, const NodeTable *nodes);
void held_calls_free(HeldCalls *held);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HeldCalls, held_calls_free)

/* The calls of a request. */
void held_calls_add(HeldCalls *held, const GArray *calls);

/* Once, after the last. */
void held_calls_sort(HeldCalls *held);

/* Append what was found to result. */
void held_find_locks(const HeldCalls *held, WhyWaiting *result);
void held_find_pools(const HeldCalls *held, WhyWaiting *result);

static inline const HeldCall *held_call_at(const HeldCalls *held, guint32 i)
{
        return &g_array_index(held->calls, HeldCall, i);
}

/* Whether the wait was longer than usual, and whether its last release explains it. */
gboolean held_is_long(gint64 length, gint64 usual);
gboolean held_is_explained(const HeldWait *wait);

/* The probability that waits (of HeldWait) end so soon after releases by chance. */
double held_chance(const GArray *waits);

/* The usual one of lengths (of gint64, not empty), which are sorted. */
gint64 held_usual(GArray *lengths);

/* Charged times, by names of who waited and who held. */
typedef struct {
        WhyWaiting *result;
        GHashTable *waiting; /* of HeldWaiting, by name */
} HeldRows;

typedef struct {
        guint64 calls, waited; /* of the kind; with a wait */
        double wait;           /* of these, ns */
        GHashTable *holders;   /* of HeldHolder, by name */
} HeldWaiting;

typedef struct {
        double time; /* charged, ns */
        double open; /* sum over waits of how long it was held, ns */
        guint64 waits;
} HeldHolder;

HeldRows *held_rows_new(WhyWaiting *result);
HeldWaiting *held_rows_waiting(HeldRows *rows, const char *name);

/* time: the part of a wait; open: how long it was held in all, ns. */
void held_waiting_charge(HeldWaiting *waiting, const char *holder, double time, double open);

/* Appends a row for each holder of each waiting kind, and frees. like: its other members. */
void held_rows_finish(HeldRows *rows, const WhyWait *like);

/* Appends "GET /orders", the operation of the call's request, or the node that it enters. caller:
 * "GET /orders > app1", with the node that makes the call. Of a root: its client alone. */
void held_append_entry(const HeldCalls *held, guint32 call, gboolean caller, GString *name);

/* Appends the operations of n calls from by_connection[first] on, each once: "SELECT stock, UPDATE
 * stock". BEGIN and the like are left out. */
void held_append_statements(const HeldCalls *held, guint32 first, guint32 n, GString *name);

const char *held_label(const HeldCalls *held, guint32 call); /* never NULL */
