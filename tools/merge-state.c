/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel merge-state STATE...: what was learned of all slices of a trace, as one; or of what was
 * decided in all of them, the paths, as one process finds them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "nesting/decided.h"
#include "tools/merged.h"
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

static void part_clear(gpointer data)
{
        Part *part = data;

        decided_reader_clear(&part->reader);
        g_mapped_file_unref(part->file);
}

static Part *part_at(const GArray *parts, guint i)
{
        return &g_array_index(parts, Part, i);
}

static int compare_parts(const void *a, const void *b)
{
        return COMPARE(((const Part *)a)->reader.slice, ((const Part *)b)->reader.slice);
}

static gboolean open_parts(GArray *parts, char *const *paths, guint n, GError **error)
{
        for (guint i = 0; i < n; i++) {
                Part part = { .path = paths[i], .file = partial_map(paths[i], error) };
                gboolean ok;

                if (!part.file)
                        return FALSE;
                ok = decided_reader_init(&part.reader,
                                         (const guint8 *)g_mapped_file_get_contents(part.file),
                                         g_mapped_file_get_length(part.file), error);
                g_array_append_val(parts, part);
                if (!ok) {
                        partial_name_file(error, paths[i]);
                        return FALSE;
                }
        }
        qsort(parts->data, n, sizeof(Part), compare_parts);
        return TRUE;
}

/* One of each slice, all decided by the same. */
static gboolean check_parts(const GArray *parts, GError **error)
{
        const DecidedReader *first = &part_at(parts, 0)->reader;

        for (guint i = 0; i < parts->len; i++) {
                const Part *p = part_at(parts, i);

                if (p->reader.learned_digest != first->learned_digest) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "%s: decided by another state than %s: expected the same for "
                                    "all slices",
                                    p->path, part_at(parts, 0)->path);
                        return FALSE;
                }
                if (p->reader.slice != i)
                        break;
                if (i + 1 == parts->len && i + 1 == first->learned->slices->len)
                        return TRUE;
        }
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                    "%u states: expected one of each of %u slices", parts->len,
                    first->learned->slices->len);
        return FALSE;
}

/* Each slice began as the one before it ended. */
static gboolean check_seams(const GArray *parts, GError **error)
{
        for (guint i = 1; i < parts->len; i++)
                if (part_at(parts, i)->reader.seam[0] != part_at(parts, i - 1)->reader.seam[1]) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "%s: the parents of calls that are open where the slice begins "
                                    "are others than in %s: expected a longer --halo, in both "
                                    "steps",
                                    part_at(parts, i)->path, part_at(parts, i - 1)->path);
                        return FALSE;
                }
        return TRUE;
}

static gboolean add_all(Merged *merged, GArray *parts, GError **error)
{
        for (guint i = 0; i < parts->len; i++)
                if (!merged_add(merged, &part_at(parts, i)->reader, part_at(parts, i)->path, error))
                        return FALSE;
        return check_seams(parts, error);
}

static gboolean close_store(const Merged *merged, const GArray *parts, Store *store, GError **error)
{
        const char *digest = part_at(parts, parts->len - 1)->reader.digest;

        return merged_close_store(merged, store, *digest ? digest : NULL, error);
}

static GArray *doubts_of(const Learned *l)
{
        return doubts_from_facts((char *const *)l->facts->pdata, l->facts->len, l->nodes);
}

static gboolean merge_decided(char *const *paths, guint n, const char *arguments, int *status,
                              GError **error)
{
        g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(Part));
        g_auto(Merged) merged = { .learned = NULL };
        g_autoptr(Verdict) verdict = NULL;
        g_autoptr(Store) store = NULL;
        const Learned *l;

        g_array_set_clear_func(parts, part_clear);
        if (!open_parts(parts, paths, n, error) || !check_parts(parts, error))
                return FALSE;
        l = part_at(parts, 0)->reader.learned;
        merged_init(&merged, l, l->nodes, options.calls != NULL);
        nesting_report_matching(&merged.known, NULL, l->trace);
        verdict = merged_judge(&merged, doubts_of(l));
        merged_summarise(&merged, verdict);
        if (!verdict->fit && strcmp(result_format(), "text") != 0)
                tool_warn("no probabilities are shown: the capture is %s", verdict->judgement);
        if ((result_has_store() &&
             !(store = merged_open_store(&merged, arguments, FALSE, error))) ||
            !add_all(&merged, parts, error) ||
            (store && !close_store(&merged, parts, g_steal_pointer(&store), error)))
                return FALSE;
        *status = result_status(verdict, path_set_instances(merged.set));
        return (!options.calls || merged_write_calls(&merged, options.calls, error)) &&
               result_write(merged.set, error);
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
