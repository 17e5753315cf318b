/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A body, after a byte with its kind: a name that is found may be written. Its values, and those of
 * the same bytes as an argument. The tags in them, as a body and as a request of HTTP.
 */
#include <string.h>

#include "capture/protocol/protocol.h"
#include "capture/protocol/values.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

/* Tags of a trace are UTF-8 and one word. */
static void find_tags(const guint8 *bytes, gsize n)
{
        static char *const texts[] = { (char *)"j=json:method",
                                       (char *)"k=json:variables.id",
                                       (char *)"q=query:a",
                                       (char *)"p=path:1",
                                       (char *)"h=header:host",
                                       (char *)"c=cookie:a",
                                       NULL };
        g_autoptr(TagRules) rules = tag_rules_new(texts, FALSE, NULL, 0, NULL);
        g_autoptr(GString) out = g_string_new(NULL);
        RequestTags *tags = NULL;

        tag_rules_take_json(rules, &tags, cursor(bytes, n));
        protocol_http.tags(rules, &tags, bytes, n);
        tag_rules_take_target(rules, &tags, cursor(bytes, n));
        if (tags)
                tag_rules_append(rules, out, tags);
        g_assert_true(g_utf8_validate(out->str, (gssize)out->len, NULL));
        g_assert_null(strpbrk(out->str, " \t\n"));
        g_free(tags);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        gsize kept = 0;
        BodyName *b;
        g_autofree char *name = NULL;
        g_autoptr(GString) values = g_string_new(NULL);

        if (n == 0)
                return 0;
        b = body_name_new(data[0] % (BODY_PROTOBUF + 1), &kept);
        body_name_add(b, data + 1, n - 1, FALSE);
        name = body_name_find(b);
        g_assert(!name || is_operation_name((const guint8 *)name, strlen(name)));
        values_append_body(values, data[0] % (BODY_PROTOBUF + 1), data + 1, n - 1, data[0] < 128);
        values_append_argument(values, data + 1, n - 1);
        find_tags(data + 1, n - 1);
        body_name_drop(&b, &kept);
        return 0;
}
