/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store-reader.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/printable.h"
#include "store/store-error.h"
#include "store/store-open.h"

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
        VERTEX,
        VERTEX_DELAY,
        JUDGEMENT,
        DOUBT,
        PATTERN_DOUBT,
        LABEL,
        N_TABLES
} Table;

/* A call has its stamps at the caller, else those at the callee (nesting's rule). */
static const struct {
        const char *name, *select;
} tables[N_TABLES] = {
        [RUN] = { "run", "SELECT method, parameters, version, messages, calls, unmatched_calls, "
                         "unmatched_returns, cut_paths, parallelism, first, last FROM run" },
        [CAPTURE] = { "capture", "SELECT name, sha256, facts FROM capture ORDER BY id" },
        [NODE] = { "node", "SELECT id, name FROM node ORDER BY id" },
        [PATTERN] = { "pattern",
                      "SELECT id, signature, client, count, total, mean, deviation, p50, p90, "
                      "p99, min, max, probability, label, completion_total, completion_mean, "
                      "completion_p50, completion_p99, misassigned, drawn, drawn_error "
                      "FROM pattern ORDER BY id" },
        [PATTERN_NODE] = { "pattern_node",
                           "SELECT pattern, place, latency_mean, latency_p99, own_mean, own_p99, "
                           "parent, node, latency, call_delay, own, network, label, labels, "
                           "continues, connecting, queued, CASE place WHEN 0 THEN (SELECT "
                           "completion "
                           "FROM pattern WHERE pattern.id = pattern_node.pattern) END, "
                           "workers, own_queued, serving, own_queued_mean "
                           "FROM pattern_node ORDER BY pattern, place" },
        [PATH] = { "path", "SELECT id, pattern, start, latency, first_call, calls, probability, "
                           "completion FROM path ORDER BY id" },
        [CALL] = { "call", "SELECT id, path, parent, caller, callee, "
                           "coalesce(call_sent, call_recv) AS call_sent, "
                           "coalesce(ret_recv, ret_sent, CASE WHEN continues IS NOT NULL "
                           "THEN coalesce(call_sent, call_recv) END) AS ret_recv, trace_id, "
                           "probability "
                           "FROM call ORDER BY id" },
        [PATH_CALLS] = { "call",
                         "SELECT id, parent, place, caller, callee, call_sent, call_recv, "
                         "ret_sent, ret_recv, own, network, probability, candidates, trace_id, "
                         "label, continues, queued, connect, wait, own_queued, connecting "
                         "FROM call WHERE id BETWEEN ?1 AND ?2 ORDER BY id" },
        [TRUST] = { "trust", "SELECT node, calls, guessed, probability FROM trust ORDER BY node" },
        /* Empty in a store of path instances. */
        [VERTEX] = { "vertex", "SELECT id, parent, node, count, probability, \"end\" FROM vertex "
                               "ORDER BY id" },
        [VERTEX_DELAY] = { "vertex_delay", "SELECT vertex, delay, count FROM vertex_delay "
                                           "ORDER BY vertex, delay" },
        [JUDGEMENT] = { "run", "SELECT judgement, fit FROM run" },
        [DOUBT] = { "doubt", "SELECT id, text, reason, caller, callee, count, total, kind, "
                             "bytes, total_bytes FROM doubt ORDER BY id" },
        [LABEL] = { "label", "SELECT id, name FROM label ORDER BY id" },
        [PATTERN_DOUBT] = { "pattern", "SELECT doubt FROM pattern ORDER BY id" },
};

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
        gint64 place;        /* the next one of the pattern in hand */
        gint64 pattern;      /* the pattern in hand: its id */
        gint64 path_in_hand; /* of the calls; its id */
        gint64 first_call;   /* call.id of that path's root */
        GString *signature;  /* of the pattern in hand */
        GString *ids;        /* of the calls that store_reader_path_calls() gave last */
        gint64 next_call;    /* call.id that the next path begins with */
        gint64 work_left;    /* of SQLite, in its own steps */
};

/* Stores of requests, of patterns and of one long chain take 0.03 to 0.32 of SQLite's steps
 * for each of their bytes. Far more are of rows or keys that were made to cost. */
enum { STEPS_PER_BYTE = 16, STEPS_AT_LEAST = 10000000, STEPS_PER_LOOK = 1000 };

static int spend_work(void *data)
{
        StoreReader *r = data;

        return (r->work_left -= STEPS_PER_LOOK) < 0;
}

static void limit_work(StoreReader *r)
{
        struct stat st;
        gint64 size = stat(r->path, &st) == 0 ? (gint64)st.st_size : 0;

        r->work_left = STEPS_AT_LEAST + STEPS_PER_BYTE * MIN(size, G_MAXINT64 >> 8);
        sqlite3_progress_handler(r->db, STEPS_PER_LOOK, spend_work, r);
}

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

gboolean store_reader_fail(const StoreReader *r, GError **error, const char *format, ...)
{
        g_autofree char *what = NULL;
        va_list args;

        va_start(args, format);
        what = g_strdup_vprintf(format, args);
        va_end(args);
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: the store is corrupt: %s", r->path,
                    what);
        return FALSE;
}

static gboolean fail_row(const StoreReader *r, Table t, int column, const char *expected,
                         GError **error)
{
        return store_reader_fail(r, error, "row %" G_GINT64_FORMAT " of %s: wrong %s, expected %s",
                                 r->rows[t], tables[t].name,
                                 sqlite3_column_name(r->select[t], column), expected);
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
static gboolean is_null(const StoreReader *r, Table t, int column)
{
        return sqlite3_column_type(r->select[t], column) == SQLITE_NULL;
}

static const char *get_text(const StoreReader *r, Table t, int column, GError **error)
{
        const char *text = (const char *)sqlite3_column_text(r->select[t], column);

        if (text && g_utf8_validate(text, sqlite3_column_bytes(r->select[t], column), NULL))
                return text;
        fail_row(r, t, column, "text", error);
        return NULL;
}

static gboolean get_count(const StoreReader *r, Table t, int column, guint64 *count, GError **error)
{
        gint64 number;

        if (!get_number(r, t, column, 0, G_MAXINT64, &number, error))
                return FALSE;
        *count = (guint64)number;
        return TRUE;
}

static gboolean get_probability(const StoreReader *r, Table t, int column, double *probability,
                                GError **error)
{
        *probability = sqlite3_column_double(r->select[t], column);
        return (*probability >= 0 && *probability <= 1 &&
                sqlite3_column_type(r->select[t], column) == SQLITE_FLOAT) ||
               fail_row(r, t, column, "a probability", error);
}

static gboolean get_node(const StoreReader *r, Table t, int column, NodeId *node, GError **error)
{
        gint64 id;

        if (!get_number(r, t, column, 1, r->rows[NODE], &id, error))
                return FALSE;
        *node = r->nodes[id - 1];
        return TRUE;
}

/* *time stays where there is no stamp. */
static gboolean get_stamp(const StoreReader *r, Table t, int column, gint64 *time, GError **error)
{
        return sqlite3_column_type(r->select[t], column) == SQLITE_NULL ||
               get_time(r, t, column, time, error);
}

static gboolean read_run(StoreReader *r, GError **error)
{
        const char *method, *parameters, *version;
        StoredRun *run = &r->run;
        int status = next_row(r, RUN, error);

        if (status == 0)
                store_reader_fail(r, error, "run has no row, expected one");
        if (status <= 0 || !(method = get_text(r, RUN, 0, error)))
                return FALSE;
        r->method = printable_new(method, PRINTABLE_TEXT);
        if (!(parameters = get_text(r, RUN, 1, error)))
                return FALSE;
        r->parameters = g_strdup(parameters);
        if (!(version = get_text(r, RUN, 2, error)))
                return FALSE;
        r->version = printable_new(version, PRINTABLE_TEXT);
        *run = (StoredRun){ .version = r->version,
                            .method = r->method,
                            .parameters = r->parameters,
                            .parallelism = sqlite3_column_double(r->select[RUN], 8),
                            .first = NO_TIME,
                            .last = NO_TIME };
        return get_count(r, RUN, 3, &run->messages, error) &&
               get_count(r, RUN, 4, &run->calls, error) &&
               get_count(r, RUN, 5, &run->unmatched_calls, error) &&
               get_count(r, RUN, 6, &run->unmatched_returns, error) &&
               get_count(r, RUN, 7, &run->cut_paths, error) &&
               get_stamp(r, RUN, 9, &run->first, error) && get_stamp(r, RUN, 10, &run->last, error);
}

/* Of a store that says nothing, as if all was fit. */
static gboolean read_judgement(StoreReader *r, GError **error)
{
        const char *judgement;
        gint64 fit;

        r->run.fit = TRUE;
        if (next_row(r, JUDGEMENT, error) < 0)
                return FALSE;
        if (sqlite3_column_type(r->select[JUDGEMENT], 0) == SQLITE_NULL)
                return TRUE;
        if (!(judgement = get_text(r, JUDGEMENT, 0, error)) ||
            !get_number(r, JUDGEMENT, 1, 0, 1, &fit, error))
                return FALSE;
        r->judgement = g_strdup(judgement);
        r->run.judgement = r->judgement;
        r->run.fit = fit == 1;
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

static gboolean read_labels(StoreReader *r, GError **error)
{
        int status;

        while ((status = next_row(r, LABEL, error)) > 0) {
                const char *name = get_text(r, LABEL, 1, error);

                if (!name || !check_id(r, LABEL, error))
                        return FALSE;
                g_ptr_array_add(r->labels, g_strdup(name));
        }
        return status == 0;
}

/* What sql, one truth value, says of the store. */
static gboolean ask(StoreReader *r, const char *sql, gboolean *answer, GError **error)
{
        sqlite3_stmt *s;
        gboolean ok = sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) == SQLITE_OK &&
                      sqlite3_step(s) == SQLITE_ROW;

        if (ok)
                *answer = sqlite3_column_int(s, 0) != 0;
        else
                store_set_error(r->db, r->path, error);
        sqlite3_finalize(s);
        return ok;
}

static gboolean read_has_labels(StoreReader *r, GError **error)
{
        return ask(r,
                   "SELECT EXISTS (SELECT 1 FROM pattern WHERE label IS NOT NULL) "
                   "OR NOT EXISTS (SELECT 1 FROM pattern)",
                   &r->has_labels, error);
}

StoreReader *store_reader_new(const char *path, NodeTable *nodes, GError **error)
{
        g_autoptr(StoreReader) r = g_new0(StoreReader, 1);

        r->path = g_strdup(path);
        r->ids = g_string_new(NULL);
        r->signature = g_string_new(NULL);
        r->labels = g_ptr_array_new_with_free_func(g_free);
        r->next_call = 1;
        if (!(r->db = store_open(path, FALSE, error)))
                return NULL;
        limit_work(r);
        for (guint t = 0; t < N_TABLES; t++)
                if (sqlite3_prepare_v2(r->db, tables[t].select, -1, &r->select[t], NULL) !=
                    SQLITE_OK) {
                        store_set_error(r->db, r->path, error);
                        return NULL;
                }
        if (!read_run(r, error) || !read_judgement(r, error) || !read_nodes(r, nodes, error) ||
            !read_labels(r, error) || !read_has_labels(r, error))
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
        g_string_free(r->ids, TRUE);
        g_string_free(r->signature, TRUE);
        g_ptr_array_unref(r->labels);
        g_free(r->nodes);
        g_free(r->method);
        g_free(r->judgement);
        g_free(r->parameters);
        g_free(r->version);
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

gboolean store_reader_has_labels(const StoreReader *r)
{
        return r->has_labels;
}

gboolean store_reader_goes_on(StoreReader *r)
{
        sqlite3_stmt *s;
        gboolean goes_on = FALSE;

        if (sqlite3_prepare_v2(
                    r->db,
                    "SELECT EXISTS (SELECT 1 FROM pattern WHERE completion_mean IS NOT NULL)", -1,
                    &s, NULL) == SQLITE_OK)
                goes_on = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0);
        sqlite3_finalize(s);
        return goes_on;
}

const char *store_reader_label(const StoreReader *r, guint32 label)
{
        return label ? r->labels->pdata[label - 1] : NULL;
}

gboolean store_reader_expect_requests(StoreReader *r, GError **error)
{
        gboolean none;

        if (!ask(r, "SELECT EXISTS (SELECT 1 FROM pattern) AND NOT EXISTS (SELECT 1 FROM path)",
                 &none, error))
                return FALSE;
        if (!none)
                return TRUE;
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                    "%s: has patterns only, as of convolution or --no-requests, expected requests",
                    r->path);
        return FALSE;
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
        return (capture->facts = get_text(r, CAPTURE, 2, error)) ? 1 : -1;
}

/* As it is written today: stores of before left some characters that nobody sees. */
static const char *get_signature(StoreReader *r, GError **error)
{
        const char *stored = get_text(r, PATTERN, 1, error);

        if (!stored)
                return NULL;
        g_string_truncate(r->signature, 0);
        printable_append(r->signature, stored, -1, PRINTABLE_FIELD);
        return r->signature->str;
}

int store_reader_next_doubt(StoreReader *r, StoredDoubt *doubt, GError **error)
{
        int status = next_row(r, DOUBT, error);

        if (status <= 0)
                return status;
        doubt->caller = NO_NODE;
        doubt->kind = NULL;
        doubt->bytes = doubt->of_bytes = 0;
        if (!check_id(r, DOUBT, error) || !(doubt->text = get_text(r, DOUBT, 1, error)) ||
            !(doubt->reason = get_text(r, DOUBT, 2, error)) ||
            (!is_null(r, DOUBT, 3) && !get_node(r, DOUBT, 3, &doubt->caller, error)) ||
            !get_node(r, DOUBT, 4, &doubt->callee, error) ||
            !get_count(r, DOUBT, 5, &doubt->count, error) ||
            !get_count(r, DOUBT, 6, &doubt->of, error) ||
            (!is_null(r, DOUBT, 7) && !(doubt->kind = get_text(r, DOUBT, 7, error))) ||
            (!is_null(r, DOUBT, 8) && !get_count(r, DOUBT, 8, &doubt->bytes, error)) ||
            (!is_null(r, DOUBT, 9) && !get_count(r, DOUBT, 9, &doubt->of_bytes, error)))
                return -1;
        return 1;
}

/* The row beside that of PATTERN. */
static gboolean get_doubt(StoreReader *r, StoredPattern *pattern, GError **error)
{
        gint64 doubt;

        pattern->doubt = -1;
        if (next_row(r, PATTERN_DOUBT, error) < 0)
                return FALSE;
        if (sqlite3_column_type(r->select[PATTERN_DOUBT], 0) == SQLITE_NULL)
                return TRUE;
        if (!get_number(r, PATTERN_DOUBT, 0, 1, G_MAXINT, &doubt, error))
                return FALSE;
        pattern->doubt = (int)doubt - 1;
        return TRUE;
}

/* A number of instances, which need not be whole. */
static gboolean get_mean_count(const StoreReader *r, int column, double *count, GError **error)
{
        *count = sqlite3_column_double(r->select[PATTERN], column);
        return (*count >= 0 && *count <= (double)G_MAXUINT32) ||
               fail_row(r, PATTERN, column, "a number of paths", error);
}

static gboolean get_drawn(const StoreReader *r, StoredPattern *pattern, GError **error)
{
        pattern->is_drawn = sqlite3_column_type(r->select[PATTERN], 19) != SQLITE_NULL;
        return get_mean_count(r, 19, &pattern->drawn, error) &&
               get_mean_count(r, 20, &pattern->drawn_error, error);
}

static gboolean get_misassigned(const StoreReader *r, StoredPattern *pattern, GError **error)
{
        gint64 misassigned = 0;

        if (sqlite3_column_type(r->select[PATTERN], 18) != SQLITE_NULL &&
            !get_number(r, PATTERN, 18, 0, 1, &misassigned, error))
                return FALSE;
        pattern->misassigned = misassigned != 0;
        return TRUE;
}

/* NULL is no label. */
static gboolean get_label(const StoreReader *r, Table t, int column, const char **label,
                          GError **error)
{
        *label = NULL;
        return sqlite3_column_type(r->select[t], column) == SQLITE_NULL ||
               (*label = get_text(r, t, column, error)) != NULL;
}

/* NULL where nothing goes on. */
static gboolean get_completion(const StoreReader *r, StoredPattern *pattern, GError **error)
{
        pattern->goes_on = sqlite3_column_type(r->select[PATTERN], 14) != SQLITE_NULL;
        pattern->completion.total = pattern->total;
        pattern->completion.mean = pattern->mean;
        pattern->completion.p50 = pattern->p50;
        pattern->completion.p99 = pattern->p99;
        return !pattern->goes_on || (get_time(r, PATTERN, 14, &pattern->completion.total, error) &&
                                     get_time(r, PATTERN, 15, &pattern->completion.mean, error) &&
                                     get_time(r, PATTERN, 16, &pattern->completion.p50, error) &&
                                     get_time(r, PATTERN, 17, &pattern->completion.p99, error));
}

/* NULL of what is nested. */
static gboolean get_continues(const StoreReader *r, Table t, int column, guint8 *continues,
                              GError **error)
{
        const char *name;

        *continues = WORK_NESTED;
        if (sqlite3_column_type(r->select[t], column) == SQLITE_NULL)
                return TRUE;
        if (!(name = get_text(r, t, column, error)))
                return FALSE;
        for (guint8 i = WORK_GOES_ON; i <= WORK_QUEUED; i++)
                if (strcmp(name, path_continues_name(i)) == 0)
                        *continues = i;
        return *continues != WORK_NESTED || fail_row(r, t, column, "how it goes on", error);
}

int store_reader_next_pattern(StoreReader *r, StoredPattern *pattern, GError **error)
{
        int status = next_row(r, PATTERN, error);

        if (status <= 0)
                return status;
        if (!check_id(r, PATTERN, error) || !(pattern->signature = get_signature(r, error)) ||
            !get_node(r, PATTERN, 2, &pattern->client, error) ||
            !get_count(r, PATTERN, 3, &pattern->count, error) ||
            !get_time(r, PATTERN, 4, &pattern->total, error) ||
            !get_time(r, PATTERN, 5, &pattern->mean, error) ||
            !get_time(r, PATTERN, 6, &pattern->deviation, error) ||
            !get_time(r, PATTERN, 7, &pattern->p50, error) ||
            !get_time(r, PATTERN, 8, &pattern->p90, error) ||
            !get_time(r, PATTERN, 9, &pattern->p99, error) ||
            !get_time(r, PATTERN, 10, &pattern->min, error) ||
            !get_time(r, PATTERN, 11, &pattern->max, error) ||
            !get_probability(r, PATTERN, 12, &pattern->probability, error) ||
            !get_label(r, PATTERN, 13, &pattern->label, error) ||
            !get_completion(r, pattern, error) || !get_doubt(r, pattern, error) ||
            !get_misassigned(r, pattern, error) || !get_drawn(r, pattern, error))
                return -1;
        pattern->id = path_pattern_id(pattern->label, pattern->signature);
        return 1;
}

static StoredHistogram get_histogram(const StoreReader *r, int column)
{
        const guint8 *data = sqlite3_column_blob(r->select[PATTERN_NODE], column);

        return (StoredHistogram){ data,
                                  (gsize)sqlite3_column_bytes(r->select[PATTERN_NODE], column) };
}

/* Place 0 alone has none. */
static gboolean get_parent_place(const StoreReader *r, StoredPatternNode *node, GError **error)
{
        gboolean is_root = sqlite3_column_type(r->select[PATTERN_NODE], 6) == SQLITE_NULL;
        gint64 parent;

        node->parent = NO_PARENT;
        if (is_root && node->place == 0)
                return TRUE;
        if (!get_number(r, PATTERN_NODE, 6, 0, (gint64)node->place - 1, &parent, error))
                return FALSE;
        node->parent = (guint32)parent;
        return TRUE;
}

/* Of a node with a queue before workers. */
static gboolean get_waits(const StoreReader *r, StoredPatternNode *node, GError **error)
{
        gint64 workers = 0;

        node->own_queued_mean = 0;
        if (!is_null(r, PATTERN_NODE, 18) &&
            !get_number(r, PATTERN_NODE, 18, 1, G_MAXUINT32, &workers, error))
                return FALSE;
        node->workers = (guint32)workers;
        return get_stamp(r, PATTERN_NODE, 21, &node->own_queued_mean, error);
}

static const int time_columns[N_NODE_TIMES] = { 8, 9, 10, 11, 15, 16, 19, 20 };

int store_reader_next_pattern_node(StoreReader *r, StoredPatternNode *node, GError **error)
{
        int status = next_row(r, PATTERN_NODE, error);
        gint64 pattern, place, labels;

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
        if (!get_parent_place(r, node, error) || !get_node(r, PATTERN_NODE, 7, &node->node, error))
                return -1;
        for (NodeTime i = 0; i < N_NODE_TIMES; i++)
                node->times[i] = get_histogram(r, time_columns[i]);
        node->completion = get_histogram(r, 17);
        node->n_labels = 0;
        if (!get_continues(r, PATTERN_NODE, 14, &node->continues, error) ||
            !get_label(r, PATTERN_NODE, 12, &node->label, error) || !get_waits(r, node, error))
                return -1;
        if (node->label) {
                if (!get_number(r, PATTERN_NODE, 13, 1, G_MAXUINT32, &labels, error))
                        return -1;
                node->n_labels = (guint32)labels;
        }
        return 1;
}

int store_reader_next_path(StoreReader *r, StoredPath *path, GError **error)
{
        int status = next_row(r, PATH, error);
        gint64 pattern, first_call, n_calls;

        if (status <= 0)
                return status;
        if (!check_id(r, PATH, error) ||
            !get_number(r, PATH, 1, 1, r->rows[PATTERN], &pattern, error) ||
            !get_time(r, PATH, 2, &path->start, error) ||
            !get_time(r, PATH, 3, &path->latency, error) ||
            !get_number(r, PATH, 4, r->next_call, MIN(r->next_call, G_MAXUINT32 - 1), &first_call,
                        error) ||
            !get_number(r, PATH, 5, 1, G_MAXUINT32 - first_call, &n_calls, error) ||
            !get_probability(r, PATH, 6, &path->probability, error))
                return -1;
        path->completion = path->latency;
        if (!get_stamp(r, PATH, 7, &path->completion, error))
                return -1;
        path->pattern = pattern - 1;
        path->first_call = (guint32)first_call - 1;
        path->n_calls = (guint32)n_calls;
        r->next_call = first_call + n_calls;
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

        if (status == 0 && r->path_in_hand != r->rows[PATH]) {
                store_reader_fail(r, error,
                                  "calls of %" G_GINT64_FORMAT
                                  " paths, expected of %" G_GINT64_FORMAT,
                                  r->path_in_hand, r->rows[PATH]);
                return -1;
        }
        if (status <= 0)
                return status;
        if (!check_id(r, CALL, error) || !get_place_in_path(r, call, error) ||
            !get_node(r, CALL, 3, &call->caller, error) ||
            !get_node(r, CALL, 4, &call->callee, error) ||
            !get_time(r, CALL, 5, &call->start, error) ||
            !get_time(r, CALL, 6, &call->end, error) ||
            !get_probability(r, CALL, 8, &call->probability, error))
                return -1;
        call->id = (const char *)sqlite3_column_text(r->select[CALL], 7);
        call->id_length = sqlite3_column_bytes(r->select[CALL], 7);
        return 1;
}

int store_reader_next_trust(StoreReader *r, StoredTrust *trust, GError **error)
{
        int status = next_row(r, TRUST, error);

        if (status <= 0)
                return status;
        if (!get_node(r, TRUST, 0, &trust->node, error) ||
            !get_count(r, TRUST, 1, &trust->calls, error) ||
            !get_count(r, TRUST, 2, &trust->guessed, error) ||
            !get_probability(r, TRUST, 3, &trust->probability, error))
                return -1;
        return 1;
}

static gboolean get_vertex_parent(const StoreReader *r, StoredVertex *vertex, GError **error)
{
        gint64 parent;

        vertex->parent = NO_PARENT;
        if (sqlite3_column_type(r->select[VERTEX], 1) == SQLITE_NULL)
                return TRUE;
        if (!get_number(r, VERTEX, 1, 1, r->rows[VERTEX] - 1, &parent, error))
                return FALSE;
        vertex->parent = (guint32)parent - 1;
        return TRUE;
}

/* NULL where the path goes on, and in a store from before there was the column. */
static gboolean get_end(StoreReader *r, PathEnd *end, GError **error)
{
        const char *name;

        *end = PATH_GOES_ON;
        if (is_null(r, VERTEX, 5))
                return TRUE;
        if (!(name = get_text(r, VERTEX, 5, error)))
                return FALSE;
        for (PathEnd i = 1; i < N_PATH_ENDS; i++)
                if (!strcmp(name, path_end_name(i)))
                        *end = i;
        return *end != PATH_GOES_ON || fail_row(r, VERTEX, 5, "why a path ends", error);
}

int store_reader_next_vertex(StoreReader *r, StoredVertex *vertex, GError **error)
{
        int status = next_row(r, VERTEX, error);

        if (status <= 0)
                return status;
        if (!check_id(r, VERTEX, error) || !get_vertex_parent(r, vertex, error) ||
            !get_node(r, VERTEX, 2, &vertex->node, error) ||
            !get_count(r, VERTEX, 3, &vertex->count, error) ||
            !get_probability(r, VERTEX, 4, &vertex->probability, error) ||
            !get_end(r, &vertex->end, error))
                return -1;
        return 1;
}

int store_reader_next_vertex_delay(StoreReader *r, StoredVertexDelay *delay, GError **error)
{
        int status = next_row(r, VERTEX_DELAY, error);
        gint64 vertex;

        if (status <= 0)
                return status;
        if (!get_number(r, VERTEX_DELAY, 0, 1, r->rows[VERTEX], &vertex, error) ||
            !get_time(r, VERTEX_DELAY, 1, &delay->delay, error) ||
            !get_count(r, VERTEX_DELAY, 2, &delay->count, error))
                return -1;
        delay->vertex = (guint32)vertex - 1;
        return 1;
}

/* --- out of turn ----------------------------------------------------------- */

gboolean store_reader_histogram(StoreReader *r, const StoredHistogram *stored, Histogram *h,
                                GError **error)
{
        Histogram one = HISTOGRAM_INIT;

        if (!histogram_unpack(&one, stored->data, stored->n))
                return store_reader_fail(r, error,
                                         "row %" G_GINT64_FORMAT
                                         " of pattern_node: a distribution cannot be unpacked",
                                         r->rows[PATTERN_NODE]);
        if (h->count == 0) {
                *h = one;
                return TRUE;
        }
        histogram_merge(h, &one);
        histogram_clear(&one);
        return TRUE;
}

gboolean store_reader_append_node(StoreReader *r, const StoredPatternNode *stored, PathPattern *p,
                                  GError **error)
{
        PatternNode *node = path_pattern_append(p, stored->node, stored->parent);

        node->label = g_intern_string(stored->label);
        node->n_labels = stored->n_labels;
        node->continues = stored->continues;
        node->workers = stored->workers;
        for (NodeTime i = 0; i < N_NODE_TIMES; i++)
                if (!store_reader_histogram(r, &stored->times[i], &node->times[i], error))
                        return FALSE;
        return TRUE;
}

/* Without what would end it in a trace. */
static gboolean check_trace_id(const StoreReader *r, guint32 length, GError **error)
{
        const guchar *id = sqlite3_column_text(r->select[PATH_CALLS], 13);

        for (guint32 i = 0; i < length; i++)
                if (id[i] <= ' ' || id[i] == 0x7f)
                        return fail_row(r, PATH_CALLS, 13, "an id without blanks", error);
        return TRUE;
}

/* NULL of a call into a node that is not known to have a queue. */
static gboolean get_wait(const StoreReader *r, PathCall *c, GError **error)
{
        if (is_null(r, PATH_CALLS, 18) || is_null(r, PATH_CALLS, 19))
                return TRUE;
        c->workers = 1; /* or more: the pattern's node says it */
        return get_number(r, PATH_CALLS, 18, 0, PATH_TIME_LIMIT, &c->wait, error) &&
               get_number(r, PATH_CALLS, 19, 0, MAX(c->own, 0), &c->own_queued, error);
}

static gboolean get_path_call(const StoreReader *r, guint32 first, guint32 n, PathCall *c,
                              guint32 *place, GError **error)
{
        sqlite3_stmt *s = r->select[PATH_CALLS];
        gint64 parent, at, candidates, label = 0;
        double probability;

        *c = (PathCall){ .parent = NO_PARENT,
                         .start = NO_TIME,
                         .enter = NO_TIME,
                         .reply = NO_TIME,
                         .end = NO_TIME };
        if (n > 0) {
                if (!get_number(r, PATH_CALLS, 1, (gint64)first + 1, (gint64)first + n, &parent,
                                error))
                        return FALSE;
                c->parent = (guint32)(parent - 1 - first);
        } else if (sqlite3_column_type(s, 1) != SQLITE_NULL) {
                return fail_row(r, PATH_CALLS, 1, "none", error);
        }
        if (!get_number(r, PATH_CALLS, 2, 0, G_MAXUINT32 - 1, &at, error) ||
            !get_node(r, PATH_CALLS, 3, &c->caller, error) ||
            !get_node(r, PATH_CALLS, 4, &c->callee, error) ||
            !get_stamp(r, PATH_CALLS, 5, &c->start, error) ||
            !get_stamp(r, PATH_CALLS, 6, &c->enter, error) ||
            !get_stamp(r, PATH_CALLS, 7, &c->reply, error) ||
            !get_stamp(r, PATH_CALLS, 8, &c->end, error) ||
            !get_time(r, PATH_CALLS, 9, &c->own, error) ||
            !get_time(r, PATH_CALLS, 10, &c->network, error) ||
            !get_probability(r, PATH_CALLS, 11, &probability, error) ||
            !get_number(r, PATH_CALLS, 12, 0, G_MAXUINT32, &candidates, error) ||
            (sqlite3_column_type(s, 14) != SQLITE_NULL &&
             !get_number(r, PATH_CALLS, 14, 1, MIN(r->labels->len, G_MAXUINT16), &label, error)) ||
            !get_continues(r, PATH_CALLS, 15, &c->continues, error) ||
            !get_stamp(r, PATH_CALLS, 16, &c->queued, error) ||
            !get_stamp(r, PATH_CALLS, 17, &c->connect, error) ||
            !get_stamp(r, PATH_CALLS, 20, &c->connecting, error) || !get_wait(r, c, error))
                return FALSE;
        c->stamps =
                (guint8)((c->start != NO_TIME) << CALL_SENT | (c->enter != NO_TIME) << CALL_RECV |
                         (c->reply != NO_TIME) << RET_SENT | (c->end != NO_TIME) << RET_RECV);
        if (c->start == NO_TIME && c->enter == NO_TIME)
                return fail_row(r, PATH_CALLS, 5, "one of call_sent and call_recv", error);
        if (c->continues != WORK_NESTED && c->reply == NO_TIME && c->end == NO_TIME) {
                c->stamps = (guint8)(c->stamps << (MSG_SENT - CALL_SENT));
                c->end = c->start == NO_TIME ? c->enter : c->start;
                c->reply = c->enter == NO_TIME ? c->start : c->enter;
        }
        if (c->reply == NO_TIME && c->end == NO_TIME)
                return fail_row(r, PATH_CALLS, 7, "one of ret_sent and ret_recv", error);
        c->start = c->start == NO_TIME ? c->enter : c->start;
        c->enter = c->enter == NO_TIME ? c->start : c->enter;
        c->reply = c->reply == NO_TIME ? c->end : c->reply;
        c->end = c->end == NO_TIME ? c->reply : c->end;
        c->probability = (float)probability;
        c->candidates = (guint32)candidates;
        c->label = (guint16)label;
        c->id_length = (guint32)sqlite3_column_bytes(s, 13);
        c->call = first + n;
        *place = (guint32)at;
        return check_trace_id(r, c->id_length, error);
}

/* Now that no more come, which might move them. */
static void set_ids(const StoreReader *r, GArray *calls)
{
        const char *id = r->ids->str;

        for (guint i = 0; i < calls->len; i++) {
                PathCall *call = &g_array_index(calls, PathCall, i);

                if (call->id_length > 0)
                        call->id = id;
                id += call->id_length;
        }
}

gboolean store_reader_path_calls(StoreReader *r, const StoredPath *path, GArray *calls,
                                 GArray *places, GError **error)
{
        sqlite3_stmt *s = r->select[PATH_CALLS];
        guint32 n = 0, place;
        PathCall call;
        int status;

        g_array_set_size(calls, 0);
        g_array_set_size(places, 0);
        g_string_truncate(r->ids, 0);
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, (gint64)path->first_call + 1);
        sqlite3_bind_int64(s, 2, (gint64)path->first_call + path->n_calls);
        r->rows[PATH_CALLS] = path->first_call;
        while ((status = next_row(r, PATH_CALLS, error)) > 0) {
                if (!check_id(r, PATH_CALLS, error) ||
                    !get_path_call(r, path->first_call, n, &call, &place, error))
                        return FALSE;
                n++;
                if (call.id_length > 0)
                        g_string_append_len(r->ids, (const char *)sqlite3_column_text(s, 13),
                                            call.id_length);
                g_array_append_val(calls, call);
                g_array_append_val(places, place);
        }
        set_ids(r, calls);
        if (status < 0 || n == path->n_calls)
                return status == 0;
        return store_reader_fail(r, error, "%u calls of a path, expected %u", n, path->n_calls);
}
