/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A pattern of a path set while its instances are counted.
 */
#pragma once

#include "base/exact-sum.h"
#include "paths/path-call.h"
#include "paths/path-pattern.h"
#include "paths/times-log.h"

/* Finding the pattern of an instance must cost little more than reading the instance.
 * Instances of one pattern differ only in the order of their siblings, and few
 * orders come up again and again. Each is a *variant*: the raw sequence of
 * (callee and kind, parent), found by its hash, with the slots it was once given. Only
 * a new variant is sorted and spelt out. */
typedef struct {
        struct PatternEntry *entry;
        guint32 n; /* calls */
        NodeId client;
        guint16 label;   /* operation of the root */
        guint32 words[]; /* n times (shape_word(), parent), then n slots */
} Variant;

/* The callee of a call and how it continues, of which node numbers leave the three highest bits. */
enum { CONTINUES_SHIFT = 29 };

static inline guint32 shape_word(const PathCall *call)
{
        return call->callee | (guint32)call->continues << CONTINUES_SHIFT;
}

/* How often each operation was called at a node of a pattern. */
typedef struct LabelCounts LabelCounts;

typedef struct PatternEntry {
        /* The times that wait: n_waiting * n_nodes * 3; of 32 bits as long as all times fit. */
        union {
                gint32 *narrow;
                gint64 *wide;
        };
        guint32 n_waiting, room; /* instances */
        gboolean is_wide;
        gboolean is_common;              /* times that wait are not for the log */
        TimesBlockAt logged;             /* the last block of the instances that waited before */
        guint32 n_logged;                /* instances */
        guint32 index;                   /* index of the pattern in the set */
        gint128 latency;                 /* of the instances that wait here and in the log, ns */
        PathPattern pattern;             /* without nodes until they are needed */
        LabelCounts *labels;             /* by node; NULL: no call had an operation */
        const Variant *first;            /* the variant of the first instance; NULL if linear */
        guint64 drawn;                   /* instances of the drawing in hand */
        double drawn_sum, drawn_squares; /* over drawings: sum of instances, and of their squares */
        gboolean is_whole;               /* from a store: no instances are added */
        gboolean waits;                  /* a node has workers */
        gboolean connects;               /* a caller waited for a connection */
        guint64 completed;               /* instances when it was last brought up to date */
        ExactSum probability;
} PatternEntry;

void pattern_entry_free(gpointer entry);

/* Adds the times and operations of one instance; slot is the node of each call. */
void pattern_entry_add(PatternEntry *entry, TimesLog *log, const PathCall *calls,
                       const guint32 *slot);

/* Brings the distributions and operations of the pattern up to date. labels: the operations by
 * number, from 1; NULL: none. Costs nothing if no instance came since. */
void pattern_entry_complete(PatternEntry *entry, TimesLog *log, const GPtrArray *labels);

/* The operation with a number; NULL: none. */
static inline const char *pattern_label_text(const GPtrArray *labels, guint16 label)
{
        return label && labels && label <= labels->len ? labels->pdata[label - 1] : NULL;
}
