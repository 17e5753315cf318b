/* SPDX-License-Identifier: BSD-2-Clause
 *
 * OTLP, the protocol of OpenTelemetry, as its JSON lines: each line is the
 * TracesData of one request, a trace. A call is two spans: one of the calling service with its
 * times, and below it one of the called service with its own. Two kinds of call have a span of the
 * called service alone, with the times of the caller: the first call of a request, and calls that
 * nobody waits for. If both ends were observed, two events say when the call came in and when the
 * reply went out. The scope says that services did not report these spans.
 *
 * Ids are the same whenever the same store is exported. A trace id is a hash of the origin of the
 * store and the mixed number of the request. A span id is the mixed number of the call in the
 * store. Mixing is a bijection, so no id is given twice.
 */
#include "export/conventions.h"
#include "export/export-requests.h"
#include "export/export.h"

#include "base/error.h"

typedef struct {
        GString *text;
        Json json; /* of the trace in hand, in text */
        const StoreReader *reader;
        const NodeTable *nodes;
        char *scope;    /* JSON */
        guint64 origin; /* the first half of all trace ids */
        char trace_id[33];
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
        g_autoptr(GString) text = g_string_new(NULL);
        Json json = JSON_TIGHT_IN(text);

        json_open(&json, '{');
        json_put_string(&json, "name", "ravel/inferred");
        json_put_string(&json, "version", run->version);
        json_put_open(&json, "attributes", '[');
        otlp_open_attribute(&json, "ravel.inferred", "boolValue");
        json_boolean(&json, TRUE);
        otlp_close_attribute(&json);
        otlp_put_string(&json, "ravel.method", run->method);
        json_close(&json, ']');
        json_close(&json, '}');
        return g_string_free(g_steal_pointer(&text), FALSE);
}

/* --- a span ---------------------------------------------------------------- */

static void otlp_put_probability(Json *j, const char *key, double probability)
{
        otlp_open_attribute(j, key, "doubleValue");
        export_append_probability(json_value(j), probability);
        otlp_close_attribute(j);
}

/* Of the first call's span, which has no parent. */
static void put_root(Json *j, const ExportRequest *request)
{
        otlp_open_attribute(j, "ravel.pattern", "stringValue");
        json_id(j, request->pattern);
        otlp_close_attribute(j);
        otlp_put_integer(j, "ravel.request", (gint64)request->number);
        otlp_put_probability(j, "ravel.request_probability", request->probability);
}

/* What was found of the call stands at the callee's span. */
static void put_attributes(Json *j, const PathCall *c, const ExportRequest *request)
{
        otlp_put_integer(j, "ravel.own_ns", c->own);
        if (c->network != 0)
                otlp_put_integer(j, "ravel.network_ns", c->network);
        for (guint i = 0; c->network != 0 && i < N_WAY_CAUSES; i++) {
                g_autofree char *key = g_strdup_printf("ravel.way.%s_ns", way_cause_key(i));

                if (c->cause[i] != 0)
                        otlp_put_integer(j, key, c->cause[i]);
        }
        if (c->id_length > 0)
                otlp_put_bytes(j, "ravel.id", c->id, c->id_length);
        if (c->parent == NO_PARENT) {
                put_root(j, request);
        } else {
                otlp_put_probability(j, "ravel.probability", (double)c->probability);
                otlp_put_integer(j, "ravel.candidates", c->candidates);
        }
        if (c->continues == WORK_QUEUED)
                otlp_put_integer(j, "ravel.queued_ns", c->queued);
        if (work_is_missed(c->continues))
                otlp_put_string(j, "ravel.answer", c->continues == WORK_LATE ? "late" : "none");
        if (c->connecting > 0)
                otlp_put_integer(j, "ravel.connecting_ns", c->connecting);
        if (c->workers > 0)
                otlp_put_integer(j, "ravel.own_queued_ns", c->own_queued);
}

/* Whether the callee's span is the only one of the call. What nobody waits for is no child of a
 * span: it is linked to what it continues. */
static gboolean is_alone(const PathCall *c)
{
        return c->parent == NO_PARENT || work_goes_on(c->continues);
}

static void put_event(Json *j, gint64 time, const char *name)
{
        json_open(j, '{');
        json_put_time(j, "timeUnixNano", time);
        json_put_string(j, "name", name);
        json_close(j, '}');
}

/* Of a span that has the times of the caller. */
static void put_events(Json *j, const PathCall *c)
{
        gboolean came = ((c->stamps & 1 << CALL_RECV) && (c->stamps & 1 << CALL_SENT)) ||
                        ((c->stamps & 1 << MSG_RECV) && (c->stamps & 1 << MSG_SENT));
        gboolean replied = (c->stamps & 1 << RET_SENT) && (c->stamps & 1 << RET_RECV);

        if (!came && !replied)
                return;
        json_put_open(j, "events", '[');
        if (came)
                put_event(j, c->enter, "call received");
        if (replied)
                put_event(j, c->reply, "return sent");
        json_close(j, ']');
}

/* The operation of the call; without one its caller and its callee. */
static void put_name(Otlp *o, const ExportRequest *request, const PathCall *c,
                     const ConventionCall *call)
{
        NodeId by = c->parent == NO_PARENT ? request->client : c->caller; /* may stand for many */

        json_key(&o->json, "name");
        if (call->label)
                json_string(&o->json, call->label);
        else
                json_joined(&o->json, node_table_name(o->nodes, by), " > ",
                            node_table_name(o->nodes, call->callee));
}

/* What nobody answers is sent and taken, whatever it is. */
static SpanKind otlp_find_kind(const Otlp *o, const PathCall *c, const ConventionCall *call,
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

/* A span by its trace and itself. */
static void put_ids(Otlp *o, guint64 span)
{
        json_put_plain(&o->json, "traceId", o->trace_id);
        json_put_id(&o->json, "spanId", span);
}

/* How the call ended, where it is in error. */
static void put_outcome(Json *j, const PathCall *c)
{
        char text[OUTCOME_TEXT + 1];
        guint number;

        if (outcome_write(c->outcome, text) == 0)
                return;
        switch (outcome_status(c->outcome, &number)) {
        case STATUS_HTTP:
                otlp_put_integer(j, "http.response.status_code", number);
                break;
        case STATUS_GRPC:
                otlp_put_integer(j, "rpc.grpc.status_code", number);
                break;
        case STATUS_DB:
                otlp_put_string(j, "db.response.status_code", text);
                break;
        case STATUS_RESPONSE:
                break;
        }
        if (outcome_is_error(c->outcome))
                otlp_put_string(j, "error.type", text);
}

/* By OpenTelemetry a caller's mistake is an error of its own span alone. */
static void put_status(Json *j, const PathCall *c, gboolean at_caller)
{
        gboolean unanswered = c->continues == WORK_UNANSWERED;

        if (!unanswered &&
            !(at_caller ? outcome_is_error(c->outcome) : outcome_is_failure(c->outcome)))
                return;
        json_put_open(j, "status", '{');
        json_put_integer(j, "code", 2);
        if (unanswered)
                json_put_string(j, "message", "no answer");
        json_close(j, '}');
}

/* Up to its attributes, which it leaves open. */
static void open_span(Otlp *o, const ExportRequest *request, const PathCall *c,
                      const ConventionCall *call, gboolean at_caller)
{
        gboolean at_ends = at_caller || is_alone(c); /* the times are the caller's */
        gint64 from = at_ends ? c->start : c->enter, to = at_ends ? c->end : c->reply;
        Json *j = &o->json;

        json_open(j, '{');
        put_ids(o, span_id(c, at_caller));
        if (!is_alone(c))
                json_put_id(j, "parentSpanId",
                            at_caller ? span_id(&request->calls[c->parent], FALSE)
                                      : span_id(c, TRUE));
        put_name(o, request, c, call);
        json_put_integer(j, "kind", otlp_find_kind(o, c, call, at_caller));
        json_put_time(j, "startTimeUnixNano", from);
        json_put_time(j, "endTimeUnixNano", MAX(to, from)); /* clocks may disagree */
        json_put_open(j, "attributes", '[');
}

static void put_caller_span(Otlp *o, const ExportRequest *request, const PathCall *c,
                            const ConventionCall *call)
{
        Json *j = &o->json;

        open_span(o, request, c, call, TRUE);
        otlp_put_string(j, "peer.service", node_table_name(o->nodes, c->callee));
        conventions_put(o->conventions, call, TRUE, j);
        put_outcome(j, c);
        json_close(j, ']');
        put_status(j, c, TRUE);
        json_close(j, '}');
}

static void put_callee_span(Otlp *o, const ExportRequest *request, const PathCall *c,
                            const ConventionCall *call)
{
        Json *j = &o->json;

        open_span(o, request, c, call, FALSE);
        put_attributes(j, c, request);
        conventions_put(o->conventions, call, FALSE, j);
        put_outcome(j, c);
        json_close(j, ']');
        put_status(j, c, FALSE);
        if (is_alone(c))
                put_events(j, c);
        if (is_alone(c) && c->parent != NO_PARENT) {
                json_put_open(j, "links", '[');
                json_open(j, '{');
                put_ids(o, span_id(&request->calls[c->parent], FALSE));
                json_close(j, '}');
                json_close(j, ']');
        }
        json_close(j, '}');
}

static void put_span(Otlp *o, const ExportRequest *request, guint32 span)
{
        const PathCall *c = &request->calls[span / 2];
        const ConventionCall call = { c->caller, c->callee,
                                      store_reader_label(o->reader, c->label) };

        (span % 2 ? put_callee_span : put_caller_span)(o, request, c, &call);
}

/* --- a trace --------------------------------------------------------------- */

static void otlp_add_span(Otlp *o, NodeId service, guint32 span)
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

                if (MIN(c->start, MIN(c->enter, c->reply)) < 0)
                        return ravel_fail(error, RAVEL_ERROR_INPUT,
                                          "request %" G_GUINT64_FORMAT
                                          " lies before 1970, expected times that OTLP can express",
                                          request->number);
                if (!is_alone(c))
                        otlp_add_span(o, c->caller, 2 * i);
                otlp_add_span(o, c->callee, 2 * i + 1);
        }
        return TRUE;
}

static void put_service(Otlp *o, const ExportRequest *request, NodeId service)
{
        Json *j = &o->json;

        json_open(j, '{');
        json_put_open(j, "resource", '{');
        json_put_open(j, "attributes", '[');
        otlp_put_string(j, "service.name", node_table_name(o->nodes, service));
        json_close(j, ']');
        json_close(j, '}');
        json_put_open(j, "scopeSpans", '[');
        json_open(j, '{');
        json_key(j, "scope");
        g_string_append(json_value(j), o->scope);
        json_put_open(j, "spans", '[');
        for (guint32 k = o->first[service]; k != NO_PARENT; k = g_array_index(o->next, guint32, k))
                put_span(o, request, k);
        json_close(j, ']');
        json_put_plain(j, "schemaUrl", CONVENTIONS_SCHEMA);
        json_close(j, '}');
        json_close(j, ']');
        json_close(j, '}');
}

static gboolean put_trace(gpointer data, const ExportRequest *request, GError **error)
{
        Otlp *o = data;

        if (!group_by_service(o, request, error))
                return FALSE;
        g_snprintf(o->trace_id, sizeof o->trace_id,
                   "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", o->origin,
                   mix(request->number));
        o->json = JSON_TIGHT_IN(o->text);
        json_open(&o->json, '{');
        json_put_open(&o->json, "resourceSpans", '[');
        for (guint i = 0; i < o->services->len; i++)
                put_service(o, request, g_array_index(o->services, NodeId, i));
        json_close(&o->json, ']');
        json_close(&o->json, '}');
        g_string_append_c(o->text, '\n');
        return TRUE;
}

static Otlp *otlp_new(const NodeTable *nodes, const StoreReader *reader)
{
        const StoredRun *run = store_reader_run(reader);
        Otlp *o = g_new0(Otlp, 1);
        guint n = node_table_size(nodes);

        o->reader = reader;
        o->text = g_string_new(NULL);
        o->nodes = nodes;
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
        g_autoptr(Otlp) o = otlp_new(nodes, reader);
        g_autoptr(GArray) patterns = export_patterns_load(reader, error);

        return patterns && read_origin(reader, &o->origin, error) &&
               (o->conventions = conventions_new(reader, nodes, error)) &&
               export_requests(reader, patterns, put_trace, o, o->text, out, error);
}
