/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From the bytes of a trace to path patterns by convolution. The first byte chooses
 * options, the rest is the trace, compressed or not.
 */
#include "base/error.h"
#include "convolution/convolution.h"
#include "tests/fuzz/fuzz-file.h"
#include "tracefmt/trace-reader.h"

enum {
        MOST_MESSAGES = 4000, /* a few bytes may unpack to more than can be waited for */
        MOST_LAGS = 1 << 12,
        MOST_VERTICES = 200,
};

enum { FOLD = 1, PAPER = 2 };

static EdgeTraces *read_edges(TraceReader *reader, NodeTable *nodes, gboolean fold)
{
        g_autoptr(EdgeTraceLoader) loader = edge_trace_loader_new(nodes);
        g_autoptr(GError) error = NULL;
        gboolean sorted = FALSE;
        guint n = 0;
        Message m;
        int status;

        while ((status = trace_reader_next(reader, &m, &error)) != 0) {
                if (status > 0) {
                        g_assert(edge_trace_loader_add(loader, &m, NULL));
                        if (++n == MOST_MESSAGES)
                                break;
                        continue;
                }
                g_assert(error && g_utf8_validate(error->message, -1, NULL));
                if (sorted || !g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_DISORDER))
                        return NULL;
                g_clear_error(&error);
                sorted = TRUE;
                if (!trace_reader_sort(reader, NULL))
                        return NULL;
                edge_trace_loader_free(loader);
                loader = edge_trace_loader_new(nodes);
                n = 0;
        }
        return edge_trace_loader_finish(g_steal_pointer(&loader), fold);
}

static void check_order(const gint64 *times, guint32 n, const EdgeTraces *t)
{
        for (guint32 i = 0; i < n; i++)
                g_assert(times[i] >= (i ? times[i - 1] : t->first) && times[i] <= t->last);
}

/* Edges in order, their stamps too, and each message at both ends once. */
static void check_edges(const EdgeTraces *t)
{
        guint64 messages = 0;

        for (guint k = 0; k < t->n_edges; k++) {
                const EdgeTrace *e = &t->edges[k];
                g_autofree guint8 *seen = g_new0(guint8, e->n);

                g_assert(e->n > 0 && k >= t->first_out[e->from] && k < t->first_out[e->from + 1]);
                g_assert(edge_traces_lookup(t, e->from, e->to) == e);
                check_order(e->sent, e->n, t);
                check_order(e->received, e->n, t);
                for (guint32 i = 0; i < e->n; i++) {
                        guint32 at = edge_trace_arrival(e, i);

                        g_assert(at < e->n && !seen[at]++);
                }
                messages += e->n;
        }
        g_assert(messages == t->messages);
}

/* As the options are that a user may choose; lags fewer, which is only a matter of time. */
static void choose(const EdgeTraces *traces, const GArray *roots, ConvolutionOptions *o)
{
        convolution_choose(traces, roots, o);
        g_assert(o->quantum > 0 && o->max_delay >= o->quantum && o->tolerance >= 0);
        o->quantum = MAX(o->quantum, o->max_delay / MOST_LAGS + 1);
        o->max_delay = MAX(o->max_delay, o->quantum);
        o->tolerance = MIN(o->tolerance, o->max_delay);
        if (o->correlate == CORRELATE_WHOLE &&
            (traces->last - traces->first) / o->quantum > MOST_LAGS)
                o->correlate = CORRELATE_AUTO;
}

static Convolution *new_run(const EdgeTraces *traces, const ConvolutionOptions *options)
{
        ConvolutionOptions o = *options;
        GArray *roots = convolution_find_roots(traces);

        choose(traces, roots, &o);
        return convolution_new(traces, &o, roots);
}

/* Clocks are put right as long as one is found. */
static Convolution *put_clocks_right(EdgeTraces *traces, const ConvolutionOptions *options,
                                     gboolean prove)
{
        g_autoptr(Convolution) run = new_run(traces, options);
        ClockOffset o;

        for (guint i = 0; i < traces->n_nodes && convolution_find_clock_offset(run, prove, &o);
             i++) {
                g_assert(o.node < traces->n_nodes && o.least <= o.most);
                if (o.doubtful)
                        break;
                edge_traces_shift(traces, o.node, -o.offset);
                convolution_free(run);
                run = new_run(traces, options);
        }
        return g_steal_pointer(&run);
}

static void find_paths(EdgeTraces *traces, guint8 how)
{
        static const gint64 quanta[] = { 0, 1, 1000000, G_GINT64_CONSTANT(1000000000) };
        ConvolutionOptions options = CONVOLUTION_DEFAULTS;
        g_autoptr(Convolution) run = NULL;
        g_autoptr(PathSet) set = NULL;

        options.quantum = quanta[how >> 2 & 3];
        options.max_delay = 300 * options.quantum;
        options.min_messages = how >> 4 & 1;
        options.correlate = how >> 5 & 3;
        options.max_vertices = MOST_VERTICES;
        options.roots_guessed = TRUE;
        run = put_clocks_right(traces, &options, how >> 7);
        set = how & PAPER ? convolution_find_paths(run) : convolution_find_joint_paths(run);
        /* By the paper's method a message may be on several paths. */
        g_assert(how & PAPER || path_set_instances(set) <= traces->messages);
        for (guint32 i = 0; i < path_set_size(set); i++) {
                const PathPattern *p = path_set_pattern(set, i);

                g_assert(p->n_nodes > 0 && p->count > 0);
        }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        guint8 how = n ? data[0] : 0;
        TraceReaderOptions reading = TRACE_READER_DEFAULTS;
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = NULL;
        g_autoptr(EdgeTraces) traces = NULL;
        g_autofree char *path = NULL;
        int fd;

        reading.keep_going = TRUE;
        path = as_file(data + !!n, n - !!n, &fd);
        reader = trace_reader_new(path, nodes, &reading, NULL);
        g_assert(reader);
        traces = read_edges(reader, nodes, how & FOLD);
        if (traces) {
                check_edges(traces);
                find_paths(traces, how);
        }
        close(fd);
        return 0;
}
