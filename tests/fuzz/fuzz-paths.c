/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From a file of packets to path patterns, as ravel capture and ravel nesting do it: the
 * first byte chooses options, the rest is the file, of any format. What is written as a
 * trace is read again as it was.
 */
#include "base/error.h"
#include "capture/capture.h"
#include "capture/source/pcap-source.h"
#include "nesting/nesting.h"
#include "nesting/windows.h"
#include "tests/fuzz/fuzz-file.h"
#include "tracefmt/trace-reader.h"
#include "tracefmt/trace-writer.h"
#include "write/path-write.h"

enum { MOST_PACKETS = 5000 }; /* a few bytes may unpack to more than can be waited for */

enum { LABELS = 1, HOST = 2, NAMES = 4, JOINT = 8, STRICT = 16, WINDOWS = 32, NO_FOLD = 64 };

typedef struct {
        guint8 how;
        guint64 n[N_MESSAGE_OPS];
} Counts;

/* --- packets to a trace ------------------------------------------------------ */

static void write_messages(Capture *capture, TraceWriter *out, Counts *counts)
{
        Message m;

        while (capture_next(capture, &m)) {
                counts->n[m.op]++;
                g_assert(trace_writer_add(out, &m, NULL));
        }
}

/* The account and the doubts, as they end a trace. */
static void write_facts(Capture *capture, const NodeTable *nodes, TraceWriter *out)
{
        g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(EdgeCalls));
        const Account *account = capture_account(capture);
        Fitness fitness = account_fitness(account->count, account);
        g_autofree char *judgement = NULL;

        for (guint i = 0; i < N_ACCOUNT; i++) {
                g_autofree char *n = g_strdup_printf("%" G_GUINT64_FORMAT, account->count[i]);

                g_assert(trace_writer_fact(out, account_key(i), n, NULL));
        }
        capture_weigh(capture, doubts, edges);
        doubts_sort(doubts, nodes);
        for (guint i = 0; i < doubts->len; i++) {
                g_autofree char *value = doubt_to_value(&g_array_index(doubts, Doubt, i), nodes);

                g_assert(trace_writer_fact(out, "doubt", value, NULL));
        }
        judgement = fitness_judge(&fitness, doubts, (const EdgeCalls *)(gconstpointer)edges->data,
                                  edges->len, nodes);
        g_assert(trace_writer_fact(out, "judgement", judgement, NULL));
}

static void write_trace(PcapSource *packets, const char *path, Counts *counts)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(NodeNames) names = node_names_new(nodes);
        g_autoptr(LearnedNames) learned = learned_names_new();
        CaptureOptions options = { .patience = CAPTURE_PATIENCE,
                                   .disorder = CAPTURE_DISORDER,
                                   .labels = counts->how & LABELS ? LABELS_WHOLE : LABELS_WORDS,
                                   .host = counts->how & HOST ? "10.0.0.2" : NULL,
                                   .learned = counts->how & NAMES ? learned : NULL };
        g_autoptr(Capture) capture = capture_new(&options, nodes, names);
        g_autoptr(TraceWriter) out = trace_writer_new(path, nodes, FALSE, NULL);
        Packet packet;

        g_assert(out);
        for (guint i = 0; i < MOST_PACKETS && pcap_source_next(packets, &packet, NULL) == 1; i++) {
                capture_add(capture, &packet);
                write_messages(capture, out, counts);
        }
        capture_finish(capture);
        write_messages(capture, out, counts);
        write_facts(capture, nodes, out);
        g_assert(trace_writer_close(g_steal_pointer(&out), NULL));
}

/* --- a trace to paths -------------------------------------------------------- */

/* The paths of one window after the other; all go to the same set. */
static PathSet *take_window(gpointer data, PathSet *set, guint64 first_instance, GError **error)
{
        (void)data;
        (void)first_instance;
        (void)error;
        return set;
}

/* Where the messages go: one of the two. */
typedef struct {
        Nesting *nesting;
        Windows *windows;
} Finder;

static void add_messages(const Finder *finder, const char *path, NodeTable *nodes, Counts *counts)
{
        TraceReaderOptions reading = TRACE_READER_DEFAULTS;
        g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, &reading, NULL);
        g_autoptr(GArray) doubts = NULL;
        g_autoptr(GError) error = NULL;
        Message m;
        int status;

        trace_reader_take_late(reader);
        while ((status = trace_reader_next(reader, &m, &error)) > 0) {
                g_assert(counts->n[m.op]-- > 0);
                g_assert(finder->windows ? windows_add(finder->windows, &m, NULL)
                                         : nesting_add(finder->nesting, &m, NULL));
        }
        g_assert_no_error(error);
        for (MessageOp op = 0; op < N_MESSAGE_OPS; op++)
                g_assert(counts->n[op] == 0);
        g_assert(trace_reader_end(reader) == TRACE_WHOLE);
        doubts = trace_reader_doubts(reader);
        g_assert(doubts);
}

static void write_paths(const PathSet *set)
{
        static const char *const formats[] = { "text", "dot", "json", "tsv" };
        g_autofree guint32 *rank = path_set_rank(set, RANK_TOTAL);
        PathWriteOptions options = { .rank = rank, .n_patterns = path_set_size(set) };

        for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
                g_autoptr(OutputFile) out = output_file_new("/dev/null", FALSE, NULL);

                g_assert(path_writer_lookup(formats[i])(set, &options, out, NULL));
        }
}

static void find_paths(const char *path, Counts *counts)
{
        guint8 how = counts->how;
        NestingOptions options = NESTING_DEFAULTS;
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(PathSet) set =
                path_set_new(nodes, how & STRICT ? SIBLINGS_STRICT : SIBLINGS_MULTISET);
        g_autoptr(Nesting) nesting = NULL;
        g_autoptr(Windows) windows = NULL;
        const KnownCalls *calls;

        options.method = how & JOINT ? METHOD_JOINT : METHOD_PAPER;
        options.fold = !(how & NO_FOLD);
        options.span = how & WINDOWS ? 1000000000 : 0;
        options.keep = TRUE;
        path_set_summary(set)->method = "fuzz";
        if (options.span)
                windows = windows_new(nodes, &options, set, take_window, NULL);
        else
                nesting = nesting_new(nodes, &options);
        add_messages(&(Finder){ nesting, windows }, path, nodes, counts);
        if (windows) {
                g_assert(windows_finish(windows, NULL));
        } else {
                nesting_find_parents(nesting);
                g_assert(nesting_find_paths(nesting, set, NULL));
        }
        calls = nesting_calls(windows ? windows_run(windows) : nesting);
        g_assert(path_set_instances(set) + path_set_summary(set)->cut_instances <=
                 call_matcher_counts(calls->matcher)->pairs);
        write_paths(set);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Counts counts = { .how = n ? data[0] : 0 };
        PcapOptions how = { 0 };
        g_autoptr(GError) error = NULL;
        g_autoptr(PcapSource) packets = NULL;
        g_autofree char *capture = NULL, *trace = NULL;
        int capture_fd, trace_fd;

        capture = as_file(data + !!n, n - !!n, &capture_fd);
        trace = as_file(NULL, 0, &trace_fd);
        packets = pcap_source_open(capture, &how, &error);
        if (packets) {
                write_trace(packets, trace, &counts);
                find_paths(trace, &counts);
        } else {
                g_assert(error && g_utf8_validate(error->message, -1, NULL));
        }
        close(capture_fd);
        close(trace_fd);
        return 0;
}
