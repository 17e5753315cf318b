/* SPDX-License-Identifier: BSD-2-Clause */
#include "maketrace/key-file.h"

#include <string.h>

#include "base/error.h"

static void clear_group(gpointer group)
{
        g_free(((KeyFileGroup *)group)->name);
}

static void clear_key(gpointer key)
{
        g_free(((KeyFileKey *)key)->name);
}

void key_file_free(KeyFile *k)
{
        if (!k)
                return;
        g_hash_table_unref(k->by_name);
        g_array_free(k->groups, TRUE);
        g_array_free(k->keys, TRUE);
        g_free(k->data);
        g_free(k->file);
        g_free(k);
}

/* The bytes begin to end of line, without blanks around them. */
static TextCursor part(const TextCursor *line, gsize begin, gsize end)
{
        TextCursor c = *line;

        while (begin < end && g_ascii_isspace(line->data[begin]))
                begin++;
        while (end > begin && g_ascii_isspace(line->data[end - 1]))
                end--;
        c.data = line->data + begin;
        c.n = end - begin;
        c.column += g_utf8_strlen((const char *)line->data, begin);
        return c;
}

static char *copy_text(const TextCursor *c)
{
        return g_strndup((const char *)c->data, c->n);
}

static gboolean key_file_add_group(KeyFile *k, const TextCursor *text, GError **error)
{
        KeyFileGroup group = { .first = k->keys->len, .end = k->keys->len };
        guint same;

        if (text->n < 3 || text->data[text->n - 1] != ']' ||
            memchr(text->data + 1, '[', text->n - 1) || memchr(text->data + 1, ']', text->n - 2))
                return text_cursor_fail(text, 0, text->n, error, "a group such as [maketrace]");
        group.text = part(text, 1, text->n - 1);
        group.name = copy_text(&group.text);
        if ((same = GPOINTER_TO_UINT(g_hash_table_lookup(k->by_name, group.name)))) {
                g_free(group.name);
                return text_cursor_fail(text, 0, text->n, error,
                                        "another name: the group of line %u has this one",
                                        g_array_index(k->groups, KeyFileGroup, same - 1).text.line);
        }
        g_array_append_val(k->groups, group);
        g_hash_table_insert(k->by_name, group.name, GUINT_TO_POINTER(k->groups->len));
        return TRUE;
}

static gboolean key_file_add_key(KeyFile *k, const TextCursor *text, GError **error)
{
        const guint8 *equals = memchr(text->data, '=', text->n);
        KeyFileGroup *group;
        KeyFileKey key;

        if (!equals || equals == text->data)
                return text_cursor_fail(text, 0, text->n, error,
                                        "key=value, a group in brackets, or a # comment");
        if (k->groups->len == 0)
                return text_cursor_fail(text, 0, text->n, error,
                                        "a group such as [maketrace] before the first key");
        key.text = part(text, 0, equals - text->data);
        key.value = part(text, equals + 1 - text->data, text->n);
        key.name = copy_text(&key.text);
        group = &g_array_index(k->groups, KeyFileGroup, k->groups->len - 1);
        for (guint i = group->first; i < group->end; i++) {
                const KeyFileKey *other = &g_array_index(k->keys, KeyFileKey, i);

                if (!strcmp(other->name, key.name)) {
                        g_free(key.name);
                        return text_cursor_fail(&key.text, 0, key.text.n, error,
                                                "another key: line %u has this one",
                                                other->text.line);
                }
        }
        g_array_append_val(k->keys, key);
        group->end++;
        return TRUE;
}

static gboolean key_file_add_line(KeyFile *k, const TextCursor *line, GError **error)
{
        TextCursor text = part(line, 0, line->n);
        const char *end;

        if (!g_utf8_validate_len((const char *)line->data, line->n, &end)) {
                text = *line;
                text.n = end - (const char *)line->data;
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s:%u:%ld: found byte 0x%02x, expected UTF-8 text", line->file,
                                  line->line, g_utf8_strlen((const char *)text.data, text.n) + 1,
                                  line->data[text.n]);
        }
        if (text.n == 0 || text.data[0] == '#')
                return TRUE;
        return text.data[0] == '[' ? key_file_add_group(k, &text, error)
                                   : key_file_add_key(k, &text, error);
}

KeyFile *key_file_parse(const guint8 *data, gsize n, const char *file, GError **error)
{
        g_autoptr(KeyFile) k = g_new0(KeyFile, 1);
        TextCursor line = { .line = 1, .column = 1 };

        k->file = g_strdup(file);
        k->data = g_memdup2(data, n);
        k->groups = g_array_new(FALSE, FALSE, sizeof(KeyFileGroup));
        k->keys = g_array_new(FALSE, FALSE, sizeof(KeyFileKey));
        k->by_name = g_hash_table_new(g_str_hash, g_str_equal);
        g_array_set_clear_func(k->groups, clear_group);
        g_array_set_clear_func(k->keys, clear_key);
        line.file = k->file;
        for (gsize begin = 0; begin < n; begin += line.n + 1, line.line++) {
                const guint8 *newline = memchr(k->data + begin, '\n', n - begin);

                line.data = k->data + begin;
                line.n = (newline ? newline : k->data + n) - line.data;
                if (!key_file_add_line(k, &line, error))
                        return NULL;
        }
        return g_steal_pointer(&k);
}
