/* SPDX-License-Identifier: BSD-2-Clause
 *
 * OTLP, the protocol of OpenTelemetry, as its JSON lines: each line is the
 * TracesData of one request, a trace.A call is two spans: one of the service
 * that calls, with the times that it saw, and below it one of the service that was called,
 * with its own. The first call of a request, whose client is none of the services, and what goes on
 * with its work without being waited for, is a span of the called service alone, with the times of
 * the caller; where both ends were observed, two events say when the call came in and when the
 * reply went out. Nothing of it was reported by the services: the
 * scope says so.
 *
 * Ids are the same whenever the same store is exported. A trace id is a hash of where
 * the store comes from and the mixed number of the request, a span id the mixed number
 * of the call in the store; mixing is a bijection, so none is given twice.
 */
#include "paths/export/conventions.h"
#include "paths/export/export-requests.h"
#include "paths/export/export.h"
#include "paths/write/path-text.h"

#include <string.h>

#include "base/error.h"
#include "paths/write/path-write.h"

typedef struct {
        GString *text;
        const StoreReader *reader;
        GPtrArray *names; /* by NodeId: JSON strings */
        char *scope;      /* what stands between a service's name and its spans */
        guint64 origin;   /* the first half of all trace ids */
        Conventions *conventions;
        /* The spans of the request in hand, grouped by service: of call i, 2 i is the caller's and
         * 2 i + 1 the callee's. */
        GArray *services; /* of NodeId, in the order of their first spans */
        guint32 *first;   /* by NodeId: its first span; NO_PARENT: none so far */
        guint32 *last;    /* by NodeId: its last span so far */
        GArray *next;     /* of guint32, by span: the next one of its service, or NO_PARENT */
} Otlp;

/* The finaliser of splitmix64: every bit of the number changes half of the others; only
 * 0 stays 0. */
static guint64 mix(guint64 number)
{
        number = (number ^ number >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
        number = (number ^ number >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
        return number ^ number >> 31;
}

static void append_hex(GString *text, guint64 number)
{
        static const char digits[] = "0123456789abcdef";
        char hex[16];

        for (int i = 15; i >= 0; i--, number >>= 4)
                hex[i] = digits[number & 15];
        g_string_append_len(text, hex, sizeof hex);
}

/* What tells two stores apart: the inputs, and what was done with them. */
static gboolean read_origin(StoreReader *reader, guint64 *origin, GError **error)
{
        const StoredRun *run = store_reader_run(reader);
        g_autoptr(GString) text = g_string_new(run->method);
        StoredCapture capture;
        int status;

        g_string_append_printf(text, "\n%s%" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                               run->parameters, run->first, run->last);
        while ((status = store_reader_next_capture(reader, &capture, error)) > 0)
                g_string_append_printf(text, "%s\n",
                                       capture.sha256 ? capture.sha256 : capture.name);
        *origin = path_pattern_id(NULL, text->str);
        return status == 0;
}

static char *make_scope(const StoredRun *run)
{
        g_autoptr(GString) text = g_string_new("}}]},\"scopeSpans\":[{\"scope\":{\"name\":"
                                               "\"ravel/inferred\",\"version\":");

        path_append_json_string(text, run->version);
        g_string_append(text, ",\"attributes\":[{\"key\":\"ravel.inferred\",\"value\":"
                              "{\"boolValue\":true}},{\"key\":\"ravel.method\",\"value\":"
                              "{\"stringValue\":");
        path_append_json_string(text, run->method);
        g_string_append(text, "}}]},\"spans\":[");
        return g_string_free(g_steal_pointer(&text), FALSE);
}

/* --- a span ---------------------------------------------------------------- */

#define APPEND(text, literal) g_string_append_len(text, literal, sizeof(literal) - 1)

static void append_quoted(GString *text, gint64 n)
{
        g_string_append_c(text, '"');
        path_append_integer(text, n);
        g_string_append_c(text, '"');
}

static void append_id(GString *text, const PathCall *c)
{
        g_autofree char *valid = g_utf8_make_valid(c->id, c->id_length);

        APPEND(text, ",{\"key\":\"ravel.id\",\"value\":{\"stringValue\":");
        path_append_json_string(text, valid);
        APPEND(text, "}}");
}

/* Of the first call's span, which has no parent. */
static void append_root(const Otlp *o, const ExportRequest *request)
{
        GString *text = o->text;

        APPEND(text, ",{\"key\":\"ravel.pattern\",\"value\":{\"stringValue\":\"");
        append_hex(text, request->pattern);
        APPEND(text, "\"}},{\"key\":\"ravel.request\",\"value\":{\"intValue\":");
        append_quoted(text, (gint64)request->number);
        APPEND(text, "}},{\"key\":\"ravel.request_probability\",\"value\":{\"doubleValue\":");
        export_append_probability(text, request->probability);
        APPEND(text, "}}");
}

static void append_parent(GString *text, const PathCall *c)
{
        APPEND(text, ",{\"key\":\"ravel.probability\",\"value\":{\"doubleValue\":");
        export_append_probability(text, (double)c->probability);
        APPEND(text, "}},{\"key\":\"ravel.candidates\",\"value\":{\"intValue\":");
        append_quoted(text, c->candidates);
        APPEND(text, "}}");
}

/* What was found of the call stands at the callee's span. */
static void append_attributes(const Otlp *o, const PathCall *c, const ExportRequest *request)
{
        GString *text = o->text;

        APPEND(text, "{\"key\":\"ravel.own_ns\",\"value\":{\"intValue\":");
        append_quoted(text, c->own);
        APPEND(text, "}}");
        if (c->network != 0) {
                APPEND(text, ",{\"key\":\"ravel.network_ns\",\"value\":{\"intValue\":");
                append_quoted(text, c->network);
                APPEND(text, "}}");
        }
        if (c->id_length > 0)
                append_id(text, c);
        if (c->parent == NO_PARENT)
                append_root(o, request);
        else
                append_parent(text, c);
        if (c->continues == WORK_QUEUED) {
                APPEND(text, ",{\"key\":\"ravel.queued_ns\",\"value\":{\"intValue\":");
                append_quoted(text, c->queued);
                APPEND(text, "}}");
        }
        if (c->connecting > 0) {
                APPEND(text, ",{\"key\":\"ravel.connecting_ns\",\"value\":{\"intValue\":");
                append_quoted(text, c->connecting);
                APPEND(text, "}}");
        }
        if (c->workers > 0) {
                APPEND(text, ",{\"key\":\"ravel.own_queued_ns\",\"value\":{\"intValue\":");
                append_quoted(text, c->own_queued);
                APPEND(text, "}}");
        }
}

/* Whether the callee's span is the only one of the call. What nobody waits for is no child of a
 * span: it is linked to what it continues. */
static gboolean is_alone(const PathCall *c)
{
        return c->parent == NO_PARENT || c->continues != WORK_NESTED;
}

/* Of a span that has the times of the caller. */
static void append_events(GString *text, const PathCall *c)
{
        gboolean came = ((c->stamps & 1 << CALL_RECV) && (c->stamps & 1 << CALL_SENT)) ||
                        ((c->stamps & 1 << MSG_RECV) && (c->stamps & 1 << MSG_SENT));
        gboolean replied = (c->stamps & 1 << RET_SENT) && (c->stamps & 1 << RET_RECV);

        if (!came && !replied)
                return;
        APPEND(text, ",\"events\":[");
        if (came) {
                APPEND(text, "{\"timeUnixNano\":");
                append_quoted(text, c->enter);
                APPEND(text, ",\"name\":\"call received\"}");
        }
        if (replied) {
                g_string_append(text, came ? ",{\"timeUnixNano\":" : "{\"timeUnixNano\":");
                append_quoted(text, c->reply);
                APPEND(text, ",\"name\":\"return sent\"}");
        }
        APPEND(text, "]");
}

/* The operation of the call; without one its caller and its callee, whose quotes meet: "lb" and
 * "web1" are "lb > web1". */
static void append_name(const Otlp *o, const ExportRequest *request, const PathCall *c,
                        const ConventionCall *call)
{
        NodeId by = c->parent == NO_PARENT ? request->client : c->caller; /* may stand for many */
        const char *caller = o->names->pdata[by];
        GString *text = o->text;

        APPEND(text, "\",\"name\":");
        if (call->label) {
                path_append_json_string(text, call->label);
                return;
        }
        g_string_append_len(text, caller, (gssize)strlen(caller) - 1);
        APPEND(text, " > ");
        g_string_append(text, (const char *)o->names->pdata[call->callee] + 1);
}

/* What nobody answers is sent and taken, whatever it is. */
static SpanKind find_kind(const Otlp *o, const PathCall *c, const ConventionCall *call,
                          gboolean at_caller)
{
        if (path_call_is_message(c))
                return at_caller ? SPAN_PRODUCER : SPAN_CONSUMER;
        return conventions_kind(o->conventions, call, at_caller);
}

/* The two spans of a call are told apart by the highest bit, which no call's number has. */
static guint64 span_id(const PathCall *c, gboolean at_caller)
{
        return mix(((guint64)c->call + 1) | (guint64)(at_caller != FALSE) << 63);
}

static void append_ids(const Otlp *o, const ExportRequest *request, const PathCall *c,
                       gboolean at_caller)
{
        APPEND(o->text, "{\"traceId\":\"");
        append_hex(o->text, o->origin);
        append_hex(o->text, mix(request->number));
        APPEND(o->text, "\",\"spanId\":\"");
        append_hex(o->text, span_id(c, at_caller));
        if (is_alone(c))
                return;
        APPEND(o->text, "\",\"parentSpanId\":\"");
        append_hex(o->text,
                   at_caller ? span_id(&request->calls[c->parent], FALSE) : span_id(c, TRUE));
}

static void append_link(const Otlp *o, const ExportRequest *request, const PathCall *to)
{
        APPEND(o->text, ",\"links\":[{\"traceId\":\"");
        append_hex(o->text, o->origin);
        append_hex(o->text, mix(request->number));
        APPEND(o->text, "\",\"spanId\":\"");
        append_hex(o->text, span_id(to, FALSE));
        APPEND(o->text, "\"}]");
}

static void append_times(GString *text, SpanKind kind, gint64 from, gint64 to)
{
        APPEND(text, ",\"kind\":");
        path_append_integer(text, kind);
        APPEND(text, ",\"startTimeUnixNano\":");
        append_quoted(text, from);
        APPEND(text, ",\"endTimeUnixNano\":");
        append_quoted(text, MAX(to, from)); /* clocks may disagree */
        APPEND(text, ",\"attributes\":[");
}

static void append_caller_span(const Otlp *o, const ExportRequest *request, const PathCall *c,
                               const ConventionCall *call)
{
        GString *text = o->text;

        append_ids(o, request, c, TRUE);
        append_name(o, request, c, call);
        append_times(text, find_kind(o, c, call, TRUE), c->start, c->end);
        APPEND(text, "{\"key\":\"peer.service\",\"value\":{\"stringValue\":");
        g_string_append(text, o->names->pdata[c->callee]);
        APPEND(text, "}}");
        conventions_append(o->conventions, call, TRUE, text);
        APPEND(text, "]}");
}

static void append_callee_span(const Otlp *o, const ExportRequest *request, const PathCall *c,
                               const ConventionCall *call)
{
        SpanKind kind = find_kind(o, c, call, FALSE);
        gboolean alone = is_alone(c);

        append_ids(o, request, c, FALSE);
        append_name(o, request, c, call);
        append_times(o->text, kind, alone ? c->start : c->enter, alone ? c->end : c->reply);
        append_attributes(o, c, request);
        conventions_append(o->conventions, call, FALSE, o->text);
        g_string_append_c(o->text, ']');
        if (alone)
                append_events(o->text, c);
        if (alone && c->parent != NO_PARENT)
                append_link(o, request, &request->calls[c->parent]);
        g_string_append_c(o->text, '}');
}

static void append_span(const Otlp *o, const ExportRequest *request, guint32 span)
{
        const PathCall *c = &request->calls[span / 2];
        const ConventionCall call = { c->caller, c->callee,
                                      store_reader_label(o->reader, c->label) };

        (span % 2 ? append_callee_span : append_caller_span)(o, request, c, &call);
}

/* --- a trace --------------------------------------------------------------- */

static void add_span(Otlp *o, NodeId service, guint32 span)
{
        g_array_index(o->next, guint32, span) = NO_PARENT;
        if (o->first[service] == NO_PARENT) {
                o->first[service] = span;
                g_array_append_val(o->services, service);
        } else {
                g_array_index(o->next, guint32, o->last[service]) = span;
        }
        o->last[service] = span;
}

static gboolean group_by_service(Otlp *o, const ExportRequest *request, GError **error)
{
        for (guint i = 0; i < o->services->len; i++)
                o->first[g_array_index(o->services, NodeId, i)] = NO_PARENT;
        g_array_set_size(o->services, 0);
        g_array_set_size(o->next, 2 * request->n_calls);
        for (guint32 i = 0; i < request->n_calls; i++) {
                const PathCall *c = &request->calls[i];

                if (MIN(c->start, MIN(c->enter, c->reply)) < 0) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "request %" G_GUINT64_FORMAT
                                    " lies before 1970, expected times that OTLP can express",
                                    request->number);
                        return FALSE;
                }
                if (!is_alone(c))
                        add_span(o, c->caller, 2 * i);
                add_span(o, c->callee, 2 * i + 1);
        }
        return TRUE;
}

static gboolean append_trace(Otlp *o, const ExportRequest *request, GError **error)
{
        if (!group_by_service(o, request, error))
                return FALSE;
        APPEND(o->text, "{\"resourceSpans\":[");
        for (guint i = 0; i < o->services->len; i++) {
                NodeId service = g_array_index(o->services, NodeId, i);
                guint32 first = o->first[service];

                if (i > 0)
                        g_string_append_c(o->text, ',');
                APPEND(o->text, "{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
                                "\"value\":{\"stringValue\":");
                g_string_append(o->text, o->names->pdata[service]);
                g_string_append(o->text, o->scope);
                for (guint32 k = first; k != NO_PARENT; k = g_array_index(o->next, guint32, k)) {
                        if (k != first)
                                g_string_append_c(o->text, ',');
                        append_span(o, request, k);
                }
                APPEND(o->text, "],\"schemaUrl\":\"" CONVENTIONS_SCHEMA "\"}]}");
        }
        APPEND(o->text, "]}\n");
        return TRUE;
}

static Otlp *otlp_new(const NodeTable *nodes, const StoreReader *reader)
{
        const StoredRun *run = store_reader_run(reader);
        Otlp *o = g_new0(Otlp, 1);
        guint n = node_table_size(nodes);

        o->reader = reader;
        o->text = g_string_new(NULL);
        o->names = export_json_names(nodes);
        o->scope = make_scope(run);
        o->services = g_array_new(FALSE, FALSE, sizeof(NodeId));
        o->first = g_new(guint32, n);
        o->last = g_new(guint32, n);
        o->next = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (NodeId i = 0; i < n; i++)
                o->first[i] = NO_PARENT;
        return o;
}

static void otlp_free(Otlp *o)
{
        g_string_free(o->text, TRUE);
        g_ptr_array_free(o->names, TRUE);
        g_free(o->scope);
        conventions_free(o->conventions);
        g_array_free(o->services, TRUE);
        g_free(o->first);
        g_free(o->last);
        g_array_free(o->next, TRUE);
        g_free(o);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Otlp, otlp_free)

gboolean export_otlp(StoreReader *reader, const NodeTable *nodes, OutputFile *out, GError **error)
{
        g_autoptr(ExportRequests) requests = export_requests_new(reader, error);
        g_autoptr(Otlp) o = otlp_new(nodes, reader);
        ExportRequest request;
        int status;

        if (!requests || !read_origin(reader, &o->origin, error) ||
            !(o->conventions = conventions_new(reader, nodes, error)))
                return FALSE;
        while ((status = export_requests_next(requests, &request, error)) > 0)
                if (!append_trace(o, &request, error) || !export_flush(o->text, FALSE, out, error))
                        return FALSE;
        return status == 0 && export_flush(o->text, TRUE, out, error);
}
