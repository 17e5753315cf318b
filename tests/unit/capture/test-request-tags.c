/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tags: what each kind of rule finds in requests of HTTP, whatever the segments, and what it does
 * not.
 */
#include "capture/protocol/request-tags.h"

#include "base/error.h"
#include "tests/unit/capture/scene.h"

#define TWO_NODES "10.0.0.1 a\n10.0.0.2 b\n"

static Cursor cursor_of(const char *text)
{
        return cursor((const guint8 *)text, strlen(text));
}

static TagRules *rules_of(const char *texts)
{
        g_auto(GStrv) list = g_strsplit(texts, " ", 0);
        TagRules *rules = tag_rules_new(list, FALSE, NULL, 0, NULL);

        g_assert_nonnull(rules);
        return rules;
}

typedef void (*Take)(const TagRules *rules, RequestTags **tags, Cursor text);

static void check(Take take, const char *rule, const char *text, const char *expected)
{
        g_autoptr(TagRules) rules = rules_of(rule);
        g_autoptr(GString) out = g_string_new(NULL);
        RequestTags *tags = NULL;

        take(rules, &tags, cursor_of(text));
        if (tags)
                tag_rules_append(rules, out, tags);
        g_assert_cmpstr(out->str, ==, expected);
        g_free(tags);
}

static void test_targets(void)
{
        static const char rules[] = "t=query:tenant s=path:2";

        check(tag_rules_take_target, rules, "/a/b/c?x=1&tenant=acme#tenant=no", "t:acme,s:b");
        check(tag_rules_take_target, rules, "/a?tenant=a%2Cb+c%25&tenant=d", "t:a%2Cb%20c%25");
        check(tag_rules_take_target, rules, "http://tenant/a//%62?tenants=1&tenant=", "s:b");
        check(tag_rules_take_target, rules, "/?tenant=1&s=http://h/a/b", "t:1");
        check(tag_rules_take_target, rules, "*", "");
        check(tag_rules_take_target, rules, "?", "");
        check(tag_rules_take_target, rules, "#tenant=a", "");
        check(tag_rules_take_target, rules, "?tenant=a#", "t:a");
        check(tag_rules_take_target, rules, "/x?tenant=a%ffb", "t:a");
        check(tag_rules_take_target, rules, "/x?tenant=%0a%00", "t:%0A");
        check(tag_rules_take_target, "t=query:t",
              "/?t=0123456789012345678901234567890123456789012345678901234567890123456789",
              "t:0123456789012345678901234567890123456789012345678901234567890123");
}

static void header_take(const TagRules *rules, RequestTags **tags, Cursor text)
{
        const guint8 *colon = memchr(text.at, ':', cursor_left(&text));

        tag_rules_take_header(rules, tags, cursor(text.at, (gsize)(colon - text.at)),
                              cursor(colon + 1, (gsize)(text.end - colon - 1)));
}

static void test_headers(void)
{
        static const char rules[] = "t=header:X-Tenant p=cookie:plan";

        check(header_take, rules, "x-tenant: acme corp\r", "t:acme%20corp");
        check(header_take, rules, "X-Tenants:acme", "");
        check(header_take, rules, "Cookie: id=1;plan=gold ; plan=no", "p:gold");
        check(header_take, rules, "cookie: theplan=gold", "");
        check(header_take, rules, "Set-Cookie: plan=gold", "");
        check(header_take, "c=header:cookie", "Cookie: a=b", "c:a=b");
}

static void test_json(void)
{
        static const char rules[] = "p=json:user.plan n=json:n";

        check(tag_rules_take_json, rules,
              " {\"plan\":1,\"user\":{\"x\":[{\"plan\":2}],\"plan\":\"g o\"}}", "p:g%20o");
        check(tag_rules_take_json, rules, "{\"n\" : -1.5e3 , \"user\":[]}", "n:-1.5e3");
        check(tag_rules_take_json, rules, "{\"n\":true}", "n:true");
        check(tag_rules_take_json, rules, "{\"n\":{\"n\":1}}", "");
        check(tag_rules_take_json, rules, "{\"n\":12", "");
        check(tag_rules_take_json, rules, "{\"n\":\"12", "");
        check(tag_rules_take_json, rules, "[{\"n\":1}]", "");
}

/* Values have the same hash within one set of rules and with one secret, and else another. */
static void test_hashes(void)
{
        static char *const texts[] = { (char *)"a=query:a", (char *)"b=query:b", NULL };
        static const guint8 secret[] = "sixteen bytes...";
        g_autofree char *said[3] = { NULL };

        for (guint i = 0; i < 3; i++) {
                g_autoptr(TagRules) rules =
                        tag_rules_new(texts, TRUE, i < 2 ? secret : NULL, sizeof secret, NULL);
                g_autoptr(GString) out = g_string_new(NULL);
                RequestTags *tags = NULL;

                tag_rules_take_target(rules, &tags, cursor_of("/?a=acme&b=acme"));
                tag_rules_append(rules, out, tags);
                g_free(tags);
                g_assert_cmpuint(out->len, ==, strlen("a:01234567,b:01234567"));
                g_assert_true(memcmp(out->str + 2, out->str + 13, 8) == 0);
                g_assert_null(strstr(out->str, "acme"));
                said[i] = g_strdup(out->str);
        }
        g_assert_cmpstr(said[0], ==, said[1]);
        g_assert_cmpstr(said[0], !=, said[2]);
        g_free(said[1]);
        g_free(said[2]);
}

static void test_rules(void)
{
        static const char *const wrong[] = { "tenant",      "=query:a", "t=query:",  "t=host:a",
                                             "t=path:0",    "t=path:x", "t=path:",   "t,=query:a",
                                             "a b=query:a", "t=header", "t=path:100" };
        static const char *const twice[] = { "t=query:a", "t=query:b", NULL };
        static const char *const many[] = { "a=path:1", "b=path:1", "c=path:1", "d=path:1",
                                            "e=path:1", "f=path:1", "g=path:1", "h=path:1",
                                            "i=path:1", NULL };

        for (guint i = 0; i < G_N_ELEMENTS(wrong) + 2; i++) {
                const char *one[] = { i < G_N_ELEMENTS(wrong) ? wrong[i] : NULL, NULL };
                const char *const *list = *one ? one : i == G_N_ELEMENTS(wrong) ? twice : many;
                g_autoptr(GError) error = NULL;

                g_assert_null(tag_rules_new((char *const *)list, FALSE, NULL, 0, &error));
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE);
        }
}

/* Of calls alone, in segments of any size; a body is no header. */
static void test_conversation(void)
{
        static const char request[] = "POST /a/b?t=x HTTP/1.1\r\n"
                                      "X-Tenant: acme\r\nContent-Type: application/json\r\n"
                                      "Content-Length: 16\r\n\r\n"
                                      "{\"p\":{\"q\":\"z\"}}\n";
        static const char others[] = "PUT /?u=1 HTTP/1.1\r\nContent-Length: 16\r\n\r\n"
                                     "X-Tenant: acme\r\n";

        scene_tags = rules_of("t=query:t h=header:X-Tenant q=json:p.q");
        for (gsize cut = 1; cut < sizeof request - 1; cut += 7) {
                Scene *s = scene_new(TWO_NODES, NULL, FALSE);
                char first[sizeof request];

                memcpy(first, request, cut);
                first[cut] = 0;
                say(s, CLIENT, 1, first);
                say(s, CLIENT, 1, request + cut);
                say(s, SERVER, 2, "HTTP/1.1 200 OK\r\nX-Tenant: no\r\nContent-Length: 0\r\n\r\n");
                say(s, CLIENT, 3, others);
                say(s, SERVER, 4, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                scene_end(s, "1 CALL_SENT a>b 1000.100 tags=t:x,h:acme,q:z\n"
                             "2 RET_SENT b>a 1000.100\n"
                             "3 CALL_SENT a>b 1000.16e\n"
                             "4 RET_SENT b>a 1000.16e\n");
        }
        g_clear_pointer(&scene_tags, tag_rules_free);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/request-tags/targets", test_targets);
        g_test_add_func("/request-tags/headers", test_headers);
        g_test_add_func("/request-tags/json", test_json);
        g_test_add_func("/request-tags/hashes", test_hashes);
        g_test_add_func("/request-tags/rules", test_rules);
        g_test_add_func("/request-tags/conversation", test_conversation);
        return g_test_run();
}
