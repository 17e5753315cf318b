/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "nesting/decided.h"
#include "nesting/slices.h"
#include "tools/result.h"
#include "tools/run-files.h"
#include "tools/tool.h"

static struct {
        char *step, *state;
        const char *given; /* an option that is about it */
        gboolean halo;     /* that is one */
        Slice slice;
} options = { .slice = { G_MININT64, G_MAXINT64, G_GINT64_CONSTANT(10000000000) } };

enum { LEARN, DECIDE };
static const char *const steps[] = { "learn", "decide", NULL };
static const ToolChoice choices[] = { { "--partial", &options.step, steps }, { .option = NULL } };

/* "FROM/TO", of which each may be missing. */
static gboolean parse_slice(const char *option, const char *value, gpointer data, GError **error)
{
        g_auto(GStrv) ends = g_strsplit(value, "/", 3);

        (void)data;
        options.given = option;
        if (g_strv_length(ends) != 2)
                return usage_error(error, value, "FROM/TO, two moments or one of them");
        if ((*ends[0] && !trace_parse_time(ends[0], &options.slice.from, error)) ||
            (*ends[1] && !trace_parse_time(ends[1], &options.slice.to, error)))
                return FALSE;
        return options.slice.from < options.slice.to ||
               usage_error(error, value, "a slice that begins before it ends");
}

static gboolean parse_halo(const char *option, const char *value, gpointer data, GError **error)
{
        (void)data;
        (void)option;
        options.halo = TRUE;
        if (!tool_duration(value, &options.slice.halo, error))
                return FALSE;
        return (options.slice.halo > 0 &&
                options.slice.halo <= G_GINT64_CONSTANT(31536000000000000)) ||
               usage_error(error, value, "a halo of more than 0s, at most a year");
}

void partial_add_options(GOptionContext *context)
{
        static const GOptionEntry entries[] = {
                { "partial", 0, 0, G_OPTION_ARG_STRING, &options.step,
                  "learn or decide: one step on a slice (paper)", "STEP" },
                { "slice", 0, 0, G_OPTION_ARG_CALLBACK, parse_slice,
                  "With --partial: paths that begin then", "FROM/TO" },
                { "halo", 0, 0, G_OPTION_ARG_CALLBACK, parse_halo,
                  "Read so much around the slice (default 10s)", "DURATION" },
                { "state", 0, 0, G_OPTION_ARG_FILENAME, &options.state,
                  "With --partial decide: what all slices have learned", "FILE" },
                G_OPTION_ENTRY_NULL
        };

        g_option_context_add_main_entries(context, entries, NULL);
        tool_add_choices(choices);
}

gint64 partial_halo(void)
{
        return options.halo ? options.slice.halo : 0;
}

gboolean partial_is_wanted(void)
{
        return partial_is_step() || options.halo;
}

gboolean partial_is_step(void)
{
        return options.step || options.given || options.state;
}

static gboolean usage(GError **error, const char *text)
{
        g_set_error_literal(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, text);
        return FALSE;
}

static gboolean decides(void)
{
        return tool_choice_index(options.step, steps) == DECIDE;
}

static gboolean check_options(GError **error)
{
        const TraceReaderOptions *reader = tool_reader_options();

        if (!options.step)
                return usage(error, "--slice, --halo and --state are about one of several "
                                    "processes: expected --partial learn or --partial decide");
        if (decides() && !options.state)
                return usage(error, "--partial decide: expected --state FILE, what ravel "
                                    "merge-state made of all that was learned");
        if (!decides() && options.state)
                return usage(error, "--state with --partial learn: expected it with --partial "
                                    "decide alone");
        if (reader->from != G_MININT64 || reader->to != G_MAXINT64 || reader->exclude)
                return usage(error, "--partial with --from, --to or --exclude: expected the trace "
                                    "as it is, and --slice");
        return !options.state || run_files_read(options.state, error);
}

LearnedHow partial_how(const NestingOptions *o, SiblingOrder siblings)
{
        return (LearnedHow){ o->overlap, o->same,     o->any,  o->smooth,
                             o->window,  o->max_call, o->fold, siblings == SIBLINGS_STRICT };
}

NestingOptions partial_options(const LearnedHow *how)
{
        NestingOptions o = NESTING_DEFAULTS;

        o.method = METHOD_PAPER;
        o.overlap = how->overlap;
        o.same = how->same;
        o.any = how->any;
        o.smooth = how->smooth;
        o.window = how->window;
        o.max_call = how->max_call;
        o.fold = how->fold;
        return o;
}

/* --- states in files --------------------------------------------------------- */

void partial_name_file(GError **error, const char *path)
{
        GError *named;

        if (!error || !*error)
                return;
        named = g_error_new(RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: %s", path, (*error)->message);
        g_error_free(*error);
        *error = named;
}

static Learned *read_learned(const guint8 *data, gsize n, GError **error)
{
        Bytes b = bytes_to_read(data, n);
        g_autoptr(Learned) l = learned_new();
        StateKind kind = STATE_LEARNED;

        state_head_bytes(&kind, &b);
        bytes_expect(&b, kind == STATE_LEARNED, "what was learned, not what was decided");
        if (bytes_good(&b))
                learned_bytes(l, TRUE, &b);
        return bytes_end(&b, error) ? g_steal_pointer(&l) : NULL;
}

GMappedFile *partial_map(const char *path, GError **error)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        GMappedFile *file = fd < 0 ? NULL : g_mapped_file_new_from_fd(fd, FALSE, NULL);

        if (!file)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot open: %s", path,
                            fd < 0 ? g_strerror(errno) : "expected a file");
        if (fd >= 0)
                close(fd);
        return file;
}

Learned *partial_load(const char *path, GError **error)
{
        g_autoptr(GMappedFile) file = partial_map(path, error);
        Learned *l = NULL;

        if (!file)
                return NULL;
        l = read_learned((const guint8 *)g_mapped_file_get_contents(file),
                         g_mapped_file_get_length(file), error);
        if (!l)
                partial_name_file(error, path);
        return l;
}

gboolean partial_save(Learned *l, GError **error)
{
        Bytes b = bytes_to_write();
        StateKind kind = STATE_LEARNED;
        g_autoptr(GBytes) bytes = NULL;
        g_autoptr(OutputFile) out = NULL;
        gconstpointer data;
        gsize n;

        state_head_bytes(&kind, &b);
        learned_bytes(l, TRUE, &b);
        bytes = bytes_written(&b);
        data = g_bytes_get_data(bytes, &n);
        return (out = result_open(FALSE, error)) && output_file_write(out, data, n, error) &&
               output_file_close(g_steal_pointer(&out), error);
}

/* --- the two steps ------------------------------------------------------------ */

static TraceReader *open_slice(const char *path, NodeTable *nodes, GError **error)
{
        TraceReaderOptions reader = *tool_reader_options();

        reader.from = slice_read_from(&options.slice);
        reader.to = slice_read_to(&options.slice);
        reader.want_digest = decides() && options.slice.to == G_MAXINT64;
        if (!run_files_read(path, error))
                return NULL;
        tool_progress_start(&path, 1, FALSE);
        return trace_reader_new(path, nodes, &reader, error);
}

static SliceRun *read_slice(TraceReader *reader, NodeTable *nodes, const LearnedHow *how,
                            const Learned *learned, GError **error)
{
        g_autoptr(SliceRun) run =
                slice_run_new(nodes, how, &options.slice, SLICE_KEEPS_ALL, learned);
        Message message;
        int status;

        while ((status = trace_reader_next(reader, &message, error)) != 0) {
                if (status < 0) {
                        if (!tool_sort_trace(reader, error))
                                return NULL;
                        slice_run_free(run);
                        run = slice_run_new(nodes, how, &options.slice, SLICE_KEEPS_ALL, learned);
                        continue;
                }
                if (!slice_run_add(run, &message, error))
                        return NULL;
        }
        tool_report_reader(reader);
        return g_steal_pointer(&run);
}

static gboolean learn(TraceReader *reader, SliceRun *run, GError **error)
{
        g_autoptr(Learned) l = slice_run_learn(run, error);
        guint n;
        char *const *facts = trace_reader_facts(reader, &n);

        if (!l)
                return FALSE;
        g_array_index(l->slices, LearnedSlice, 0).calls = slice_run_digest(run);
        l->trace = g_strdup(trace_reader_name(reader));
        for (guint i = 0; i < n; i++)
                g_ptr_array_add(l->facts, g_strdup(facts[i]));
        return partial_save(l, error);
}

typedef struct {
        const SliceRun *run;
        DecidedWriter *writer;
        guint32 *ordinal;
        guint32 size;
} Decision;

/* InstanceTaken; data: the decision. */
static gboolean take(gpointer data, const PathCall *path, guint32 n, gboolean is_cut,
                     GError **error)
{
        Decision *d = data;

        if (n > d->size) {
                d->size = 2 * n;
                d->ordinal = g_renew(guint32, d->ordinal, d->size);
        }
        for (guint32 i = 0; i < n; i++)
                d->ordinal[i] = slice_run_ordinal(d->run, path[i].call);
        return decided_writer_add(d->writer, path, d->ordinal, n, is_cut, error);
}

static gboolean decide(TraceReader *reader, SliceRun *run, Learned *learned, GError **error)
{
        g_autoptr(OutputFile) out = NULL;
        g_autoptr(DecidedWriter) writer = NULL;
        Decision decision = { .run = run };
        guint64 seam[2];
        gint at = learned_find_slice(learned, &options.slice, error);
        gboolean ok;

        if (at < 0 || !(out = result_open(FALSE, error)))
                return FALSE;
        writer = decision.writer =
                decided_writer_new(out, learned, (guint32)at, slice_run_calls(run)->labels.written,
                                   trace_reader_digest(reader));
        ok = slice_run_decide(run, take, &decision, seam, error) &&
             decided_writer_end(writer, seam, error) &&
             output_file_close(g_steal_pointer(&out), error);
        g_free(decision.ordinal);
        return ok;
}

static Learned *load_whole(const LearnedHow *how, GError **error)
{
        g_autoptr(Learned) l = partial_load(options.state, error);

        if (!l)
                return NULL;
        if (!learned_is_whole(l)) {
                usage(error, "--state is of one slice: expected what ravel merge-state made of "
                             "all");
                return NULL;
        }
        if (!learned_how_is(l, how)) {
                usage(error, "other options than those that were learned by: expected the same in "
                             "both steps");
                return NULL;
        }
        return g_steal_pointer(&l);
}

int partial_run(int argc, char **argv, const LearnedHow *how)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(Learned) learned = NULL;
        g_autoptr(TraceReader) reader = NULL;
        g_autoptr(SliceRun) run = NULL;
        GError *error = NULL;

        if (!check_options(&error))
                return tool_fail(error);
        if (argc != 2) {
                usage(&error, "--partial: expected one trace");
                return tool_fail(error);
        }
        if (decides()) {
                if (!(learned = load_whole(how, &error)))
                        return tool_fail(error);
                node_table_add_all(nodes, learned->nodes);
        }
        if (!(reader = open_slice(argv[1], nodes, &error)) ||
            !(run = read_slice(reader, nodes, how, learned, &error)))
                return tool_fail(error);
        if (learned ? !decide(reader, run, learned, &error) : !learn(reader, run, &error))
                return tool_fail(error);
        return tool_done();
}
