/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Latencies after a change, as TSV and as JSON.
 */
#include "base/each.h"
#include "write/fields.h"
#include "write/write-whatif.h"

static const Field whatif_entry_fields[] = {
        { "label", FIELD_TEXT, G_STRUCT_OFFSET(WhatIfEntry, label) },
        { "requests", FIELD_COUNT, G_STRUCT_OFFSET(WhatIfEntry, count) },
};

/* Of a figure that is known, behind now. */
static const Field figure_fields[] = {
        { "then", FIELD_MEAN, G_STRUCT_OFFSET(WhatIfFigure, then) },
        { "low", FIELD_MEAN, G_STRUCT_OFFSET(WhatIfFigure, low) },
        { "high", FIELD_MEAN, G_STRUCT_OFFSET(WhatIfFigure, high) },
};

static const Field now_field = { "now", FIELD_MEAN, G_STRUCT_OFFSET(WhatIfFigure, now) };
static const Field error_field = { "error", FIELD_MEAN, G_STRUCT_OFFSET(WhatIfFigure, error) };

char *whatif_entry_name(const WhatIfEntry *e, const NodeTable *nodes)
{
        return g_strdup_printf("%s>%s", node_table_written(nodes, e->client),
                               node_table_written(nodes, e->root));
}

/* --- tsv ------------------------------------------------------------------- */

static void append_figures(const WhatIfEntry *e, const NodeTable *nodes, const char *quicker,
                           const WhatIfFigure *figures, GString *out)
{
        g_autofree char *name = whatif_entry_name(e, nodes);

        for (guint k = 0; k < N_FIGURES; k++) {
                const WhatIfFigure *f = &figures[k];

                field_append_text(out, name);
                field_append_text(out, e->label);
                field_append_text(out, quicker);
                field_append_text(out, figure_names[k]);
                fields_append_cells(out, &now_field, 1, f);
                if (f->is_known)
                        fields_append_cells(out, figure_fields, G_N_ELEMENTS(figure_fields), f);
                else
                        g_string_append(out, "-\t-\t-\t");
                fields_append_cells(out, &error_field, 1, f);
                out->str[out->len - 1] = '\n';
        }
}

void whatif_write_tsv(const WhatIf *w, const NodeTable *nodes, guint n, GString *out)
{
        g_string_append(out, "entry\tlabel\tquicker\tfigure\tnow\tthen\tlow\thigh\terror\n");
        for (guint i = 0; i < n; i++) {
                const WhatIfEntry *e = g_ptr_array_index(w->entries, i);

                if (e->has_figures && !e->gains)
                        append_figures(e, nodes, NULL, e->figures, out);
                for (guint k = 0; e->gains && k < e->gains->len; k++) {
                        const WhatIfGain *gain = &g_array_index(e->gains, WhatIfGain, k);

                        append_figures(e, nodes, node_table_written(nodes, gain->node),
                                       gain->figures, out);
                }
        }
}

/* --- json ------------------------------------------------------------------ */

static void put_figures(const WhatIfFigure *figures, Json *j)
{
        for (guint k = 0; k < N_FIGURES; k++) {
                const WhatIfFigure *f = &figures[k];

                json_put_open(j, figure_names[k], '{');
                fields_put(j, &now_field, 1, f);
                for (guint i = 0; i < G_N_ELEMENTS(figure_fields); i++) {
                        if (f->is_known) {
                                fields_put(j, &figure_fields[i], 1, f);
                        } else {
                                json_key(j, figure_fields[i].name);
                                json_null(j);
                        }
                }
                fields_put(j, &error_field, 1, f);
                json_close(j, '}');
        }
}

static void whatif_put_entry(const WhatIfEntry *e, const NodeTable *nodes, Json *j)
{
        g_autofree char *name = whatif_entry_name(e, nodes);

        json_line(j, 4);
        json_open(j, '{');
        json_put_string(j, "entry", name);
        fields_put(j, whatif_entry_fields, G_N_ELEMENTS(whatif_entry_fields), e);
        if (e->has_figures && !e->gains) {
                json_put_count(j, "slower", e->slower);
                put_figures(e->figures, j);
        }
        if (e->gains) {
                json_put_open(j, "quicker", '[');
                EACH (const WhatIfGain, gain, e->gains) {
                        json_line(j, 6);
                        json_open(j, '{');
                        json_put_string(j, "node", node_table_written(nodes, gain->node));
                        put_figures(gain->figures, j);
                        json_close(j, '}');
                }
                json_close(j, ']');
        }
        json_close(j, '}');
}

static void put_workers(const WhatIf *w, const NodeTable *nodes, Json *j)
{
        json_line(j, 2);
        json_put_open(j, "workers", '[');
        for (guint i = 0; i < w->requests->n_nodes; i++) {
                if (w->now[i].workers == 0 && w->then[i].workers == 0)
                        continue;
                json_line(j, 4);
                json_open(j, '{');
                json_put_string(j, "node", node_table_written(nodes, i));
                json_put_count(j, "now", w->now[i].workers);
                json_put_number(j, "busy", w->now[i].busy, "%.4g");
                if (w->notes->len > 0) {
                        json_put_count(j, "then", w->then[i].workers);
                        json_put_number(j, "busy_then", w->then[i].busy, "%.4g");
                }
                json_close(j, '}');
        }
        json_close(j, ']');
}

void whatif_write_json(const WhatIf *w, const NodeTable *nodes, guint n, GString *out)
{
        Json json = JSON_IN(out), *j = &json;

        json_open_document(j, "ravel whatif");
        json_put_count(j, "requests", w->requests->requests->len);
        json_put_count(j, "waiting", w->waiting);
        json_put_string(j, "full", w->full == NO_NODE ? NULL : node_table_written(nodes, w->full));
        put_workers(w, nodes, j);
        json_line(j, 2);
        json_put_open(j, "entries", '[');
        for (guint i = 0; i < n; i++)
                whatif_put_entry(g_ptr_array_index(w->entries, i), nodes, j);
        json_close(j, ']');
        json_line(j, 0);
        json_close(j, '}');
        g_string_append_c(out, '\n');
}
