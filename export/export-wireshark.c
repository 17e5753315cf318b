/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A line for each call, with its stamps, and its id by which packets are found: the client's port
 * and the number of the first byte. wireshark/ravel.lua reads it. Path and probability of a request
 * stand at its first call alone.
 */
#include "export/export-requests.h"
#include "export/export.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"

static void wireshark_append_place(GString *text, const ExportRequest *request, guint32 i)
{
        const PathCall *c = &request->calls[i];

        path_append_integer(text, (gint64)request->number);
        g_string_append_c(text, '\t');
        path_append_integer(text, (gint64)i + 1);
        g_string_append_c(text, '\t');
        export_append_parent_cell(text, c);
        export_append_id_cell(text, c);
}

static void append_figures(GString *text, const ExportRequest *request, const PathCall *c)
{
        export_append_stamp_cell(text, c->start, c->stamps & 1 << CALL_SENT);
        export_append_stamp_cell(text, c->enter, c->stamps & 1 << CALL_RECV);
        export_append_stamp_cell(text, c->reply, c->stamps & 1 << RET_SENT);
        export_append_stamp_cell(text, c->end, c->stamps & 1 << RET_RECV);
        path_append_integer(text, c->own);
        g_string_append_c(text, '\t');
        path_append_integer(text, c->network);
        g_string_append_c(text, '\t');
        export_append_probability(text, (double)c->probability);
        g_string_append_c(text, '\t');
        if (c->parent == NO_PARENT)
                export_append_probability(text, request->probability);
        else
                g_string_append_c(text, '-');
        g_string_append_c(text, '\t');
        path_append_integer(text, c->candidates);
        g_string_append_c(text, '\t');
}

static void wireshark_append_names(GString *text, const NodeTable *nodes, const PathCall *c,
                                   const char *label, const char *signature)
{
        g_string_append(text, node_table_written(nodes, c->caller));
        g_string_append_c(text, '\t');
        g_string_append(text, node_table_written(nodes, c->callee));
        g_string_append_c(text, '\t');
        path_append_label_cell(text, label);
        g_string_append_c(text, '\t');
        g_string_append(text, c->parent == NO_PARENT ? signature : "-");
        g_string_append_c(text, '\t');
}

/* "resent 200.0 ms, sending 3.0 ms" */
static void append_causes(GString *text, const PathCall *c)
{
        gsize start = text->len;

        for (guint i = 0; c->network != 0 && i < N_WAY_CAUSES; i++) {
                g_autofree char *time = path_format_duration(c->cause[i]);

                if (c->cause[i] != 0)
                        g_string_append_printf(text, "%s%s %s", text->len > start ? ", " : "",
                                               way_cause_name(i), time);
        }
        g_string_append(text, text->len > start ? "\n" : "-\n");
}

static gboolean wireshark_append_request(gpointer data, const ExportRequest *request,
                                         GError **error)
{
        const ExportTable *t = data;

        (void)error;
        for (guint32 i = 0; i < request->n_calls; i++) {
                const PathCall *c = &request->calls[i];

                wireshark_append_place(t->text, request, i);
                append_figures(t->text, request, c);
                wireshark_append_names(t->text, t->nodes, c,
                                       store_reader_label(t->reader, c->label), request->signature);
                append_causes(t->text, c);
        }
        return TRUE;
}

gboolean export_wireshark(StoreReader *reader, const NodeTable *nodes, OutputFile *out,
                          GError **error)
{
        g_autoptr(GArray) patterns = export_patterns_load(reader, error);
        g_autoptr(GString) text =
                g_string_new("request\tcall\tparent\tid\tcall_sent\tcall_recv\tret_sent\tret_"
                             "recv\town\tnetwork\t"
                             "probability\trequest_"
                             "probability\tcandidates\tcaller\tcallee\toperation\tpath\tcauses\n");
        ExportTable table = { reader, nodes, text, FALSE };

        return patterns &&
               export_requests(reader, patterns, wireshark_append_request, &table, text, out,
                               error) &&
               output_file_take(out, text, error);
}
