/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel merge TRACE...: merges traces in the order of time. A message that several traces observed
 * stands in the result once.
 */
#include <string.h>

#include "base/each.h"
#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/doubt.h"
#include "tracefmt/merge.h"
#include "tracefmt/overlap.h"
#include "tracefmt/trace-clocks.h"
#include "tracefmt/trace-writer.h"

static struct {
        char *output;
        char *window;
} options;

static const GOptionEntry entries[] = { { "output", 'w', 0, G_OPTION_ARG_FILENAME, &options.output,
                                          "Write to FILE instead of standard output", "FILE" },
                                        { "window", 0, 0, G_OPTION_ARG_STRING, &options.window,
                                          "How far apart the same message may be seen (default 2s)",
                                          "TIME" },
                                        G_OPTION_ENTRY_NULL };

/* The state of a run. */
typedef struct {
        NodeTable *nodes;
        GPtrArray *readers; /* of TraceReader */
        Overlap *overlap;
        Merge *merge;
        TraceWriter *writer;
        gint64 window;
} Run;

static void run_free(Run *run)
{
        trace_writer_free(run->writer);
        merge_free(run->merge);
        overlap_free(run->overlap);
        g_clear_pointer(&run->readers, g_ptr_array_unref);
        node_table_free(run->nodes);
        g_free(run);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)

static void look(gpointer user, guint trace, const Message *message)
{
        overlap_add(user, trace, message);
}

static Run *run_new(int argc, char **argv, GError **error)
{
        g_autoptr(Run) run = g_new0(Run, 1);
        TraceReaderOptions how = *tool_reader_options();
        gboolean standard_input = FALSE;

        how.any_order = TRUE;
        run->window = 2 * G_GINT64_CONSTANT(1000000000);
        run->nodes = node_table_new();
        run->readers = g_ptr_array_new_with_free_func((GDestroyNotify)trace_reader_free);
        if (argc < 2) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "no trace named: expected files, or - for standard input");
                return NULL;
        }
        if (options.window && !tool_duration(options.window, &run->window, error))
                return NULL;
        if (!run_files_write("-w", options.output, error))
                return NULL;
        for (int i = 1; i < argc; i++)
                if (!run_files_read(argv[i], error))
                        return NULL;
        if (!run_files_confine_reader(FALSE, error))
                return NULL;
        run->merge = merge_new(run->window, run->nodes);
        run->overlap = overlap_new((guint)argc - 1);
        tool_progress_start((const char *const *)argv + 1, (guint)argc - 1,
                            !options.output || !strcmp(options.output, "-"));
        merge_set_look(run->merge, look, run->overlap);
        for (int i = 1; i < argc; i++) {
                TraceReader *reader;

                if (!strcmp(argv[i], "-") && standard_input) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                                    "standard input is named twice");
                        return NULL;
                }
                standard_input |= !strcmp(argv[i], "-");
                if (!(reader = trace_reader_new(argv[i], run->nodes, &how, error)))
                        return NULL;
                g_ptr_array_add(run->readers, reader);
                merge_add(run->merge, reader);
        }
        return g_steal_pointer(&run);
}

/* --- facts ----------------------------------------------------------------- */

/* Writes whether all traces together have one clock or several. */
static gboolean write_merged_clocks(Run *run, GError **error)
{
        MergedClocks merged = { 0 };

        for (guint i = 0; i < run->readers->len; i++) {
                guint n;
                char *const *facts = trace_reader_facts(run->readers->pdata[i], &n);

                merged_clocks_add(&merged, facts, merge_head_facts(run->merge, i));
        }
        merged_clocks_clear(&merged);
        return !trace_clocks_word(merged.clocks) ||
               trace_writer_fact(run->writer, "clocks", trace_clocks_word(merged.clocks), error);
}

/* Writes the facts before each trace's first message, in the order of the traces. */
static gboolean write_merged_head(Run *run, GError **error)
{
        if (!write_merged_clocks(run, error))
                return FALSE;
        for (guint i = 0; i < run->readers->len; i++) {
                const TraceReader *reader = run->readers->pdata[i];
                guint n;
                char *const *facts = trace_reader_facts(reader, &n);

                if (!trace_writer_fact(run->writer, "merged", trace_reader_name(reader), error))
                        return FALSE;
                for (guint k = 0; k < merge_head_facts(run->merge, i); k++)
                        if (!trace_clocks_is_fact(facts[k]) &&
                            !trace_writer_copy_fact(run->writer, facts[k], error))
                                return FALSE;
        }
        return TRUE;
}

/* Splits "key: 12" into the number and the key before it. */
static gboolean parse_counter(const char *fact, char **key, guint64 *n)
{
        const char *value = g_strrstr(fact, ": ");

        if (!value || !g_ascii_string_to_unsigned(value + 2, 10, 0, G_MAXUINT64, n, NULL))
                return FALSE;
        *key = g_strndup(fact, (gsize)(value - fact));
        return TRUE;
}

/* Writes the doubts of all traces, summed by edge. */
static gboolean write_doubts(Run *run, GError **error)
{
        g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));

        for (guint i = 0; i < run->readers->len; i++) {
                guint n;
                char *const *facts = trace_reader_facts(run->readers->pdata[i], &n);
                Doubt doubt;

                for (guint k = merge_head_facts(run->merge, i); k < n; k++)
                        if (doubt_from_fact(&doubt, facts[k], run->nodes))
                                doubts_add(doubts, &doubt);
        }
        doubts_sort(doubts, run->nodes);
        for (guint i = 0; i < doubts->len; i++) {
                g_autofree char *value =
                        doubt_to_value(&g_array_index(doubts, Doubt, i), run->nodes);

                if (!trace_writer_fact(run->writer, "doubt", value, error))
                        return FALSE;
        }
        return TRUE;
}

/* Whether this program writes the fact anew for all traces: ravel stats judges the merged one. */
static gboolean is_said_anew(Run *run, const char *fact)
{
        Doubt doubt;

        return g_str_has_prefix(fact, "judgement: ") || doubt_from_fact(&doubt, fact, run->nodes);
}

/* Writes the facts after the messages. Counters are summed, in the order of their first occurrence;
 * doubts, too. Other facts are copied. */
static gboolean write_tail(Run *run, GError **error)
{
        g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);

        for (guint i = 0; i < run->readers->len; i++) {
                guint n_facts;
                char *const *facts = trace_reader_facts(run->readers->pdata[i], &n_facts);

                for (guint k = merge_head_facts(run->merge, i); k < n_facts; k++) {
                        g_autofree char *key = NULL;
                        guint64 n, *sum;

                        if (!parse_counter(facts[k], &key, &n)) {
                                if (!is_said_anew(run, facts[k]) &&
                                    !trace_writer_copy_fact(run->writer, facts[k], error))
                                        return FALSE;
                        } else if ((sum = g_hash_table_lookup(sums, key))) {
                                *sum += n;
                        } else {
                                g_hash_table_insert(sums, key, g_memdup2(&n, sizeof n));
                                g_ptr_array_add(keys, g_steal_pointer(&key));
                        }
                }
        }
        for (guint i = 0; i < run->readers->len; i++)
                if (trace_reader_end(run->readers->pdata[i]) != TRACE_WHOLE &&
                    !trace_writer_fact(run->writer, "incomplete",
                                       trace_reader_name(run->readers->pdata[i]), error))
                        return FALSE;
        for (guint i = 0; i < keys->len; i++) {
                const guint64 *sum = g_hash_table_lookup(sums, keys->pdata[i]);
                g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, *sum);

                if (!trace_writer_fact(run->writer, keys->pdata[i], text, error))
                        return FALSE;
        }
        return write_doubts(run, error);
}

static gboolean write_merged_trace(Run *run, GError **error)
{
        Message message;
        guint trace;
        int status = merge_next(run->merge, &message, &trace, error);

        if (status < 0)
                return FALSE;
        run->writer =
                trace_writer_new(options.output ? options.output : "-", run->nodes, FALSE, error);
        if (!run->writer || !write_merged_head(run, error))
                return FALSE;
        for (; status > 0; status = merge_next(run->merge, &message, &trace, error))
                if (!trace_writer_add(run->writer, &message, error))
                        return FALSE;
        if (status < 0 || !write_tail(run, error))
                return FALSE;
        g_autofree char *dropped =
                g_strdup_printf("%" G_GUINT64_FORMAT, merge_counts(run->merge)->dropped);
        return trace_writer_fact(run->writer, "messages left out: another trace has them", dropped,
                                 error) &&
               trace_writer_close(g_steal_pointer(&run->writer), error);
}

/* --- what there is to say -------------------------------------------------- */

static const char *name_of(const Run *run, guint trace)
{
        return trace_reader_name(run->readers->pdata[trace]);
}

/* Warns of clocks. TRUE if one message may stand in the trace twice. */
static gboolean report_merged_clocks(const Run *run)
{
        g_autoptr(GArray) clocks = overlap_find_clocks(run->overlap, run->window);
        gboolean twice = FALSE;

        EACH (const ClocksApart, c, clocks) {
                gint64 by = ABS(c->ahead);

                twice |= c->twice;
                tool_warn("%s: its clock is %" G_GINT64_FORMAT ".%03d s %s that of %s, by the "
                          "median of %u messages in both, which is more than the window%s",
                          name_of(run, c->trace), by / 1000000000, (int)(by / 1000000 % 1000),
                          c->ahead > 0 ? "ahead of" : "behind", name_of(run, c->other), c->messages,
                          c->twice ? ": they are in the trace twice; take a larger --window"
                                   : "; ravel skewer --deskew can set it right");
        }
        return twice;
}

/* Warns of names. TRUE if one message may stand in the trace twice. */
static gboolean report_names(const Run *run)
{
        g_autoptr(GArray) names = overlap_find_names(run->overlap);

        EACH (const NamesApart, n, names)
                tool_warn("%s of %s is %s in %s, as messages with the same id show, and these "
                          "may be there twice: capture both with the same --nodes",
                          node_table_written(run->nodes, n->node), name_of(run, n->trace),
                          node_table_written(run->nodes, n->other_node), name_of(run, n->other));
        return names->len > 0;
}

static int report(const Run *run)
{
        const MergeCounts *counts = merge_counts(run->merge);
        gboolean partial = FALSE;

        tool_warn("%u %s: %" G_GUINT64_FORMAT " messages, and %" G_GUINT64_FORMAT
                  " left out that another trace has, too",
                  run->readers->len, run->readers->len == 1 ? "trace" : "traces", counts->messages,
                  counts->dropped);
        for (guint i = 0; i < run->readers->len; i++)
                tool_report_reader(run->readers->pdata[i]);
        partial = report_names(run);
        if (counts->without_id && run->readers->len > 1)
                tool_warn("%" G_GUINT64_FORMAT " messages have no id: where two traces have such "
                          "a message it is there twice, unless the stamps are the same",
                          counts->without_id);
        if (report_merged_clocks(run))
                partial = TRUE;
        if (counts->late) {
                tool_warn("%" G_GUINT64_FORMAT " messages stood too far behind later ones and are "
                          "out of order: take --window %" G_GINT64_FORMAT "ms or more",
                          counts->late, counts->needed / 1000000 + 1);
                partial = TRUE;
        }
        return partial ? EXIT_PARTIAL : tool_done();
}

int tool_merge(int argc, char **argv)
{
        g_autoptr(Run) run = NULL;
        GError *error = NULL;
        int status;

        tool_add_reader_options();
        if (!tool_parse("TRACE... - one trace from several", entries, NULL, &argc, &argv, &status))
                return status;
        if (!(run = run_new(argc, argv, &error)) || !write_merged_trace(run, &error))
                return tool_fail(error);
        return report(run);
}
