/* SPDX-License-Identifier: BSD-2-Clause */

#include "import/span-files.h"

typedef struct {
        JsonReader *r;
        const SpanContext *context;
        SpanDraft *draft;
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

/* Reads the entered tags. */
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

static void read_zipkin_text(Zipkin *z, gint64 *duration)
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
                *duration = span_parse_time(text, n, 3);
        else if (json_reader_key_is(z->r, "shared") && json_reader_text_is(z->r, "true"))
                s->flags |= SPAN_SHARED;
}

/* Reads the entered span. */
static gboolean read_zipkin_span(Zipkin *z, GError **error)
{
        Span *s = span_draft_span(z->draft);
        NodeId local = NO_NODE, remote = NO_NODE;
        gboolean is_service = FALSE, ignored;
        gint64 duration = NO_TIME;

        span_draft_clear(z->draft);
        while (json_reader_next_key(z->r))
                if (json_reader_key_is(z->r, "localEndpoint") && json_reader_enter_object(z->r))
                        local = read_endpoint(z, &ignored);
                else if (json_reader_key_is(z->r, "remoteEndpoint") &&
                         json_reader_enter_object(z->r))
                        remote = read_endpoint(z, &is_service);
                else if (json_reader_key_is(z->r, "tags") && json_reader_enter_object(z->r))
                        read_tags(z);
                else if (json_reader_scalar(z->r))
                        read_zipkin_text(z, &duration);
        if (json_reader_error(z->r))
                return TRUE;
        if (s->start != NO_TIME && duration != NO_TIME && duration <= MAX_STAMP - s->start)
                s->end = s->start + duration;
        s = span_draft_finish(z->draft);
        if (s->node == NO_NODE)
                s->node = local;
        if (remote != NO_NODE && (is_service || s->kind != SPAN_SERVER))
                s->peer = remote;
        return span_give(z->context, s, error);
}

/* Reads the spans of the entered array. */
static gboolean read_zipkin_spans(Zipkin *z, GError **error)
{
        while (json_reader_next_element(z->r))
                if (json_reader_enter_object(z->r) && !read_zipkin_span(z, error))
                        return FALSE;
        return TRUE;
}

gboolean read_zipkin(JsonReader *r, const SpanContext *context, GError **error)
{
        g_autoptr(SpanDraft) draft = span_draft_new(context);
        Zipkin z = { .r = r, .context = context, .draft = draft };

        if (!json_reader_enter_array(r))
                return TRUE;
        while (json_reader_next_element(r))
                if (json_reader_enter_array(r)) {
                        if (!read_zipkin_spans(&z, error))
                                return FALSE;
                } else if (json_reader_enter_object(r) && !read_zipkin_span(&z, error)) {
                        return FALSE;
                }
        return TRUE;
}
