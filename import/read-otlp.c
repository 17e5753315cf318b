/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "import/span-files.h"

typedef struct {
        JsonReader *r;
        const SpanContext *context;
        SpanDraft *draft;
        SpanHold *hold;        /* spans that are written before their resource */
        GString *key, *value;  /* the current attribute */
        NodeId service, named; /* nodes of the current resource: by service.name, and by the
                                  attribute that names nodes */
        gboolean known;        /* the current resource was read, */
        gboolean has_scopes;   /* its spans, */
        gboolean has_id;       /* and the id of a span that is an object of its own */
} Otlp;

/* Reads {"stringValue": "..."} and the like. Arrays and nested attributes are skipped. */
static void read_otlp_value(Otlp *o)
{
        while (json_reader_next_key(o->r))
                if (json_reader_scalar(o->r))
                        json_reader_keep_text(o->r, o->value);
}

static gboolean next_attribute(Otlp *o)
{
        g_string_truncate(o->key, 0);
        g_string_truncate(o->value, 0);
        if (!json_reader_next_element(o->r))
                return FALSE;
        if (json_reader_enter_object(o->r)) {
                while (json_reader_next_key(o->r)) {
                        if (json_reader_key_is(o->r, "key") && json_reader_scalar(o->r))
                                json_reader_keep_text(o->r, o->key);
                        else if (json_reader_key_is(o->r, "value") &&
                                 json_reader_enter_object(o->r))
                                read_otlp_value(o);
                }
        }
        return TRUE;
}

static void read_resource(Otlp *o)
{
        if (!json_reader_enter_object(o->r))
                return;
        while (json_reader_next_key(o->r)) {
                if (!json_reader_key_is(o->r, "attributes") || !json_reader_enter_array(o->r))
                        continue;
                while (next_attribute(o)) {
                        if (strcmp(o->key->str, "service.name") == 0)
                                o->service =
                                        span_context_node(o->context, o->value->str, o->value->len);
                        if (span_context_names_node(o->context, o->key->str, o->key->len))
                                o->named =
                                        span_context_node(o->context, o->value->str, o->value->len);
                }
        }
        o->known = TRUE;
}

static void read_attributes(Otlp *o)
{
        if (json_reader_enter_array(o->r))
                while (next_attribute(o))
                        span_draft_attribute(o->draft, o->key->str, o->key->len, o->value->str,
                                             o->value->len);
}

static gint64 read_otlp_time(JsonReader *r)
{
        return json_reader_scalar(r)
                       ? span_parse_time(json_reader_text(r), json_reader_length(r), 0)
                       : NO_TIME;
}

/* Reads an event, by which ravel export writes the callee's stamps. */
static void read_event(Otlp *o)
{
        gint64 time = NO_TIME;

        g_string_truncate(o->value, 0);
        while (json_reader_next_key(o->r))
                if (json_reader_key_is_field(o->r, "timeUnixNano"))
                        time = read_otlp_time(o->r);
                else if (json_reader_key_is(o->r, "name") && json_reader_scalar(o->r))
                        json_reader_keep_text(o->r, o->value);
        if (strcmp(o->value->str, "call received") == 0)
                span_draft_span(o->draft)->enter = time;
        else if (strcmp(o->value->str, "return sent") == 0)
                span_draft_span(o->draft)->reply = time;
}

/* Reads a link. The first link counts. */
static void read_link(Otlp *o)
{
        Span *s = span_draft_span(o->draft);
        TraceId trace = { 0, 0 };
        guint64 id = 0;

        while (json_reader_next_key(o->r))
                if (json_reader_key_is_field(o->r, "traceId") && json_reader_scalar(o->r))
                        trace = span_parse_trace_id(json_reader_text(o->r),
                                                    json_reader_length(o->r), o->context->counts);
                else if (json_reader_key_is_field(o->r, "spanId") && json_reader_scalar(o->r))
                        id = span_parse_id(json_reader_text(o->r), json_reader_length(o->r),
                                           o->context->counts);
        if (s->other == 0) {
                s->other = id;
                s->other_trace = trace;
                s->flags |= SPAN_FOLLOWS;
        } else {
                o->context->counts->links++;
        }
}

static void read_otlp_list(Otlp *o, void (*read_one)(Otlp *o))
{
        if (json_reader_enter_array(o->r))
                while (json_reader_next_element(o->r))
                        if (json_reader_enter_object(o->r))
                                read_one(o);
}

static void read_otlp_text(Otlp *o, Span *s)
{
        const char *text = json_reader_text(o->r);
        gsize n = json_reader_length(o->r);

        if (json_reader_key_is_field(o->r, "traceId"))
                s->trace = span_parse_trace_id(text, n, o->context->counts);
        else if (json_reader_key_is_field(o->r, "spanId"))
                s->id = span_parse_id(text, n, o->context->counts);
        else if (json_reader_key_is_field(o->r, "parentSpanId"))
                s->parent =
                        json_reader_is_null(o->r) ? 0 : span_parse_id(text, n, o->context->counts);
        else if (json_reader_key_is(o->r, "name"))
                span_draft_set_name(o->draft, text, n);
        else if (json_reader_key_is(o->r, "kind"))
                s->kind = (guint8)span_parse_kind(text, n);
        else if (json_reader_key_is_field(o->r, "startTimeUnixNano"))
                s->start = span_parse_time(text, n, 0);
        else if (json_reader_key_is_field(o->r, "endTimeUnixNano"))
                s->end = span_parse_time(text, n, 0);
}

/* {"code": 2} or {"code": "STATUS_CODE_ERROR"} is an error. */
static void read_status(Otlp *o)
{
        static const char error[] = "STATUS_CODE_ERROR";

        if (!json_reader_enter_object(o->r))
                return;
        while (json_reader_next_key(o->r)) {
                gboolean is_code = json_reader_key_is(o->r, "code");

                if (!json_reader_scalar(o->r) || !is_code)
                        continue;
                const char *text = json_reader_text(o->r);
                gsize n = json_reader_length(o->r);

                if ((n == 1 && *text == '2') ||
                    (n == sizeof error - 1 && memcmp(text, error, n) == 0))
                        span_draft_set_error(o->draft);
        }
}

/* Takes a value of a span, which stays pending if it is none. */
static void read_otlp_part(Otlp *o)
{
        if (json_reader_key_is(o->r, "attributes"))
                read_attributes(o);
        else if (json_reader_key_is(o->r, "events"))
                read_otlp_list(o, read_event);
        else if (json_reader_key_is(o->r, "links"))
                read_otlp_list(o, read_link);
        else if (json_reader_key_is(o->r, "status"))
                read_status(o);
}

static void read_otlp_span(Otlp *o)
{
        span_draft_clear(o->draft);
        while (json_reader_next_key(o->r))
                if (json_reader_scalar(o->r))
                        read_otlp_text(o, span_draft_span(o->draft));
                else
                        read_otlp_part(o);
}

static gboolean give_span(Otlp *o, Span *s, GError **error)
{
        if (o->named != NO_NODE)
                s->node = o->named;
        else if (s->node == NO_NODE)
                s->node = o->service;
        return span_give(o->context, s, error);
}

/* Reads an array of spans. A truncated span is dropped. */
static gboolean read_otlp_spans(Otlp *o, GError **error)
{
        if (!json_reader_enter_array(o->r))
                return TRUE;
        while (json_reader_next_element(o->r)) {
                if (!json_reader_enter_object(o->r))
                        continue;
                read_otlp_span(o);
                if (json_reader_error(o->r))
                        break;
                if (!o->known)
                        span_hold_add(o->hold, span_draft_finish(o->draft), "", 0);
                else if (!give_span(o, span_draft_finish(o->draft), error))
                        return FALSE;
        }
        return TRUE;
}

static gboolean read_scopes(Otlp *o, GError **error)
{
        if (!json_reader_enter_array(o->r))
                return TRUE;
        while (json_reader_next_element(o->r))
                if (json_reader_enter_object(o->r))
                        while (json_reader_next_key(o->r))
                                if (json_reader_key_is(o->r, "spans") && !read_otlp_spans(o, error))
                                        return FALSE;
        return TRUE;
}

/* Gives the held spans. If the file ended before their resource, they have no node. */
static gboolean give_held(Otlp *o, GError **error)
{
        for (guint i = 0; !json_reader_error(o->r) && i < span_hold_size(o->hold); i++) {
                const char *word;
                gsize n;
                Span s;

                span_hold_get(o->hold, i, &s, &word, &n);
                if (!give_span(o, &s, error))
                        return FALSE;
        }
        span_hold_clear(o->hold);
        return TRUE;
}

/* --- an object -------------------------------------------------------------------- */

static gpointer otlp_new(JsonReader *r, const SpanContext *context)
{
        Otlp *o = g_new0(Otlp, 1);

        o->r = r;
        o->context = context;
        o->draft = span_draft_new(context);
        o->hold = span_hold_new();
        o->key = g_string_new(NULL);
        o->value = g_string_new(NULL);
        return o;
}

static void otlp_free(gpointer reader)
{
        Otlp *o = reader;

        span_draft_free(o->draft);
        span_hold_free(o->hold);
        g_string_free(o->key, TRUE);
        g_string_free(o->value, TRUE);
        g_free(o);
}

static void otlp_begin(gpointer reader)
{
        Otlp *o = reader;

        o->service = o->named = NO_NODE;
        o->known = o->has_scopes = o->has_id = FALSE;
        span_draft_clear(o->draft);
        span_hold_clear(o->hold);
}

static gboolean otlp_value(gpointer reader, GError **error)
{
        Otlp *o = reader;

        if (json_reader_key_is(o->r, "resource")) {
                read_resource(o);
        } else if (json_reader_key_is_field(o->r, "scopeSpans") ||
                   json_reader_key_is_field(o->r, "instrumentationLibrarySpans")) {
                o->has_scopes = TRUE;
                return read_scopes(o, error);
        } else {
                read_otlp_part(o);
        }
        return TRUE;
}

static void otlp_text(gpointer reader)
{
        Otlp *o = reader;

        o->has_id |= json_reader_key_is_field(o->r, "spanId");
        read_otlp_text(o, span_draft_span(o->draft));
}

static gboolean otlp_is_own(gconstpointer reader)
{
        const Otlp *o = reader;

        return o->has_scopes || o->has_id;
}

static gboolean otlp_end(gpointer reader, GError **error)
{
        Otlp *o = reader;

        return o->has_scopes ? give_held(o, error)
                             : give_span(o, span_draft_finish(o->draft), error);
}

const SpanReader read_otlp = { otlp_new,  otlp_free,   otlp_begin, otlp_value,
                               otlp_text, otlp_is_own, otlp_end };
