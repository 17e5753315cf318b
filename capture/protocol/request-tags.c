/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/request-tags.h"

#include <string.h>

#include "base/error.h"
#include "capture/packet/minute-keys.h"
#include "capture/protocol/json-text.h"
#include "tracefmt/node-table.h"

enum { MOST_SEGMENT = 99 };

typedef enum { TAG_QUERY, TAG_HEADER, TAG_PATH, TAG_COOKIE, TAG_JSON, N_TAG_KINDS } TagKind;

typedef struct {
        char *name, *arg;
        TagKind kind;
        guint segment; /* of TAG_PATH, from 1 */
} TagRule;

struct TagRules {
        MinuteKeys *keys; /* NULL: values stay as they are */
        guint n;
        TagRule rule[MOST_TAGS];
};

struct RequestTags {
        guint8 length[MOST_TAGS]; /* by rule; 0: no value */
        char value[MOST_TAGS][MOST_TAG_VALUE];
};

/* --- rules ----------------------------------------------------------------- */

static gboolean is_tag_name(const char *name, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if (!g_ascii_isalnum(name[i]) && !strchr("_-.", name[i]))
                        return FALSE;
        return n > 0 && n <= MOST_TAG_NAME;
}

static gboolean tag_rule_parse(TagRule *r, const char *text)
{
        static const char *const kinds[N_TAG_KINDS] = { "query:", "header:", "path:", "cookie:",
                                                        "json:" };
        const char *equals = strchr(text, '=');
        guint64 segment;

        if (!equals || !is_tag_name(text, (gsize)(equals - text)))
                return FALSE;
        while (r->kind < N_TAG_KINDS && !g_str_has_prefix(equals + 1, kinds[r->kind]))
                r->kind++;
        if (r->kind == N_TAG_KINDS)
                return FALSE;
        r->arg = g_strdup(equals + 1 + strlen(kinds[r->kind]));
        r->name = g_strndup(text, (gsize)(equals - text));
        if (r->kind != TAG_PATH)
                return *r->arg != 0;
        if (!g_ascii_string_to_unsigned(r->arg, 10, 1, MOST_SEGMENT, &segment, NULL))
                return FALSE;
        r->segment = (guint)segment;
        return TRUE;
}

static gboolean tag_name_is_new(const TagRules *t)
{
        for (guint i = 0; i + 1 < t->n; i++)
                if (strcmp(t->rule[i].name, t->rule[t->n - 1].name) == 0)
                        return FALSE;
        return TRUE;
}

TagRules *tag_rules_new(char *const *rules, gboolean hash, const guint8 *secret, gsize n,
                        GError **error)
{
        g_autoptr(TagRules) t = g_new0(TagRules, 1);

        for (; *rules; rules++) {
                if (t->n == MOST_TAGS) {
                        ravel_fail(error, RAVEL_ERROR_USAGE, "--tag: expected %d of them at most",
                                   MOST_TAGS);
                        return NULL;
                }
                if (!tag_rule_parse(&t->rule[t->n++], *rules)) {
                        ravel_fail(error, RAVEL_ERROR_USAGE,
                                   "--tag %s: expected NAME=KIND:ARG: query:NAME, header:NAME, "
                                   "path:NUMBER, cookie:NAME or json:KEY.KEY",
                                   *rules);
                        return NULL;
                }
                if (!tag_name_is_new(t)) {
                        ravel_fail(error, RAVEL_ERROR_USAGE, "--tag %s: its name is given twice",
                                   *rules);
                        return NULL;
                }
        }
        t->keys = hash ? minute_keys_new(secret, n) : NULL;
        return g_steal_pointer(&t);
}

void tag_rules_free(TagRules *t)
{
        if (!t)
                return;
        for (guint i = 0; i < t->n; i++) {
                g_free(t->rule[i].name);
                g_free(t->rule[i].arg);
        }
        if (t->keys)
                minute_keys_free(t->keys);
        g_free(t);
}

gboolean tag_rules_want_json(const TagRules *t)
{
        for (guint i = 0; i < t->n; i++)
                if (t->rule[i].kind == TAG_JSON)
                        return TRUE;
        return FALSE;
}

/* --- values ---------------------------------------------------------------- */

static gboolean tag_is_known(const RequestTags *tags, guint rule)
{
        return tags && tags->length[rule] > 0;
}

/* The beginning of text that is UTF-8; nothing where there is none. */
static void tag_set(const TagRules *t, RequestTags **tags, guint rule, const char *text, gsize n)
{
        const char *end;
        char hash[9];

        g_utf8_validate_len(text, MIN(n, MOST_TAG_VALUE), &end);
        if (end == text || tag_is_known(*tags, rule))
                return;
        if (t->keys) {
                g_snprintf(hash, sizeof hash, "%08x", minute_keys_hash(t->keys, 0, text, n));
                text = hash;
                end = hash + 8;
        }
        if (!*tags)
                *tags = g_new0(RequestTags, 1);
        (*tags)->length[rule] = (guint8)(end - text);
        memcpy((*tags)->value[rule], text, (gsize)(end - text));
}

/* Of a URL: %XX is a byte, and of a query + a blank. A long text is cut. */
static void tag_set_decoded(const TagRules *t, RequestTags **tags, guint rule, Cursor c,
                            gboolean query)
{
        g_autoptr(GString) text = g_string_sized_new(MOST_TAG_VALUE);

        for (; c.at < c.end; c.at++) {
                int high =
                        *c.at == '%' && c.end - c.at > 2 ? g_ascii_xdigit_value((char)c.at[1]) : -1;
                int low = high >= 0 ? g_ascii_xdigit_value((char)c.at[2]) : -1;

                g_string_append_c(text, low >= 0                ? (char)(high << 4 | low)
                                        : query && *c.at == '+' ? ' '
                                                                : (char)*c.at);
                c.at += low >= 0 ? 2 : 0;
        }
        tag_set(t, tags, rule, text->str, text->len);
}

static Cursor cursor_strip(Cursor c)
{
        while (c.at < c.end && (*c.at == ' ' || *c.at == '\t'))
                c.at++;
        while (c.at < c.end && (c.end[-1] == ' ' || c.end[-1] == '\t' || c.end[-1] == '\r'))
                c.end--;
        return c;
}

/* Takes from c what is before the next separator, and passes over that. FALSE: c is empty. */
static gboolean cursor_split(Cursor *c, char separator, Cursor *part)
{
        const guint8 *end;

        if (cursor_left(c) == 0)
                return FALSE;
        end = memchr(c->at, separator, cursor_left(c));
        *part = cursor(c->at, end ? (gsize)(end - c->at) : cursor_left(c));
        c->at = end ? end + 1 : c->end;
        return TRUE;
}

static gboolean cursor_is(Cursor c, const char *text, gsize n)
{
        return cursor_left(&c) == n && memcmp(c.at, text, n) == 0;
}

/* The value of name in pairs "name=value", as of a query and of cookies. */
static gboolean pair_find(Cursor pairs, char separator, const char *name, Cursor *value)
{
        Cursor key;

        while (cursor_split(&pairs, separator, value)) {
                *value = cursor_strip(*value);
                if (cursor_split(value, '=', &key) && cursor_is(key, name, strlen(name)))
                        return TRUE;
        }
        return FALSE;
}

static gboolean segment_find(Cursor path, guint segment, Cursor *value)
{
        while (cursor_split(&path, '/', value))
                if (cursor_left(value) > 0 && --segment == 0)
                        return TRUE;
        return FALSE;
}

/* A proxy is asked for "http://host/path". */
static Cursor target_path(Cursor target)
{
        static const char scheme[] = "://";
        const guint8 *host = memmem(target.at, cursor_left(&target), scheme, sizeof scheme - 1);
        const guint8 *path;

        if (*target.at == '/' || !host)
                return target;
        host += sizeof scheme - 1;
        path = memchr(host, '/', (gsize)(target.end - host));
        target.at = path ? path : target.end;
        return target;
}

void tag_rules_take_target(const TagRules *t, RequestTags **tags, Cursor target)
{
        Cursor path, query, value, rest = target;

        if (!cursor_split(&rest, '#', &query) || !cursor_split(&query, '?', &path))
                return;
        path = cursor_left(&path) > 0 ? target_path(path) : path;
        for (guint i = 0; i < t->n; i++) {
                const TagRule *r = &t->rule[i];

                if (r->kind == TAG_QUERY
                            ? pair_find(query, '&', r->arg, &value)
                            : r->kind == TAG_PATH && segment_find(path, r->segment, &value))
                        tag_set_decoded(t, tags, i, value, r->kind == TAG_QUERY);
        }
}

void tag_rules_take_header(const TagRules *t, RequestTags **tags, Cursor name, Cursor value)
{
        gboolean cookie = cursor_left(&name) == 6 &&
                          g_ascii_strncasecmp((const char *)name.at, "cookie", 6) == 0;

        for (guint i = 0; i < t->n; i++) {
                const TagRule *r = &t->rule[i];
                Cursor found = cursor_strip(value);
                gboolean is_it =
                        r->kind == TAG_HEADER
                                ? cursor_left(&name) == strlen(r->arg) &&
                                          g_ascii_strncasecmp((const char *)name.at, r->arg,
                                                              cursor_left(&name)) == 0
                                : cookie && r->kind == TAG_COOKIE &&
                                          pair_find(value, ';', r->arg, &found);

                if (is_it)
                        tag_set(t, tags, i, (const char *)found.at, cursor_left(&found));
        }
}

/* Goes from an object to the value of a member. */
static gboolean json_member_find(Cursor *c, const char *key, gsize n)
{
        Cursor name;

        if (json_peek(c) != '{')
                return FALSE;
        do {
                cursor_skip(c, 1);
                if (!json_string_read(c, &name) || json_peek(c) != ':' || !cursor_skip(c, 1))
                        return FALSE;
                if (cursor_is(name, key, n))
                        return TRUE;
        } while (json_skip_value(c) && json_peek(c) == ',');
        return FALSE;
}

/* The member that keys, joined by points, lead to: a string, or the word up to its end. */
static gboolean json_scalar_find(Cursor c, const char *keys, Cursor *value)
{
        const char *end;

        do {
                end = strchrnul(keys, '.');
                if (!json_member_find(&c, keys, (gsize)(end - keys)))
                        return FALSE;
                keys = end + 1;
        } while (*end);
        if (json_peek(&c) == '"')
                return json_string_read(&c, value);
        *value = cursor(c.at, 0);
        while (c.at < c.end && (g_ascii_isalnum(*c.at) || (*c.at && strchr("+-.", *c.at))))
                c.at++;
        value->end = c.at;
        return c.at < c.end; /* else it may go on */
}

void tag_rules_take_json(const TagRules *t, RequestTags **tags, Cursor body)
{
        Cursor value;

        for (guint i = 0; i < t->n; i++)
                if (t->rule[i].kind == TAG_JSON && json_scalar_find(body, t->rule[i].arg, &value))
                        tag_set(t, tags, i, (const char *)value.at, cursor_left(&value));
}

void request_tags_join(RequestTags **tags, RequestTags *more)
{
        if (!more)
                return;
        if (!*tags) {
                *tags = more;
                return;
        }
        for (guint i = 0; i < MOST_TAGS; i++) {
                if (tag_is_known(*tags, i))
                        continue;
                (*tags)->length[i] = more->length[i];
                memcpy((*tags)->value[i], more->value[i], more->length[i]);
        }
        g_free(more);
}

void tag_rules_append(const TagRules *t, GString *out, const RequestTags *tags)
{
        g_autoptr(GString) value = g_string_new(NULL);
        const char *before = "";

        for (guint i = 0; i < t->n; i++) {
                if (!tag_is_known(tags, i))
                        continue;
                g_string_truncate(value, 0);
                node_table_escape(value, tags->value[i], tags->length[i], FALSE);
                g_string_replace(value, ",", "%2C", 0);
                g_string_append_printf(out, "%s%s:%s", before, t->rule[i].name, value->str);
                before = ",";
        }
}
