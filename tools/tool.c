/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/tool.h"

#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper.h"
#include "paths/path-text.h"
#include "tools/run-files.h"
#include "tracefmt/output-file.h"

/* Help and the version are all that goes through stdio; a closed pipe has read what it wanted. */
static void end_output(void)
{
        if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
                tool_warn("standard output: %s", g_strerror(errno));
                _exit(EXIT_PARTIAL);
        }
}

/* Large arrays go back to the kernel when they are freed: glibc would begin to keep those of up to
 * 32 MB, with holes between them. */
static void keep_little_memory(void)
{
#ifdef M_MMAP_THRESHOLD
        enum { LARGE = 1 << 22 };

        mallopt(M_MMAP_THRESHOLD, LARGE);
        mallopt(M_TRIM_THRESHOLD, LARGE);
#endif
}

void tool_start(void)
{
        keep_little_memory();
        setlocale(LC_CTYPE, "");
        /* Errors of write(): what is half written is removed. */
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN);
        output_files_catch_signals();
        atexit(end_output);
}

int tool_run_helper(const char *program, const char *verb, char **argv)
{
        GError *error = NULL;
        g_autofree char *path = helper_find(program, &error);

        tool_set_verb(verb);
        if (!path)
                return tool_fail(error);
        execv(path, argv);
        g_set_error(&error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT, "cannot start %s: %s", path,
                    g_strerror(errno));
        return tool_fail(error);
}

/* --- the options of readers ------------------------------------------------ */

static TraceReaderOptions reader_options = TRACE_READER_DEFAULTS;
static char **excluded;

static gboolean parse_moment(const char *option, const char *value, gpointer data, GError **error)
{
        (void)data;
        return trace_parse_time(
                value, strcmp(option, "--to") ? &reader_options.from : &reader_options.to, error);
}

void tool_add_reader_options(void)
{
        static const GOptionEntry entries[] = {
                { "from", 0, 0, G_OPTION_ARG_CALLBACK, parse_moment,
                  "Leave out messages before TIME", "TIME" },
                { "to", 0, 0, G_OPTION_ARG_CALLBACK, parse_moment,
                  "Leave out messages at TIME or later", "TIME" },
                { "exclude", 0, 0, G_OPTION_ARG_STRING_ARRAY, &excluded,
                  "Leave out messages of NODE; may be repeated", "NODE" },
                { "keep-going", 0, 0, G_OPTION_ARG_NONE, &reader_options.keep_going,
                  "Skip broken lines and count them", NULL },
                G_OPTION_ENTRY_NULL
        };

        tool_add_options(entries, NULL);
}

static GHashTable *input_names; /* by path */

void tool_call_input(const char *path, const char *name)
{
        if (!input_names)
                input_names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        g_hash_table_insert(input_names, g_strdup(path), g_strdup(name));
}

static const char *input_name(const char *path)
{
        const char *name = input_names ? g_hash_table_lookup(input_names, path) : NULL;

        return name ? name : path;
}

const TraceReaderOptions *tool_reader_options(void)
{
        reader_options.name = input_name;
        reader_options.exclude = excluded;
        reader_options.progress = tool_progress_read;
        return &reader_options;
}

TraceReader *tool_open_trace(int argc, char **argv, NodeTable *nodes, gboolean want_digest,
                             const RunNeeds *needs, GError **error)
{
        TraceReaderOptions options = *tool_reader_options();

        options.want_digest = want_digest;
        if (argc != 2) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            argc < 2 ? "no trace named: expected a file, or - for standard input"
                                     : "%d traces named: expected one",
                            argc - 1);
                return NULL;
        }
        if (!run_files_read(argv[1], error) || (needs && !run_files_confine(needs, error)))
                return NULL;
        tool_progress_start((const char *const *)argv + 1, 1, FALSE);
        return trace_reader_new(argv[1], nodes, &options, error);
}

gboolean tool_sort_trace(TraceReader *reader, GError **error)
{
        g_autofree char *where = NULL;

        if (!g_error_matches(*error, RAVEL_ERROR, RAVEL_ERROR_DISORDER))
                return FALSE;
        where = g_strdup((*error)->message);
        g_clear_error(error);
        if (!trace_reader_sort(reader, error))
                return FALSE;
        tool_warn("%s: %s", where, trace_reader_order(reader));
        return TRUE;
}

/* Names of --exclude that no message has. */
static void report_excluded(const TraceReader *reader, const NodeTable *nodes)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        for (NodeId i = 0; i < node_table_size(nodes); i++)
                if (!g_strv_contains((const char *const *)excluded, node_table_name(nodes, i)))
                        g_ptr_array_add(names, (gpointer)node_table_name(nodes, i));
        g_ptr_array_add(names, NULL);
        for (guint i = 0; excluded[i]; i++) {
                const char *nearest;

                if (trace_reader_excluded(reader, i))
                        continue;
                nearest = tool_nearest(excluded[i], (const char *const *)names->pdata);
                tool_warn("%s: no message is from or to a node \"%s\" (--exclude)%s%s%s",
                          trace_reader_name(reader), excluded[i],
                          nearest ? ": did you mean \"" : "", nearest ? nearest : "",
                          nearest ? "\"?" : "");
        }
}

static gboolean is_partial; /* a trace was cut */
static gboolean is_empty;   /* a trace had no message */

int tool_done(void)
{
        return is_partial ? EXIT_PARTIAL : is_empty ? EXIT_DIFFERS : EXIT_DONE;
}

void tool_report_empty(const TraceReader *reader)
{
        g_autofree char *first = NULL, *last = NULL;
        gint64 from, to;

        for (guint i = 0; excluded && excluded[i]; i++)
                if (trace_reader_excluded(reader, i)) {
                        tool_warn("%s: --exclude leaves no messages", trace_reader_name(reader));
                        return;
                }
        if (!trace_reader_is_empty(reader, &from, &to) || from > to) {
                tool_warn("%s: no messages in it", trace_reader_name(reader));
                is_empty = TRUE;
                return;
        }
        first = path_format_moment(from, 9);
        last = path_format_moment(to, 9);
        tool_warn("%s: no messages in the time of --from and --to: it spans %s to %s",
                  trace_reader_name(reader), first, last);
}

void tool_report_reader(const TraceReader *reader)
{
        const guint64 *broken = trace_reader_broken(reader);
        TraceEnd end = trace_reader_end(reader);

        tool_progress_clear(); /* --to may have ended the reading */
        for (guint i = 0; i < N_BROKEN; i++)
                if (broken[i])
                        tool_warn("%s: %" G_GUINT64_FORMAT " lines left out: %s",
                                  trace_reader_name(reader), broken[i], broken_line_name(i));
        if (trace_reader_late(reader))
                tool_warn("%s: %" G_GUINT64_FORMAT " messages came after later ones and could not "
                          "be put in order: write it to a file and read that",
                          trace_reader_name(reader), trace_reader_late(reader));
        if (end == TRACE_CUT)
                tool_warn("%s: it ends within a line, as after a full disk: read up to there",
                          trace_reader_name(reader));
        else if (end == TRACE_UNFINISHED)
                tool_warn("%s: it is incomplete, or still being written: the counts at the end of "
                          "a captured trace are missing",
                          trace_reader_name(reader));
        is_partial |= end == TRACE_CUT;
        if (excluded)
                report_excluded(reader, trace_reader_nodes(reader));
}

/* The value of a line "key=value"; NULL where there is none. */
static char *parameter(const StoreReader *reader, const char *key)
{
        g_auto(GStrv) lines = g_strsplit(store_reader_run(reader)->parameters, "\n", -1);
        gsize n = strlen(key);

        for (char **line = lines; *line; line++)
                if (!strncmp(*line, key, n) && (*line)[n] == '=')
                        return g_strdup(*line + n + 1);
        return NULL;
}

void tool_compare_parameter(const StoreReader *a, const StoreReader *b, const char *key)
{
        g_autofree char *in_a = parameter(a, key), *in_b = parameter(b, key);

        if (g_strcmp0(in_a, in_b))
                tool_warn("the stores' patterns do not compare: %s has %s=%s, %s %s=%s",
                          store_reader_name(a), key, in_a ? in_a : "", store_reader_name(b), key,
                          in_b ? in_b : "");
}
