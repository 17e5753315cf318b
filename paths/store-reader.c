/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/store-reader.h"

#include <string.h>

#include "paths/store-open.h"
#include "tracefmt/error.h"

typedef enum { RUN, CAPTURE, NODE, PATTERN, PATTERN_NODE, PATH, CALL, N_TABLES } Table;

/* A call has its stamps at the caller, else those at the callee (nesting's rule). */
static const struct {
        const char *name, *select;
} tables[N_TABLES] = {
        [RUN] = { "run", "SELECT method, parameters FROM run" },
        [CAPTURE] = { "capture", "SELECT name, sha256 FROM capture ORDER BY id" },
        [NODE] = { "node", "SELECT id, name FROM node ORDER BY id" },
        [PATTERN] = { "pattern", "SELECT id, signature FROM pattern ORDER BY id" },
        [PATTERN_NODE] = { "pattern_node",
                           "SELECT pattern, place, latency_mean, latency_p99, own_mean, own_p99 "
                           "FROM pattern_node ORDER BY pattern, place" },
        [PATH] = { "path", "SELECT id, pattern FROM path ORDER BY id" },
        [CALL] = { "call",
                   "SELECT id, path, parent, caller, callee, "
                   "coalesce(call_sent, call_recv) AS call_sent, "
                   "coalesce(ret_recv, ret_sent) AS ret_recv, trace_id FROM call ORDER BY id" },
};

struct StoreReader {
        char *path;
        sqlite3 *db;
        sqlite3_stmt *select[N_TABLES];
        gint64 rows[N_TABLES]; /* read so far */
        char *method, *parameters;
        StoredRun run;
        NodeId *nodes;       /* by node.id - 1 */
        gint64 place;        /* the next one of the pattern in hand */
        gint64 pattern;      /* the pattern in hand: its id */
        gint64 path_in_hand; /* of the calls; its id */
        gint64 first_call;   /* call.id of that path's root */
};

/* --- rows ------------------------------------------------------------------ */

static int next_row(StoreReader *r, Table t, GError **error)
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

static gboolean fail_row(const StoreReader *r, Table t, int column, const char *expected,
                         GError **error)
{
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                    "%s: the store is corrupt: row %" G_GINT64_FORMAT
                    " of %s: wrong %s, expected %s",
                    r->path, r->rows[t], tables[t].name, sqlite3_column_name(r->select[t], column),
                    expected);
        return FALSE;
}

/* A whole number from low to high. */
static gboolean get_number(const StoreReader *r, Table t, int column, gint64 low, gint64 high,
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
        return fail_row(r, t, column, expected, error);
}

static gboolean get_time(const StoreReader *r, Table t, int column, gint64 *time, GError **error)
{
        return get_number(r, t, column, G_MININT64, G_MAXINT64, time, error);
}

/* Ids count the rows. */
static gboolean check_id(const StoreReader *r, Table t, GError **error)
{
        gint64 id;

        return get_number(r, t, 0, r->rows[t], MIN(r->rows[t], G_MAXUINT32 - 1), &id, error);
}

/* Valid UTF-8; NULL with error set. */
static const char *get_text(const StoreReader *r, Table t, int column, GError **error)
{
        const char *text = (const char *)sqlite3_column_text(r->select[t], column);

        if (text && g_utf8_validate(text, sqlite3_column_bytes(r->select[t], column), NULL))
                return text;
        fail_row(r, t, column, "text", error);
        return NULL;
}

static gboolean read_run(StoreReader *r, GError **error)
{
        const char *method, *parameters;
        int status = next_row(r, RUN, error);

        if (status == 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: the store is corrupt: run has no row, expected one", r->path);
        if (status <= 0 || !(method = get_text(r, RUN, 0, error)))
                return FALSE;
        r->method = g_strdup(method);
        if (!(parameters = get_text(r, RUN, 1, error)))
                return FALSE;
        r->parameters = g_strdup(parameters);
        r->run = (StoredRun){ r->method, r->parameters };
        return TRUE;
}

static gboolean read_nodes(StoreReader *r, NodeTable *nodes, GError **error)
{
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(NodeId));
        int status;

        while ((status = next_row(r, NODE, error)) > 0) {
                const char *name = get_text(r, NODE, 1, error);
                NodeId node;

                if (!name || !check_id(r, NODE, error))
                        return FALSE;
                node = node_table_add(nodes, name, strlen(name));
                g_array_append_val(ids, node);
        }
        r->nodes = (NodeId *)g_array_free(g_steal_pointer(&ids), FALSE);
        return status == 0;
}

StoreReader *store_reader_new(const char *path, NodeTable *nodes, GError **error)
{
        g_autoptr(StoreReader) r = g_new0(StoreReader, 1);

        r->path = g_strdup(path);
        if (!(r->db = store_open(path, error)))
                return NULL;
        for (guint t = 0; t < N_TABLES; t++)
                if (sqlite3_prepare_v2(r->db, tables[t].select, -1, &r->select[t], NULL) !=
                    SQLITE_OK) {
                        store_set_error(r->db, r->path, error);
                        return NULL;
                }
        if (!read_run(r, error) || !read_nodes(r, nodes, error))
                return NULL;
        return g_steal_pointer(&r);
}

void store_reader_free(StoreReader *r)
{
        if (!r)
                return;
        for (guint t = 0; t < N_TABLES; t++)
                sqlite3_finalize(r->select[t]);
        sqlite3_close(r->db);
        g_free(r->nodes);
        g_free(r->method);
        g_free(r->parameters);
        g_free(r->path);
        g_free(r);
}

const char *store_reader_name(const StoreReader *r)
{
        return r->path;
}

const StoredRun *store_reader_run(const StoreReader *r)
{
        return &r->run;
}

/* --- table by table -------------------------------------------------------- */

int store_reader_next_capture(StoreReader *r, StoredCapture *capture, GError **error)
{
        int status = next_row(r, CAPTURE, error);

        if (status <= 0)
                return status;
        capture->sha256 = NULL;
        if (!(capture->name = get_text(r, CAPTURE, 0, error)))
                return -1;
        if (sqlite3_column_type(r->select[CAPTURE], 1) != SQLITE_NULL &&
            !(capture->sha256 = get_text(r, CAPTURE, 1, error)))
                return -1;
        return 1;
}

int store_reader_next_pattern(StoreReader *r, StoredPattern *pattern, GError **error)
{
        int status = next_row(r, PATTERN, error);

        if (status <= 0)
                return status;
        if (!check_id(r, PATTERN, error) || !(pattern->signature = get_text(r, PATTERN, 1, error)))
                return -1;
        return 1;
}

int store_reader_next_pattern_node(StoreReader *r, StoredPatternNode *node, GError **error)
{
        int status = next_row(r, PATTERN_NODE, error);
        gint64 pattern, place;

        if (status <= 0)
                return status;
        if (!get_number(r, PATTERN_NODE, 0, 1, r->rows[PATTERN], &pattern, error))
                return -1;
        if (pattern != r->pattern)
                r->place = 0;
        r->pattern = pattern;
        if (!get_number(r, PATTERN_NODE, 1, r->place, MIN(r->place, G_MAXUINT32 - 1), &place,
                        error) ||
            !get_time(r, PATTERN_NODE, 2, &node->latency_mean, error) ||
            !get_time(r, PATTERN_NODE, 3, &node->latency_p99, error) ||
            !get_time(r, PATTERN_NODE, 4, &node->own_mean, error) ||
            !get_time(r, PATTERN_NODE, 5, &node->own_p99, error))
                return -1;
        node->pattern = pattern - 1;
        node->place = place;
        r->place++;
        return 1;
}

int store_reader_next_path(StoreReader *r, StoredPath *path, GError **error)
{
        int status = next_row(r, PATH, error);
        gint64 pattern;

        if (status <= 0)
                return status;
        if (!check_id(r, PATH, error) ||
            !get_number(r, PATH, 1, 1, r->rows[PATTERN], &pattern, error))
                return -1;
        path->pattern = pattern - 1;
        return 1;
}

/* The calls of a path lie together, its root first, paths in order. */
static gboolean get_place_in_path(StoreReader *r, StoredCall *call, GError **error)
{
        gboolean is_root = sqlite3_column_type(r->select[CALL], 2) == SQLITE_NULL;
        gint64 next = MAX(r->path_in_hand + is_root, 1), path, parent;

        if (!get_number(r, CALL, 1, next, MIN(next, r->rows[PATH]), &path, error))
                return FALSE;
        call->path = path - 1;
        call->parent = NO_PARENT;
        if (is_root) {
                r->path_in_hand = path;
                r->first_call = r->rows[CALL];
                return TRUE;
        }
        if (!get_number(r, CALL, 2, r->first_call, r->rows[CALL] - 1, &parent, error))
                return FALSE;
        call->parent = parent - 1;
        return TRUE;
}

int store_reader_next_call(StoreReader *r, StoredCall *call, GError **error)
{
        int status = next_row(r, CALL, error);
        gint64 caller, callee;

        if (status == 0 && r->path_in_hand != r->rows[PATH]) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: the store is corrupt: calls of %" G_GINT64_FORMAT
                            " paths, expected of %" G_GINT64_FORMAT,
                            r->path, r->path_in_hand, r->rows[PATH]);
                return -1;
        }
        if (status <= 0)
                return status;
        if (!check_id(r, CALL, error) || !get_place_in_path(r, call, error) ||
            !get_number(r, CALL, 3, 1, r->rows[NODE], &caller, error) ||
            !get_number(r, CALL, 4, 1, r->rows[NODE], &callee, error) ||
            !get_time(r, CALL, 5, &call->start, error) || !get_time(r, CALL, 6, &call->end, error))
                return -1;
        call->caller = r->nodes[caller - 1];
        call->callee = r->nodes[callee - 1];
        call->id = (const char *)sqlite3_column_text(r->select[CALL], 7);
        call->id_length = sqlite3_column_bytes(r->select[CALL], 7);
        return 1;
}
