/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What of an operation's name is vocabulary.
 */
#include <string.h>

#include "capture/operations.h"

static void test_words(void)
{
        static const char *const words[] = {
                "cart",
                "c",
                "GET",
                "v1",
                "v12",
                "api",
                "css",
                "Orders",
                "getUser",
                "user-list",
                "wp-login.php",
                "wp_json",
                "index.html",
                "graphql",
                "HTTPProxy",
                "favicon.ico",
                "db",
                "checkout",
                "XMLHttpRequest",
        };
        static const char *const others[] = {
                "",
                "1",
                "v1234",
                "123abc",
                "user7",
                "alice@example.org",
                "john.doe",
                "a.b.c",
                "~alice",
                "@alice",
                "deadbeef",
                "9f86d081",
                "qwhzkxpl",
                "%41lice",
                "-x-",
                "a--b",
                "9f86d081-884c-4d63-9a35-0c1f2b3a4d5e",
                "eyJhbGciOiJIUzI1NiJ9",
                "dGhpcyBpcyBub3Q",
                "one-two-three-four-five",
                "Bj\303\266rn",
                "abcdefghijklmnopqrstuvwxyz",
                "cart.tar.gz",
                "x.php5",
                "a b",
                "caf\303\251",
                "{id}",
                "..",
                ".php",
                "php.",
                "aGVsbG8",
                "QmVhcmVy",
                "token=abc",
                "0x7f",
                "1e5",
                "cart;id=1",
        };

        for (guint i = 0; i < G_N_ELEMENTS(words); i++)
                if (!operation_is_word(words[i], strlen(words[i])))
                        g_error("%s is no word", words[i]);
        for (guint i = 0; i < G_N_ELEMENTS(others); i++)
                if (operation_is_word(others[i], strlen(others[i])))
                        g_error("%s is a word", others[i]);
}

static void test_operations(void)
{
        static const char *const cases[][2] = {
                { "GET /", "GET /" },
                { "GET /cart", "GET /cart" },
                { "POST /cart/items/{id}/alice", "POST /cart" },
                { "POST /graphql getUser", "POST /graphql getUser" },
                { "POST /api/{id} shop.get", "POST /api shop.get" },
                { "POST / GetItem", "POST / GetItem" },
                { "POST /rpc user4711", "POST /rpc ..." },
                { "POST /twirp/shop.v1.Cart/AddItem", "shop.v1.Cart/AddItem" },
                { "POST /shop.v1.Cart/AddItem", "shop.v1.Cart/AddItem" },
                { "POST /shop.v1.Cart/alice", "POST /..." },
                { "POST /example.org/Alice", "POST /..." },
                { "POST /shop.Cart17345/Add", "POST /..." },
                { "POST /shop/Cart/Add", "POST /shop" },
                { "GET /shop.v1.Cart/AddItem", "GET /..." },
                { "POST /items/_search", "POST /items/_search" },
                { "PUT /items_v2/_doc/alice", "PUT /.../_doc" },
                { "POST /_bulk", "POST /_bulk" },
                { "GET /shop/_design/alice/_view/bob", "GET /shop/_view" },
                { "GET /shop/_4711/_", "GET /shop" },
                { "GET /{id}/cart", "GET /..." },
                { "GET /alice@example.org", "GET /..." },
                { "GET /login;jsessionid=1F2", "GET /login" },
                { "GET //cart", "GET /..." },
                { "OPTIONS *", "OPTIONS" },
                { "CONNECT ", "CONNECT" },
                { "ALICE /cart", "" },
                { "alice /cart", "" },
                { "shop.Cart/Add", "shop.Cart/Add" },
                { "grpc.health.v1.Health/Check", "grpc.health.v1.Health/Check" },
                { "users/4711", "" },
                { "shop.Cart/Add/alice", "" },
                { "SELECT items", "SELECT items" },
                { "SELECT public.order_items", "SELECT public.order_items" },
                { "INSERT wp_2_posts", "INSERT wp_2_posts" },
                { "SELECT tmp_8f7a6b", "SELECT ..." },
                { "SELECT orders_20261122", "SELECT ..." },
                { "SELECT alice smith", "SELECT ..." },
                { "SELECT alice@example.org", "SELECT ..." },
                { "EXECUTE", "EXECUTE" },
                { "publish orders.created", "publish orders.created" },
                { "publish sensors/kitchen", "publish ..." },
                { "deliver celery shop.tasks.send_mail", "deliver celery shop.tasks.send_mail" },
                { "deliver users/4711 shop.Pay", "deliver ... shop.Pay" },
                { "deliver q App\\Jobs\\SendMail", "deliver q App.Jobs.SendMail" },
                { "deliver Shop::SendMail", "deliver Shop.SendMail" },
                { "publish q com.shop.Order$Line", "publish q com.shop.Order.Line" },
                { "deliver q mail-4711", "deliver q ..." },
                { "LPUSH Shop::SendMail", "LPUSH Shop.SendMail" },
                { "RPUSH", "RPUSH" },
                { "deliver q a b", "deliver q ..." },
                { "create /lock", "create /lock" },
                { "create /a alice", "create /..." },
                { "create /{id}", "create /..." },
                { "HGETALL", "HGETALL" },
                { "FT.SEARCH", "FT.SEARCH" },
                { "SESSION:4711", "" },
                { "DNS AAAA", "DNS AAAA" },
                { "RPC 100003.3.1", "RPC 100003.3.1" },
                { "search", "search" },
                { "MAIL", "MAIL" },
                { "", "" },
        };

        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) out = g_string_new(NULL);

                operation_append(out, cases[i][0]);
                g_assert_cmpstr(out->str, ==, cases[i][1]);
        }
}

/* Three letters from 0: always words. */
static char *word(guint i)
{
        return g_strdup_printf("GET /%c%c%c", 'a' + i / 26 % 26, 'a' + i % 26, 'a' + i / 676);
}

static void test_edges(void)
{
        Operations *o = operations_new(1000);

        for (guint round = 0; round < 2; round++)
                for (guint i = 0; i < 300; i++) {
                        g_autofree char *label = word(i);
                        g_autofree char *written = g_strdup_printf("GET%%20%s", label + 4);

                        g_assert_cmpstr(operations_name(o, 1, 2, label), ==,
                                        i < EDGE_OPERATIONS ? written : "other");
                }
        /* Another edge has its own. */
        g_assert_cmpstr(operations_name(o, 2, 1, "GET /zzz"), ==, "GET%20/zzz");
        g_assert_null(operations_name(o, 1, 2, "?"));
        operations_free(o);
}

/* Many edges: the old ones are forgotten, the one that is used is not. */
static void test_forgotten(void)
{
        Operations *o = operations_new(100);

        for (guint round = 0; round < 1000; round++) {
                for (guint i = 0; i < EDGE_OPERATIONS / 10; i++) {
                        g_autofree char *label = word(i);
                        g_assert_cmpstr(operations_name(o, 1, 2, label), !=, "other");
                }
                operations_name(o, 3 + round, 2, "GET /abc");
        }
        g_assert_cmpuint(operations_forgotten(o), >, 1500);
        g_assert_cmpuint(operations_forgotten(o), <=, 2 * 1000);
        operations_free(o);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/operations/words", test_words);
        g_test_add_func("/operations/vocabulary", test_operations);
        g_test_add_func("/operations/edges", test_edges);
        g_test_add_func("/operations/forgotten", test_forgotten);
        return g_test_run();
}
