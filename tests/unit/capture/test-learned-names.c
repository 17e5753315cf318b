/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names in DNS answers, ClientHellos and requests, whole, cut at every byte, and such as
 * are none.
 */
#include "capture/learned-names.h"

#include <string.h>

#define BYTES(text) (const guint8 *)(text), sizeof(text) - 1

static const Address receiver = { 0, G_GUINT64_CONSTANT(0xffff0a000002) };

/* www.Shop.example is a CNAME of x.shop.example, which is 10.0.0.7 and 2001:db8::7. */
static const char answer[] =
        "\x12\x34\x81\x80\0\1\0\3\0\0\0\0"
        "\3www\4Shop\7example\0\0\1\0\1"
        "\xc0\x0c\0\5\0\1\0\0\0\x3c\0\4\1x\xc0\x10"
        "\xc0\x2e\0\1\0\1\0\0\0\x3c\0\4\x0a\0\0\7"
        "\xc0\x2e\0\x1c\0\1\0\0\0\x3c\0\x10\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7";

static const char request[] = "GET / HTTP/1.1\r\nAccept: */*\r\nhOst:  shop.example:8080 \r\n\r\n";

/* A ClientHello with an extension before the one with the name. */
static GByteArray *hello(void)
{
        static const char head[] = "\x16\3\1\0\x4b\1\0\0\x47\3\3";
        static const char tail[] = "\0\0\2\x13\1\1\0"
                                   "\0\x1c"
                                   "\0\x17\0\0"
                                   "\0\0\0\x14\0\x12\0\0\x0fpay.example-x.y";
        GByteArray *bytes = g_byte_array_new();
        guint8 random[32] = { 0 };

        g_byte_array_append(bytes, BYTES(head));
        g_byte_array_append(bytes, random, sizeof random);
        g_byte_array_append(bytes, BYTES(tail));
        return bytes;
}

static void check(const LearnedNames *names, guint i, const char *address, const char *source,
                  const char *name)
{
        const LearnedName *found = learned_names_get(names, i);
        char text[ADDRESS_TEXT_SIZE];

        g_assert_nonnull(found);
        g_assert_cmpstr(address_format(found->address, text), ==, address);
        g_assert_cmpstr(found->source, ==, source);
        g_assert_cmpstr(found->name, ==, name);
}

static void test_learn(void)
{
        g_autoptr(LearnedNames) names = learned_names_new();
        GByteArray *bytes = hello();

        for (guint again = 0; again < 2; again++) {
                learned_names_add_datagram(names, BYTES(answer));
                learned_names_add_segment(names, receiver, BYTES(request));
                learned_names_add_segment(names, receiver, bytes->data, bytes->len);
        }
        check(names, 0, "10.0.0.7", "DNS", "www.shop.example");
        check(names, 1, "2001:db8::7", "DNS", "www.shop.example");
        check(names, 2, "10.0.0.2", "HTTP", "shop.example");
        check(names, 3, "10.0.0.2", "TLS", "pay.example-x.y");
        g_assert_null(learned_names_get(names, 4));
        g_byte_array_unref(bytes);
}

/* In memory of its own, so that a byte read too far is noticed. */
static void test_cut(void)
{
        GByteArray *bytes = hello();

        for (gsize n = 0; n < bytes->len; n++) {
                g_autoptr(LearnedNames) names = learned_names_new();
                g_autofree guint8 *copy = g_memdup2(bytes->data, n);

                learned_names_add_segment(names, receiver, copy, n);
                g_assert_null(learned_names_get(names, 0));
        }
        for (gsize n = 0; n < sizeof request - 3; n++) {
                g_autoptr(LearnedNames) names = learned_names_new();
                g_autofree guint8 *copy = g_memdup2(request, n);

                learned_names_add_segment(names, receiver, copy, n);
                g_assert_null(learned_names_get(names, 0));
        }
        for (gsize n = 0; n < sizeof answer - 1; n++) {
                g_autoptr(LearnedNames) names = learned_names_new();
                g_autofree guint8 *copy = g_memdup2(answer, n);

                learned_names_add_datagram(names, copy, n);
                g_assert_null(learned_names_get(names, 0));
        }
        g_byte_array_unref(bytes);
}

static void test_refuse(void)
{
        static const char *const hosts[] = { "10.0.0.1", "[::1]",   "a b.example", "\x1b[2J",
                                             "-x",       "a\"b",    "80",          "",
                                             ".x",       "a\x80.b", "x/y" };

        for (guint i = 0; i < G_N_ELEMENTS(hosts); i++) {
                g_autoptr(LearnedNames) names = learned_names_new();
                g_autofree char *text =
                        g_strdup_printf("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[i]);

                learned_names_add_segment(names, receiver, (const guint8 *)text, strlen(text));
                g_assert_null(learned_names_get(names, 0));
        }
}

static void test_bound(void)
{
        g_autoptr(LearnedNames) names = learned_names_new();

        for (guint i = 0; i < 2000; i++)
                learned_names_add_segment(names, address_v4(i), BYTES(request));
        g_assert_nonnull(learned_names_get(names, 999));
        g_assert_null(learned_names_get(names, 1000));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/learned-names/learn", test_learn);
        g_test_add_func("/learned-names/cut", test_cut);
        g_test_add_func("/learned-names/refuse", test_refuse);
        g_test_add_func("/learned-names/bound", test_bound);
        return g_test_run();
}
