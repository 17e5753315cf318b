/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From the bytes of a trace to path patterns. The first byte chooses options, the
 * rest is the trace, compressed or not.
 */
#include "base/error.h"
#include "nesting/nesting.h"
#include "nesting/windows.h"
#include "tests/fuzz/fuzz-file.h"
#include "tracefmt/trace-reader.h"

/* The paths of one window after the other; all go to the same set. */
static PathSet *take_window(gpointer data, PathSet *set, guint64 first_instance, GError **error)
{
        const PathSetSummary *summary = path_set_summary(set);

        (void)data;
        (void)first_instance;
        (void)error;
        g_assert(summary->first < summary->last &&
                 path_set_instances(set) + summary->cut_instances > 0);
        return set;
}

static Nesting *read_calls(TraceReader *reader, NodeTable *nodes, const NestingOptions *options)
{
        g_autoptr(Nesting) nesting = nesting_new(nodes, options);
        g_autoptr(GError) error = NULL;
        gint64 last = G_MININT64;
        gboolean sorted = FALSE;
        Message m;
        int status;

        while ((status = trace_reader_next(reader, &m, &error)) != 0) {
                if (status > 0) {
                        g_assert(m.time >= last && m.op < N_MESSAGE_OPS);
                        g_assert(m.sender < node_table_size(nodes));
                        g_assert(m.receiver < node_table_size(nodes));
                        last = m.time;
                        g_assert(nesting_add(nesting, &m, NULL));
                        continue;
                }
                g_assert(error && g_utf8_validate(error->message, -1, NULL));
                if (sorted || !g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_DISORDER))
                        return NULL;
                g_clear_error(&error);
                sorted = TRUE;
                if (!trace_reader_sort(reader, NULL))
                        return NULL;
                nesting_free(nesting);
                nesting = nesting_new(nodes, options);
                last = G_MININT64;
        }
        return g_steal_pointer(&nesting);
}

/* Reads the trace in windows, as from a pipe. */
static void read_windows(TraceReader *reader, NodeTable *nodes, const NestingOptions *options,
                         PathSet *set)
{
        g_autoptr(Windows) windows = windows_new(nodes, options, set, take_window, NULL);
        const MatchCounts *counts;
        Message m;

        trace_reader_take_late(reader);
        while (trace_reader_next(reader, &m, NULL) > 0)
                g_assert(windows_add(windows, &m, NULL));
        g_assert(windows_finish(windows, NULL));
        counts = call_matcher_counts(nesting_calls(windows_run(windows))->matcher);
        g_assert(path_set_instances(set) + path_set_summary(set)->cut_instances <=
                 counts->messages);
}

/* Every call into its parent's callee, and none its own ancestor. */
static void check_parents(const KnownCalls *known)
{
        const CallPairs *calls = &known->pairs;

        for (guint32 i = 0; i < calls->n; i++) {
                guint32 up = i, steps = 0;

                for (; (up = calls->cause[up].parent) != NO_PARENT; steps++)
                        g_assert(up < calls->n && steps < calls->n);
                up = calls->cause[i].parent;
                if (up == NO_PARENT)
                        continue;
                g_assert(known_calls_edge(known, up)->callee == known_calls_edge(known, i)->caller);
                g_assert(calls->cause[i].probability > 0 && calls->cause[i].probability <= 1);
        }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        static const gint64 windows[] = { 0, 5, 2000000000, G_GINT64_CONSTANT(86400000000000) };
        guint8 how = n ? data[0] : 0;
        TraceReaderOptions reading = TRACE_READER_DEFAULTS;
        NestingOptions options = { .method = METHOD_PAPER,
                                   .overlap = how & 4 ? 0.5 : 2,
                                   .same = how & 4 ? 3 : 0,
                                   .smooth = how & 8 ? 2 : 0,
                                   .window = windows[how >> 4 & 3],
                                   .span = how & 128 ? 1500000000 : 0,
                                   .fold = TRUE,
                                   .keep = how >> 6 & 1 };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = NULL;
        g_autoptr(Nesting) nesting = NULL;
        g_autoptr(PathSet) set = NULL;
        g_autofree char *path = NULL;
        int fd;

        reading.keep_going = how & 1;
        path = as_file(data + !!n, n - !!n, &fd);
        reader = trace_reader_new(path, nodes, &reading, NULL);
        g_assert(reader);
        set = path_set_new(nodes, how & 2 ? SIBLINGS_STRICT : SIBLINGS_MULTISET);
        options.places = options.span && options.keep;
        if (options.span)
                read_windows(reader, nodes, &options, set);
        else
                nesting = read_calls(reader, nodes, &options);
        if (nesting) {
                const MatchCounts *counts = call_matcher_counts(nesting_calls(nesting)->matcher);

                nesting_find_parents(nesting);
                g_assert(counts->pairs + counts->linked + nesting_calls(nesting)->silent ==
                         nesting_calls(nesting)->pairs.n);
                g_assert(nesting_find_paths(nesting, set, NULL));
                if (options.keep)
                        check_parents(nesting_calls(nesting));
                g_assert(path_set_instances(set) + path_set_summary(set)->cut_instances <=
                         nesting_calls(nesting)->pairs.n);
        }
        close(fd);
        return 0;
}
