/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel maketrace CONFIG: synthetic traces from tracelets.
 */
#include <signal.h>

#include "base/each.h"
#include "base/error.h"
#include "config.h"
#include "maketrace/generator.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/byte-source.h"
#include "tracefmt/output-file.h"
#include "tracefmt/trace-writer.h"

enum { MAX_CONFIGURATION = 1 << 20 }; /* bytes: about 20,000 tracelets, which take seconds */

static struct {
        char *write;
        char *seed, *duration, *messages, *stamps;
} options;

static const char *const stamps[] = { "sent", "both", NULL };
static const ToolChoice choices[] = { { "--stamps", &options.stamps, stamps }, { .option = NULL } };

static const GOptionEntry entries[] = {
        { "write", 'w', 0, G_OPTION_ARG_FILENAME, &options.write,
          "Write the trace to OUT; - is standard output, the default", "OUT" },
        { "seed", 0, 0, G_OPTION_ARG_STRING, &options.seed,
          "Another seed: another trace of the same kind", "N" },
        { "duration", 0, 0, G_OPTION_ARG_STRING, &options.duration,
          "Begin no tracelet after TIME (10s, 5min)", "TIME" },
        { "messages", 0, 0, G_OPTION_ARG_STRING, &options.messages,
          "Begin no tracelet after N lines", "N" },
        { "stamps", 0, 0, G_OPTION_ARG_STRING, &options.stamps,
          "sent, or both: also when messages arrive", "WHICH" },
        G_OPTION_ENTRY_NULL
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
        interrupted = number;
        signal(number, output_files_die); /* on the second signal */
}

static void catch_signals(void)
{
        struct sigaction action = { .sa_handler = on_signal };

        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
}

static gboolean parse_option_number(const char *option, const char *text, guint64 least,
                                    guint64 *number, GError **error)
{
        return g_ascii_string_to_unsigned(text, 10, least, G_MAXINT64, number, NULL) ||
               ravel_fail(error, RAVEL_ERROR_USAGE,
                          "--%s %s: expected an integer from %" G_GUINT64_FORMAT, option, text,
                          least);
}

/* Options of the command line override the configuration. */
static gboolean apply_options(Scenario *s, GError **error)
{
        if (options.stamps)
                stamps_lookup(options.stamps, &s->stamps);
        return (!options.seed || parse_option_number("seed", options.seed, 0, &s->seed, error)) &&
               (!options.messages ||
                parse_option_number("messages", options.messages, 1, &s->messages, error)) &&
               (!options.duration || tool_duration(options.duration, &s->duration, error)) &&
               scenario_ends(s, error);
}

static Scenario *load_scenario(const char *path, NodeTable *nodes, GError **error)
{
        g_autoptr(ByteSource) source = byte_source_new(path, error);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        guint8 buffer[4096];
        gssize n;

        if (!source)
                return NULL;
        while ((n = byte_source_read(source, buffer, sizeof buffer, error)) > 0) {
                g_byte_array_append(bytes, buffer, (guint)n);
                if (bytes->len > MAX_CONFIGURATION) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "%s: too large for a configuration, which has %d MB at most",
                                    byte_source_name(source), MAX_CONFIGURATION >> 20);
                        return NULL;
                }
        }
        return n < 0 ? NULL
                     : scenario_parse(bytes->data, bytes->len, byte_source_name(source), nodes,
                                      error);
}

static gboolean write_number_fact(TraceWriter *writer, const char *key, guint64 number,
                                  GError **error)
{
        g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, number);

        return trace_writer_fact(writer, key, text, error);
}

/* Writes how the trace was made, so that anybody can make it again. */
static gboolean write_scenario_facts(TraceWriter *writer, const Scenario *s, GError **error)
{
        if (!trace_writer_fact(writer, "made by", "maketrace of " PACKAGE_STRING, error) ||
            !write_number_fact(writer, "seed", s->seed, error) ||
            !trace_writer_fact(writer, "stamps", stamps_name(s->stamps), error))
                return FALSE;
        if (s->messages && !write_number_fact(writer, "messages at least", s->messages, error))
                return FALSE;
        if (s->duration && !write_number_fact(writer, "duration in ns", s->duration, error))
                return FALSE;
        EACH (const KeyFileGroup, group, s->text->groups) {
                g_autofree char *header = g_strdup_printf("[%s]", group->name);

                if (!trace_writer_fact(writer, "configuration", header, error))
                        return FALSE;
                for (guint k = group->first; k < group->end; k++) {
                        const KeyFileKey *key = &g_array_index(s->text->keys, KeyFileKey, k);
                        g_autofree char *line = g_strdup_printf("%s=%.*s", key->name,
                                                                (int)key->value.n, key->value.data);

                        if (!trace_writer_fact(writer, "configuration", line, error))
                                return FALSE;
                }
        }
        return TRUE;
}

static gboolean write_messages(TraceWriter *writer, Generator *generator, Sniffer *sniffer,
                               GError **error)
{
        Message message;
        int status;

        while (!interrupted && (status = generator_next(generator, &message, error)) != 0)
                if (status < 0 || (sniffer_take(sniffer, message.time) &&
                                   !trace_writer_add(writer, &message, error)))
                        return FALSE;
        return TRUE;
}

static gboolean write_account(TraceWriter *writer, const Generator *generator,
                              const Sniffer *sniffer, GError **error)
{
        return write_number_fact(writer, "requests", generator_requests(generator), error) &&
               write_number_fact(writer, "messages", generator_messages(generator) - sniffer->lost,
                                 error) &&
               (!sniffer->capture_time ||
                write_number_fact(writer, "messages lost by the sniffer", sniffer->lost, error));
}

static void report_trace(const Generator *generator, const Sniffer *sniffer)
{
        guint64 made = generator_messages(generator);

        if (sniffer->capture_time)
                tool_warn("%" G_GUINT64_FORMAT " messages of %" G_GUINT64_FORMAT
                          " requests, and %" G_GUINT64_FORMAT
                          " more that the sniffer lost (%.2f %%)",
                          made - sniffer->lost, generator_requests(generator), sniffer->lost,
                          made ? 100.0 * sniffer->lost / made : 0);
        else
                tool_warn("%" G_GUINT64_FORMAT " messages of %" G_GUINT64_FORMAT " requests", made,
                          generator_requests(generator));
}

int tool_maketrace(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Scenario) scenario = NULL;
        g_autoptr(Generator) generator = NULL;
        g_autoptr(TraceWriter) writer = NULL;
        Sniffer sniffer;
        GError *error = NULL;
        int status;

        if (!tool_parse("CONFIG - synthetic traces from tracelets", entries, choices, &argc, &argv,
                        &status))
                return status;
        if (argc != 2) {
                tool_warn("%d configurations named: expected one file, or - for standard input",
                          argc - 1);
                return EXIT_USAGE;
        }
        if (!run_files_read(argv[1], &error) || !run_files_write("-w", options.write, &error) ||
            !(scenario = load_scenario(argv[1], nodes, &error)) || !apply_options(scenario, &error))
                return tool_fail(error);
        generator = generator_new(scenario);
        sniffer = scenario->sniffer;
        sniffer.idle_at = scenario->start;
        catch_signals();
        if (!(writer = trace_writer_new(options.write ? options.write : "-", nodes, FALSE,
                                        &error)) ||
            !write_scenario_facts(writer, scenario, &error) ||
            !write_messages(writer, generator, &sniffer, &error))
                return tool_fail(error);
        if (interrupted)
                return EXIT_INTERRUPTED;
        if (!write_account(writer, generator, &sniffer, &error) ||
            !trace_writer_close(g_steal_pointer(&writer), &error))
                return tool_fail(error);
        report_trace(generator, &sniffer);
        return EXIT_DONE;
}
