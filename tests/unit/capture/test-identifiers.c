/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which words of a text are identifiers, and that hashes tell equal ones and nothing else; how a
 * trace has them, and how a reader numbers them.
 */
#include "calls/call-identifiers.h"
#include "capture/packet/identifiers.h"

#include <string.h>

#define MINUTE (60 * G_GINT64_CONSTANT(1000000000))

static const guint8 secret[LEAST_SECRET] = "sixteen bytes...";

static RequestIdentifiers *find(Identifiers *i, gint64 start, const char *text)
{
        RequestIdentifiers *r = NULL;

        identifiers_add(i, &r, start, text, strlen(text), TRUE);
        return r;
}

static Identifiers *with_secret(const char *ignore)
{
        return identifiers_new(secret, sizeof secret, ignore, NULL);
}

/* The text has these, divided by blanks. */
static void check(const char *ignore, const char *text, const char *expected)
{
        Identifiers *i = with_secret(ignore);
        g_auto(GStrv) words = g_strsplit(expected, " ", -1);
        g_autofree RequestIdentifiers *r = find(i, 0, text);
        guint n = *expected ? g_strv_length(words) : 0;

        g_assert_cmpuint(r ? r->n : 0, ==, n);
        for (guint k = 0; k < n; k++) {
                g_autofree RequestIdentifiers *one = find(i, 0, words[k]);

                g_assert_cmpuint(one->n, ==, 1);
                g_assert_cmphex(r->now[k], ==, one->now[0]);
        }
        identifiers_free(i);
}

static void test_words(void)
{
        check(NULL, "", "");
        check(NULL, "GET /item/4711?page=3", "4711");
        check(NULL, "GET /a/7 b2 word longer-word", "");
        check(NULL, "sess:8f3a9c0d11 id17 17px a17b a1b22", "8f3a9c0d11 17");
        check(NULL, "12 12 13", "12 13");
        check(NULL, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
              "00 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 01");
        check(NULL,
              "\xc3\xa4"
              "42 \x01"
              "43",
              "42 43");
}

static void test_ignored(void)
{
        check("^X-[A-Za-z-]+:.*", "X-Request-Id: 123456\r\nCookie: 42\nX-A: 77", "42");
        check("@[0-9.]+@", "SELECT 12 /* @34.56@ */", "12");
        check("x*", "12", "12");
        check(".*", "12 34", "");
        /* A pattern that takes too long finds nothing in the text. */
        check("(a+)+$", "12 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
              "");
        g_assert_null(identifiers_new(NULL, 0, "(", NULL));
}

static void test_ends(void)
{
        Identifiers *i = with_secret(NULL);
        RequestIdentifiers *r = NULL;
        GString *text = g_string_new(NULL);

        identifiers_add(i, &r, 0, "12 345", 6, FALSE); /* 345 may go on */
        g_assert_cmpuint(r->n, ==, 1);
        for (guint k = 100; k < 200; k++)
                g_string_append_printf(text, "%u ", k);
        identifiers_add(i, &r, 0, text->str, text->len, TRUE);
        g_assert_cmpuint(r->n, ==, MOST_HASHES);
        g_assert_cmpuint(request_identifiers_n_before(r), ==, 0);
        g_free(r);
        r = NULL;
        g_string_truncate(text, 0);
        for (guint k = 0; k < 200; k++)
                g_string_append_c(text, '7');
        identifiers_add(i, &r, 0, text->str, text->len, TRUE);
        g_assert_null(r);
        g_string_free(text, TRUE);
        identifiers_free(i);
}

/* What one minute has as its own hash the next has as the one before; others differ. Only who has
 * the secret finds the same. */
static void test_minutes(void)
{
        Identifiers *i = with_secret(NULL), *other = with_secret(NULL);
        Identifiers *alone = identifiers_new(NULL, 0, NULL, NULL);
        guint32 last = 0;

        for (gint64 minute = 0; minute < 10; minute++) {
                g_autofree RequestIdentifiers *a = find(i, minute * MINUTE, "4711");
                g_autofree RequestIdentifiers *b =
                        find(other, minute * MINUTE + MINUTE - 1, "4711");
                g_autofree RequestIdentifiers *c = find(alone, minute * MINUTE, "4711");
                g_autofree RequestIdentifiers *d = find(alone, minute * MINUTE, "4711");

                g_assert_cmphex(a->now[0], ==, b->now[0]);
                g_assert_cmphex(a->before[0], ==, b->before[0]);
                g_assert_cmphex(a->now[0], !=, a->before[0]);
                g_assert_cmphex(a->now[0], !=, c->now[0]);
                g_assert_cmphex(c->now[0], ==, d->now[0]);
                if (minute > 0)
                        g_assert_cmphex(a->before[0], ==, last);
                last = a->now[0];
        }
        identifiers_free(i);
        identifiers_free(other);
        identifiers_free(alone);
}

/* --- read again -------------------------------------------------------------- */

static void add(CallIdentifiers *c, guint32 call, gint64 time, const char *attributes)
{
        Message m = { .op = CALL_SENT,
                      .time = time,
                      .attrs = attributes,
                      .attrs_length = strlen(attributes) };
        Attributes space;

        call_identifiers_add(c, call, time, attributes_of(&m, &space)->ids);
}

static guint32 shared(const CallIdentifiers *c, guint32 a, guint32 b)
{
        const guint32 *lists = call_identifiers_lists(c);

        return call_identifiers_shared(lists + call_identifiers_get(c, a),
                                       lists + call_identifiers_get(c, b));
}

static void test_written_and_read(void)
{
        Identifiers *i = with_secret(NULL);
        CallIdentifiers c = { 0 };

        for (guint32 k = 0; k < 8; k++) {
                gint64 time = k * 20 * G_GINT64_CONSTANT(1000000000);
                g_autofree RequestIdentifiers *r =
                        find(i, time, k % 2 ? "4711 99 session17" : "4711 other1234");
                g_autoptr(GString) text = g_string_new("dur=1 ids=");

                identifiers_append(text, r);
                add(&c, k, time, text->str);
        }
        for (guint32 k = 1; k < 8; k++) {
                g_assert_cmpuint(shared(&c, 0, k), ==, k % 2 ? 1 : 2);
                g_assert_cmpuint(shared(&c, k - 1, k), ==, 1);
        }
        call_column_move(&c.column, 1, 5, 3);
        g_assert_cmpuint(shared(&c, 1, 3), ==, 3);
        call_column_drop(&c.column, 1);
        call_identifiers_close_up(&c);
        g_assert_cmpuint(shared(&c, 0, 2), ==, 3);
        g_assert_cmpuint(shared(&c, 0, 1), ==, 1);
        call_identifiers_clear(&c);
        identifiers_free(i);
}

static void test_strange(void)
{
        CallIdentifiers c = { 0 };

        add(&c, 0, 0, "ids=");
        add(&c, 1, 0, "ids=zz");
        add(&c, 2, 0, "ids=1,2,x,3");
        add(&c, 3, 0, "ids=1,2.,3");
        add(&c, 4, 0, "ids=123456789,1");
        add(&c, 5, 0, "ids=1,1.2,2.1");
        add(&c, 6, -5, "ids=1");
        add(&c, 7, 0, "ids=2.1");
        g_assert_cmpuint(call_identifiers_get(&c, 0), ==, 0);
        g_assert_cmpuint(call_identifiers_get(&c, 1), ==, 0);
        g_assert_cmpuint(shared(&c, 2, 3), ==, 1);
        g_assert_cmpuint(shared(&c, 2, 4), ==, 0);
        g_assert_cmpuint(shared(&c, 2, 5), ==, 2);
        g_assert_cmpuint(shared(&c, 5, 6), ==, 1);
        call_identifiers_clear(&c);
}

/* A call seen at both of its ends has what either says. */
static void test_both_ends(void)
{
        CallIdentifiers c = { 0 };

        add(&c, 0, 0, "ids=a");
        add(&c, 0, 0, "ids=b");
        add(&c, 1, 0, "ids=a");
        add(&c, 2, 0, "ids=b");
        g_assert_cmpuint(shared(&c, 0, 1), ==, 1);
        g_assert_cmpuint(shared(&c, 0, 2), ==, 1);
        g_assert_cmpuint(shared(&c, 1, 2), ==, 0);
        call_identifiers_clear(&c);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/identifiers/words", test_words);
        g_test_add_func("/identifiers/ignored", test_ignored);
        g_test_add_func("/identifiers/ends", test_ends);
        g_test_add_func("/identifiers/minutes", test_minutes);
        g_test_add_func("/identifiers/written-and-read", test_written_and_read);
        g_test_add_func("/identifiers/strange", test_strange);
        g_test_add_func("/identifiers/both-ends", test_both_ends);
        return g_test_run();
}
