/* SPDX-License-Identifier: BSD-2-Clause */

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/store-error.h"
#include "store/store-layout.h"
#include "store/store.h"

enum { VALUE_LIMIT = 64 << 20 }; /* of one text or blob, bytes */

static gboolean check_file(const char *path, GError **error)
{
        struct stat st;

        if (stat(path, &st) < 0 || access(path, R_OK) < 0)
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: cannot open: %s", path,
                                  g_strerror(errno));
        if (!S_ISREG(st.st_mode))
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: not a store, expected a regular file", path);
        if (st.st_size == 0)
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: not a store, the file is empty",
                                  path);
        return TRUE;
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
        if (application != STORE_APPLICATION)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: not a store, but an SQLite database of another program",
                                  path);
        if (version < 1 || version > STORE_VERSION)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: a store of version %" G_GINT64_FORMAT
                                  ", expected version 1 to %d%s",
                                  path, version, STORE_VERSION,
                                  version > STORE_VERSION ? ": a later ravel made it" : "");
        return TRUE;
}

/* The file is input like any other: it runs nothing, and what it holds is bounded. */
static void store_open_distrust(sqlite3 *db)
{
        static const struct {
                int option, value;
        } config[] = {
                { SQLITE_DBCONFIG_DEFENSIVE, 1 },
                { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
                { SQLITE_DBCONFIG_ENABLE_VIEW, 0 }, /* but temporary ones, which are ours */
                { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
                { SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
                { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
                { SQLITE_DBCONFIG_DQS_DML, 0 },
                { SQLITE_DBCONFIG_DQS_DDL, 0 },
        };

        for (guint i = 0; i < G_N_ELEMENTS(config); i++)
                sqlite3_db_config(db, config[i].option, config[i].value, NULL);
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_LIMIT);
        sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
        sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

static gboolean store_open_begin(sqlite3 *db, const char *path, GError **error)
{
        return sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ||
               store_set_error(db, path, error);
}

sqlite3 *store_open(const char *path, gboolean for_questions, GError **error)
{
        sqlite3 *db;

        if (!check_file(path, error))
                return NULL;
        sqlite3_hard_heap_limit64(STORE_HEAP_LIMIT);
        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ==
            SQLITE_OK) {
                store_open_distrust(db);
                if (store_open_begin(db, path, error) && check_version(db, path, error) &&
                    store_layout_adopt(db, path, for_questions, error))
                        return db;
        } else {
                store_set_error(db, path, error);
        }
        sqlite3_close(db);
        return NULL;
}
