/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "tests/unit/scratch.h"
#include "watch/consumers.h"

enum { OPERATIONS = 300, KEPT = 200 };

typedef struct {
        NodeTable *nodes;
        GPtrArray *labels;
        gpointer metrics;
        char *path;
} Fixture;

static void set_up(Fixture *f)
{
        char **file = watch_metrics.options[0].arg_data;

        f->nodes = node_table_new();
        node_table_add(f->nodes, "client", 6);
        node_table_add(f->nodes, "a\"b\\c\n\xff", 7);
        f->labels = g_ptr_array_new_with_free_func(g_free);
        for (guint i = 0; i < OPERATIONS; i++)
                g_ptr_array_add(f->labels, g_strdup_printf("GET /%u", i));
        f->path = scratch_path("metrics.prom");
        *file = f->path;
        g_assert_true(watch_metrics.begin(NULL, &f->metrics, NULL));
}

static void tear_down(Fixture *f)
{
        watch_metrics.end(f->metrics, TRUE);
        g_unlink(f->path);
        g_free(f->path);
        g_ptr_array_unref(f->labels);
        node_table_free(f->nodes);
}

/* Request i of operation i takes i + 1 ms, in windows of 10 s. */
static void add_window(Fixture *f, guint first, guint n)
{
        PathSet *set = path_set_new(f->nodes, SIBLINGS_MULTISET);
        WatchWindow w = { .to = G_GINT64_CONSTANT(10000000000), .set = set, .in_time = TRUE };

        path_set_set_labels(set, f->labels);
        for (guint i = first; i < first + n; i++) {
                gint64 end = (gint64)(i + 1) * 1000000;
                PathCall call = { .parent = NO_PARENT,
                                  .caller = 0,
                                  .callee = 1,
                                  .reply = end,
                                  .end = end,
                                  .probability = 1,
                                  .family = 1,
                                  .label = i + 1 };

                g_assert_true(path_set_add(set, &call, 1, NULL));
        }
        watch_window_sum(&w);
        g_assert_true(watch_metrics.window(f->metrics, &w, NULL));
        watch_window_clear(&w);
        path_set_free(set);
}

/* The value of a sample, as text; NULL: there is none. The caller's to free. */
static char *read_sample(const Fixture *f, const char *name)
{
        g_autofree char *text = NULL;
        g_autofree char *start = g_strconcat("\n", name, " ", NULL);
        const char *at;

        g_assert_true(g_file_get_contents(f->path, &text, NULL, NULL));
        at = strstr(text, start);
        return at ? g_strndup(at + strlen(start), strcspn(at + strlen(start), "\n")) : NULL;
}

#define ASSERT_SAMPLE(f, name, value)                                                              \
        do {                                                                                       \
                g_autofree char *is = read_sample(f, name);                                        \
                g_assert_cmpstr(is, ==, value);                                                    \
        } while (0)

/* The longest have series of their own, which stay; all others are "other". */
static void test_bound(void)
{
        Fixture f;

        set_up(&f);
        ASSERT_SAMPLE(&f, "ravel_windows_total", "0");
        add_window(&f, 0, OPERATIONS);
        ASSERT_SAMPLE(&f, "ravel_requests_total{operation=\"GET /299\"}", "1");
        ASSERT_SAMPLE(&f, "ravel_requests_total{operation=\"GET /100\"}", "1");
        ASSERT_SAMPLE(&f, "ravel_requests_total{operation=\"GET /99\"}", NULL);
        ASSERT_SAMPLE(&f, "ravel_requests_total{operation=\"other\"}", "100");
        ASSERT_SAMPLE(&f, "ravel_request_p50_seconds{operation=\"GET /299\"}", "0.3");
        add_window(&f, 0, 150);
        ASSERT_SAMPLE(&f, "ravel_windows_total", "2");
        ASSERT_SAMPLE(&f, "ravel_requests_total{operation=\"GET /299\"}", "1");
        ASSERT_SAMPLE(&f, "ravel_request_p50_seconds{operation=\"GET /299\"}", "NaN");
        ASSERT_SAMPLE(&f, "ravel_requests_total{operation=\"GET /100\"}", "2");
        ASSERT_SAMPLE(&f, "ravel_requests_total{operation=\"other\"}", "200");
        tear_down(&f);
}

/* Names are any bytes. Buckets add up. */
static void test_names(void)
{
        static const char node[] = "node=\"a\\\"b\\\\c\\n\xef\xbf\xbd\"";
        Fixture f;

        set_up(&f);
        add_window(&f, 0, 10);
        for (const char *const *row =
                     (const char *const[]){
                             "ravel_calls_total{%s}", "10", "ravel_own_seconds_total{%s}", "0.055",
                             "ravel_call_duration_seconds_sum{%s}", "0.055",
                             "ravel_call_duration_seconds_count{%s}", "10",
                             "ravel_call_duration_seconds_bucket{%s,le=\"0.0005\"}", "0",
                             "ravel_call_duration_seconds_bucket{%s,le=\"0.0025\"}", "2",
                             "ravel_call_duration_seconds_bucket{%s,le=\"0.025\"}", "10",
                             "ravel_call_duration_seconds_bucket{%s,le=\"+Inf\"}", "10", NULL };
             *row; row += 2) {
                GString *name = g_string_new(*row);

                g_string_replace(name, "%s", node, 1);
                ASSERT_SAMPLE(&f, name->str, row[1]);
                g_string_free(name, TRUE);
        }
        tear_down(&f);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/metrics/bound", test_bound);
        g_test_add_func("/metrics/names", test_names);
        scratch_make();
        int status = g_test_run();
        scratch_remove();
        return status;
}
