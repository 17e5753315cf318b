/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel capture: packets to a trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/capture.h"
#include "capture/network/common-address.h"
#include "capture/network/node-files.h"
#include "capture/processes/process-watch.h"
#include "capture/source/packet-merge.h"
#include "tools/rights.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"
#include "tracefmt/trace-writer.h"

enum {
        MAX_SNAPSHOT = 262144,
        MAX_BUFFER = G_MAXINT / 1024,
        MAX_FILTER = 1 << 20,        /* bytes of -F's file */
        MAX_MEGABYTES = 1000 * 1000, /* of -C */
        LOOK_AT_CLOCK = 256,         /* packets between two looks, where they do not cease */
};

static struct {
        char **read;
        char **interfaces;
        char *write;
        char *filter, *filter_file;
        char *direction, *link_type;
        char **nodes;
        char *tls_keys;
        char *ids_key, *ids_ignore;
        gboolean ids;
        char *processes_to;
        char *host;
        char **protocols;
        char *duration;
        char *user;
        gboolean labels, no_labels, names, no_promiscuous, list_interfaces, immediate, strict;
        gboolean flush, numeric, processes;
        ProcessNaming naming;
        gint64 count, rotate, files, megabytes;
        int snapshot, buffer;
        char **rest;
} options = { .count = G_MAXINT64 };

static gboolean parse_naming(const char *option, const char *value, gpointer user, GError **error)
{
        static const char *const names[] = {
                [NAMED_BY_COMM] = "comm", [NAMED_BY_UNIT] = "unit", [NAMED_BY_CGROUP] = "cgroup"
        };
        guint i = 0;
        (void)option, (void)user;
        while (value && i < G_N_ELEMENTS(names) && strcmp(value, names[i]) != 0)
                i++;
        if (i == G_N_ELEMENTS(names)) {
                g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                            "--processes=%s: expected comm, unit or cgroup", value);
                return FALSE;
        }
        options.processes = TRUE;
        options.naming = i;
        return TRUE;
}

static const GOptionEntry entries[] = {
        { "read", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.read,
          "Read packets from FILE; may be repeated", "FILE" },
        { "interface", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &options.interfaces,
          "Capture live on IF; may be repeated", "IF" },
        { "write", 'w', 0, G_OPTION_ARG_FILENAME, &options.write,
          "Write to OUT (default: standard output)", "OUT" },
        { "filter", 'f', 0, G_OPTION_ARG_STRING, &options.filter,
          "Only packets that match (pcap-filter(7))", "FILTER" },
        { "filter-file", 'F', G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &options.filter_file,
          "The filter is in FILE", "FILE" },
        { "nodes", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.nodes,
          "Names: of hosts(5), ss, lsof, conntrack", "FILE" },
        { "names", 0, 0, G_OPTION_ARG_NONE, &options.names, "Record names from DNS, TLS and HTTP",
          NULL },
        { "host", 0, 0, G_OPTION_ARG_STRING, &options.host,
          "Captured on the node NAME; empty: on none", "NAME" },
        { "proto", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.protocols,
          "Port PORT speaks NAME; may be repeated", "PORT=NAME" },
        { "tls-keys", 0, 0, G_OPTION_ARG_FILENAME, &options.tls_keys,
          "Decrypt TLS by the keys in FILE", "FILE" },
        { "processes", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, (gpointer)parse_naming,
          "Live: name by comm, unit or cgroup", "HOW" },
        { "processes-to", 0, 0, G_OPTION_ARG_FILENAME, &options.processes_to,
          "Write these names as lines for --nodes", "FILE" },
        { "labels", 0, 0, G_OPTION_ARG_NONE, &options.labels, "Operations with whole routes",
          NULL },
        { "no-labels", 0, 0, G_OPTION_ARG_NONE, &options.no_labels, "No operations", NULL },
        { "ids", 0, 0, G_OPTION_ARG_NONE, &options.ids, "Hashed identifiers (--ids-key, -ignore)",
          NULL },
        { "ids-key", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &options.ids_key,
          "Derive the keys of --ids from FILE", "FILE" },
        { "ids-ignore", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &options.ids_ignore,
          "No identifiers from what matches REGEX", "REGEX" },
        { "strict", 0, 0, G_OPTION_ARG_NONE, &options.strict, "Exit with 1 if not fit for nesting",
          NULL },
        { "count", 'c', 0, G_OPTION_ARG_INT64, &options.count, "End after N packets", "N" },
        { "snapshot-length", 's', 0, G_OPTION_ARG_INT, &options.snapshot,
          "Live: capture N bytes of each packet", "N" },
        { "buffer-size", 'B', 0, G_OPTION_ARG_INT, &options.buffer,
          "Live: size of the kernel's buffer", "KiB" },
        { "no-promiscuous-mode", 'p', 0, G_OPTION_ARG_NONE, &options.no_promiscuous,
          "Live: no promiscuous mode", NULL },
        { "direction", 'Q', 0, G_OPTION_ARG_STRING, &options.direction,
          "Live: only packets that go in or out", "DIR" },
        { "linktype", 'y', G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &options.link_type,
          "Live: ask for the link type TYPE", "TYPE" },
        { "immediate-mode", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options.immediate,
          "Live: take each packet at once", NULL },
        { "packet-buffered", 'U', 0, G_OPTION_ARG_NONE, &options.flush,
          "Write each message at once", NULL },
        { "line-buffered", 'l', G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options.flush, NULL,
          NULL },
        { "numeric", 'n', G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options.numeric, NULL, NULL },
        { "rotate-seconds", 'G', 0, G_OPTION_ARG_INT64, &options.rotate,
          "Begin a new trace every N seconds", "N" },
        { "rotate-size", 'C', 0, G_OPTION_ARG_INT64, &options.megabytes,
          "Begin a new trace after MB megabytes", "MB" },
        { "rotate-count", 'W', 0, G_OPTION_ARG_INT64, &options.files,
          "-G: end after N traces; -C: keep N", "N" },
        { "relinquish-privileges", 'Z', 0, G_OPTION_ARG_STRING, &options.user,
          "Live: give up root's rights, become USER", "USER" },
        { "list-interfaces", 'D', 0, G_OPTION_ARG_NONE, &options.list_interfaces,
          "List the interfaces, and end", NULL },
        { "duration", 0, 0, G_OPTION_ARG_STRING, &options.duration,
          "Live: end after TIME (10s, 5min)", "TIME" },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.rest, NULL, "[FILE...]" },
        G_OPTION_ENTRY_NULL
};

/* What a run works with. */
typedef struct {
        NodeTable *nodes;
        KeyLog *keys;
        Identifiers *identifiers; /* NULL: none are wanted */
        NodeNames *names;
        LearnedNames *learned;
        ProcessWatch *watch;       /* NULL without --processes */
        OutputFile *process_lines; /* NULL without --processes-to */
        const Protocol *ports[65536];
        Capture *capture;
        PacketMerge *packets; /* while they are open */
        TraceWriter *writer;
        gboolean begun; /* the sources are open, and the output, where it need not wait */
        gboolean live;
        gboolean polls;                   /* watch knows only what /proc says */
        Account written;                  /* the counts that earlier traces have */
        gint64 rotate_start, rotate_time; /* ns; when the trace begins, and when the next one */
        gint64 files;                     /* how many were begun */
        gint64 part;                      /* the trace's number in its time: -C */
        guint since_look;                 /* packets */
        guint64 in_trace[3];              /* calls, returns and one-way messages */
        GError *write_error;              /* of a write while waiting for packets */
        gint64 left;                      /* packets until --count is reached */
        GPtrArray *sources;               /* files, or one text that names the interfaces */
        GArray *doubts, *edges;           /* of Doubt and EdgeCalls, of all traces */
        GPtrArray *link_types;            /* of each, as the trace has it */
        gboolean host_is_sure;            /* else it may be only a star of one busy node */
        char *host;                       /* recognised; NULL where it was not, or was given */
        gboolean one_clock;               /* the trace says so */
} Run;

static PacketMerge *volatile current_packets;
static volatile sig_atomic_t interrupted, asked;

static void on_signal(int number)
{
        interrupted = number;
        if (number != SIGHUP) /* a shell that ends sends it, and the kernel for the terminal */
                signal(number, output_files_die); /* the second time */
        if (current_packets)
                packet_merge_stop(current_packets);
}

static void on_question(int number)
{
        asked = number;
}

static void catch_signals(void)
{
        struct sigaction question = { .sa_handler = on_question, .sa_flags = SA_RESTART };
        struct sigaction action = { .sa_handler = on_signal }, now;
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGALRM, &action, NULL);
        sigaction(SIGUSR1, &question, NULL);
        if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* nohup(1) */
                sigaction(SIGHUP, &action, NULL);
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
                if (port == 0 || port > 65535 || !protocol) {
                        g_autofree char *names = protocol_list_names();
                        return usage(error, "--proto %s: expected PORT=NAME, NAME one of %s", *p,
                                     names);
                }
                run->ports[port] = protocol;
        }
        return TRUE;
}

/* The name of the trace that begins at time, s since the epoch. */
static char *name_at(gint64 time)
{
        struct tm broken;
        time_t seconds = (time_t)time;
        char name[4096];
        if (!localtime_r(&seconds, &broken) ||
            strftime(name, sizeof name, options.write, &broken) == 0)
                return g_strdup(options.write);
        return g_strdup(name);
}

/* Whether one trace does not overwrite the one before it. */
static gboolean name_has_time(void)
{
        g_autofree char *first = name_at(0), *second = name_at(options.rotate);
        return strcmp(first, second) != 0;
}

static gboolean rotates(void)
{
        return options.rotate || options.megabytes;
}

static gboolean check_files(const Run *run, GError **error)
{
        for (guint i = 0; !options.interfaces && i < run->sources->len; i++)
                if (!run_files_read(run->sources->pdata[i], error))
                        return FALSE;
        for (char **p = options.nodes; p && *p; p++)
                if (!run_files_read(*p, error))
                        return FALSE;
        return (!options.tls_keys || run_files_read(options.tls_keys, error)) &&
               (!options.ids_key || run_files_read(options.ids_key, error)) &&
               (!options.filter_file || run_files_read(options.filter_file, error)) &&
               (!options.processes_to ||
                run_files_write("--processes-to", options.processes_to, error)) &&
               (rotates() || run_files_write("-w", options.write, error));
}

/* -1: there is none of that name. */
static int find_direction(void)
{
        static const char *const names[] = { "inout", "in", "out" };
        for (guint i = 0; options.direction && i < G_N_ELEMENTS(names); i++)
                if (g_ascii_strcasecmp(names[i], options.direction) == 0)
                        return (int)i;
        return options.direction ? -1 : DIRECTION_BOTH;
}

/* The filter that -F names: what stands after a # in a line is none of it. */
static gboolean load_filter(GError **error)
{
        if (!options.filter_file)
                return TRUE;
        FILE *file = fopen(options.filter_file, "re");
        if (!file)
                return usage(error, "-F %s: cannot open: %s", options.filter_file,
                             g_strerror(errno));
        char *text = g_malloc(MAX_FILTER + 1);
        gsize n = fread(text, 1, MAX_FILTER + 1, file);
        gboolean whole = feof(file) && !ferror(file) && !memchr(text, 0, n);
        fclose(file);
        if (!whole || n > MAX_FILTER) {
                g_free(text);
                return usage(error, "-F %s: not a filter: it cannot be read, or is too long",
                             options.filter_file);
        }
        gsize kept = 0;
        for (gsize i = 0, comment = FALSE; i < n; i++) {
                comment = text[i] == '#' || (comment && text[i] != '\n');
                if (!comment && !g_ascii_isspace(text[i]))
                        text[kept++] = text[i];
                else if (kept > 0 && text[kept - 1] != ' ')
                        text[kept++] = ' ';
        }
        text[kept] = 0;
        options.filter = g_strchomp(text);
        return TRUE;
}

static gboolean check_options(gint64 *duration, GError **error)
{
        gboolean files = options.read || options.rest;
        if (options.interfaces && options.rest && !options.read &&
            !g_file_test(options.rest[0], G_FILE_TEST_EXISTS)) {
                g_autofree char *filter = g_strjoinv(" ", options.rest);
                return usage(error, "there is no file \"%s\"; if \"%s\" is a filter: -f '%s'",
                             options.rest[0], filter, filter);
        }
        if (files && options.interfaces)
                return usage(error, "files (-r) and interfaces (-i) cannot be captured at once");
        if (!files && !options.interfaces)
                return usage(error, "nothing to capture: name a file with -r FILE or an interface "
                                    "with -i IF");
        if (options.labels && options.no_labels)
                return usage(error, "--labels and --no-labels: expected one of them");
        if ((options.ids_key || options.ids_ignore) && !options.ids)
                return usage(error, "--ids-key and --ids-ignore are for --ids");
        if (options.count < 1)
                return usage(error,
                             "-c %" G_GINT64_FORMAT ": expected a number of packets, 1 or more",
                             options.count);
        if (options.snapshot < 0 || options.snapshot > MAX_SNAPSHOT)
                return usage(error, "-s %d: expected a number of bytes, %d at most",
                             options.snapshot, MAX_SNAPSHOT);
        if (options.buffer < 0 || options.buffer > MAX_BUFFER)
                return usage(error, "-B %d: expected a number of KiB, %d at most", options.buffer,
                             MAX_BUFFER);
        if (options.rotate < 0 || options.files < 0 || options.rotate > G_MAXINT32 ||
            (options.files && !rotates()))
                return usage(error, "-G takes a number of seconds, and -W needs -G or -C");
        if (options.megabytes < 0 || options.megabytes > MAX_MEGABYTES)
                return usage(error,
                             "-C %" G_GINT64_FORMAT ": expected millions of bytes, %d at most",
                             options.megabytes, MAX_MEGABYTES);
        if (options.megabytes && (!options.write || strcmp(options.write, "-") == 0))
                return usage(error, "-C needs the name of a file: -w FILE");
        if (options.rotate && (!options.write || !name_has_time()))
                return usage(
                        error,
                        "-G needs -w with the time in the name, different every %" G_GINT64_FORMAT
                        " s: for instance -w trace-%%Y%%m%%d-%%H%%M%%S",
                        options.rotate);
        if (options.filter && options.filter_file)
                return usage(error, "the filter is either in -f or in the file of -F");
        if ((options.direction || options.link_type) && !options.interfaces)
                return usage(error, "-Q and -y are for live captures (-i)");
        if (options.direction && find_direction() < 0)
                return usage(error, "-Q %s: expected in, out or inout", options.direction);
        if (options.user && !options.interfaces)
                return usage(error, "-Z is for live captures (-i)");
        if (options.processes && !options.interfaces)
                return usage(error, "--processes is for live captures (-i); lines that one wrote "
                                    "with --processes-to are for --nodes");
        if (options.processes_to && !options.processes)
                return usage(error, "--processes-to needs --processes");
        if (options.duration && !options.interfaces)
                return usage(error, "--duration is for live captures (-i)");
        if (options.duration && !tool_duration(options.duration, duration, error))
                return FALSE;
        return TRUE;
}

/* --- the trace --------------------------------------------------------------- */

/* Which running system stamped the packets of a live capture, where the kernel says: what is
 * rotated has one clock, and so have captures at several interfaces of one machine. */
static gboolean write_observer(Run *run, GError **error)
{
        g_autofree char *boot = NULL;
        if (!options.interfaces ||
            !g_file_get_contents("/proc/sys/kernel/random/boot_id", &boot, NULL, NULL))
                return TRUE;
        return trace_writer_fact(run->writer, "observer", g_strstrip(boot), error);
}

/* Of a live capture, and of one file of one interface. Who took several files, or wrote several
 * interfaces into one, nothing says; and a host is one of many. */
static gboolean has_one_clock(const Run *run)
{
        return !options.host && (options.interfaces || packet_merge_interfaces(run->packets) <= 1);
}

static gboolean write_facts(Run *run, GError **error)
{
        if ((options.filter && !trace_writer_fact(run->writer, "filter", options.filter, error)) ||
            (options.host &&
             !trace_writer_fact(run->writer, "captured on host", options.host, error)))
                return FALSE;
        g_ptr_array_set_size(run->link_types, 0);
        for (guint i = 0; i < run->sources->len; i++) {
                const char *type = packet_merge_link_type(run->packets, i);
                g_ptr_array_add(run->link_types, g_strdup(type));
                if (!trace_writer_fact(run->writer, options.interfaces ? "interface" : "source",
                                       run->sources->pdata[i], error) ||
                    !trace_writer_fact(run->writer, "link type", type, error))
                        return FALSE;
        }
        run->one_clock = has_one_clock(run);
        return write_observer(run, error) &&
               (!run->one_clock || trace_writer_fact(run->writer, "clocks", "one", error)) &&
               trace_writer_fact(run->writer, "ids", "connection.sequence", error);
}

/* A pcapng file may have had more interfaces than were known at its beginning. */
static gboolean write_late_interfaces(Run *run, GError **error)
{
        for (guint i = 0; i < run->sources->len; i++) {
                const char *type = packet_merge_link_type(run->packets, i);
                if (strcmp(type, run->link_types->pdata[i]) != 0 &&
                    !trace_writer_fact(run->writer, "link type", type, error))
                        return FALSE;
        }
        return run->one_clock == has_one_clock(run) ||
               trace_writer_fact(run->writer, "clocks", "unknown", error);
}

static gboolean open_output(Run *run, const char *path, GError **error)
{
        run->writer = trace_writer_new(path, run->nodes, run->live, error);
        return run->writer && write_facts(run, error);
}

static void take_counts(Run *run)
{
        PcapCounts counts = packet_merge_counts(run->packets);
        Account *account = capture_account(run->capture);
        account->count[ACCOUNT_DROPPED_KERNEL] = counts.dropped_by_kernel;
        account->count[ACCOUNT_DROPPED_INTERFACE] = counts.dropped_by_interface;
}

/* Of the account, what belongs to this trace: messages as they are in it, which is later
 * than they are counted, and all else since the last one. */
static guint64 count_of_trace(const Run *run, AccountEntry entry)
{
        guint64 count = capture_account(run->capture)->count[entry];
        if (!rotates())
                return count;
        switch (entry) {
        case ACCOUNT_CALLS:
                return run->in_trace[0];
        case ACCOUNT_RETURNS:
                return run->in_trace[1];
        case ACCOUNT_ONE_WAY:
                return run->in_trace[2];
        default:
                return count - run->written.count[entry];
        }
}

/* As lines for --nodes: an address, its name, and as an alias where that is from. */
static gboolean write_learned_names(Run *run, GError **error)
{
        const LearnedName *learned;
        for (guint i = 0; run->learned && (learned = learned_names_get(run->learned, i)); i++) {
                char address[ADDRESS_TEXT_SIZE];
                if (!node_names_is_nameless(run->names, learned->address))
                        continue;
                g_autofree char *line =
                        g_strdup_printf("%s %s %s", address_format(learned->address, address),
                                        learned->name, learned->source);
                if (!trace_writer_fact(run->writer, "learned name", line, error))
                        return FALSE;
        }
        return TRUE;
}

/* Which process is at which address and port. */
static gboolean write_processes(Run *run, GError **error)
{
        if (!run->watch)
                return TRUE;
        g_autoptr(GPtrArray) facts = process_watch_facts(run->watch);
        ProcessCounts counts = process_watch_counts(run->watch);
        g_autofree char *text =
                g_strdup_printf("%" G_GUINT64_FORMAT " connections opened, %" G_GUINT64_FORMAT
                                " of the kernel's records lost",
                                counts.opened, counts.lost);
        for (guint i = 0; i < facts->len; i++)
                if (!trace_writer_fact(run->writer, "process", facts->pdata[i], error))
                        return FALSE;
        return trace_writer_fact(run->writer, "processes",
                                 run->polls ? "by looking at /proc" : text, error);
}

/* The one sentence on what these counts will do for, with these doubts of these edges. The
 * caller's to free. */
static char *judge(const Run *run, const guint64 *count, const GArray *doubts, const GArray *edges)
{
        Fitness fitness = account_fitness(count, capture_account(run->capture));
        return fitness_judge(&fitness, doubts, (const EdgeCalls *)(gconstpointer)edges->data,
                             edges->len, run->nodes);
}

/* What is doubtful of this trace, as facts; added to what is of all. */
static gboolean write_doubts(Run *run, GArray *doubts, GArray *edges, GError **error)
{
        capture_weigh(run->capture, doubts, edges);
        doubts_sort(doubts, run->nodes);
        if (doubts->len > MAX_DOUBTS)
                g_array_set_size(doubts, MAX_DOUBTS);
        for (guint i = 0; i < doubts->len; i++) {
                const Doubt *doubt = &g_array_index(doubts, Doubt, i);
                g_autofree char *value = doubt_to_value(doubt, run->nodes);
                doubts_add(run->doubts, doubt);
                if (!trace_writer_fact(run->writer, "doubt", value, error))
                        return FALSE;
        }
        g_array_append_vals(run->edges, edges->data, edges->len);
        edge_calls_merge(run->edges);
        return TRUE;
}

/* The account ends the trace. */
static gboolean close_output(Run *run, GError **error)
{
        guint64 counts[N_ACCOUNT];
        for (guint i = 0; i < N_ACCOUNT; i++) {
                guint64 count = counts[i] = count_of_trace(run, i);
                gboolean always = i == ACCOUNT_PACKETS || i == ACCOUNT_CALLS ||
                                  i == ACCOUNT_RETURNS ||
                                  (options.interfaces && i == ACCOUNT_DROPPED_KERNEL);
                g_autofree char *n = g_strdup_printf("%" G_GUINT64_FORMAT, count);
                if ((count || always) && !trace_writer_fact(run->writer, account_key(i), n, error))
                        return FALSE;
        }
        g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(EdgeCalls));
        if (!write_doubts(run, doubts, edges, error))
                return FALSE;
        g_autofree char *judgement = judge(run, counts, doubts, edges);
        run->written = *capture_account(run->capture);
        memset(run->in_trace, 0, sizeof run->in_trace);
        return write_late_interfaces(run, error) && write_learned_names(run, error) &&
               write_processes(run, error) &&
               trace_writer_fact(run->writer, "judgement", judgement, error) &&
               trace_writer_close(g_steal_pointer(&run->writer), error);
}

/* The trace is one of a time, or the next part of it. */
static gboolean begin_trace(Run *run, GError **error)
{
        g_autoptr(GString) name = g_string_new(NULL);
        g_autofree char *base = options.rotate ? name_at(run->rotate_start / 1000000000)
                                               : g_strdup(options.write ? options.write : "-");
        g_string_append(name, base);
        if (!options.rotate && options.files) { /* the oldest is overwritten */
                g_autofree char *last = g_strdup_printf("%" G_GINT64_FORMAT, options.files - 1);
                g_string_append_printf(name, "%0*" G_GINT64_FORMAT, (int)strlen(last),
                                       run->part % options.files);
        } else if (run->part > 0) {
                g_string_append_printf(name, "%" G_GINT64_FORMAT, run->part);
        }
        run->files++;
        return (!rotates() || run_files_write("-w", name->str, error)) &&
               open_output(run, name->str, error);
}

/* A message of that time (ns) is not for the time of the trace. */
static gboolean is_later(const Run *run, gint64 time)
{
        return options.rotate && (run->files == 0 || time >= run->rotate_time);
}

/* Makes the trace the one for a message of that time (ns). With that, the last one may
 * have been written: then there is none, and the capture ends. */
static gboolean rotate(Run *run, gint64 time, GError **error)
{
        gint64 length = options.rotate * 1000000000;
        gboolean later = is_later(run, time);
        gboolean full = run->writer && options.megabytes &&
                        trace_writer_size(run->writer) >= (guint64)options.megabytes * 1000000;
        if (run->writer && !later && !full)
                return TRUE;
        if (run->writer) {
                take_counts(run);
                if (!close_output(run, error))
                        return FALSE;
        }
        if (options.rotate && options.files && run->files == options.files) {
                packet_merge_stop(run->packets);
                return TRUE;
        }
        run->part = later ? 0 : run->part + 1;
        if (later) {
                gint64 whole = run->files ? (time - run->rotate_time) / length * length : 0;
                run->rotate_start = run->files ? run->rotate_time + whole : time;
                run->rotate_time = run->rotate_start + length;
        }
        return begin_trace(run, error);
}

static gboolean write_ready(Run *run, GError **error)
{
        Message message;
        while (capture_next(run->capture, &message)) {
                if (rotates() && !rotate(run, message.time, error))
                        return FALSE;
                if (!run->writer)
                        continue;
                run->in_trace[message.op >> 1]++;
                if (!trace_writer_add(run->writer, &message, error) ||
                    (options.flush && !trace_writer_flush(run->writer, error)))
                        return FALSE;
        }
        return TRUE;
}

/* As tcpdump has it. */
static void report_counts(Run *run)
{
        const guint64 *n = capture_account(run->capture)->count;
        PcapCounts counts = packet_merge_counts(run->packets);
        g_autoptr(GString) text = g_string_new(NULL);
        g_string_append_printf(text, "%" G_GUINT64_FORMAT " packets captured", n[ACCOUNT_PACKETS]);
        if (options.interfaces)
                g_string_append_printf(text,
                                       ", %" G_GUINT64_FORMAT " packets received by filter"
                                       ", %" G_GUINT64_FORMAT " packets dropped by kernel",
                                       counts.received, counts.dropped_by_kernel);
        if (counts.dropped_by_interface)
                g_string_append_printf(text, ", %" G_GUINT64_FORMAT " packets dropped by interface",
                                       counts.dropped_by_interface);
        tool_warn("%s", text->str);
}

static void answer(Run *run)
{
        if (!asked)
                return;
        asked = 0;
        report_counts(run);
}

/* On a terminal, how a live capture is getting on. */
static void show_progress(Run *run)
{
        run->since_look = 0;
        if (!options.interfaces || !tool_progress_due())
                return;
        const guint64 *n = capture_account(run->capture)->count;
        PcapCounts counts = packet_merge_counts(run->packets);
        tool_progress_say("%" G_GUINT64_FORMAT " packets, %" G_GUINT64_FORMAT
                          " messages, %" G_GUINT64_FORMAT " dropped",
                          n[ACCOUNT_PACKETS],
                          n[ACCOUNT_CALLS] + n[ACCOUNT_RETURNS] + n[ACCOUNT_ONE_WAY],
                          counts.dropped_by_kernel + counts.dropped_by_interface);
}

static gboolean on_idle(gpointer user, gint64 ns)
{
        Run *run = user;
        if (interrupted)
                return FALSE;
        if (!run->begun)
                return TRUE;
        answer(run);
        show_progress(run);
        if (run->watch &&
            (!process_watch_update(run->watch, &run->write_error) ||
             (run->process_lines && !output_file_flush(run->process_lines, &run->write_error))))
                return FALSE;
        gint64 time = capture_time(run->capture);
        if (time != NO_TIME) {
                capture_idle(run->capture, time + MIN(ns, G_MAXINT64 - time));
                if (!write_ready(run, &run->write_error))
                        return FALSE;
        }
        return !run->writer || trace_writer_flush(run->writer, &run->write_error);
}

/* Something happened to an interface, which explains what is missing in the trace. */
static void on_notice(gpointer user, const char *text)
{
        Run *run = user;
        gint64 now = g_get_real_time();
        g_autofree char *fact = g_strdup_printf("%" G_GINT64_FORMAT ".%06" G_GINT64_FORMAT " %s",
                                                now / G_USEC_PER_SEC, now % G_USEC_PER_SEC, text);
        tool_warn("%s", text);
        if (run->writer && !run->write_error)
                trace_writer_fact(run->writer, "interface event", fact, &run->write_error);
}

/* --- the packets ------------------------------------------------------------- */

static gboolean read_packets(Run *run, GError **error)
{
        Packet packet;
        int result = 0;
        while (run->left != 0 && (result = packet_merge_next(run->packets, &packet, error)) == 1) {
                capture_add(run->capture, &packet);
                answer(run);
                if (++run->since_look >= LOOK_AT_CLOCK) {
                        show_progress(run);
                        node_names_update(run->names);
                }
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

static void on_secrets(gpointer user, const guint8 *bytes, gsize n)
{
        Run *run = user;
        key_log_add(run->keys, bytes, n);
}

static PacketMerge *open_packets(Run *run, GError **error)
{
        PcapOptions pcap = { .filter = options.filter,
                             .snapshot = options.snapshot ? options.snapshot : MAX_SNAPSHOT,
                             .buffer = options.buffer,
                             .promiscuous = !options.no_promiscuous,
                             .immediate = options.immediate,
                             .direction = (Direction)find_direction(),
                             .link_type = options.link_type,
                             .idle = on_idle,
                             .notice = on_notice,
                             .secrets = on_secrets,
                             .user = run,
                             .progress = tool_progress_read };
        const char *const *interfaces = (const char *const *)options.interfaces;
        guint n = interfaces ? 0 : run->sources->len;
        tool_progress_start((const char *const *)run->sources->pdata, n,
                            !rotates() && (!options.write || !strcmp(options.write, "-")));
        if (interfaces)
                return packet_merge_new_live(interfaces, g_strv_length(options.interfaces), &pcap,
                                             error);
        return packet_merge_new((const char *const *)run->sources->pdata, run->sources->len, &pcap,
                                error);
}

/* Where traces are begun later: the folder, which whom we become may not be able to reach, is
 * from now on where we are. One with the time in its name cannot be known. */
static gboolean enter_folder(GError **error)
{
        g_autofree char *folder = g_path_get_dirname(options.write);
        if (strchr(folder, '%'))
                return TRUE;
        if (chdir(folder) < 0)
                return usage(error, "-w %s: cannot enter the folder: %s", options.write,
                             g_strerror(errno));
        char *name = g_path_get_basename(options.write);
        g_free(options.write);
        options.write = name;
        return TRUE;
}

/* That a trace can be begun there is said now, and not when the first packet comes. */
static gboolean check_folder(const Rights *rights, GError **error)
{
        g_autofree char *folder = g_path_get_dirname(options.write);
        if (strchr(folder, '%') || faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0)
                return TRUE;
        return usage(error,
                     "%s may not write in the folder of the traces: change its owner, or keep "
                     "root's rights with -Z root",
                     rights->other ? rights->name : "you");
}

/* With interfaces open: opens the output, and gives up root's rights before a packet is looked
 * at. */
static gboolean open_live_output(Run *run, const Rights *rights, GError **error)
{
        g_autofree char *why = NULL;
        if ((rotates() && !enter_folder(error)) || (!options.rotate && !begin_trace(run, error)))
                return FALSE;
        if (run->writer && rights->other && !rights->keep)
                trace_writer_give(run->writer, rights->user, rights->group);
        if (!rights_drop(rights, &why, error))
                return FALSE;
        if (why)
                tool_warn("%s", why);
        return !rotates() || check_folder(rights, error);
}

static void update_names(gpointer user)
{
        Run *run = user;
        if (!run->write_error)
                process_watch_update(run->watch, &run->write_error);
}

/* With all rights. */
static gboolean open_processes(Run *run, const Rights *rights, GError **error)
{
        g_autofree char *why = NULL;
        if (!options.processes)
                return TRUE;
        if (options.processes_to) {
                run->process_lines = output_file_new(options.processes_to, TRUE, error);
                if (!run->process_lines)
                        return FALSE;
                if (rights->other && !rights->keep)
                        output_file_give(run->process_lines, rights->user, rights->group);
        }
        run->watch = process_watch_new(options.naming, run->names, run->nodes, &why);
        if (run->process_lines)
                process_watch_write_to(run->watch, run->process_lines);
        run->polls = why != NULL;
        if (why)
                tool_warn("--processes: the kernel does not say who opens connections (%s; it "
                          "takes CAP_PERFMON and tracefs): polling /proc, which misses short "
                          "connections, and processes of users other than %s",
                          why, rights->other && !rights->keep ? rights->name : "whoever runs this");
        node_names_follow(run->names, update_names, run);
        return TRUE;
}

static gboolean open_everything(Run *run, GError **error)
{
        g_auto(Rights) rights = { .keep = TRUE };
        if (options.interfaces && !rights_find(&rights, options.user, options.write, error))
                return FALSE;
        run->packets = open_packets(run, error);
        if (!run->packets || interrupted)
                return FALSE;
        if (options.interfaces)
                return open_processes(run, &rights, error) && open_live_output(run, &rights, error);
        return options.rotate || begin_trace(run, error);
}

/* Opens and reads everything. FALSE: error set, and there may be a trace in part; or
 * interrupted. */
static gboolean capture_packets(Run *run, gint64 duration, GError **error)
{
        if (!open_everything(run, error))
                return FALSE;
        run->begun = TRUE;
        current_packets = run->packets;
        if (options.interfaces)
                tool_warn("listening on %s, link type %s", (char *)run->sources->pdata[0],
                          packet_merge_link_type(run->packets, 0));
        if (interrupted)
                packet_merge_stop(run->packets);
        if (duration)
                alarm((guint)CLAMP((duration + 999999999) / 1000000000, 1, G_MAXINT32));
        gboolean ok = read_packets(run, error);
        current_packets = NULL;
        take_counts(run);
        return ok;
}

/* Returns whether all is fit for nesting, as far as there is anything. */
static gboolean report(Run *run)
{
        const Account *account = capture_account(run->capture);
        g_autofree char *summary = account_summary(account);
        g_auto(GStrv) lines = account_judge(account);
        doubts_fold(run->doubts);
        doubts_sort(run->doubts, run->nodes);
        g_auto(GStrv) doubts = doubts_to_lines(run->doubts, run->nodes);
        g_autofree char *judgement = judge(run, account->count, run->doubts, run->edges);
        tool_warn("%s", summary);
        if (run->host && run->host_is_sure)
                tool_warn(
                        "every packet is from or to %s: taken for captured there (--host NAME says "
                        "where, --host '' on no host)",
                        run->host);
        else if (run->host)
                tool_warn("every packet is from or to %s: if they were captured there, say so with "
                          "--host %s",
                          run->host, run->host);
        for (char **line = lines; *line; line++)
                tool_warn("%s", *line);
        if (options.nodes && account->count[ACCOUNT_PACKETS] && !node_names_is_used(run->names))
                tool_warn("--nodes %s: it names no address that was seen", options.nodes[0]);
        for (char **line = doubts; *line; line++)
                tool_warn("%s", *line);
        tool_warn("%s", judgement);
        return judgement_is_fit_for_nesting(judgement);
}

/* What is still under way goes out, and the account after it. */
static gboolean finish(Run *run, GError **error)
{
        capture_finish(run->capture);
        if (!write_ready(run, error))
                return FALSE;
        if (!run->writer && run->files == 0 && !rotate(run, g_get_real_time() * 1000, error))
                return FALSE;
        if (run->writer && !close_output(run, error))
                return FALSE;
        return !run->process_lines ||
               output_file_close(g_steal_pointer(&run->process_lines), error);
}

static int capture_all(Run *run, gint64 duration)
{
        GError *error = NULL, *finish_error = NULL;
        catch_signals();
        gboolean ok = capture_packets(run, duration, &error);
        if (interrupted && (!run->live || !run->begun)) {
                g_clear_error(&error);
                return EXIT_INTERRUPTED;
        }
        if (!ok && (!run->begun || g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT) ||
                    g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_PIPE) ||
                    capture_account(run->capture)->count[ACCOUNT_PACKETS] == 0))
                return tool_fail(error);
        if (!finish(run, &finish_error)) {
                g_clear_error(&error);
                return tool_fail(finish_error);
        }
        if (options.interfaces)
                report_counts(run);
        gboolean fit = report(run);
        if (ok)
                return options.strict && !fit ? EXIT_DIFFERS : EXIT_DONE;
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
        g_ptr_array_free(run->sources, TRUE);
        g_ptr_array_free(run->link_types, TRUE);
        g_array_free(run->doubts, TRUE);
        g_array_free(run->edges, TRUE);
        packet_merge_free(run->packets);
        trace_writer_free(run->writer);
        capture_free(run->capture);
        node_names_free(run->names);
        key_log_free(run->keys);
        identifiers_free(run->identifiers);
        learned_names_free(run->learned);
        process_watch_free(run->watch);
        output_file_free(run->process_lines);
        node_table_free(run->nodes);
        g_clear_error(&run->write_error);
        g_free(run->host);
        g_free(run);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)

/* Where all packets of the files are from or to one address: the name of its node. Files
 * that cannot be read are none of its business. The caller's to free. */
static char *recognise_host(Run *run)
{
        PcapOptions pcap = { .filter = options.filter };
        g_autoptr(CommonAddress) common = common_address_new();
        gint64 left = run->left;
        Endpoint own = { .port = 0 };
        gint64 first = NO_TIME;
        Packet packet;
        for (guint i = 0; i < run->sources->len; i++) {
                g_autoptr(PcapSource) source =
                        pcap_source_open(run->sources->pdata[i], &pcap, NULL);
                while (left != 0 && source && pcap_source_next(source, &packet, NULL) == 1) {
                        if (!common_address_add(common, &packet))
                                return NULL;
                        first = first == NO_TIME ? packet.time : MIN(first, packet.time);
                        left--;
                }
        }
        if (!common_address_find(common, &own.address, &run->host_is_sure))
                return NULL;
        NodeId node = node_names_lookup(run->names, &own, NULL, first);
        return g_strdup(node_table_name(run->nodes, node));
}

/* What the facts call where the packets came from. */
static GPtrArray *list_sources(void)
{
        GPtrArray *sources = g_ptr_array_new_with_free_func(g_free);
        for (guint list = 0; list < 2; list++)
                for (char **p = list ? options.rest : options.read; p && *p; p++)
                        g_ptr_array_add(sources, g_strdup(*p));
        if (options.interfaces)
                g_ptr_array_add(sources, g_strjoinv(" ", options.interfaces));
        return sources;
}

/* The files of --nodes. */
static gboolean load_names(Run *run, GError **error)
{
        g_autoptr(NodeFiles) files = node_files_new(run->names, run->nodes);
        g_autofree char *first = NULL;
        guint n;
        for (char **p = options.nodes; p && *p; p++)
                if (!node_files_load(files, *p, error))
                        return FALSE;
        node_files_settle(files);
        n = node_names_count_twice(run->names, &first);
        if (n == 1)
                tool_warn("--nodes %s: %s: the first counts", options.nodes[0], first);
        else if (n)
                tool_warn("--nodes %s: %s, and %u more lines are such: the first counts",
                          options.nodes[0], first, n - 1);
        return TRUE;
}

/* The file of --tls-keys: opened with all rights, and read on while the capture lasts. */
static gboolean load_keys(Run *run, GError **error)
{
        struct stat status;
        if (!options.tls_keys)
                return TRUE;
        int fd = open(options.tls_keys, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &status) < 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "--tls-keys %s: %s",
                            options.tls_keys, g_strerror(errno));
                if (fd >= 0)
                        close(fd);
                return FALSE;
        }
        if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)))
                tool_warn("--tls-keys %s: others may read it (mode %04o), and with it the traffic: "
                          "chmod 600",
                          options.tls_keys, status.st_mode & 07777);
        if (!key_log_read(run->keys, fd, options.tls_keys, run->live, error)) {
                g_prefix_error(error, "--tls-keys ");
                return FALSE;
        }
        guint64 broken = key_log_broken_lines(run->keys);
        if (broken)
                tool_warn("--tls-keys %s: %" G_GUINT64_FORMAT " %s not of a key log",
                          options.tls_keys, broken, broken == 1 ? "line is" : "lines are");
        return TRUE;
}

/* The secret of --ids-key: bytes, the same on every host. Whoever has it can try out what a hash is
 * of, so nobody else may read it. */
static guint8 *load_secret(gsize *n, GError **error)
{
        struct stat status;
        g_autofree guint8 *secret = g_malloc(MOST_SECRET + 1);
        int fd = open(options.ids_key, O_RDONLY | O_CLOEXEC);
        gssize got = 0;
        *n = 0;
        if (fd < 0 || fstat(fd, &status) < 0)
                got = -1;
        while (got >= 0 && *n <= MOST_SECRET &&
               (got = read(fd, secret + *n, MOST_SECRET + 1 - *n)) > 0)
                *n += (gsize)got;
        if (got < 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "--ids-key %s: %s",
                            options.ids_key, g_strerror(errno));
        else if (S_ISREG(status.st_mode) && (status.st_mode & 077))
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "--ids-key %s: others may read it (mode %04o), and with it try out "
                            "what a hash is of: chmod 600",
                            options.ids_key, status.st_mode & 07777);
        else if (*n < LEAST_SECRET || *n > MOST_SECRET)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "--ids-key %s: expected %d to %d random bytes, as of head -c 32 "
                            "/dev/urandom",
                            options.ids_key, LEAST_SECRET, MOST_SECRET);
        else
                got = 1;
        if (fd >= 0)
                close(fd);
        return got == 1 ? g_steal_pointer(&secret) : NULL;
}

static gboolean load_identifiers(Run *run, GError **error)
{
        gsize n = 0;
        g_autofree guint8 *secret = NULL;
        if (!options.ids)
                return TRUE;
        if (options.ids_key && !(secret = load_secret(&n, error)))
                return FALSE;
        run->identifiers = identifiers_new(secret, n, options.ids_ignore, error);
        if (secret)
                explicit_bzero(secret, n);
        if (run->identifiers)
                return TRUE;
        (*error)->domain = RAVEL_ERROR;
        (*error)->code = RAVEL_ERROR_USAGE;
        g_prefix_error(error, "--ids-ignore: ");
        return FALSE;
}

static Run *run_new(gint64 *duration, GError **error)
{
        g_autoptr(Run) run = g_new0(Run, 1);
        gboolean taps = options.interfaces && options.interfaces[0] && options.interfaces[1];
        run->sources = list_sources();
        run->doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        run->edges = g_array_new(FALSE, FALSE, sizeof(EdgeCalls));
        run->link_types = g_ptr_array_new_with_free_func(g_free);
        run->nodes = node_table_new();
        run->names = node_names_new(run->nodes);
        run->keys = key_log_new();
        run->learned = options.names ? learned_names_new() : NULL;
        if (!check_options(duration, error) || !load_filter(error) || !check_files(run, error) ||
            !parse_protocols(run, error) || !load_names(run, error))
                return NULL;
        run->live = options.interfaces || any_is_pipe();
        if (!load_keys(run, error) || !load_identifiers(run, error))
                return NULL;
        run->left = options.count;
        if (!options.host && !run->live)
                run->host = recognise_host(run);
        if (run->host_is_sure)
                options.host = run->host;
        else if (options.host && !*options.host)
                g_clear_pointer(&options.host, g_free);
        CaptureOptions how = { .patience = run->live ? CAPTURE_PATIENCE_LIVE : CAPTURE_PATIENCE,
                               .disorder = taps ? CAPTURE_DISORDER_TAPS : CAPTURE_DISORDER,
                               .labels = options.no_labels ? LABELS_NONE
                                         : options.labels  ? LABELS_WHOLE
                                                           : LABELS_WORDS,
                               .identifiers = run->identifiers,
                               .in_order = run->live,
                               .host = options.host,
                               .learned = run->learned,
                               .keys = run->keys,
                               .ports = options.protocols ? run->ports : NULL };
        run->capture = capture_new(&how, run->nodes, run->names);
        return g_steal_pointer(&run);
}

static int list_interfaces(void)
{
        GError *error = NULL;
        g_autofree char *list = pcap_source_list_interfaces(&error);
        if (!list)
                return tool_fail(error);
        fputs(list, stdout);
        return EXIT_DONE;
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
        if (options.list_interfaces)
                return list_interfaces();
        g_autoptr(Run) run = run_new(&duration, &error);
        return run ? capture_all(run, duration) : tool_fail(error);
}
