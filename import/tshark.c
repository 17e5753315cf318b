/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Imports tshark's output in either of two forms. -T ek has a JSON object a packet. -T fields -E
 * header=y has a line of names and then a line of values a packet. So any protocol with requests
 * and responses that Wireshark dissects becomes calls.
 *
 * A response names the packet of its request: the name of that field ends with one of REFERENCES,
 * in any protocol. In two protocols a number joins request and response instead (NUMBERED). A call
 * has the stamp of the packet that completes the request, a return that of the packet that
 * completes the response.
 */
#include "base/each.h"
#include "import/import.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/outcome.h"
#include "import/json-text.h"

enum {
        MAX_LABEL = 40,
        NO_FRAME = -1,
        MAX_VALUES = 256, /* values of a field in one packet */
};

/* Endings of fields that name the request's packet, with '_' for '-' and '.'. */
static const char *const REFERENCES[] = { "_response_to", "_answer_to",        "_resp_to",
                                          "_request_in",  "_request_frame",    "_request_in_frame",
                                          "_reqframe",    "_response_request", "_response_for",
                                          "_resp_for",    "_command_in_frame", NULL };

/* Parts of names that end the same but name other packets. */
static const char *const OTHERS[] = { "_next_", "_prev_", "_retransmit_", NULL };

/* Protocols with numbered requests: the field with the number in the request, and in the response.
 * If they are the same, `kind` tells them apart: 1 is a request, 2 and 3 are responses. */
static const struct {
        const char *protocol, *request, *response, *kind;
} NUMBERED[] = { { "mongo", "mongo_request_id", "mongo_response_to", NULL },
                 { "thrift", "thrift_seq_id", "thrift_seq_id", "thrift_mtype" } };

/* Interim responses, by their status (1xx), and repeated ones. */
static const struct {
        const char *protocol, *status, *again;
} INTERIM[] = { { "sip_", "sip_Status_Code", "sip_resend" },
                { "http_", "http_response_code", NULL } };

/* Fields with the operation of a request: a word of the protocol, or its number. */
static const char *const OPERATIONS[] = { "http_request_method",
                                          "kafka_api_key",
                                          "mongo_opcode",
                                          "cql_opcode",
                                          "thrift_method",
                                          "imap_request_command",
                                          "smb2_cmd",
                                          "smb_cmd",
                                          "diameter_cmd_code",
                                          "sip_Method",
                                          "coap_code",
                                          "rpc_procedure",
                                          "radius_code",
                                          "dns_qry_type",
                                          "gtpv2_message_type",
                                          "dcerpc_opnum",
                                          "tds_type",
                                          NULL };

/* Fields with the status of a response. */
typedef enum { STATUS_OF_HTTP, STATUS_OF_GRPC, STATUS_OF_DNS, STATUS_OF_NUMBER } StatusOf;

static const struct {
        const char *field;
        StatusOf of;
        NumbersOf numbers;
} STATUSES[] = { { "http_response_code", STATUS_OF_HTTP, 0 },
                 { "http2_headers_status", STATUS_OF_HTTP, 0 },
                 { "sip_Status_Code", STATUS_OF_HTTP, 0 },
                 { "grpc_status_code", STATUS_OF_GRPC, 0 },
                 { "dns_flags_rcode", STATUS_OF_DNS, 0 },
                 { "ldap_resultCode", STATUS_OF_NUMBER, NUMBERS_LDAP } };

typedef struct {
        gint64 number; /* of the packet */
        gint64 time;
        NodeId from, to;
        guint16 from_port, to_port;
        guint32 first_label, n_labels; /* in Tshark.labels */
        guint32 n_calls;               /* calls answered so far */
        guint32 n_answers;             /* calls that it answers, so far */
} Frame;

/* A call with its return. */
typedef struct {
        guint32 request, response; /* indices of frames */
        guint32 k;                 /* its number among the calls of the request's packet */
        guint32 label;             /* index in Tshark.labels plus 1; 0: none */
        Outcome outcome;
} Pair;

/* A field of the current packet. */
typedef struct {
        char *name, *value;
} Field;

typedef struct {
        ImportName name;
        gpointer user;
        GArray *frames;        /* of Frame */
        GHashTable *by_number; /* a frame's number to its index + 1 */
        GHashTable *waiting; /* "PROTOCOL NUMBER FROM TO" to the index of the request's frame + 1 */
        GArray *pairs;       /* of Pair */
        GPtrArray *labels;   /* "label=..." */
        GPtrArray *columns;  /* names of the columns of -T fields; NULL before the header, and for
                                JSON */
        GArray *fields;      /* of Field */
        gboolean index;      /* the line is an "index" line of -T ek, which has no packet */
        ImportCounts counts;
} Tshark;

static void field_clear(gpointer data)
{
        Field *f = data;

        g_free(f->name);
        g_free(f->value);
}

static gpointer tshark_begin(ImportName name, gpointer user)
{
        Tshark *t = g_new0(Tshark, 1);

        t->name = name;
        t->user = user;
        t->frames = g_array_new(FALSE, FALSE, sizeof(Frame));
        t->by_number = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        t->waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        t->pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
        t->labels = g_ptr_array_new_with_free_func(g_free);
        t->fields = g_array_new(FALSE, FALSE, sizeof(Field));
        g_array_set_clear_func(t->fields, field_clear);
        return t;
}

static void tshark_end(gpointer import)
{
        Tshark *t = import;

        g_array_unref(t->frames);
        g_hash_table_unref(t->by_number);
        g_hash_table_unref(t->waiting);
        g_array_unref(t->pairs);
        g_ptr_array_unref(t->labels);
        if (t->columns)
                g_ptr_array_unref(t->columns);
        g_array_unref(t->fields);
        g_free(t);
}

/* --- the fields of a packet ------------------------------------------------------ */

static void tshark_add_field(Tshark *t, const char *name, const char *value)
{
        Field f = { g_strdelimit(g_strdup(name), ".-", '_'), g_strdup(value) };

        g_array_append_val(t->fields, f);
}

/* JsonText. keys are "layers", the protocol, and the field, whose name begins with the protocol
 * again. */
static void take_json(gpointer user, const char *const *keys, guint n_keys, const char *value)
{
        Tshark *t = user;
        const char *field;
        gsize layer;

        t->index |= n_keys > 0 && strcmp(keys[0], "index") == 0;
        if (n_keys < 3 || strcmp(keys[0], "layers") != 0)
                return;
        field = keys[n_keys - 1];
        layer = strlen(keys[1]);
        if (strncmp(field, keys[1], layer) == 0 && field[layer] == '_')
                field += layer + 1;
        tshark_add_field(t, field, value);
}

/* Takes the cells of a line. Several values of a field are in one cell, with commas. */
static void take_columns(Tshark *t, char **cells)
{
        for (guint i = 0; cells[i] && i < t->columns->len; i++) {
                g_auto(GStrv) values = g_strsplit(cells[i], ",", MAX_VALUES);

                for (guint k = 0; values[k]; k++)
                        if (*values[k])
                                tshark_add_field(t, t->columns->pdata[i], values[k]);
        }
}

/* The last field of this name, which is the innermost if there are tunnels; NULL: none. */
static const char *find_field(const Tshark *t, const char *name)
{
        for (guint i = t->fields->len; i-- > 0;) {
                const Field *f = &g_array_index(t->fields, Field, i);

                if (strcmp(f->name, name) == 0)
                        return f->value;
        }
        return NULL;
}

static gboolean read_field_number(const char *text, gint64 most, gint64 *number)
{
        char *end;

        if (!text || !g_ascii_isdigit(*text))
                return FALSE;
        *number = (gint64)g_ascii_strtoull(text, &end, 0);
        return *end == 0 && *number >= 0 && *number <= most;
}

/* Reads the digits after the point of a second. */
static gboolean read_fraction(const char *text, gint64 *ns)
{
        gint64 worth = 100000000;

        for (*ns = 0; g_ascii_isdigit(*text); text++, worth /= 10)
                *ns += (*text - '0') * worth;
        return *text == 0 || strcmp(text, "Z") == 0;
}

/* Reads seconds since the epoch, or a date in UTC, which later versions of tshark write. */
static gboolean read_packet_time(const char *text, gint64 *time)
{
        const char *point = text ? strchr(text, '.') : NULL;
        gint64 seconds, fraction = 0;

        if (!text || (point && !read_fraction(point + 1, &fraction)))
                return FALSE;
        g_autofree char *whole = point ? g_strndup(text, (gsize)(point - text)) : g_strdup(text);
        if (strchr(whole, 'T')) {
                g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
                g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(whole, utc);

                if (!date)
                        return FALSE;
                seconds = g_date_time_to_unix(date);
                if (seconds < 0 || seconds >= MAX_STAMP / 1000000000)
                        return FALSE;
        } else if (!read_field_number(whole, MAX_STAMP / 1000000000 - 1, &seconds)) {
                return FALSE;
        }
        *time = seconds * 1000000000 + fraction;
        return TRUE;
}

static guint16 find_port(const Tshark *t, const char *which)
{
        static const char *const protocols[] = { "tcp", "udp", "sctp", NULL };
        gint64 port;

        for (guint i = 0; protocols[i]; i++) {
                g_autofree char *name = g_strdup_printf("%s_%sport", protocols[i], which);

                if (read_field_number(find_field(t, name), G_MAXUINT16, &port))
                        return (guint16)port;
        }
        return 0;
}

static const char *find_address(const Tshark *t, const char *which)
{
        g_autofree char *four = g_strconcat("ip_", which, NULL);
        g_autofree char *six = g_strconcat("ipv6_", which, NULL);
        const char *address = find_field(t, four);

        return address ? address : find_field(t, six);
}

/* --- requests and responses ------------------------------------------------------ */

static Frame *tshark_frame(const Tshark *t, guint32 i)
{
        return &g_array_index(t->frames, Frame, i);
}

/* Adds a label for each operation in the packet. */
static void add_labels(Tshark *t, Frame *frame)
{
        EACH (const Field, f, t->fields) {
                gsize n = strlen(f->value),
                      used = strspn(f->value, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.");

                if (!g_strv_contains(OPERATIONS, f->name) || n == 0 || n > MAX_LABEL || used < n)
                        continue;
                g_ptr_array_add(t->labels, g_strdup_printf("label=%.*s%%20%s",
                                                           (int)(strchr(f->name, '_') - f->name),
                                                           f->name, f->value));
                frame->n_labels++;
        }
}

/* The value of this field that stands k-th, from 0, in the packet, else the last; NULL: none. */
static const char *find_kth_field(const Tshark *t, const char *name, guint32 k)
{
        const char *found = NULL;

        EACH (const Field, f, t->fields) {
                if (strcmp(f->name, name) != 0)
                        continue;
                found = f->value;
                if (k-- == 0)
                        break;
        }
        return found;
}

/* How the call ended that is k-th of those which the current packet answers. */
static Outcome find_outcome(const Tshark *t, guint32 k)
{
        for (guint i = 0; i < G_N_ELEMENTS(STATUSES); i++) {
                Outcome outcome = OUTCOME_OK;
                gint64 status;

                if (!read_field_number(find_kth_field(t, STATUSES[i].field, k), 1000, &status))
                        continue;
                switch (STATUSES[i].of) {
                case STATUS_OF_HTTP:
                        outcome = outcome_http((guint)status);
                        break;
                case STATUS_OF_GRPC:
                        outcome = outcome_grpc((guint64)status);
                        break;
                case STATUS_OF_DNS:
                        outcome = outcome_dns((guint)status);
                        break;
                case STATUS_OF_NUMBER:
                        outcome = outcome_number(STATUSES[i].numbers, (guint)status);
                        break;
                }
                if (outcome != OUTCOME_OK)
                        return outcome;
        }
        return OUTCOME_OK;
}

static void tshark_add_pair(Tshark *t, guint32 request, guint32 response)
{
        Frame *asked = tshark_frame(t, request), *answers = tshark_frame(t, response);
        Pair pair = { request, response, asked->n_calls, 0, OUTCOME_OK };

        if (asked->from != answers->to || asked->to != answers->from ||
            asked->from_port != answers->to_port || asked->to_port != answers->from_port ||
            answers->time < asked->time) {
                t->counts.not_between++;
                return;
        }
        if (asked->n_labels)
                pair.label = asked->first_label + MIN(pair.k, asked->n_labels - 1) + 1;
        pair.outcome = find_outcome(t, answers->n_answers++);
        asked->n_calls++;
        t->counts.calls++;
        g_array_append_val(t->pairs, pair);
}

static gboolean is_numbered(const char *name)
{
        for (guint i = 0; i < G_N_ELEMENTS(NUMBERED); i++)
                if (strcmp(name, NUMBERED[i].response) == 0)
                        return TRUE;
        return FALSE;
}

static gboolean is_reference_field(const char *name)
{
        for (guint i = 0; OTHERS[i]; i++)
                if (strstr(name, OTHERS[i]))
                        return FALSE;
        for (guint i = 0; REFERENCES[i]; i++)
                if (g_str_has_suffix(name, REFERENCES[i]))
                        return !is_numbered(name);
        return FALSE;
}

/* Whether the response is interim or repeated: another one counts. */
static gboolean is_interim_response(const Tshark *t, const char *reference)
{
        for (guint i = 0; i < G_N_ELEMENTS(INTERIM); i++) {
                const char *status, *again;

                if (!g_str_has_prefix(reference, INTERIM[i].protocol))
                        continue;
                status = find_field(t, INTERIM[i].status);
                again = INTERIM[i].again ? find_field(t, INTERIM[i].again) : NULL;
                return (status && status[0] == '1' && strlen(status) == 3) ||
                       (again &&
                        (!strcmp(again, "1") || !strcmp(again, "true") || !strcmp(again, "True")));
        }
        return FALSE;
}

/* Whether the response is inside another protocol's, as DCE/RPC in SMB, so that it is no call of
 * its own. Of one request's packet the first protocol counts. */
static gboolean is_inside_other(const Tshark *t, guint at)
{
        const Field *f = &g_array_index(t->fields, Field, at);

        for (guint i = 0; i < at; i++) {
                const Field *before = &g_array_index(t->fields, Field, i);

                if (strcmp(before->name, f->name) != 0 && strcmp(before->value, f->value) == 0 &&
                    is_reference_field(before->name))
                        return TRUE;
        }
        return FALSE;
}

static void find_frame_requests(Tshark *t, guint32 response)
{
        for (guint i = 0; i < t->fields->len; i++) {
                const Field *f = &g_array_index(t->fields, Field, i);
                gint64 number;
                gpointer request;

                if (!is_reference_field(f->name) ||
                    !read_field_number(f->value, G_MAXUINT32, &number) || is_inside_other(t, i) ||
                    is_interim_response(t, f->name) || number == tshark_frame(t, response)->number)
                        continue;
                request = g_hash_table_lookup(t->by_number, &number);
                if (request)
                        tshark_add_pair(t, GPOINTER_TO_UINT(request) - 1, response);
                else
                        t->counts.lost++;
        }
}

/* The key of a numbered request: protocol, number and connection. */
static char *numbered_key(const char *protocol, const char *number, const Frame *f,
                          gboolean is_request)
{
        return g_strdup_printf("%s %s %u %u %u %u", protocol, number, is_request ? f->from : f->to,
                               is_request ? f->from_port : f->to_port, is_request ? f->to : f->from,
                               is_request ? f->to_port : f->from_port);
}

/* Pairs a response with the request of the same number. Mongo has 0 in messages that answer
 * nothing. */
static void answer_number(Tshark *t, const char *protocol, const char *number, guint32 frame)
{
        g_autofree char *key = numbered_key(protocol, number, tshark_frame(t, frame), FALSE);
        gpointer request = g_hash_table_lookup(t->waiting, key);

        if (request)
                tshark_add_pair(t, GPOINTER_TO_UINT(request) - 1, frame);
        else
                t->counts.lost += strspn(number, "0x") < strlen(number);
        g_hash_table_remove(t->waiting, key);
}

static void find_numbered(Tshark *t, guint32 frame)
{
        for (guint p = 0; p < G_N_ELEMENTS(NUMBERED); p++) {
                const char *protocol = NUMBERED[p].protocol;
                gboolean says = NUMBERED[p].kind != NULL;
                gint64 kind = 0;

                if (says && !read_field_number(find_field(t, NUMBERED[p].kind), 3, &kind))
                        continue;
                EACH (const Field, f, t->fields) {
                        if (strcmp(f->name, NUMBERED[p].request) == 0 && (!says || kind == 1))
                                g_hash_table_replace(t->waiting,
                                                     numbered_key(protocol, f->value,
                                                                  tshark_frame(t, frame), TRUE),
                                                     GUINT_TO_POINTER(frame + 1));
                        if (strcmp(f->name, NUMBERED[p].response) == 0 && (!says || kind > 1))
                                answer_number(t, protocol, f->value, frame);
                }
        }
}

static gboolean fail_at_line(GError **error, const char *expected)
{
        return ravel_fail(error, RAVEL_ERROR_INPUT, "expected %s", expected);
}

/* Takes the current packet. Without addresses or ports it is no call. */
static gboolean take_packet(Tshark *t, GError **error)
{
        ImportEnd from = { find_address(t, "src"), find_port(t, "src") };
        ImportEnd to = { find_address(t, "dst"), find_port(t, "dst") };
        Frame f = { .from_port = from.port, .to_port = to.port, .first_label = t->labels->len };
        guint32 at = t->frames->len;

        if (!read_field_number(find_field(t, "frame_number"), G_MAXUINT32, &f.number))
                return fail_at_line(error, "frame.number, the packet's number");
        if (!read_packet_time(find_field(t, "frame_time_epoch"), &f.time))
                return fail_at_line(error, "frame.time_epoch, seconds from 1970 to 2116");
        t->counts.packets++;
        if (!from.address || !to.address || at == G_MAXUINT32 - 1)
                return TRUE;
        f.from = t->name(t->user, &from, &to, f.time);
        f.to = t->name(t->user, &to, &from, f.time);
        add_labels(t, &f);
        g_array_append_val(t->frames, f);
        g_hash_table_replace(t->by_number, g_memdup2(&f.number, sizeof f.number),
                             GUINT_TO_POINTER(at + 1));
        find_frame_requests(t, at);
        find_numbered(t, at);
        return TRUE;
}

static gboolean read_header(Tshark *t, char **cells, GError **error)
{
        t->columns = g_ptr_array_new_with_free_func(g_free);
        for (guint i = 0; cells[i]; i++)
                g_ptr_array_add(t->columns, g_strdup(cells[i]));
        for (guint i = 0; i < t->columns->len; i++)
                if (strcmp(t->columns->pdata[i], "frame.number") == 0)
                        return TRUE;
        return fail_at_line(error, "what tshark -T ek writes, or -T fields -E header=y with -e "
                                   "frame.number, in columns with tabs between them");
}

static gboolean tshark_add(gpointer import, const guint8 *line, gsize n, GError **error)
{
        Tshark *t = import;

        t->counts.lines++;
        g_array_set_size(t->fields, 0);
        if (n == 0)
                return TRUE;
        if (!t->columns && line[0] == '{') {
                t->index = FALSE;
                if (!json_texts(line, n, take_json, t))
                        return fail_at_line(error, "a JSON object");
                return t->index || take_packet(t, error);
        }
        g_autofree char *text = g_utf8_make_valid((const char *)line, (gssize)n);
        g_auto(GStrv) cells = g_strsplit(text, "\t", -1);
        if (!t->columns)
                return t->frames->len > 0 ? fail_at_line(error, "a JSON object")
                                          : read_header(t, cells, error);
        take_columns(t, cells);
        return take_packet(t, error);
}

/* --- the trace ------------------------------------------------------------------ */

/* A message of a pair. Messages of equal time are in the order of packets. */
typedef struct {
        gint64 time;
        guint32 frame, pair;
        gboolean is_return;
} Event;

COMPARISON(compare_pair_events, Event,
           COMPARE(a->time, b->time) ?:
           COMPARE(a->frame, b->frame) ?:
           COMPARE(a->pair, b->pair))

static gboolean write_event(const Tshark *t, const Event *e, TraceWriter *writer, GError **error)
{
        const Pair *pair = &g_array_index(t->pairs, Pair, e->pair);
        const Frame *asked = tshark_frame(t, pair->request), *f = tshark_frame(t, e->frame);
        const char *label = pair->label && !e->is_return ? t->labels->pdata[pair->label - 1] : NULL;
        g_autofree char *id = g_strdup_printf("%x.%" G_GINT64_MODIFIER "x%02x", asked->from_port,
                                              (guint64)asked->number, pair->k);
        Message m = { .time = e->time,
                      .sender = f->from,
                      .receiver = f->to,
                      .op = e->is_return ? RET_SENT : CALL_SENT,
                      .attrs = label,
                      .attrs_length = label ? (guint32)strlen(label) : 0 };
        char status[sizeof "st=" + OUTCOME_TEXT] = "st=";

        if (e->is_return && outcome_write(pair->outcome, status + strlen("st=")) > 0) {
                m.attrs = status;
                m.attrs_length = (guint32)strlen(status);
        }
        message_set_id(&m, id, strlen(id));
        return trace_writer_add(writer, &m, error);
}

static gboolean tshark_write(gpointer import, TraceWriter *writer, GError **error)
{
        Tshark *t = import;
        guint32 n = t->pairs->len;
        g_autofree Event *events = g_new(Event, 2 * (gsize)n);

        for (guint32 i = 0; i < n; i++) {
                const Pair *p = &g_array_index(t->pairs, Pair, i);

                events[2 * i] = (Event){ tshark_frame(t, p->request)->time, p->request, i, FALSE };
                events[2 * i + 1] =
                        (Event){ tshark_frame(t, p->response)->time, p->response, i, TRUE };
        }
        if (n > 0)
                qsort(events, 2 * (gsize)n, sizeof *events, compare_pair_events);
        for (gsize i = 0; i < 2 * (gsize)n; i++)
                if (!write_event(t, &events[i], writer, error))
                        return FALSE;
        return TRUE;
}

static const ImportCounts *tshark_counts(gconstpointer import)
{
        return &((const Tshark *)import)->counts;
}

/* -T ek begins with an "index" line. The header of -T fields has a column for the packet's
 * number. */
static gboolean tshark_is_format(const guint8 *data, gsize n)
{
        const guint8 *end = memchr(data, '\n', n);
        gssize length = end ? end - data : (gssize)n;
        const char *line = (const char *)data;

        return g_strstr_len(line, length, "{\"index\":{\"_index\":\"packets-") == line ||
               (length > 0 && *line != '{' && *line != '[' &&
                g_strstr_len(line, length, "frame.number"));
}

const ImportFormat import_tshark = { .name = "tshark",
                                     .begin = tshark_begin,
                                     .add = tshark_add,
                                     .write = tshark_write,
                                     .counts = tshark_counts,
                                     .end = tshark_end,
                                     .is_format = tshark_is_format };
