/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/json-text.h"

#include "base/json-reader.h"

typedef struct {
        JsonReader *r;
        guint depth, n_keys;
        gboolean is_object[JSON_MAX_DEPTH];
        GString *key[JSON_MAX_DEPTH]; /* by object, from the outermost */
        GString *value;
} Scan;

static void give_scalar(Scan *s, JsonText take, gpointer user)
{
        const char *keys[JSON_MAX_DEPTH];

        for (guint i = 0; i < s->n_keys; i++)
                keys[i] = s->key[i]->str;
        json_reader_keep_text(s->r, s->value);
        take(user, keys, s->n_keys, s->value->str);
}

/* Gives the pending value, or enters it. FALSE if it is too deep, or there is none. */
static gboolean take_value(Scan *s, JsonText take, gpointer user)
{
        gboolean is_object;

        if (json_reader_scalar(s->r)) {
                give_scalar(s, take, user);
                return TRUE;
        }
        is_object = json_reader_enter_object(s->r);
        if (s->depth == JSON_MAX_DEPTH || (!is_object && !json_reader_enter_array(s->r)))
                return FALSE;
        s->is_object[s->depth++] = is_object;
        s->n_keys += is_object;
        return TRUE;
}

/* Goes to the next value inside the top one. FALSE if there is none. */
static gboolean find_next_value(Scan *s)
{
        while (s->depth > 0) {
                gboolean is_object = s->is_object[s->depth - 1];

                if (is_object && json_reader_next_key(s->r)) {
                        gsize n;
                        const char *key = json_reader_key(s->r, &n);

                        g_string_truncate(s->key[s->n_keys - 1], 0);
                        g_string_append_len(s->key[s->n_keys - 1], key, (gssize)n);
                        return TRUE;
                }
                if (!is_object && json_reader_next_element(s->r))
                        return TRUE;
                s->depth--;
                s->n_keys -= is_object;
        }
        return FALSE;
}

static gboolean scan_value(Scan *s, JsonText take, gpointer user)
{
        if (!json_reader_next_value(s->r))
                return FALSE;
        do {
                if (!take_value(s, take, user))
                        return FALSE;
        } while (find_next_value(s));
        return !json_reader_next_value(s->r) && !json_reader_error(s->r);
}

gboolean json_texts(const guint8 *data, gsize n, JsonText take, gpointer user)
{
        g_autoptr(JsonReader) r = json_reader_new_text(data, n);
        Scan s = { .r = r };
        gboolean ok;

        s.value = g_string_new(NULL);
        for (guint i = 0; i < JSON_MAX_DEPTH; i++)
                s.key[i] = g_string_new(NULL);
        ok = scan_value(&s, take, user);
        g_string_free(s.value, TRUE);
        for (guint i = 0; i < JSON_MAX_DEPTH; i++)
                g_string_free(s.key[i], TRUE);
        return ok;
}
