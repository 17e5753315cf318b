/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-calls.h"

#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/verdict.h"

OutputFile *calls_open(const char *path, gboolean in_place, GError **error)
{
        static const char header[] =
                "call_time\treturn_time\tcaller\tcallee\tid\tparent_call_time\tparent_caller\t"
                "parent_callee\tparent_id\tinstance\tpattern\tprobability\n";
        g_autoptr(OutputFile) out = output_file_new(path, in_place, error);

        if (!out || !output_file_write(out, header, sizeof header - 1, error))
                return NULL;
        return g_steal_pointer(&out);
}

static void append_call_edge(GString *line, const KnownCalls *k, guint32 call)
{
        guint32 length;
        const char *id = known_calls_id(k, call, &length);

        g_string_append_printf(line, "%s\t%s\t",
                               node_table_written(k->nodes, known_calls_edge(k, call)->caller),
                               node_table_written(k->nodes, known_calls_edge(k, call)->callee));
        printable_append_id(line, length ? id : "-", MAX(length, 1));
}

static void format_call_line(GString *line, const KnownCalls *k, const PathSet *set, guint32 call)
{
        guint32 parent =
                call_links_is_relay(&k->links, call) ? NO_PARENT : k->pairs.cause[call].parent;
        const CallPlace *place = &k->pairs.place[call];

        g_string_truncate(line, 0);
        path_append_time(line, k->pairs.at_caller[call].from);
        g_string_append_c(line, '\t');
        path_append_time(line, k->pairs.at_caller[call].to);
        g_string_append_c(line, '\t');
        append_call_edge(line, k, call);
        g_string_append_c(line, '\t');
        if (parent == NO_PARENT) {
                g_string_append(line, "-\t-\t-\t-");
        } else {
                path_append_time(line, k->pairs.at_caller[parent].from);
                g_string_append_c(line, '\t');
                append_call_edge(line, k, parent);
        }
        if (place->pattern == NO_PATTERN)
                g_string_append(line, "\t-\t-\t"); /* cut by the capture */
        else
                g_string_append_printf(line,
                                       "\t%" G_GUINT64_FORMAT "\t%016" G_GINT64_MODIFIER "x\t",
                                       place->instance, path_set_outline(set, place->pattern)->id);
        if (path_set_shows_probability(set))
                path_append_number(line, parent == NO_PARENT ? 1 : k->pairs.cause[call].probability,
                                   "%.6g");
        else
                g_string_append_c(line, '-');
        g_string_append_c(line, '\n');
}

gboolean calls_write(const KnownCalls *k, const PathSet *set, guint64 first_instance,
                     OutputFile *out, GError **error)
{
        g_autofree guint32 *order = g_new(guint32, k->pairs.n);
        g_autoptr(GString) line = g_string_new(NULL);
        guint32 n_calls = 0;

        for (guint32 i = 0; i < k->pairs.n; i++)
                if (k->pairs.edge[i] && k->pairs.place[i].instance >= first_instance &&
                    k->pairs.place[i].instance != NOT_PLACED)
                        order[n_calls++] = i;
        known_calls_sort(k, order, n_calls);
        for (guint32 i = 0; i < n_calls; i++) {
                format_call_line(line, k, set, order[i]);
                if (!output_file_write(out, line->str, line->len, error))
                        return FALSE;
        }
        return TRUE;
}
