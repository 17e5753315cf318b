/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Only store/ knows SQLite. A store is written once, from front to back, and read often. Rows go in
 * by rising key into tables without indices, in one transaction without a journal. Nobody sees the
 * file until it is whole.
 */
#include "base/each.h"
#include "config.h"

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "paths/misassigned.h"
#include "paths/node-hours.h"
#include "paths/path-failure.h"
#include "paths/path-own-time.h"
#include "paths/verdict.h"
#include "store/store-layout.h"
#include "tracefmt/attributes.h"
#include "tracefmt/output-file.h"

struct Store {
        char *path;      /* what the user called it */
        char *temporary; /* where it is written; NULL once it is in its place */
        sqlite3 *db;
        sqlite3_stmt *insert_path, *insert_call, *insert_cause;
        PathSet *set;
        gint64 n_calls, n_paths;  /* so far: the last ids given out */
        guint32 *last, last_size; /* of the path in hand, by call: the last below it */
        NodeHours *hours;
        gboolean patterns_only, go_on;
        gint64 least;  /* ns; paths with a shorter latency are left out */
        GError *error; /* of a path, with go_on; NULL: none */
};

/* docs/store.md says what each column is; the first two are STORE_APPLICATION and
 * STORE_VERSION. */
static const char *const BEGIN = "PRAGMA application_id = 0x7276656c;"
                                 "PRAGMA user_version = 6;"
                                 "PRAGMA journal_mode = OFF;"
                                 "PRAGMA synchronous = OFF;"
                                 "PRAGMA locking_mode = EXCLUSIVE;"
                                 "BEGIN;";

const char *const store_schema =
        "CREATE TABLE run ("
        "  version TEXT NOT NULL, method TEXT NOT NULL, arguments TEXT, parameters TEXT,"
        "  seed INTEGER NOT NULL, messages INTEGER NOT NULL, calls INTEGER NOT NULL,"
        "  unmatched_calls INTEGER NOT NULL, unmatched_returns INTEGER NOT NULL,"
        "  cut_paths INTEGER NOT NULL, parallelism REAL, first INTEGER, last INTEGER,"
        "  judgement TEXT, fit INTEGER);"
        "CREATE TABLE doubt ("
        "  id INTEGER PRIMARY KEY, caller INTEGER REFERENCES node,"
        "  callee INTEGER NOT NULL REFERENCES node, reason TEXT NOT NULL,"
        "  count INTEGER NOT NULL, total INTEGER NOT NULL, kind TEXT, bytes INTEGER,"
        "  total_bytes INTEGER, text TEXT NOT NULL);"
        "CREATE TABLE capture ("
        "  id INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT, facts TEXT NOT NULL);"
        "CREATE TABLE node ("
        "  id INTEGER PRIMARY KEY, name TEXT NOT NULL, written TEXT NOT NULL);"
        "CREATE TABLE pattern ("
        "  id INTEGER PRIMARY KEY, hash TEXT NOT NULL, signature TEXT NOT NULL,"
        "  client INTEGER NOT NULL REFERENCES node, count INTEGER NOT NULL,"
        "  total INTEGER NOT NULL, mean INTEGER NOT NULL, deviation INTEGER NOT NULL,"
        "  p50 INTEGER NOT NULL, p90 INTEGER NOT NULL, p99 INTEGER NOT NULL,"
        "  min INTEGER NOT NULL, max INTEGER NOT NULL, probability REAL NOT NULL,"
        "  doubt INTEGER REFERENCES doubt, label TEXT,"
        "  completion_total INTEGER, completion_mean INTEGER, completion_p50 INTEGER,"
        "  completion_p99 INTEGER, completion BLOB, misassigned INTEGER,"
        "  drawn REAL, drawn_error REAL,"
        "  failed INTEGER, good_mean INTEGER, good_p50 INTEGER, good_p99 INTEGER, good BLOB);"
        "CREATE TABLE pattern_node ("
        "  pattern INTEGER NOT NULL REFERENCES pattern, place INTEGER NOT NULL,"
        "  parent INTEGER, depth INTEGER NOT NULL, node INTEGER NOT NULL REFERENCES node,"
        /* Before what is long, so that it is quick to find. */
        "  own_p50 INTEGER,"
        "  latency_mean INTEGER NOT NULL, latency_p99 INTEGER NOT NULL, latency BLOB NOT NULL,"
        "  call_delay_mean INTEGER NOT NULL, call_delay_p99 INTEGER NOT NULL,"
        "  call_delay BLOB NOT NULL,"
        "  own_mean INTEGER NOT NULL, own_p99 INTEGER NOT NULL, own BLOB NOT NULL,"
        "  network_mean INTEGER NOT NULL, network_p99 INTEGER NOT NULL, network BLOB NOT NULL,"
        "  label TEXT, labels INTEGER,"
        "  continues TEXT, queued_mean INTEGER, queued_p99 INTEGER, queued BLOB,"
        "  workers INTEGER, own_queued_mean INTEGER, own_queued_p99 INTEGER, own_queued BLOB,"
        "  serving_mean INTEGER, serving_p99 INTEGER, serving BLOB,"
        "  connecting_mean INTEGER, connecting_p99 INTEGER, connecting BLOB,"
        "  errors INTEGER, error_own INTEGER, outcome TEXT, culprits INTEGER, retries INTEGER,"
        "  lost INTEGER,"
        "  PRIMARY KEY (pattern, place)) WITHOUT ROWID;"
        "CREATE TABLE path ("
        "  id INTEGER PRIMARY KEY, pattern INTEGER NOT NULL REFERENCES pattern,"
        "  start INTEGER NOT NULL, latency INTEGER NOT NULL,"
        "  first_call INTEGER NOT NULL REFERENCES call, calls INTEGER NOT NULL,"
        "  probability REAL NOT NULL, completion INTEGER, culprit INTEGER REFERENCES call);"
        "CREATE TABLE call ("
        "  id INTEGER PRIMARY KEY, path INTEGER NOT NULL REFERENCES path,"
        "  parent INTEGER REFERENCES call, place INTEGER NOT NULL,"
        "  caller INTEGER NOT NULL REFERENCES node, callee INTEGER NOT NULL REFERENCES node,"
        "  call_sent INTEGER, call_recv INTEGER, ret_sent INTEGER, ret_recv INTEGER,"
        "  own INTEGER NOT NULL, network INTEGER NOT NULL,"
        "  probability REAL NOT NULL, candidates INTEGER NOT NULL, trace_id TEXT,"
        "  label INTEGER REFERENCES label, continues TEXT, queued INTEGER,"
        "  last INTEGER, call_bytes INTEGER, ret_bytes INTEGER, connect INTEGER,"
        "  wait INTEGER, own_queued INTEGER, connecting INTEGER, outcome TEXT, class TEXT,"
        "  tags INTEGER REFERENCES tag, connection INTEGER, txn INTEGER);"
        "CREATE TABLE call_cause ("
        "  call INTEGER NOT NULL REFERENCES call, cause TEXT NOT NULL, time INTEGER NOT NULL,"
        "  PRIMARY KEY (call, cause)) WITHOUT ROWID;"
        "CREATE TABLE pattern_cause ("
        "  pattern INTEGER NOT NULL REFERENCES pattern, place INTEGER NOT NULL,"
        "  cause TEXT NOT NULL, count INTEGER NOT NULL, total INTEGER NOT NULL,"
        "  time_mean INTEGER NOT NULL, time_p99 INTEGER NOT NULL, time BLOB NOT NULL,"
        "  PRIMARY KEY (pattern, place, cause)) WITHOUT ROWID;"
        "CREATE TABLE hour ("
        "  node INTEGER NOT NULL REFERENCES node, hour INTEGER NOT NULL,"
        "  calls INTEGER NOT NULL, latency_mean INTEGER NOT NULL, latency_p99 INTEGER NOT NULL,"
        "  own_mean INTEGER NOT NULL, PRIMARY KEY (node, hour)) WITHOUT ROWID;"
        "CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
        "CREATE TABLE tag ("
        "  id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,"
        "  PRIMARY KEY (id, name)) WITHOUT ROWID;"
        "CREATE TABLE trust ("
        "  node INTEGER PRIMARY KEY REFERENCES node, calls INTEGER NOT NULL,"
        "  guessed INTEGER NOT NULL, probability REAL NOT NULL);"
        "CREATE TABLE worker ("
        "  node INTEGER PRIMARY KEY REFERENCES node, workers INTEGER NOT NULL,"
        "  calls INTEGER NOT NULL, served INTEGER NOT NULL, waited INTEGER NOT NULL);"
        "CREATE TABLE vertex ("
        "  id INTEGER PRIMARY KEY, parent INTEGER REFERENCES vertex,"
        "  node INTEGER NOT NULL REFERENCES node, depth INTEGER NOT NULL,"
        "  count INTEGER NOT NULL, probability REAL NOT NULL, end TEXT);"
        "CREATE TABLE vertex_delay ("
        "  vertex INTEGER NOT NULL REFERENCES vertex, delay INTEGER NOT NULL,"
        "  count INTEGER NOT NULL, PRIMARY KEY (vertex, delay)) WITHOUT ROWID;";

static void finalize(sqlite3_stmt *statement)
{
        sqlite3_finalize(statement);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sqlite3_stmt, finalize)

static void set_sqlite_error(const Store *store, GError **error)
{
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT, "%s: cannot write the store: %s",
                    store->path, sqlite3_errmsg(store->db));
}

static gboolean run_sql(Store *store, const char *sql, GError **error)
{
        if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
                return TRUE;
        set_sqlite_error(store, error);
        return FALSE;
}

static gboolean create_views(Store *store, GError **error)
{
        g_autofree char *sql = store_views_sql(FALSE);

        return run_sql(store, sql, error);
}

static sqlite3_stmt *store_prepare(Store *store, const char *sql, GError **error)
{
        sqlite3_stmt *statement;

        if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK)
                return statement;
        set_sqlite_error(store, error);
        return NULL;
}

/* For rows of a table with this number of columns. */
static sqlite3_stmt *prepare_insert(Store *store, const char *table, guint n_columns,
                                    GError **error)
{
        g_autoptr(GString) sql = g_string_new(NULL);

        g_string_printf(sql, "INSERT INTO %s VALUES (?", table);
        for (guint i = 1; i < n_columns; i++)
                g_string_append(sql, ", ?");
        g_string_append_c(sql, ')');
        return store_prepare(store, sql->str, error);
}

/* Puts in the row that is bound, and is ready for the next. */
static gboolean insert(Store *store, sqlite3_stmt *statement, GError **error)
{
        sqlite3_step(statement);
        if (sqlite3_reset(statement) == SQLITE_OK)
                return TRUE;
        if (!store->error)
                set_sqlite_error(store, store->go_on ? &store->error : error);
        return store->go_on;
}

/* Column numbers in a statement count from 1. */
static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
        sqlite3_bind_text64(statement, column, text, text ? strlen(text) : 0, SQLITE_STATIC,
                            SQLITE_UTF8);
}

static void bind_time(sqlite3_stmt *statement, int column, gint64 time, gboolean observed)
{
        if (observed)
                sqlite3_bind_int64(statement, column, time);
        else
                sqlite3_bind_null(statement, column);
}

/* Ids in the store count from 1, as SQLite's own do. */
static void bind_some(sqlite3_stmt *statement, int column, gint64 number)
{
        bind_time(statement, column, number, number != 0);
}

/* The text of an outcome, and its class; NULL where there is none. */
static void bind_outcome(sqlite3_stmt *statement, int column, int class, Outcome outcome)
{
        char text[OUTCOME_TEXT + 1];
        gsize n = outcome_write(outcome, text);

        sqlite3_bind_null(statement, column);
        if (class)
                bind_text(statement, class, NULL);
        if (n == 0)
                return;
        sqlite3_bind_text64(statement, column, text, n, SQLITE_TRANSIENT, SQLITE_UTF8);
        if (class)
                bind_text(statement, class, outcome_class_name(outcome_class(outcome)));
}

static gboolean insert_call(Store *store, const PathCall *c, gint64 path, guint32 place,
                            guint32 last, gint64 first_call, GError **error)
{
        sqlite3_stmt *s = store->insert_call;

        sqlite3_bind_int64(s, 1, ++store->n_calls);
        sqlite3_bind_int64(s, 2, path);
        bind_time(s, 3, first_call + c->parent, c->parent != NO_PARENT);
        sqlite3_bind_int64(s, 4, place);
        sqlite3_bind_int64(s, 5, (gint64)c->caller + 1);
        sqlite3_bind_int64(s, 6, (gint64)c->callee + 1);
        bind_time(s, 7, c->start, c->stamps & (1 << CALL_SENT | 1 << MSG_SENT));
        bind_time(s, 8, c->enter, c->stamps & (1 << CALL_RECV | 1 << MSG_RECV));
        bind_time(s, 9, c->reply, c->stamps & 1 << RET_SENT);
        bind_time(s, 10, c->end, c->stamps & 1 << RET_RECV);
        sqlite3_bind_int64(s, 11, c->own);
        sqlite3_bind_int64(s, 12, c->network);
        sqlite3_bind_double(s, 13, (double)c->probability);
        sqlite3_bind_int64(s, 14, c->candidates);
        if (c->id_length > 0)
                sqlite3_bind_text64(s, 15, c->id, c->id_length, SQLITE_STATIC, SQLITE_UTF8);
        else
                sqlite3_bind_null(s, 15);
        bind_some(s, 16, c->label);
        bind_text(s, 17, path_continues_name(c->continues));
        bind_time(s, 18, c->queued, c->continues == WORK_QUEUED);
        sqlite3_bind_int64(s, 19, first_call + last);
        bind_some(s, 20, c->call_bytes);
        bind_some(s, 21, c->ret_bytes);
        bind_some(s, 22, c->connect);
        bind_time(s, 23, c->wait, c->workers > 0);
        bind_time(s, 24, c->own_queued, c->workers > 0);
        bind_some(s, 25, c->connecting);
        bind_outcome(s, 26, 27, c->outcome);
        bind_some(s, 28, c->tags);
        bind_some(s, 29, c->connection);
        bind_some(s, 30, c->transaction);
        return insert(store, s, error);
}

/* Of the call that was put in last. */
static gboolean insert_causes(Store *store, const PathCall *c, GError **error)
{
        sqlite3_stmt *s = store->insert_cause;

        for (guint i = 0; c->network && i < N_WAY_CAUSES; i++) {
                if (c->cause[i] == 0)
                        continue;
                sqlite3_bind_int64(s, 1, store->n_calls);
                bind_text(s, 2, way_cause_name(i));
                sqlite3_bind_int64(s, 3, c->cause[i]);
                if (!insert(store, s, error))
                        return FALSE;
        }
        return TRUE;
}

/* By call, the last of those below it, which come at once after it. */
static void store_find_last(Store *store, const PathCall *calls, guint32 n)
{
        while (store->last_size < n)
                GROW(store->last, store->last_size, 64);
        for (guint32 i = 0; i < n; i++)
                store->last[i] = i;
        for (guint32 i = n - 1; i > 0; i--) {
                guint32 *above = &store->last[calls[i].parent];

                *above = MAX(*above, store->last[i]);
        }
}

static gboolean store_add_path(gpointer data, guint64 number, guint32 pattern,
                               const PathCall *calls, const guint32 *slot, guint32 n,
                               double probability, GError **error)
{
        Store *store = data;
        sqlite3_stmt *s = store->insert_path;
        gint64 path = store->n_paths + 1, first_call = store->n_calls + 1;
        guint32 culprit = path_culprit(calls, n);

        (void)number;
        for (guint32 i = 0; i < n; i++)
                node_hours_add(store->hours, &calls[i]);
        if (store->patterns_only || store->error || calls[0].end - calls[0].start < store->least)
                return TRUE;
        store->n_paths++;
        sqlite3_bind_int64(s, 1, path);
        sqlite3_bind_int64(s, 2, (gint64)pattern + 1);
        sqlite3_bind_int64(s, 3, calls[0].start);
        sqlite3_bind_int64(s, 4, calls[0].end - calls[0].start);
        sqlite3_bind_int64(s, 5, first_call);
        sqlite3_bind_int64(s, 6, n);
        sqlite3_bind_double(s, 7, probability);
        bind_time(s, 8, path_completion(calls, n), path_set_latest_goes_on(store->set));
        bind_time(s, 9, first_call + culprit, culprit != NO_PARENT);
        if (!insert(store, s, error))
                return FALSE;
        store_find_last(store, calls, n);
        for (guint32 i = 0; i < n; i++)
                if (!insert_call(store, &calls[i], path, slot[i], store->last[i], first_call,
                                 error) ||
                    !insert_causes(store, &calls[i], error))
                        return FALSE;
        return TRUE;
}

static gboolean check_target(const char *path, GError **error)
{
        struct stat st;

        if (strcmp(path, "-") != 0 && (stat(path, &st) < 0 || S_ISREG(st.st_mode)))
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_OUTPUT,
                          "%s: a store is a database and has to be a regular file", path);
}

/* The target of a link is written in place; its old contents go. */
static void make_empty(const char *path)
{
        if (truncate(path, 0) < 0)
                g_debug("%s: %s", path, g_strerror(errno)); /* opening it will tell */
}

static gboolean insert_run(Store *store, const StoreRun *run, GError **error)
{
        g_autoptr(sqlite3_stmt) s =
                store_prepare(store,
                              "INSERT INTO run VALUES (?1, 'unknown', ?2, ?3, ?4, "
                              "0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)",
                              error);
        if (!s)
                return FALSE;
        bind_text(s, 1, PACKAGE_VERSION);
        bind_text(s, 2, run->arguments);
        bind_text(s, 3, run->parameters);
        sqlite3_bind_int64(s, 4, run->seed);
        return insert(store, s, error);
}

Store *store_new(const char *path, PathSet *set, const StoreRun *run, GError **error)
{
        g_autoptr(Store) store = NULL;
        char *temporary;

        if (!check_target(path, error) || !(temporary = output_path_temporary(path, error)))
                return NULL;
        store = g_new0(Store, 1);
        store->path = g_strdup(path);
        store->temporary = temporary;
        store->set = set;
        store->hours = node_hours_new();
        store->patterns_only = run->patterns_only;
        store->go_on = run->go_on;
        store->least = run->least > 0 ? run->least : G_MININT64;
        if (!strcmp(temporary, path))
                make_empty(path);
        if (sqlite3_open_v2(temporary, &store->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                            NULL) != SQLITE_OK) {
                set_sqlite_error(store, error);
                return NULL;
        }
        if (!run_sql(store, BEGIN, error) || !run_sql(store, store_schema, error) ||
            !create_views(store, error) || !insert_run(store, run, error) ||
            !(store->insert_path = prepare_insert(store, "path", 9, error)) ||
            !(store->insert_call = prepare_insert(store, "call", 30, error)) ||
            !(store->insert_cause = prepare_insert(store, "call_cause", 3, error)))
                return NULL;
        path_set_set_sink(set, store_add_path, store);
        return g_steal_pointer(&store);
}

gboolean store_add_capture(Store *store, const char *name, const char *digest, char *const *facts,
                           guint n_facts, GError **error)
{
        g_autoptr(GString) lines = g_string_new(NULL);
        g_autofree char *valid_name = g_utf8_make_valid(name, -1);
        g_autoptr(sqlite3_stmt) s = store_prepare(
                store, "INSERT INTO capture (name, sha256, facts) VALUES (?1, ?2, ?3)", error);

        if (!s)
                return FALSE;
        for (guint i = 0; i < n_facts; i++)
                g_string_append_printf(lines, "%s\n", facts[i]);
        bind_text(s, 1, valid_name);
        bind_text(s, 2, digest);
        bind_text(s, 3, lines->str);
        return insert(store, s, error);
}

static gboolean update_run(Store *store, GError **error)
{
        const PathSetSummary *summary = path_set_summary(store->set);
        g_autoptr(sqlite3_stmt) s =
                store_prepare(store,
                              "UPDATE run SET method = ?1, messages = ?2, calls = ?3, "
                              "unmatched_calls = ?4, unmatched_returns = ?5, cut_paths = ?6, "
                              "first = ?7, last = ?8, parallelism = nullif(?9, 0), "
                              "judgement = ?10, fit = ?11",
                              error);
        if (!s)
                return FALSE;
        bind_text(s, 1, summary->method);
        sqlite3_bind_int64(s, 2, (gint64)summary->messages);
        sqlite3_bind_int64(s, 3, (gint64)summary->calls);
        sqlite3_bind_int64(s, 4, (gint64)summary->unmatched_calls);
        sqlite3_bind_int64(s, 5, (gint64)summary->unmatched_returns);
        sqlite3_bind_int64(s, 6, (gint64)summary->cut_instances);
        bind_time(s, 7, summary->first, summary->first != NO_TIME);
        bind_time(s, 8, summary->last, summary->last != NO_TIME);
        sqlite3_bind_double(s, 9, summary->parallelism);
        if (summary->verdict) {
                bind_text(s, 10, summary->verdict->judgement);
                sqlite3_bind_int(s, 11, summary->verdict->fit);
        }
        return insert(store, s, error);
}

static gboolean insert_nodes(Store *store, GError **error)
{
        const NodeTable *nodes = path_set_nodes(store->set);
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "node", 3, error);
        gboolean ok = s != NULL;

        for (NodeId i = 0; ok && i < node_table_size(nodes); i++) {
                sqlite3_bind_int64(s, 1, (gint64)i + 1);
                bind_text(s, 2, node_table_name(nodes, i));
                bind_text(s, 3, node_table_written(nodes, i));
                ok = insert(store, s, error);
        }
        return ok;
}

static gboolean insert_doubt(Store *store, sqlite3_stmt *s, gint64 id, const Doubt *d,
                             GError **error)
{
        g_autofree char *text = doubt_to_text(d, path_set_nodes(store->set), TRUE);

        sqlite3_bind_int64(s, 1, id);
        bind_time(s, 2, (gint64)d->caller + 1, d->caller != NO_NODE);
        sqlite3_bind_int64(s, 3, (gint64)d->callee + 1);
        bind_text(s, 4, doubt_word(d->reason));
        sqlite3_bind_int64(s, 5, (gint64)d->count);
        sqlite3_bind_int64(s, 6, (gint64)d->of);
        bind_text(s, 7, *d->kind ? d->kind : NULL);
        bind_time(s, 8, (gint64)d->bytes, d->of_bytes > 0);
        bind_time(s, 9, (gint64)d->of_bytes, d->of_bytes > 0);
        bind_text(s, 10, text);
        return insert(store, s, error);
}

/* Mean, p99 and the whole distribution, from column on. */
static void bind_histogram(sqlite3_stmt *s, int column, const Histogram *h)
{
        g_autoptr(GBytes) packed = histogram_pack(h);
        gsize n;
        gconstpointer data = g_bytes_get_data(packed, &n);

        sqlite3_bind_int64(s, column, histogram_mean(h));
        sqlite3_bind_int64(s, column + 1, histogram_quantile(h, 0.99));
        sqlite3_bind_blob64(s, column + 2, data ? data : "", n, SQLITE_TRANSIENT);
}

/* The same of what only work that goes on has. */
static void bind_if(sqlite3_stmt *s, int column, gboolean has, const Histogram *h)
{
        for (int i = 0; i < 3; i++)
                sqlite3_bind_null(s, column + i);
        if (has)
                bind_histogram(s, column, h);
}

/* Of the verdict, the worst first. */
static gboolean insert_doubts(Store *store, GError **error)
{
        const Verdict *v = path_set_summary(store->set)->verdict;
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "doubt", 10, error);
        gboolean ok = s != NULL;

        for (guint i = 0; ok && v && i < v->doubts->len; i++)
                ok = insert_doubt(store, s, (gint64)i + 1, &g_array_index(v->doubts, Doubt, i),
                                  error);
        return ok;
}

static void bind_completion(sqlite3_stmt *s, int column, const PathPattern *p)
{
        const Histogram *h = &p->completion;

        bind_time(s, column, (gint64)CLAMP(h->sum, G_MININT64, G_MAXINT64), p->goes_on);
        bind_if(s, column + 2, p->goes_on, h);
        bind_time(s, column + 1, histogram_mean(h), p->goes_on);
        bind_time(s, column + 2, p->goes_on ? histogram_quantile(h, 0.5) : 0, p->goes_on);
}

/* What the instances that did not fail had, where some did. */
static void bind_good(sqlite3_stmt *s, int column, const PathPattern *p)
{
        g_autoptr(GBytes) packed = histogram_pack(&p->good);
        gsize n;
        gconstpointer data = g_bytes_get_data(packed, &n);

        sqlite3_bind_int64(s, column, (gint64)p->failed);
        for (int i = 1; i <= 4; i++)
                sqlite3_bind_null(s, column + i);
        if (p->failed == 0)
                return;
        if (p->good.count > 0) {
                sqlite3_bind_int64(s, column + 1, histogram_mean(&p->good));
                sqlite3_bind_int64(s, column + 2, histogram_quantile(&p->good, 0.5));
                sqlite3_bind_int64(s, column + 3, histogram_quantile(&p->good, 0.99));
        }
        sqlite3_bind_blob64(s, column + 4, data ? data : "", n, SQLITE_TRANSIENT);
}

static gboolean insert_patterns(Store *store, GError **error)
{
        g_autofree gboolean *misassigned = misassigned_find(store->set);
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "pattern", 29, error);
        gboolean ok = s != NULL;

        for (guint32 i = 0; ok && i < path_set_size(store->set); i++) {
                const PathPattern *p = path_set_pattern(store->set, i);
                const Histogram *latency = &p->nodes[0].latency;
                char hash[17];
                g_snprintf(hash, sizeof hash, "%016" G_GINT64_MODIFIER "x", p->id);
                sqlite3_bind_int64(s, 1, (gint64)i + 1);
                bind_text(s, 2, hash);
                bind_text(s, 3, p->signature);
                sqlite3_bind_int64(s, 4, (gint64)p->client + 1);
                sqlite3_bind_int64(s, 5, (gint64)p->count);
                sqlite3_bind_int64(s, 6, (gint64)CLAMP(latency->sum, G_MININT64, G_MAXINT64));
                sqlite3_bind_int64(s, 7, histogram_mean(latency));
                sqlite3_bind_int64(s, 8, histogram_deviation(latency));
                sqlite3_bind_int64(s, 9, histogram_quantile(latency, 0.5));
                sqlite3_bind_int64(s, 10, histogram_quantile(latency, 0.9));
                sqlite3_bind_int64(s, 11, histogram_quantile(latency, 0.99));
                sqlite3_bind_int64(s, 12, latency->min);
                sqlite3_bind_int64(s, 13, latency->max);
                sqlite3_bind_double(s, 14, p->probability);
                bind_some(s, 15, path_set_find_doubt(store->set, p) + 1);
                bind_text(s, 16, p->label);
                bind_completion(s, 17, p);
                sqlite3_bind_int(s, 22, misassigned && misassigned[i]);
                if (path_set_is_drawn(store->set)) {
                        sqlite3_bind_double(s, 23, p->drawn);
                        sqlite3_bind_double(s, 24, p->drawn_error);
                }
                bind_good(s, 25, p);
                ok = insert(store, s, error);
        }
        return ok;
}

static void bind_faults(sqlite3_stmt *s, int column, const NodeFaults *f)
{
        gint64 own = f->errors ? (gint64)(f->own / (gint128)f->errors) : 0;

        sqlite3_bind_int64(s, column, (gint64)f->errors);
        bind_time(s, column + 1, own, f->errors > 0);
        bind_outcome(s, column + 2, 0, f->outcome);
        sqlite3_bind_int64(s, column + 3, (gint64)f->culprits);
        sqlite3_bind_int64(s, column + 4, (gint64)f->retries);
        sqlite3_bind_int64(s, column + 5, (gint64)CLAMP(f->lost, G_MININT64, G_MAXINT64));
}

static gboolean insert_pattern_node(Store *store, sqlite3_stmt *s, guint32 pattern, guint32 place,
                                    GError **error)
{
        const PathPattern *p = path_set_pattern(store->set, pattern);
        const PatternNode *node = &p->nodes[place];

        sqlite3_bind_int64(s, 1, (gint64)pattern + 1);
        sqlite3_bind_int64(s, 2, place);
        bind_time(s, 3, node->parent, node->parent != NO_PARENT);
        sqlite3_bind_int64(s, 4, node->depth);
        sqlite3_bind_int64(s, 5, (gint64)node->node + 1);
        sqlite3_bind_int64(s, 6, histogram_quantile(&node->own, 0.5));
        bind_histogram(s, 7, &node->latency);
        bind_histogram(s, 10, &node->call_delay);
        bind_histogram(s, 13, &node->own);
        bind_histogram(s, 16, &node->network);
        bind_text(s, 19, node->label);
        sqlite3_bind_int64(s, 20, node->n_labels);
        bind_text(s, 21, path_continues_name(node->continues));
        bind_if(s, 22, p->goes_on, &node->queued);
        bind_some(s, 25, node->workers);
        bind_if(s, 26, node->workers > 0, &node->own_queued);
        bind_if(s, 29, node->workers > 0, &node->serving);
        bind_if(s, 32, node->connecting.count > 0, &node->connecting);
        bind_faults(s, 35, &node->faults);
        return insert(store, s, error);
}

static gboolean insert_pattern_nodes(Store *store, GError **error)
{
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "pattern_node", 40, error);
        gboolean ok = s != NULL;

        for (guint32 i = 0; ok && i < path_set_size(store->set); i++)
                for (guint32 k = 0; ok && k < path_set_pattern(store->set, i)->n_nodes; k++)
                        ok = insert_pattern_node(store, s, i, k, error);
        return ok;
}

static gboolean insert_node_causes(Store *store, sqlite3_stmt *s, guint32 pattern, guint32 place,
                                   GError **error)
{
        const PatternNode *node = &path_set_pattern(store->set, pattern)->nodes[place];

        for (guint i = 0; node->causes && i < N_WAY_CAUSES; i++) {
                const Histogram *h = &node->causes[i];

                if (h->count == 0)
                        continue;
                sqlite3_bind_int64(s, 1, (gint64)pattern + 1);
                sqlite3_bind_int64(s, 2, place);
                bind_text(s, 3, way_cause_name(i));
                sqlite3_bind_int64(s, 4, (gint64)h->count);
                sqlite3_bind_int64(s, 5, (gint64)CLAMP(h->sum, G_MININT64, G_MAXINT64));
                bind_histogram(s, 6, h);
                if (!insert(store, s, error))
                        return FALSE;
        }
        return TRUE;
}

static gboolean insert_pattern_causes(Store *store, GError **error)
{
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "pattern_cause", 8, error);
        gboolean ok = s != NULL;

        for (guint32 i = 0; ok && i < path_set_size(store->set); i++)
                for (guint32 k = 0; ok && k < path_set_pattern(store->set, i)->n_nodes; k++)
                        ok = insert_node_causes(store, s, i, k, error);
        return ok;
}

/* Calls have their numbers. */
static gboolean insert_labels(Store *store, GError **error)
{
        const GPtrArray *labels = path_set_labels(store->set);
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "label", 2, error);
        gboolean ok = s != NULL;

        for (guint i = 0; ok && labels && i < labels->len; i++) {
                sqlite3_bind_int64(s, 1, (gint64)i + 1);
                bind_text(s, 2, labels->pdata[i]);
                ok = insert(store, s, error);
        }
        return ok;
}

/* text: of tags=, whose values are NAME:VALUE with commas between. Of a name that stands twice the
 * first counts. */
static gboolean insert_tags_of(Store *store, sqlite3_stmt *s, gint64 id, const char *text,
                               GError **error)
{
        g_auto(GStrv) tags = g_strsplit(text, ",", 0);
        gboolean ok = TRUE;

        sqlite3_bind_int64(s, 1, id);
        for (char **tag = tags; ok && *tag; tag++) {
                char *colon = strchr(*tag, ':');
                g_autofree char *value = colon ? attribute_unescape(colon + 1) : NULL;

                if (!colon || colon == *tag || !g_utf8_validate(*tag, colon - *tag, NULL))
                        continue;
                *colon = 0;
                bind_text(s, 2, *tag);
                bind_text(s, 3, value);
                ok = insert(store, s, error);
        }
        return ok;
}

static gboolean insert_tags(Store *store, GError **error)
{
        const GPtrArray *tags = path_set_tags(store->set);
        g_autoptr(sqlite3_stmt) s =
                store_prepare(store, "INSERT OR IGNORE INTO tag VALUES (?, ?, ?)", error);
        gboolean ok = s != NULL;

        for (guint i = 0; ok && tags && !store->patterns_only && i < tags->len; i++)
                ok = insert_tags_of(store, s, (gint64)i + 1, tags->pdata[i], error);
        return ok;
}

static gboolean insert_hours(Store *store, GError **error)
{
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "hour", 6, error);
        g_autoptr(GPtrArray) hours = node_hours_list(store->hours);
        gboolean ok = s != NULL;

        for (guint i = 0; ok && i < hours->len; i++) {
                const NodeHour *h = hours->pdata[i];

                sqlite3_bind_int64(s, 1, (gint64)h->node + 1);
                sqlite3_bind_int64(s, 2, h->hour);
                sqlite3_bind_int64(s, 3, (gint64)h->latency.count);
                sqlite3_bind_int64(s, 4, histogram_mean(&h->latency));
                sqlite3_bind_int64(s, 5, histogram_quantile(&h->latency, 0.99));
                sqlite3_bind_int64(s, 6, node_hour_own_mean(h));
                ok = insert(store, s, error);
        }
        return ok;
}

static gboolean insert_trust(Store *store, GError **error)
{
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "trust", 4, error);
        guint32 n;
        const PathTrust *trust = path_set_trust(store->set, &n);
        gboolean ok = s != NULL;

        for (NodeId node = 0; ok && node < n; node++) {
                if (trust[node].calls == 0)
                        continue;
                sqlite3_bind_int64(s, 1, (gint64)node + 1);
                sqlite3_bind_int64(s, 2, (gint64)trust[node].calls);
                sqlite3_bind_int64(s, 3, (gint64)trust[node].guessed);
                sqlite3_bind_double(s, 4, trust[node].right / (double)trust[node].calls);
                ok = insert(store, s, error);
        }
        return ok;
}

static gboolean insert_workers(Store *store, GError **error)
{
        g_autoptr(sqlite3_stmt) s = prepare_insert(store, "worker", 5, error);
        guint32 n;
        const WorkerLoad *load = path_set_workers(store->set, &n);
        gboolean ok = s != NULL;

        for (NodeId node = 0; ok && node < n; node++) {
                if (load[node].calls == 0)
                        continue;
                sqlite3_bind_int64(s, 1, (gint64)node + 1);
                sqlite3_bind_int64(s, 2, load[node].workers);
                sqlite3_bind_int64(s, 3, (gint64)load[node].calls);
                sqlite3_bind_int64(s, 4, load[node].served);
                sqlite3_bind_int64(s, 5, load[node].waited);
                ok = insert(store, s, error);
        }
        return ok;
}

/* Of linear patterns: the graph that they are paths of. */
static gboolean insert_vertex(Store *store, sqlite3_stmt *vertex, sqlite3_stmt *delay, guint32 i,
                              GError **error)
{
        const PathVertex *v = path_graph_vertex(path_set_graph(store->set), i);

        sqlite3_bind_int64(vertex, 1, (gint64)i + 1);
        bind_time(vertex, 2, (gint64)v->parent + 1, v->parent != NO_VERTEX);
        sqlite3_bind_int64(vertex, 3, (gint64)v->node + 1);
        sqlite3_bind_int64(vertex, 4, v->depth);
        sqlite3_bind_int64(vertex, 5, (gint64)v->count);
        sqlite3_bind_double(vertex, 6, v->probability);
        bind_text(vertex, 7, v->end == PATH_GOES_ON ? NULL : path_end_name(v->end));
        if (!insert(store, vertex, error))
                return FALSE;
        EACH (const PathDelay, d, v->delays) {
                sqlite3_bind_int64(delay, 1, (gint64)i + 1);
                sqlite3_bind_int64(delay, 2, d->delay);
                sqlite3_bind_int64(delay, 3, (gint64)d->count);
                if (!insert(store, delay, error))
                        return FALSE;
        }
        return TRUE;
}

static gboolean insert_graph(Store *store, GError **error)
{
        const PathGraph *graph = path_set_graph(store->set);
        g_autoptr(sqlite3_stmt) vertex = NULL, delay = NULL;
        gboolean ok;

        if (!graph)
                return TRUE;
        ok = (vertex = prepare_insert(store, "vertex", 7, error)) &&
             (delay = prepare_insert(store, "vertex_delay", 3, error));
        for (guint32 i = 0; ok && i < path_graph_size(graph); i++)
                ok = insert_vertex(store, vertex, delay, i, error);
        return ok;
}

/* Nothing was waited for while writing; once, at the end, the bytes must be on
 * the disk before the name points to them. */
static gboolean sync_file(const Store *store, GError **error)
{
        int fd = open(store->temporary, O_RDONLY | O_CLOEXEC);
        gboolean ok = fd >= 0 && fsync(fd) == 0;

        if (!ok)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT,
                            "%s: cannot write the store: %s", store->path, g_strerror(errno));
        if (fd >= 0)
                close(fd);
        return ok;
}

static void close_database(Store *store)
{
        sqlite3_finalize(store->insert_path);
        sqlite3_finalize(store->insert_call);
        sqlite3_finalize(store->insert_cause);
        store->insert_path = store->insert_call = store->insert_cause = NULL;
        sqlite3_close(store->db);
        store->db = NULL;
}

void store_rename(Store *store, const char *path)
{
        g_free(store->path);
        store->path = g_strdup(path);
}

gboolean store_finish(Store *store, GError **error)
{
        path_set_set_sink(store->set, NULL, NULL);
        gboolean ok = update_run(store, error) && insert_nodes(store, error) &&
                      insert_doubts(store, error) && insert_patterns(store, error) &&
                      insert_pattern_nodes(store, error) && insert_pattern_causes(store, error) &&
                      insert_labels(store, error) && insert_tags(store, error) &&
                      insert_hours(store, error) && insert_trust(store, error) &&
                      insert_workers(store, error) && insert_graph(store, error) && !store->error &&
                      run_sql(store, "COMMIT", error);
        if (ok) {
                close_database(store);
                ok = sync_file(store, error) &&
                     output_path_commit(store->temporary, store->path, error);
                if (ok)
                        g_clear_pointer(&store->temporary, g_free);
        }
        if (store->error) {
                g_clear_error(error);
                g_propagate_error(error, g_steal_pointer(&store->error));
        }
        store_free(store);
        return ok;
}

void store_free(Store *store)
{
        if (!store)
                return;
        close_database(store);
        if (store->temporary && strcmp(store->temporary, store->path) != 0)
                unlink(store->temporary);
        else if (store->temporary)
                make_empty(store->path);
        node_hours_free(store->hours);
        g_clear_error(&store->error);
        g_free(store->last);
        g_free(store->temporary);
        g_free(store->path);
        g_free(store);
}
