/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The requests of a store one after the other, and the text that exports are made of.
 */
#ifndef RAVEL_EXPORT_REQUESTS_H
#define RAVEL_EXPORT_REQUESTS_H

#include "store/store-reader.h"
#include "tracefmt/output-file.h"

/* A path instance with its calls, in pre-order. */
typedef struct {
        guint64 number;  /* from 1, as path.id */
        guint64 pattern; /* the id of its pattern */
        const char *signature;
        NodeId client; /* the caller of the pattern's root, which may stand for many */
        double probability;
        const PathCall *calls;
        guint32 n_calls;
} ExportRequest;

typedef struct ExportRequests ExportRequests;

/* The requests of a store, in order of start. NULL and error set where it has none
 * since it was made so, or cannot be read. */
ExportRequests *export_requests_new(StoreReader *reader, GError **error);
void export_requests_free(ExportRequests *requests);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ExportRequests, export_requests_free)

/* 1, 0 after the last, or -1 with error set. The calls are borrowed until the next. */
int export_requests_next(ExportRequests *requests, ExportRequest *request, GError **error);

/* With 6 digits. */
void export_append_probability(GString *text, double probability);

/* Cells of a line, each with the tab behind it; "-": there is none. */
void export_append_parent_cell(GString *text, const PathCall *call); /* from 1 in the request */
void export_append_id_cell(GString *text, const PathCall *call);
void export_append_stamp_cell(GString *text, gint64 time, gboolean observed);

/* Writes text once there is enough of it, or in any case (all), and empties it. */
gboolean export_flush(GString *text, gboolean all, OutputFile *out, GError **error);

#endif
