/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names of operations in bodies. Of a body that is not whole there is the same name, or none.
 */
#include <string.h>

#include "capture/protocol/body-name.h"

static char *find(BodyKind kind, const char *body, gsize n, gsize first)
{
        gsize kept = 0;
        BodyName *b = body_name_new(kind, &kept);
        g_autofree guint8 *one = g_memdup2(body, first), *two = g_memdup2(body + first, n - first);
        char *name;

        body_name_add(b, one, first, FALSE);
        body_name_add(b, two, n - first, FALSE);
        name = body_name_find(b);
        body_name_drop(&b, &kept);
        return name;
}

/* expected: NULL where there is no name. */
static void check(BodyKind kind, const char *body, const char *expected)
{
        gsize n = strlen(body);

        for (gsize shown = 0; shown <= n; shown++) {
                g_autofree char *of_part = find(kind, body, shown, shown / 2);
                g_autofree char *whole = find(kind, body, n, shown);

                g_assert_cmpstr(whole, ==, expected);
                if (of_part)
                        g_assert_cmpstr(of_part, ==, expected);
        }
}

static void test_graphql(void)
{
        check(BODY_JSON, "{\"operationName\":\"getUser\",\"query\":\"query getUser{a}\"}",
              "getUser");
        check(BODY_JSON, " { \"query\" : \"query getUser($a: Int = 3) { user }\" } ", "getUser");
        check(BODY_JSON, "{\"operationName\":null,\"query\":\"query A@x{b}\"}", "A");
        check(BODY_JSON, "{\"variables\":{\"query\":[\"}\"]},\"query\":\"{ me { id } }\"}", "me");
        check(BODY_JSON, "{\"query\":\"{\\n  mine: me(a: 1) }\"}", "me");
        check(BODY_JSON, "{\"query\":\"mutation ($a: In!) @x(b: \\\")\\\") { pay(a: $a) }\"}",
              "pay");
        check(BODY_JSON, "{\"query\":\"# of\\n fragment F on U { id { a } } query Q { ...F }\"}",
              "Q");
        check(BODY_JSON, "[{\"query\":\"query A { b }\"},{\"query\":\"query C { d }\"}]", "A");
        check(BODY_GRAPHQL, "subscription Prices { p }", "Prices");
        check(BODY_JSON, "{\"query\":\"{ ...F }\"}", NULL);
        check(BODY_JSON, "{\"query\":\"query for alice\"}", NULL);
        check(BODY_JSON, "{\"query\":\"alice\"}", NULL);
        check(BODY_JSON, "{\"query\":{\"match\":{\"operationName\":\"alice\"}}}", NULL);
        check(BODY_JSON, "{\"operationName\":\"alice@example.org\"}", NULL);
        check(BODY_JSON, "{\"operationName\":\"4711\"}", NULL);
        check(BODY_JSON, "\"operationName\"", NULL);
        check(BODY_JSON, "", NULL);
}

static void test_rpc(void)
{
        check(BODY_JSON, "{\"jsonrpc\":\"2.0\",\"method\":\"eth_call\",\"id\":1}", "eth_call");
        check(BODY_JSON, "[{\"method\":\"a.b\",\"params\":[[{}]],\"jsonrpc\":\"2.0\"}]", "a.b");
        check(BODY_JSON, "{\"method\":\"visa\",\"amount\":17}", NULL);
        check(BODY_XML, "<?xml version=\"1.0\"?>\n<methodCall> <methodName> a.get </methodName>",
              "a.get");
        check(BODY_XML, "<methodCall><params><methodName>alice</methodName>", NULL);
}

static void test_soap(void)
{
        check(BODY_XML,
              "<!-- <Body> --><s:Envelope xmlns:s=\"http://x/\"><s:Header><a/></s:Header>"
              "<s:Body><m:GetPrice xmlns:m=\"urn:m\"><m:item>alice</m:item>",
              "GetPrice");
        check(BODY_XML, "<Envelope><Body><!-- a --><Get/></Body></Envelope>", "Get");
        check(BODY_XML, "<Envelope><Body>alice</Body></Envelope>", NULL);
        check(BODY_XML, "<order><item>alice</item></order>", NULL);
}

static void test_bounds(void)
{
        g_autofree char *long_name = g_strnfill(65, 'a'), *blanks = g_strnfill(5000, ' ');
        g_autofree char *too_long = g_strdup_printf("{\"operationName\":\"%s\"}", long_name);
        g_autofree char *longest = g_strdup_printf("{\"operationName\":\"%s\"}", long_name + 1);
        g_autofree char *late = g_strdup_printf("{%s\"operationName\":\"a\"}", blanks);

        check(BODY_JSON, too_long, NULL);
        check(BODY_JSON, longest, long_name + 1);
        check(BODY_JSON, late, NULL);
}

static BodyKind kind_of(const char *type)
{
        return body_kind((const guint8 *)type, strlen(type));
}

static void test_kinds(void)
{
        g_assert_cmpint(kind_of("application/json"), ==, BODY_JSON);
        g_assert_cmpint(kind_of("Application/JSON; charset=utf-8"), ==, BODY_JSON);
        g_assert_cmpint(kind_of("application/graphql"), ==, BODY_GRAPHQL);
        g_assert_cmpint(kind_of("text/xml;charset=utf-8"), ==, BODY_XML);
        g_assert_cmpint(kind_of("application/jsonx"), ==, BODY_OTHER);
        g_assert_cmpint(kind_of(""), ==, BODY_OTHER);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/body-name/graphql", test_graphql);
        g_test_add_func("/body-name/rpc", test_rpc);
        g_test_add_func("/body-name/soap", test_soap);
        g_test_add_func("/body-name/bounds", test_bounds);
        g_test_add_func("/body-name/kinds", test_kinds);
        return g_test_run();
}
