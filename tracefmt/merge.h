/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Merges traces of one system from several places into one, in order of time. A message that
 * several of them observed is in the result once.
 *
 * Two messages are one observation if operation, sender, receiver and id are the same, and if their
 * stamps lie within the window. Without an id the stamps must be equal, since nothing else tells
 * such messages apart.
 *
 * The first message is kept, unless a later one was stamped by the node itself (the fact "captured
 * on host" of its trace). If a trace has a message twice, these are two observations: the first
 * goes with the first of another trace, the second with the second. The stamps of the two ends have
 * different operations, so both are kept.
 *
 * The window is also how far a line may stand behind later lines of its own trace. So memory holds
 * the messages within two windows.
 *
 * Equal stamps come in the order of the traces, and of the lines in a trace.
 */
#pragma once

#include "tracefmt/trace-reader.h"

typedef struct Merge Merge;

typedef struct {
        guint64 messages;   /* handed out */
        guint64 without_id; /* of these */
        guint64 dropped;    /* that another trace had, too */
        guint64 late;       /* more than the window behind, and handed out of order */
        gint64 needed;      /* the window that all late ones would have needed; ns */
} MergeCounts;

/* window in ns, from 0. nodes is that of all readers, and borrowed. */
Merge *merge_new(gint64 window, NodeTable *nodes);
void merge_free(Merge *merge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Merge, merge_free)

/* Adds a trace, opened with any_order and borrowed. All before the first merge_next(). */
void merge_add(Merge *merge, TraceReader *reader);

/* The next message: 1, 0 at the end, or -1 with error set. Its texts are valid until the
 * next call, and *trace says where it is from, counted from 0 as they were added. */
int merge_next(Merge *merge, Message *message, guint *trace, GError **error);

/* Asks for a call of look for each message read, in no particular order: its texts are
 * valid during the call. */
typedef void (*MergeLook)(gpointer user, guint trace, const Message *message);
void merge_set_look(Merge *merge, MergeLook look, gpointer user);

/* How many facts of a trace stand before its first message. After merge_next(). */
guint merge_head_facts(const Merge *merge, guint trace);

const MergeCounts *merge_counts(const Merge *merge);
