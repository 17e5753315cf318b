/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a store holds in the formats of other programs, each in its
 * export-FORMAT.c. Requests are read and written one at a time: memory does not
 * grow with their number. The same store always gives the same bytes.
 */
#pragma once

#include "store/store-reader.h"
#include "tracefmt/output-file.h"

/* reader has just been opened, with nodes. */
typedef gboolean (*ExportWriter)(StoreReader *reader, const NodeTable *nodes, OutputFile *out,
                                 GError **error);

/* The names of all formats; NULL after the last. */
extern const char *const export_formats[];

ExportWriter export_writer_lookup(const char *format);

gboolean export_otlp(StoreReader *, const NodeTable *, OutputFile *, GError **);
gboolean export_folded(StoreReader *, const NodeTable *, OutputFile *, GError **);
gboolean export_chrome(StoreReader *, const NodeTable *, OutputFile *, GError **);
gboolean export_tsv(StoreReader *, const NodeTable *, OutputFile *, GError **);
gboolean export_wireshark(StoreReader *, const NodeTable *, OutputFile *, GError **);
