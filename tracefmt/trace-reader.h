/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reads a trace, one message at a time (docs/trace-format.md).
 *
 * This is the hot path of every analysis. Input comes in blocks. A line is parsed where it lies,
 * eight bytes at a time, and the texts of a message point into the block. Nothing is allocated for
 * a line whose edge was seen lately.
 *
 * Disorder: a trace should be in time order. At the first line that is not, trace_reader_next()
 * fails with RAVEL_ERROR_DISORDER. For a regular file trace_reader_sort() then starts again from
 * the beginning: with a bounded buffer (reorder.c) if that is enough, else with all messages
 * sorted, on disk if there are many (sorted-runs.h). A pipe cannot be read again, so it is read
 * through the buffer from the start; messages that are too late are handed out as they come, and
 * counted.
 *
 * An incomplete last line, or compressed data that ends early, ends the trace without an error:
 * trace_reader_end() tells.
 */
#pragma once

#include "tracefmt/byte-source.h"
#include "tracefmt/doubt.h"
#include "tracefmt/message.h"
#include "tracefmt/stamp.h"

typedef struct TraceReader TraceReader;

typedef struct {
        gint64 from, to;      /* messages with from <= time < to; ns */
        char *const *exclude; /* names of nodes whose messages are left out; may be NULL */
        gboolean keep_going;  /* count broken lines by reason instead of failing */
        gboolean want_digest; /* trace_reader_digest() will be asked */
        gboolean any_order;   /* messages are handed out as they come: disorder is no error */
        ByteSourceProgress progress; /* called as the input is read, or NULL */
        ByteSourceWait wait;         /* called before each read, with wait_user, or NULL */
        gpointer wait_user;
        const char *(*name)(const char *path); /* what to call it in messages; NULL: path */
} TraceReaderOptions;

#define TRACE_READER_DEFAULTS                                                                      \
        {                                                                                          \
                .from = G_MININT64, .to = G_MAXINT64                                               \
        }

/* What can be wrong with a line. */
typedef enum {
        BROKEN_TIME,
        BROKEN_OPERATION,
        BROKEN_NODE,
        BROKEN_FIELDS,
        BROKEN_BYTE,
        BROKEN_LENGTH,
        N_BROKEN,
} BrokenLine;

const char *broken_line_name(BrokenLine reason); /* "bad timestamp" and so on */

/* Opens path, "-" for standard input; .gz and .zst are known by their magic.
 * Names are added to nodes, which is borrowed and must outlive the reader. */
TraceReader *trace_reader_new(const char *path, NodeTable *nodes, const TraceReaderOptions *options,
                              GError **error);

/* The next message: 1, 0 at the end, or -1 with error set. Its texts are valid
 * until the next call. */
int trace_reader_next(TraceReader *reader, Message *message, GError **error);

/* See above. FALSE with error set where the input cannot be read again. */
gboolean trace_reader_sort(TraceReader *reader, GError **error);

/* After that: how it was put in order, for the user. */
const char *trace_reader_order(const TraceReader *reader);

/* Before the first message: none is held back, and no disorder is an error. Late messages are
 * handed out as they come, and counted. */
void trace_reader_take_late(TraceReader *reader);

/* What to call the input in a message to the user. */
const char *trace_reader_name(const TraceReader *reader);

/* That of trace_reader_new(). */
const NodeTable *trace_reader_nodes(const TraceReader *reader);

/* The facts ("key: value") of the comments read so far, in order, at most the
 * first 10,000. Borrowed. */
char *const *trace_reader_facts(const TraceReader *reader, guint *n);

/* What these facts doubt (doubts_from_facts()), but for nodes that are left out. After the last
 * message. The caller's to free. */
GArray *trace_reader_doubts(const TraceReader *reader);

/* Lines left out by keep_going, by reason; N_BROKEN of them. */
const guint64 *trace_reader_broken(const TraceReader *reader);

/* Messages of a pipe that came after later ones. */
guint64 trace_reader_late(const TraceReader *reader);

/* At the end: how many messages the i-th name of exclude left out. */
guint64 trace_reader_excluded(const TraceReader *reader, guint i);

/* At the end: whether no message was handed out. *first and *last are set to the stamps of messages
 * that from and to left out; *first > *last: there are none. */
gboolean trace_reader_is_empty(const TraceReader *reader, gint64 *first, gint64 *last);

/* At the end: whether it is that of the trace. */
typedef enum {
        TRACE_WHOLE,
        TRACE_UNFINISHED, /* the counts are missing that a capture ends with */
        TRACE_CUT,        /* the last line is missing in part */
} TraceEnd;

TraceEnd trace_reader_end(const TraceReader *reader);

/* SHA-256 of the input as stored, at its end, if it was asked for; else NULL. */
const char *trace_reader_digest(TraceReader *reader);

void trace_reader_free(TraceReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceReader, trace_reader_free)
