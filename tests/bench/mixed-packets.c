/* SPDX-License-Identifier: BSD-2-Clause
 *
 * mixed-packets PACKETS: a capture of at least PACKETS packets, on standard output, as a mirror
 * port in front of a busy application sees them. HTTP/1.1, HTTP/2 and gRPC, Redis and PostgreSQL
 * are on 64 connections at a time, in segments of 1448 bytes, acknowledged. The same for the same
 * number, with nothing left open at the end. The number of calls in it goes to standard error.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
        CONNECTIONS = 64,
        SEGMENT = 1448,
        HEADERS = 14 + 20 + 32, /* Ethernet, IPv4, TCP with timestamps */
        MAX_CALLS = 200,        /* in one flight of requests */
        TEXT = 1 << 16,
        MAX_FRAME = 8192, /* of HTTP/2 */
        FIN = 1,
        SYN = 2,
        ACK = 16
};
#define START         G_GINT64_CONSTANT(1700000000000000000)
#define SEGMENT_TIME  4000    /* ns between two segments of a flight */
#define SERVICE_TIME  500000  /* of a server's answer, on average */
#define THINKING_TIME 2000000 /* of a client */

typedef struct Connection Connection;

typedef struct {
        guint16 port;
        guint lifetime;                  /* flights of requests */
        void (*request)(Connection *c);  /* fill c->bytes, and note the calls */
        void (*response)(Connection *c); /* answer them */
} Kind;

/* A conversation is a flight of bytes from the client, one from the server, and so on. */
struct Connection {
        const Kind *kind;
        gint64 time; /* ns: when its next packet is due */
        guint32 address[2];
        guint16 port[2];
        guint32 seq[2];
        guint step;     /* packets since the first */
        guint side;     /* who talks: 0 is the client */
        guint flights;  /* of the client, so far */
        guint unacked;  /* segments of side that the other has yet to acknowledge */
        guint closing;  /* packets of its end */
        GString *bytes; /* of the flight */
        gsize sent;     /* of those */
        guint call[MAX_CALLS], n_calls;
        guint32 stream; /* HTTP/2: the next one */
};

static guint64 seed = 1, packets, calls;
static char text[TEXT];

static guint random_below(guint n)
{
        seed = seed * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407;
        return (guint)((seed >> 33) % n);
}

/* From low to high, small ones as often as large ones. */
static guint random_size(guint low, guint high)
{
        guint doublings = 0;
        while (low << (doublings + 1) < high)
                doublings++;
        low <<= random_below(doublings + 1);
        low += random_below(low);
        return MIN(low, high);
}

static void put_text(GString *s, gsize n)
{
        while (n > 0) {
                gsize part = MIN(n, TEXT / 2);
                g_string_append_len(s, text + random_below(TEXT / 2), (gssize)part);
                n -= part;
        }
}

static void put_number(GString *s, guint64 value, guint bytes)
{
        while (bytes-- > 0)
                g_string_append_c(s, (char)(value >> 8 * bytes));
}

static void note_call(Connection *c, guint what)
{
        c->call[c->n_calls++] = what;
        calls++;
}

/* It gets an answer, but only begins a session. */
static void note_login(Connection *c, guint what)
{
        c->call[c->n_calls++] = what;
}

/* --- HTTP/1.1 ---------------------------------------------------------------- */

static const char agent[] = "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101";

static void http_request(Connection *c)
{
        gboolean post = random_below(6) == 0;
        g_string_append_printf(c->bytes,
                               "%s /shop/item/%u?page=%u HTTP/1.1\r\nHost: shop.example\r\n"
                               "User-Agent: %s\r\nAccept: text/html,application/json;q=0.9,*/*\r\n"
                               "Accept-Encoding: gzip, deflate\r\nCookie: session=",
                               post ? "POST" : "GET", random_below(10000), random_below(10), agent);
        put_text(c->bytes, 64);
        if (post) {
                guint length = random_size(100, 8000);
                g_string_append_printf(c->bytes, "\r\nContent-Length: %u\r\n\r\n", length);
                put_text(c->bytes, length);
        } else {
                g_string_append(c->bytes, "\r\n\r\n");
        }
        note_call(c, 0);
}

static void http_response(Connection *c)
{
        guint length = random_size(100, 30000);
        gboolean chunked = random_below(5) == 0;
        g_string_append(c->bytes,
                        "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Tue, 14 Nov 2023 22:13:20 "
                        "GMT\r\nContent-Type: text/html\r\nVary: Accept-Encoding\r\n");
        if (!chunked) {
                g_string_append_printf(c->bytes, "Content-Length: %u\r\n\r\n", length);
                put_text(c->bytes, length);
                return;
        }
        g_string_append(c->bytes, "Transfer-Encoding: chunked\r\n\r\n");
        for (guint chunk; length > 0; length -= chunk) {
                chunk = MIN(length, 8192);
                g_string_append_printf(c->bytes, "%x\r\n", chunk);
                put_text(c->bytes, chunk);
                g_string_append(c->bytes, "\r\n");
        }
        g_string_append(c->bytes, "0\r\n\r\n");
}

/* --- HTTP/2 ------------------------------------------------------------------ */

enum { DATA = 0, HEADER_BLOCK = 1, SETTINGS = 4, WINDOW_UPDATE = 8 };
enum { END_STREAM = 1, END_HEADERS = 4 };

static void put_frame(GString *s, guint type, guint flags, guint32 stream, const GString *payload)
{
        put_number(s, payload ? payload->len : 0, 3);
        put_number(s, type, 1);
        put_number(s, flags, 1);
        put_number(s, stream, 4);
        if (payload)
                g_string_append_len(s, payload->str, (gssize)payload->len);
}

/* A header field of HPACK, never Huffman-coded: by its index, or a new name. */
static void put_field(GString *block, guint index, const char *name, const char *value)
{
        put_number(block, MIN(index, 15), 1);
        if (index >= 15)
                put_number(block, index - 15, 1);
        if (index == 0) {
                put_number(block, strlen(name), 1);
                g_string_append(block, name);
        }
        put_number(block, strlen(value), 1);
        g_string_append(block, value);
}

/* What comes before a message of gRPC of n bytes. */
static void put_grpc_prefix(GString *s, guint n)
{
        put_number(s, 0, 1); /* not compressed */
        put_number(s, n, 4);
}

static void http2_request(Connection *c)
{
        g_autoptr(GString) block = g_string_new(NULL);
        guint n = random_size(1, 8);
        if (c->flights == 0) {
                g_string_append(c->bytes, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
                put_frame(c->bytes, SETTINGS, 0, 0, NULL);
                c->stream = 1;
        } else {
                put_number(block, 65535, 4);
                put_frame(c->bytes, WINDOW_UPDATE, 0, 0, block);
        }
        for (guint i = 0; i < n; i++, c->stream += 2) {
                char path[64];
                gboolean grpc = random_below(2) == 0;
                g_snprintf(path, sizeof path, "/shop.Catalog/Get%u", random_below(1000));
                g_string_assign(block, grpc ? "\x83\x86" : "\x82\x86"); /* method, scheme */
                put_field(block, 1, NULL, "catalog:8080");
                put_field(block, 4, NULL, path);
                put_field(block, 58, NULL, agent);
                if (grpc)
                        put_field(block, 31, NULL, "application/grpc");
                put_frame(c->bytes, HEADER_BLOCK, END_HEADERS | (grpc ? 0 : END_STREAM), c->stream,
                          block);
                if (grpc) {
                        guint length = random_size(20, 2000);
                        g_string_truncate(block, 0);
                        put_grpc_prefix(block, length);
                        put_text(block, length);
                        put_frame(c->bytes, DATA, END_STREAM, c->stream, block);
                }
                note_call(c, c->stream << 1 | grpc);
        }
}

/* The answers to all streams at once, in turn a frame of each. */
static void http2_response(Connection *c)
{
        g_autoptr(GString) block = g_string_new(NULL);
        guint left[MAX_CALLS], begun[MAX_CALLS] = { 0 }, open = c->n_calls;
        if (c->flights == 1) {
                put_frame(c->bytes, SETTINGS, 0, 0, NULL);
                put_frame(c->bytes, SETTINGS, 1, 0, NULL);
        }
        for (guint i = 0; i < c->n_calls; i++) {
                left[i] = random_size(50, 20000);
                g_string_assign(block, "\x88"); /* 200 */
                put_field(block, 31, NULL, c->call[i] & 1 ? "application/grpc" : "text/html");
                put_frame(c->bytes, HEADER_BLOCK, END_HEADERS, c->call[i] >> 1, block);
        }
        for (guint i = 0; open > 0; i = (i + 1) % c->n_calls) {
                guint n = MIN(left[i], MAX_FRAME);
                gboolean grpc = c->call[i] & 1;
                if (n == 0)
                        continue;
                g_string_truncate(block, 0);
                if (grpc && !begun[i])
                        put_grpc_prefix(block, left[i]);
                begun[i] = TRUE;
                put_text(block, n);
                left[i] -= n;
                open -= left[i] == 0;
                put_frame(c->bytes, DATA, left[i] || grpc ? 0 : END_STREAM, c->call[i] >> 1, block);
                if (left[i] || !grpc)
                        continue;
                g_string_truncate(block, 0);
                put_field(block, 0, "grpc-status", "0");
                put_frame(c->bytes, HEADER_BLOCK, END_HEADERS | END_STREAM, c->call[i] >> 1, block);
        }
}

/* --- Redis ------------------------------------------------------------------- */

enum { REDIS_GET, REDIS_SET, REDIS_INCR, REDIS_LRANGE, REDIS_HGETALL };

static void put_bulk(GString *s, gsize n)
{
        g_string_append_printf(s, "$%" G_GSIZE_FORMAT "\r\n", n);
        put_text(s, n);
        g_string_append(s, "\r\n");
}

static void redis_request(Connection *c)
{
        guint n = random_below(4) == 0 ? random_size(8, MAX_CALLS) : 1; /* a pipeline, or one */
        for (guint i = 0; i < n; i++) {
                guint what = random_below(20), key = 1000 + random_below(9000);
                if (what < 10) {
                        g_string_append_printf(c->bytes, "*2\r\n$3\r\nGET\r\n$9\r\nitem:%u\r\n",
                                               key);
                        note_call(c, REDIS_GET);
                } else if (what < 14) {
                        g_string_append_printf(c->bytes, "*3\r\n$3\r\nSET\r\n$9\r\nitem:%u\r\n",
                                               key);
                        put_bulk(c->bytes, random_size(10, 2000));
                        note_call(c, REDIS_SET);
                } else if (what < 17) {
                        g_string_append_printf(c->bytes, "*2\r\n$4\r\nINCR\r\n$9\r\nhits:%u\r\n",
                                               key);
                        note_call(c, REDIS_INCR);
                } else if (what < 19) {
                        g_string_append_printf(c->bytes, "*2\r\n$7\r\nHGETALL\r\n$9\r\ncart:%u\r\n",
                                               key);
                        note_call(c, REDIS_HGETALL);
                } else {
                        g_string_append_printf(
                                c->bytes,
                                "*4\r\n$6\r\nLRANGE\r\n$9\r\nlist:%u\r\n$1\r\n0\r\n$2\r\n-1\r\n",
                                key);
                        note_call(c, REDIS_LRANGE);
                }
        }
}

static void redis_response(Connection *c)
{
        for (guint i = 0; i < c->n_calls; i++) {
                guint n;
                switch (c->call[i]) {
                case REDIS_GET:
                        put_bulk(c->bytes, random_size(10, 4000));
                        break;
                case REDIS_SET:
                        g_string_append(c->bytes, "+OK\r\n");
                        break;
                case REDIS_INCR:
                        g_string_append_printf(c->bytes, ":%u\r\n", random_below(100000));
                        break;
                default:
                        n = c->call[i] == REDIS_HGETALL ? 20 : random_size(10, 600);
                        g_string_append_printf(c->bytes, "*%u\r\n", n);
                        for (; n > 0; n--)
                                put_bulk(c->bytes, 4 + random_below(40));
                }
        }
}

/* --- PostgreSQL -------------------------------------------------------------- */

enum { POSTGRES_START, POSTGRES_SIMPLE, POSTGRES_EXTENDED };

static void put_message(GString *s, char type, const char *body, gsize n)
{
        g_string_append_c(s, type);
        put_number(s, n + 4, 4);
        g_string_append_len(s, body, (gssize)n);
}

static void postgres_request(Connection *c)
{
        static const char start[] = "\0\0\0\x1e\0\3\0\0user\0shop\0database\0a\0";
        char query[200];
        if (c->flights == 0) {
                g_string_append_len(c->bytes, start, 30);
                note_login(c, POSTGRES_START);
                return;
        }
        g_snprintf(query, sizeof query,
                   "SELECT id, name, price, stock FROM items WHERE kind = %s AND price < 100 "
                   "ORDER BY price LIMIT 400",
                   c->flights % 2 ? "'tools'" : "$1");
        if (c->flights % 2) {
                put_message(c->bytes, 'Q', query, strlen(query) + 1);
                note_call(c, POSTGRES_SIMPLE);
                return;
        }
        g_autoptr(GString) body = g_string_new(NULL);
        g_string_append_len(body, query, (gssize)strlen(query) + 1);
        g_string_prepend_c(body, '\0'); /* the unnamed statement */
        put_number(body, 0, 2);
        put_message(c->bytes, 'P', body->str, body->len);
        put_message(c->bytes, 'B', "\0\0\0\0\0\1\0\0\0\5tools\0\0", 17);
        put_message(c->bytes, 'D', "P", 2);
        put_message(c->bytes, 'E', "\0\0\0\0", 5);
        put_message(c->bytes, 'S', "", 0);
        note_call(c, POSTGRES_EXTENDED);
}

static void postgres_response(Connection *c)
{
        static const char *const columns[] = { "id", "name", "price", "stock" };
        g_autoptr(GString) body = g_string_new(NULL);
        if (c->call[0] == POSTGRES_START) {
                put_message(c->bytes, 'R', "\0\0\0", 4);
                put_message(c->bytes, 'S', "client_encoding\0UTF8", 21);
                put_message(c->bytes, 'K', "\0\0\0\1\0\0\0", 8);
                put_message(c->bytes, 'Z', "I", 1);
                return;
        }
        if (c->call[0] == POSTGRES_EXTENDED) {
                put_message(c->bytes, '1', "", 0);
                put_message(c->bytes, '2', "", 0);
        }
        put_number(body, G_N_ELEMENTS(columns), 2);
        for (guint i = 0; i < G_N_ELEMENTS(columns); i++) {
                g_string_append_len(body, columns[i], (gssize)strlen(columns[i]) + 1);
                put_number(body, 16384, 4);
                put_number(body, i + 1, 2);
                put_number(body, 25, 4);
                put_number(body, 0xffff, 2);
                put_number(body, 0xffffffff, 4);
                put_number(body, 0, 2);
        }
        put_message(c->bytes, 'T', body->str, body->len);
        for (guint rows = random_size(1, 400); rows > 0; rows--) {
                g_string_truncate(body, 0);
                put_number(body, G_N_ELEMENTS(columns), 2);
                for (guint i = 0; i < G_N_ELEMENTS(columns); i++) {
                        guint n = i == 1 ? 10 + random_below(50) : 3 + random_below(6);
                        put_number(body, n, 4);
                        put_text(body, n);
                }
                put_message(c->bytes, 'D', body->str, body->len);
        }
        put_message(c->bytes, 'C', "SELECT 1", 9);
        put_message(c->bytes, 'Z', "I", 1);
}

/* --- packets ----------------------------------------------------------------- */

static const Kind kinds[] = {
        { 80, 100, http_request, http_response },
        { 8080, 1000, http2_request, http2_response },
        { 6379, 5000, redis_request, redis_response },
        { 5432, 1000, postgres_request, postgres_response },
};

static void write_or_die(const void *bytes, gsize n)
{
        if (fwrite(bytes, 1, n, stdout) != n) {
                perror("mixed-packets");
                exit(4);
        }
}

static guint8 *put(guint8 *at, guint64 value, guint bytes)
{
        while (bytes-- > 0)
                *at++ = (guint8)(value >> 8 * bytes);
        return at;
}

/* A packet from side with the first n bytes at payload. Checksums are left to hardware. */
static void packet_write(Connection *c, guint side, guint flags, const char *payload, gsize n)
{
        guint8 bytes[HEADERS] = { 2, 0, 0, 0, 0, (guint8)!side, 2, 0, 0, 0, 0, (guint8)side, 8 };
        guint8 *at = bytes + 14;
        guint32 record[4] = { (guint32)(c->time / 1000000000), (guint32)(c->time % 1000000000),
                              (guint32)(HEADERS + n), (guint32)(HEADERS + n) };
        at = put(at, 0x4500, 2);
        at = put(at, HEADERS - 14 + n, 2);
        at = put(at, 0x4000, 4);
        at = put(at, 0x4006, 2);
        at = put(at, 0, 2);
        at = put(at, c->address[side], 4);
        at = put(at, c->address[!side], 4);
        at = put(at, c->port[side], 2);
        at = put(at, c->port[!side], 2);
        at = put(at, c->seq[side], 4);
        at = put(at, flags & ACK ? c->seq[!side] : 0, 4);
        at = put(at, 0x8000 | flags, 2);
        at = put(at, 502, 2);
        at = put(at, 0, 4);
        at = put(at, 0x0101080a, 4);
        at = put(at, (guint64)c->time / 1000000, 4);
        put(at, (guint64)c->time / 1000000 - 1, 4);
        write_or_die(record, sizeof record);
        write_or_die(bytes, sizeof bytes);
        write_or_die(payload, n);
        c->seq[side] += (guint32)n + ((flags & (SYN | FIN)) != 0);
        c->step++;
        packets++;
}

static void connection_begin(Connection *c, guint slot)
{
        static guint serial;
        c->kind = &kinds[slot % G_N_ELEMENTS(kinds)];
        c->address[0] = 0x0a010000 + slot / 8;
        c->address[1] = 0x0a020000 + slot % 8;
        c->port[0] = (guint16)(32768 + serial++ % 28000);
        c->port[1] = c->kind->port;
        c->seq[0] = random_below(1u << 31);
        c->seq[1] = random_below(1u << 31);
        c->step = c->side = c->flights = c->closing = c->unacked = 0;
        c->n_calls = 0;
        c->sent = 0;
        g_string_truncate(c->bytes, 0);
}

/* The next flight, of the side that does not talk now. */
static void flight_begin(Connection *c)
{
        g_string_truncate(c->bytes, 0);
        c->sent = 0;
        if (c->side == 1 || c->flights == 0) {
                c->side = c->n_calls = c->unacked = 0;
                c->kind->request(c);
                c->flights++;
                c->time += 1 + random_below(2 * THINKING_TIME);
        } else {
                c->side = 1;
                c->unacked = 0; /* the answer does */
                c->kind->response(c);
                c->time += 1 + random_below(2 * SERVICE_TIME);
        }
}

/* Writes the packet that is due, and finds when the next one is. FALSE: there is none. */
static gboolean connection_step(Connection *c, gboolean last)
{
        gsize n = MIN(c->bytes->len - c->sent, SEGMENT);
        if (c->step < 3) { /* the opening */
                packet_write(c, c->step == 1,
                             c->step == 2 ? ACK
                             : c->step    ? SYN | ACK
                                          : SYN,
                             NULL, 0);
                c->time += 50000;
                if (c->step == 3)
                        flight_begin(c);
        } else if (c->unacked == 2 || (c->unacked == 1 && n == 0)) {
                packet_write(c, !c->side, ACK, NULL, 0);
                c->unacked = 0;
                c->time += SEGMENT_TIME;
        } else if (n > 0) {
                packet_write(c, c->side, ACK, c->bytes->str + c->sent, n);
                c->sent += n;
                c->unacked++;
                c->time += SEGMENT_TIME;
                if (c->sent == c->bytes->len && c->side == 0)
                        flight_begin(c);
        } else if (c->closing == 0 && !last && c->flights < c->kind->lifetime) {
                flight_begin(c);
        } else if (c->closing < 3) {
                packet_write(c, c->closing == 1, c->closing == 2 ? ACK : FIN | ACK, NULL, 0);
                c->closing++;
                c->time += 50000;
        } else {
                return FALSE;
        }
        return TRUE;
}

int main(int argc, char **argv)
{
        static const guint32 header[6] = { 0xa1b23c4d, 4 << 16 | 2, 0, 0, 262144, 1 };
        static Connection connections[CONNECTIONS];
        Connection *open[CONNECTIONS];
        guint n = CONNECTIONS;
        guint64 enough = argc == 2 ? g_ascii_strtoull(argv[1], NULL, 10) : 0;
        if (enough == 0) {
                fprintf(stderr, "usage: mixed-packets PACKETS >FILE\n");
                return 2;
        }
        for (guint i = 0; i < TEXT; i++)
                text[i] = "abcdefghijklmnopqrstuvwxyz0123456789-_ .,:;<>/="[random_below(47)];
        write_or_die(header, sizeof header);
        for (guint i = 0; i < CONNECTIONS; i++) {
                open[i] = &connections[i];
                open[i]->bytes = g_string_new(NULL);
                open[i]->time = START + random_below(THINKING_TIME);
                connection_begin(open[i], i);
        }
        while (n > 0) {
                guint next = 0;
                for (guint i = 1; i < n; i++)
                        if (open[i]->time < open[next]->time)
                                next = i;
                if (connection_step(open[next], packets >= enough))
                        continue;
                if (packets < enough)
                        connection_begin(open[next], (guint)(open[next] - connections));
                else
                        open[next] = open[--n];
        }
        if (fflush(stdout) != 0) {
                perror("mixed-packets");
                return 4;
        }
        fprintf(stderr, "%" G_GUINT64_FORMAT "\n", calls);
        return 0;
}
