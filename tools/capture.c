/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel capture: packets to a trace.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/pcap-source.h"
#include "tools/tool.h"
#include "tracefmt/error.h"
#include "tracefmt/trace-writer.h"

static struct {
        char **read;
        char **interfaces;
        char *write;
        char *filter;
        char *nodes;
        char *host;
        char **protocols;
        char *duration;
        gboolean labels, no_promiscuous;
        gint64 count;
        int snapshot, buffer;
        char **rest;
} options = { .write = NULL, .snapshot = 262144 };

static const GOptionEntry entries[] = {
        { "read", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.read,
          "Read packets from FILE (pcap, pcapng, also .gz and .zst); - is standard input; may be "
          "repeated, in order of time",
          "FILE" },
        { "interface", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &options.interfaces,
          "Capture live on IF; may be repeated", "IF" },
        { "write", 'w', 0, G_OPTION_ARG_FILENAME, &options.write,
          "Write the trace to OUT; - is standard output, the default", "OUT" },
        { "filter", 'f', 0, G_OPTION_ARG_STRING, &options.filter,
          "Only packets that match FILTER (pcap-filter(7))", "FILTER" },
        { "nodes", 0, 0, G_OPTION_ARG_FILENAME, &options.nodes,
          "Names of nodes, as in hosts(5): \"10.0.0.5 db\", \"10.0.0.5:80 web\", "
          "\"10.1.0.0/16 clients\"",
          "FILE" },
        { "host", 0, 0, G_OPTION_ARG_STRING, &options.host,
          "The packets were captured on the node NAME: stamps are _SENT and _RECV", "NAME" },
        { "proto", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.protocols,
          "The server port PORT speaks NAME (http, dns, redis, memcached, "
          "mysql, postgres, generic); may be repeated",
          "PORT=NAME" },
        { "labels", 0, 0, G_OPTION_ARG_NONE, &options.labels,
          "Add the operation's name to calls (GET /home)", NULL },
        { "count", 'c', 0, G_OPTION_ARG_INT64, &options.count, "End after N packets", "N" },
        { "snapshot-length", 's', 0, G_OPTION_ARG_INT, &options.snapshot,
          "Capture N bytes of each packet", "N" },
        { "buffer-size", 'B', 0, G_OPTION_ARG_INT, &options.buffer,
          "Size of the kernel's capture buffer", "KiB" },
        { "no-promiscuous-mode", 'p', 0, G_OPTION_ARG_NONE, &options.no_promiscuous,
          "Leave the interface out of promiscuous mode", NULL },
        { "duration", 0, 0, G_OPTION_ARG_STRING, &options.duration,
          "End a live capture after TIME (10s, 5min)", "TIME" },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.rest, NULL, "[FILE...]" },
        G_OPTION_ENTRY_NULL
};

/* What a run works with. */
typedef struct {
        NodeTable *nodes;
        NodeNames *names;
        const Protocol *ports[65536];
        Capture *capture;
        TraceWriter *writer;
        gboolean live;
        GError *write_error; /* of a write while waiting for packets */
        gint64 left;         /* packets until --count is reached */
} Run;

static PcapSource *volatile current_source;
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
        interrupted = number;
        if (current_source)
                pcap_source_stop(current_source);
}

static void catch_signals(void)
{
        /* The second time a signal does what it always does. */
        struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGALRM, &action, NULL);
}

static gboolean usage(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean usage(GError **error, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        *error = g_error_new_valist(RAVEL_ERROR, RAVEL_ERROR_USAGE, format, arguments);
        va_end(arguments);
        return FALSE;
}

static gboolean parse_protocols(Run *run, GError **error)
{
        for (char **p = options.protocols; p && *p; p++) {
                char *end;
                guint64 port = g_ascii_strtoull(*p, &end, 10);
                const Protocol *protocol = *end == '=' ? protocol_lookup(end + 1) : NULL;
                if (port == 0 || port > 65535 || !protocol)
                        return usage(error,
                                     "--proto %s: expected PORT=NAME, NAME one of http, dns, "
                                     "redis, memcached, mysql, postgres, generic",
                                     *p);
                run->ports[port] = protocol;
        }
        return TRUE;
}

static gboolean check_options(gint64 *duration, GError **error)
{
        gboolean files = options.read || options.rest;
        if (files && options.interfaces)
                return usage(error, "files (-r) and interfaces (-i) cannot be captured at once");
        if (!files && !options.interfaces)
                return usage(error, "nothing to capture: name a file with -r FILE or an interface "
                                    "with -i IF");
        if (options.snapshot < 1 || options.count < 0 || options.buffer < 0 ||
            options.buffer > G_MAXINT / 1024)
                return usage(error, "-s, -c and -B take positive numbers");
        if (options.duration && !options.interfaces)
                return usage(error, "--duration is for live captures (-i)");
        if (options.duration && !tool_duration(options.duration, duration, error))
                return FALSE;
        return TRUE;
}

static gboolean write_ready(Run *run, GError **error)
{
        Message message;
        while (capture_next(run->capture, &message))
                if (!trace_writer_add(run->writer, &message, error))
                        return FALSE;
        return TRUE;
}

static gboolean on_idle(gpointer user, gint64 ns)
{
        Run *run = user;
        if (interrupted)
                return FALSE;
        if (!run->writer || capture_time(run->capture) == NO_TIME)
                return TRUE;
        capture_idle(run->capture, capture_time(run->capture) + ns);
        return write_ready(run, &run->write_error);
}

static gboolean open_output(Run *run, GError **error)
{
        const char *path = options.write ? options.write : "-";
        if (run->writer)
                return TRUE;
        if (!(run->writer = trace_writer_new(path, run->nodes, run->live, error)))
                return FALSE;
        return (!options.filter ||
                trace_writer_fact(run->writer, "filter", options.filter, error)) &&
               (!options.host ||
                trace_writer_fact(run->writer, "captured on host", options.host, error));
}

/* All packets of a source. FALSE: error set. */
static gboolean capture_source(Run *run, PcapSource *source, GError **error)
{
        Packet packet;
        int result = 0;
        while (run->left != 0 && (result = pcap_source_next(source, &packet, error)) == 1) {
                capture_add(run->capture, &packet);
                if (!write_ready(run, error))
                        return FALSE;
                run->left--;
        }
        if (run->write_error) {
                g_clear_error(error);
                g_propagate_error(error, g_steal_pointer(&run->write_error));
                return FALSE;
        }
        return result >= 0;
}

static gboolean write_facts(Run *run, const PcapSource *source, const char *name, GError **error)
{
        return trace_writer_fact(run->writer, options.interfaces ? "interface" : "source", name,
                                 error) &&
               trace_writer_fact(run->writer, "link type", pcap_source_link_type(source), error);
}

/* Opens, reads and closes one file, or all interfaces. */
static gboolean capture_one(Run *run, const char *name, gint64 duration, GError **error)
{
        PcapOptions pcap = { .filter = options.filter,
                             .snapshot = options.snapshot,
                             .buffer = options.buffer,
                             .promiscuous = !options.no_promiscuous,
                             .idle = on_idle,
                             .user = run };
        const char *const *interfaces = (const char *const *)options.interfaces;
        guint64 kernel, interface;
        g_autoptr(PcapSource) source =
                interfaces ? pcap_source_open_live(interfaces, g_strv_length(options.interfaces),
                                                   &pcap, error)
                           : pcap_source_open(name, &pcap, error);
        if (!source || !open_output(run, error) || !write_facts(run, source, name, error))
                return FALSE;
        current_source = source;
        if (interrupted)
                pcap_source_stop(source);
        if (duration)
                alarm((guint)CLAMP((duration + 999999999) / 1000000000, 1, G_MAXINT32));
        gboolean ok = capture_source(run, source, error);
        current_source = NULL;
        pcap_source_drops(source, &kernel, &interface);
        capture_account(run->capture)->count[ACCOUNT_DROPPED_KERNEL] += kernel;
        capture_account(run->capture)->count[ACCOUNT_DROPPED_INTERFACE] += interface;
        return ok;
}

static gboolean write_account(Run *run, GError **error)
{
        const Account *account = capture_account(run->capture);
        for (guint i = 0; i < N_ACCOUNT; i++) {
                g_autofree char *n = g_strdup_printf("%" G_GUINT64_FORMAT, account->count[i]);
                if ((account->count[i] || i == ACCOUNT_PACKETS || i == ACCOUNT_CALLS ||
                     i == ACCOUNT_RETURNS) &&
                    !trace_writer_fact(run->writer, account_key(i), n, error))
                        return FALSE;
        }
        return TRUE;
}

static void report(Run *run)
{
        const Account *account = capture_account(run->capture);
        g_autofree char *summary = account_summary(account);
        g_auto(GStrv) lines = account_judge(account);
        tool_warn("%s", summary);
        for (char **line = lines; *line; line++)
                tool_warn("%s", *line);
}

/* What is still under way goes out, and the account after it. */
static gboolean finish(Run *run, GError **error)
{
        capture_finish(run->capture);
        return write_ready(run, error) && write_account(run, error) &&
               trace_writer_close(g_steal_pointer(&run->writer), error);
}

static int capture_all(Run *run, gint64 duration)
{
        GError *error = NULL, *finish_error = NULL;
        g_autoptr(GPtrArray) files = g_ptr_array_new();
        gboolean ok = TRUE;
        for (char **p = options.read; p && *p; p++)
                g_ptr_array_add(files, *p);
        for (char **p = options.rest; p && *p; p++)
                g_ptr_array_add(files, *p);
        g_autofree char *interfaces =
                options.interfaces ? g_strjoinv(" ", options.interfaces) : NULL;
        if (interfaces)
                g_ptr_array_add(files, interfaces);
        catch_signals();
        for (guint i = 0; ok && i < files->len && run->left != 0 && !interrupted; i++)
                ok = capture_one(run, files->pdata[i], duration, &error);
        if (interrupted && (!run->live || !run->writer)) {
                g_clear_error(&error);
                return EXIT_INTERRUPTED;
        }
        if (!ok && (!run->writer || g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT) ||
                    g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_PIPE) ||
                    capture_account(run->capture)->count[ACCOUNT_PACKETS] == 0))
                return tool_fail(error);
        if (!finish(run, &finish_error)) {
                g_clear_error(&error);
                return tool_fail(finish_error);
        }
        report(run);
        if (ok)
                return EXIT_DONE;
        tool_fail(error);
        tool_warn("the trace holds what was read before that");
        return EXIT_PARTIAL;
}

/* A pipe is written as it is read. */
static gboolean any_is_pipe(void)
{
        for (guint list = 0; list < 2; list++)
                for (char **p = list ? options.rest : options.read; p && *p; p++)
                        if (pcap_source_path_is_live(*p))
                                return TRUE;
        return FALSE;
}

static void run_free(Run *run)
{
        trace_writer_free(run->writer);
        capture_free(run->capture);
        node_names_free(run->names);
        node_table_free(run->nodes);
        g_clear_error(&run->write_error);
        g_free(run);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)

static Run *run_new(gint64 *duration, GError **error)
{
        g_autoptr(Run) run = g_new0(Run, 1);
        gboolean taps = options.interfaces && options.interfaces[0] && options.interfaces[1];
        run->nodes = node_table_new();
        run->names = node_names_new(run->nodes);
        if (!check_options(duration, error) || !parse_protocols(run, error) ||
            (options.nodes && !node_names_load(run->names, options.nodes, error)))
                return NULL;
        run->live = options.interfaces || any_is_pipe();
        run->left = options.count ? options.count : -1;
        CaptureOptions how = { .patience = run->live ? CAPTURE_PATIENCE_LIVE : CAPTURE_PATIENCE,
                               .disorder = taps ? CAPTURE_DISORDER_TAPS : CAPTURE_DISORDER,
                               .labels = options.labels,
                               .host = options.host,
                               .ports = options.protocols ? run->ports : NULL };
        run->capture = capture_new(&how, run->nodes, run->names);
        return g_steal_pointer(&run);
}

int tool_capture(int argc, char **argv)
{
        g_autoptr(GOptionContext) context = g_option_context_new("- packets to a trace");
        GError *error = NULL;
        gint64 duration = 0;
        int status;
        g_option_context_add_main_entries(context, entries, NULL);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        g_autoptr(Run) run = run_new(&duration, &error);
        return run ? capture_all(run, duration) : tool_fail(error);
}
