/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/json-text.h"

#include <string.h>

typedef struct {
        const guint8 *at, *end;
        guint depth, n_keys;
        gboolean is_object[JSON_MAX_DEPTH];
        GString *key[JSON_MAX_DEPTH]; /* by object, from the outermost */
        GString *value;
        JsonText take;
        gpointer user;
} Scan;

static void skip_blanks(Scan *s)
{
        while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
                s->at++;
}

static gboolean accept(Scan *s, char c)
{
        skip_blanks(s);
        if (s->at == s->end || *s->at != (guint8)c)
                return FALSE;
        s->at++;
        return TRUE;
}

/* The four digits after \u; a half of a pair, and a NUL, stand for nothing that we look for. */
static gboolean read_code(Scan *s, GString *to)
{
        gunichar code = 0;

        if (s->end - s->at < 4)
                return FALSE;
        for (guint i = 0; i < 4; i++) {
                int digit = g_ascii_xdigit_value((char)*s->at++);

                if (digit < 0)
                        return FALSE;
                code = code << 4 | (gunichar)digit;
        }
        if (code == 0 || (code >= 0xd800 && code < 0xe000))
                code = 0xfffd;
        g_string_append_unichar(to, code);
        return TRUE;
}

/* After the quote that it begins with. */
static gboolean read_string(Scan *s, GString *to)
{
        static const char escapes[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";

        g_string_truncate(to, 0);
        while (s->at < s->end) {
                guint8 c = *s->at++;
                const char *escape;

                if (c == '"')
                        return TRUE;
                if (c < ' ')
                        return FALSE;
                if (c != '\\') {
                        g_string_append_c(to, (char)c);
                        continue;
                }
                if (s->at == s->end)
                        return FALSE;
                c = *s->at++;
                if (c == 'u') {
                        if (!read_code(s, to))
                                return FALSE;
                } else if (c && (escape = strchr(escapes, c))) {
                        g_string_append_c(to, meaning[escape - escapes]);
                } else {
                        return FALSE;
                }
        }
        return FALSE;
}

static gboolean read_word(Scan *s, GString *to)
{
        g_string_truncate(to, 0);
        while (s->at < s->end && (g_ascii_isalnum(*s->at) || (*s->at && strchr("+-.", *s->at))))
                g_string_append_c(to, (char)*s->at++);
        return to->len > 0;
}

static void give(Scan *s)
{
        const char *keys[JSON_MAX_DEPTH];

        for (guint i = 0; i < s->n_keys; i++)
                keys[i] = s->key[i]->str;
        s->take(s->user, keys, s->n_keys, s->value->str);
}

/* The key before a value of an object. */
static gboolean read_key(Scan *s)
{
        return accept(s, '"') && read_string(s, s->key[s->n_keys - 1]) && accept(s, ':');
}

/* An object or an array begins. *empty: and ends. */
static gboolean open_value(Scan *s, gboolean is_object, gboolean *empty)
{
        if (s->depth == JSON_MAX_DEPTH)
                return FALSE;
        *empty = accept(s, is_object ? '}' : ']');
        if (*empty)
                return TRUE;
        s->is_object[s->depth++] = is_object;
        s->n_keys += is_object;
        return !is_object || read_key(s);
}

/* After a value: to where the next one begins. FALSE: this was the last, or *broken. */
static gboolean next_value(Scan *s, gboolean *broken)
{
        while (s->depth > 0) {
                gboolean is_object = s->is_object[s->depth - 1];

                if (accept(s, ',')) {
                        *broken = is_object && !read_key(s);
                        return !*broken;
                }
                if (!accept(s, is_object ? '}' : ']')) {
                        *broken = TRUE;
                        return FALSE;
                }
                s->depth--;
                s->n_keys -= is_object;
        }
        return FALSE;
}

static gboolean scan_values(Scan *s)
{
        gboolean broken = FALSE;

        do {
                gboolean empty, is_object = accept(s, '{');

                if (is_object || accept(s, '[')) {
                        if (!open_value(s, is_object, &empty))
                                return FALSE;
                        if (!empty) {
                                broken = FALSE;
                                continue;
                        }
                } else if (accept(s, '"')) {
                        if (!read_string(s, s->value))
                                return FALSE;
                        give(s);
                } else {
                        if (!read_word(s, s->value))
                                return FALSE;
                        give(s);
                }
                if (!next_value(s, &broken))
                        break;
        } while (TRUE);
        skip_blanks(s);
        return !broken && s->depth == 0 && s->at == s->end;
}

gboolean json_texts(const guint8 *data, gsize n, JsonText take, gpointer user)
{
        Scan s = { .at = data, .end = data + n, .take = take, .user = user };
        gboolean ok;

        s.value = g_string_new(NULL);
        for (guint i = 0; i < JSON_MAX_DEPTH; i++)
                s.key[i] = g_string_new(NULL);
        ok = scan_values(&s);
        g_string_free(s.value, TRUE);
        for (guint i = 0; i < JSON_MAX_DEPTH; i++)
                g_string_free(s.key[i], TRUE);
        return ok;
}
