/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store-layout.h"

#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "store/store-error.h"

typedef struct {
        char *name, *type;
        int key;         /* place in the primary key, from 1; 0: not in the key */
        gboolean hidden; /* generated, or of a virtual table */
} Column;

typedef struct {
        char *name;
        char *kind; /* "table" */
        gboolean without_rowid;
        GArray *columns; /* of Column */
} Layout;

static void column_clear(gpointer data)
{
        Column *c = data;

        g_free(c->name);
        g_free(c->type);
}

static void layout_free(gpointer data)
{
        Layout *l = data;

        g_free(l->name);
        g_free(l->kind);
        g_array_unref(l->columns);
        g_free(l);
}

static sqlite3_stmt *layout_prepare(sqlite3 *db, const char *format, const char *name)
{
        g_autofree char *sql = g_strdup_printf(format, name);
        sqlite3_stmt *s = NULL;

        sqlite3_prepare_v2(db, sql, -1, &s, NULL);
        return s;
}

static char *get_text(sqlite3_stmt *s, int column)
{
        return g_strdup((const char *)sqlite3_column_text(s, column));
}

/* All tables and views of db, in SQLite's order, without their columns. One question for all:
 * each of them looks at every view there is. NULL where SQLite cannot say. */
static GPtrArray *read_layouts(sqlite3 *db)
{
        g_autoptr(GPtrArray) layouts = g_ptr_array_new_with_free_func(layout_free);
        sqlite3_stmt *s = layout_prepare(db, "PRAGMA %s.table_list", "main");
        int status = SQLITE_ERROR;

        while (s && (status = sqlite3_step(s)) == SQLITE_ROW) { /* schema, name, type, n, ... */
                Layout *l = g_new0(Layout, 1);

                l->name = get_text(s, 1);
                l->kind = get_text(s, 2);
                l->without_rowid = sqlite3_column_int(s, 4);
                l->columns = g_array_new(FALSE, FALSE, sizeof(Column));
                g_array_set_clear_func(l->columns, column_clear);
                g_ptr_array_add(layouts, l);
        }
        sqlite3_finalize(s);
        return status == SQLITE_DONE ? g_steal_pointer(&layouts) : NULL;
}

/* Its name is one of today's tables: no quote in it. */
static gboolean read_columns(sqlite3 *db, Layout *l)
{
        sqlite3_stmt *s = layout_prepare(db, "PRAGMA main.table_xinfo(%s)", l->name);
        int status = SQLITE_ERROR;

        while (s && (status = sqlite3_step(s)) == SQLITE_ROW) { /* number, name, type, ... key,
                                                                   hidden */
                Column c = { get_text(s, 1), get_text(s, 2), sqlite3_column_int(s, 5),
                             sqlite3_column_int(s, 6) != 0 };

                g_array_append_val(l->columns, c);
        }
        sqlite3_finalize(s);
        return status == SQLITE_DONE;
}

/* As SQLite finds it, which takes Path for path. */
static Layout *find_layout(const GPtrArray *layouts, const char *name)
{
        EACH_OF (Layout, l, layouts)
                if (g_ascii_strcasecmp(l->name, name) == 0)
                        return l;
        return NULL;
}

COMPARISON_OF_POINTERS(layout_compare_names, Layout, strcmp(a->name, b->name))

/* The tables of an empty store of today, with their columns: made once, as long as the program
 * runs. NULL and error set where SQLite cannot. */
static const GPtrArray *today_layouts(const char *path, GError **error)
{
        static GPtrArray *known;
        sqlite3 *model;
        g_autoptr(GPtrArray) layouts = NULL;
        gboolean ok;

        if (g_atomic_pointer_get(&known))
                return known;
        ok = sqlite3_open(":memory:", &model) == SQLITE_OK &&
             sqlite3_exec(model, store_schema, NULL, NULL, NULL) == SQLITE_OK &&
             (layouts = read_layouts(model));
        if (ok)
                g_ptr_array_sort(layouts, layout_compare_names);
        for (guint i = 0; ok && i < layouts->len;) {
                Layout *l = g_ptr_array_index(layouts, i);

                if (g_str_has_prefix(l->name, "sqlite_"))
                        g_ptr_array_remove_index(layouts, i);
                else
                        ok = read_columns(model, g_ptr_array_index(layouts, i++));
        }
        if (!ok)
                store_set_error(model, path, error);
        else if (g_atomic_pointer_compare_and_exchange(&known, NULL, layouts))
                layouts = NULL;
        sqlite3_close(model);
        return ok ? known : NULL;
}

static const Column *find_column(const Layout *l, const char *name)
{
        EACH (const Column, c, l->columns)
                if (strcmp(c->name, name) == 0)
                        return c;
        return NULL;
}

/* Version 1 was made without them, some of them only for a while. */
static gboolean came_later(const char *table)
{
        static const char *const later[] = { "call_cause",    "doubt",  "hour",  "label",
                                             "pattern_cause", "tag",    "trust", "vertex",
                                             "vertex_delay",  "worker", NULL };

        return g_strv_contains(later, table);
}

/* A key that is not what it should be would make what is a look-up a search of the table. */
static gboolean check_layout(const Layout *has, const Layout *today)
{
        if (strcmp(has->name, today->name) != 0 || strcmp(has->kind, "table") != 0 ||
            has->without_rowid != today->without_rowid)
                return FALSE;
        EACH (const Column, c, has->columns) {
                const Column *known = find_column(today, c->name);

                if (c->hidden || c->key != (known ? known->key : 0) ||
                    (known && strcmp(c->type, known->type) != 0))
                        return FALSE;
        }
        EACH (const Column, c, today->columns)
                if (c->key && !find_column(has, c->name))
                        return FALSE;
        return TRUE;
}

/* Columns that lead from a row to others. */
static gboolean is_reference(const Column *c)
{
        static const char *const names[] = { "path",       "parent", "place", "pattern",
                                             "first_call", "vertex", "tags",  NULL };

        return c->key > 0 || g_strv_contains(names, c->name);
}

/* Asked for the calls of a node, or calls above a time, SQLite would make an index, and go through
 * all its rows for each path again. An expression instead of the column prevents that. The columns
 * that lead to a call's children stay columns. */
static void append_column(GString *sql, const Column *c, gboolean is_there, gboolean for_questions)
{
        if (!is_there)
                g_string_append_printf(sql, "NULL AS \"%s\"", c->name);
        else if (!for_questions || is_reference(c))
                g_string_append_printf(sql, "\"%s\"", c->name);
        else
                g_string_append_printf(sql, "CAST(\"%s\" AS %s) AS \"%s\"", c->name, c->type,
                                       c->name);
}

/* has: NULL where the store lacks the table. */
static char *table_view(const char *table, const Layout *has, const Layout *today,
                        gboolean for_questions)
{
        GString *sql = g_string_new(NULL);

        g_string_append_printf(sql, "CREATE TEMP VIEW %s AS SELECT ", table);
        for (guint i = 0; i < today->columns->len; i++) {
                const Column *c = &g_array_index(today->columns, Column, i);

                g_string_append(sql, i > 0 ? ", " : "");
                append_column(sql, c, has && find_column(has, c->name), for_questions);
        }
        if (has)
                g_string_append_printf(sql, " FROM main.%s", table);
        else
                g_string_append(sql, " WHERE 0");
        return g_string_free(sql, FALSE);
}

static gboolean adopt_table(sqlite3 *db, Layout *has, const Layout *today, gboolean for_questions,
                            const char *path, GError **error)
{
        g_autofree char *sql = NULL;

        if (has && !read_columns(db, has))
                return store_set_error(db, path, error);
        if (!has && !came_later(today->name))
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: the store is corrupt: it has no table %s", path,
                                  today->name);
        if (has && !check_layout(has, today))
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: the store is corrupt: %s is not the table that ravel makes",
                                  path, today->name);
        sql = table_view(today->name, has, today, for_questions);
        return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ||
               store_set_error(db, path, error);
}

static char **list_names(sqlite3 *db, const char *sql)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        sqlite3_stmt *s = NULL;

        if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK)
                while (sqlite3_step(s) == SQLITE_ROW)
                        g_ptr_array_add(names, get_text(s, 0));
        sqlite3_finalize(s);
        g_ptr_array_add(names, NULL);
        return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

char **store_layout_names(sqlite3 *db)
{
        return list_names(db, "SELECT name FROM temp.sqlite_schema ORDER BY name");
}

gboolean store_layout_adopt(sqlite3 *db, const char *path, gboolean for_questions, GError **error)
{
        const GPtrArray *today = today_layouts(path, error);
        g_autoptr(GPtrArray) found = NULL;

        if (!today)
                return FALSE;
        if (!(found = read_layouts(db)))
                return store_set_error(db, path, error);
        EACH_OF (const Layout, l, today)
                if (!adopt_table(db, find_layout(found, l->name), l, for_questions, path, error))
                        return FALSE;
        if (!for_questions)
                return TRUE;
        g_autofree char *views = store_views_sql(TRUE);
        return sqlite3_exec(db, views, NULL, NULL, NULL) == SQLITE_OK ||
               store_set_error(db, path, error);
}
