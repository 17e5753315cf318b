/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "tests/unit/capture/parse-frames.h"

#define PREFACE      "'PRI * HTTP/2.0' 0d0a0d0a 'SM' 0d0a0d0a "
#define SETTINGS     "000006 04 00 00000000 0003 00000064 "
#define NO_SETTINGS  "000000 04 00 00000000 "
#define SETTINGS_ACK "000000 04 01 00000000 "
#define PING         "000008 06 00 00000000 0102030405060708 "
#define WINDOW       "000004 08 00 00000000 00010000 "
#define GOAWAY       "000008 07 00 00000000 00000001 00000000 "

/* A letter for the kind of each frame ("C" call, "R" return, "S" by side, "m" one-way, "i"
 * interim, "." control), where it is a part its stream and "b", "e" or "a" for begins, ends
 * and aborts. */
static void say(GString *out, const Parsed *frame)
{
        static const char letters[] = "?CRmi?.bS";

        g_string_append_c(out, letters[frame->kind]);
        if (frame->part)
                g_string_append_printf(out, "%" G_GUINT64_FORMAT "%s%s%s", frame->key,
                                       frame->part & PART_BEGINS ? "b" : "",
                                       frame->part & PART_ENDS ? "e" : "",
                                       frame->part & PART_ABORTS ? "a" : "");
        g_string_append_c(out, ' ');
}

static void check(const char *hex, const char *expected)
{
        check_frames(&protocol_http2, hex, expected, say);
}

static void test_client(void)
{
        check(PREFACE SETTINGS "000002 01 05 00000001 8284", ". . C1be");
        check(PREFACE SETTINGS "000001 01 04 00000001 83 000003 00 00 00000001 'abc'"
                               "000000 00 01 00000001",
              ". . C1b C1 C1e");
        check(PREFACE SETTINGS "000001 01 04 00000001 83 000001 01 04 00000003 83"
                               "000001 00 01 00000003 00 000001 00 01 00000001 00",
              ". . C1b C3b C3e C1e");
        check(PREFACE SETTINGS SETTINGS_ACK PING WINDOW GOAWAY "000005 02 00 00000005 0000000010",
              ". . . . . . .");
        check(PREFACE SETTINGS "000001 01 05 00000001 82 000004 03 00 00000001 00000008",
              ". . C1be C1a");
}

static void test_server(void)
{
        check(SETTINGS "000001 01 04 00000001 88 000002 00 00 00000001 6162"
                       "000001 01 05 00000001 be",
              ". R1b R1 R1e");
        check(SETTINGS "000001 01 05 00000001 88 000004 03 00 00000003 00000007", ". R1be R3a");
        check(NO_SETTINGS SETTINGS_ACK "000001 01 05 00000001 88", ". . R1be");
        check(SETTINGS_ACK
              "00000d 01 04 00000001 40 07 ':status' 03 '200' 000001 00 01 00000001 00",
              ". R1b R1e");
}

static void test_interim(void)
{
        check(SETTINGS "000005 01 04 00000001 48 03 '103' 000001 01 05 00000001 88", ". i R1e");
        check(SETTINGS "000004 01 04 00000001 08 82 0801  000001 01 05 00000001 88", ". i R1e");
        check(SETTINGS "000005 01 04 00000001 48 03 '404'", ". R1b");
        check(SETTINGS "000001 01 00 00000001 48 000004 09 04 00000001 03 '103'", ". R1b R1");
}

static void test_padding_and_priority(void)
{
        check(PREFACE SETTINGS "000009 01 2d 00000001 02 0000000010 82 0000", ". . C1be");
        check(PREFACE SETTINGS "000004 01 0d 00000001 02 82 0000"
                               "000003 00 09 00000001 02 0000",
              ". . C1be C1e");
}

static void test_continuation(void)
{
        check(PREFACE SETTINGS "000001 01 01 00000001 82 000001 09 00 00000001 84"
                               "000001 09 04 00000001 86 000001 01 05 00000003 82",
              ". . C1b C1 C1e C3be");
        check(PREFACE SETTINGS "000001 01 01 00000001 82 000001 09 00 00000003 84", ". . C1b !");
        check(PREFACE SETTINGS "000001 01 01 00000001 82 000001 00 00 00000001 84", ". . C1b !");
        check(PREFACE SETTINGS "000001 09 04 00000001 82", ". . !");
}

/* Trailers do not begin a call that is over; a field of the dynamic table may. */
static void test_trailers(void)
{
        check(PREFACE SETTINGS "000001 01 04 00000001 83 000005 01 05 00000001 40 0161 0162",
              ". . C1b C1e");
        check(PREFACE SETTINGS "000001 01 04 00000005 83 000001 01 05 00000003 be"
                               "000001 01 05 00000007 be",
              ". . C5b C3e C7be");
}

static void test_push(void)
{
        check(SETTINGS "000005 05 04 00000001 00000002 82 000001 01 04 00000002 88"
                       "000001 00 01 00000002 00 000001 01 05 00000001 88",
              ". . m . R1be");
        check(SETTINGS "000005 05 00 00000001 00000002 82 000001 09 04 00000001 84"
                       "000001 01 05 00000001 88",
              ". . . R1be");
}

/* What is needed to know it in the middle of a connection. */
static void test_middle(void)
{
        check("000003 01 05 00000009 82 84 86", "C9be");
        check("000001 01 04 00000009 88", "R9b");
        check("000001 01 05 00000009 be" WINDOW "000001 01 05 0000000b 82", "S9be . C11be");
        check("000001 00 01 00000009 00" WINDOW PING, "S9e . .");
        check(WINDOW "000004 08 00 00000003 00000100", ". .");
        check("000004 03 00 00000009 00000008" PING, "S9a .");
        check(PING, ".");
        check("000008 06 01 00000000 0102030405060708", ".");
        check(NO_SETTINGS, "."); /* what a server says first */
        check(GOAWAY, ".");      /* and last */
        check(WINDOW, "+");
        check(SETTINGS_ACK, "+");
        check("000001 01 05 00000009 be", "+");
        check("000004 00 00 00000009 00000000 000004 00 00 00000009 00000000", "+");
        check("004000 00 00 00000009 0000", "+");
}

static void test_not_http2(void)
{
        static const char *const texts[] = {
                "'GET / HTTP/1.1' 0d0a",
                "'PRI * HTTP/1.1' 0d0a",
                "160301 0005 0100000100 01",
                "000000 04 01 00000001",                      /* SETTINGS of a stream */
                "000007 04 00 00000000 00030000006400",       /* of no whole number */
                "000006 04 00 00000000 000a 00000064",        /* of no known name */
                "000006 04 00 00000000 0002 00000002",        /* of no possible value */
                "000000 00 00 00000001" PING PING,            /* DATA that says nothing */
                "000002 01 05 00000001 82 80",                /* index 0 */
                "000004 01 05 00000001 82 40 05 00",          /* cut in a name */
                "000002 01 05 00000002 82 84",                /* a request of the server */
                "000002 01 45 00000001 82 84",                /* unknown flag */
                "000002 01 05 80000001 82 84",                /* reserved bit */
                "004001 01 05 00000001",                      /* longer than agreed */
                "000002 01 0d 00000001 04 82",                /* all padding */
                "000002 0b 00 00000001 82 84",                /* unknown type */
                "000004 08 00 00000000 00000000",             /* WINDOW_UPDATE by 0 */
                "000004 03 00 00000001 000000ff",             /* unknown error */
                "000008 06 02 00000000 0102030405060708",     /* unknown flag */
                "000008 07 00 00000000 80000001 00000000",    /* GOAWAY with a reserved bit */
                "000001 02 00 00000001 00",                   /* PRIORITY too short */
                "000000 04 01 00000000 000000 04 01 00000001" /* a second frame that is none */
        };
        for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
                check(texts[i], "!");
}

/* A direction does not change what it is. */
static void test_contradiction(void)
{
        check(PREFACE SETTINGS "000001 01 05 00000001 88", ". . !");
        check("000001 01 05 00000001 88 000001 01 05 00000003 82", "R1be !");
        check(PREFACE SETTINGS "000005 08 00 00000000 0000000000", ". . !");
        check(PREFACE SETTINGS "000002 0a 00 00000000 0000 000001 10 00 00000000 00", ". . . .");
}

static void check_boundary(const char *hex, gsize expected)
{
        g_autoptr(GByteArray) bytes = hex_bytes(hex);
        g_assert_cmpuint(protocol_http2.find_boundary(bytes->data, bytes->len), ==, expected);
}

static void test_find_boundary(void)
{
        check_boundary("000003 01 05 00000009 82 84 86", 0);
        check_boundary("'rest of data' 000003 01 05 00000009 82 84 86", 12);
        check_boundary("00000000 00000000 00000000 000001 01 04 00000009 88", 12);
        check_boundary("'rest of data'" PREFACE, 12);
        check_boundary("'rest of data'", 12);
        check_boundary("'ab' 000003 01 05 000000", 10);
        check_boundary("", 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/http2/client", test_client);
        g_test_add_func("/http2/server", test_server);
        g_test_add_func("/http2/interim", test_interim);
        g_test_add_func("/http2/padding-and-priority", test_padding_and_priority);
        g_test_add_func("/http2/continuation", test_continuation);
        g_test_add_func("/http2/trailers", test_trailers);
        g_test_add_func("/http2/push", test_push);
        g_test_add_func("/http2/middle", test_middle);
        g_test_add_func("/http2/not-http2", test_not_http2);
        g_test_add_func("/http2/contradiction", test_contradiction);
        g_test_add_func("/http2/find-boundary", test_find_boundary);
        return g_test_run();
}
