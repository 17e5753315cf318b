/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rows of a store, table by table, and the calls of one path at any time.
 */
#include <string.h>

#include "base/each.h"
#include "base/printable.h"
#include "store/store-columns.h"

int store_reader_next_capture(StoreReader *r, StoredCapture *capture, GError **error)
{
        Row row = row_next(r, CAPTURE, error);

        capture->name = row_text(&row, 0);
        capture->sha256 = row_some_text(&row, 1);
        capture->facts = row_text(&row, 2);
        return row.status;
}

/* As it is written today: stores of before left some characters that nobody sees. */
static const char *row_signature(Row *row)
{
        const char *stored = row_text(row, 1);
        GString *signature = row->r->signature;

        g_string_truncate(signature, 0);
        printable_append(signature, stored ? stored : "", -1, PRINTABLE_FIELD);
        return signature->str;
}

int store_reader_next_tag(StoreReader *r, StoredTag *tag, GError **error)
{
        Row row = row_next(r, TAG, error);

        tag->id = (guint32)row_number(&row, 0, 1, G_MAXUINT16);
        tag->name = row_text(&row, 1);
        tag->value = row_text(&row, 2);
        return row.status;
}

int store_reader_next_doubt(StoreReader *r, StoredDoubt *doubt, GError **error)
{
        Row row = row_next(r, DOUBT, error);

        row_check_id(&row);
        doubt->text = row_text(&row, 1);
        doubt->reason = row_text(&row, 2);
        doubt->caller = row_is_null(&row, 3) ? NO_NODE : row_node(&row, 3);
        doubt->callee = row_node(&row, 4);
        doubt->count = row_count(&row, 5);
        doubt->of = row_count(&row, 6);
        doubt->kind = row_some_text(&row, 7);
        doubt->bytes = row_some(&row, 8, 0, G_MAXINT64);
        doubt->of_bytes = row_some(&row, 9, 0, G_MAXINT64);
        return row.status;
}

/* The row beside that of a pattern. */
static int get_doubt(Row *pattern)
{
        Row row = { .status = 0 };
        int doubt;

        if (pattern->status > 0)
                row = row_next(pattern->r, PATTERN_DOUBT, pattern->error);
        doubt = (int)row_some(&row, 0, 1, G_MAXINT) - 1;
        if (row.status < 0)
                pattern->status = -1;
        return doubt;
}

/* A number of instances, which need not be whole. */
static double row_mean_count(Row *row, int column)
{
        double count = sqlite3_column_double(row->r->select[row->table], column);

        if (row->status > 0 && !(count >= 0 && count <= (double)G_MAXUINT32))
                row_fail(row, column, "a number of paths");
        return count;
}

/* NULL where nothing goes on. */
static void get_completion(Row *row, StoredPattern *pattern)
{
        pattern->goes_on = !row_is_null(row, 14);
        pattern->completion.total = pattern->goes_on ? row_time(row, 14) : pattern->total;
        pattern->completion.mean = pattern->goes_on ? row_time(row, 15) : pattern->mean;
        pattern->completion.p50 = pattern->goes_on ? row_time(row, 16) : pattern->p50;
        pattern->completion.p99 = pattern->goes_on ? row_time(row, 17) : pattern->p99;
}

/* NULL of what is nested. */
static guint8 row_continues(Row *row, int column)
{
        const char *name = row_some_text(row, column);

        if (!name)
                return WORK_NESTED;
        for (guint8 i = WORK_GOES_ON; i <= WORK_UNANSWERED; i++)
                if (strcmp(name, path_continues_name(i)) == 0)
                        return i;
        row_fail(row, column, "how it goes on");
        return WORK_NESTED;
}

/* NULL is none. */
static Outcome row_outcome(Row *row, int column)
{
        const char *text = row_some_text(row, column);
        Outcome outcome = text ? outcome_read(text, strlen(text)) : OUTCOME_OK;

        if (text && outcome == OUTCOME_OK)
                row_fail(row, column, "an outcome");
        return outcome;
}

/* Errors of a node. Their own times add up to less than a gint128 for any number of nodes. */
#define MOST_ERRORS ((guint64)1 << 40)

/* NULL in stores from before there were outcomes. */
static void get_faults(Row *row, NodeFaults *f)
{
        f->errors = row_some(row, 22, 0, G_MAXINT64);
        if (f->errors > MOST_ERRORS)
                row_fail(row, 22, "a number of errors");
        f->own = (gint128)row_stamp(row, 23, 0) * (gint128)f->errors;
        f->outcome = row_outcome(row, 24);
        f->culprits = row_some(row, 25, 0, G_MAXINT64);
        f->retries = row_some(row, 26, 0, G_MAXINT64);
        f->lost = row_stamp(row, 27, 0);
}

int store_reader_next_pattern(StoreReader *r, StoredPattern *pattern, GError **error)
{
        Row row = row_next(r, PATTERN, error);

        if (row.status <= 0)
                return row.status;
        row_check_id(&row);
        pattern->signature = row_signature(&row);
        pattern->client = row_node(&row, 2);
        pattern->count = row_count(&row, 3);
        pattern->total = row_time(&row, 4);
        pattern->mean = row_time(&row, 5);
        pattern->deviation = row_time(&row, 6);
        pattern->p50 = row_time(&row, 7);
        pattern->p90 = row_time(&row, 8);
        pattern->p99 = row_time(&row, 9);
        pattern->min = row_time(&row, 10);
        pattern->max = row_time(&row, 11);
        pattern->probability = row_probability(&row, 12);
        pattern->label = row_some_text(&row, 13);
        get_completion(&row, pattern);
        pattern->doubt = get_doubt(&row);
        pattern->misassigned = row_some(&row, 18, 0, 1) != 0;
        pattern->is_drawn = !row_is_null(&row, 19);
        pattern->drawn = row_mean_count(&row, 19);
        pattern->drawn_error = row_mean_count(&row, 20);
        pattern->failed = row_some(&row, 21, 0, G_MAXINT64);
        pattern->id = path_pattern_id(pattern->label, pattern->signature);
        return row.status;
}

static StoredHistogram row_histogram(const Row *row, int column)
{
        sqlite3_stmt *s = row->r->select[row->table];
        const guint8 *data = sqlite3_column_blob(s, column);

        return (StoredHistogram){ data, (gsize)sqlite3_column_bytes(s, column) };
}

static const int time_columns[N_NODE_TIMES] = { 8, 9, 10, 11, 15, 16, 19, 20 };

int store_reader_next_pattern_node(StoreReader *r, StoredPatternNode *node, GError **error)
{
        Row row = row_next(r, PATTERN_NODE, error);
        gint64 pattern = row_number(&row, 0, 1, r->rows[PATTERN]);

        if (row.status <= 0)
                return row.status;
        if (pattern != r->pattern)
                r->place = 0;
        r->pattern = pattern;
        node->pattern = (guint32)pattern - 1;
        node->place = (guint32)row_number(&row, 1, r->place, MIN(r->place, G_MAXUINT32 - 1));
        r->place++;
        node->latency_mean = row_time(&row, 2);
        node->latency_p99 = row_time(&row, 3);
        node->own_mean = row_time(&row, 4);
        node->own_p99 = row_time(&row, 5);
        node->parent = NO_PARENT; /* of place 0 alone */
        if (node->place > 0 || !row_is_null(&row, 6))
                node->parent = (guint32)row_number(&row, 6, 0, (gint64)node->place - 1);
        node->node = row_node(&row, 7);
        for (NodeTime i = 0; i < N_NODE_TIMES; i++)
                node->times[i] = row_histogram(&row, time_columns[i]);
        node->completion = row_histogram(&row, 17);
        node->good = row_histogram(&row, 28);
        node->continues = row_continues(&row, 14);
        node->label = row_some_text(&row, 12);
        node->workers = (guint32)row_some(&row, 18, 1, G_MAXUINT32);
        node->own_queued_mean = row_stamp(&row, 21, 0);
        get_faults(&row, &node->faults);
        node->n_labels = node->label ? (guint32)row_number(&row, 13, 1, G_MAXUINT32) : 0;
        return row.status;
}

int store_reader_next_path(StoreReader *r, StoredPath *path, GError **error)
{
        Row row = row_next(r, PATH, error);
        gint64 next = r->next_call, first_call;

        row_check_id(&row);
        path->pattern = (guint32)row_number(&row, 1, 1, r->rows[PATTERN]) - 1;
        path->start = row_time(&row, 2);
        path->latency = row_time(&row, 3);
        first_call = row_number(&row, 4, next, MIN(next, G_MAXUINT32 - 1));
        path->first_call = (guint32)first_call - 1;
        path->n_calls = (guint32)row_number(&row, 5, 1, G_MAXUINT32 - first_call);
        path->probability = row_probability(&row, 6);
        path->completion = row_stamp(&row, 7, path->latency);
        r->next_call = first_call + path->n_calls;
        return row.status;
}

/* The calls of a path lie together, its root first, paths in order. */
static void get_place_in_path(Row *row, StoredCall *call)
{
        StoreReader *r = row->r;
        gboolean is_root = row_is_null(row, 2);
        gint64 next = MAX(r->path_in_hand + is_root, 1);
        gint64 path = row_number(row, 1, next, MIN(next, r->rows[PATH]));

        call->path = (guint32)path - 1;
        call->parent = NO_PARENT;
        if (!is_root) {
                call->parent = (guint32)row_number(row, 2, r->first_call, r->rows[CALL] - 1) - 1;
        } else if (row->status > 0) {
                r->path_in_hand = path;
                r->first_call = r->rows[CALL];
        }
}

int store_reader_next_call(StoreReader *r, StoredCall *call, GError **error)
{
        Row row = row_next(r, CALL, error);

        if (row.status == 0 && r->path_in_hand != r->rows[PATH]) {
                store_reader_fail(r, error,
                                  "calls of %" G_GINT64_FORMAT
                                  " paths, expected of %" G_GINT64_FORMAT,
                                  r->path_in_hand, r->rows[PATH]);
                return -1;
        }
        if (row.status <= 0)
                return row.status;
        row_check_id(&row);
        get_place_in_path(&row, call);
        call->caller = row_node(&row, 3);
        call->callee = row_node(&row, 4);
        call->start = row_time(&row, 5);
        call->end = row_time(&row, 6);
        call->probability = row_probability(&row, 8);
        call->id = (const char *)sqlite3_column_text(r->select[CALL], 7);
        call->id_length = (guint32)sqlite3_column_bytes(r->select[CALL], 7);
        return row.status;
}

int store_reader_next_trust(StoreReader *r, StoredTrust *trust, GError **error)
{
        Row row = row_next(r, TRUST, error);

        trust->node = row_node(&row, 0);
        trust->calls = row_count(&row, 1);
        trust->guessed = row_count(&row, 2);
        trust->probability = row_probability(&row, 3);
        return row.status;
}

int store_reader_next_workers(StoreReader *r, StoredWorkers *workers, GError **error)
{
        Row row = row_next(r, WORKER, error);

        workers->node = row_node(&row, 0);
        workers->load.workers = (guint32)row_number(&row, 1, 1, G_MAXUINT32);
        workers->load.calls = row_count(&row, 2);
        workers->load.served = row_number(&row, 3, 1, G_MAXINT64);
        workers->load.waited = row_number(&row, 4, 0, G_MAXINT64);
        return row.status;
}

/* NULL where the path goes on, and in a store from before there was the column. */
static PathEnd row_end(Row *row, int column)
{
        const char *name = row_some_text(row, column);

        if (!name)
                return PATH_GOES_ON;
        for (PathEnd i = 1; i < N_PATH_ENDS; i++)
                if (!strcmp(name, path_end_name(i)))
                        return i;
        row_fail(row, column, "why a path ends");
        return PATH_GOES_ON;
}

int store_reader_next_vertex(StoreReader *r, StoredVertex *vertex, GError **error)
{
        Row row = row_next(r, VERTEX, error);

        row_check_id(&row);
        vertex->parent = NO_PARENT;
        if (!row_is_null(&row, 1))
                vertex->parent = (guint32)row_number(&row, 1, 1, r->rows[VERTEX] - 1) - 1;
        vertex->node = row_node(&row, 2);
        vertex->count = row_count(&row, 3);
        vertex->probability = row_probability(&row, 4);
        vertex->end = row_end(&row, 5);
        return row.status;
}

int store_reader_next_vertex_delay(StoreReader *r, StoredVertexDelay *delay, GError **error)
{
        Row row = row_next(r, VERTEX_DELAY, error);

        delay->vertex = (guint32)row_number(&row, 0, 1, r->rows[VERTEX]) - 1;
        delay->delay = row_time(&row, 1);
        delay->count = row_count(&row, 2);
        return row.status;
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
        guint cause;
        Row row;

        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, (gint64)stored->pattern + 1);
        sqlite3_bind_int64(s, 2, stored->place);
        while ((row = row_next(r, PATTERN_CAUSE, error)).status > 0) {
                StoredHistogram h = row_histogram(&row, 1);
                const char *name = row_text(&row, 0);

                if (name && !way_cause_find(name, &cause))
                        row_fail(&row, 0, "a cause");
                if (row.status < 0 || !store_reader_histogram(r, &h, &causes[cause], error))
                        return FALSE;
        }
        return row.status == 0;
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
static void get_causes(Row *row, PathCall *c)
{
        const char *text = row_some_text(row, 22);
        g_auto(GStrv) causes = text ? g_strsplit(text, ",", -1) : NULL;
        gint64 rest = MAX(c->network, 0);

        for (guint i = 0; causes && causes[i]; i++) {
                char *time = strchr(causes[i], ':');
                guint cause;

                if (time)
                        *time++ = 0;
                if (!time || !way_cause_find(causes[i], &cause) ||
                    !g_ascii_string_to_signed(time, 10, 0, rest, &c->cause[cause], NULL)) {
                        row_fail(row, 22, "causes and their times");
                        return;
                }
                rest -= c->cause[cause];
        }
}

/* NULL of a call into a node that is not known to have a queue. */
static void get_wait(Row *row, PathCall *c)
{
        if (row_is_null(row, 18) || row_is_null(row, 19))
                return;
        c->workers = 1; /* or more: the pattern's node says it */
        c->wait = row_number(row, 18, 0, PATH_TIME_LIMIT);
        /* Both times in queues have a sum. */
        c->own_queued = row_number(row, 19, 0, MIN(MAX(c->own, 0), G_MAXINT64 - MAX(c->queued, 0)));
}

/* At the caller and at the callee: where one is not known, the other stands for both. */
static void get_stamps(Row *row, PathCall *c)
{
        c->stamps =
                (guint8)((c->start != NO_TIME) << CALL_SENT | (c->enter != NO_TIME) << CALL_RECV |
                         (c->reply != NO_TIME) << RET_SENT | (c->end != NO_TIME) << RET_RECV);
        if (row->status > 0 && c->start == NO_TIME && c->enter == NO_TIME)
                row_fail(row, 5, "one of call_sent and call_recv");
        if (work_goes_on(c->continues) && c->reply == NO_TIME && c->end == NO_TIME) {
                c->stamps = (guint8)(c->stamps << (MSG_SENT - CALL_SENT));
                c->end = c->start == NO_TIME ? c->enter : c->start;
                c->reply = c->enter == NO_TIME ? c->start : c->enter;
        }
        if (row->status > 0 && c->reply == NO_TIME && c->end == NO_TIME)
                row_fail(row, 7, "one of ret_sent and ret_recv");
        c->start = c->start == NO_TIME ? c->enter : c->start;
        c->enter = c->enter == NO_TIME ? c->start : c->enter;
        c->reply = c->reply == NO_TIME ? c->end : c->reply;
        c->end = c->end == NO_TIME ? c->reply : c->end;
}

/* The id in the trace, without what would end it there. */
static void check_trace_id(Row *row, guint32 length)
{
        const guchar *id = sqlite3_column_text(row->r->select[PATH_CALLS], 13);

        for (guint32 i = 0; row->status > 0 && i < length; i++)
                if (id[i] <= ' ' || id[i] == 0x7f)
                        row_fail(row, 13, "an id without blanks");
}

/* The call that comes after n others of its path, whose first is the call first. */
static void get_path_call(Row *row, guint32 first, guint32 n, PathCall *c, guint32 *place)
{
        *c = (PathCall){ .parent = NO_PARENT, .call = first + n };
        if (n > 0)
                c->parent = (guint32)(row_number(row, 1, (gint64)first + 1, (gint64)first + n) - 1 -
                                      first);
        else if (!row_is_null(row, 1))
                row_fail(row, 1, "none");
        *place = (guint32)row_number(row, 2, 0, G_MAXUINT32 - 1);
        c->caller = row_node(row, 3);
        c->callee = row_node(row, 4);
        c->start = row_stamp(row, 5, NO_TIME);
        c->enter = row_stamp(row, 6, NO_TIME);
        c->reply = row_stamp(row, 7, NO_TIME);
        c->end = row_stamp(row, 8, NO_TIME);
        c->own = row_time(row, 9);
        c->network = row_time(row, 10);
        c->probability = (float)row_probability(row, 11);
        c->candidates = (guint32)row_number(row, 12, 0, G_MAXUINT32);
        c->label = (guint16)row_some(row, 14, 1, MIN(row->r->labels->len, G_MAXUINT16));
        c->tags = (guint16)row_some(row, 23, 1, G_MAXUINT16);
        c->connection = (guint32)row_some(row, 24, 1, G_MAXUINT32);
        c->transaction = row_some(row, 25, 0, 1) != 0;
        c->call_bytes = row_some(row, 26, 0, G_MAXINT64);
        c->ret_bytes = row_some(row, 27, 0, G_MAXINT64);
        c->continues = row_continues(row, 15);
        c->queued = row_stamp(row, 16, 0);
        c->connect = row_some(row, 17, 0, PATH_TIME_LIMIT);
        c->connecting = row_stamp(row, 20, 0);
        get_causes(row, c);
        get_wait(row, c);
        c->outcome = row_outcome(row, 21);
        get_stamps(row, c);
        c->id_length = (guint32)sqlite3_column_bytes(row->r->select[PATH_CALLS], 13);
        check_trace_id(row, c->id_length);
}

/* Now that no more come, which might move them. */
static void set_ids(const StoreReader *r, GArray *calls)
{
        const char *id = r->ids->str;

        EACH (PathCall, call, calls) {
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
        Row row;

        g_array_set_size(calls, 0);
        g_array_set_size(places, 0);
        g_string_truncate(r->ids, 0);
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, (gint64)path->first_call + 1);
        sqlite3_bind_int64(s, 2, (gint64)path->first_call + path->n_calls);
        r->rows[PATH_CALLS] = path->first_call;
        while ((row = row_next(r, PATH_CALLS, error)).status > 0) {
                row_check_id(&row);
                get_path_call(&row, path->first_call, n++, &call, &place);
                if (row.status < 0)
                        return FALSE;
                if (call.id_length > 0)
                        g_string_append_len(r->ids, (const char *)sqlite3_column_text(s, 13),
                                            call.id_length);
                g_array_append_val(calls, call);
                g_array_append_val(places, place);
        }
        set_ids(r, calls);
        if (row.status < 0 || n == path->n_calls)
                return row.status == 0;
        return store_reader_fail(r, error, "%u calls of a path, expected %u", n, path->n_calls);
}
