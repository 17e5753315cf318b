/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export-requests.h"

#include "base/printable.h"
#include "paths/path-text.h"
#include "store/stored-patterns.h"

GArray *export_patterns_load(StoreReader *reader, GError **error)
{
        return store_reader_expect_requests(reader, error) ? stored_patterns_load(reader, error)
                                                           : NULL;
}

gboolean export_requests(StoreReader *reader, const GArray *patterns, ExportSink sink,
                         gpointer data, GString *text, OutputFile *out, GError **error)
{
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        StoredPath path;
        guint64 n = 0;
        int status;

        while ((status = store_reader_next_path(reader, &path, error)) > 0) {
                const StoredPattern *pattern = stored_pattern_at(patterns, path.pattern);
                ExportRequest request = {
                        .number = ++n,
                        .pattern = pattern->id,
                        .signature = pattern->signature,
                        .client = pattern->client,
                        .probability = path.probability,
                };

                if (!store_reader_path_calls(reader, &path, calls, places, error))
                        return FALSE;
                request.calls = (const PathCall *)calls->data;
                request.n_calls = calls->len;
                if (!sink(data, &request, error) || !output_file_take(out, text, error))
                        return FALSE;
        }
        return status == 0;
}

/* An ExportSink; data: the table. */
static gboolean append_calls(gpointer data, const ExportRequest *request, GError **error)
{
        const ExportTable *t = data;

        (void)error;
        for (guint32 i = 0; i < request->n_calls; i++)
                t->append(t, request, i);
        return TRUE;
}

gboolean export_table(ExportTable *t, OutputFile *out, GError **error)
{
        g_autoptr(GArray) patterns = export_patterns_load(t->reader, error);

        return patterns &&
               export_requests(t->reader, patterns, append_calls, t, t->text, out, error) &&
               output_file_take(out, t->text, error);
}

void export_append_probability(GString *text, double probability)
{
        if (probability == 1) /* the most frequent by far */
                g_string_append_c(text, '1');
        else
                g_string_append_printf(text, "%.6g", probability);
}

void export_append_cell(GString *text, gint64 number)
{
        path_append_integer(text, number);
        g_string_append_c(text, '\t');
}

void export_append_name_cells(GString *text, const ExportTable *t, const PathCall *c)
{
        g_string_append_printf(text, "%s\t%s\t", node_table_written(t->nodes, c->caller),
                               node_table_written(t->nodes, c->callee));
}

void export_append_probability_cell(GString *text, double probability)
{
        export_append_probability(text, probability);
        g_string_append_c(text, '\t');
}

void export_append_parent_cell(GString *text, const PathCall *c)
{
        if (c->parent == NO_PARENT)
                g_string_append(text, "-\t");
        else
                export_append_cell(text, (gint64)c->parent + 1);
}

void export_append_id_cell(GString *text, const PathCall *c)
{
        if (c->id_length > 0)
                printable_append_id(text, c->id, c->id_length);
        else
                g_string_append_c(text, '-');
        g_string_append_c(text, '\t');
}

void export_append_stamp_cell(GString *text, gint64 time, gboolean observed)
{
        if (observed)
                export_append_cell(text, time);
        else
                g_string_append(text, "-\t");
}
