/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/spans.h"

#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "base/printable.h"
#include "import/span-calls.h"
#include "import/span-files.h"
#include "import/span-messages.h"
#include "tracefmt/sorted-runs.h"

/* Bytes for each of the two sorts: spans by trace, and messages by time. */
enum { SORT_MEMORY = 32 << 20 };

typedef struct {
        SpanContext context;
        SpanOptions options;
        SpanCounts counts;
        TraceCounts traces;
        SortedRuns *spans; /* spans by trace: as messages with the trace id for their time and the
                              packed span for attributes */
        SpanMessages *messages;
        GByteArray *packed;   /* the span being added */
        GByteArray *reported; /* by NodeId: 1 if the node has a span */
        NodeId client;
        gint64 first, last,
                longest; /* first start, last end and longest duration of all spans, ns */
        /* The current trace: packed spans in bytes, and where each begins. */
        GByteArray *bytes;
        GArray *offsets; /* of gsize */
} Spans;

static gboolean take_span(gpointer taker, const Span *span, GError **error)
{
        static const guint8 none = 0, some = 1;
        Spans *s = taker;
        Message m = { .time = (gint64)span->trace.low };

        while (s->reported->len <= span->node)
                g_byte_array_append(s->reported, &none, 1);
        s->reported->data[span->node] = some;
        if (span_has_times(span)) {
                s->first = MIN(s->first, span->start);
                s->last = MAX(s->last, span->end);
                s->longest = MAX(s->longest, span->end - span->start);
        }
        g_byte_array_set_size(s->packed, 0);
        span_pack(span, s->packed);
        m.attrs = (const char *)s->packed->data;
        m.attrs_length = s->packed->len;
        return sorted_runs_add(s->spans, &m, error);
}

static gpointer spans_begin(ImportName name, gpointer user)
{
        Spans *s = g_new0(Spans, 1);

        s->context = (SpanContext){
                .name = name, .user = user, .counts = &s->counts, .take = take_span, .taker = s
        };
        s->spans = sorted_runs_new(SORT_MEMORY);
        s->packed = g_byte_array_new();
        s->reported = g_byte_array_new();
        s->first = G_MAXINT64;
        s->last = G_MININT64;
        s->bytes = g_byte_array_new();
        s->offsets = g_array_new(FALSE, FALSE, sizeof(gsize));
        return s;
}

void import_spans_set(gpointer import, const SpanOptions *options)
{
        Spans *s = import;

        s->options = *options;
        s->context.node_attribute = options->node_attribute;
        s->messages = span_messages_new(options->nodes, SORT_MEMORY);
}

static void spans_end(gpointer import)
{
        Spans *s = import;

        sorted_runs_free(s->spans);
        span_messages_free(s->messages);
        g_byte_array_unref(s->packed);
        g_byte_array_unref(s->reported);
        g_byte_array_unref(s->bytes);
        g_array_unref(s->offsets);
        g_free(s);
}

/* --- files ----------------------------------------------------------------------- */

static gboolean spans_is_format(const guint8 *data, gsize n)
{
        gsize mark = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

        for (data += mark, n -= mark; n > 0 && *data && strchr(" \t\r\n", *data); data++)
                n--;
        return n > 0 && (*data == '{' || *data == '[');
}

/* Keys whose values lead to objects of spans: of answers of Jaeger, Tempo and Elasticsearch, and of
 * OTLP. */
static const char *const WRAPPERS[] = { "data",  "result", "resourceSpans", "batches",
                                        "trace", "traces", "hits",          "_source" };

/* An object is of the first whose is_own() says so. */
static const SpanReader *const FORMATS[] = { &read_otlp, &read_jaeger, &read_zipkin };

/* A file while it is read. */
typedef struct {
        JsonReader *r;
        gpointer readers[G_N_ELEMENTS(FORMATS)];
        GString *keys; /* the first keys, for the error that there is no span */
} SpanFile;

static gboolean read_spans_value(SpanFile *f, GError **error);

static gboolean key_is_wrapper(const JsonReader *r)
{
        for (guint i = 0; i < G_N_ELEMENTS(WRAPPERS); i++)
                if (json_reader_key_is_field(r, WRAPPERS[i]))
                        return TRUE;
        return FALSE;
}

static void begin_object(SpanFile *f)
{
        for (guint i = 0; i < G_N_ELEMENTS(FORMATS); i++)
                FORMATS[i]->begin(f->readers[i]);
}

static void note_key(SpanFile *f)
{
        enum { NOTED = 60 }; /* bytes */
        gsize n;
        const char *key = json_reader_key(f->r, &n);

        if (f->keys->len >= NOTED)
                return;
        g_string_append(f->keys, f->keys->len ? ", \"" : " with \"");
        printable_append(f->keys, key, (gssize)MIN(n, NOTED), PRINTABLE_CELL);
        g_string_append_c(f->keys, '"');
}

/* The value of the current key. */
static gboolean read_member(SpanFile *f, GError **error)
{
        note_key(f);
        if (json_reader_scalar(f->r)) {
                for (guint i = 0; i < G_N_ELEMENTS(FORMATS); i++)
                        FORMATS[i]->text(f->readers[i]);
                return TRUE;
        }
        if (key_is_wrapper(f->r)) {
                gboolean ok = read_spans_value(f, error);

                begin_object(f);
                return ok;
        }
        for (guint i = 0; i < G_N_ELEMENTS(FORMATS); i++)
                if (!FORMATS[i]->value(f->readers[i], error))
                        return FALSE;
        return TRUE;
}

/* Reads the entered object. A truncated one is dropped. */
static gboolean read_spans_object(SpanFile *f, GError **error)
{
        begin_object(f);
        while (json_reader_next_key(f->r))
                if (!read_member(f, error))
                        return FALSE;
        for (guint i = 0; !json_reader_error(f->r) && i < G_N_ELEMENTS(FORMATS); i++)
                if (FORMATS[i]->is_own(f->readers[i]))
                        return FORMATS[i]->end(f->readers[i], error);
        return TRUE;
}

/* Reads the pending value: an object, or an array of these. Others are skipped. */
static gboolean read_spans_value(SpanFile *f, GError **error)
{
        if (json_reader_enter_object(f->r))
                return read_spans_object(f, error);
        if (json_reader_enter_array(f->r))
                while (json_reader_next_element(f->r))
                        if (!read_spans_value(f, error))
                                return FALSE;
        return TRUE;
}

static gboolean read_spans_file(SpanFile *f, const SpanContext *context, GError **error)
{
        gboolean ok = TRUE;

        f->keys = g_string_new(NULL);
        for (guint i = 0; i < G_N_ELEMENTS(FORMATS); i++)
                f->readers[i] = FORMATS[i]->new (f->r, context);
        while (ok && json_reader_next_value(f->r))
                ok = read_spans_value(f, error);
        for (guint i = 0; i < G_N_ELEMENTS(FORMATS); i++)
                FORMATS[i]->free(f->readers[i]);
        return ok;
}

static gboolean spans_read(gpointer import, const ImportInput *input, GError **error)
{
        Spans *s = import;
        SpanCounts before = s->counts;
        g_autoptr(JsonReader) r = json_reader_new(input->read, input->user);
        SpanFile file = { .r = r };
        gboolean ok = read_spans_file(&file, &s->context, error);
        g_autofree char *keys = g_string_free(file.keys, FALSE);

        if (!ok)
                return FALSE;
        if (json_reader_error(r)) {
                g_propagate_prefixed_error(error, g_error_copy(json_reader_error(r)),
                                           "%s:", input->name);
                return FALSE;
        }
        if (s->counts.spans - s->counts.no_ids > before.spans - before.no_ids)
                return TRUE;
        if (s->counts.spans > before.spans)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: found no span with an id and a trace, expected any; others: "
                                  "%" G_GUINT64_FORMAT,
                                  input->name, s->counts.spans - before.spans);
        return ravel_fail(error, RAVEL_ERROR_INPUT,
                          "%s: found JSON%s without spans, expected \"data\" of Jaeger, "
                          "\"resourceSpans\" of OTLP, \"batches\" of Tempo, or spans of Zipkin",
                          input->name, keys);
}

/* --- traces ---------------------------------------------------------------------- */

COMPARISON(compare_traces, Span, COMPARE(a->trace.high, b->trace.high))

/* Whether a trace is near an end of the file, where it may be cut off. */
static gboolean is_at_edge(const Spans *s, const SpanTrace *trace)
{
        gint64 first = G_MAXINT64, last = G_MININT64;

        for (guint32 i = 0; i < trace->spans->len; i++) {
                const Span *span = span_trace_span(trace, i);

                if (span_has_times(span)) {
                        first = MIN(first, span->start);
                        last = MAX(last, span->end);
                }
        }
        return first <= last && (first - s->first < s->longest || s->last - last < s->longest);
}

/* Adds a trace. Takes over spans. */
static gboolean add_trace(Spans *s, GArray *spans, GError **error)
{
        g_autoptr(SpanTrace) trace = span_trace_new(spans, &s->counts);
        const SpanNames names = { s->client, s->reported };
        TraceCounts before = s->traces;
        gboolean incomplete;
        g_autoptr(GArray) calls = span_calls_find(trace, &names, &s->traces, &incomplete);

        s->traces.traces++;
        if (incomplete && s->options.whole) {
                before.traces++;
                before.left_out++;
                s->traces = before;
                return TRUE;
        }
        s->traces.incomplete += incomplete;
        s->traces.edge += incomplete && is_at_edge(s, trace);
        return span_messages_add(s->messages, trace, calls, error);
}

/* Takes the spans from *from on, up to the first of another trace. */
static GArray *take_trace(const GArray *all, guint *from)
{
        GArray *spans = g_array_new(FALSE, FALSE, sizeof(Span));
        const Span *first = &g_array_index(all, Span, *from);

        for (; *from < all->len; ++*from) {
                const Span *s = &g_array_index(all, Span, *from);

                if (s->trace.high != first->trace.high)
                        break;
                g_array_append_val(spans, *s);
        }
        return spans;
}

/* Joins traces with the same low half. A program that knows only ids of 64 bits cuts ids of 128
 * bits. */
static void join_halves(Spans *s, GArray *all)
{
        const Span *last = &g_array_index(all, Span, all->len - 1);
        guint short_ones = 0;

        while (short_ones < all->len && g_array_index(all, Span, short_ones).trace.high == 0)
                short_ones++;
        if (short_ones == 0 || short_ones == all->len ||
            g_array_index(all, Span, short_ones).trace.high != last->trace.high)
                return;
        s->traces.mixed_ids++;
        for (guint i = 0; i < short_ones; i++)
                g_array_index(all, Span, i).trace.high = last->trace.high;
}

/* Adds the traces whose ids have the same low half. */
static gboolean add_traces(Spans *s, GError **error)
{
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Span));
        guint from = 0;

        for (guint i = 0; i < s->offsets->len; i++) {
                gsize at = g_array_index(s->offsets, gsize, i);
                Span span;
                gboolean whole = span_unpack(&span, s->bytes->data + at, s->bytes->len - at);

                g_assert(whole);
                g_array_append_val(all, span);
        }
        g_byte_array_set_size(s->packed, 0);
        if (all->len > 0) {
                g_array_sort(all, compare_traces);
                join_halves(s, all);
        }
        while (from < all->len)
                if (!add_trace(s, take_trace(all, &from), error))
                        return FALSE;
        g_byte_array_set_size(s->bytes, 0);
        g_array_set_size(s->offsets, 0);
        return TRUE;
}

static gboolean spans_write(gpointer import, TraceWriter *writer, GError **error)
{
        Spans *s = import;
        gint64 trace = 0;
        Message m;
        int status;

        s->client = span_context_node(&s->context, "client", strlen("client"));
        if (!sorted_runs_finish(s->spans, error))
                return FALSE;
        while ((status = sorted_runs_next(s->spans, &m, error)) > 0) {
                gsize at = s->bytes->len;

                if (m.time != trace && s->offsets->len > 0) {
                        if (!add_traces(s, error))
                                return FALSE;
                        at = 0;
                }
                trace = m.time;
                g_byte_array_append(s->bytes, (const guint8 *)m.attrs, m.attrs_length);
                g_array_append_val(s->offsets, at);
        }
        return status == 0 && add_traces(s, error) &&
               (s->traces.clocks == 0 || s->options.one_clock ||
                trace_writer_fact(writer, "clocks", "several", error)) &&
               span_messages_write(s->messages, writer, error);
}

/* --- what there is to say -------------------------------------------------------- */

static const struct {
        gsize offset; /* in SpanCounts, or in TraceCounts if of_trace */
        gboolean of_trace;
        const char *what;
} SAID[] = {
        { G_STRUCT_OFFSET(SpanCounts, spans), FALSE, "spans" },
        { G_STRUCT_OFFSET(TraceCounts, traces), TRUE, "traces of spans" },
        { G_STRUCT_OFFSET(TraceCounts, calls), TRUE, "calls" },
        { G_STRUCT_OFFSET(TraceCounts, both_ends), TRUE, "calls seen at both ends" },
        { G_STRUCT_OFFSET(TraceCounts, peers), TRUE, "calls to nodes without spans" },
        { G_STRUCT_OFFSET(TraceCounts, messages), TRUE, "messages that nobody answers" },
        { G_STRUCT_OFFSET(TraceCounts, follows), TRUE, "spans that nobody waits for" },
        { G_STRUCT_OFFSET(TraceCounts, inside), TRUE, "spans inside a node, not used" },
        { G_STRUCT_OFFSET(SpanCounts, duplicates), FALSE, "spans left out: duplicates" },
        { G_STRUCT_OFFSET(SpanCounts, clashes), FALSE, "spans left out: another has their id" },
        { G_STRUCT_OFFSET(SpanCounts, no_ids), FALSE, "spans left out: without an id or a trace" },
        { G_STRUCT_OFFSET(SpanCounts, no_times), FALSE, "spans without times" },
        { G_STRUCT_OFFSET(SpanCounts, reversed), FALSE, "spans that end before they begin" },
        { G_STRUCT_OFFSET(SpanCounts, no_node), FALSE, "spans without the name of a service" },
        { G_STRUCT_OFFSET(SpanCounts, base64), FALSE, "ids in base64" },
        { G_STRUCT_OFFSET(SpanCounts, odd_ids), FALSE, "ids that are not hexadecimal" },
        { G_STRUCT_OFFSET(TraceCounts, mixed_ids), TRUE, "traces with ids of 64 and of 128 bits" },
        { G_STRUCT_OFFSET(SpanCounts, adjusted), FALSE, "spans whose clock Jaeger adjusted" },
        { G_STRUCT_OFFSET(TraceCounts, lost_parents), TRUE, "spans whose parent is missing" },
        { G_STRUCT_OFFSET(TraceCounts, circles), TRUE, "spans that are their own ancestors" },
        { G_STRUCT_OFFSET(TraceCounts, deep), TRUE, "calls nested too deeply" },
        { G_STRUCT_OFFSET(TraceCounts, lost_servers), TRUE,
          "clients' spans whose server's span is missing" },
        { G_STRUCT_OFFSET(TraceCounts, unnamed), TRUE,
          "clients' spans left out: they do not say whom they called" },
        { G_STRUCT_OFFSET(TraceCounts, retried), TRUE, "clients' spans with several servers'" },
        { G_STRUCT_OFFSET(TraceCounts, skewed), TRUE, "servers' spans not within their client's" },
        { G_STRUCT_OFFSET(TraceCounts, early), TRUE, "calls that begin before their parent" },
        { G_STRUCT_OFFSET(TraceCounts, late), TRUE, "calls that end after their parent" },
        { G_STRUCT_OFFSET(TraceCounts, ties), TRUE, "calls that begin with their parent" },
        { G_STRUCT_OFFSET(SpanCounts, links), FALSE, "further links, not used" },
        { G_STRUCT_OFFSET(TraceCounts, elsewhere), TRUE,
          "links to other traces without a queue, not used" },
};

static gboolean say_share(const char *what, guint64 part, guint64 whole, const char *advice,
                          ImportSay say, gpointer user, GError **error)
{
        g_autofree char *text = NULL;
        guint64 permille;

        if (part == 0)
                return TRUE;
        permille = (part * 2000 + whole) / (whole * 2);
        text = g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " (%" G_GUINT64_FORMAT
                               ".%" G_GUINT64_FORMAT " %%)%s",
                               part, whole, permille / 10, permille % 10, advice);
        return say(user, what, text, error);
}

static gboolean spans_say(gconstpointer import, ImportSay say, gpointer user, GError **error)
{
        const Spans *s = import;
        const TraceCounts *t = &s->traces;

        for (guint i = 0; i < G_N_ELEMENTS(SAID); i++) {
                gconstpointer of = SAID[i].of_trace ? (gconstpointer)t : &s->counts;
                guint64 n = G_STRUCT_MEMBER(guint64, of, SAID[i].offset);
                g_autofree char *value = g_strdup_printf("%" G_GUINT64_FORMAT, n);

                if ((n > 0 || i == 0) && !say(user, SAID[i].what, value, error))
                        return FALSE;
        }
        return say_share("traces without a root", t->rootless, t->traces, "", say, user, error) &&
               say_share("traces that lack a part", t->incomplete, t->traces,
                         ": score whole ones only (--whole)", say, user, error) &&
               say_share("of these at the ends of the files", t->edge, t->incomplete, "", say, user,
                         error) &&
               say_share("traces left out: not whole", t->left_out, t->traces, "", say, user,
                         error);
}

const ImportFormat import_spans = { .name = "spans",
                                    .begin = spans_begin,
                                    .write = spans_write,
                                    .end = spans_end,
                                    .is_format = spans_is_format,
                                    .read = spans_read,
                                    .say = spans_say };
