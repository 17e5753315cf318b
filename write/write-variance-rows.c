/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which nodes make latency vary, as TSV and as JSON (docs/variance.md).
 */
#include "base/each.h"
#include "write/fields.h"
#include "write/write-variance.h"

static const char *const kind_names[] = { "own", "queued", "way", "network", "elsewhere" };

static const Field share_fields[] = {
        { "all", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, all) },
        { "same", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, same) },
        { "which", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, which) },
        { "error", FIELD_KNOWN, G_STRUCT_OFFSET(VarianceRow, error) },
        { "mean", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, mean) },
        { "tail", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, tail) },
        { "doubtful", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, doubtful) },
};

/* TSV has explained as busy, then slope and idle. */
static const Field load_fields[] = {
        { "calls", FIELD_COUNT, G_STRUCT_OFFSET(LoadEffect, calls) },
        { "others", FIELD_EXACT, G_STRUCT_OFFSET(LoadEffect, others) },
        { "explained", FIELD_EXACT, G_STRUCT_OFFSET(LoadEffect, explained) },
        { "slope", FIELD_EXACT, G_STRUCT_OFFSET(LoadEffect, slope) },
        { "idle", FIELD_KNOWN, G_STRUCT_OFFSET(LoadEffect, idle) },
};

static const Field replica_cells[] = {
        { "replica", FIELD_TEXT, G_STRUCT_OFFSET(VarianceRow, replica) },
        { "replica_share", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, replica_share) },
        { "by_replica", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, by_replica) },
        { "slow", FIELD_TEXT, G_STRUCT_OFFSET(VarianceRow, slow) },
        { "quick", FIELD_TEXT, G_STRUCT_OFFSET(VarianceRow, quick) },
};

/* Where there are several. */
static const Field mean_fields[] = {
        { "by_replica", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, by_replica) },
        { "slow", FIELD_TEXT, G_STRUCT_OFFSET(VarianceRow, slow) },
        { "slow_mean", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, slow_mean) },
        { "quick", FIELD_TEXT, G_STRUCT_OFFSET(VarianceRow, quick) },
        { "quick_mean", FIELD_EXACT, G_STRUCT_OFFSET(VarianceRow, quick_mean) },
};

static const Field pair_fields[] = {
        { "a", FIELD_UINT, G_STRUCT_OFFSET(VariancePair, a) },
        { "b", FIELD_UINT, G_STRUCT_OFFSET(VariancePair, b) },
        { "share", FIELD_EXACT, G_STRUCT_OFFSET(VariancePair, share) },
        { "r", FIELD_EXACT, G_STRUCT_OFFSET(VariancePair, r) },
};

static const Field entry_fields[] = {
        { "label", FIELD_TEXT, G_STRUCT_OFFSET(VarianceEntry, label) },
        { "requests", FIELD_COUNT, G_STRUCT_OFFSET(VarianceEntry, count) },
        { "mean", FIELD_EXACT, G_STRUCT_OFFSET(VarianceEntry, mean) },
        { "deviation", FIELD_EXACT, G_STRUCT_OFFSET(VarianceEntry, deviation) },
        { "p50", FIELD_TIME, G_STRUCT_OFFSET(VarianceEntry, p50) },
        { "p99", FIELD_TIME, G_STRUCT_OFFSET(VarianceEntry, p99) },
        { "slow_from", FIELD_TIME, G_STRUCT_OFFSET(VarianceEntry, tail) },
        { "half", FIELD_COUNT, G_STRUCT_OFFSET(VarianceEntry, half) },
        { "which", FIELD_EXACT, G_STRUCT_OFFSET(VarianceEntry, which) },
};

char *variance_entry_name(const VarianceEntry *e, const NodeTable *nodes)
{
        return g_strdup_printf("%s>%s", node_table_written(nodes, e->client),
                               node_table_written(nodes, e->root));
}

/* --- tsv ------------------------------------------------------------------- */

void variance_write_tsv(const Variance *v, const NodeTable *nodes, guint n, GString *out)
{
        g_string_append(out, "entry\tlabel\twhere\tkind\t");
        fields_append_names(out, share_fields, G_N_ELEMENTS(share_fields));
        g_string_append(out, "busy\tslope\tidle\t");
        fields_append_names(out, replica_cells, G_N_ELEMENTS(replica_cells));
        out->str[out->len - 1] = '\n';
        for (guint i = 0; i < n; i++) {
                const VarianceEntry *e = g_ptr_array_index(v->entries, i);
                g_autofree char *name = variance_entry_name(e, nodes);

                EACH (const VarianceRow, row, e->rows) {
                        field_append_text(out, name);
                        field_append_text(out, e->label);
                        field_append_text(out, row->where);
                        field_append_text(out, kind_names[row->kind]);
                        fields_append_cells(out, share_fields, G_N_ELEMENTS(share_fields), row);
                        fields_append_cells(out, load_fields + 2, 3, &row->load);
                        fields_append_cells(out, replica_cells, G_N_ELEMENTS(replica_cells), row);
                        out->str[out->len - 1] = '\n';
                }
        }
}

/* --- json ------------------------------------------------------------------ */

static void put_load(const LoadEffect *load, Json *j)
{
        json_key(j, "busy");
        if (load->calls == 0) {
                json_null(j);
                return;
        }
        json_open(j, '{');
        fields_put(j, load_fields, G_N_ELEMENTS(load_fields), load);
        json_close(j, '}');
}

static void variance_out_put_row(const VarianceRow *row, Json *j)
{
        json_line(j, 6);
        json_open(j, '{');
        json_put_string(j, "where", row->where);
        json_put_string(j, "kind", kind_names[row->kind]);
        json_put_count(j, "depth", row->depth);
        fields_put(j, share_fields, G_N_ELEMENTS(share_fields), row);
        put_load(&row->load, j);
        fields_put(j, replica_cells, row->replica ? 2 : 1, row);
        if (row->slow)
                fields_put(j, mean_fields, G_N_ELEMENTS(mean_fields), row);
        json_close(j, '}');
}

static void put_entry(const VarianceEntry *e, const NodeTable *nodes, Json *j)
{
        g_autofree char *name = variance_entry_name(e, nodes);

        json_line(j, 4);
        json_open(j, '{');
        json_put_string(j, "entry", name);
        fields_put(j, entry_fields, G_N_ELEMENTS(entry_fields), e);
        json_line(j, 5);
        json_put_open(j, "rows", '[');
        for (guint i = 0; i < e->rows->len; i++)
                variance_out_put_row(&g_array_index(e->rows, VarianceRow, i), j);
        json_close(j, ']');
        json_line(j, 5);
        fields_put_list(j, "together", 6, pair_fields, G_N_ELEMENTS(pair_fields), e->pairs);
        json_close(j, '}');
}

void variance_write_json(const Variance *v, const NodeTable *nodes, guint n, double tail,
                         GString *out)
{
        Json json = JSON_IN(out), *j = &json;

        json_open_document(j, "ravel variance");
        json_put_string(j, "of", v->completion ? "completion" : "latency");
        json_put_number(j, "tail", tail, "%.9g");
        json_put_count(j, "left_out", v->left_out);
        json_line(j, 2);
        json_put_open(j, "entries", '[');
        for (guint i = 0; i < n; i++)
                put_entry(g_ptr_array_index(v->entries, i), nodes, j);
        json_close(j, ']');
        json_line(j, 0);
        json_close(j, '}');
        g_string_append_c(out, '\n');
}
