/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The requests of a store one after the other, and the text that exports are made of.
 */
#pragma once

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

/* Appends a request to the text of an export. FALSE with error set ends the export. */
typedef gboolean (*ExportSink)(gpointer data, const ExportRequest *request, GError **error);

/* The patterns of a store (stored_patterns_load()); NULL with error set if it has no requests. */
GArray *export_patterns_load(StoreReader *reader, GError **error);

/* Gives all requests of a store to a sink, in order of start, and writes the text after each. */
gboolean export_requests(StoreReader *reader, const GArray *patterns, ExportSink sink,
                         gpointer data, GString *text, OutputFile *out, GError **error);

/* A table of the calls of a store, a line each. */
typedef struct ExportTable ExportTable;
struct ExportTable {
        StoreReader *reader;
        const NodeTable *nodes;
        GString *text; /* first the line of names */
        void (*append)(const ExportTable *table, const ExportRequest *request, guint32 call);
        gboolean goes_on; /* with the columns of work that goes on */
};

gboolean export_table(ExportTable *table, OutputFile *out, GError **error);

/* With 6 digits. */
void export_append_probability(GString *text, double probability);

/* Cells of a line, each with the tab behind it; "-": there is none. */
void export_append_cell(GString *text, gint64 number);
void export_append_name_cells(GString *text, const ExportTable *table, const PathCall *call);
void export_append_probability_cell(GString *text, double probability);
void export_append_parent_cell(GString *text, const PathCall *call); /* from 1 in the request */
void export_append_id_cell(GString *text, const PathCall *call);
void export_append_stamp_cell(GString *text, gint64 time, gboolean observed);
