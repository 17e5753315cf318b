/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rows of a store, table by table, and the calls of one path at any time.
 */
#include <string.h>

#include "base/printable.h"
#include "store/store-columns.h"

int store_reader_next_capture(StoreReader *r, StoredCapture *capture, GError **error)
{
        int status = store_next_row(r, CAPTURE, error);

        if (status <= 0)
                return status;
        capture->sha256 = NULL;
        if (!(capture->name = column_text(r, CAPTURE, 0, error)))
                return -1;
        if (!column_is_null(r, CAPTURE, 1) &&
            !(capture->sha256 = column_text(r, CAPTURE, 1, error)))
                return -1;
        return (capture->facts = column_text(r, CAPTURE, 2, error)) ? 1 : -1;
}

/* As it is written today: stores of before left some characters that nobody sees. */
static const char *get_signature(StoreReader *r, GError **error)
{
        const char *stored = column_text(r, PATTERN, 1, error);

        if (!stored)
                return NULL;
        g_string_truncate(r->signature, 0);
        printable_append(r->signature, stored, -1, PRINTABLE_FIELD);
        return r->signature->str;
}

int store_reader_next_doubt(StoreReader *r, StoredDoubt *doubt, GError **error)
{
        int status = store_next_row(r, DOUBT, error);

        if (status <= 0)
                return status;
        doubt->caller = NO_NODE;
        doubt->kind = NULL;
        doubt->bytes = doubt->of_bytes = 0;
        if (!row_check_id(r, DOUBT, error) || !(doubt->text = column_text(r, DOUBT, 1, error)) ||
            !(doubt->reason = column_text(r, DOUBT, 2, error)) ||
            (!column_is_null(r, DOUBT, 3) && !column_node(r, DOUBT, 3, &doubt->caller, error)) ||
            !column_node(r, DOUBT, 4, &doubt->callee, error) ||
            !column_count(r, DOUBT, 5, &doubt->count, error) ||
            !column_count(r, DOUBT, 6, &doubt->of, error) ||
            (!column_is_null(r, DOUBT, 7) && !(doubt->kind = column_text(r, DOUBT, 7, error))) ||
            (!column_is_null(r, DOUBT, 8) && !column_count(r, DOUBT, 8, &doubt->bytes, error)) ||
            (!column_is_null(r, DOUBT, 9) && !column_count(r, DOUBT, 9, &doubt->of_bytes, error)))
                return -1;
        return 1;
}

/* The row beside that of PATTERN. */
static gboolean get_doubt(StoreReader *r, StoredPattern *pattern, GError **error)
{
        gint64 doubt;

        pattern->doubt = -1;
        if (store_next_row(r, PATTERN_DOUBT, error) < 0)
                return FALSE;
        if (column_is_null(r, PATTERN_DOUBT, 0))
                return TRUE;
        if (!column_number(r, PATTERN_DOUBT, 0, 1, G_MAXINT, &doubt, error))
                return FALSE;
        pattern->doubt = (int)doubt - 1;
        return TRUE;
}

/* A number of instances, which need not be whole. */
static gboolean column_mean_count(const StoreReader *r, int column, double *count, GError **error)
{
        *count = sqlite3_column_double(r->select[PATTERN], column);
        return (*count >= 0 && *count <= (double)G_MAXUINT32) ||
               row_fail(r, PATTERN, column, "a number of paths", error);
}

static gboolean get_drawn(const StoreReader *r, StoredPattern *pattern, GError **error)
{
        pattern->is_drawn = !column_is_null(r, PATTERN, 19);
        return column_mean_count(r, 19, &pattern->drawn, error) &&
               column_mean_count(r, 20, &pattern->drawn_error, error);
}

static gboolean get_misassigned(const StoreReader *r, StoredPattern *pattern, GError **error)
{
        gint64 misassigned = 0;

        if (!column_is_null(r, PATTERN, 18) &&
            !column_number(r, PATTERN, 18, 0, 1, &misassigned, error))
                return FALSE;
        pattern->misassigned = misassigned != 0;
        return TRUE;
}

/* NULL is no label. */
static gboolean column_label(const StoreReader *r, Table t, int column, const char **label,
                             GError **error)
{
        *label = NULL;
        return column_is_null(r, t, column) || (*label = column_text(r, t, column, error)) != NULL;
}

/* NULL where nothing goes on. */
static gboolean get_completion(const StoreReader *r, StoredPattern *pattern, GError **error)
{
        pattern->goes_on = !column_is_null(r, PATTERN, 14);
        pattern->completion.total = pattern->total;
        pattern->completion.mean = pattern->mean;
        pattern->completion.p50 = pattern->p50;
        pattern->completion.p99 = pattern->p99;
        return !pattern->goes_on ||
               (column_time(r, PATTERN, 14, &pattern->completion.total, error) &&
                column_time(r, PATTERN, 15, &pattern->completion.mean, error) &&
                column_time(r, PATTERN, 16, &pattern->completion.p50, error) &&
                column_time(r, PATTERN, 17, &pattern->completion.p99, error));
}

/* NULL of what is nested. */
static gboolean column_continues(const StoreReader *r, Table t, int column, guint8 *continues,
                                 GError **error)
{
        const char *name;

        *continues = WORK_NESTED;
        if (column_is_null(r, t, column))
                return TRUE;
        if (!(name = column_text(r, t, column, error)))
                return FALSE;
        for (guint8 i = WORK_GOES_ON; i <= WORK_UNANSWERED; i++)
                if (strcmp(name, path_continues_name(i)) == 0)
                        *continues = i;
        return *continues != WORK_NESTED || row_fail(r, t, column, "how it goes on", error);
}

/* NULL in stores from before there were outcomes. */
static gboolean column_some(const StoreReader *r, Table t, int column, guint64 *count,
                            GError **error)
{
        *count = 0;
        return column_is_null(r, t, column) || column_count(r, t, column, count, error);
}

/* NULL is none. */
static gboolean column_outcome(const StoreReader *r, Table t, int column, Outcome *outcome,
                               GError **error)
{
        const char *text;

        *outcome = OUTCOME_OK;
        if (column_is_null(r, t, column))
                return TRUE;
        if (!(text = column_text(r, t, column, error)))
                return FALSE;
        *outcome = outcome_read(text, strlen(text));
        return *outcome != OUTCOME_OK || row_fail(r, t, column, "an outcome", error);
}

/* Errors of a node. Their own times add up to less than a gint128 for any number of nodes. */
#define MOST_ERRORS ((guint64)1 << 40)

static gboolean get_faults(const StoreReader *r, NodeFaults *f, GError **error)
{
        gint64 own = 0, lost = 0;

        if (!column_some(r, PATTERN_NODE, 22, &f->errors, error))
                return FALSE;
        if (f->errors > MOST_ERRORS)
                return row_fail(r, PATTERN_NODE, 22, "a number of errors", error);
        if (!column_stamp(r, PATTERN_NODE, 23, &own, error) ||
            !column_outcome(r, PATTERN_NODE, 24, &f->outcome, error) ||
            !column_some(r, PATTERN_NODE, 25, &f->culprits, error) ||
            !column_some(r, PATTERN_NODE, 26, &f->retries, error) ||
            !column_stamp(r, PATTERN_NODE, 27, &lost, error))
                return FALSE;
        f->own = (gint128)own * (gint128)f->errors;
        f->lost = lost;
        return TRUE;
}

int store_reader_next_pattern(StoreReader *r, StoredPattern *pattern, GError **error)
{
        int status = store_next_row(r, PATTERN, error);

        if (status <= 0)
                return status;
        if (!row_check_id(r, PATTERN, error) || !(pattern->signature = get_signature(r, error)) ||
            !column_node(r, PATTERN, 2, &pattern->client, error) ||
            !column_count(r, PATTERN, 3, &pattern->count, error) ||
            !column_time(r, PATTERN, 4, &pattern->total, error) ||
            !column_time(r, PATTERN, 5, &pattern->mean, error) ||
            !column_time(r, PATTERN, 6, &pattern->deviation, error) ||
            !column_time(r, PATTERN, 7, &pattern->p50, error) ||
            !column_time(r, PATTERN, 8, &pattern->p90, error) ||
            !column_time(r, PATTERN, 9, &pattern->p99, error) ||
            !column_time(r, PATTERN, 10, &pattern->min, error) ||
            !column_time(r, PATTERN, 11, &pattern->max, error) ||
            !column_probability(r, PATTERN, 12, &pattern->probability, error) ||
            !column_label(r, PATTERN, 13, &pattern->label, error) ||
            !get_completion(r, pattern, error) || !get_doubt(r, pattern, error) ||
            !get_misassigned(r, pattern, error) || !get_drawn(r, pattern, error) ||
            !column_some(r, PATTERN, 21, &pattern->failed, error))
                return -1;
        pattern->id = path_pattern_id(pattern->label, pattern->signature);
        return 1;
}

static StoredHistogram column_histogram(const StoreReader *r, Table t, int column)
{
        const guint8 *data = sqlite3_column_blob(r->select[t], column);

        return (StoredHistogram){ data, (gsize)sqlite3_column_bytes(r->select[t], column) };
}

/* Place 0 alone has none. */
static gboolean get_parent_place(const StoreReader *r, StoredPatternNode *node, GError **error)
{
        gboolean is_root = column_is_null(r, PATTERN_NODE, 6);
        gint64 parent;

        node->parent = NO_PARENT;
        if (is_root && node->place == 0)
                return TRUE;
        if (!column_number(r, PATTERN_NODE, 6, 0, (gint64)node->place - 1, &parent, error))
                return FALSE;
        node->parent = (guint32)parent;
        return TRUE;
}

/* Of a node with a queue before workers. */
static gboolean get_waits(const StoreReader *r, StoredPatternNode *node, GError **error)
{
        gint64 workers = 0;

        node->own_queued_mean = 0;
        if (!column_is_null(r, PATTERN_NODE, 18) &&
            !column_number(r, PATTERN_NODE, 18, 1, G_MAXUINT32, &workers, error))
                return FALSE;
        node->workers = (guint32)workers;
        return column_stamp(r, PATTERN_NODE, 21, &node->own_queued_mean, error);
}

static const int time_columns[N_NODE_TIMES] = { 8, 9, 10, 11, 15, 16, 19, 20 };

int store_reader_next_pattern_node(StoreReader *r, StoredPatternNode *node, GError **error)
{
        int status = store_next_row(r, PATTERN_NODE, error);
        gint64 pattern, place, labels;

        if (status <= 0)
                return status;
        if (!column_number(r, PATTERN_NODE, 0, 1, r->rows[PATTERN], &pattern, error))
                return -1;
        if (pattern != r->pattern)
                r->place = 0;
        r->pattern = pattern;
        if (!column_number(r, PATTERN_NODE, 1, r->place, MIN(r->place, G_MAXUINT32 - 1), &place,
                           error) ||
            !column_time(r, PATTERN_NODE, 2, &node->latency_mean, error) ||
            !column_time(r, PATTERN_NODE, 3, &node->latency_p99, error) ||
            !column_time(r, PATTERN_NODE, 4, &node->own_mean, error) ||
            !column_time(r, PATTERN_NODE, 5, &node->own_p99, error))
                return -1;
        node->pattern = pattern - 1;
        node->place = place;
        r->place++;
        if (!get_parent_place(r, node, error) ||
            !column_node(r, PATTERN_NODE, 7, &node->node, error))
                return -1;
        for (NodeTime i = 0; i < N_NODE_TIMES; i++)
                node->times[i] = column_histogram(r, PATTERN_NODE, time_columns[i]);
        node->completion = column_histogram(r, PATTERN_NODE, 17);
        node->good = column_histogram(r, PATTERN_NODE, 28);
        node->n_labels = 0;
        if (!column_continues(r, PATTERN_NODE, 14, &node->continues, error) ||
            !column_label(r, PATTERN_NODE, 12, &node->label, error) || !get_waits(r, node, error) ||
            !get_faults(r, &node->faults, error))
                return -1;
        if (node->label) {
                if (!column_number(r, PATTERN_NODE, 13, 1, G_MAXUINT32, &labels, error))
                        return -1;
                node->n_labels = (guint32)labels;
        }
        return 1;
}

int store_reader_next_path(StoreReader *r, StoredPath *path, GError **error)
{
        int status = store_next_row(r, PATH, error);
        gint64 pattern, first_call, n_calls;

        if (status <= 0)
                return status;
        if (!row_check_id(r, PATH, error) ||
            !column_number(r, PATH, 1, 1, r->rows[PATTERN], &pattern, error) ||
            !column_time(r, PATH, 2, &path->start, error) ||
            !column_time(r, PATH, 3, &path->latency, error) ||
            !column_number(r, PATH, 4, r->next_call, MIN(r->next_call, G_MAXUINT32 - 1),
                           &first_call, error) ||
            !column_number(r, PATH, 5, 1, G_MAXUINT32 - first_call, &n_calls, error) ||
            !column_probability(r, PATH, 6, &path->probability, error))
                return -1;
        path->completion = path->latency;
        if (!column_stamp(r, PATH, 7, &path->completion, error))
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
        gboolean is_root = column_is_null(r, CALL, 2);
        gint64 next = MAX(r->path_in_hand + is_root, 1), path, parent;

        if (!column_number(r, CALL, 1, next, MIN(next, r->rows[PATH]), &path, error))
                return FALSE;
        call->path = path - 1;
        call->parent = NO_PARENT;
        if (is_root) {
                r->path_in_hand = path;
                r->first_call = r->rows[CALL];
                return TRUE;
        }
        if (!column_number(r, CALL, 2, r->first_call, r->rows[CALL] - 1, &parent, error))
                return FALSE;
        call->parent = parent - 1;
        return TRUE;
}

int store_reader_next_call(StoreReader *r, StoredCall *call, GError **error)
{
        int status = store_next_row(r, CALL, error);

        if (status == 0 && r->path_in_hand != r->rows[PATH]) {
                store_reader_fail(r, error,
                                  "calls of %" G_GINT64_FORMAT
                                  " paths, expected of %" G_GINT64_FORMAT,
                                  r->path_in_hand, r->rows[PATH]);
                return -1;
        }
        if (status <= 0)
                return status;
        if (!row_check_id(r, CALL, error) || !get_place_in_path(r, call, error) ||
            !column_node(r, CALL, 3, &call->caller, error) ||
            !column_node(r, CALL, 4, &call->callee, error) ||
            !column_time(r, CALL, 5, &call->start, error) ||
            !column_time(r, CALL, 6, &call->end, error) ||
            !column_probability(r, CALL, 8, &call->probability, error))
                return -1;
        call->id = (const char *)sqlite3_column_text(r->select[CALL], 7);
        call->id_length = sqlite3_column_bytes(r->select[CALL], 7);
        return 1;
}

int store_reader_next_trust(StoreReader *r, StoredTrust *trust, GError **error)
{
        int status = store_next_row(r, TRUST, error);

        if (status <= 0)
                return status;
        if (!column_node(r, TRUST, 0, &trust->node, error) ||
            !column_count(r, TRUST, 1, &trust->calls, error) ||
            !column_count(r, TRUST, 2, &trust->guessed, error) ||
            !column_probability(r, TRUST, 3, &trust->probability, error))
                return -1;
        return 1;
}

int store_reader_next_workers(StoreReader *r, StoredWorkers *workers, GError **error)
{
        WorkerLoad *load = &workers->load;
        gint64 n;
        int status = store_next_row(r, WORKER, error);

        if (status <= 0)
                return status;
        if (!column_node(r, WORKER, 0, &workers->node, error) ||
            !column_number(r, WORKER, 1, 1, G_MAXUINT32, &n, error) ||
            !column_count(r, WORKER, 2, &load->calls, error) ||
            !column_number(r, WORKER, 3, 1, G_MAXINT64, &load->served, error) ||
            !column_number(r, WORKER, 4, 0, G_MAXINT64, &load->waited, error))
                return -1;
        load->workers = (guint32)n;
        return 1;
}

static gboolean get_vertex_parent(const StoreReader *r, StoredVertex *vertex, GError **error)
{
        gint64 parent;

        vertex->parent = NO_PARENT;
        if (column_is_null(r, VERTEX, 1))
                return TRUE;
        if (!column_number(r, VERTEX, 1, 1, r->rows[VERTEX] - 1, &parent, error))
                return FALSE;
        vertex->parent = (guint32)parent - 1;
        return TRUE;
}

/* NULL where the path goes on, and in a store from before there was the column. */
static gboolean get_end(StoreReader *r, PathEnd *end, GError **error)
{
        const char *name;

        *end = PATH_GOES_ON;
        if (column_is_null(r, VERTEX, 5))
                return TRUE;
        if (!(name = column_text(r, VERTEX, 5, error)))
                return FALSE;
        for (PathEnd i = 1; i < N_PATH_ENDS; i++)
                if (!strcmp(name, path_end_name(i)))
                        *end = i;
        return *end != PATH_GOES_ON || row_fail(r, VERTEX, 5, "why a path ends", error);
}

int store_reader_next_vertex(StoreReader *r, StoredVertex *vertex, GError **error)
{
        int status = store_next_row(r, VERTEX, error);

        if (status <= 0)
                return status;
        if (!row_check_id(r, VERTEX, error) || !get_vertex_parent(r, vertex, error) ||
            !column_node(r, VERTEX, 2, &vertex->node, error) ||
            !column_count(r, VERTEX, 3, &vertex->count, error) ||
            !column_probability(r, VERTEX, 4, &vertex->probability, error) ||
            !get_end(r, &vertex->end, error))
                return -1;
        return 1;
}

int store_reader_next_vertex_delay(StoreReader *r, StoredVertexDelay *delay, GError **error)
{
        int status = store_next_row(r, VERTEX_DELAY, error);
        gint64 vertex;

        if (status <= 0)
                return status;
        if (!column_number(r, VERTEX_DELAY, 0, 1, r->rows[VERTEX], &vertex, error) ||
            !column_time(r, VERTEX_DELAY, 1, &delay->delay, error) ||
            !column_count(r, VERTEX_DELAY, 2, &delay->count, error))
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

gboolean store_reader_causes(StoreReader *r, const StoredPatternNode *stored, Histogram *causes,
                             GError **error)
{
        sqlite3_stmt *s = r->select[PATTERN_CAUSE];
        const char *name;
        guint cause;
        int status;

        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, (gint64)stored->pattern + 1);
        sqlite3_bind_int64(s, 2, stored->place);
        while ((status = store_next_row(r, PATTERN_CAUSE, error)) > 0) {
                StoredHistogram h = column_histogram(r, PATTERN_CAUSE, 1);

                if (!(name = column_text(r, PATTERN_CAUSE, 0, error)))
                        return FALSE;
                if (!way_cause_find(name, &cause))
                        return row_fail(r, PATTERN_CAUSE, 0, "a cause", error);
                if (!store_reader_histogram(r, &h, &causes[cause], error))
                        return FALSE;
        }
        return status == 0;
}

gboolean store_reader_append_node(StoreReader *r, const StoredPatternNode *stored, PathPattern *p,
                                  GError **error)
{
        PatternNode *node = path_pattern_append(p, stored->node, stored->parent);

        node->label = g_intern_string(stored->label);
        node->n_labels = stored->n_labels;
        node->continues = stored->continues;
        node->workers = stored->workers;
        node->faults = stored->faults;
        for (NodeTime i = 0; i < N_NODE_TIMES; i++)
                if (!store_reader_histogram(r, &stored->times[i], &node->times[i], error))
                        return FALSE;
        return node->network.sum == 0 ||
               store_reader_causes(r, stored, pattern_node_cause(node, 0), error);
}

/* "resent:200,sending:7", at most the network's time together. NULL: there is none. */
static gboolean get_causes(const StoreReader *r, PathCall *c, GError **error)
{
        const char *text =
                column_is_null(r, PATH_CALLS, 22) ? "" : column_text(r, PATH_CALLS, 22, error);
        g_auto(GStrv) causes = text ? g_strsplit(text, ",", -1) : NULL;
        gint64 rest = MAX(c->network, 0);

        for (guint i = 0; causes && causes[i]; i++) {
                char *time = strchr(causes[i], ':');
                guint cause;

                if (time)
                        *time++ = 0;
                if (!time || !way_cause_find(causes[i], &cause) ||
                    !g_ascii_string_to_signed(time, 10, 0, rest, &c->cause[cause], NULL))
                        return row_fail(r, PATH_CALLS, 22, "causes and their times", error);
                rest -= c->cause[cause];
        }
        return causes != NULL;
}

/* Without what would end it in a trace. */
static gboolean check_trace_id(const StoreReader *r, guint32 length, GError **error)
{
        const guchar *id = sqlite3_column_text(r->select[PATH_CALLS], 13);

        for (guint32 i = 0; i < length; i++)
                if (id[i] <= ' ' || id[i] == 0x7f)
                        return row_fail(r, PATH_CALLS, 13, "an id without blanks", error);
        return TRUE;
}

/* NULL of a call into a node that is not known to have a queue. */
static gboolean get_wait(const StoreReader *r, PathCall *c, GError **error)
{
        if (column_is_null(r, PATH_CALLS, 18) || column_is_null(r, PATH_CALLS, 19))
                return TRUE;
        c->workers = 1; /* or more: the pattern's node says it */
        /* Both times in queues have a sum. */
        return column_number(r, PATH_CALLS, 18, 0, PATH_TIME_LIMIT, &c->wait, error) &&
               column_number(r, PATH_CALLS, 19, 0,
                             MIN(MAX(c->own, 0), G_MAXINT64 - MAX(c->queued, 0)), &c->own_queued,
                             error);
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
                if (!column_number(r, PATH_CALLS, 1, (gint64)first + 1, (gint64)first + n, &parent,
                                   error))
                        return FALSE;
                c->parent = (guint32)(parent - 1 - first);
        } else if (!column_is_null(r, PATH_CALLS, 1)) {
                return row_fail(r, PATH_CALLS, 1, "none", error);
        }
        if (!column_number(r, PATH_CALLS, 2, 0, G_MAXUINT32 - 1, &at, error) ||
            !column_node(r, PATH_CALLS, 3, &c->caller, error) ||
            !column_node(r, PATH_CALLS, 4, &c->callee, error) ||
            !column_stamp(r, PATH_CALLS, 5, &c->start, error) ||
            !column_stamp(r, PATH_CALLS, 6, &c->enter, error) ||
            !column_stamp(r, PATH_CALLS, 7, &c->reply, error) ||
            !column_stamp(r, PATH_CALLS, 8, &c->end, error) ||
            !column_time(r, PATH_CALLS, 9, &c->own, error) ||
            !column_time(r, PATH_CALLS, 10, &c->network, error) ||
            !column_probability(r, PATH_CALLS, 11, &probability, error) ||
            !column_number(r, PATH_CALLS, 12, 0, G_MAXUINT32, &candidates, error) ||
            (!column_is_null(r, PATH_CALLS, 14) &&
             !column_number(r, PATH_CALLS, 14, 1, MIN(r->labels->len, G_MAXUINT16), &label,
                            error)) ||
            !column_continues(r, PATH_CALLS, 15, &c->continues, error) ||
            !column_stamp(r, PATH_CALLS, 16, &c->queued, error) ||
            (!column_is_null(r, PATH_CALLS, 17) &&
             !column_number(r, PATH_CALLS, 17, 0, PATH_TIME_LIMIT, &c->connect, error)) ||
            !column_stamp(r, PATH_CALLS, 20, &c->connecting, error) || !get_causes(r, c, error) ||
            !get_wait(r, c, error) || !column_outcome(r, PATH_CALLS, 21, &c->outcome, error))
                return FALSE;
        c->stamps =
                (guint8)((c->start != NO_TIME) << CALL_SENT | (c->enter != NO_TIME) << CALL_RECV |
                         (c->reply != NO_TIME) << RET_SENT | (c->end != NO_TIME) << RET_RECV);
        if (c->start == NO_TIME && c->enter == NO_TIME)
                return row_fail(r, PATH_CALLS, 5, "one of call_sent and call_recv", error);
        if (work_goes_on(c->continues) && c->reply == NO_TIME && c->end == NO_TIME) {
                c->stamps = (guint8)(c->stamps << (MSG_SENT - CALL_SENT));
                c->end = c->start == NO_TIME ? c->enter : c->start;
                c->reply = c->enter == NO_TIME ? c->start : c->enter;
        }
        if (c->reply == NO_TIME && c->end == NO_TIME)
                return row_fail(r, PATH_CALLS, 7, "one of ret_sent and ret_recv", error);
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
        while ((status = store_next_row(r, PATH_CALLS, error)) > 0) {
                if (!row_check_id(r, PATH_CALLS, error) ||
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
