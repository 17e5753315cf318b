/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "import/span-files.h"

/* The ends of a span of version 1, and the annotations at their begin and end: client sent, client
 * received, and so on. */
static const struct {
        SpanKind kind;
        const char *values[2];
} ENDS[] = { { SPAN_CLIENT, { "cs", "cr" } },
             { SPAN_SERVER, { "sr", "ss" } },
             { SPAN_PRODUCER, { "ms", "" } },
             { SPAN_CONSUMER, { "mr", "" } } };

/* What the annotations of version 1 say of one end. */
typedef struct {
        gint64 start, end; /* ns; NO_TIME: not seen */
        NodeId node;       /* NO_NODE: not seen */
} AnnotatedEnd;

typedef struct {
        JsonReader *r;
        const SpanContext *context;
        SpanDraft *draft;
        GString *key, *value; /* of an annotation */
        NodeId local, remote;
        gboolean remote_is_service;
        gint64 duration;
        AnnotatedEnd ends[G_N_ELEMENTS(ENDS)];
        gboolean has_id;
} Zipkin;

/* Reads the entered endpoint: the node of its service, else of its address. */
static NodeId read_endpoint(Zipkin *z, gboolean *is_service)
{
        NodeId service = NO_NODE, address = NO_NODE;

        while (json_reader_next_key(z->r)) {
                if (!json_reader_scalar(z->r) || json_reader_is_null(z->r))
                        continue;
                if (json_reader_key_is(z->r, "serviceName"))
                        service = span_context_node(z->context, json_reader_text(z->r),
                                                    json_reader_length(z->r));
                else if (json_reader_key_is(z->r, "ipv4") || json_reader_key_is(z->r, "ipv6"))
                        address = span_context_node(z->context, json_reader_text(z->r),
                                                    json_reader_length(z->r));
        }
        *is_service = service != NO_NODE;
        return service != NO_NODE ? service : address;
}

static void read_tags(Zipkin *z)
{
        while (json_reader_next_key(z->r))
                if (json_reader_scalar(z->r)) {
                        gsize n;
                        const char *key = json_reader_key(z->r, &n);

                        span_draft_attribute(z->draft, key, n, json_reader_text(z->r),
                                             json_reader_length(z->r));
                }
}

/* Reads the entered annotation. Returns its time. */
static gint64 read_annotation(Zipkin *z, NodeId *node, gboolean *is_service)
{
        gint64 time = NO_TIME;

        g_string_truncate(z->key, 0);
        g_string_truncate(z->value, 0);
        *node = NO_NODE;
        *is_service = FALSE;
        while (json_reader_next_key(z->r))
                if (json_reader_key_is(z->r, "endpoint") && json_reader_enter_object(z->r))
                        *node = read_endpoint(z, is_service);
                else if (!json_reader_scalar(z->r))
                        continue;
                else if (json_reader_key_is(z->r, "timestamp"))
                        time = span_parse_time(json_reader_text(z->r), json_reader_length(z->r), 3);
                else if (json_reader_key_is(z->r, "key"))
                        json_reader_keep_text(z->r, z->key);
                else if (json_reader_key_is(z->r, "value"))
                        json_reader_keep_text(z->r, z->value);
        return time;
}

static void take_annotation(Zipkin *z, gint64 time, NodeId node)
{
        for (guint i = 0; i < 2 * G_N_ELEMENTS(ENDS); i++) {
                AnnotatedEnd *end = &z->ends[i / 2];

                if (z->value->len == 0 || strcmp(z->value->str, ENDS[i / 2].values[i % 2]) != 0)
                        continue;
                *(i % 2 ? &end->end : &end->start) = time;
                end->node = node != NO_NODE ? node : end->node;
        }
}

static void read_annotations(Zipkin *z)
{
        while (json_reader_next_element(z->r))
                if (json_reader_enter_object(z->r)) {
                        gboolean ignored;
                        NodeId node;
                        gint64 time = read_annotation(z, &node, &ignored);

                        take_annotation(z, time, node);
                }
}

/* Version 1: tags, and the addresses of ends. */
static void read_binary_annotations(Zipkin *z)
{
        while (json_reader_next_element(z->r)) {
                gboolean is_service;
                NodeId node;

                if (!json_reader_enter_object(z->r))
                        continue;
                read_annotation(z, &node, &is_service);
                if (strcmp(z->key->str, "sa") == 0 || strcmp(z->key->str, "ca") == 0 ||
                    strcmp(z->key->str, "ma") == 0) {
                        z->remote = node;
                        z->remote_is_service = is_service;
                        continue;
                }
                z->local = z->local == NO_NODE ? node : z->local;
                span_draft_attribute(z->draft, z->key->str, z->key->len, z->value->str,
                                     z->value->len);
        }
}

static void read_zipkin_text(Zipkin *z)
{
        Span *s = span_draft_span(z->draft);
        const char *text = json_reader_text(z->r);
        gsize n = json_reader_length(z->r);

        if (json_reader_is_null(z->r))
                return;
        if (json_reader_key_is(z->r, "traceId"))
                s->trace = span_parse_trace_id(text, n, z->context->counts);
        else if (json_reader_key_is(z->r, "id"))
                s->id = span_parse_id(text, n, z->context->counts);
        else if (json_reader_key_is(z->r, "parentId"))
                s->parent = span_parse_id(text, n, z->context->counts);
        else if (json_reader_key_is(z->r, "name"))
                span_draft_set_name(z->draft, text, n);
        else if (json_reader_key_is(z->r, "kind"))
                s->kind = (guint8)span_parse_kind(text, n);
        else if (json_reader_key_is(z->r, "timestamp"))
                s->start = span_parse_time(text, n, 3);
        else if (json_reader_key_is(z->r, "duration"))
                z->duration = span_parse_time(text, n, 3);
        else if (json_reader_key_is(z->r, "shared") && json_reader_text_is(z->r, "true"))
                s->flags |= SPAN_SHARED;
}

static gboolean give_zipkin_span(Zipkin *z, const Span *span, GError **error)
{
        Span s = *span;

        if (s.node == NO_NODE)
                s.node = z->local;
        if (z->remote != NO_NODE && (z->remote_is_service || s.kind != SPAN_SERVER))
                s.peer = z->remote;
        return span_give(z->context, &s, error);
}

/* The ends of version 1, whose times stand for those of the span. Sets some if there is one. */
static gboolean give_ends(Zipkin *z, const Span *span, gboolean *some, GError **error)
{
        *some = FALSE;
        for (guint i = 0; i < G_N_ELEMENTS(ENDS); i++) {
                const AnnotatedEnd *end = &z->ends[i];
                Span s = *span;

                if (end->start == NO_TIME && end->end == NO_TIME)
                        continue;
                *some = TRUE;
                s.kind = (guint8)ENDS[i].kind;
                s.start = end->start != NO_TIME ? end->start : s.start;
                s.end = end->end != NO_TIME ? end->end : s.end;
                if (s.node == NO_NODE)
                        s.node = end->node;
                if (!give_zipkin_span(z, &s, error))
                        return FALSE;
        }
        return TRUE;
}

/* --- an object -------------------------------------------------------------------- */

static gpointer zipkin_new(JsonReader *r, const SpanContext *context)
{
        Zipkin *z = g_new0(Zipkin, 1);

        z->r = r;
        z->context = context;
        z->draft = span_draft_new(context);
        z->key = g_string_new(NULL);
        z->value = g_string_new(NULL);
        return z;
}

static void zipkin_free(gpointer reader)
{
        Zipkin *z = reader;

        span_draft_free(z->draft);
        g_string_free(z->key, TRUE);
        g_string_free(z->value, TRUE);
        g_free(z);
}

static void zipkin_begin(gpointer reader)
{
        Zipkin *z = reader;

        span_draft_clear(z->draft);
        z->local = z->remote = NO_NODE;
        z->remote_is_service = z->has_id = FALSE;
        z->duration = NO_TIME;
        for (guint i = 0; i < G_N_ELEMENTS(z->ends); i++)
                z->ends[i] = (AnnotatedEnd){ NO_TIME, NO_TIME, NO_NODE };
}

static gboolean zipkin_value(gpointer reader, GError **error)
{
        Zipkin *z = reader;
        gboolean ignored;

        (void)error;
        if (json_reader_key_is(z->r, "localEndpoint") && json_reader_enter_object(z->r))
                z->local = read_endpoint(z, &ignored);
        else if (json_reader_key_is(z->r, "remoteEndpoint") && json_reader_enter_object(z->r))
                z->remote = read_endpoint(z, &z->remote_is_service);
        else if (json_reader_key_is(z->r, "tags") && json_reader_enter_object(z->r))
                read_tags(z);
        else if (json_reader_key_is(z->r, "annotations") && json_reader_enter_array(z->r))
                read_annotations(z);
        else if (json_reader_key_is(z->r, "binaryAnnotations") && json_reader_enter_array(z->r))
                read_binary_annotations(z);
        return TRUE;
}

static void zipkin_text(gpointer reader)
{
        Zipkin *z = reader;

        z->has_id |= json_reader_key_is(z->r, "id") || json_reader_key_is(z->r, "traceId");
        read_zipkin_text(z);
}

static gboolean zipkin_is_own(gconstpointer reader)
{
        return ((const Zipkin *)reader)->has_id;
}

static gboolean zipkin_end(gpointer reader, GError **error)
{
        Zipkin *z = reader;
        Span *s = span_draft_span(z->draft);
        gboolean some;

        if (s->start != NO_TIME && z->duration != NO_TIME && z->duration <= MAX_STAMP - s->start)
                s->end = s->start + z->duration;
        s = span_draft_finish(z->draft);
        return give_ends(z, s, &some, error) && (some || give_zipkin_span(z, s, error));
}

const SpanReader read_zipkin = { zipkin_new,  zipkin_free,   zipkin_begin, zipkin_value,
                                 zipkin_text, zipkin_is_own, zipkin_end };
