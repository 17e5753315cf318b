/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A line for each call, for whatever reads tables (docs/store.md says what each
 * column is: those of the table call, whose names they have). Calls are numbered
 * from 1 in their request; times are whole ns.
 */
#include "export/export-requests.h"
#include "export/export.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"

static void append_goes_on(GString *text, const PathCall *c)
{
        const char *name = path_continues_name(c->continues);

        g_string_append_printf(text, "\t%s\t", name ? name : "-");
        path_append_integer(text, c->queued);
}

/* What the reply said of an error, and the parts of the network's time. */
static void append_outcome_and_causes(GString *text, const PathCall *c)
{
        char outcome[OUTCOME_TEXT + 1];

        g_string_append_printf(text, "\t%s", outcome_write(c->outcome, outcome) ? outcome : "-");
        for (guint i = 0; i < N_WAY_CAUSES; i++) {
                g_string_append_c(text, '\t');
                path_append_integer(text, c->network != 0 ? c->cause[i] : 0);
        }
        g_string_append_c(text, '\n');
}

static void tsv_append_call(const ExportTable *t, const ExportRequest *request, guint32 i)
{
        const PathCall *c = &request->calls[i];
        GString *text = t->text;

        export_append_cell(text, (gint64)request->number);
        path_append_hex(text, request->pattern);
        g_string_append_c(text, '\t');
        export_append_cell(text, (gint64)i + 1);
        export_append_parent_cell(text, c);
        export_append_name_cells(text, t, c);
        export_append_stamp_cell(text, c->start, c->stamps & (1 << CALL_SENT | 1 << MSG_SENT));
        export_append_stamp_cell(text, c->enter, c->stamps & (1 << CALL_RECV | 1 << MSG_RECV));
        export_append_stamp_cell(text, c->reply, c->stamps & 1 << RET_SENT);
        export_append_stamp_cell(text, c->end, c->stamps & 1 << RET_RECV);
        export_append_cell(text, c->own);
        export_append_cell(text, c->network);
        export_append_probability_cell(text, (double)c->probability);
        export_append_cell(text, c->candidates);
        export_append_id_cell(text, c);
        path_append_label_cell(text, store_reader_label(t->reader, c->label));
        if (t->goes_on)
                append_goes_on(text, c);
        append_outcome_and_causes(text, c);
}

gboolean export_tsv(StoreReader *reader, const NodeTable *nodes, OutputFile *out, GError **error)
{
        g_autoptr(GString) text = g_string_new(
                "request\tpattern\tcall\tparent\tcaller\tcallee\tcall_sent\tcall_recv\tret_sent\t"
                "ret_recv\town\tnetwork\tprobability\tcandidates\ttrace_id\tlabel");
        ExportTable table = { reader, nodes, text, tsv_append_call,
                              store_reader_continues(reader) };

        g_string_append(text, table.goes_on ? "\tcontinues\tqueued\toutcome" : "\toutcome");
        for (guint i = 0; i < N_WAY_CAUSES; i++)
                g_string_append_printf(text, "\t%s", way_cause_key(i));
        g_string_append_c(text, '\n');
        return export_table(&table, out, error);
}
