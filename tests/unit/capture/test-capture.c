/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets in, trace lines out: names, copies, and the order of lines in time.
 */
#include "tests/unit/capture/scene.h"

static const char query[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
static const char answer[] = "\x12\x34\x81\x80\0\1\0\1\0\0\0\0\1a\0\0\1\0\1"
                             "\xc0\x0c\0\1\0\1\0\0\0\1\0\4\1\2\3\4";

static void test_dns(void)
{
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        s->port[SERVER] = 53;
        datagram(s, CLIENT, 5, query, sizeof query - 1);
        datagram(s, CLIENT, 6, query, sizeof query - 1);
        datagram(s, SERVER, 8, answer, sizeof answer - 1);
        datagram(s, SERVER, 9, answer, sizeof answer - 1);
        datagram(s, CLIENT, 10, "not dns", 7);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        check_count(s, ACCOUNT_RETURN_WITHOUT_CALL, 1);
        scene_end(s, "5 CALL_SENT a>b 1000.1234 label=DNS%20A\n"
                     "8 RET_SENT b>a 1000.1234 resent=1000000\n"
                     "10 MSG_SENT a>b -\n");
}

/* Two questions at once under one id, answered in the other order, and a refusal without one. */
static void test_dns_topics(void)
{
        static const char second[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\0\0\x1c\0\1";
        static const char reply[] = "\x12\x34\x81\x80\0\1\0\0\0\0\0\0\1a\0\0\x1c\0\1";
        static const char refusal[] = "\x12\x34\x81\x85\0\0\0\0\0\0\0\0";
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        s->port[SERVER] = 53;
        datagram(s, CLIENT, 5, query, sizeof query - 1);
        datagram(s, CLIENT, 6, second, sizeof second - 1);
        datagram(s, CLIENT, 7, second, sizeof second - 1);
        datagram(s, SERVER, 8, reply, sizeof reply - 1);
        datagram(s, SERVER, 9, answer, sizeof answer - 1);
        datagram(s, CLIENT, 10, query, sizeof query - 1);
        datagram(s, SERVER, 11, refusal, sizeof refusal - 1);
        check_count(s, ACCOUNT_REPEATED_CALLS, 1);
        check_count(s, ACCOUNT_UNANSWERED, 0);
        scene_end(s, "5 CALL_SENT a>b 1000.1234 label=DNS%20A\n"
                     "6 CALL_SENT a>b 1000.491c00001234 label=DNS%20AAAA\n"
                     "8 RET_SENT b>a 1000.491c00001234 resent=1000000\n"
                     "9 RET_SENT b>a 1000.1234\n"
                     "10 CALL_SENT a>b 1000.1234 label=DNS%20A\n"
                     "11 RET_SENT b>a 1000.1234 st=REFUSED\n");
}

/* A switch that mirrors at entry and exit, and their fellow in between: once each. What
 * comes again later was sent again. */
static void test_copies(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        for (guint i = 0; i < 3; i++) {
                datagram(s, CLIENT, 5, "one", 3);
                datagram(s, CLIENT, 5, "two", 3);
                datagram(s, SERVER, 5, "one", 3);
        }
        datagram(s, CLIENT, 6, "one", 3);
        check_count(s, ACCOUNT_COPIES, 6);
        handshake(s);
        for (guint i = 0; i < 3; i++)
                segment(s, CLIENT, ACK, s->next[CLIENT], "call", 4);
        s->next[CLIENT] += 4;
        for (guint i = 0; i < 3; i++)
                segment(s, SERVER, ACK, s->next[SERVER], "return", 6);
        s->next[SERVER] += 6;
        scene_end(s, "5 MSG_SENT a>b -\n"
                     "5 MSG_SENT a>b -\n"
                     "5 MSG_SENT b>a -\n"
                     "6 MSG_SENT a>b -\n"
                     "6 CALL_SENT a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n");
}

/* A translator of addresses and ports stands between client and server, and both of its sides are
 * captured. The call is from the client to the server. */
static void test_translation(void)
{
        static const guint client[2] = { 1, 4096 }, service[2] = { 9, 80 }, inside[2] = { 8, 5000 },
                           server[2] = { 2, 8080 };
        static const char twice[] =
                "%d CALL_SENT a>10.0.0.9 1000.101\n%d CALL_SENT 10.0.0.8>b 1388.101\n"
                "%d RET_SENT b>10.0.0.8 1388.101\n%d RET_SENT 10.0.0.9>a 1000.101\n";
        static const struct {
                guint32 isn, stamp; /* of the server, as the client sees them */
                gint64 pause;       /* ms between the answers before and after */
                gboolean same;
        } rows[] = { { 0x500, 77, 0, TRUE },
                     { 0x600, 77, 0, FALSE },
                     { 0x500, 78, 0, FALSE },
                     { 0x500, 0, 0, FALSE },
                     { 0x500, 77, 2000, FALSE } };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                Scene *s = scene_new(two_nodes, NULL, FALSE);
                guint32 isn = rows[i].isn;
                int ms = 5 + (int)rows[i].pause;
                g_autofree char *apart = g_strdup_printf(twice, ms, ms, ms, ms);
                s->time = 5 * MS;
                between(s, client, service, SYN, 0x100, 0, 66, "");
                between(s, inside, server, SYN, 0x100, 0, 66, "");
                between(s, server, inside, SYN | ACK, 0x500, 0x101, rows[i].stamp ? 77 : 0, "");
                s->time += rows[i].pause * MS;
                between(s, service, client, SYN | ACK, isn, 0x101, rows[i].stamp, "");
                between(s, client, service, ACK, 0x101, isn + 1, 0, "call");
                between(s, inside, server, ACK, 0x101, 0x501, 0, "call");
                between(s, server, inside, ACK, 0x501, 0x105, 0, "return");
                between(s, service, client, ACK, isn + 1, 0x105, 0, "return");
                between(s, client, service, FIN | ACK, 0x105, isn + 7, 0, "");
                between(s, inside, server, FIN | ACK, 0x105, 0x507, 0, "");
                check_count(s, ACCOUNT_TRANSLATED, rows[i].same);
                check_count(s, ACCOUNT_TRANSLATED_SEGMENTS, rows[i].same ? 4 : 0);
                check_count(s, ACCOUNT_CONNECTIONS, rows[i].same ? 1 : 2);
                scene_end(s, rows[i].same ? "5 CALL_SENT a>b 1000.101\n5 RET_SENT b>a 1000.101\n"
                                          : apart);
        }
}

static void test_host(void)
{
        Scene *s = scene_new(two_nodes, "b", FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_RECV a>b 1000.101\n"
                     "6 RET_SENT b>a 1000.101\n");
}

static void test_names_by_port(void)
{
        Scene *s = scene_new("10.0.0.2:80 web\n10.0.0.0/8 net\n", NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "GET / HTTP/1.1\r\n\r\n");
        say(s, SERVER, 6, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT net>web 1000.101\n"
                     "6 RET_SENT web>net 1000.101\n");
}

/* Whatever order calls are done in, lines come in order of time. */
static void test_order(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n");
        s->port[SERVER] = 53;
        datagram(s, CLIENT, 6, query, sizeof query - 1);
        datagram(s, SERVER, 7, answer, sizeof answer - 1);
        s->port[SERVER] = 80;
        say(s, CLIENT, 8, "ab");
        scene_end(s, "5 CALL_SENT a>b 1000.101 dur=3000000 conn=1\n"
                     "6 CALL_SENT a>b 1000.1234\n"
                     "7 RET_SENT b>a 1000.1234\n");
}

/* A call that goes on for too long does not hold up the others. */
static void test_patience(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        handshake(s);
        say(s, CLIENT, 5, "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n");
        capture_idle(s->capture, 9000 * MS);
        take_lines(s);
        g_assert_cmpstr(s->lines->str, ==, "");
        capture_idle(s->capture, 11000 * MS);
        take_lines(s);
        g_assert_cmpstr(s->lines->str, ==, "5 CALL_SENT a>b 1000.101\n");
        say(s, CLIENT, 12000, "ab");
        say(s, SERVER, 12001, "HTTP/1.1 204 n\r\n\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n"
                     "12001 RET_SENT b>a 1000.101\n");
}

/* Live, what comes after later ones were written is written at their time, and counted; but not
 * where the clock was set back. */
static void test_late(void)
{
        for (guint live = 0; live < 2; live++) {
                Scene *s = scene_new_live(two_nodes, NULL, FALSE, live);
                s->port[SERVER] = 53;
                datagram(s, CLIENT, 5000, query, sizeof query - 1);
                capture_idle(s->capture, 6000 * MS);
                take_lines(s);
                datagram(s, SERVER, 4500, answer, sizeof answer - 1);
                capture_idle(s->capture, 7000 * MS);
                take_lines(s);
                datagram(s, CLIENT, 3500, "set back", 8);
                capture_finish(s->capture);
                take_lines(s);
                check_count(s, ACCOUNT_LATE, live);
                scene_end(s, live ? "5000 CALL_SENT a>b 1000.1234\n"
                                    "5000 RET_SENT b>a 1000.1234\n"
                                    "3500 MSG_SENT a>b -\n"
                                  : "5000 CALL_SENT a>b 1000.1234\n"
                                    "4500 RET_SENT b>a 1000.1234\n"
                                    "3500 MSG_SENT a>b -\n");
        }
}

static void test_clock_step(void)
{
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        s->port[SERVER] = 53;
        datagram(s, CLIENT, 500000, query, sizeof query - 1);
        datagram(s, CLIENT, 5, query, sizeof query - 1);
        datagram(s, SERVER, 6, answer, sizeof answer - 1);
        check_count(s, ACCOUNT_CLOCK_STEPS, 1);
        scene_end(s, "500000 CALL_SENT a>b 1000.1234\n"
                     "5 CALL_SENT a>b 1000.1234\n"
                     "6 RET_SENT b>a 1000.1234\n");
}

static void test_summary(void)
{
        Account account = { .to_itself = 0 };
        account.count[ACCOUNT_PACKETS] = account.count[ACCOUNT_HOLES] = 1;
        account.count[ACCOUNT_CALLS] = 1;
        account.count[ACCOUNT_RETURNS] = 2;
        g_autofree char *text = account_summary(&account);
        g_assert_cmpstr(text, ==,
                        "1 packet, 0 connections: 1 call, 2 returns, 0 one-way messages, 1 hole");
}

static void test_judgement(void)
{
        Account account = { .to_itself = 0 };
        g_auto(GStrv) empty = account_judge(&account);
        g_assert_null(empty[0]);
        account.count[ACCOUNT_PACKETS] = 10;
        account.to_itself = 1;
        account.tcp_one_sided = 1;
        g_auto(GStrv) lines = account_judge(&account);
        g_assert_nonnull(strstr(lines[0], "one direction"));
        g_assert_nonnull(strstr(lines[1], "--nodes"));
        g_assert_null(lines[2]);
        account.count[ACCOUNT_REPEATED] = 1;
        g_auto(GStrv) twice = account_judge(&account);
        g_assert_nonnull(strstr(twice[2], "1 of 10 packets repeat what was seen"));
        account.count[ACCOUNT_REPEATED] = 0;
        account.tcp_two_sided = account.to_named = 1;
        g_auto(GStrv) silent = account_judge(&account);
        g_assert_nonnull(strstr(silent[0], "no call was found"));
        g_assert_null(silent[1]); /* callers by their ports: the doubt says that */
        account.count[ACCOUNT_CALLS] = 5;
        account.count[ACCOUNT_RETURNS] = 5;
        account.count[ACCOUNT_ONE_WAY] = account.count[ACCOUNT_ROLE_UNKNOWN] = 9;
        account.unclear_port[5432] = 6;
        account.unclear_port[25] = 3;
        account.to_others = 1;
        g_auto(GStrv) roles = account_judge(&account);
        g_assert_nonnull(strstr(roles[0], "--proto 5432=generic --proto 25=generic"));
        g_assert_null(roles[1]);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/capture/dns", test_dns);
        g_test_add_func("/capture/dns-topics", test_dns_topics);
        g_test_add_func("/capture/copies", test_copies);
        g_test_add_func("/capture/translation", test_translation);
        g_test_add_func("/capture/host", test_host);
        g_test_add_func("/capture/names-by-port", test_names_by_port);
        g_test_add_func("/capture/order", test_order);
        g_test_add_func("/capture/patience", test_patience);
        g_test_add_func("/capture/late", test_late);
        g_test_add_func("/capture/clock-step", test_clock_step);
        g_test_add_func("/capture/summary", test_summary);
        g_test_add_func("/capture/judgement", test_judgement);
        return g_test_run();
}
