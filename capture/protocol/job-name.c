/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/job-name.h"

#include <string.h>

#include "base/json-reader.h"

gboolean job_name_append(GString *label, const char *name, gsize n)
{
        if (n == 0 || n > MAX_JOB_NAME)
                return FALSE;
        for (gsize i = 0; i < n; i++)
                if (!g_ascii_isgraph(name[i]))
                        return FALSE;
        if (label->len > 0)
                g_string_append_c(label, ' ');
        g_string_append_len(label, name, (gssize)n);
        return TRUE;
}

gboolean job_name_is_header(const char *header, gsize n)
{
        static const char *const names[] = { "task", "__TypeId__" };

        for (guint i = 0; i < G_N_ELEMENTS(names); i++)
                if (strlen(names[i]) == n && memcmp(names[i], header, n) == 0)
                        return TRUE;
        return FALSE;
}

/* --- JSON ------------------------------------------------------------------------ */

/* Fields of a job, of which a later one counts more: a class may only wrap what is done. */
static const char *const fields[] = { "class", "task", "actor_name", "displayName", "wrapped" };

/* The best of them so far. */
typedef struct {
        GString *name;
        guint rank;   /* 0: none */
        GString *tag; /* NULL: not looked for */
} Found;

static void job_name_take(JsonReader *r, guint rank, Found *found)
{
        if (rank <= found->rank || json_reader_peek(r) != '"' || !json_reader_scalar(r))
                return;
        g_string_truncate(found->name, 0);
        if (job_name_append(found->name, json_reader_text(r), json_reader_length(r)))
                found->rank = rank;
}

static void read_headers(JsonReader *r, Found *found)
{
        while (json_reader_next_key(r))
                if (json_reader_key_is(r, "task"))
                        job_name_take(r, G_N_ELEMENTS(fields) + 1, found);
}

static void read_properties(JsonReader *r, Found *found)
{
        while (json_reader_next_key(r))
                if (json_reader_key_is(r, "delivery_tag") && json_reader_scalar(r))
                        g_string_append_len(found->tag, json_reader_text(r),
                                            (gssize)json_reader_length(r));
}

static void read_job(JsonReader *r, Found *found)
{
        while (json_reader_next_key(r)) {
                if (json_reader_key_is(r, "headers") && json_reader_enter_object(r))
                        read_headers(r, found);
                if (found->tag && json_reader_key_is(r, "properties") &&
                    json_reader_enter_object(r))
                        read_properties(r, found);
                for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
                        if (json_reader_key_is(r, fields[i]))
                                job_name_take(r, i + 1, found);
        }
}

gboolean job_name_append_json(GString *label, const guint8 *text, gsize n, GString *tag)
{
        Found found = { .tag = tag };
        gboolean named;

        if (tag)
                g_string_truncate(tag, 0);
        if (n == 0 || text[0] != '{')
                return FALSE;
        found.name = g_string_new(NULL);
        g_autoptr(JsonReader) r = json_reader_new_text(text, n);
        if (json_reader_next_value(r) && json_reader_enter_object(r))
                read_job(r, &found);
        named = found.rank > 0 && job_name_append(label, found.name->str, found.name->len);
        g_string_free(found.name, TRUE);
        return named;
}
