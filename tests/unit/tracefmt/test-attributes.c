/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/attributes.h"

#include <string.h>

#include "tests/unit/message-attribute.h"

static Attributes parse(const char *text)
{
        Attributes a;

        attributes_parse(&a, text, strlen(text));
        return a;
}

static void expect_text(AttributeText found, const char *value)
{
        g_assert_cmpmem(found.at, found.length, value, strlen(value));
        g_assert_nonnull(found.at);
}

static void test_kinds(void)
{
        Attributes a =
                parse("label=GET%20/ link=1a relay=2b\tfetch=wait  ids=f.e path=17.1 bytes=10 "
                      "end=reset conn=2 txn=1 syn=30 stall=40 resent=999999999999999999");

        expect_text(a.label, "GET%20/");
        expect_text(a.link, "1a");
        expect_text(a.relay, "2b");
        expect_text(a.fetch, "wait");
        expect_text(a.ids, "f.e");
        expect_text(a.path, "17.1");
        expect_text(a.end, "reset");
        g_assert_cmpint(a.bytes, ==, 10);
        g_assert_cmpint(a.conn, ==, 2);
        g_assert_cmpint(a.txn, ==, 1);
        g_assert_cmpint(a.syn, ==, 30);
        g_assert_cmpint(a.stall, ==, 40);
        g_assert_cmpint(a.resent, ==, 999999999999999999);
}

static void test_strange(void)
{
        Attributes a =
                parse("=1 label labels=x xlabel=x LABEL=x link= bytes=x bytes=-1 conn=1a "
                      "syn=1000000000000000000 stall= path=a=b fetch=1 fetch=2 txn=3 txn=4 i");

        g_assert_null(a.label.at);
        expect_text(a.link, "");
        expect_text(a.path, "a=b");
        expect_text(a.fetch, "1");
        g_assert_cmpint(a.txn, ==, 3);
        g_assert_cmpint(a.bytes, ==, 0);
        g_assert_cmpint(a.conn, ==, 0);
        g_assert_cmpint(a.syn, ==, 0);
        g_assert_cmpint(a.stall, ==, 0);
}

/* message_attribute() finds the same texts among random words. */
static void test_random(void)
{
        static const char *const keys[] = { "label", "link", "relay", "fetch", "ids",
                                            "path",  "lin",  "",      "paths" };
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);

        for (guint round = 0; round < 1000; round++) {
                g_autoptr(GString) text = g_string_new(NULL);
                Message m = { .op = CALL_SENT };
                Attributes space;
                const Attributes *a;

                for (gint i = g_rand_int_range(rand, 0, 8); i > 0; i--)
                        g_string_append_printf(text, "%s%s%s%s", keys[g_rand_int_range(rand, 0, 9)],
                                               g_rand_int_range(rand, 0, 4) ? "=" : "",
                                               g_rand_boolean(rand) ? "a=1" : "",
                                               g_rand_boolean(rand) ? " " : "\t ");
                m.attrs = text->str;
                m.attrs_length = (guint32)text->len;
                a = attributes_of(&m, &space);
                for (guint k = 0; k < 6; k++) {
                        const AttributeText of[] = { a->label, a->link, a->relay,
                                                     a->fetch, a->ids,  a->path };
                        gsize length = 0;
                        const char *at = message_attribute(&m, keys[k], &length);

                        g_assert_true(of[k].at == at);
                        g_assert_cmpuint(of[k].length, ==, length);
                }
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/attributes/kinds", test_kinds);
        g_test_add_func("/attributes/strange", test_strange);
        g_test_add_func("/attributes/random", test_random);
        return g_test_run();
}
