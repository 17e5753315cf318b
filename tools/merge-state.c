/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel merge-state STATE...: what was learned of all slices of a trace, as one; or of what was
 * decided in all of them, the paths, as one process finds them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "base/printable.h"
#include "nesting/decided.h"
#include "paths/path-clocks.h"
#include "tools/nesting-report.h"
#include "tools/partial.h"
#include "tools/result.h"
#include "tools/run-files.h"
#include "tools/tool.h"

static struct {
        char *calls;
} options;

static const GOptionEntry entries[] = { { "calls", 0, 0, G_OPTION_ARG_FILENAME, &options.calls,
                                          "Write a line for each call, with its parent", "FILE" },
                                        G_OPTION_ENTRY_NULL };

static gboolean fail(GError **error, RavelError code, const char *text)
{
        g_set_error_literal(error, RAVEL_ERROR, code, text);
        return FALSE;
}

/* --- what was learned ----------------------------------------------------------- */

static gboolean merge_learned(char *const *paths, guint n, GError **error)
{
        g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)learned_free);
        g_autoptr(Learned) all = NULL;

        if (options.calls || result_has_store())
                return fail(error, RAVEL_ERROR_USAGE,
                            "--calls and -o are for what was decided: expected -w FILE alone, for "
                            "nesting --partial decide --state FILE");
        for (guint i = 0; i < n; i++) {
                Learned *part = partial_load(paths[i], error);

                if (!part)
                        return FALSE;
                g_ptr_array_add(parts, part);
        }
        return (all = learned_merge((Learned **)parts->pdata, n, error)) &&
               partial_save(all, error);
}

/* --- what was decided ------------------------------------------------------------ */

typedef struct {
        const char *path;
        GMappedFile *file;
        DecidedReader reader;
} Part;

/* A line of --calls, with where it goes. */
typedef struct {
        gint64 start, first; /* of the call, and its first message, ns */
        guint32 ordinal;     /* of that among those of the same moment */
        guint32 pattern;     /* NO_PATTERN: cut by the capture */
        guint64 instance;
        float probability;
        char *line; /* but for these */
} CallLine;

typedef struct {
        GArray *parts;    /* of Part, by slice */
        KnownCalls known; /* without calls */
        CallLabels labels;
        PathSet *set;
        guint64 instances;
        GArray *lines; /* of CallLine; NULL: not wanted */
} Whole;

static void part_clear(gpointer data)
{
        Part *part = data;

        decided_reader_clear(&part->reader);
        g_mapped_file_unref(part->file);
}

static void line_clear(gpointer line)
{
        g_free(((CallLine *)line)->line);
}

static Part *part_at(const Whole *w, guint i)
{
        return &g_array_index(w->parts, Part, i);
}

static void whole_clear(Whole *w)
{
        if (w->known.matcher)
                known_calls_clear(&w->known);
        if (w->labels.names)
                call_labels_clear(&w->labels);
        path_set_free(w->set);
        g_array_free(w->parts, TRUE);
        if (w->lines)
                g_array_free(w->lines, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Whole, whole_clear)

static int compare_parts(const void *a, const void *b)
{
        return COMPARE(((const Part *)a)->reader.slice, ((const Part *)b)->reader.slice);
}

static gboolean open_parts(Whole *w, char *const *paths, guint n, GError **error)
{
        for (guint i = 0; i < n; i++) {
                Part part = { .path = paths[i], .file = partial_map(paths[i], error) };
                gboolean ok;

                if (!part.file)
                        return FALSE;
                ok = decided_reader_init(&part.reader,
                                         (const guint8 *)g_mapped_file_get_contents(part.file),
                                         g_mapped_file_get_length(part.file), error);
                g_array_append_val(w->parts, part);
                if (!ok) {
                        partial_name_file(error, paths[i]);
                        return FALSE;
                }
        }
        qsort(w->parts->data, n, sizeof(Part), compare_parts);
        return TRUE;
}

/* One of each slice, all decided by the same. */
static gboolean check_parts(const Whole *w, GError **error)
{
        const DecidedReader *first = &part_at(w, 0)->reader;

        for (guint i = 0; i < w->parts->len; i++) {
                const Part *p = part_at(w, i);

                if (p->reader.learned_digest != first->learned_digest) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "%s: decided by another state than %s: expected the same for "
                                    "all slices",
                                    p->path, part_at(w, 0)->path);
                        return FALSE;
                }
                if (p->reader.slice != i)
                        break;
                if (i + 1 == w->parts->len && i + 1 == first->learned->slices->len)
                        return TRUE;
        }
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                    "%u states: expected one of each of %u slices", w->parts->len,
                    first->learned->slices->len);
        return FALSE;
}

/* What one process knows of the trace when it is read. */
static void know_calls(Whole *w)
{
        const Learned *l = part_at(w, 0)->reader.learned;
        KnownCalls *k = &w->known;

        known_calls_init(k, l->nodes, l->how.window, l->how.max_call, l->how.fold, 0);
        call_matcher_take(k->matcher, (const Edge *)l->edges->data, l->edges->len, &l->counts,
                          (const LoneMessage *)l->lone->data, l->lone->len);
        known_calls_find_roles(k, FALSE);
        k->children = l->children;
        k->nestings = l->nestings;
}

static void summarise(Whole *w, const Verdict *verdict)
{
        const MatchCounts *counts = call_matcher_counts(w->known.matcher);
        PathSetSummary *s = path_set_summary(w->set);

        s->method = nesting_methods[METHOD_PAPER].name;
        s->messages = counts->messages;
        s->calls = counts->pairs;
        s->unmatched_calls = counts->lone_calls;
        s->unmatched_returns = counts->lone_returns;
        s->parallelism = known_calls_parallelism(&w->known);
        s->first = counts->first;
        s->last = counts->last;
        s->verdict = verdict;
}

static Verdict *judge(Whole *w)
{
        const Learned *l = part_at(w, 0)->reader.learned;
        char *const *facts = (char *const *)l->facts->pdata;
        Fitness fitness = { .both_ends = l->both_ends, .too_early = l->too_early };

        return nesting_report_judge(&w->known, &fitness, facts, l->facts->len,
                                    doubts_from_facts(facts, l->facts->len, w->known.nodes));
}

static void put_call(GString *line, const Whole *w, const PathCall *c)
{
        g_string_append_printf(line, "%s\t%s\t", node_table_written(w->known.nodes, c->caller),
                               node_table_written(w->known.nodes, c->callee));
        printable_append_id(line, c->id_length ? c->id : "-", MAX(c->id_length, 1));
}

static void append_line(Whole *w, const DecidedReader *r, guint32 i, gboolean is_cut)
{
        const PathCall *c = &r->path[i];
        const PathCall *parent = c->parent == NO_PARENT ? NULL : &r->path[c->parent];
        g_autoptr(GString) line = g_string_new(NULL);
        CallLine entry = { .start = c->start,
                           .first = MIN(MIN(c->start, c->enter), MIN(c->reply, c->end)),
                           .ordinal = r->ordinal[i],
                           .pattern = is_cut ? NO_PATTERN : path_set_latest(w->set),
                           .instance = w->instances,
                           .probability = parent ? c->probability : 1 };

        tool_append_time(line, c->start);
        g_string_append_c(line, '\t');
        tool_append_time(line, c->end);
        g_string_append_c(line, '\t');
        put_call(line, w, c);
        g_string_append_c(line, '\t');
        if (parent) {
                tool_append_time(line, parent->start);
                g_string_append_c(line, '\t');
                put_call(line, w, parent);
        } else {
                g_string_append(line, "-\t-\t-\t-");
        }
        entry.line = g_string_free(g_steal_pointer(&line), FALSE);
        g_array_append_val(w->lines, entry);
}

/* The numbers of a slice's operations in the whole: those of all slices, as they come first. */
static guint16 *number_labels(Whole *w, const DecidedReader *r)
{
        guint16 *number = g_new0(guint16, r->labels->len + 1);

        for (guint i = 0; i < r->labels->len; i++)
                number[i + 1] = call_labels_number(&w->labels, r->labels->pdata[i]);
        return number;
}

static gboolean add_instance(Whole *w, DecidedReader *r, guint32 n, gboolean is_cut, GError **error)
{
        if (is_cut)
                path_set_summary(w->set)->cut_instances++;
        else if (!path_set_add(w->set, r->path, n, error))
                return FALSE;
        for (guint32 i = 0; w->lines && i < n; i++)
                append_line(w, r, i, is_cut);
        w->instances += !is_cut;
        return TRUE;
}

static gboolean add_part(Whole *w, Part *part, GError **error)
{
        DecidedReader *r = &part->reader;
        g_autofree guint16 *label = number_labels(w, r);
        gboolean is_cut;
        guint32 n;
        int status;

        path_set_set_labels(w->set, w->labels.names);
        while ((status = decided_reader_next(r, &n, &is_cut, error)) > 0) {
                for (guint32 i = 0; i < n; i++)
                        r->path[i].label = label[r->path[i].label];
                if (!add_instance(w, r, n, is_cut, error))
                        return FALSE;
        }
        if (status < 0)
                partial_name_file(error, part->path);
        return status == 0;
}

/* Each slice began as the one before it ended. */
static gboolean check_seams(const Whole *w, GError **error)
{
        for (guint i = 1; i < w->parts->len; i++)
                if (part_at(w, i)->reader.seam[0] != part_at(w, i - 1)->reader.seam[1]) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "%s: the parents of calls that are open where the slice begins "
                                    "are others than in %s: expected a longer --halo, in both "
                                    "steps",
                                    part_at(w, i)->path, part_at(w, i - 1)->path);
                        return FALSE;
                }
        return TRUE;
}

static gboolean add_all(Whole *w, GError **error)
{
        for (guint i = 0; i < w->parts->len; i++)
                if (!add_part(w, part_at(w, i), error))
                        return FALSE;
        return check_seams(w, error);
}

static int compare_lines(const void *a, const void *b)
{
        const CallLine *x = a, *y = b;

        if (x->start != y->start)
                return COMPARE(x->start, y->start);
        return x->first != y->first ? COMPARE(x->first, y->first) : COMPARE(x->ordinal, y->ordinal);
}

static void end_line(const Whole *w, const CallLine *l, GString *line)
{
        g_string_assign(line, l->line);
        if (l->pattern == NO_PATTERN)
                g_string_append(line, "\t-\t-\t");
        else
                g_string_append_printf(line,
                                       "\t%" G_GUINT64_FORMAT "\t%016" G_GINT64_MODIFIER "x\t",
                                       l->instance, path_set_pattern(w->set, l->pattern)->id);
        if (path_set_shows_probability(w->set))
                nesting_report_probability(line, l->probability);
        else
                g_string_append_c(line, '-');
        g_string_append_c(line, '\n');
}

static gboolean write_lines(Whole *w, GError **error)
{
        g_autoptr(GString) line = g_string_new(NULL);
        g_autoptr(OutputFile) out = nesting_report_open_calls(options.calls, FALSE, error);

        if (!out)
                return FALSE;
        if (w->lines->len)
                qsort(w->lines->data, w->lines->len, sizeof(CallLine), compare_lines);
        for (guint i = 0; i < w->lines->len; i++) {
                end_line(w, &g_array_index(w->lines, CallLine, i), line);
                if (!output_file_write(out, line->str, line->len, error))
                        return FALSE;
        }
        return output_file_close(g_steal_pointer(&out), error);
}

static Store *open_store(const Whole *w, const char *arguments, GError **error)
{
        const LearnedHow *how = &part_at(w, 0)->reader.learned->how;
        NestingOptions o = partial_options(how);
        g_autofree char *parameters = nesting_report_parameters(
                &o, how->strict ? SIBLINGS_STRICT : SIBLINGS_MULTISET, w->known.nodes, NULL, NULL);
        StoreRun run = { .arguments = arguments, .parameters = parameters };

        return result_open_store(w->set, &run, error);
}

static gboolean close_store(const Whole *w, Store *store, GError **error)
{
        const Learned *l = part_at(w, 0)->reader.learned;
        const char *digest = part_at(w, w->parts->len - 1)->reader.digest;

        return result_close_store_of(store, l->trace, *digest ? digest : NULL,
                                     (char *const *)l->facts->pdata, l->facts->len, error);
}

static gboolean merge_decided(char *const *paths, guint n, const char *arguments, int *status,
                              GError **error)
{
        g_auto(Whole) w = { .parts = g_array_new(FALSE, TRUE, sizeof(Part)) };
        g_autoptr(Verdict) verdict = NULL;
        g_autoptr(Store) store = NULL;
        const Learned *l;

        g_array_set_clear_func(w.parts, part_clear);
        if (!open_parts(&w, paths, n, error) || !check_parts(&w, error))
                return FALSE;
        l = part_at(&w, 0)->reader.learned;
        know_calls(&w);
        nesting_report_matching(&w.known, NULL, l->trace);
        verdict = judge(&w);
        call_labels_init(&w.labels);
        w.set = path_set_new(w.known.nodes, l->how.strict ? SIBLINGS_STRICT : SIBLINGS_MULTISET);
        path_set_set_fold(w.set, w.known.roles.fold);
        summarise(&w, verdict);
        if (!verdict->fit && strcmp(result_format(), "text") != 0)
                tool_warn("no probabilities are shown, as what was captured is %s",
                          verdict->judgement);
        if (options.calls) {
                w.lines = g_array_new(FALSE, FALSE, sizeof(CallLine));
                g_array_set_clear_func(w.lines, line_clear);
        }
        if ((result_has_store() && !(store = open_store(&w, arguments, error))) ||
            !add_all(&w, error) || (store && !close_store(&w, g_steal_pointer(&store), error)))
                return FALSE;
        *status = result_status(verdict, path_set_instances(w.set));
        return (!options.calls || write_lines(&w, error)) && result_write(w.set, error);
}

/* --- the verb ---------------------------------------------------------------------- */

/* Which kind of state the first file is; the others must be of the same. */
static gboolean find_kind(const char *path, StateKind *kind, GError **error)
{
        g_autoptr(GMappedFile) file = partial_map(path, error);
        GError *wrong = NULL;
        Bytes b;

        if (!file)
                return FALSE;
        b = bytes_to_read((const guint8 *)g_mapped_file_get_contents(file),
                          g_mapped_file_get_length(file));
        state_head_bytes(kind, &b);
        if (bytes_good(&b))
                return TRUE;
        bytes_end(&b, &wrong);
        g_propagate_error(error, wrong);
        partial_name_file(error, path);
        return FALSE;
}

static gboolean check_files(int argc, char **argv, GError **error)
{
        if (argc < 2)
                return fail(error, RAVEL_ERROR_USAGE,
                            "no state named: expected those that nesting --partial wrote");
        for (int i = 1; i < argc; i++)
                if (!run_files_read(argv[i], error))
                        return FALSE;
        return result_check_options(error) &&
               (!options.calls || run_files_write("--calls", options.calls, error));
}

int tool_merge_state(int argc, char **argv)
{
        g_autoptr(GOptionContext) context =
                g_option_context_new("STATE... - one result of those of several slices");
        g_autofree char *arguments = g_strjoinv(" ", argv);
        StateKind kind = STATE_LEARNED;
        GError *error = NULL;
        int status = EXIT_DONE;

        g_option_context_add_main_entries(context, entries, NULL);
        result_add_options(context);
        if (!tool_parse(context, &argc, &argv, &status))
                return status;
        status = EXIT_DONE;
        if (!check_files(argc, argv, &error) || !find_kind(argv[1], &kind, &error) ||
            !(kind == STATE_LEARNED
                      ? merge_learned(argv + 1, (guint)argc - 1, &error)
                      : merge_decided(argv + 1, (guint)argc - 1, arguments, &status, &error)))
                return tool_fail(error);
        return status;
}
