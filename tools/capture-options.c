/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/capture-options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "capture/network/tunnel.h"
#include "tools/run-files.h"
#include "tools/tool.h"

enum {
        MAX_BUFFER = G_MAXINT / 1024,
        MAX_FILTER = 1 << 20,        /* bytes of -F's file */
        MAX_MEGABYTES = 1000 * 1000, /* of -C */
};

#define LEAST_MEMORY (G_GUINT64_CONSTANT(1) << 24)
#define MOST_MEMORY  (G_GUINT64_CONSTANT(1) << 40)

static CaptureCommand options = { .count = G_MAXINT64 };

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

static gboolean parse_memory(const char *option, const char *value, gpointer user, GError **error)
{
        char *end;
        guint64 n = g_ascii_strtoull(value, &end, 10);
        guint shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
        (void)option, (void)user;
        if (!g_ascii_isdigit(*value) || shift == 0 || end[1] || n > MOST_MEMORY >> shift ||
            n << shift < LEAST_MEMORY) {
                g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                            "--memory %s: expected a size such as 256M or 2G, 16M to 1024G", value);
                return FALSE;
        }
        options.memory = n << shift;
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
        { "tunnel", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.tunnels,
          "UDP port PORT has tunnels of KIND", "PORT=KIND" },
        { "proxy-protocol", 0, 0, G_OPTION_ARG_NONE, &options.proxy_protocol,
          "Callers are whom PROXY headers name", NULL },
        { "tls-keys", 0, 0, G_OPTION_ARG_FILENAME, &options.tls_keys,
          "Decrypt TLS by the keys in FILE", "FILE" },
        { "processes", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, (gpointer)parse_naming,
          "Live: by comm, unit, cgroup (-to FILE)", "HOW" },
        { "processes-to", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &options.processes_to,
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
        { "tag", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.tags,
          "Values of HTTP requests (--tag-hash)", "NAME=KIND:ARG" },
        { "tag-hash", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options.tag_hash,
          "Hash the values of tags", NULL },
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
        { "memory", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_CALLBACK, (gpointer)parse_memory,
          "Memory for what grows with packets (64M, 2G)", "SIZE" },
        { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.rest, NULL, "[FILE...]" },
        G_OPTION_ENTRY_NULL
};

gboolean capture_command_rotates(const CaptureCommand *command)
{
        return command->rotate || command->megabytes;
}

char *capture_command_name_at(const CaptureCommand *command, gint64 time)
{
        struct tm broken;
        time_t seconds = (time_t)time;
        char name[4096];
        if (!localtime_r(&seconds, &broken) ||
            strftime(name, sizeof name, command->write, &broken) == 0)
                return g_strdup(command->write);
        return g_strdup(name);
}

/* Whether one trace does not overwrite the one before it. */
static gboolean name_has_time(const CaptureCommand *command)
{
        g_autofree char *first = capture_command_name_at(command, 0),
                        *second = capture_command_name_at(command, command->rotate);
        return strcmp(first, second) != 0;
}

static gboolean parse_protocols(CaptureCommand *command, GError **error)
{
        for (char **p = command->protocols; p && *p; p++) {
                char *end;
                guint64 port = g_ascii_strtoull(*p, &end, 10);
                const Protocol *protocol = *end == '=' ? protocol_lookup(end + 1) : NULL;
                if (port == 0 || port > 65535 || !protocol) {
                        g_autofree char *names = protocol_list_names();
                        return ravel_fail(error, RAVEL_ERROR_USAGE,
                                          "--proto %s: expected PORT=NAME, NAME one of %s", *p,
                                          names);
                }
                command->ports[port] = protocol;
        }
        return TRUE;
}

static gboolean parse_tunnels(CaptureCommand *command, GError **error)
{
        for (char **p = command->tunnels; p && *p; p++) {
                char *end;
                guint64 port = g_ascii_strtoull(*p, &end, 10);
                guint8 kind = *end == '=' ? tunnel_kind_lookup(end + 1) : 0;
                if (port == 0 || port > 65535 || !kind) {
                        g_autofree char *kinds = tunnel_kind_list();
                        return ravel_fail(error, RAVEL_ERROR_USAGE,
                                          "--tunnel %s: expected PORT=KIND, KIND one of %s", *p,
                                          kinds);
                }
                command->tunnel_ports[port] = kind;
        }
        return TRUE;
}

static gboolean capture_check_files(const CaptureCommand *command, const GPtrArray *sources,
                                    GError **error)
{
        for (guint i = 0; !command->interfaces && i < sources->len; i++)
                if (!run_files_read(sources->pdata[i], error))
                        return FALSE;
        for (char **p = command->nodes; p && *p; p++)
                if (!run_files_read(*p, error))
                        return FALSE;
        return (!command->tls_keys || run_files_read(command->tls_keys, error)) &&
               (!command->ids_key || run_files_read(command->ids_key, error)) &&
               (!command->filter_file || run_files_read(command->filter_file, error)) &&
               (!command->processes_to ||
                run_files_write("--processes-to", command->processes_to, error)) &&
               (capture_command_rotates(command) || run_files_write("-w", command->write, error));
}

static gboolean parse_direction(CaptureCommand *command)
{
        static const char *const names[] = { "inout", "in", "out" };
        for (guint i = 0; i < G_N_ELEMENTS(names); i++)
                if (g_ascii_strcasecmp(names[i], command->direction) == 0) {
                        command->way = (Direction)i;
                        return TRUE;
                }
        return FALSE;
}

/* The filter that -F names. A # begins a comment. */
static gboolean load_filter(CaptureCommand *command, GError **error)
{
        if (!command->filter_file)
                return TRUE;
        FILE *file = fopen(command->filter_file, "re");
        if (!file)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-F %s: cannot open: %s",
                                  command->filter_file, g_strerror(errno));
        char *text = g_malloc(MAX_FILTER + 1);
        gsize n = fread(text, 1, MAX_FILTER + 1, file);
        gboolean whole = feof(file) && !ferror(file) && !memchr(text, 0, n);
        fclose(file);
        if (!whole || n > MAX_FILTER) {
                g_free(text);
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "-F %s: not a filter: it cannot be read, or is too long",
                                  command->filter_file);
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
        command->filter = g_strchomp(text);
        return TRUE;
}

static gboolean capture_check_options(CaptureCommand *command, GError **error)
{
        gboolean files = command->read || command->rest;
        if (command->interfaces && command->rest && !command->read &&
            !g_file_test(command->rest[0], G_FILE_TEST_EXISTS)) {
                g_autofree char *filter = g_strjoinv(" ", command->rest);
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "there is no file \"%s\"; if \"%s\" is a filter: -f '%s'",
                                  command->rest[0], filter, filter);
        }
        if (files && command->interfaces)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "files (-r) and interfaces (-i) cannot be captured at once");
        if (!files && !command->interfaces)
                return ravel_fail(
                        error, RAVEL_ERROR_USAGE,
                        "nothing to capture: name a file with -r FILE or an interface with -i IF");
        if (command->labels && command->no_labels)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--labels and --no-labels: expected one of them");
        if ((command->ids_key && !command->ids && !command->tag_hash) ||
            (command->ids_ignore && !command->ids))
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--ids-key and --ids-ignore are for --ids");
        if (command->tag_hash && !command->tags)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "--tag-hash needs --tag");
        if (command->count < 1)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "-c %" G_GINT64_FORMAT
                                  ": expected a number of packets, 1 or more",
                                  command->count);
        if (command->snapshot < 0 || command->snapshot > MAX_SNAPSHOT)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "-s %d: expected a number of bytes, %d at most",
                                  command->snapshot, MAX_SNAPSHOT);
        if (command->buffer < 0 || command->buffer > MAX_BUFFER)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "-B %d: expected a number of KiB, %d at most", command->buffer,
                                  MAX_BUFFER);
        if (command->rotate < 0 || command->files < 0 || command->rotate > G_MAXINT32 ||
            (command->files && !capture_command_rotates(command)))
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "-G takes a number of seconds, and -W needs -G or -C");
        if (command->megabytes < 0 || command->megabytes > MAX_MEGABYTES)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "-C %" G_GINT64_FORMAT ": expected millions of bytes, %d at most",
                                  command->megabytes, MAX_MEGABYTES);
        if (command->megabytes && (!command->write || strcmp(command->write, "-") == 0))
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-C needs the name of a file: -w FILE");
        if (command->rotate && (!command->write || !name_has_time(command)))
                return ravel_fail(
                        error, RAVEL_ERROR_USAGE,
                        "-G needs -w with the time in the name, different every %" G_GINT64_FORMAT
                        " s: for instance -w trace-%%Y%%m%%d-%%H%%M%%S",
                        command->rotate);
        if (command->filter && command->filter_file)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "the filter is either in -f or in the file of -F");
        if ((command->direction || command->link_type) && !command->interfaces)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-Q and -y are for live captures (-i)");
        if (command->direction && !parse_direction(command))
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-Q %s: expected in, out or inout",
                                  command->direction);
        if (command->user && !command->interfaces)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-Z is for live captures (-i)");
        if (command->processes && !command->interfaces)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--processes is for live captures (-i); lines that one "
                                  "wrote with --processes-to are for --nodes");
        if (command->processes_to && !command->processes)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "--processes-to needs --processes");
        if (command->duration && !command->interfaces)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "--duration is for live captures (-i)");
        if (command->duration && !tool_duration(command->duration, &command->end_after, error))
                return FALSE;
        return TRUE;
}

CaptureCommand *capture_command_parse(int *argc, char ***argv, int *status)
{
        return tool_parse("- packets to a trace", entries, NULL, argc, argv, status) ? &options
                                                                                     : NULL;
}

gboolean capture_command_check(CaptureCommand *command, const GPtrArray *sources, GError **error)
{
        return capture_check_options(command, error) && load_filter(command, error) &&
               capture_check_files(command, sources, error) && parse_protocols(command, error) &&
               parse_tunnels(command, error);
}
