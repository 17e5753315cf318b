/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Mails as a trace: which headers are whose way, which mails are copies, whose clock is off.
 */
#include <stdlib.h>
#include <string.h>

#include "import/mail-clocks.h"
#include "import/mail.h"
#include "tests/unit/scratch.h"

#define DATE(second) "; Tue, 1 Apr 2003 12:00:" second " +0000\n"
#define ZERO         G_GINT64_CONSTANT(1049198400) /* of these */

static NodeId name_host(gpointer nodes, const char *name, const char *address)
{
        name = name ? name : address;
        return node_table_add(nodes, name, strlen(name));
}

/* The trace of one text, as a file each; its lines without facts. counts: NULL, or where to put
 * them. */
static char *import(const char *const *files, const MailOptions *wanted, MailCounts *counts)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        MailOptions options = wanted ? *wanted : (MailOptions){ .one_clock = TRUE };
        g_autofree char *path = scratch_path("trace");
        g_autoptr(TraceWriter) writer = trace_writer_new(path, nodes, TRUE, NULL);
        GString *out = g_string_new(NULL);
        char *text;

        options.name = name_host;
        options.user = nodes;
        g_autoptr(MailImport) mails = mail_import_new(&options);
        for (; *files; files++) {
                g_auto(GStrv) lines = g_strsplit(*files, "\n", -1);

                for (guint i = 0; lines[i]; i++)
                        if (lines[i + 1] || *lines[i])
                                mail_import_add(mails, (const guint8 *)lines[i], strlen(lines[i]));
                mail_import_end(mails);
        }
        g_assert_true(mail_import_write(mails, nodes, writer, NULL));
        g_assert_true(trace_writer_close(g_steal_pointer(&writer), NULL));
        if (counts)
                *counts = *mail_import_counts(mails);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (guint i = 0; lines[i]; i++) {
                g_auto(GStrv) field = g_strsplit(lines[i], "\t", -1);

                if (*lines[i] && *lines[i] != '#')
                        g_string_append_printf(out, "%d %s>%s %s\n", (int)(atoll(field[0]) - ZERO),
                                               field[2], field[3], field[5]);
        }
        g_free(text);
        return g_string_free(out, FALSE);
}

static void expect(const char *mail, const char *lines)
{
        const char *files[] = { mail, NULL };
        g_autofree char *found = import(files, NULL, NULL);

        g_assert_cmpstr(found, ==, lines);
}

static void test_way(void)
{
        expect("Received: from b by c" DATE("20") "Received: from a\n\tby b" DATE(
                       "10") "Subject: Received: from x by y\n\nbody\n",
               "10 a>b path=1\n20 b>c path=1.1\n");
        /* What a host is called by the next one does not count. */
        expect("Received: from nat (x [192.0.2.1]) by c" DATE("20") "Received: from a by b" DATE(
                       "10"),
               "10 a>b path=1\n20 b>c path=1.1\n");
        /* A mail that was made at a, and went through a filter there. */
        expect("RECEIVED: from localhost by b" DATE("21") "received: from a by b" DATE(
                       "20") "Received: by a (Postfix, from userid 0)" DATE("10"),
               "20 a>b path=1\n");
        /* A header without a date has its place. */
        expect("Received: from b by c" DATE("20") "Received: from a by b; soon\n",
               "20 b>c path=1.1\n");
        /* Headers of a mail that hangs on this one are its body. */
        expect("Received: from a by b" DATE("10") "\nReceived: from x by y" DATE("20"),
               "10 a>b path=1\n");
        expect("\nReceived: from a by b" DATE("10"), "");
}

static void test_mbox(void)
{
        static const char mail[] =
                "From x Tue Apr  1 12:00:00 2003\nReceived: from a by b" DATE("1"
                                                                              "0");
        g_autofree char *two = g_strconcat(mail, "\nFrom here on\n\n", mail, "\r\nbody\r\n", NULL);
        g_autofree char *no_body = g_strconcat(mail, mail, NULL);
        g_autofree char *quoted = g_strconcat(mail, "\nbody\n>", mail, NULL);

        expect(two, "10 a>b path=1\n10 a>b path=2\n");
        expect(no_body, "10 a>b path=1\n10 a>b path=2\n");
        expect(quoted, "10 a>b path=1\n");
        g_assert_true(mail_begins((const guint8 *)mail, strlen(mail)));
        g_assert_true(mail_begins((const guint8 *)"X-A: b", 6));
        g_assert_true(mail_begins((const guint8 *)"\xef\xbb\xbfX-A: b", 9));
        g_assert_false(mail_begins((const guint8 *)"From here on\n", 13));
        g_assert_false(mail_begins((const guint8 *)"{\"a\": 1}\n", 9));
        g_assert_false(mail_begins((const guint8 *)"a b: c\n", 7));
        g_assert_false(mail_begins((const guint8 *)"", 0));
}

#define BELOW "Received: from b by c id 1" DATE("20") "Received: from a by b" DATE("10")

/* Copies share the way that they went together. */
static void test_copies(void)
{
        const char *files[] = {
                "Message-ID: <1>\nReceived: from c by d" DATE("30") BELOW,
                "Received: from c by e" DATE("31") "Received: from b by c\n  id 1" DATE(
                        "20") "Received: from a by b" DATE("10") "message-id:  <1> \n",
                "Message-ID: <2>\n" BELOW, /* another mail */
                BELOW,                     /* of which nothing is known */
                "Message-ID: <1>\nReceived: from c by d" DATE("30") BELOW,
                NULL
        };
        MailCounts counts;
        g_autofree char *found = import(files, NULL, &counts);

        g_assert_cmpstr(found, ==,
                        "10 a>b path=1\n10 a>b path=2\n10 a>b path=3\n"
                        "20 b>c path=1.1\n20 b>c path=2.1\n20 b>c path=3.1\n"
                        "30 c>d path=1.1.1\n31 c>e path=1.1.2\n");
        g_assert_cmpuint(counts.shared, ==, 5);
        g_assert_cmpuint(counts.no_id, ==, 1);
        g_assert_cmpuint(counts.messages, ==, 8);
}

static void test_counts(void)
{
        g_autofree char *loop = g_strnfill(20000, 'x');
        g_autofree char *first =
                g_strconcat(
                        "Received: (qmail 1 invoked from network)" DATE(
                                "30") "Received: from b by c" DATE("20") "Received: from x by b; "
                                                                         "soon\nReceived: from a "
                                                                         "by x" DATE("10") "Receive"
                                                                                           "d: by "
                                                                                           "a" DATE("10") "Received: from ",
                        loop, " by a" DATE("10"), NULL);
        GString *many = g_string_new(NULL);
        MailCounts c;

        for (guint i = 0; i < 120; i++)
                g_string_append_printf(many, "Received: from h%u by h%u" DATE("10"), i, i + 1);
        const char *files[] = { first, "Subject: none\n", many->str, NULL };
        g_free(import(files, NULL, &c));
        g_string_free(many, TRUE);

        g_assert_cmpuint(c.mails, ==, 3);
        g_assert_cmpuint(c.headers, ==, 126);
        g_assert_cmpuint(c.no_headers, ==, 1);
        g_assert_cmpuint(c.nameless, ==, 1);
        g_assert_cmpuint(c.undated, ==, 1);
        g_assert_cmpuint(c.first, ==, 1);
        g_assert_cmpuint(c.too_long, ==, 21);
        g_assert_cmpuint(c.headers, ==,
                         c.messages + c.shared + c.first + c.within + c.nameless + c.undated +
                                 c.untrusted + c.too_long);
        /* 99 of the hundred that count say another name than the header below. */
        g_assert_cmpuint(c.otherwise, ==, 99);
}

static void test_trust(void)
{
        static const char *const domains[] = { "ours.example", ".partner.example", NULL };
        const MailOptions options = { .trust = domains, .one_clock = TRUE };
        const char *files[] = {
                "Received: from x by in.ours.example" DATE("30") "Received: (qmail 1 invoked)" DATE("20") "Received: from spam by mx.PARTNER.example" DATE(
                        "20") "Received: from forged by notours.example" DATE("10") "Received: "
                                                                                    "from forged "
                                                                                    "by "
                                                                                    "in.ours."
                                                                                    "example" DATE("00"),
                NULL
        };
        MailCounts counts;
        g_autofree char *found = import(files, &options, &counts);

        g_assert_cmpstr(found, ==,
                        "20 spam>mx.partner.example path=1\n"
                        "30 mx.partner.example>in.ours.example path=1.1\n");
        g_assert_cmpuint(counts.untrusted, ==, 2);
}

/* Four hosts send each other mails, which take a quarter of a second or more. b is 7 s ahead and d
 * is an hour late. c holds mails to a for 20 s and more. */
static MailTransit *made_transits(gsize n, gint64 b, gint64 d)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(7);
        MailTransit *transits = g_new(MailTransit, n);

        for (gsize i = 0; i < n; i++) {
                NodeId from = (NodeId)(i % 4), to = (NodeId)((i + 1 + i / 4 % 3) % 4);
                const gint64 ahead[] = { 0, b, 0, d };
                double sent = g_rand_double_range(rand, 0, 1e6);
                double taken =
                        sent + 0.25 + 5 * g_rand_double(rand) + (from == 2 && to == 0 ? 20 : 0);

                transits[i] =
                        (MailTransit){ from, to,
                                       ((gint64)taken - (gint64)sent + ahead[to] - ahead[from]) *
                                               1000000000 };
        }
        return transits;
}

static void test_clocks(void)
{
        const gsize n = 1200;
        g_autofree MailTransit *agree = made_transits(n, 0, 0);
        g_autofree MailTransit *differ = made_transits(n, 7, -3600);
        g_autofree gint64 *none = mail_clocks_find(agree, n, 5);
        g_autofree gint64 *ahead = mail_clocks_find(differ, n, 5);
        const gint64 expected[] = { 0, 7, 0, -3600, 0 };

        g_assert_null(none);
        g_assert_nonnull(ahead);
        for (guint i = 0; i < 5; i++) {
                g_assert_cmpint(ahead[i], >=, (expected[i] - 1) * 1000000000);
                g_assert_cmpint(ahead[i], <=, (expected[i] + 1) * 1000000000);
        }
        g_assert_null(mail_clocks_find(NULL, 0, 0));
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/mail/way", test_way);
        g_test_add_func("/mail/mbox", test_mbox);
        g_test_add_func("/mail/copies", test_copies);
        g_test_add_func("/mail/counts", test_counts);
        g_test_add_func("/mail/trust", test_trust);
        g_test_add_func("/mail/clocks", test_clocks);
        status = g_test_run();
        scratch_remove();
        return status;
}
