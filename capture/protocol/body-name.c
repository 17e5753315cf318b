/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/body-name.h"

#include <string.h>

#include "capture/protocol/json-text.h"

enum {
        MAX_BODIES = 4096,
        MAX_LOOK = 4096, /* bytes of a body */
        MAX_NAME = 64,
};

struct BodyName {
        BodyKind kind;
        gsize n;
        gboolean ends; /* what follows is not looked at */
        guint8 bytes[MAX_LOOK];
};

static gboolean text_is(Cursor c, const char *word)
{
        return cursor_left(&c) == strlen(word) && memcmp(c.at, word, cursor_left(&c)) == 0;
}

static gboolean is_blank(guint8 c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static gboolean is_name_char(guint8 c)
{
        return g_ascii_isalnum(c) || c == '_';
}

gboolean body_may_name(BodyKind kind)
{
        return kind == BODY_JSON || kind == BODY_GRAPHQL || kind == BODY_XML;
}

gboolean is_operation_name(const guint8 *text, gsize n)
{
        if (n == 0 || n > MAX_NAME || !is_name_char(text[0]) || g_ascii_isdigit(text[0]))
                return FALSE;
        for (gsize i = 1; i < n; i++)
                if (!is_name_char(text[i]) && text[i] != '.')
                        return FALSE;
        return TRUE;
}

static char *name_copy(Cursor name)
{
        gsize n = cursor_left(&name);

        return is_operation_name(name.at, n) ? g_strndup((const char *)name.at, n) : NULL;
}

/* --- GraphQL --------------------------------------------------------------- */

/* Passes over blanks, commas and comments. The next byte; 0: there is none. */
static guint8 graphql_peek(Cursor *c)
{
        for (; c->at < c->end; c->at++) {
                if (*c->at == '#')
                        while (c->at + 1 < c->end && *c->at != '\n')
                                c->at++;
                else if (!is_blank(*c->at) && *c->at != ',')
                        return *c->at;
        }
        return 0;
}

static Cursor graphql_word(Cursor *c)
{
        Cursor word;

        graphql_peek(c);
        word = cursor(c->at, 0);
        while (c->at < c->end && is_name_char(*c->at))
                c->at++;
        word.end = c->at;
        return word;
}

/* From an opening bracket to after the closing one. FALSE: that is not there. */
static gboolean graphql_skip_brackets(Cursor *c)
{
        gboolean quoted = FALSE;
        guint depth = 0;

        for (; c->at < c->end; c->at++) {
                if (*c->at == '"')
                        quoted = !quoted;
                else if (quoted && *c->at == '\\' && c->at + 1 < c->end)
                        c->at++;
                else if (!quoted && strchr("({[", *c->at) && *c->at)
                        depth++;
                else if (!quoted && strchr(")}]", *c->at) && *c->at && --depth == 0)
                        return cursor_skip(c, 1);
        }
        return FALSE;
}

/* To the selection of an operation, after its variables and directives. */
static gboolean graphql_skip_to_selection(Cursor *c)
{
        guint8 next;

        while ((next = graphql_peek(c)) != '{') {
                if (next == 0 || (next == '(' ? !graphql_skip_brackets(c) : !cursor_skip(c, 1)))
                        return FALSE;
        }
        return TRUE;
}

/* The first field of a selection. */
static char *graphql_field(Cursor c)
{
        Cursor field;

        cursor_skip(&c, 1);
        field = graphql_word(&c);
        if (graphql_peek(&c) == ':') {
                cursor_skip(&c, 1);
                field = graphql_word(&c);
        }
        return graphql_peek(&c) ? name_copy(field) : NULL;
}

static char *graphql_find(Cursor c)
{
        for (;;) {
                Cursor word = graphql_word(&c), name;

                if (text_is(word, "fragment")) {
                        if (!graphql_skip_to_selection(&c) || !graphql_skip_brackets(&c))
                                return NULL;
                        continue;
                }
                if (cursor_left(&word) == 0 && graphql_peek(&c) == '{')
                        return graphql_field(c);
                if (!text_is(word, "query") && !text_is(word, "mutation") &&
                    !text_is(word, "subscription"))
                        return NULL;
                name = graphql_word(&c);
                if (cursor_left(&name) > 0) {
                        guint8 next = graphql_peek(&c);
                        return next == '{' || next == '(' || next == '@' ? name_copy(name) : NULL;
                }
                return graphql_skip_to_selection(&c) ? graphql_field(c) : NULL;
        }
}

/* --- JSON ------------------------------------------------------------------ */

/* What a query is in a string of JSON. */
static char *json_query_find(Cursor string)
{
        g_autoptr(GString) query = g_string_sized_new(cursor_left(&string));

        for (; string.at < string.end; string.at++) {
                guint8 byte = *string.at;
                if (byte == '\\' && string.at + 1 < string.end) {
                        byte = *++string.at;
                        byte = byte == 'n' || byte == 'r' ? '\n' : byte == 't' ? ' ' : byte;
                }
                g_string_append_c(query, (char)byte);
        }
        return graphql_find(cursor((const guint8 *)query->str, query->len));
}

/* The strings of a request by which it is known. */
typedef struct {
        Cursor operation, query, method;
        gboolean is_rpc;
} JsonRequest;

/* The value of a member, where it is a string. whole: it ends there. */
static void json_member_take(JsonRequest *r, Cursor key, Cursor value, gboolean whole)
{
        if (text_is(key, "query"))
                r->query = value;
        else if (whole && text_is(key, "operationName"))
                r->operation = value;
        else if (whole && text_is(key, "method"))
                r->method = value;
        else if (whole && text_is(key, "jsonrpc"))
                r->is_rpc = TRUE;
}

/* Of several requests in an array, the first. */
static char *json_find(Cursor c)
{
        JsonRequest r = { .is_rpc = FALSE };
        gboolean whole = TRUE;

        if (json_peek(&c) == '[')
                cursor_skip(&c, 1);
        if (json_peek(&c) != '{')
                return NULL;
        do {
                Cursor key, value;
                cursor_skip(&c, 1);
                if (!json_string_read(&c, &key) || json_peek(&c) != ':' || !cursor_skip(&c, 1))
                        break;
                if (json_peek(&c) == '"') {
                        whole = json_string_read(&c, &value);
                        json_member_take(&r, key, value, whole);
                } else {
                        whole = json_skip_value(&c);
                }
        } while (whole && json_peek(&c) == ',');
        if (r.operation.at < r.operation.end)
                return name_copy(r.operation);
        if (r.query.at < r.query.end)
                return json_query_find(r.query);
        return r.is_rpc ? name_copy(r.method) : NULL;
}

/* --- XML ------------------------------------------------------------------- */

/* To after the next text. */
static gboolean xml_skip_to(Cursor *c, const char *text)
{
        const guint8 *found = memmem(c->at, cursor_left(c), text, strlen(text));

        return found && cursor_skip(c, (gsize)(found - c->at) + strlen(text));
}

/* The name of the next element, without its prefix. FALSE: there is none. */
static gboolean xml_element_read(Cursor *c, Cursor *name)
{
        while (xml_skip_to(c, "<") && cursor_left(c) > 0) {
                gboolean comment = cursor_begins(c, "!--");
                if (comment && !xml_skip_to(c, "-->"))
                        return FALSE;
                if (comment || !is_name_char(*c->at))
                        continue;
                *name = cursor(c->at, 0);
                for (; c->at < c->end && !is_blank(*c->at) && *c->at != '/' && *c->at != '>';
                     c->at++)
                        if (*c->at == ':')
                                name->at = c->at + 1;
                name->end = c->at;
                return c->at < c->end;
        }
        return FALSE;
}

/* The text of an element. */
static Cursor xml_text(Cursor c)
{
        Cursor text;

        if (!xml_skip_to(&c, ">"))
                return cursor(c.at, 0);
        while (c.at < c.end && is_blank(*c.at))
                c.at++;
        text = c;
        while (c.at < c.end && *c.at != '<' && !is_blank(*c.at))
                c.at++;
        text.end = c.at < c.end ? c.at : text.at;
        return text;
}

static char *xml_find(Cursor c)
{
        Cursor name;

        if (!xml_element_read(&c, &name))
                return NULL;
        if (text_is(name, "methodCall"))
                return xml_element_read(&c, &name) && text_is(name, "methodName")
                               ? name_copy(xml_text(c))
                               : NULL;
        if (!text_is(name, "Envelope"))
                return NULL;
        while (!text_is(name, "Body"))
                if (!xml_element_read(&c, &name))
                        return NULL;
        return xml_element_read(&c, &name) ? name_copy(name) : NULL;
}

/* --- from outside ---------------------------------------------------------- */

#define TYPE(type, kind)                                                                           \
        {                                                                                          \
                type, sizeof type - 1, kind                                                        \
        }

BodyKind body_kind(const guint8 *type, gsize n)
{
        static const struct {
                const char *type;
                gsize n;
                BodyKind kind;
        } types[] = {
                TYPE("application/json", BODY_JSON),
                TYPE("application/json-rpc", BODY_JSON),
                TYPE("application/x-ndjson", BODY_JSON),
                TYPE("application/graphql", BODY_GRAPHQL),
                TYPE("application/soap+xml", BODY_XML),
                TYPE("application/xml", BODY_XML),
                TYPE("text/xml", BODY_XML),
                TYPE("application/x-www-form-urlencoded", BODY_FORM),
                TYPE("application/proto", BODY_PROTOBUF),
                TYPE("application/protobuf", BODY_PROTOBUF),
                TYPE("application/x-protobuf", BODY_PROTOBUF),
        };
        gsize length = 0, suffix;

        while (length < n && type[length] != ';' && !is_blank(type[length]))
                length++;
        for (guint i = 0; i < G_N_ELEMENTS(types); i++)
                if (types[i].n == length &&
                    g_ascii_strncasecmp(types[i].type, (const char *)type, length) == 0)
                        return types[i].kind;
        suffix = length > 5 ? length - 5 : 0;
        return suffix > 0 && memcmp(type + suffix, "+json", 5) == 0 ? BODY_JSON : BODY_OTHER;
}

gsize action_name_find(const guint8 **value, gsize n)
{
        const guint8 *p = *value, *end = p + n, *from;

        while (p < end && is_blank(*p))
                p++;
        for (from = p; p < end; p++)
                if (!is_name_char(*p) && *p != '"')
                        from = p + 1;
        if (from < end && *from == '"')
                from++;
        if (end > from && end[-1] == '"')
                end--;
        *value = from;
        return is_operation_name(from, (gsize)(end - from)) ? (gsize)(end - from) : 0;
}

BodyName *body_name_new(BodyKind kind, gsize *kept)
{
        BodyName *b;

        if (*kept >= MAX_BODIES)
                return NULL;
        ++*kept;
        b = g_new(BodyName, 1);
        b->kind = kind;
        b->n = 0;
        b->ends = FALSE;
        return b;
}

void body_name_drop(BodyName **b, gsize *kept)
{
        g_clear_pointer(b, g_free);
        --*kept;
}

void body_name_add(BodyName *b, const guint8 *bytes, gsize n, gboolean missing)
{
        gsize taken = b->ends ? 0 : MIN(n, MAX_LOOK - b->n);

        if (taken > 0)
                memcpy(b->bytes + b->n, bytes, taken);
        b->n += taken;
        b->ends |= missing;
}

char *body_name_find(const BodyName *b)
{
        Cursor c = cursor(b->bytes, b->n);

        switch (b->kind) {
        case BODY_JSON:
                return json_find(c);
        case BODY_GRAPHQL:
                return graphql_find(c);
        case BODY_XML:
                return xml_find(c);
        case BODY_FORM:
        case BODY_PROTOBUF:
        case BODY_OF_STREAM:
        case BODY_OTHER:
                break;
        }
        return NULL;
}

BodyKind body_name_kind(const BodyName *b, Cursor *bytes, gboolean *whole)
{
        *whole = !b->ends && b->n < MAX_LOOK;
        *bytes = cursor(b->bytes, b->n);
        return b->kind;
}
