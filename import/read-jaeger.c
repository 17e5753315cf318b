/* SPDX-License-Identifier: BSD-2-Clause */

#include "base/each.h"
#include "import/span-files.h"

/* A reference of one span to another. */
typedef struct {
        gboolean follows;
        TraceId trace;
        guint64 id;
} Reference;

typedef struct {
        JsonReader *r;
        const SpanContext *context;
        SpanDraft *draft;
        SpanHold *hold;        /* spans of the current trace, with the name of their process */
        GHashTable *processes; /* name of a process to NodeId + 1 */
        GString *key, *value, *process;
        TraceId trace;
        GArray *references;         /* references of the current span */
        gint64 duration;            /* ns, of the current span */
        gboolean is_trace, is_span; /* what the object is, by its keys */
} Jaeger;

static gboolean next_tag(Jaeger *j)
{
        g_string_truncate(j->key, 0);
        g_string_truncate(j->value, 0);
        if (!json_reader_next_element(j->r))
                return FALSE;
        if (json_reader_enter_object(j->r)) {
                while (json_reader_next_key(j->r)) {
                        if (json_reader_key_is(j->r, "key") && json_reader_scalar(j->r))
                                json_reader_keep_text(j->r, j->key);
                        else if (json_reader_key_is(j->r, "value") && json_reader_scalar(j->r))
                                json_reader_keep_text(j->r, j->value);
                }
        }
        return TRUE;
}

/* Reads the next tag of the entered object: Elasticsearch has tags as fields, with @ for a dot. */
static gboolean next_field(Jaeger *j)
{
        const char *key;
        gsize n;

        if (!json_reader_next_key(j->r))
                return FALSE;
        key = json_reader_key(j->r, &n);
        g_string_truncate(j->key, 0);
        g_string_append_len(j->key, key, (gssize)n);
        g_strdelimit(j->key->str, "@", '.');
        g_string_truncate(j->value, 0);
        if (json_reader_scalar(j->r))
                json_reader_keep_text(j->r, j->value);
        return TRUE;
}

/* Reads all tags of the pending value, for take. */
static void read_jaeger_tags(Jaeger *j, void (*take)(Jaeger *j, NodeId *node), NodeId *node)
{
        if (json_reader_key_is(j->r, "tags") && json_reader_enter_array(j->r))
                while (next_tag(j))
                        take(j, node);
        else if (json_reader_key_is(j->r, "tag") && json_reader_enter_object(j->r))
                while (next_field(j))
                        take(j, node);
}

static void take_process_tag(Jaeger *j, NodeId *node)
{
        if (span_context_names_node(j->context, j->key->str, j->key->len))
                *node = span_context_node(j->context, j->value->str, j->value->len);
}

static void take_tag(Jaeger *j, NodeId *node)
{
        (void)node;
        span_draft_attribute(j->draft, j->key->str, j->key->len, j->value->str, j->value->len);
}

/* Reads the entered process. NO_NODE if it names no node. */
static NodeId read_jaeger_process(Jaeger *j)
{
        NodeId service = NO_NODE, named = NO_NODE;

        while (json_reader_next_key(j->r)) {
                if (json_reader_key_is(j->r, "serviceName") && json_reader_scalar(j->r))
                        service = span_context_node(j->context, json_reader_text(j->r),
                                                    json_reader_length(j->r));
                else
                        read_jaeger_tags(j, take_process_tag, &named);
        }
        return named != NO_NODE ? named : service;
}

static void read_processes(Jaeger *j)
{
        while (json_reader_next_key(j->r)) {
                gsize n;
                const char *key = json_reader_key(j->r, &n);
                g_autofree char *word = g_strndup(key, n);

                if (json_reader_enter_object(j->r)) {
                        NodeId node = read_jaeger_process(j);

                        g_hash_table_replace(j->processes, g_steal_pointer(&word),
                                             GUINT_TO_POINTER(node + 1));
                }
        }
}

static void read_reference(Jaeger *j)
{
        Reference reference = { 0 };

        while (json_reader_next_key(j->r)) {
                if (!json_reader_scalar(j->r))
                        continue;
                if (json_reader_key_is(j->r, "refType"))
                        reference.follows = json_reader_text_is(j->r, "FOLLOWS_FROM");
                else if (json_reader_key_is(j->r, "traceID"))
                        reference.trace =
                                span_parse_trace_id(json_reader_text(j->r),
                                                    json_reader_length(j->r), j->context->counts);
                else if (json_reader_key_is(j->r, "spanID"))
                        reference.id = span_parse_id(json_reader_text(j->r),
                                                     json_reader_length(j->r), j->context->counts);
        }
        g_array_append_val(j->references, reference);
}

/* Reads warnings. One says, in words, that Jaeger adjusted the clock of the span. */
static void read_warnings(Jaeger *j)
{
        gboolean adjusted = FALSE;

        while (json_reader_next_element(j->r))
                if (json_reader_scalar(j->r))
                        adjusted |=
                                g_strstr_len(json_reader_text(j->r),
                                             (gssize)json_reader_length(j->r), "adjusted") != NULL;
        j->context->counts->adjusted += adjusted;
}

static void read_jaeger_text(Jaeger *j)
{
        Span *s = span_draft_span(j->draft);
        const char *text = json_reader_text(j->r);
        gsize n = json_reader_length(j->r);

        if (json_reader_key_is(j->r, "traceID"))
                s->trace = span_parse_trace_id(text, n, j->context->counts);
        else if (json_reader_key_is(j->r, "spanID"))
                s->id = span_parse_id(text, n, j->context->counts);
        else if (json_reader_key_is(j->r, "parentSpanID"))
                s->parent =
                        json_reader_is_null(j->r) ? 0 : span_parse_id(text, n, j->context->counts);
        else if (json_reader_key_is(j->r, "operationName"))
                span_draft_set_name(j->draft, text, n);
        else if (json_reader_key_is(j->r, "startTime"))
                s->start = span_parse_time(text, n, 3);
        else if (json_reader_key_is(j->r, "duration"))
                j->duration = span_parse_time(text, n, 3);
        else if (json_reader_key_is(j->r, "processID"))
                json_reader_keep_text(j->r, j->process);
}

static void read_jaeger_list(Jaeger *j, void (*read_one)(Jaeger *j))
{
        if (json_reader_enter_array(j->r))
                while (json_reader_next_element(j->r))
                        if (json_reader_enter_object(j->r))
                                read_one(j);
}

static void begin_jaeger_span(Jaeger *j)
{
        span_draft_clear(j->draft);
        g_string_truncate(j->process, 0);
        g_array_set_size(j->references, 0);
        j->duration = NO_TIME;
}

/* Takes a value of a span, which stays pending if it is none. */
static void read_jaeger_part(Jaeger *j)
{
        if (json_reader_key_is(j->r, "references"))
                read_jaeger_list(j, read_reference);
        else if (json_reader_key_is(j->r, "warnings") && json_reader_enter_array(j->r))
                read_warnings(j);
        else if (json_reader_key_is(j->r, "process") && json_reader_enter_object(j->r))
                span_draft_span(j->draft)->node = read_jaeger_process(j);
        else
                read_jaeger_tags(j, take_tag, NULL);
}

/* Takes the parent of a span: the first CHILD_OF reference within the trace, else the first
 * reference of all. */
static void take_references(Jaeger *j, Span *s)
{
        gboolean parent = FALSE;
        guint used = 0;

        EACH (const Reference, f, j->references) {
                if (!f->follows && !parent && trace_id_is_same(f->trace, s->trace)) {
                        s->parent = f->id;
                        parent = TRUE;
                        used++;
                } else if (s->other == 0) {
                        s->other = f->id;
                        s->other_trace = f->trace;
                        s->flags |= SPAN_FOLLOWS;
                        used++;
                }
        }
        j->context->counts->links += j->references->len - used;
}

static void end_jaeger_span(Jaeger *j)
{
        Span *s = span_draft_span(j->draft);

        if (s->start != NO_TIME && j->duration != NO_TIME && j->duration <= MAX_STAMP - s->start)
                s->end = s->start + j->duration;
        if (s->trace.high == 0 && s->trace.low == 0)
                s->trace = j->trace;
        take_references(j, s);
        span_hold_add(j->hold, span_draft_finish(j->draft), j->process->str, j->process->len);
}

static void hold_spans(Jaeger *j)
{
        if (!json_reader_enter_array(j->r))
                return;
        while (json_reader_next_element(j->r)) {
                if (!json_reader_enter_object(j->r))
                        continue;
                begin_jaeger_span(j);
                while (json_reader_next_key(j->r))
                        if (json_reader_scalar(j->r))
                                read_jaeger_text(j);
                        else
                                read_jaeger_part(j);
                if (json_reader_error(j->r))
                        return;
                end_jaeger_span(j);
        }
}

/* Gives the spans of the trace, whose processes are known now. */
static gboolean give_spans(Jaeger *j, GError **error)
{
        for (guint i = 0; i < span_hold_size(j->hold); i++) {
                const char *word;
                gsize n;
                Span s;

                span_hold_get(j->hold, i, &s, &word, &n);
                if (s.node == NO_NODE) {
                        g_autofree char *process = g_strndup(word, n);

                        s.node = GPOINTER_TO_UINT(g_hash_table_lookup(j->processes, process)) - 1;
                }
                if (!span_give(j->context, &s, error))
                        return FALSE;
        }
        return TRUE;
}

/* --- an object -------------------------------------------------------------------- */

static gpointer jaeger_new(JsonReader *r, const SpanContext *context)
{
        Jaeger *j = g_new0(Jaeger, 1);

        j->r = r;
        j->context = context;
        j->draft = span_draft_new(context);
        j->hold = span_hold_new();
        j->processes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        j->key = g_string_new(NULL);
        j->value = g_string_new(NULL);
        j->process = g_string_new(NULL);
        j->references = g_array_new(FALSE, FALSE, sizeof(Reference));
        return j;
}

static void jaeger_free(gpointer reader)
{
        Jaeger *j = reader;

        span_draft_free(j->draft);
        span_hold_free(j->hold);
        g_hash_table_unref(j->processes);
        g_string_free(j->key, TRUE);
        g_string_free(j->value, TRUE);
        g_string_free(j->process, TRUE);
        g_array_unref(j->references);
        g_free(j);
}

static void jaeger_begin(gpointer reader)
{
        Jaeger *j = reader;

        span_hold_clear(j->hold);
        g_hash_table_remove_all(j->processes);
        j->trace = (TraceId){ 0, 0 };
        j->is_trace = j->is_span = FALSE;
        begin_jaeger_span(j);
}

static gboolean jaeger_value(gpointer reader, GError **error)
{
        Jaeger *j = reader;

        (void)error;
        if (json_reader_key_is(j->r, "spans")) {
                j->is_trace = TRUE;
                hold_spans(j);
        } else if (json_reader_key_is(j->r, "processes") && json_reader_enter_object(j->r)) {
                read_processes(j);
        } else {
                read_jaeger_part(j);
        }
        return TRUE;
}

static void jaeger_text(gpointer reader)
{
        Jaeger *j = reader;

        j->is_span |= json_reader_key_is(j->r, "spanID");
        if (json_reader_key_is(j->r, "traceID"))
                j->trace = span_parse_trace_id(json_reader_text(j->r), json_reader_length(j->r),
                                               j->context->counts);
        else
                read_jaeger_text(j);
}

static gboolean jaeger_is_own(gconstpointer reader)
{
        const Jaeger *j = reader;

        return j->is_trace || j->is_span;
}

static gboolean jaeger_end(gpointer reader, GError **error)
{
        Jaeger *j = reader;

        if (!j->is_trace)
                end_jaeger_span(j);
        return give_spans(j, error);
}

const SpanReader read_jaeger = { jaeger_new,  jaeger_free,   jaeger_begin, jaeger_value,
                                 jaeger_text, jaeger_is_own, jaeger_end };
