/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outcome.h"

#include <string.h>

static Outcome read_text(const char *text)
{
        return outcome_read(text, strlen(text));
}

static void expect(Outcome outcome, const char *expected, OutcomeClass class)
{
        char text[OUTCOME_TEXT + 1];

        g_assert_cmpuint(outcome_write(outcome, text), ==, strlen(expected));
        g_assert_cmpstr(text, ==, expected);
        g_assert_cmpint(outcome_class(outcome), ==, class);
        g_assert_true(read_text(text) == outcome);
}

/* What each protocol says, as text and class; and the same again from the text. */
static void test_texts(void)
{
        expect(OUTCOME_OK, "", CLASS_OK);
        expect(outcome_http(200), "", CLASS_OK);
        expect(outcome_http(304), "", CLASS_OK);
        expect(outcome_http(404), "404", CLASS_CLIENT);
        expect(outcome_http(429), "429", CLASS_REFUSED);
        expect(outcome_http(503), "503", CLASS_SERVER);
        expect(outcome_http(999), "999", CLASS_SERVER);
        expect(outcome_grpc(0), "", CLASS_OK);
        expect(outcome_grpc(9), "FAILED_PRECONDITION", CLASS_CLIENT);
        expect(outcome_grpc(14), "UNAVAILABLE", CLASS_SERVER);
        expect(outcome_grpc(17), "UNKNOWN", CLASS_SERVER);
        expect(outcome_dns(3), "NXDOMAIN", CLASS_CLIENT);
        expect(outcome_dns(5), "REFUSED", CLASS_REFUSED);
        expect(outcome_http2(7), "REFUSED_STREAM", CLASS_REFUSED);
        expect(outcome_fastcgi(2), "OVERLOADED", CLASS_REFUSED);
        expect(outcome_mysql(1062), "1062", CLASS_CLIENT);
        expect(outcome_mysql(1040), "1040", CLASS_REFUSED);
        expect(outcome_mysql(1213), "1213", CLASS_SERVER);
        expect(outcome_mysql(65535), "HY000", CLASS_SERVER);
        expect(outcome_sqlstate((const guint8 *)"00000"), "", CLASS_OK);
        expect(outcome_sqlstate((const guint8 *)"0A000"), "0A000", CLASS_CLIENT);
        expect(outcome_sqlstate((const guint8 *)"23505"), "23505", CLASS_CLIENT);
        expect(outcome_sqlstate((const guint8 *)"57014"), "57014", CLASS_SERVER);
        expect(outcome_sqlstate((const guint8 *)"53300"), "53300", CLASS_REFUSED);
        expect(outcome_sqlstate((const guint8 *)"AB'CD"), "", CLASS_OK);
        expect(outcome_number(NUMBERS_SMTP, 451), "SMTP451", CLASS_SERVER);
        expect(outcome_number(NUMBERS_SMTP, 550), "SMTP550", CLASS_REFUSED);
        expect(outcome_number(NUMBERS_LDAP, 32), "LDAP32", CLASS_CLIENT);
        expect(outcome_number(NUMBERS_LDAP, 6), "LDAP6", CLASS_OK);
        expect(outcome_number(NUMBERS_MQTT, 151), "MQTT151", CLASS_REFUSED);
        expect(outcome_number(NUMBERS_AMQP, 541), "AMQP541", CLASS_SERVER);
        expect(outcome_number(NUMBERS_NATS, 503), "NATS503", CLASS_SERVER);
        expect(outcome_number(NUMBERS_KAFKA, 3), "KAFKA3", CLASS_CLIENT);
        expect(outcome_number(NUMBERS_KAFKA, 6), "KAFKA6", CLASS_REFUSED);
        expect(outcome_number(NUMBERS_KAFKA, 7), "KAFKA7", CLASS_SERVER);
        expect(outcome_number(NUMBERS_KAFKA, 27), "KAFKA27", CLASS_OK);
        expect(outcome_number(NUMBERS_MONGODB, 11000), "MONGO11000", CLASS_CLIENT);
        expect(outcome_number(NUMBERS_MONGODB, 10107), "MONGO10107", CLASS_REFUSED);
        expect(outcome_number(NUMBERS_MONGODB, 50), "MONGO50", CLASS_SERVER);
        expect(outcome_number(NUMBERS_MSSQL, 1205), "MSSQL1205", CLASS_SERVER);
        expect(outcome_number(NUMBERS_MSSQL, 40501), "MSSQL40501", CLASS_REFUSED);
        expect(outcome_number(NUMBERS_MSSQL, 2627), "MSSQL2627", CLASS_CLIENT);
        expect(outcome_number(NUMBERS_MSSQL, 10000000), "", CLASS_OK);
        expect(outcome_named("READ_TIMEOUT"), "READ_TIMEOUT", CLASS_SERVER);
        expect(outcome_named("UNPREPARED"), "UNPREPARED", CLASS_OK);
        expect(outcome_named("NACK"), "NACK", CLASS_REFUSED);
        expect(outcome_named("NO_ANSWER"), "NO_ANSWER", CLASS_NONE);
}

static Outcome word(const char *text)
{
        return outcome_word((const guint8 *)text, strlen(text), outcome_named("ERR"));
}

static void test_words(void)
{
        expect(word("LOADING Redis is loading the dataset in memory"), "LOADING", CLASS_REFUSED);
        expect(word("WRONGTYPE"), "WRONGTYPE", CLASS_CLIENT);
        expect(word("MOVED 3999 127.0.0.1:6381"), "MOVED", CLASS_OK);
        expect(word("CLUSTERDOWN Hash slot not served"), "CLUSTERDOWN", CLASS_SERVER);
        expect(word("NOMASTERLINK x"), "NOMASTERLINK", CLASS_SERVER);
        expect(word("THIRTEENCHARS x"), "ERR", CLASS_CLIENT);
        expect(word("secret=1"), "ERR", CLASS_CLIENT);
        expect(word("PASS42 x"), "ERR", CLASS_CLIENT);
        expect(word(""), "ERR", CLASS_CLIENT);
}

/* What a hostile trace may say is no outcome. */
static void test_refused(void)
{
        static const char *const texts[] = {
                "",      "1",     "200",       "12",       "0404",          "123456",
                "smtp",  "SMTP0", "SMTP05",    "SMTP1000", "LDAPx",         "404 ",
                "a",     "ok",    "<B>",       "A",        "THIRTEENCHARS", "99999999",
                "23-05", "00000", "NO ANSWER", "404\n"
        };

        for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
                g_assert_cmpuint(read_text(texts[i]), ==, OUTCOME_OK);
        g_assert_cmpuint(outcome_read("A\0B", 3), ==, OUTCOME_OK);
}

/* What is read is written as it was, whatever it is. */
static void test_round_trip(void)
{
        static const char letters[] = "0123456789ABCDEFGHILMNOPRSTUXYZ_";
        g_autoptr(GRand) random = g_rand_new_with_seed(7);

        for (guint i = 0; i < 200000; i++) {
                char text[16], again[OUTCOME_TEXT + 1];
                gsize n = (gsize)g_rand_int_range(random, 1, 9);
                Outcome outcome;

                for (gsize k = 0; k < n; k++)
                        text[k] = letters[g_rand_int_range(random, 0, sizeof letters - 1)];
                outcome = outcome_read(text, n);
                if (outcome == OUTCOME_OK)
                        continue;
                g_assert_cmpuint(outcome_write(outcome, again), ==, n);
                g_assert_cmpmem(again, n, text, n);
                g_assert_cmpint(outcome_class(outcome), <, N_OUTCOME_CLASSES);
        }
}

static void test_status(void)
{
        guint number;

        g_assert_cmpint(outcome_status(outcome_http(503), &number), ==, STATUS_HTTP);
        g_assert_cmpuint(number, ==, 503);
        g_assert_cmpint(outcome_status(outcome_grpc(14), &number), ==, STATUS_GRPC);
        g_assert_cmpuint(number, ==, 14);
        g_assert_cmpint(outcome_status(outcome_mysql(1062), &number), ==, STATUS_DB);
        g_assert_cmpint(outcome_status(outcome_dns(3), &number), ==, STATUS_RESPONSE);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/outcome/texts", test_texts);
        g_test_add_func("/outcome/words", test_words);
        g_test_add_func("/outcome/refused", test_refused);
        g_test_add_func("/outcome/round-trip", test_round_trip);
        g_test_add_func("/outcome/status", test_status);
        return g_test_run();
}
