/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The row in hand of each table of a store, column by column: the reader's own files alone include
 * this.
 */
#pragma once

#include <sqlite3.h>

#include "store/store-reader.h"

typedef enum {
        RUN,
        CAPTURE,
        NODE,
        PATTERN,
        PATTERN_NODE,
        PATH,
        CALL,
        PATH_CALLS,
        TRUST,
        WORKER,
        VERTEX,
        VERTEX_DELAY,
        JUDGEMENT,
        DOUBT,
        PATTERN_DOUBT,
        LABEL,
        PATTERN_CAUSE,
        N_TABLES
} Table;

typedef struct {
        const char *name, *select;
} StoreTable;
extern const StoreTable store_tables[N_TABLES];

struct StoreReader {
        char *path;
        sqlite3 *db;
        sqlite3_stmt *select[N_TABLES];
        gint64 rows[N_TABLES]; /* read so far */
        char *method, *parameters, *version, *judgement;
        StoredRun run;
        NodeId *nodes;       /* by node.id - 1 */
        GPtrArray *labels;   /* by label.id - 1: texts */
        gboolean has_labels; /* patterns have operations, or there are none */
        gboolean has_causes; /* of a version that divides time on the way */
        gint64 place;        /* the next one of the pattern in hand */
        gint64 pattern;      /* the pattern in hand: its id */
        gint64 path_in_hand; /* of the calls; its id */
        gint64 first_call;   /* call.id of that path's root */
        GString *signature;  /* of the pattern in hand */
        GString *ids;        /* of the calls that store_reader_path_calls() gave last */
        gint64 next_call;    /* call.id that the next path begins with */
        gint64 work_left;    /* of SQLite, in its own steps */
};

/* 1, 0 after the last row, or -1 with error set. */
int store_next_row(StoreReader *r, Table t, GError **error);

/* An error that names the row and the column. FALSE. */
gboolean row_fail(const StoreReader *r, Table t, int column, const char *expected, GError **error);

/* Whether the id of the row, its first column, is the number of the row. */
gboolean row_check_id(const StoreReader *r, Table t, GError **error);

static inline gboolean column_is_null(const StoreReader *r, Table t, int column)
{
        return sqlite3_column_type(r->select[t], column) == SQLITE_NULL;
}

/* A column as what it must be: FALSE (NULL) with error set where it is something else. A number is
 * whole and from low to high; a text is UTF-8; a stamp that is NULL leaves *time as it is. */
gboolean column_number(const StoreReader *r, Table t, int column, gint64 low, gint64 high,
                       gint64 *number, GError **error);
gboolean column_time(const StoreReader *r, Table t, int column, gint64 *time, GError **error);
gboolean column_stamp(const StoreReader *r, Table t, int column, gint64 *time, GError **error);
gboolean column_count(const StoreReader *r, Table t, int column, guint64 *count, GError **error);
gboolean column_node(const StoreReader *r, Table t, int column, NodeId *node, GError **error);
gboolean column_probability(const StoreReader *r, Table t, int column, double *probability,
                            GError **error);
const char *column_text(const StoreReader *r, Table t, int column, GError **error);
