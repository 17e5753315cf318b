/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export-requests.h"

#include "base/printable.h"
#include "paths/path-text.h"
#include "store/stored-patterns.h"

struct ExportRequests {
        StoreReader *reader; /* borrowed */
        GArray *patterns;    /* of StoredPattern */
        GArray *calls;       /* of PathCall */
        GArray *places;
        guint64 n; /* requests so far */
};

ExportRequests *export_requests_new(StoreReader *reader, GError **error)
{
        ExportRequests *r;
        GArray *patterns;

        if (!store_reader_expect_requests(reader, error) ||
            !(patterns = stored_patterns_load(reader, error)))
                return NULL;
        r = g_new0(ExportRequests, 1);
        r->reader = reader;
        r->patterns = patterns;
        r->calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        r->places = g_array_new(FALSE, FALSE, sizeof(guint32));
        return r;
}

void export_requests_free(ExportRequests *r)
{
        if (!r)
                return;
        g_array_unref(r->patterns);
        g_array_free(r->calls, TRUE);
        g_array_free(r->places, TRUE);
        g_free(r);
}

int export_requests_next(ExportRequests *r, ExportRequest *request, GError **error)
{
        StoredPath path;
        const StoredPattern *pattern;
        int status = store_reader_next_path(r->reader, &path, error);

        if (status <= 0)
                return status;
        if (!store_reader_path_calls(r->reader, &path, r->calls, r->places, error))
                return -1;
        pattern = stored_pattern_at(r->patterns, path.pattern);
        *request = (ExportRequest){
                .number = ++r->n,
                .pattern = pattern->id,
                .signature = pattern->signature,
                .client = pattern->client,
                .probability = path.probability,
                .calls = (const PathCall *)r->calls->data,
                .n_calls = r->calls->len,
        };
        return 1;
}

/* --- text ------------------------------------------------------------------ */

enum { FLUSH_SIZE = 1 << 16 };

void export_append_probability(GString *text, double probability)
{
        char digits[G_ASCII_DTOSTR_BUF_SIZE];

        if (probability == 1) /* the most frequent by far */
                g_string_append_c(text, '1');
        else
                g_string_append(text, g_ascii_formatd(digits, sizeof digits, "%.6g", probability));
}

void export_append_parent_cell(GString *text, const PathCall *c)
{
        if (c->parent == NO_PARENT)
                g_string_append_c(text, '-');
        else
                path_append_integer(text, (gint64)c->parent + 1);
        g_string_append_c(text, '\t');
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
                path_append_integer(text, time);
        else
                g_string_append_c(text, '-');
        g_string_append_c(text, '\t');
}

gboolean export_flush(GString *text, gboolean all, OutputFile *out, GError **error)
{
        if (!all && text->len < FLUSH_SIZE)
                return TRUE;
        if (!output_file_write(out, text->str, text->len, error))
                return FALSE;
        g_string_truncate(text, 0);
        return TRUE;
}
