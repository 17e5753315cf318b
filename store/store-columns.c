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
                                 "call_cause.call = call.id) END AS causes FROM call WHERE id "
                                 "BETWEEN ?1 AND "
                                 "?2 ORDER BY id" },
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
        [LABEL] = { "label", "SELECT id, name FROM label ORDER BY id" },
        [PATTERN_CAUSE] = { "pattern_cause", "SELECT cause, time FROM pattern_cause "
                                             "WHERE pattern = ?1 AND place = ?2" },
        [PATTERN_DOUBT] = { "pattern", "SELECT doubt FROM pattern ORDER BY id" },
};

int store_next_row(StoreReader *r, Table t, GError **error)
{
        switch (sqlite3_step(r->select[t])) {
        case SQLITE_ROW:
                r->rows[t]++;
                return 1;
        case SQLITE_DONE:
                return 0;
        default:
                store_set_error(r->db, r->path, error);
                return -1;
        }
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

gboolean row_fail(const StoreReader *r, Table t, int column, const char *expected, GError **error)
{
        return store_reader_fail(r, error, "row %" G_GINT64_FORMAT " of %s: wrong %s, expected %s",
                                 r->rows[t], store_tables[t].name,
                                 sqlite3_column_name(r->select[t], column), expected);
}

gboolean column_number(const StoreReader *r, Table t, int column, gint64 low, gint64 high,
                       gint64 *number, GError **error)
{
        g_autofree char *expected = NULL;

        *number = sqlite3_column_int64(r->select[t], column);
        if (G_LIKELY(*number >= low && *number <= high &&
                     sqlite3_column_type(r->select[t], column) == SQLITE_INTEGER))
                return TRUE;
        expected = low > high ? g_strdup("no such row")
                              : g_strdup_printf("a number from %" G_GINT64_FORMAT
                                                " to %" G_GINT64_FORMAT,
                                                low, high);
        return row_fail(r, t, column, expected, error);
}

gboolean column_time(const StoreReader *r, Table t, int column, gint64 *time, GError **error)
{
        return column_number(r, t, column, G_MININT64, G_MAXINT64, time, error);
}

gboolean row_check_id(const StoreReader *r, Table t, GError **error)
{
        gint64 id;

        return column_number(r, t, 0, r->rows[t], MIN(r->rows[t], G_MAXUINT32 - 1), &id, error);
}

const char *column_text(const StoreReader *r, Table t, int column, GError **error)
{
        const char *text = (const char *)sqlite3_column_text(r->select[t], column);

        if (text && g_utf8_validate(text, sqlite3_column_bytes(r->select[t], column), NULL))
                return text;
        row_fail(r, t, column, "text", error);
        return NULL;
}

gboolean column_count(const StoreReader *r, Table t, int column, guint64 *count, GError **error)
{
        gint64 number;

        if (!column_number(r, t, column, 0, G_MAXINT64, &number, error))
                return FALSE;
        *count = (guint64)number;
        return TRUE;
}

gboolean column_probability(const StoreReader *r, Table t, int column, double *probability,
                            GError **error)
{
        *probability = sqlite3_column_double(r->select[t], column);
        return (*probability >= 0 && *probability <= 1 &&
                sqlite3_column_type(r->select[t], column) == SQLITE_FLOAT) ||
               row_fail(r, t, column, "a probability", error);
}

gboolean column_node(const StoreReader *r, Table t, int column, NodeId *node, GError **error)
{
        gint64 id;

        if (!column_number(r, t, column, 1, r->rows[NODE], &id, error))
                return FALSE;
        *node = r->nodes[id - 1];
        return TRUE;
}

gboolean column_stamp(const StoreReader *r, Table t, int column, gint64 *time, GError **error)
{
        return column_is_null(r, t, column) || column_time(r, t, column, time, error);
}
