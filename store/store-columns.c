/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store-columns.h"

#include "base/error.h"
#include "store/store-error.h"

/* A call has its stamps at the caller, else those at the callee (nesting's rule). */
const StoreTable store_tables[N_TABLES] = {
        [RUN] = { "run", "SELECT method, parameters, version, messages, calls, unmatched_calls, "
                         "unmatched_returns, cut_paths, parallelism, first, last FROM run" },
        [CAPTURE] = { "capture", "SELECT name, sha256, facts FROM capture ORDER BY id" },
        [NODE] = { "node", "SELECT id, name FROM node ORDER BY id" },
        [PATTERN] = { "pattern",
                      "SELECT id, signature, client, count, total, mean, deviation, p50, p90, "
                      "p99, min, max, probability, label, completion_total, completion_mean, "
                      "completion_p50, completion_p99, misassigned, drawn, drawn_error, failed "
                      "FROM pattern ORDER BY id" },
        [PATTERN_NODE] = { "pattern_node",
                           "SELECT pattern, place, latency_mean, latency_p99, own_mean, own_p99, "
                           "parent, node, latency, call_delay, own, network, label, labels, "
                           "continues, connecting, queued, CASE place WHEN 0 THEN (SELECT "
                           "completion "
                           "FROM pattern WHERE pattern.id = pattern_node.pattern) END, "
                           "workers, own_queued, serving, own_queued_mean, "
                           "errors, error_own, outcome, culprits, retries, lost, CASE place "
                           "WHEN 0 THEN (SELECT good FROM pattern "
                           "WHERE pattern.id = pattern_node.pattern) END "
                           "FROM pattern_node ORDER BY pattern, place" },
        [PATH] = { "path", "SELECT id, pattern, start, latency, first_call, calls, probability, "
                           "completion FROM path ORDER BY id" },
        [CALL] = { "call", "SELECT id, path, parent, caller, callee, coalesce(call_sent, "
                           "call_recv) AS call_sent, coalesce(ret_recv, ret_sent, CASE WHEN "
                           "continues IS NOT NULL THEN coalesce(call_sent, call_recv) END) AS "
                           "ret_recv, trace_id, probability FROM call ORDER BY id" },
        [PATH_CALLS] = { "call", "SELECT id, parent, place, caller, callee, call_sent, call_recv, "
                                 "ret_sent, ret_recv, own, network, probability, candidates, "
                                 "trace_id, label, continues, queued, connect, wait, own_queued, "
                                 "connecting, outcome, CASE WHEN network <> 0 THEN (SELECT "
                                 "group_concat(cause || ':' || time) FROM call_cause WHERE "
                                  "call_cause.call = call.id) END AS causes, tags, connection, txn, "
                                  "call_bytes, ret_bytes FROM call WHERE id BETWEEN ?1 AND ?2 "
                                  "ORDER BY id" },
        [TRUST] = { "trust", "SELECT node, calls, guessed, probability FROM trust ORDER BY node" },
        [WORKER] = { "worker", "SELECT node, workers, calls, served, waited FROM worker "
                               "ORDER BY node" },
        /* Empty in a store of path instances. */
        [VERTEX] = { "vertex", "SELECT id, parent, node, count, probability, \"end\" FROM vertex "
                               "ORDER BY id" },
        [VERTEX_DELAY] = { "vertex_delay",
                           "SELECT vertex, delay, count FROM vertex_delay ORDER BY vertex, delay" },
        [JUDGEMENT] = { "run", "SELECT judgement, fit FROM run" },
        [DOUBT] = { "doubt", "SELECT id, text, reason, caller, callee, count, total, kind, bytes, "
                             "total_bytes FROM doubt ORDER BY id" },
        [TAG] = { "tag", "SELECT id, name, value FROM tag ORDER BY id, name" },
        [LABEL] = { "label", "SELECT id, name FROM label ORDER BY id" },
        [PATTERN_CAUSE] = { "pattern_cause", "SELECT cause, time FROM pattern_cause "
                                             "WHERE pattern = ?1 AND place = ?2" },
        [PATTERN_DOUBT] = { "pattern", "SELECT doubt FROM pattern ORDER BY id" },
};

Row row_next(StoreReader *r, Table t, GError **error)
{
        Row row = { r, t, 1, error };

        switch (sqlite3_step(r->select[t])) {
        case SQLITE_ROW:
                r->rows[t]++;
                break;
        case SQLITE_DONE:
                row.status = 0;
                break;
        default:
                store_set_error(r->db, r->path, error);
                row.status = -1;
        }
        return row;
}

gboolean store_reader_fail(const StoreReader *r, GError **error, const char *format, ...)
{
        g_autofree char *what = NULL;
        va_list args;

        va_start(args, format);
        what = g_strdup_vprintf(format, args);
        va_end(args);
        return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: the store is corrupt: %s", r->path, what);
}

void row_fail(Row *row, int column, const char *expected)
{
        store_reader_fail(row->r, row->error,
                          "row %" G_GINT64_FORMAT " of %s: wrong %s, expected %s",
                          row->r->rows[row->table], store_tables[row->table].name,
                          sqlite3_column_name(row->r->select[row->table], column), expected);
        row->status = -1;
}

gint64 row_number(Row *row, int column, gint64 low, gint64 high)
{
        sqlite3_stmt *s = row->r->select[row->table];
        g_autofree char *expected = NULL;
        gint64 number;

        if (row->status <= 0)
                return 0;
        number = sqlite3_column_int64(s, column);
        if (G_LIKELY(number >= low && number <= high &&
                     sqlite3_column_type(s, column) == SQLITE_INTEGER))
                return number;
        expected = low > high ? g_strdup("no such row")
                              : g_strdup_printf("a number from %" G_GINT64_FORMAT
                                                " to %" G_GINT64_FORMAT,
                                                low, high);
        row_fail(row, column, expected);
        return 0;
}

gint64 row_some(Row *row, int column, gint64 low, gint64 high)
{
        return row_is_null(row, column) ? 0 : row_number(row, column, low, high);
}

gint64 row_time(Row *row, int column)
{
        return row_number(row, column, G_MININT64, G_MAXINT64);
}

gint64 row_stamp(Row *row, int column, gint64 otherwise)
{
        return row_is_null(row, column) ? otherwise : row_time(row, column);
}

guint64 row_count(Row *row, int column)
{
        return (guint64)row_number(row, column, 0, G_MAXINT64);
}

void row_check_id(Row *row)
{
        gint64 id = row->r->rows[row->table];

        row_number(row, 0, id, MIN(id, G_MAXUINT32 - 1));
}

const char *row_text(Row *row, int column)
{
        sqlite3_stmt *s = row->r->select[row->table];
        const char *text = row->status > 0 ? (const char *)sqlite3_column_text(s, column) : NULL;

        if (text && g_utf8_validate(text, sqlite3_column_bytes(s, column), NULL))
                return text;
        if (row->status > 0)
                row_fail(row, column, "text");
        return NULL;
}

const char *row_some_text(Row *row, int column)
{
        return row_is_null(row, column) ? NULL : row_text(row, column);
}

double row_probability(Row *row, int column)
{
        sqlite3_stmt *s = row->r->select[row->table];
        double probability = row->status > 0 ? sqlite3_column_double(s, column) : 0;

        if (row->status > 0 && !(probability >= 0 && probability <= 1 &&
                                 sqlite3_column_type(s, column) == SQLITE_FLOAT))
                row_fail(row, column, "a probability");
        return probability;
}

NodeId row_node(Row *row, int column)
{
        gint64 id = row_number(row, column, 1, row->r->rows[NODE]);

        return id > 0 ? row->r->nodes[id - 1] : NO_NODE;
}
