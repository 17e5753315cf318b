/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/capture.h"

#include <string.h>

#include "base/append.h"
#include "base/hash.h"
#include "base/size-class.h"
#include "capture/connection.h"
#include "capture/links.h"
#include "capture/network/packet-opener.h"
#include "capture/operations.h"
#include "capture/settling.h"
#include "capture/streams.h"

/* Clocks are set back; a packet this much (ns) before the last begins anew. */
#define CLOCK_STEP (60 * G_GINT64_CONSTANT(1000000000))

/* With CaptureOptions.in_order: by what a message may be too late (ns). More than that no packet
 * waits in a computer: a clock was set back by less than a step, and the stamps are right. */
#define MAX_LATE G_GINT64_CONSTANT(1000000000)

/* What there may be of each kind in CAPTURE_MEMORY, in less memory as much less. */
enum {
        MOST_CONNECTIONS = 100000, /* 2 KB each, and what waits on them */
        MOST_STREAMS = 262144,     /* 0.4 KB */
        MOST_ADDRESSES = 1 << 20,  /* 0.7 KB */
        MOST_QUIC = 64 << 20,      /* bytes that wait, and tables of HTTP/3 */
        MOST_OPERATIONS = 1 << 20, /* twice 64 bytes, of all edges */
        MOST_WAITING = 200000,     /* messages, 0.3 KB */
        MOST_PIECES = 1 << 20,     /* 32 bytes */
        MOST_LINKS = 1 << 20,      /* twice 90 bytes: those of brokers, and those to be settled */
        MOST_TLS_BYTES = 64 << 20, /* that wait for keys, or for others */
};

struct Capture {
        CaptureOptions options;
        NodeTable *nodes;
        NodeId host;
        Account account;
        Sequencer *sequencer;
        CaptureMemory memory;
        Statements *prepared;
        TlsOpening tls;
        QuicOpening quic;
        CaptureContext context;
        PacketOpener *opener;
        ConnectionTable *connections;
        Stamp now;           /* the latest time, the number of the last packet */
        gboolean started;    /* there was a packet */
        gboolean flush;      /* everything that waits may go out */
        gint64 last;         /* the time of the last message */
        gboolean call_ended; /* the last message is the end of a call without a return */
        char id[40];
        GString *attrs;
        Operations *operations; /* NULL: labels are written whole, or not at all */
};

guint capture_share(guint64 memory, guint most)
{
        CaptureMemory m = { .share = (gdouble)memory / (gdouble)CAPTURE_MEMORY };
        return (guint)capture_memory_share(&m, most);
}

static guint share(const CaptureMemory *memory, guint most)
{
        return (guint)CLAMP(capture_memory_share(memory, most), 16, 1000000000);
}

Capture *capture_new(const CaptureOptions *options, NodeTable *nodes, NodeNames *names)
{
        Capture *c = g_new0(Capture, 1);
        c->options = *options;
        c->memory.share = options->memory ? (gdouble)options->memory / (gdouble)CAPTURE_MEMORY : 1;
        c->memory.pieces.most = share(&c->memory, MOST_PIECES);
        c->nodes = nodes;
        c->host = options->host ? node_table_add(nodes, options->host, strlen(options->host))
                                : NO_NODE;
        c->sequencer = sequencer_new(options->patience, options->disorder);
        sequencer_bound(c->sequencer, share(&c->memory, MOST_WAITING));
        c->context =
                (CaptureContext){ .sequencer = c->sequencer,
                                  .account = &c->account,
                                  .streams = stream_pool_new(share(&c->memory, MOST_STREAMS)),
                                  .memory = &c->memory,
                                  .prepared = &c->prepared,
                                  .numbers = connection_numbers_new(),
                                  /* Header blocks of HTTP/2 are read for each. */
                                  .label = options->labels || options->identifiers || options->tags
                                                   ? g_string_new(NULL)
                                                   : NULL,
                                  .values = options->identifiers ? g_string_new(NULL) : NULL,
                                  .identifiers = options->identifiers,
                                  .tags = options->tags,
                                  .links = link_table_new(share(&c->memory, MOST_LINKS)),
                                  .settling = settling_new(share(&c->memory, MOST_LINKS)),
                                  .names = g_hash_table_new_full(hash_int64, g_int64_equal, g_free,
                                                                 g_free),
                                  .tls = options->keys ? &c->tls : NULL,
                                  .quic = options->keys ? &c->quic : NULL,
                                  .learned = options->learned,
                                  .named_by_proxy = options->named_by_proxy };
        c->tls.keys = options->keys;
        c->tls.most_held = share(&c->memory, MOST_TLS_BYTES);
        c->quic = (QuicOpening){ .keys = options->keys, .most = share(&c->memory, MOST_QUIC) };
        c->opener = packet_opener_new(options->tunnels);
        c->connections = connection_table_new(&c->context, names, options->ports,
                                              share(&c->memory, MOST_CONNECTIONS));
        node_names_bound(names, share(&c->memory, MOST_ADDRESSES));
        c->attrs = g_string_new(NULL);
        c->operations = options->labels == LABELS_WORDS
                                ? operations_new(share(&c->memory, MOST_OPERATIONS))
                                : NULL;
        return c;
}

void capture_free(Capture *c)
{
        if (!c)
                return;
        connection_table_free(c->connections);
        packet_opener_free(c->opener);
        stream_pool_free(c->context.streams);
        piece_memory_clear(&c->memory.pieces);
        connection_numbers_free(c->context.numbers);
        link_table_free(c->context.links);
        settling_free(c->context.settling);
        g_hash_table_destroy(c->context.names);
        statements_free(c->prepared);
        sequencer_free(c->sequencer);
        if (c->context.label)
                g_string_free(c->context.label, TRUE);
        if (c->context.values)
                g_string_free(c->context.values, TRUE);
        g_string_free(c->attrs, TRUE);
        operations_free(c->operations);
        g_free(c->tls.plain);
        g_free(c->quic.plain);
        g_free(c);
}

/* --- a packet -------------------------------------------------------------- */

static AccountEntry add_udp(Capture *c, const IpPacket *ip, Stamp stamp)
{
        if (ip->captured < 8)
                return ACCOUNT_BAD_TRANSPORT;
        /* The length field is 0 after offload, and never less than the header. */
        gsize length = read_u16(ip->payload + 4);
        length = length == 0 ? ip->length : MIN(length, ip->length);
        if (length < 8)
                return ACCOUNT_BAD_TRANSPORT;
        c->account.udp_port[MIN(read_u16(ip->payload), read_u16(ip->payload + 2))]++;
        if (c->options.learned)
                learned_names_add_datagram(c->options.learned, ip->payload + 8,
                                           MIN(ip->captured, length) - 8);
        connection_table_add_udp(c->connections, ip, read_u16(ip->payload),
                                 read_u16(ip->payload + 2), ip->payload + 8,
                                 MIN(ip->captured, length) - 8, length - 8, stamp);
        return ACCOUNT_NONE;
}

static AccountEntry add_ip(Capture *c, const IpPacket *ip, Stamp stamp)
{
        TcpSegment segment;
        if (ip->protocol != IP_TCP && ip->protocol != IP_UDP) {
                account_add_unopened(&c->account, UNOPENED_IP_PROTOCOL | ip->protocol);
                return ACCOUNT_NOT_TRANSPORT;
        }
        if (ip->protocol == IP_UDP)
                return address_is_group(ip->destination) || address_is_group(ip->source)
                               ? ACCOUNT_GROUP
                               : add_udp(c, ip, stamp);
        /* TCP knows no groups, but a capture that was made anonymous may have such addresses. */
        if (!tcp_decode(ip->payload, ip->captured, ip->length, &segment))
                return ACCOUNT_BAD_TRANSPORT;
        if (c->options.learned)
                learned_names_add_segment(c->options.learned, ip->destination, segment.payload,
                                          segment.captured);
        connection_table_add_tcp(c->connections, ip, &segment, stamp);
        return ACCOUNT_NONE;
}

static AccountEntry packet_decode(Capture *c, const Packet *packet, Stamp stamp)
{
        IpPacket ip;
        AccountEntry reason = packet_open(c->opener, packet, stamp.time, &ip, &c->account);
        return reason == ACCOUNT_NONE ? add_ip(c, &ip, stamp) : reason;
}

static void settle_overdue(Capture *c)
{
        OpenItem *item;
        while ((item = sequencer_overdue(c->sequencer, c->now.time)))
                connection_table_settle(c->connections, item, c->now);
}

static void start_anew(Capture *c)
{
        account_add(&c->account, ACCOUNT_CLOCK_STEPS);
        connection_table_flush(c->connections, c->now);
        packet_opener_flush(c->opener, &c->account);
        sequencer_start_anew(c->sequencer);
}

void capture_add(Capture *c, const Packet *packet)
{
        account_add(&c->account, ACCOUNT_PACKETS);
        if (packet->captured < packet->length)
                account_add(&c->account, ACCOUNT_PACKETS_CUT);
        if (packet->time < 0 || packet->time > MAX_STAMP) {
                account_add(&c->account, ACCOUNT_BAD_TIME);
                return;
        }
        if (c->started && packet->time < c->now.time - CLOCK_STEP) {
                start_anew(c);
                c->now.time = packet->time;
        }
        c->now.time = c->started ? MAX(c->now.time, packet->time) : packet->time;
        c->now.packet++;
        c->started = TRUE;
        AccountEntry reason = packet_decode(c, packet, (Stamp){ packet->time, c->now.packet });
        if (reason != ACCOUNT_NONE && reason != ACCOUNT_FRAGMENTS)
                account_add(&c->account, reason);
        settle_overdue(c);
        connection_table_expire(c->connections, c->now);
}

void capture_idle(Capture *c, gint64 time)
{
        if (!c->started || time <= c->now.time)
                return;
        c->now.time = time;
        settle_overdue(c);
        connection_table_expire(c->connections, c->now);
}

void capture_finish(Capture *c)
{
        connection_table_flush(c->connections, c->now);
        packet_opener_flush(c->opener, &c->account);
        c->flush = TRUE;
}

/* --- a message ------------------------------------------------------------- */

/* The last n digits of value, 1 to 8. Eight bytes are written. */
static inline char *put_hex_word(char *at, guint32 value, guint n)
{
        const guint64 ones = G_GUINT64_CONSTANT(0x0101010101010101);
        guint64 digits = value;
        digits = (digits | digits << 16) & G_GUINT64_CONSTANT(0x0000ffff0000ffff);
        digits = (digits | digits << 8) & G_GUINT64_CONSTANT(0x00ff00ff00ff00ff);
        digits = (digits | digits << 4) & ones * 15; /* one a byte, the last in the lowest */
        digits += ones * '0' + ((digits + ones * 6) >> 4 & ones) * ('a' - '0' - 10);
        digits = GUINT64_TO_BE(digits << (8 - n) * 8);
        memcpy(at, &digits, sizeof digits);
        return at + n;
}

/* There is room for eight bytes more than are used. */
static char *put_hex(char *at, guint64 value)
{
        guint32 high = (guint32)(value >> 32), low = (guint32)value;
        guint n = 8;
        if (high)
                at = put_hex_word(at, high, (guint)(35 - __builtin_clz(high)) / 4);
        else
                n = (guint)(35 - __builtin_clz(low | 1)) / 4;
        return put_hex_word(at, low, n);
}

static char *attrs_put_decimal(char *at, guint64 value)
{
        char digits[20];
        gsize n = 0;
        do
                digits[n++] = (char)('0' + value % 10);
        while (value /= 10);
        while (n > 0)
                *at++ = digits[--n];
        return at;
}

/* A packet came when later ones had been used, and time had passed. */
static void keep_order(Capture *c, CapturedMessage *m)
{
        gint64 late = c->last - m->stamp.time;
        if (late > 0 && late <= MAX_LATE) {
                account_add(&c->account, ACCOUNT_LATE);
                m->stamp.time = c->last;
        }
        c->last = m->stamp.time;
}

static inline void attrs_add_key(Capture *c, const char *key)
{
        if (c->attrs->len)
                g_string_append_c(c->attrs, ' ');
        text_append(c->attrs, key);
}

/* " KEY=" and a number, if it is above 0, which take NUMBER bytes at most. Returns the end. */
enum { NUMBER = 30 };
static inline char *put_number(char *at, const char *key, gint64 value)
{
        if (value <= 0)
                return at;
        memcpy(at, key, strlen(key));
        return attrs_put_decimal(at + strlen(key), (guint64)value);
}

static void attrs_add_numbers(Capture *c, const char *text, const char *end)
{
        if (text == end)
                return;
        text += c->attrs->len == 0; /* its blank */
        text_append_length(c->attrs, text, (gsize)(end - text));
}

static void attrs_add_sizes(Capture *c, const CapturedMessage *m)
{
        char text[4 * NUMBER], *at = text;

        at = put_number(at, " dur=", m->duration);
        at = put_number(at, " bytes=", (gint64)size_round(m->bytes));
        at = put_number(at, " conn=", m->connection);
        at = put_number(at, " txn=", m->transaction);
        attrs_add_numbers(c, text, at);
}

static void attrs_add_delays(Capture *c, const NetworkDelays *d, gint64 duration)
{
        char text[10 * NUMBER], *at = text;

        at = put_number(at, " stall=", d->stall);
        at = put_number(at, " shut=", d->shut);
        at = put_number(at, " ack=", d->ack);
        at = put_number(at, " way=", d->pause ? MAX(duration - d->pause, 1) : 0);
        at = put_number(at, " resent=", d->resent);
        at = put_number(at, " again=", d->again);
        at = put_number(at, " syn=", d->opened);
        at = put_number(at, " tcp=", d->tcp);
        at = put_number(at, " tls=", d->tls);
        at = put_number(at, " login=", d->login);
        attrs_add_numbers(c, text, at);
}

static void label_fill(Capture *c, const CapturedMessage *m)
{
        const char *operation =
                c->operations ? operations_name(c->operations, m->sender, m->receiver, m->label)
                              : NULL;

        if (c->operations && !operation)
                return;
        attrs_add_key(c, "label=");
        if (operation)
                text_append(c->attrs, operation);
        else
                node_table_escape(c->attrs, m->label, strlen(m->label), FALSE);
}

static void outcome_fill(Capture *c, Outcome outcome)
{
        char text[OUTCOME_TEXT + 1];
        gsize n = outcome_write(outcome, text);

        attrs_add_key(c, "st=");
        text_append_length(c->attrs, text, n);
}

static void message_fill(Capture *c, const CapturedMessage *m, Message *message)
{
        memset(message, 0, sizeof *message);
        message->time = m->stamp.time;
        message->sender = m->sender;
        message->receiver = m->receiver;
        message->op = m->op;
        if (c->host != NO_NODE && m->receiver == c->host && m->sender != c->host)
                message->op |= 1; /* taken where it arrived */
        if (m->has_id) {
                char *at = put_hex(c->id, m->port);
                *at++ = '.';
                message_set_id(message, c->id, put_hex(at, m->number) - c->id);
        }
        g_string_truncate(c->attrs, 0);
        attrs_add_sizes(c, m);
        if (m->outcome)
                outcome_fill(c, m->outcome);
        if (m->label && c->options.labels)
                label_fill(c, m);
        if (m->identifiers) {
                attrs_add_key(c, "ids=");
                identifiers_append(c->attrs, m->identifiers);
        }
        if (m->tags) {
                attrs_add_key(c, "tags=");
                tag_rules_append(c->options.tags, c->attrs, m->tags);
        }
        if (m->link.some) {
                char text[48], *at = put_hex(text, m->link.port);

                *at++ = '.';
                at = put_hex(at, m->link.number);
                attrs_add_key(c, m->link.relay ? "relay=" : "link=");
                text_append_length(c->attrs, text, (gsize)(at - text));
        }
        if (m->fetch) {
                attrs_add_key(c, "fetch=");
                text_append(c->attrs, m->fetch == FETCH_WAIT     ? "wait"
                                      : m->fetch == FETCH_SETTLE ? "settle"
                                                                 : "now");
        }
        if (m->ending) {
                attrs_add_key(c, "end=");
                text_append(c->attrs, m->ending == ENDING_RESET ? "reset" : "closed");
        }
        if (m->delays)
                attrs_add_delays(c, m->delays, m->duration);
        message->attrs = c->attrs->str;
        message->attrs_length = (guint32)c->attrs->len;
}

gboolean capture_next(Capture *c, Message *message)
{
        CapturedMessage m;
        if (!sequencer_next(c->sequencer, c->flush ? G_MAXINT64 : c->now.time, &m)) {
                c->flush = FALSE;
                return FALSE;
        }
        if (c->options.in_order)
                keep_order(c, &m);
        message_fill(c, &m, message);
        c->call_ended = m.ending != 0;
        captured_message_clear(&m);
        return TRUE;
}

gboolean capture_call_ended(const Capture *c)
{
        return c->call_ended;
}

void capture_weigh(Capture *c, GArray *doubts, GArray *edges)
{
        connection_table_weigh(c->connections, doubts, edges);
}

gint64 capture_time(const Capture *c)
{
        return c->started ? c->now.time : NO_TIME;
}

/* Counts what was forgotten to bound memory. */
static void count_forgotten(Capture *c)
{
        guint64 *count = c->account.count;
        if (c->operations)
                count[ACCOUNT_FORGOTTEN_NAMES] = operations_forgotten(c->operations);
        count[ACCOUNT_FORGOTTEN_LINKS] =
                link_table_forgotten(c->context.links) + settling_forgotten(c->context.settling);
        if (c->options.keys)
                count[ACCOUNT_FORGOTTEN_KEYS] = key_log_forgotten(c->options.keys);
}

Account *capture_account(Capture *c)
{
        count_forgotten(c);
        return &c->account;
}
