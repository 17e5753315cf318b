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
        TAG,
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

/* The row in hand of a table, taken column by column as what each must be. After a wrong column
 * status is -1, error is set, and every column is 0 or NULL. So it is after the last row, but for
 * status and error. */
typedef struct {
        StoreReader *r;
        Table table;
        int status; /* 1, 0 after the last row, or -1 */
        GError **error;
} Row;

Row row_next(StoreReader *r, Table t, GError **error);

/* An error that names the row and the column. */
void row_fail(Row *row, int column, const char *expected);

/* The id of the row, its first column, must be the number of the row. */
void row_check_id(Row *row);

static inline gboolean row_is_null(const Row *row, int column)
{
        return row->status <= 0 ||
               sqlite3_column_type(row->r->select[row->table], column) == SQLITE_NULL;
}

/* A number is whole and from low to high; a text is UTF-8. */
gint64 row_number(Row *row, int column, gint64 low, gint64 high);
gint64 row_time(Row *row, int column);
guint64 row_count(Row *row, int column);
NodeId row_node(Row *row, int column);
double row_probability(Row *row, int column);
const char *row_text(Row *row, int column);

/* The same of a column that may be NULL, which gives `otherwise`, 0 or NULL. */
gint64 row_stamp(Row *row, int column, gint64 otherwise);
gint64 row_some(Row *row, int column, gint64 low, gint64 high);
const char *row_some_text(Row *row, int column);
