/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A store of strangers: what reads one reads it to its end, and each view answers.
 */
#include <unistd.h>

#include "analysis/advise/advise.h"
#include "analysis/diff.h"
#include "analysis/report/report.h"
#include "analysis/trend/trend.h"
#include "analysis/variance/variance.h"
#include "analysis/whatif/whatif.h"
#include "export/export.h"
#include "store/store-query.h"
#include "store/stored-set.h"
#include "write/path-write.h"
#include "write/write-trend.h"
#include "write/write-why.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

/* One for the whole run. */
static const char *scratch_file(void)
{
        static char *path;

        if (!path) {
                int fd = g_file_open_tmp("ravel-fuzz-XXXXXX", &path, NULL);

                g_assert_cmpint(fd, >=, 0);
                close(fd);
        }
        return path;
}

static void check_error(gboolean ok, GError *error)
{
        g_assert_true(ok == (error == NULL));
        if (error)
                g_assert_true(g_utf8_validate(error->message, -1, NULL));
        g_clear_error(&error);
}

static void ask(const char *path, const char *sql)
{
        GError *error = NULL;
        g_autoptr(StoreQuery) query = store_query_new(path, sql, &error);
        int status = query ? 1 : -1;

        for (guint rows = 0; status > 0 && rows < 1000; rows++)
                if ((status = store_query_next(query, &error)) > 0)
                        for (guint i = 0; i < store_query_columns(query); i++)
                                store_query_value(query, i);
        check_error(status >= 0, error);
}

/* The same six times over. */
static void compare_many(const char *path)
{
        char *paths[SERIES_FEWEST];
        GError *error = NULL;
        g_autoptr(Trend) trend = NULL;
        g_autoptr(GString) page = g_string_new(NULL);

        for (guint i = 0; i < SERIES_FEWEST; i++)
                paths[i] = (char *)path;
        trend = trend_new(paths, SERIES_FEWEST, TREND_BY_STORE, &error);
        check_error(trend != NULL, error);
        if (trend)
                trend_write_page(trend, page);
}

static void export_as(const char *path, const char *format)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        GError *error = NULL;
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, &error);
        g_autoptr(OutputFile) out = reader ? output_file_new("/dev/null", FALSE, &error) : NULL;

        gboolean ok = out && export_writer_lookup(format)(reader, nodes, out, &error);

        check_error(ok, error);
}

/* In the formats that no other program draws. */
static void show(const char *path)
{
        static const char *const formats[] = { "text", "json", "tsv" };
        g_autoptr(NodeTable) nodes = node_table_new();
        GError *error = NULL;
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, &error);
        g_autoptr(StoredSet) stored = reader ? stored_set_new(reader, nodes, &error) : NULL;
        g_autofree guint32 *rank = stored ? path_set_rank(stored->set, RANK_P99) : NULL;

        for (guint i = 0; stored && i < G_N_ELEMENTS(formats); i++) {
                PathWriteOptions write = { .rank = rank, .n_patterns = path_set_size(stored->set) };
                g_autoptr(OutputFile) out = output_file_new("/dev/null", FALSE, NULL);

                g_assert_true(path_writer_lookup(formats[i])(stored->set, &write, out, NULL));
        }
        check_error(stored != NULL, error);
}

static void explain(const char *path)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        GError *error = NULL;
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, &error);
        g_autoptr(Why) why = reader ? why_new(reader, nodes, &error) : NULL;
        g_autoptr(GArray) slowest = why ? why_slowest(why, 3) : NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        WhyBurst burst;

        check_error(why != NULL, error);
        for (guint i = 0; slowest && i < slowest->len; i++) {
                guint64 id = g_array_index(slowest, guint64, i);
                g_autoptr(WhyRequest) request = why_request(why, id);

                g_free(why_display_filter(why, id, NULL));
                for (WhyFormat format = WHY_TEXT; format <= WHY_JSON; format++)
                        why_write_request(text, request, format, TRUE, 40);
        }
        if (why) {
                g_autoptr(GPtrArray) kinds = why_kinds(why, &burst);
                g_autoptr(GArray) pauses = why_pauses(why);
                g_autoptr(StoreReader) again = store_reader_new(path, nodes, NULL);
                g_autoptr(WhyWaiting) waiting = again ? why_waiting_new(again, nodes, NULL) : NULL;

                for (WhyFormat format = WHY_TEXT; waiting && format <= WHY_JSON; format++)
                        why_write_kinds(text, kinds, &burst, pauses, waiting, why_requests(why),
                                        format, 80);
        }
        g_assert_true(g_utf8_validate(text->str, (gssize)text->len, NULL));
}

static void explain_waits(const char *path)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        GError *error = NULL;
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, &error);
        g_autoptr(WhyWaiting) waiting = reader ? why_waiting_new(reader, nodes, &error) : NULL;
        g_autoptr(GString) text = g_string_new(NULL);

        check_error(waiting != NULL, error);
        for (WhyFormat format = WHY_TEXT; waiting && format <= WHY_JSON; format++)
                why_write_waiting(text, waiting, format, 40);
        g_assert_true(g_utf8_validate(text->str, (gssize)text->len, NULL));
}

/* However few requests there are. */
static void divide_variance(const char *path, gboolean completion)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        const VarianceOptions options = { .tail = 0.99, .completion = completion, .fewest = 1 };
        GError *error = NULL;
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, &error);
        g_autoptr(Variance) v = reader ? variance_new(reader, nodes, &options, &error) : NULL;

        check_error(v != NULL, error);
        for (guint i = 0; v && i < v->entries->len; i++) {
                const VarianceEntry *e = g_ptr_array_index(v->entries, i);
                double sum = 0, size = 0;

                for (guint k = 0; k < e->rows->len; k++) {
                        sum += g_array_index(e->rows, VarianceRow, k).all;
                        size += ABS(g_array_index(e->rows, VarianceRow, k).all);
                }
                g_assert_true(e->rows->len == 0 || ABS(sum - 1) < 1e-9 * size);
        }
}

static void advise(const char *path)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        GError *error = NULL;
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, &error);
        g_autoptr(Advice) advice = reader ? advice_new(reader, nodes, &error) : NULL;

        check_error(advice != NULL, error);
}

/* With each kind of change of the first two nodes. */
static void change_something(const char *path)
{
        static const char *const forms[] = { "own(%s)-2ms",       "workers(%s)=1", "hedge(%s@p90)",
                                             "hit(%s)=0.5",       "drop(%s>%s)",   "rate*2",
                                             "parallel(%s:%s,%s)" };

        for (guint i = 0; i <= G_N_ELEMENTS(forms); i++) {
                g_autoptr(NodeTable) nodes = node_table_new();
                GError *error = NULL;
                g_autoptr(StoreReader) reader = store_reader_new(path, nodes, &error);
                g_autoptr(GString) text = g_string_new(i ? forms[i - 1] : NULL);

                if (!reader || node_table_size(nodes) < 2) {
                        check_error(reader != NULL, error);
                        return;
                }
                for (guint k = 0; strstr(text->str, "%s"); k = 1)
                        g_string_replace(text, "%s", node_table_written(nodes, k), 1);
                g_autoptr(GArray) changes = whatif_changes_parse(&text->str, i > 0, nodes, &error);
                g_autoptr(WhatIf) w = changes ? whatif_new(reader, nodes, changes, &error) : NULL;
                check_error(w != NULL, error);
        }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        static const char *const formats[] = { "otlp", "folded", "chrome", "tsv" };
        static const char *const questions[] = {
                "SELECT * FROM request",       "SELECT * FROM request_node",
                "SELECT * FROM pattern_hour",  "SELECT * FROM pattern_callee",
                "SELECT * FROM repeated_call", "SELECT * FROM slowest_request",
                "SELECT p99(own) FROM call",   "SELECT * FROM hop",
                "SELECT * FROM before",        "SELECT * FROM request_excess",
                "SELECT * FROM node_hour",
        };
        const char *path = scratch_file();
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) a = NULL, b = NULL;
        GError *error = NULL;

        g_assert_true(g_file_set_contents_full(path, (const char *)data, (gssize)n,
                                               G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        if ((a = store_reader_new(path, nodes, &error))) {
                g_autoptr(Report) report = report_new(a, nodes, &error);

                check_error(report != NULL, error);
        } else {
                check_error(FALSE, error);
                return 0;
        }
        g_clear_pointer(&a, store_reader_free);
        error = NULL;
        if ((a = store_reader_new(path, nodes, &error)) &&
            (b = store_reader_new(path, nodes, &error))) {
                g_autoptr(Diff) diff = diff_new(a, b, nodes, &error);

                check_error(diff != NULL, error);
        }
        compare_many(path);
        for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
                export_as(path, formats[i]);
        show(path);
        explain(path);
        explain_waits(path);
        divide_variance(path, FALSE);
        divide_variance(path, TRUE);
        change_something(path);
        advise(path);
        for (guint i = 0; i < G_N_ELEMENTS(questions); i++)
                ask(path, questions[i]);
        return 0;
}
