/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What was decided of a slice of time: its path instances, call by call, and what they were decided
 * by. Those of all slices, one after the other, are the instances of the trace.
 *
 * docs/states.md says what is in the bytes.
 */
#ifndef RAVEL_DECIDED_H
#define RAVEL_DECIDED_H

#include "nesting/learned.h"
#include "paths/path-call.h"
#include "tracefmt/output-file.h"

/* --- writing ------------------------------------------------------------------ */

typedef struct DecidedWriter DecidedWriter;

/* slice: its index in learned. labels: of operations, by number less 1. digest: of the trace as
 * stored; NULL: not known. All borrowed, out until the writer is free. */
DecidedWriter *decided_writer_new(OutputFile *out, Learned *learned, guint32 slice,
                                  const GPtrArray *labels, const char *digest);
void decided_writer_free(DecidedWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DecidedWriter, decided_writer_free)

/* ordinal: by call of the instance, see slice_run_ordinal(). */
gboolean decided_writer_add(DecidedWriter *writer, const PathCall *path, const guint32 *ordinal,
                            guint32 n, gboolean is_cut, GError **error);

/* After the last one. */
gboolean decided_writer_end(DecidedWriter *writer, const guint64 seam[2], GError **error);

/* --- reading ------------------------------------------------------------------- */

typedef struct {
        Bytes bytes;
        Learned *learned;       /* without the scoreboard */
        guint64 learned_digest; /* of it with the scoreboard: states go together where it is one */
        guint32 slice;
        GPtrArray *labels;
        char *digest;   /* of the trace; "": not known */
        PathCall *path; /* the instance in hand */
        guint32 *ordinal;
        guint32 size;
        guint64 seam[2]; /* after the last instance */
} DecidedReader;

/* data is borrowed. FALSE with error set where it is no such state; clear it either way. */
gboolean decided_reader_init(DecidedReader *reader, const guint8 *data, gsize n, GError **error);
void decided_reader_clear(DecidedReader *reader);

/* The next instance, in order of start: 1, with path and ordinal of n calls; 0 at the end; -1 with
 * error set. */
int decided_reader_next(DecidedReader *reader, guint32 *n, gboolean *is_cut, GError **error);

#endif
