/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/span.h"

#include <string.h>

#include "base/json-reader.h"

enum {
        LONGEST_NAME = 256, /* bytes of a name that are used */
        LONGEST_TEXT_ID = 128,
        N_RANKS = 8,
        NO_RANK = N_RANKS,
};

/* Attributes that name the peer of a span. The one with the lowest rank counts. */
static const struct {
        const char *key;
        guint rank;
} PEERS[] = {
        { "peer.service", 0 },
        { "server.address", 1 },
        { "net.peer.name", 1 },
        { "peer.hostname", 1 },
        { "network.peer.address", 2 },
        { "net.sock.peer.addr", 2 },
        { "net.peer.ip", 2 },
        { "peer.ipv4", 2 },
        { "peer.ipv6", 2 },
        { "peer.address", 3 },
        { "db.system.name", 4 },
        { "db.system", 4 },
        { "db.type", 5 },
        { "messaging.destination.name", 6 },
        { "messaging.destination", 6 },
        { "message_bus.destination", 6 },
        { "kafka.topic", 6 },
        { "messaging.system", 7 },
};

/* Attributes with the status of a call: a number, or a word of its protocol. */
static const struct {
        const char *key;
        StatusKind kind;
} STATUSES[] = {
        { "http.response.status_code", STATUS_HTTP },   { "http.status_code", STATUS_HTTP },
        { "rpc.grpc.status_code", STATUS_GRPC },        { "grpc.status_code", STATUS_GRPC },
        { "db.response.status_code", STATUS_RESPONSE }, { "error.type", STATUS_RESPONSE },
};

static const char *const CLIENTS[] = { "client.address", "http.client_ip", NULL };

struct SpanDraft {
        const SpanContext *context;
        Span span;
        GString *name, *text, *peer;
        guint peer_rank;
        gboolean is_error;
};

/* --- texts ----------------------------------------------------------------------- */

NodeId span_context_node(const SpanContext *c, const char *name, gsize n)
{
        char text[LONGEST_NAME + 1];
        ImportEnd own = { text, 0 }, peer = { "", 0 };
        gsize length = MIN(n, LONGEST_NAME);

        if (length == 0)
                return NO_NODE;
        for (gsize i = 0; i < length; i++)
                text[i] = name[i] ? name[i] : '?';
        text[length] = 0;
        return c->name(c->user, &own, &peer, 0);
}

gboolean span_context_names_node(const SpanContext *c, const char *key, gsize n)
{
        return c->node_attribute && strlen(c->node_attribute) == n &&
               memcmp(c->node_attribute, key, n) == 0;
}

static gboolean is_hex_id(const char *text, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if (!g_ascii_isxdigit(text[i]))
                        return FALSE;
        return n > 0;
}

static guint64 parse_hex(const char *text, gsize n)
{
        guint64 value = 0;

        for (gsize i = 0; i < n; i++)
                value = value << 4 | (guint64)g_ascii_xdigit_value(text[i]);
        return value;
}

/* The number of 8 bytes, big endian. */
static guint64 join_bytes(const guint8 *bytes)
{
        guint64 value = 0;

        for (guint i = 0; i < 8; i++)
                value = value << 8 | bytes[i];
        return value;
}

/* Decodes 16 bytes from 24 characters, or 8 from 12. Returns the number of bytes; 0 if the text is
 * no base64. */
static gsize parse_base64(const char *text, gsize n, guint8 bytes[18])
{
        char copy[25];
        gsize length;

        if ((n != 24 && n != 12) || text[n - 1] != '=')
                return 0;
        memcpy(copy, text, n);
        copy[n] = 0;
        if (strspn(copy, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "+/-_=") != n)
                return 0;
        g_strdelimit(copy, "-", '+');
        g_strdelimit(copy, "_", '/');
        g_base64_decode_inplace(copy, &length);
        if (length != 16 && length != 8)
                return 0;
        memcpy(bytes, copy, length);
        return length;
}

/* Hashes the text of an id that is neither; the same in all runs. */
static void hash_id_text(const char *text, gsize n, guint8 bytes[32])
{
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        gsize length = 32;

        g_checksum_update(checksum, (const guchar *)text, (gssize)n);
        g_checksum_get_digest(checksum, bytes, &length);
}

TraceId span_parse_trace_id(const char *text, gsize n, SpanCounts *counts)
{
        gsize high = n > 16 ? n - 16 : 0, length;
        guint8 bytes[32];

        if (n == 0)
                return (TraceId){ 0, 0 };
        if (n <= 32 && is_hex_id(text, n))
                return (TraceId){ parse_hex(text, high), parse_hex(text + high, n - high) };
        length = parse_base64(text, n, bytes);
        counts->base64 += length > 0;
        if (length == 8)
                return (TraceId){ 0, join_bytes(bytes) };
        if (length == 0) {
                counts->odd_ids++;
                hash_id_text(text, n, bytes);
        }
        return (TraceId){ join_bytes(bytes), join_bytes(bytes + 8) };
}

guint64 span_parse_id(const char *text, gsize n, SpanCounts *counts)
{
        guint8 bytes[32];

        if (n == 0)
                return 0;
        if (n <= 16 && is_hex_id(text, n))
                return parse_hex(text, n);
        if (parse_base64(text, n, bytes) == 8) {
                counts->base64++;
        } else {
                counts->odd_ids++;
                hash_id_text(text, n, bytes);
        }
        return join_bytes(bytes);
}

SpanKind span_parse_kind(const char *text, gsize n)
{
        static const char *const kinds[] = { "internal", "server", "client", "producer",
                                             "consumer" };
        static const char prefix[] = "SPAN_KIND_";

        if (n == 1 && *text >= '1' && *text <= '5')
                return (SpanKind)(*text - '1');
        if (n > strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0) {
                text += strlen(prefix);
                n -= strlen(prefix);
        }
        for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (strlen(kinds[i]) == n && g_ascii_strncasecmp(kinds[i], text, n) == 0)
                        return (SpanKind)i;
        return SPAN_INTERNAL;
}

gint64 span_parse_time(const char *text, gsize n, guint places)
{
        gint64 time;

        return json_parse_number(text, n, places, &time) && time >= 0 && time <= MAX_STAMP
                       ? time
                       : NO_TIME;
}

/* --- a draft --------------------------------------------------------------------- */

SpanDraft *span_draft_new(const SpanContext *context)
{
        SpanDraft *d = g_new0(SpanDraft, 1);

        d->context = context;
        d->name = g_string_new(NULL);
        d->text = g_string_new(NULL);
        d->peer = g_string_new(NULL);
        span_draft_clear(d);
        return d;
}

void span_draft_free(SpanDraft *d)
{
        g_string_free(d->name, TRUE);
        g_string_free(d->text, TRUE);
        g_string_free(d->peer, TRUE);
        g_free(d);
}

void span_draft_clear(SpanDraft *d)
{
        d->span = (Span){ .start = NO_TIME,
                          .end = NO_TIME,
                          .enter = NO_TIME,
                          .reply = NO_TIME,
                          .node = NO_NODE,
                          .peer = NO_NODE,
                          .client = NO_NODE };
        g_string_truncate(d->name, 0);
        g_string_truncate(d->text, 0);
        d->peer_rank = NO_RANK;
        d->is_error = FALSE;
}

Span *span_draft_span(SpanDraft *d)
{
        return &d->span;
}

static void set_text(GString *to, const char *text, gsize n, gsize most)
{
        g_string_truncate(to, 0);
        g_string_append_len(to, text, (gssize)MIN(n, most));
}

void span_draft_set_name(SpanDraft *d, const char *name, gsize n)
{
        set_text(d->name, name, n, LONGEST_NAME);
}

static gboolean is_key_of(const char *key, gsize n, const char *const *keys)
{
        for (guint i = 0; keys[i]; i++)
                if (strlen(keys[i]) == n && memcmp(keys[i], key, n) == 0)
                        return TRUE;
        return FALSE;
}

static void take_peer(SpanDraft *d, const char *key, gsize n, const char *value, gsize n_value)
{
        for (guint i = 0; i < G_N_ELEMENTS(PEERS); i++)
                if (PEERS[i].rank < d->peer_rank && strlen(PEERS[i].key) == n &&
                    memcmp(PEERS[i].key, key, n) == 0 && n_value > 0) {
                        d->peer_rank = PEERS[i].rank;
                        set_text(d->peer, value, n_value, LONGEST_NAME);
                        return;
                }
}

/* Takes an attribute that ravel export writes. */
static void take_inferred(SpanDraft *d, const char *key, gsize n, const char *value, gsize n_value)
{
        d->span.flags |= SPAN_INFERRED;
        if (n == strlen("ravel.id") && memcmp(key, "ravel.id", n) == 0)
                set_text(d->text, value, n_value, LONGEST_TEXT_ID);
}

/* Takes the status of the call; if several are failures, the first. */
static gboolean take_status(SpanDraft *d, const char *key, gsize n, const char *value,
                            gsize n_value)
{
        for (guint i = 0; i < G_N_ELEMENTS(STATUSES); i++) {
                gint64 number;

                if (strlen(STATUSES[i].key) != n || memcmp(STATUSES[i].key, key, n) != 0)
                        continue;
                if (d->span.outcome != OUTCOME_OK)
                        return TRUE;
                if (STATUSES[i].kind == STATUS_RESPONSE)
                        d->span.outcome = outcome_read(value, n_value);
                else if (!json_parse_number(value, n_value, 0, &number) || number < 0)
                        return TRUE;
                else if (STATUSES[i].kind == STATUS_HTTP)
                        d->span.outcome = outcome_http((guint)MIN(number, 1000));
                else
                        d->span.outcome = outcome_grpc((guint64)number);
                return TRUE;
        }
        return FALSE;
}

static gboolean value_is(const char *value, gsize n, const char *text)
{
        return n == strlen(text) && g_ascii_strncasecmp(value, text, n) == 0;
}

void span_draft_set_error(SpanDraft *d)
{
        d->is_error = TRUE;
}

void span_draft_attribute(SpanDraft *d, const char *key, gsize n, const char *value, gsize n_value)
{
        if (span_context_names_node(d->context, key, n))
                d->span.node = span_context_node(d->context, value, n_value);
        if ((value_is(key, n, "error") && !value_is(value, n_value, "false")) ||
            (value_is(key, n, "otel.status_code") && value_is(value, n_value, "ERROR")))
                span_draft_set_error(d);
        if (n < 7 || take_status(d, key, n, value, n_value))
                return;
        if (n == strlen("span.kind") && memcmp(key, "span.kind", n) == 0)
                d->span.kind = (guint8)span_parse_kind(value, n_value);
        else if (memcmp(key, "ravel.", 6) == 0)
                take_inferred(d, key, n, value, n_value);
        else if (is_key_of(key, n, CLIENTS))
                d->span.client = span_context_node(d->context, value, n_value);
        else
                take_peer(d, key, n, value, n_value);
}

Span *span_draft_finish(SpanDraft *d)
{
        Span *s = &d->span;

        if (d->is_error && s->outcome == OUTCOME_OK)
                s->outcome = outcome_named("UNKNOWN");
        /* The addresses in a server's span may be its own. */
        if (d->peer_rank < (s->kind == SPAN_SERVER ? 1 : NO_RANK))
                s->peer = span_context_node(d->context, d->peer->str, d->peer->len);
        s->name = d->name->str;
        s->name_length = (guint32)d->name->len;
        s->text = d->text->str;
        s->text_length = (guint32)d->text->len;
        return s;
}

/* Checks the times of a span. A message without an end ends at its start. Other spans without times
 * keep their place in the tree. */
static void check_times(Span *s, SpanCounts *counts)
{
        if (s->end == NO_TIME && (s->kind == SPAN_PRODUCER || s->kind == SPAN_CONSUMER))
                s->end = s->start;
        if (s->start != NO_TIME && s->end != NO_TIME && s->end >= s->start)
                return;
        if (s->start != NO_TIME && s->end != NO_TIME && s->end > 0)
                counts->reversed++;
        else
                counts->no_times++;
        s->start = s->end = NO_TIME;
}

gboolean span_give(const SpanContext *c, Span *s, GError **error)
{
        c->counts->spans++;
        if (s->id == 0 || (s->trace.high == 0 && s->trace.low == 0)) {
                c->counts->no_ids++;
                return TRUE;
        }
        check_times(s, c->counts);
        if (s->node == NO_NODE) {
                c->counts->no_node++;
                s->node = span_context_node(c, "unknown", strlen("unknown"));
        }
        return c->take(c->taker, s, error);
}

/* --- bytes ----------------------------------------------------------------------- */

void span_pack(const Span *span, GByteArray *bytes)
{
        g_byte_array_append(bytes, (const guint8 *)span, sizeof *span);
        g_byte_array_append(bytes, (const guint8 *)span->name, span->name_length);
        g_byte_array_append(bytes, (const guint8 *)span->text, span->text_length);
}

gboolean span_unpack(Span *span, const guint8 *bytes, gsize n)
{
        if (n < sizeof *span)
                return FALSE;
        memcpy(span, bytes, sizeof *span);
        if (n - sizeof *span < (gsize)span->name_length + span->text_length)
                return FALSE;
        span->name = (const char *)bytes + sizeof *span;
        span->text = span->name + span->name_length;
        return TRUE;
}
