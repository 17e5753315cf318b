/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel trend STORE... | DIR: since when a system is slower.
 */
#include <string.h>

#include "analysis/trend/trend-condition.h"
#include "base/each.h"
#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/file-kind.h"
#include "tracefmt/output-file.h"
#include "write/write-trend.h"

enum { MAX_FAILURES = 10 };

typedef struct {
        const char *text;
        TrendCondition condition;
} FailOn;

static struct {
        char *format, *output, *by;
        GArray *conditions; /* of FailOn */
} options;

static gboolean parse_fail_on(const char *option, const char *value, gpointer data, GError **error)
{
        FailOn f = { .text = value };

        (void)option;
        (void)data;
        if (!trend_condition_parse(value, strlen(value), &f.condition, error))
                return FALSE;
        if (!options.conditions)
                options.conditions = g_array_new(FALSE, FALSE, sizeof(FailOn));
        f.text = g_strdup(value);
        g_array_append_val(options.conditions, f);
        return TRUE;
}

static const char *const formats[] = { "text", "tsv", "json", "html", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { "--by", &options.by, trend_unit_names },
                                      { .option = NULL } };

static const GOptionEntry entries[] = {
        { "by", 0, 0, G_OPTION_ARG_STRING, &options.by,
          "Compare each store, hour or day (default store)", "UNIT" },
        { "fail-on", 0, 0, G_OPTION_ARG_CALLBACK, parse_fail_on,
          "Exit 1 if a change exceeds it: own>+3%/week", "CONDITION" },
        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
          "text, tsv, json or html (default text)", "FORMAT" },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
          "Write to FILE instead of standard output", "FILE" },
        G_OPTION_ENTRY_NULL
};

/* --- stores ---------------------------------------------------------------- */

/* "s2" before "s10": digits by their number. */
static int compare_names(const void *va, const void *vb)
{
        const char *a = *(char *const *)va, *b = *(char *const *)vb;

        while (*a && *b) {
                gsize n_a, n_b;
                int order;

                if (!g_ascii_isdigit(*a) || !g_ascii_isdigit(*b)) {
                        if (*a != *b)
                                return (guchar)*a < (guchar)*b ? -1 : 1;
                        a++;
                        b++;
                        continue;
                }
                for (; *a == '0' && g_ascii_isdigit(a[1]); a++)
                        ;
                for (; *b == '0' && g_ascii_isdigit(b[1]); b++)
                        ;
                n_a = strspn(a, "0123456789");
                n_b = strspn(b, "0123456789");
                order = n_a != n_b ? (n_a < n_b ? -1 : 1) : strncmp(a, b, n_a);
                if (order)
                        return order;
                a += n_a;
                b += n_b;
        }
        return *a ? 1 : *b ? -1 : strcmp(*(char *const *)va, *(char *const *)vb);
}

/* All stores in a folder, by name. */
static gboolean add_folder(GPtrArray *paths, const char *folder, GError **error)
{
        g_autoptr(GPtrArray) found = g_ptr_array_new();
        g_autoptr(GError) reason = NULL;
        g_autoptr(GDir) dir = g_dir_open(folder, 0, &reason);
        const char *name;

        if (!dir)
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s", reason->message);
        while ((name = g_dir_read_name(dir))) {
                char *path = g_build_filename(folder, name, NULL);

                if (g_file_test(path, G_FILE_TEST_IS_REGULAR) && file_kind_read(path) == FILE_STORE)
                        g_ptr_array_add(found, path);
                else
                        g_free(path);
        }
        g_ptr_array_sort(found, compare_names);
        if (found->len == 0)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: no store in it, expected such as ravel nesting -o makes",
                                  folder);
        for (guint i = 0; i < found->len; i++)
                g_ptr_array_add(paths, found->pdata[i]);
        return TRUE;
}

static gboolean find_stores(int argc, char **argv, GPtrArray *paths, GError **error)
{
        for (int i = 1; i < argc; i++) {
                if (!g_file_test(argv[i], G_FILE_TEST_IS_DIR))
                        g_ptr_array_add(paths, g_strdup(argv[i]));
                else if (!add_folder(paths, argv[i], error))
                        return FALSE;
        }
        if (paths->len < SERIES_FEWEST)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "stores named: %u, expected %d or more, or a folder of them",
                                  paths->len, SERIES_FEWEST);
        for (guint i = 0; i < paths->len; i++)
                if (!run_files_read_store(paths->pdata[i], error))
                        return FALSE;
        return TRUE;
}

/* --- the answer ------------------------------------------------------------ */

static gboolean wants_page(void)
{
        return options.format ? !strcmp(options.format, "html")
                              : options.output && g_str_has_suffix(options.output, ".html");
}

static gboolean write_trend(const Trend *t, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);

        if (wants_page())
                trend_write_page(t, text);
        else if (!options.format || !strcmp(options.format, "text"))
                trend_write_text(t, options.output ? 0 : tool_columns(), text);
        else if (!strcmp(options.format, "tsv"))
                trend_write_tsv(t, text);
        else
                trend_write_json(t, text);
        return output_file_put(options.output ? options.output : "-", text, error);
}

static gboolean check_conditions(const Trend *t, GError **error)
{
        for (guint i = 0; options.conditions && i < options.conditions->len; i++)
                if (!trend_condition_check(&g_array_index(options.conditions, FailOn, i).condition,
                                           t, error))
                        return FALSE;
        return TRUE;
}

/* Says which changes meet a condition; how many do. */
static guint count_failures(const Trend *t, const FailOn *f, guint failures)
{
        EACH_OF (const TrendSeries, s, t->series) {
                EACH (const SeriesChange, c, s->changes) {
                        if (!trend_condition_meets(&f->condition, t, s, c) ||
                            ++failures > MAX_FAILURES)
                                continue;
                        g_autofree char *change = trend_change_words(t, s, c);
                        tool_warn("%s: %s", f->text, change);
                }
        }
        EACH (const TrendPattern, p, t->patterns) {
                if (!trend_condition_meets_pattern(&f->condition, p) || ++failures > MAX_FAILURES)
                        continue;
                g_autofree char *pattern = trend_pattern_words(t, p);
                tool_warn("%s: %s", f->text, pattern);
        }
        return failures;
}

int tool_trend(int argc, char **argv)
{
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Trend) trend = NULL;
        GError *error = NULL;
        guint failures = 0;
        int status;

        if (!tool_parse("STORE... | FOLDER - what changed over many stores", entries, choices,
                        &argc, &argv, &status))
                return status;
        if (!find_stores(argc, argv, paths, &error) ||
            !run_files_write("-o", options.output, &error) ||
            !run_files_confine_reader(FALSE, &error) ||
            !(trend = trend_new((char *const *)paths->pdata, paths->len,
                                tool_choice_index(options.by, trend_unit_names), &error)) ||
            !check_conditions(trend, &error) || !write_trend(trend, &error))
                return tool_fail(error);
        for (guint i = 0; options.conditions && i < options.conditions->len; i++)
                failures = count_failures(trend, &g_array_index(options.conditions, FailOn, i),
                                          failures);
        if (failures > MAX_FAILURES)
                tool_warn("and %u more", failures - MAX_FAILURES);
        return failures ? EXIT_DIFFERS : EXIT_DONE;
}
