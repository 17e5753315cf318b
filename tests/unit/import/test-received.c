/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Received headers as the programs write them that pass most of the world's mail on, and as nobody
 * should: who sent, who took, and when.
 */
#include <string.h>

#include "import/received.h"
#include "tracefmt/message.h"

static void expect(const char *text, const char *from, const char *address, const char *by,
                   gint64 seconds)
{
        Received r;

        received_parse(text, strlen(text), &r);
        g_assert_cmpstr(r.from, ==, from);
        g_assert_cmpstr(r.from_address, ==, address);
        g_assert_cmpstr(r.by, ==, by);
        g_assert_cmpint(r.time, ==, seconds < 0 ? NO_TIME : seconds * 1000000000);
}

/* 1 Apr 2003 20:00:00 UTC, in what follows. */
#define WHEN G_GINT64_CONSTANT(1049227200)

static void test_sendmail(void)
{
        expect(" from HELO.example (mx.example.org [192.0.2.1])\n\tby in.example.com "
               "(8.12.3/8.12.3) with ESMTP id h31K0Qbl012345\n\tfor <joe@example.com>; Tue, 1 Apr "
               "2003 12:00:00 -0800 (PST)",
               "mx.example.org", "192.0.2.1", "in.example.com", WHEN);
        expect("from mail (IDENT:joe@mx.example.org [192.0.2.1] (may be forged)) by in; Tue, 1 Apr "
               "2003 20:00:00 GMT",
               "mx.example.org", "192.0.2.1", "in", WHEN);
        expect("from helo.example ([192.0.2.1]) by in.example.com (8.9) id AA1; Tue, 1 Apr 2003 "
               "20:00 +0000",
               "helo.example", "192.0.2.1", "in.example.com", WHEN);
        expect("(from joe@localhost) by in.example.com (8.9) id AA1; Tue, 1 Apr 2003 20:00 +0000",
               "", "", "in.example.com", WHEN);
        /* smap leaves no blank. */
        expect("from mx.example.org(192.0.2.1) by in.example.com via smap (V2.0) id xma1; Tue, 1 "
               "Apr 03 16:00:00 EDT",
               "mx.example.org", "192.0.2.1", "in.example.com", WHEN);
}

static void test_postfix(void)
{
        expect("from claims (unknown [IPv6:2001:db8::1])\n\t(using TLSv1.3 with cipher "
               "TLS_AES_256_GCM_SHA384 (256/256 bits)\n\t key-exchange X25519 server-signature "
               "RSA-PSS (2048 bits); no client certificate)\n\t(Authenticated sender: joe "
               "[192.0.2.9])\n\tby in.example.com. (Postfix) with ESMTPS id 4XyZ;\n\tTue,  1 Apr "
               "2003 22:00:00 +0200 (CEST)",
               "claims", "2001:db8::1", "in.example.com", WHEN);
        expect("by in.example.com (Postfix, from userid 1000)\n\tid 4XyZ; Tue,  1 Apr 2003 "
               "20:00:00 +0000 (UTC)",
               "", "", "in.example.com", WHEN);
        expect("from localhost (localhost.localdomain [127.0.0.1]) by in.example.com (Postfix) "
               "with ESMTP id 4; Tue, 1 Apr 2003 20:00:00 +0000",
               "", "", "in.example.com", WHEN);
}

static void test_exim(void)
{
        expect("from mx.example.org ([192.0.2.1] helo=claims.example)\n\tby in.example.com with "
               "esmtps (TLS1.3) tls TLS_AES_256_GCM_SHA384\n\t(Exim 4.96)\n\t(envelope-from "
               "<a@b>)\n\tid 1pXYZ-0001\n\tfor joe@example.com;\n\tTue, 01 Apr 2003 20:00:00 +0000",
               "mx.example.org", "192.0.2.1", "in.example.com", WHEN);
        expect("from [192.0.2.1] (helo=claims.example) by in.example.com with esmtp (Exim 4.96) "
               "id 1; Tue, 01 Apr 2003 20:00:00 +0000",
               "", "192.0.2.1", "in.example.com", WHEN);
        expect("from joe by in.example.com with local (Exim 4.96) id 1; Tue, 01 Apr 2003 20:00:00 "
               "+0000",
               "", "", "in.example.com", WHEN);
}

static void test_exchange(void)
{
        expect("from HUB1.EXAMPLE.ORG (2001:db8::1%12) by\n IN.example.com (10.0.0.2) with "
               "Microsoft SMTP Server\n (version=TLS1_2, cipher=TLS_ECDHE) id\n 15.1.2507.27; Tue, "
               "1 Apr 2003 20:00:00 +0000",
               "hub1.example.org", "2001:db8::1", "in.example.com", WHEN);
        expect("from mail pickup service by in.example.com with Microsoft SMTPSVC;\n\t Tue, 1 Apr "
               "2003 13:00:00 -0700",
               "", "", "in.example.com", WHEN);
        expect("from mx ([192.0.2.1]) by in.example.com with Microsoft SMTPSVC(6.0.3790.4675); "
               "Tue, 1 Apr 2003 13:00:00 -0700",
               "mx", "192.0.2.1", "in.example.com", WHEN);
        expect("by in.example.com with Internet Mail Service (5.5.2650.21)\n\tid <HN9>; Tue, 1 Apr "
               "2003 13:00:00 -0700",
               "", "", "in.example.com", WHEN);
}

static void test_qmail(void)
{
        expect("from unknown (HELO mx.example.org) (192.0.2.1)\n  by in.example.com with SMTP; 1 "
               "Apr 2003 20:00:00 -0000",
               "", "192.0.2.1", "in.example.com", WHEN);
        expect("from mx.example.org (HELO mail) (joe@192.0.2.1)\n  by in.example.com with SMTP; 1 "
               "Apr 2003 20:00:00 -0000",
               "mx.example.org", "", "in.example.com", WHEN);
        expect("(qmail 4711 invoked from network); 1 Apr 2003 20:00:00 -0000", "", "", "", WHEN);
        expect("(qmail 4711 invoked by uid 500); 1 Apr 2003 20:00:00 -0000", "", "", "", WHEN);
}

static void test_others(void)
{
        expect("from [192.0.2.1] by web12.example.com via HTTP; Tue, 01 Apr 2003 12:00:00 PST", "",
               "192.0.2.1", "web12.example.com", WHEN);
        expect("from pop.example.org [192.0.2.1] by in with POP3 (fetchmail-6.3) for <joe@x> "
               "(single-drop); Tue, 01 Apr 2003 20:00:00 +0000 (GMT)",
               "pop.example.org", "192.0.2.1", "in", WHEN);
        expect("from a ([unix socket]) by b (Cyrus v2) with LMTPA; Tue, 01 Apr 2003 20:00:00 +0000",
               "a", "", "b", WHEN);
        expect("by 2002:a05:6a20:1::1 with SMTP id x1; Tue, 1 Apr 2003 13:00:00 -0700 (PDT)", "",
               "", "", WHEN);
}

/* What is no date, has no zone, or one that nobody knows, is none. */
static void test_dates(void)
{
        const struct {
                const char *text;
                gint64 seconds;
        } dates[] = { { "Tue, 1 Apr 2003 20:00:00 +0000", WHEN },
                      { "Tue,1 Apr 2003 20:00:00 +0000", WHEN },
                      { "1 April 103 20:00:00 UT", WHEN },
                      { "Tue Apr  1 20:00:00 2003 +0000", WHEN },
                      { "Tue, 1 Apr 2003 20:00:00.25 +0000", WHEN },
                      { "Tue, 1 Apr 2003 20:00:00 +0530", WHEN - 19800 },
                      { "Mon, 31 Dec 2012 23:59:60 +0000", 1356998400 },
                      { "Tue, 1 Apr 2003 20:00:00", -1 },
                      { "Tue, 1 Apr 2003 20:00:00 CET", -1 },
                      { "Tue, 1 Apr 2003 20:00:00 +9900", -1 },
                      { "Tue, 1 Apr 2003 20:00:00 +00000", -1 },
                      { "Tue, 31 Apr 2003 20:00:00 +0000", -1 },
                      { "Tue, 0 Apr 2003 20:00:00 +0000", -1 },
                      { "Tue, 1 Apr 2003 24:00:00 +0000", -1 },
                      { "Tue, 1 Apr 2003 20:00:61 +0000", -1 },
                      { "Tue, 1 Apr 2003 20:00:00x +0000", -1 },
                      { "Tue, 1 Foo 2003 20:00:00 +0000", -1 },
                      { "Tue, 1 Apr 1066 20:00:00 +0000", -1 },
                      { "Tue, 1 Apr 20030 20:00:00 +0000", -1 },
                      { "", -1 } };

        for (guint i = 0; i < G_N_ELEMENTS(dates); i++) {
                g_autofree char *text =
                        g_strdup_printf("from a by b (x; y) id 3; %s", dates[i].text);

                expect(text, "a", "", "b", dates[i].seconds);
        }
        expect("from a by b", "a", "", "b", -1);
        /* A comment that does not end hides clauses; the date stands behind the last semicolon. */
        expect("from a by b (c; 1 Apr 2003 20:00:00 +0000", "a", "", "b", WHEN);
}

static void test_names(void)
{
        g_autofree char *longest = g_strnfill(RECEIVED_MAX_HOST, 'x');
        g_autofree char *fits = g_strdup_printf("from %s by b", longest);
        g_autofree char *too_long = g_strdup_printf("from %sx by b", longest);

        expect(fits, longest, "", "b", -1);
        expect(too_long, "", "", "b", -1);
        expect("from <a> by \"b\"", "", "", "", -1);
        expect("from by by", "", "", "by", -1);
        expect("from A. by root@B", "a", "", "b", -1);
        expect("from a.localhost by localhost", "a.localhost", "", "", -1);
        g_assert_true(received_same_host("a", "a.example"));
        g_assert_true(received_same_host("a.example", "a"));
        g_assert_false(received_same_host("a.example", "a.example.org"));
        g_assert_false(received_same_host("ab", "a.example"));
}

/* What the sender called itself is kept where it is not what it is called. */
static void test_claimed(void)
{
        static const char text[] = "from claims (name [192.0.2.1]) by b";
        Received r;

        received_parse(text, strlen(text), &r);
        g_assert_cmpstr(r.from, ==, "name");
        g_assert_cmpstr(r.claimed, ==, "claims");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/received/sendmail", test_sendmail);
        g_test_add_func("/received/postfix", test_postfix);
        g_test_add_func("/received/exim", test_exim);
        g_test_add_func("/received/exchange", test_exchange);
        g_test_add_func("/received/qmail", test_qmail);
        g_test_add_func("/received/others", test_others);
        g_test_add_func("/received/dates", test_dates);
        g_test_add_func("/received/names", test_names);
        g_test_add_func("/received/claimed", test_claimed);
        return g_test_run();
}
