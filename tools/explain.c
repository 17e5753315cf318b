/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/nesting-report.h"

#include <string.h>

#include "base/error.h"
#include "tools/tool.h"
#include "tracefmt/trace-reader.h"

enum { EXPLAINED = 3 }; /* calls at most */

/* What an id must be for a call of this edge to be meant: NULL where none will do, "" where
 * any does. */
static const char *id_at_edge(const KnownCalls *k, const EdgeRole *edge, const char *name)
{
        NodeId callers[] = { edge->caller, k->roles.fold[edge->caller] };

        for (guint i = 0; i < G_N_ELEMENTS(callers); i++) {
                g_autofree char *text =
                        g_strdup_printf("%s>%s", node_table_written(k->nodes, callers[i]),
                                        node_table_written(k->nodes, edge->callee));
                gsize length = strlen(text);

                if (strncmp(name, text, length) != 0)
                        continue;
                if (name[length] == 0)
                        return "";
                if (name[length] == ':' && name[length + 1])
                        return name + length + 1;
        }
        return NULL;
}

/* A call without an id has "-" for one, as in outputs. */
static gboolean has_id(const KnownCalls *k, guint32 call, const char *text)
{
        guint32 length;
        const char *id = known_calls_id(k, call, &length);

        if (length == 0)
                return !strcmp(text, "-");
        return strlen(text) == length && !memcmp(id, text, length);
}

/* Indices of the calls that name stands for, in the order of time. */
static GArray *find_calls(const KnownCalls *k, const char *name)
{
        GArray *calls = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_autofree const char **at_edge = g_new(const char *, k->roles.n_edges);
        gint64 time = NO_TIME;

        if (!trace_parse_time(name, &time, NULL))
                time = NO_TIME;
        for (guint i = 0; i < k->roles.n_edges; i++)
                at_edge[i] = id_at_edge(k, &k->roles.edge[i], name);
        for (guint32 i = 0; i < k->pairs.n; i++) {
                const char *id = at_edge[k->pairs.edge[i] - 1];

                if ((id && (!*id || has_id(k, i, id))) || has_id(k, i, name) ||
                    (time != NO_TIME && k->pairs.at_caller[i].from == time))
                        g_array_append_val(calls, i);
        }
        known_calls_sort(k, (guint32 *)calls->data, calls->len);
        return calls;
}

gboolean explain_find(Nesting *n, const char *name, const char *trace, GError **error)
{
        g_autoptr(GArray) calls = NULL;

        nesting_end_calls(n);
        calls = find_calls(nesting_calls(n), name);
        if (calls->len == 0)
                return ravel_fail(
                        error, RAVEL_ERROR_INPUT,
                        "%s: no call \"%s\" that has a return, expected an id, CALLER>CALLEE, "
                        "CALLER>CALLEE:ID or the moment of a call, as --calls writes them",
                        trace, name);
        if (calls->len > EXPLAINED)
                tool_warn("%u calls are \"%s\": the first %u are explained", calls->len, name,
                          EXPLAINED);
        for (guint i = 0; i < MIN(calls->len, EXPLAINED); i++)
                nesting_explain(n, g_array_index(calls, guint32, i));
        return TRUE;
}
