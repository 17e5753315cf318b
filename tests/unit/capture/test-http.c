/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "capture/protocol/protocol.h"

/* Parses text as one direction, shown in pieces of step bytes. Returns a letter for each message,
 * with the offset of its end: "C" a call, "R" a return, "i" interim, "." nothing. "!": not HTTP;
 * "+": more is needed. call: what a return's call set. eof: nothing follows. */
static char *parse(const char *text, gsize n, guint8 call, gsize step, gboolean eof)
{
        static const char letters[] = "?CRmi.cbS"; /* by MessageKind */
        GString *out = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        guint64 at = 0;
        MessageKind kind = KIND_UNKNOWN;
        gboolean open = FALSE;
        for (gsize shown = MIN(step, n);; shown = MIN(shown + step, n)) {
                while (at < shown) {
                        Parsed parsed = { 0 };
                        ParseStatus status =
                                protocol_http.parse(state, call, (const guint8 *)text + at,
                                                    shown - at, FALSE, NULL, &parsed);
                        if (status == PARSE_NOT_MINE) {
                                g_string_append_c(out, '!');
                                return g_string_free(out, FALSE);
                        }
                        open = TRUE;
                        if (parsed.kind != KIND_UNKNOWN)
                                kind = parsed.kind;
                        at = parsed.length == PARSE_FOREVER ? n + 1 : at + parsed.length;
                        if (status == PARSE_MORE)
                                break;
                        if (status == PARSE_PIECE)
                                continue;
                        g_string_append_printf(out, "%c%" G_GUINT64_FORMAT "%s ", letters[kind], at,
                                               parsed.switches ? "s" : "");
                        open = FALSE;
                        kind = KIND_UNKNOWN;
                }
                if (shown == n)
                        break;
        }
        if (open && eof) {
                Parsed parsed = { 0 };
                g_assert_cmpint(protocol_http.parse(state, call, (const guint8 *)"", 0, TRUE, NULL,
                                                    &parsed),
                                ==, PARSE_MESSAGE);
                g_string_append_printf(out, "%c", letters[parsed.kind]);
        } else if (open) {
                g_string_append_c(out, '+');
        }
        g_strchomp(out->str);
        return g_string_free(out, FALSE);
}

static void check(const char *text, guint8 call, gboolean eof, const char *expected)
{
        gsize n = strlen(text);
        for (gsize step = 1; step <= n; step = step < 12 ? step + 1 : step * 2) {
                g_autofree char *got = parse(text, n, call, step, eof);
                g_assert_cmpstr(got, ==, expected);
        }
        g_autofree char *whole = parse(text, n, call, n, eof);
        g_assert_cmpstr(whole, ==, expected);
}

/* What a request sets in Parsed.call. */
static guint8 call_of(const char *request)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        protocol_http.parse(state, CALL_NONE, (const guint8 *)request, strlen(request), FALSE, NULL,
                            &parsed);
        g_assert_cmpint(parsed.kind, ==, KIND_CALL);
        return parsed.call;
}

static void test_requests(void)
{
        check("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, FALSE, "C27");
        check("GET / HTTP/1.0\n\n", 0, FALSE, "C16");
        check("VERSION-CONTROL /x HTTP/1.1\r\n\r\n", 0, FALSE, "C31");
        check("OPTIONS * HTTP/1.1\r\n\r\nGET http://a/b HTTP/1.1\r\n\r\n", 0, FALSE, "C22 C49");
        check("POST / HTTP/1.1\r\ncontent-LENGTH:  3 \r\n\r\nabcGET / HTTP/1.1\r\n\r\n", 0, FALSE,
              "C43 C61");
        check("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc", 0, FALSE, "C140");
        check("\r\n\r\nGET / HTTP/1.1\r\n\r\n", 0, FALSE, ".2 .4 C22");
        check("GET / HTTP/1.1\r\nA: b\r\n folded: 1\r\n\r\n", 0, FALSE, "C36");
        check("GET / HT", 0, FALSE, "+");
        check("GET / HTTP/1.1\r\nHost", 0, FALSE, "+");
}

static void test_responses(void)
{
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 404\r\nContent-Length: "
              "0\r\n\r\n",
              1, FALSE, "R40 R75");
        check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nLink: a\r\n\r\nHTTP/1.1 204 "
              "n\r\n\r\n",
              1, FALSE, "i25 i52 R70");
        check("HTTP/1.1 304 n\r\nContent-Length: 9\r\n\r\nHTTP/1.1 204 n\r\n\r\n", 1, FALSE,
              "R37 R55");
        check("HTTP/1.0 200 OK\r\n\r\nuntil the end", 1, TRUE, "R");
        check("HTTP/1.0 200 OK\r\n\r\nuntil the end", 1, FALSE, "+");
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nabc", 1, TRUE,
              "R");
        check("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", 1, FALSE, "R38s");
        check("HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n", 1, FALSE, "i40s");
}

static void test_chunks(void)
{
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
              "5;x=y\r\nhello\r\n1\r\na\r\n0\r\n\r\n"
              "HTTP/1.1 204 n\r\n\r\n",
              1, FALSE, "R72 R90");
        check("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"
              "a\r\n0\r\n0\r\n0\r\n0\r\n0\r\nTrailer: 1\r\nB: c\r\n\r\nGET / HTTP/1.1\r\n\r\n",
              0, FALSE, "C91 C109");
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ncut", 1, FALSE, "+");
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnothing\r\n", 1, FALSE, "!");
}

static void test_calls(void)
{
        guint8 head = call_of("HEAD / HTTP/1.1\r\n\r\n"), get = call_of("GET / HTTP/1.1\r\n\r\n"),
               tunnel = call_of("CONNECT a:443 HTTP/1.1\r\n\r\n");
        const char *long_reply = "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n";
        check(long_reply, head, FALSE, "R39");
        check(long_reply, get, FALSE, "R89");
        check(long_reply, CALL_NONE, FALSE, "R89");
        check(long_reply, tunnel, FALSE, "R39s");
        check("HTTP/1.1 407 no\r\nContent-Length: 50\r\n\r\n", tunnel, FALSE, "R89");
}

static void test_not_http(void)
{
        static const char *const texts[] = {
                "\x16\x03\x01",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                "*1\r\n$4\r\nPING\r\n",
                "EHLO example.org\r\n",
                "get / HTTP/1.1\r\n\r\n",
                "OPTIONS rtsp://a RTSP/1.0\r\n",
                "HTTP/1.1 2x0 OK\r\n\r\n",
                "GET  HTTP/1.1\r\n\r\n",
                "GET /a b HTTP/1.1\r\n\r\n",
                "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        };
        for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
                check(texts[i], 1, FALSE, "!");
}

static void test_bounds(void)
{
        g_autoptr(GString) text = g_string_new("GET /");
        while (text->len < 20000)
                g_string_append_c(text, 'x');
        g_autofree char *line = parse(text->str, text->len, 0, 1000, FALSE);
        g_assert_cmpstr(line, ==, "!");
        g_string_assign(text, "GET / HTTP/1.1\r\n");
        while (text->len < 300000)
                g_string_append(text, "A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n");
        g_autofree char *head = parse(text->str, text->len, 0, 1000, FALSE);
        g_assert_cmpstr(head, ==, "!");
}

static void check_boundary(const char *text, gsize expected)
{
        g_assert_cmpuint(protocol_http.find_boundary((const guint8 *)text, strlen(text)), ==,
                         expected);
}

static void test_find_boundary(void)
{
        check_boundary("GET / HTTP/1.1\r\n\r\n", 0);
        check_boundary("rest of it\r\nHTTP/1.1 200 OK\r\n\r\n", 12);
        check_boundary("body without an end", 19);
        check_boundary("body\nPOST / HTTP/1.1\r\n", 5);
        check_boundary("...\r\nHTTP/1.1 2", 5);
        check_boundary("", 0);
}

static void check_label(const char *request, const char *expected)
{
        g_autoptr(GString) label = g_string_new(NULL);
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        Parsed parsed = { 0 };
        protocol_http.parse(state, CALL_NONE, (const guint8 *)request, strlen(request), FALSE,
                            label, &parsed);
        g_assert_cmpstr(label->str, ==, expected);
}

static void test_labels(void)
{
        check_label("GET /home HTTP/1.1\r\n\r\n", "GET /home");
        check_label("GET /search?q=secret HTTP/1.1\r\n\r\n", "GET /search");
        check_label("GET /users/17/cart/ HTTP/1.1\r\n\r\n", "GET /users/{id}/cart/");
        check_label("PUT /o/9f86d081-884c-4d63-b4a5 HTTP/1.1\r\n\r\n", "PUT /o/{id}");
        check_label("GET http://a.b/c/d HTTP/1.1\r\n\r\n", "GET /c/d");
        check_label("CONNECT a.b:443 HTTP/1.1\r\n\r\n", "CONNECT ");
        check_label("OPTIONS * HTTP/1.1\r\n\r\n", "OPTIONS *");
}

/* Chunks of which nobody saw the beginning of the message. */
static void test_stray_chunks(void)
{
        check("3\r\nabc\r\n", 0, FALSE, "m8");
        check("3\r\nabc\r\n3\r\nabc\r\n0\r\n\r\n", 0, FALSE, "m8 m16 c21");
        check("3\r\nabcd\r\n", 0, FALSE, "!");
        check("3;x\r\nabc\r\n", 0, FALSE, "!");
        check("0\r\n\r\n", 0, FALSE, "!");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/http/requests", test_requests);
        g_test_add_func("/http/responses", test_responses);
        g_test_add_func("/http/chunks", test_chunks);
        g_test_add_func("/http/calls", test_calls);
        g_test_add_func("/http/not-http", test_not_http);
        g_test_add_func("/http/bounds", test_bounds);
        g_test_add_func("/http/find-boundary", test_find_boundary);
        g_test_add_func("/http/labels", test_labels);
        g_test_add_func("/http/stray-chunks", test_stray_chunks);
        return g_test_run();
}
