/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls that share a connection: HTTP/2, FastCGI and LDAP.
 */
#include "tests/unit/capture/scene.h"

#define PREFACE  "'PRI * HTTP/2.0' 0d0a0d0a 'SM' 0d0a0d0a 000000 04 00 00000000 "
#define SETTINGS "000006 04 00 00000000 0003 00000064 "

static void test_streams(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, SERVER, 4, SETTINGS);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 82 000001 01 04 00000003 83");
        say_hex(s, SERVER, 6, "000001 01 04 00000003 88 000004 00 00 00000003 'ab'");
        say_hex(s, SERVER, 7, "'cd' 000005 01 04 00000001 48 03 '103'");
        say_hex(s, CLIENT, 8, "000001 01 05 00000005 82");
        say_hex(s, SERVER, 9, "000001 01 05 00000005 88 000001 01 04 00000001 88");
        say_hex(s, CLIENT, 10, "000001 00 01 00000003 'x'");
        say_hex(s, SERVER, 11, "000001 00 01 00000001 'y' 000001 01 05 00000003 be");
        check_count(s, ACCOUNT_INTERIM, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "5 CALL_SENT a>b 1000.3 dur=5000000\n"
                     "8 CALL_SENT a>b 1000.5\n"
                     "9 RET_SENT b>a 1000.5\n"
                     "11 RET_SENT b>a 1000.1 dur=2000000\n"
                     "11 RET_SENT b>a 1000.3 dur=5000000\n");
}

/* Names from header blocks, in frames of every form; the table that they build. */
static void test_stream_labels(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "00000a 01 05 00000001 82 86 44 06 '/a?b=c'");
        say_hex(s, SERVER, 6, "000001 01 05 00000001 88");
        /* with padding and priority */
        say_hex(s, CLIENT, 7, "000014 01 2d 00000003 02 00000000 10 82 86 44 08 '/a/17/bc' 0000");
        say_hex(s, SERVER, 8, "000001 01 05 00000003 88");
        /* gRPC, over three frames and two segments */
        say_hex(s, CLIENT, 9, "000004 01 00 00000005 83 86 44 0e 000018 09");
        say_hex(s, CLIENT, 10,
                "00 00000005 '/shop.Cart/Add' 5f 16 'applicat' 00000e 09 04 00000005"
                "'ion/grpc+proto' 000001 00 01 00000005 'x'");
        say_hex(s, SERVER, 11, "000001 01 05 00000005 88");
        /* the oldest but one of the table */
        say_hex(s, CLIENT, 12, "000003 01 05 00000007 82 86 c0");
        say_hex(s, SERVER, 13, "000001 01 05 00000007 88");
        /* a hole may have changed it */
        lose(s, CLIENT, 20);
        say_hex(s, CLIENT, 14, "000003 01 05 00000009 82 86 c0");
        say_hex(s, SERVER, 15, "000001 01 05 00000009 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1 label=GET%20/a\n"
                     "6 RET_SENT b>a 1000.1\n"
                     "7 CALL_SENT a>b 1000.3 label=GET%20/a/{id}/bc\n"
                     "8 RET_SENT b>a 1000.3\n"
                     "9 CALL_SENT a>b 1000.5 dur=1000000 label=shop.Cart/Add\n"
                     "11 RET_SENT b>a 1000.5\n"
                     "12 CALL_SENT a>b 1000.7 label=GET%20/a/{id}/bc\n"
                     "13 RET_SENT b>a 1000.7\n"
                     "14 CALL_SENT a>b 1000.9\n"
                     "15 RET_SENT b>a 1000.9\n");
}

/* No label where the table cannot be known, nor after a block that is broken. */
static void test_streams_without_labels(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        say_hex(s, CLIENT, 5, "000003 01 05 00000001 82 86 84");
        say_hex(s, SERVER, 6, "000001 01 05 00000001 88");
        s->port[CLIENT] = 4097;
        handshake(s);
        say_hex(s, CLIENT, 7, PREFACE "000003 01 05 00000002 82 86 84 000000 00 01 00000007");
        say_hex(s, CLIENT, 7, "000003 01 05 00000001 82 86 84");
        say_hex(s, SERVER, 8, "000001 01 05 00000001 88");
        say_hex(s, CLIENT, 9, "000003 01 05 00000003 82 86 fe");
        say_hex(s, SERVER, 10, "000001 01 05 00000003 88");
        say_hex(s, CLIENT, 11, "000003 01 05 00000005 82 86 84");
        say_hex(s, SERVER, 12, "000001 01 05 00000005 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "6 RET_SENT b>a 1000.1\n"
                     "7 MSG_SENT a>b 1001.2\n"
                     "7 CALL_SENT a>b 1001.1 label=GET%20/\n"
                     "8 RET_SENT b>a 1001.1\n"
                     "9 CALL_SENT a>b 1001.3\n"
                     "10 RET_SENT b>a 1001.3\n"
                     "11 CALL_SENT a>b 1001.5\n"
                     "12 RET_SENT b>a 1001.5\n");
}

/* The server answers before it has all of the call; either gives up. */
static void test_streams_cut_short(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5,
                PREFACE "000001 01 04 00000001 83 000001 01 05 00000003 82"
                        "000001 01 05 00000005 82 000001 01 05 00000007 82");
        say_hex(s, SERVER, 6,
                SETTINGS "000001 01 05 00000001 88 000004 03 00 00000001 00000000"
                         "000001 01 04 00000003 88 000004 03 00 00000007 00000002");
        say_hex(s, CLIENT, 7, "000001 00 01 00000001 'x' 000004 03 00 00000003 00000008");
        say_hex(s, CLIENT, 8, "000004 03 00 00000005 00000008");
        check_count(s, ACCOUNT_UNANSWERED, 2);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 0);
        scene_end(s, "5 CALL_SENT a>b 1000.3\n"
                     "5 CALL_SENT a>b 1000.5\n"
                     "5 CALL_SENT a>b 1000.7\n"
                     "5 CALL_SENT a>b 1000.1\n"
                     "6 RET_SENT b>a 1000.1\n"
                     "6 RET_SENT b>a 1000.7 end=reset\n"
                     "7 RET_SENT b>a 1000.3 dur=1000000\n"
                     "8 RET_SENT b>a 1000.5 end=reset\n");

        /* The server ends within its answers, with or without an error; one of them fails anyway. */
        s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5,
                PREFACE "000003 01 05 00000001 82 86 84 000003 01 05 00000003 82 86 84"
                        "000003 01 05 00000005 82 86 84 000003 01 05 00000007 82 86 84");
        say_hex(s, SERVER, 6,
                SETTINGS "000001 01 04 00000001 88 000004 03 00 00000001 00000000"
                         "000001 01 04 00000003 88 000004 03 00 00000003 00000002"
                         "000001 01 04 00000005 88 000001 00 00 00000005 'x'"
                         "000001 01 04 00000007 8e");
        say_hex(s, SERVER, 7, "000008 07 00 00000000 00000007 00000002");
        hang_up(s, SERVER, 8);
        hang_up(s, CLIENT, 9);
        scene_end(s, "5 CALL_SENT a>b 1000.1 label=GET%20/\n"
                     "5 CALL_SENT a>b 1000.3 label=GET%20/\n"
                     "5 CALL_SENT a>b 1000.5 label=GET%20/\n"
                     "5 CALL_SENT a>b 1000.7 label=GET%20/\n"
                     "6 RET_SENT b>a 1000.1 end=reset\n"
                     "6 RET_SENT b>a 1000.3 st=INTERNAL_ERROR\n"
                     "8 RET_SENT b>a 1000.7 dur=2000000 st=500\n"
                     "8 RET_SENT b>a 1000.5 end=closed\n");

        /* The client leaves first: it had what it wanted. */
        s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 82");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88");
        hang_up(s, CLIENT, 7);
        hang_up(s, SERVER, 8);
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "8 RET_SENT b>a 1000.1 dur=2000000\n");
}

static void test_streams_begun_before(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say_hex(s, SERVER, 4, "'the rest of a frame'");
        say_hex(s, CLIENT, 5, "000001 01 05 00000009 82");
        say_hex(s, SERVER, 6, "000001 01 05 00000007 88 000001 01 05 00000009 88");
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.9\n"
                     "6 RET_SENT b>a 1000.9\n");
}

static void test_streams_over_hole(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 82 000001 01 05 00000003 82");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88 000001 01 04 00000003 88");
        lose(s, SERVER, 40);
        say_hex(s, SERVER, 8, "'ab' 000004 08 00 00000000 00000001 000001 01 05 00000003 88");
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say_hex(s, CLIENT, 105, "000001 01 05 00000005 82");
        say_hex(s, SERVER, 106, "000001 01 05 00000005 88");
        hang_up(s, SERVER, 107);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_HOLES, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "5 CALL_SENT a>b 1000.3\n"
                     "8 RET_SENT b>a 1000.3 dur=2000000\n"
                     "105 CALL_SENT a>b 1000.5\n"
                     "106 RET_SENT b>a 1000.5\n"
                     "107 RET_SENT b>a 1000.1 dur=101000000\n");
}

/* The request was made in HTTP/1.1, and is answered in HTTP/2. */
/* A call that was lost before the tap, and one behind it that nobody could read. */
static void test_stream_kept(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 82");
        lose(s, CLIENT, 10);
        say_hex(s, CLIENT, 8, "000001 01 05 00000005 82");
        s->next[CLIENT] -= 20;
        say_hex(s, CLIENT, 208, "000001 01 05 00000003 82");
        s->next[CLIENT] += 10;
        say_hex(s, SERVER, 210, "000001 01 05 00000001 88 000001 01 05 00000003 88");
        say_hex(s, SERVER, 211, "000001 01 05 00000005 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "8 CALL_SENT a>b 1000.5\n"
                     "8 CALL_SENT a>b 1000.3 dur=200000000 stall=200000000\n"
                     "210 RET_SENT b>a 1000.1\n"
                     "210 RET_SENT b>a 1000.3\n"
                     "211 RET_SENT b>a 1000.5 resent=200000000\n");
}

static void test_upgrade_to_http2(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n");
        say_hex(s, SERVER, 7, SETTINGS "000001 01 04 00000001 88");
        say_hex(s, CLIENT, 8, PREFACE "000001 01 05 00000003 82");
        say_hex(s, SERVER, 9, "000001 01 05 00000003 88 000001 00 01 00000001 'x'");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "8 CALL_SENT a>b 1000.3\n"
                     "9 RET_SENT b>a 1000.3\n"
                     "9 RET_SENT b>a 1000.101\n");
}

/* More calls than are held at a time: the oldest is forgotten. */
static void test_too_many_streams(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE);
        for (guint i = 0; i < 16385; i++) {
                g_autofree char *frame = g_strdup_printf("000001 01 05 %08x 82", 2 * i + 1);
                say_hex(s, CLIENT, 5, frame);
        }
        check_count(s, ACCOUNT_UNANSWERED, 1);
        say_hex(s, SERVER, 6, SETTINGS "000001 01 05 00000001 88 000001 01 05 00000003 88");
        check_count(s, ACCOUNT_RETURNS, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        capture_finish(s->capture);
        check_count(s, ACCOUNT_CALLS, 16385);
        scene_free(s);
}

/* A call that streams for longer than the patience is written with what there is. */
static void test_stream_settled(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 04 00000001 83");
        say_hex(s, CLIENT, 2005, "000001 00 00 00000001 'a'");
        say_hex(s, CLIENT, 12005, "000008 06 00 00000000 0000000000000000");
        say_hex(s, CLIENT, 20005, "000001 00 00 00000001 'b'");
        say_hex(s, SERVER, 20006, SETTINGS "000001 01 05 00000001 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1 dur=2000000000\n"
                     "20005 MSG_SENT a>b 1000.147\n"
                     "20006 RET_SENT b>a 1000.1\n");
}

/* A return that goes on for longer than that: its frames are messages; not those of one that ends.
 */
static void test_stream_endless(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 83 000001 01 05 00000003 83");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88 000001 01 04 00000003 88");
        say_hex(s, SERVER, 7, "000001 00 00 00000001 'a' 000001 00 00 00000003 'a'");
        say_hex(s, SERVER, 5000, "000001 00 00 00000001 'b' 000001 00 01 00000003 'b'");
        say_hex(s, SERVER, 10000, "000002 00 00 00000001 'b'");
        say_hex(s, SERVER, 11000, "'b'");
        say_hex(s, SERVER, 20000, "000001 00 00 00000001 'c'");
        say_hex(s, SERVER, 21000, "000001 01 05 00000001 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "5 CALL_SENT a>b 1000.3\n"
                     "7 MSG_SENT b>a 50.524\n"
                     "5000 RET_SENT b>a 1000.3 dur=4994000000\n"
                     "5000 MSG_SENT b>a 50.538\n"
                     "10000 MSG_SENT b>a 50.54c dur=1000000000\n"
                     "20000 MSG_SENT b>a 50.557\n"
                     "21000 RET_SENT b>a 1000.1 dur=20994000000\n");
        s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000001 01 05 00000001 83");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88 000001 00 00 00000001 'a'");
        scene_end(s, "5 CALL_SENT a>b 1000.1\n"
                     "6 MSG_SENT b>a 50.51a\n");
}

static void test_size_of_streams(void)
{
        Scene *s = scene_with_sizes();
        say_hex(s, CLIENT, 5,
                PREFACE "000001 01 04 00000001 82 000014 00 01 00000001"
                        "'01234567890123456789'");
        say_hex(s, SERVER, 6, SETTINGS "000001 01 04 00000001 88");
        say_hex(s, SERVER, 7, "000004 00 00 00000001 'abcd' 000002 00 01 00000001 'ef'");
        scene_end(s, "5 CALL_SENT a>b 1000.1 bytes=40\n"
                     "7 RET_SENT b>a 1000.1 dur=1000000 bytes=32\n");
}

#define LDAP_SEARCH(id)                                                                            \
        "30 20 02 01 " id " 63 1b 04 04 'dc=t' 0a 01 02 0a 01 00 02 01 00 02 01 00 01 01 00"       \
        " 87 02 'cn' 30 00 "
#define LDAP_ENTRY(id)      "30 0f 02 01 " id " 64 0a 04 06 'cn=a,b' 30 00 "
#define LDAP_RESULT(id, op) "30 0c 02 01 " id " " op " 07 0a 01 00 04 00 04 00 "
#define LDAP_START_TLS(id)  "30 1d 02 01 " id " 77 18 80 16 '1.3.6.1.4.1.1466.20037' "

/* Searches whose entries come in between each other, one of which is abandoned. */
static void test_ldap(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, "30 0c 02 01 01 60 07 02 01 03 04 00 80 00");
        say_hex(s, SERVER, 6, LDAP_RESULT("01", "61"));
        say_hex(s, CLIENT, 7, LDAP_SEARCH("02") LDAP_SEARCH("03"));
        say_hex(s, CLIENT, 8, LDAP_SEARCH("04"));
        say_hex(s, CLIENT, 9, "30 09 02 01 05 4a 04 'cn=a'");
        say_hex(s, SERVER, 10, LDAP_ENTRY("03") LDAP_ENTRY("02"));
        say_hex(s, SERVER, 11, LDAP_RESULT("03", "65"));
        say_hex(s, CLIENT, 12, "30 06 02 01 06 50 01 04");
        say_hex(s, SERVER, 13, LDAP_ENTRY("02") LDAP_RESULT("05", "6b"));
        say_hex(s, SERVER, 14, LDAP_RESULT("02", "65"));
        say_hex(s, CLIENT, 15, "30 05 02 01 07 42 00");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_SESSION, 3);
        check_count(s, ACCOUNT_UNANSWERED, 1);
        scene_end(s, "7 CALL_SENT a>b 1000.2 label=search\n"
                     "7 CALL_SENT a>b 1000.3 label=search\n"
                     "8 CALL_SENT a>b 1000.4 label=search\n"
                     "9 CALL_SENT a>b 1000.5 label=delete\n"
                     "11 RET_SENT b>a 1000.3 dur=1000000\n"
                     "12 RET_SENT b>a 1000.4 end=reset\n"
                     "13 RET_SENT b>a 1000.5\n"
                     "14 RET_SENT b>a 1000.2 dur=4000000\n");
}

/* Refused at first; then it is encrypted. */
static void test_ldap_tls(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, LDAP_START_TLS("01"));
        say_hex(s, SERVER, 6, "30 0c 02 01 01 78 07 0a 01 34 04 00 04 00");
        say_hex(s, CLIENT, 7, LDAP_SEARCH("02"));
        say_hex(s, SERVER, 8, LDAP_RESULT("02", "65"));
        say_hex(s, CLIENT, 9, LDAP_START_TLS("03"));
        say_hex(s, SERVER, 10, LDAP_RESULT("03", "78"));
        say_hex(s, CLIENT, 11, "16 0301 0008 01000004 0303 0000");
        say_hex(s, SERVER, 12,
                "16 0303 0008 02000004 0303 0000 14 0303 0001 01 16 0303 0004 00000000");
        say_hex(s, CLIENT, 13, "14 0303 0001 01 16 0303 0004 00000000");
        say_hex(s, CLIENT, 14, "17 0303 0020 'in the middle of a connection, !'");
        say_hex(s, SERVER, 15, "17 0303 0020 'in the middle of a connection, !'");
        check_count(s, ACCOUNT_SESSION, 4);
        scene_end(s, "7 CALL_SENT a>b 1000.2\n"
                     "8 RET_SENT b>a 1000.2\n"
                     "14 CALL_SENT a>b 1000.17d\n"
                     "15 RET_SENT b>a 1000.17d\n");
}

/* After a hole the next message is found; what is in buffers follows the rule of runs. */
static void test_ldap_lost(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[CLIENT] = 40000;
        say_hex(s, SERVER, 4, "'the rest of an entry'" LDAP_RESULT("01", "65"));
        say_hex(s, CLIENT, 5, LDAP_SEARCH("02"));
        say_hex(s, SERVER, 6, LDAP_ENTRY("02"));
        lose(s, SERVER, 100);
        say_hex(s, SERVER, 7, "'0 of an entry'" LDAP_RESULT("02", "65"));
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        s->time = 100 * MS;
        segment(s, CLIENT, ACK, s->next[CLIENT], "", 0);
        say_hex(s, CLIENT, 101, "30 16 02 01 03 60 11 02 01 03 04 00 a3 0a 04 08 'EXTERNAL'");
        say_hex(s, SERVER, 102, LDAP_RESULT("03", "61"));
        say_hex(s, CLIENT, 103, "00000006 'sealed' 00000001 ff");
        say_hex(s, SERVER, 104, "00000004 'seal'");
        say_hex(s, SERVER, 105, "00000004 'seal'");
        capture_finish(s->capture);
        check_count(s, ACCOUNT_HOLES, 1);
        scene_end(s, "5 CALL_SENT a>b 9c40.2\n"
                     "7 RET_SENT b>a 9c40.2 dur=1000000\n"
                     "103 CALL_SENT a>b 9c40.13a\n"
                     "105 RET_SENT b>a 9c40.13a dur=1000000\n");
}

#define FCGI_BEGIN(id)  "01 01 " id " 0008 00 00 0001 01 0000000000 "
#define FCGI_PARAMS(id) "01 04 " id " 0022 00 00 0e 03 'REQUEST_METHODGET' 0b 02 'REQUEST_URI/a' "
#define FCGI_STDIN(id)  "01 05 " id " 0000 00 00 "
#define FCGI_STDOUT(id) "01 06 " id " 0003 01 00 'abc' 00 "
#define FCGI_END(id)    "01 03 " id " 0008 00 00 00000000 00 000000 "

/* Two requests at a time; an id is used again. */
static void test_fastcgi(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, FCGI_BEGIN("0001") FCGI_BEGIN("0002") FCGI_PARAMS("0001"));
        say_hex(s, CLIENT, 6, FCGI_STDIN("0002") FCGI_STDIN("0001"));
        say_hex(s, SERVER, 7, FCGI_STDOUT("0002") FCGI_STDOUT("0001"));
        say_hex(s, SERVER, 8, FCGI_END("0001"));
        say_hex(s, CLIENT, 9, FCGI_BEGIN("0001") FCGI_STDIN("0001"));
        say_hex(s, SERVER, 10, FCGI_END("0001") FCGI_STDOUT("0002") FCGI_END("0002"));
        scene_end(s, "5 CALL_SENT a>b 1000.111 dur=1000000\n"
                     "5 CALL_SENT a>b 1000.101 dur=1000000 label=GET%20/a\n"
                     "8 RET_SENT b>a 1000.101 dur=1000000\n"
                     "9 CALL_SENT a>b 1000.15b\n"
                     "10 RET_SENT b>a 1000.15b\n"
                     "10 RET_SENT b>a 1000.111 dur=3000000\n");
}

#define POST_QUERY "83 86 44 02 '/q' 5f 10 'application/json' "

/* The operation and identifiers in the body of a stream, over frames of every form. */
static void test_stream_bodies(void)
{
        static const guint8 secret[LEAST_SECRET] = "sixteen bytes...";
        scene_identifiers = identifiers_new(secret, sizeof secret, NULL, NULL);
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE "000018 01 04 00000001 " POST_QUERY);
        say_hex(s, CLIENT, 6, "00000a 00 00 00000001 '{\"query\":\"' 000012 00 01 00000001 'query Q{'");
        say_hex(s, CLIENT, 7, "'a(b:4711)}'");
        say_hex(s, SERVER, 8, "000001 01 05 00000001 88");
        /* with padding; not a word is passed over */
        say_hex(s, CLIENT, 9,
                "000004 01 04 00000003 83 86 bf be"
                "000016 00 09 00000003 02 '{\"method\":\"a\",4711}' 0000");
        say_hex(s, SERVER, 10, "000001 01 05 00000003 88");
        /* of another kind */
        say_hex(s, CLIENT, 11,
                "000003 01 04 00000005 83 86 bf 000006 00 01 00000005 '{4711}'");
        say_hex(s, SERVER, 12, "000001 01 05 00000005 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1 dur=2000000 label=POST%20/q%20Q ids=e47e7467.d4cf39f2\n"
                     "8 RET_SENT b>a 1000.1\n"
                     "9 CALL_SENT a>b 1000.3 label=POST%20/q ids=e47e7467.d4cf39f2\n"
                     "10 RET_SENT b>a 1000.3\n"
                     "11 CALL_SENT a>b 1000.5 label=POST%20/q\n"
                     "12 RET_SENT b>a 1000.5\n");
        identifiers_free(scene_identifiers);
        scene_identifiers = NULL;
}

/* Tags in the fields and in the body of a stream. */
static void test_stream_tags(void)
{
        static char *const rules[] = { (char *)"t=query:t", (char *)"u=header:User", (char *)"j=json:a.b",
                                       NULL };
        scene_tags = tag_rules_new(rules, FALSE, NULL, 0, NULL);
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say_hex(s, CLIENT, 5, PREFACE
                "000026 01 04 00000001 83 86 44 06 '/q?t=x' 5f 10 'application/json' "
                "40 04 'user' 03 'bob'"
                "00000e 00 01 00000001 '{\"a\":{\"b\":42}}'");
        say_hex(s, SERVER, 8, "000001 01 05 00000001 88");
        /* From the table, without a body. */
        say_hex(s, CLIENT, 9, "000003 01 05 00000003 82 86 be");
        say_hex(s, SERVER, 10, "000001 01 05 00000003 88");
        scene_end(s, "5 CALL_SENT a>b 1000.1 tags=t:x,u:bob,j:42\n"
                     "8 RET_SENT b>a 1000.1\n"
                     "9 CALL_SENT a>b 1000.3 tags=u:bob\n"
                     "10 RET_SENT b>a 1000.3\n");
        g_clear_pointer(&scene_tags, tag_rules_free);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/streams/tags", test_stream_tags);
        g_test_add_func("/streams/size-of-streams", test_size_of_streams);
        g_test_add_func("/streams/streams", test_streams);
        g_test_add_func("/streams/stream-labels", test_stream_labels);
        g_test_add_func("/streams/streams-without-labels", test_streams_without_labels);
        g_test_add_func("/streams/streams-cut-short", test_streams_cut_short);
        g_test_add_func("/streams/streams-begun-before", test_streams_begun_before);
        g_test_add_func("/streams/streams-over-hole", test_streams_over_hole);
        g_test_add_func("/streams/kept", test_stream_kept);
        g_test_add_func("/streams/bodies", test_stream_bodies);
        g_test_add_func("/streams/upgrade-to-http2", test_upgrade_to_http2);
        g_test_add_func("/streams/too-many-streams", test_too_many_streams);
        g_test_add_func("/streams/stream-settled", test_stream_settled);
        g_test_add_func("/streams/stream-endless", test_stream_endless);
        g_test_add_func("/streams/ldap", test_ldap);
        g_test_add_func("/streams/ldap-tls", test_ldap_tls);
        g_test_add_func("/streams/ldap-lost", test_ldap_lost);
        g_test_add_func("/streams/fastcgi", test_fastcgi);
        return g_test_run();
}
