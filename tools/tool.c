/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/tool.h"

#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper.h"
#include "base/printable.h"
#include "tools/removed.h"
#include "tools/run-files.h"
#include "tracefmt/output-file.h"

static const char *current_verb;
static gboolean is_quiet, is_passed_on;
static char *last_words; /* where it is quiet */

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

void tool_be_no_terminal(void)
{
        is_passed_on = TRUE;
}

void tool_be_quiet(void)
{
        is_quiet = TRUE;
}

const char *tool_last_words(void)
{
        return last_words ? last_words : "";
}

void tool_set_verb(const char *verb)
{
        g_autofree char *name = g_strdup_printf("ravel %s", verb);

        current_verb = verb;
        g_set_prgname(name); /* the usage line of --help */
}

/* --- progress --------------------------------------------------------------- */

static struct {
        gboolean wanted;
        guint width;         /* of what stands there now; 0: nothing */
        guint64 done, size;  /* stored bytes; size 0: not known */
        gint64 began, shown; /* us */
        const char *stage;   /* after reading, with work of its own */
        gint64 stage_began;
} progress;

void tool_progress_start(const char *const *paths, guint n, gboolean prints)
{
        struct stat st;

        progress.wanted =
                !is_passed_on && isatty(STDERR_FILENO) && !(prints && isatty(STDOUT_FILENO));
        progress.began = g_get_monotonic_time();
        progress.done = progress.size = 0;
        progress.stage = NULL;
        for (guint i = 0; i < n; i++) {
                if (!strcmp(paths[i], "-") || stat(paths[i], &st) < 0 || !S_ISREG(st.st_mode)) {
                        progress.size = 0;
                        return;
                }
                progress.size += (guint64)st.st_size;
        }
}

static void clear_progress(void)
{
        if (progress.width > 0)
                fprintf(stderr, "\r%*s\r", (int)progress.width, "");
        progress.width = 0;
}

static void show_progress(double seconds)
{
        double done = (double)progress.done, size = (double)progress.size;
        const char *stage = progress.stage ? progress.stage : "";
        int width;

        clear_progress();
        if (done < size) {
                guint64 left = (guint64)(seconds * (size - done) / done + 0.5);

                width = fprintf(stderr,
                                "ravel %s: %s%s%.0f %% of %.1f MB, %.1f MB/s, %" G_GUINT64_FORMAT
                                ":%02u left",
                                current_verb, stage, *stage ? ", " : "", 100 * done / size,
                                size / 1e6, done / seconds / 1e6, left / 60, (guint)(left % 60));
        } else { /* a pipe, or it is read again */
                width = fprintf(stderr, "ravel %s: %s%s%.1f MB, %.1f MB/s", current_verb, stage,
                                *stage ? ", " : "", done / 1e6, done / seconds / 1e6);
        }
        fflush(stderr);
        progress.width = (guint)MAX(width, 0);
}

void tool_progress_stage(const char *what)
{
        clear_progress();
        progress.stage = what;
        progress.stage_began = g_get_monotonic_time();
}

void tool_progress_work(double share)
{
        gint64 left;

        if (!progress.stage || !(share > 0) || !tool_progress_due())
                return;
        left = (gint64)((double)(progress.shown - progress.stage_began) * (1 - share) / share /
                                G_USEC_PER_SEC +
                        0.5);
        tool_progress_say("%s, %.0f %%, %" G_GINT64_FORMAT ":%02u left", progress.stage,
                          100 * share, left / 60, (guint)(left % 60));
}

gboolean tool_progress_due(void)
{
        gint64 now;

        if (!progress.wanted)
                return FALSE;
        now = g_get_monotonic_time();
        if (now - progress.began <= G_USEC_PER_SEC || now - progress.shown <= G_USEC_PER_SEC / 5)
                return FALSE;
        progress.shown = now;
        return TRUE;
}

void tool_progress_say(const char *format, ...)
{
        va_list arguments;
        int width;

        clear_progress();
        width = fprintf(stderr, "ravel %s: ", current_verb);
        va_start(arguments, format);
        width += vfprintf(stderr, format, arguments);
        va_end(arguments);
        fflush(stderr);
        progress.width = (guint)MAX(width, 0);
}

void tool_progress_read(gsize n)
{
        progress.done += n;
        if (n == 0)
                clear_progress();
        else if (tool_progress_due())
                show_progress((double)(progress.shown - progress.began) / G_USEC_PER_SEC);
}

/* --- messages --------------------------------------------------------------- */

/* A name in a message may come from a packet or a file: one line, no escapes. */
static void print_line(const char *text)
{
        g_autoptr(GString) line = g_string_new("ravel");

        if (is_quiet) {
                g_free(last_words);
                last_words = g_strdup(text);
                return;
        }
        clear_progress();
        if (current_verb)
                g_string_append_printf(line, " %s", current_verb);
        g_string_append(line, ": ");
        printable_append(line, text, -1, PRINTABLE_TEXT);
        g_string_append_c(line, '\n');
        fputs(line->str, stderr);
}

int tool_fail(GError *error)
{
        int status = EXIT_INPUT;

        /* As with "| head": whoever closed the pipe has seen enough. */
        if (!g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_PIPE))
                print_line(error->message);
        if (error->domain == RAVEL_ERROR)
                status = error->code >= RAVEL_ERROR_OUTPUT ? EXIT_PARTIAL : error->code;
        g_error_free(error);
        return status;
}

void tool_warn(const char *format, ...)
{
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        print_line(text);
}

/* -n1 is -n 1, as with other programs; GOption knows only the latter. */
static void split_numbers(int *argc, char ***argv)
{
        static GPtrArray *split; /* what argv is from now on */
        static char flags[128][sizeof "-n"];
        gboolean options = TRUE;

        split = g_ptr_array_new();
        for (int i = 0; i < *argc; i++) {
                char *text = (*argv)[i];

                options = options && strcmp(text, "--") != 0;
                if (options && text[0] == '-' && g_ascii_isalpha(text[1]) &&
                    g_ascii_isdigit(text[2 + (text[2] == '-')])) {
                        char *flag = flags[(guchar)text[1]];

                        g_ptr_array_add(split, memcpy(flag, text, 2));
                        text += 2;
                }
                g_ptr_array_add(split, text);
        }
        *argc = (int)split->len;
        g_ptr_array_add(split, NULL);
        *argv = (char **)split->pdata;
}

static GPtrArray *choices; /* of ToolChoice */

void tool_add_choices(const ToolChoice *more)
{
        if (!choices)
                choices = g_ptr_array_new();
        for (; more->option; more++)
                g_ptr_array_add(choices, (gpointer)more);
}

guint tool_choice_index(const char *value, const char *const *words)
{
        for (guint i = 0; value && words[i]; i++)
                if (!strcmp(value, words[i]))
                        return i;
        return 0;
}

/* "text, tsv or json" */
static char *list_words(const char *const *words)
{
        GString *text = g_string_new(words[0]);

        for (guint i = 1; words[i]; i++)
                g_string_append_printf(text, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
        return g_string_free(text, FALSE);
}

static gboolean check_choices(GError **error)
{
        for (guint i = 0; choices && i < choices->len; i++) {
                const ToolChoice *choice = choices->pdata[i];
                g_autofree char *words = NULL;

                if (!*choice->value || g_strv_contains(choice->words, *choice->value))
                        continue;
                words = list_words(choice->words);
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, "found \"%s\", expected %s %s",
                            *choice->value, choice->option, words);
                return FALSE;
        }
        return TRUE;
}

/* For completion: the words that an option takes, if it is one of these, a line each. */
static void print_words(const char *option)
{
        for (guint i = 0; choices && i < choices->len; i++) {
                const ToolChoice *choice = choices->pdata[i];

                for (guint k = 0; !strcmp(choice->option, option) && choice->words[k]; k++)
                        puts(choice->words[k]);
        }
}

/* message: of GLib, which ends with the option where that is unknown. */
static void fail_option(const char *message)
{
        const char *option = strstr(message, "--");
        const char *instead = option ? removed_instead(current_verb, option) : NULL;

        if (instead)
                tool_warn("%s was removed: use %s", option, instead);
        else
                tool_warn("%s (ravel %s --help lists the options)", message, current_verb);
}

gboolean tool_parse(GOptionContext *context, int *argc, char ***argv, int *status)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *program = g_strdup_printf("ravel %s", current_verb);

        g_set_prgname(program); /* as --help shows it */
        if (*argc == 3 && !strcmp((*argv)[1], "--complete")) {
                print_words((*argv)[2]);
                *status = EXIT_DONE;
                return FALSE;
        }
        split_numbers(argc, argv);
        if (g_option_context_parse(context, argc, argv, &error)) {
                if (check_choices(&error))
                        return TRUE;
                tool_warn("%s", error->message);
                *status = EXIT_USAGE;
                return FALSE;
        }
        fail_option(error->message);
        *status = EXIT_USAGE;
        return FALSE;
}

/* --- what is named ---------------------------------------------------------- */

static gsize distance(const char *a, const char *b)
{
        gsize n = strlen(b);
        g_autofree gsize *row = g_new(gsize, n + 1);

        for (gsize k = 0; k <= n; k++)
                row[k] = k;
        for (; *a; a++) {
                gsize diagonal = row[0]++;

                for (gsize k = 0; k < n; k++) {
                        gsize changed = diagonal + (*a != b[k]);

                        diagonal = row[k + 1];
                        row[k + 1] = MIN(changed, 1 + MIN(row[k], row[k + 1]));
                }
        }
        return row[n];
}

const char *tool_nearest(const char *name, const char *const *names)
{
        const char *nearest = NULL;
        gsize least = 3; /* letters that differ: more is another word */

        for (; *names; names++) {
                gsize d = g_str_has_prefix(*names, name) ? 1 : distance(name, *names);

                if (d < least && d < strlen(name)) {
                        least = d;
                        nearest = *names;
                }
        }
        return nearest;
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

void tool_add_reader_options(GOptionContext *context)
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

        g_option_context_add_main_entries(context, entries, NULL);
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
                             GError **error)
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
        if (!run_files_read(argv[1], error))
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

int tool_done(void)
{
        return is_partial ? EXIT_PARTIAL : EXIT_DONE;
}

void tool_report_empty(const TraceReader *reader)
{
        g_autoptr(GString) first = g_string_new(NULL), last = g_string_new(NULL);
        gint64 from, to;

        for (guint i = 0; excluded && excluded[i]; i++)
                if (trace_reader_excluded(reader, i)) {
                        tool_warn("%s: --exclude leaves no messages", trace_reader_name(reader));
                        return;
                }
        if (!trace_reader_is_empty(reader, &from, &to) || from > to) {
                tool_warn("%s: no messages in it", trace_reader_name(reader));
                return;
        }
        tool_append_moment(first, from);
        tool_append_moment(last, to);
        tool_warn("%s: no messages in the time of --from and --to: it spans %s to %s",
                  trace_reader_name(reader), first->str, last->str);
}

void tool_report_reader(const TraceReader *reader)
{
        const guint64 *broken = trace_reader_broken(reader);
        TraceEnd end = trace_reader_end(reader);

        clear_progress(); /* --to may have ended the reading */
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

guint tool_columns(void)
{
        const char *columns = g_getenv("COLUMNS");
        struct winsize size;

        if (is_passed_on || !isatty(STDOUT_FILENO))
                return 0;
        if (columns && atoi(columns) > 0)
                return atoi(columns);
        return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

void tool_append_time(GString *text, gint64 time)
{
        guint64 t = time < 0 ? -(guint64)time : (guint64)time;

        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
                               time < 0 ? "-" : "", t / 1000000000, t % 1000000000);
}

void tool_append_moment(GString *text, gint64 time)
{
        gint64 seconds = time / 1000000000 - (time % 1000000000 < 0);
        g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(seconds);
        g_autofree char *date = g_date_time_format(utc, "%Y-%m-%dT%H:%M:%S");

        g_string_append_printf(text, "%s.%09" G_GINT64_FORMAT "Z", date,
                               time - seconds * 1000000000);
}

gboolean tool_duration(const char *text, gint64 *ns, GError **error)
{
        static const struct {
                const char *name;
                double ns;
        } units[] = { { "ns", 1 },  { "us", 1e3 },   { "\xc2\xb5s", 1e3 }, { "ms", 1e6 },
                      { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 } };
        char *unit;
        double value = g_ascii_strtod(text, &unit);

        while (g_ascii_isspace(*unit))
                unit++;
        for (guint i = 0; i < G_N_ELEMENTS(units) && unit != text; i++) {
                if (strcmp(unit, units[i].name))
                        continue;
                value = rint(value * units[i].ns);
                if (!(value >= 0 && value < 9.2e18))
                        break;
                *ns = value;
                return TRUE;
        }
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                    "\"%s\" is not a duration: expected a number with a unit, such as 10ms, 2s or "
                    "5us",
                    text);
        return FALSE;
}

gboolean tool_threads(gint given, guint *n, GError **error)
{
        enum { MOST = 256 };

        if (given < 0 || given > MOST) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "found \"%d\", expected -j of 1 to %d", given, MOST);
                return FALSE;
        }
        *n = given ? (guint)given : g_get_num_processors();
        return TRUE;
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
