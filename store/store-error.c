/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store-error.h"

#include "base/error.h"
#include "base/printable.h"

char *store_message(sqlite3 *db)
{
        return printable_new(sqlite3_errmsg(db), PRINTABLE_TEXT);
}

gboolean store_set_error(sqlite3 *db, const char *path, GError **error)
{
        g_autofree char *message = store_message(db);

        switch (sqlite3_extended_errcode(db) & 0xff) {
        case SQLITE_NOTADB:
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: not a store, expected an SQLite database made with -o",
                                  path);
        case SQLITE_NOMEM:
                return ravel_fail(
                        error, RAVEL_ERROR_INPUT,
                        "%s: cannot read the store: more than %d MB of memory would be needed",
                        path, STORE_HEAP_LIMIT >> 20);
        case SQLITE_INTERRUPT:
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: the store is corrupt: to read it takes more work than what "
                                  "is in a file of its size",
                                  path);
        default:
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: cannot read the store: %s", path,
                                  message);
        }
}
