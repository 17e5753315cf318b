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

static void wireshark_append_call(const ExportTable *t, const ExportRequest *request, guint32 i)
{
        const PathCall *c = &request->calls[i];
        GString *text = t->text;
        gboolean first = c->parent == NO_PARENT;

        export_append_cell(text, (gint64)request->number);
        export_append_cell(text, (gint64)i + 1);
        export_append_parent_cell(text, c);
        export_append_id_cell(text, c);
        export_append_stamp_cell(text, c->start, c->stamps & 1 << CALL_SENT);
        export_append_stamp_cell(text, c->enter, c->stamps & 1 << CALL_RECV);
        export_append_stamp_cell(text, c->reply, c->stamps & 1 << RET_SENT);
        export_append_stamp_cell(text, c->end, c->stamps & 1 << RET_RECV);
        export_append_cell(text, c->own);
        export_append_cell(text, c->network);
        export_append_probability_cell(text, (double)c->probability);
        if (first)
                export_append_probability_cell(text, request->probability);
        else
                g_string_append(text, "-\t");
        export_append_cell(text, c->candidates);
        export_append_name_cells(text, t, c);
        path_append_label_cell(text, store_reader_label(t->reader, c->label));
        g_string_append_printf(text, "\t%s\t", first ? request->signature : "-");
        append_causes(text, c);
}

gboolean export_wireshark(StoreReader *reader, const NodeTable *nodes, OutputFile *out,
                          GError **error)
{
        g_autoptr(GString) text = g_string_new(
                "request\tcall\tparent\tid\tcall_sent\tcall_recv\tret_sent\tret_"
                "recv\town\tnetwork\t"
                "probability\trequest_probability\tcandidates\tcaller\tcallee\toperation\tpath\t"
                "causes\n");
        ExportTable table = { reader, nodes, text, wireshark_append_call, FALSE };

        return export_table(&table, out, error);
}
