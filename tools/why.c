/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel why STORE [REQUEST]: why a request was slow, or what slow requests have.
 */
#include <string.h>

#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "write/write-why.h"

enum { SHOWN_AT = 3 }; /* requests that were there at a moment */

static struct {
        char *format, *at;
        gint slowest;
        gboolean packets, failed, waiting;
        guint64 request; /* 0: none */
        gint64 time;
} options;

static const char *const formats[] = { "text", "tsv", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = { { "slowest", 0, 0, G_OPTION_ARG_INT, &options.slowest,
                                          "Explain the N slowest requests", "N" },
                                        { "at", 0, 0, G_OPTION_ARG_STRING, &options.at,
                                          "Explain the requests under way at this time", "TIME" },
                                        { "failed", 0, 0, G_OPTION_ARG_NONE, &options.failed,
                                          "Name the calls by which requests failed", NULL },
                                        { "waiting", 0, 0, G_OPTION_ARG_NONE, &options.waiting,
                                          "Name what held workers, locks or connections",
                                          NULL },
                                        { "packets", 0, 0, G_OPTION_ARG_NONE, &options.packets,
                                          "Print filters that find a request's packets", NULL },
                                        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
                                          "text, tsv or json (default text)", "FORMAT" },
                                        G_OPTION_ENTRY_NULL };

static gboolean usage(GError **error, const char *found, const char *expected)
{
        return ravel_fail(error, RAVEL_ERROR_USAGE, "%s, expected %s", found, expected);
}

static gboolean check_request(const char *text, GError **error)
{
        g_autofree char *found = g_strdup_printf("\"%s\"", text);
        guint64 number;

        if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT32, &number, NULL))
                return usage(error, found, "the number of a request, 1 or more");
        options.request = number;
        return TRUE;
}

static gboolean check_arguments(int argc, char **argv, GError **error)
{
        if (argc < 2 || argc > 3) {
                g_autofree char *found = g_strdup_printf("arguments: %d", argc - 1);

                return usage(error, found, "a store, and perhaps the number of a request");
        }
        if (argc == 3 && !check_request(argv[2], error))
                return FALSE;
        if ((argc == 3) + (options.slowest != 0) + (options.at != NULL) + options.failed +
                    options.waiting >
            1)
                return usage(error, "too much",
                             "one of a request's number, --slowest, --at, --failed and --waiting");
        if (options.slowest < 0)
                return usage(error, "--slowest below 0", "a number of requests");
        if (options.packets && argc < 3 && options.slowest == 0 && !options.at)
                return usage(error, "--packets of no request",
                             "a request's number, --slowest or --at");
        if (options.packets && options.format && strcmp(options.format, "text") != 0)
                return usage(error, "--packets with --format", "one of them");
        if (options.at && !trace_parse_time(options.at, &options.time, error))
                return FALSE;
        return run_files_read_store(argv[1], error) && run_files_write("-w", NULL, error) &&
               run_files_confine_reader(FALSE, error);
}

static gboolean append_packets(Why *why, guint64 request, GString *out, GError **error)
{
        g_autofree char *display = why_display_filter(why, request, error), *capture = NULL;

        if (!display || !(capture = why_capture_filter(why, request, error)))
                return FALSE;
        g_string_append_printf(out, "request %" G_GUINT64_FORMAT "\nwireshark: %s\ntcpdump: %s\n",
                               request, display, capture);
        return TRUE;
}

static gboolean append_requests(Why *why, const GArray *ids, GString *out, GError **error)
{
        WhyFormat format = tool_choice_index(options.format, formats);

        for (guint i = 0; i < ids->len; i++) {
                guint64 id = g_array_index(ids, guint64, i);

                if (options.packets) {
                        if (!append_packets(why, id, out, error))
                                return FALSE;
                        continue;
                }
                g_autoptr(WhyRequest) request = why_request(why, id);
                why_write_request(out, request, format, i == 0, tool_columns());
        }
        return TRUE;
}

/* The requests that are asked for; NULL with error set where there is no such. */
static GArray *find_requests(Why *why, GError **error)
{
        guint there;

        if (options.slowest > 0)
                return why_slowest(why, (guint)options.slowest);
        if (options.at) {
                GArray *ids = why_at(why, options.time, SHOWN_AT, &there);

                if (there > ids->len)
                        tool_warn("%u requests were there at that time: the %u that took most more "
                                  "than usual",
                                  there, ids->len);
                if (there == 0)
                        tool_warn("no request was there at that time");
                return ids;
        }
        if (!why_expect_request(why, options.request, error))
                return NULL;
        GArray *ids = g_array_new(FALSE, FALSE, sizeof(guint64));
        g_array_append_val(ids, options.request);
        return ids;
}

/* Who held what is read by a reader of its own: rows come once. */
static gboolean append_kinds(Why *why, const char *store, NodeTable *nodes, GString *out,
                             GError **error)
{
        WhyBurst burst;
        g_autoptr(GPtrArray) kinds = why_kinds(why, &burst);
        g_autoptr(GArray) pauses = why_pauses(why);
        g_autoptr(StoreReader) reader = store_reader_new(store, nodes, error);
        g_autoptr(WhyWaiting) waiting = reader ? why_waiting_new(reader, nodes, error) : NULL;

        if (waiting)
                why_write_kinds(out, kinds, &burst, pauses, waiting, why_requests(why),
                                tool_choice_index(options.format, formats), tool_columns());
        return waiting != NULL;
}

static gboolean append_answer(Why *why, const char *store, NodeTable *nodes, GString *out,
                              GError **error)
{
        if (options.request || options.slowest > 0 || options.at) {
                g_autoptr(GArray) ids = find_requests(why, error);

                if (!ids || !append_requests(why, ids, out, error))
                        return FALSE;
                if (options.slowest > 0 && !options.packets) {
                        g_autoptr(GArray) shared = why_shared(why, (guint)options.slowest);
                        why_write_shared(out, shared, tool_choice_index(options.format, formats),
                                         tool_columns());
                }
                return TRUE;
        }
        return append_kinds(why, store, nodes, out, error);
}

static gboolean append_failures(StoreReader *reader, const NodeTable *nodes, GString *out,
                                GError **error)
{
        g_autoptr(WhyFailures) failures = why_failures_new(reader, nodes, error);

        if (failures)
                why_write_failures(out, failures, tool_choice_index(options.format, formats),
                                   tool_columns());
        return failures != NULL;
}

static gboolean append_waits(StoreReader *reader, const NodeTable *nodes, GString *out,
                             GError **error)
{
        g_autoptr(WhyWaiting) waiting = why_waiting_new(reader, nodes, error);

        if (waiting)
                why_write_waiting(out, waiting, tool_choice_index(options.format, formats),
                                  tool_columns());
        return waiting != NULL;
}

static gboolean append_reasons(StoreReader *reader, NodeTable *nodes, GString *out, GError **error)
{
        g_autoptr(Why) why = why_new(reader, nodes, error);

        return why && append_answer(why, store_reader_name(reader), nodes, out, error);
}

int tool_why(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(StoreReader) reader = NULL;
        GError *error = NULL;
        int status;

        if (!tool_parse("STORE [REQUEST] - why requests were slow", entries, choices, &argc, &argv,
                        &status))
                return status;
        if (!check_arguments(argc, argv, &error) ||
            !(reader = store_reader_new(argv[1], nodes, &error)) ||
            !(options.failed    ? append_failures(reader, nodes, text, &error)
              : options.waiting ? append_waits(reader, nodes, text, &error)
                                : append_reasons(reader, nodes, text, &error)) ||
            !output_file_put("-", text, &error))
                return tool_fail(error);
        return EXIT_DONE;
}
