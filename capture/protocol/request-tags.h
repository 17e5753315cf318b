/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tags: values in requests that the user asks for by name, such as the tenant in a query or the
 * plan in a cookie. A rule is a text NAME=KIND:ARG:
 *
 *     tenant=query:tenant       the parameter "tenant" in the query of the URL
 *     tenant=header:X-Tenant    a header of HTTP, in any case
 *     user=path:2               the second segment of the path
 *     plan=cookie:plan          a cookie
 *     plan=json:user.plan       a string, number or word in a body of JSON, by its keys
 *
 * A call has the first value that each rule finds, up to MOST_TAG_VALUE bytes of UTF-8.
 */
#pragma once

#include "capture/packet/packet.h"

enum { MOST_TAGS = 8, MOST_TAG_NAME = 32, MOST_TAG_VALUE = 64 };

/* The values of a call, one for each rule. Freed with g_free(). */
typedef struct RequestTags RequestTags;

typedef struct TagRules TagRules;

/* rules: NULL-terminated texts. hash: values are replaced by a hash with one key for all, 8
 * hexadecimal digits. Its key is derived from the n bytes of secret; random where that is NULL.
 * NULL and error set where a text is no rule, or there are more than MOST_TAGS. */
TagRules *tag_rules_new(char *const *rules, gboolean hash, const guint8 *secret, gsize n,
                        GError **error);
void tag_rules_free(TagRules *rules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TagRules, tag_rules_free)

/* Whether a rule is about bodies of JSON. */
gboolean tag_rules_want_json(const TagRules *rules);

/* Each of these adds what its part of a request says to *tags, which is made where it is NULL and
 * there is anything: the target of HTTP ("/cart?tenant=acme"); a header; the first bytes of a body
 * of JSON. */
void tag_rules_take_target(const TagRules *rules, RequestTags **tags, Cursor target);
void tag_rules_take_header(const TagRules *rules, RequestTags **tags, Cursor name, Cursor value);
void tag_rules_take_json(const TagRules *rules, RequestTags **tags, Cursor body);

/* Adds the values of more that tags has none of. Frees more, which may be NULL. */
void request_tags_join(RequestTags **tags, RequestTags *more);

/* As a trace has them: "tenant:acme,plan:gold", escaped. */
void tag_rules_append(const TagRules *rules, GString *out, const RequestTags *tags);
