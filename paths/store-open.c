/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/store-open.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths/store.h"
#include "tracefmt/error.h"

gboolean store_set_error(sqlite3 *db, const char *path, GError **error)
{
        if ((sqlite3_extended_errcode(db) & 0xff) == SQLITE_NOTADB)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: not a store, expected an SQLite database made with -o", path);
        else
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot read the store: %s",
                            path, sqlite3_errmsg(db));
        return FALSE;
}

static gboolean check_file(const char *path, GError **error)
{
        struct stat st;

        if (stat(path, &st) < 0 || access(path, R_OK) < 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot open: %s", path,
                            g_strerror(errno));
        else if (!S_ISREG(st.st_mode))
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: not a store, expected a regular file", path);
        else if (st.st_size == 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: not a store, the file is empty", path);
        else
                return TRUE;
        return FALSE;
}

static gboolean read_number(sqlite3 *db, const char *path, const char *sql, gint64 *number,
                            GError **error)
{
        sqlite3_stmt *s;
        gboolean ok = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
                      sqlite3_step(s) == SQLITE_ROW;

        if (ok)
                *number = sqlite3_column_int64(s, 0);
        else
                store_set_error(db, path, error);
        sqlite3_finalize(s);
        return ok;
}

static gboolean check_version(sqlite3 *db, const char *path, GError **error)
{
        gint64 application, version;

        if (!read_number(db, path, "PRAGMA application_id", &application, error) ||
            !read_number(db, path, "PRAGMA user_version", &version, error))
                return FALSE;
        if (application != STORE_APPLICATION) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: not a store, but an SQLite database of another program", path);
                return FALSE;
        }
        if (version != STORE_VERSION) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: a store of version %" G_GINT64_FORMAT ", expected version %d",
                            path, version, STORE_VERSION);
                return FALSE;
        }
        return TRUE;
}

static gboolean begin(sqlite3 *db, const char *path, GError **error)
{
        return sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ||
               store_set_error(db, path, error);
}

sqlite3 *store_open(const char *path, GError **error)
{
        sqlite3 *db;

        if (!check_file(path, error))
                return NULL;
        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ==
            SQLITE_OK) {
                if (begin(db, path, error) && check_version(db, path, error))
                        return db;
        } else {
                store_set_error(db, path, error);
        }
        sqlite3_close(db);
        return NULL;
}
