/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/statements.h"

enum { MAX_STATEMENTS = 2048 }; /* of MySQL, operations and types */

struct Statements {
        GHashTable *operations; /* of texts, by name */
        GArray *names;          /* of guint64; a ring once it is full */
        guint oldest;
};

static void statements_remember(Statements *s, guint64 name)
{
        if (s->names->len < MAX_STATEMENTS) {
                g_array_append_val(s->names, name);
                return;
        }
        g_hash_table_remove(s->operations, &g_array_index(s->names, guint64, s->oldest));
        g_array_index(s->names, guint64, s->oldest) = name;
        s->oldest = (s->oldest + 1) % MAX_STATEMENTS;
}

void statements_put(Statements **statements, guint64 name, const char *operation)
{
        Statements *s = *statements;

        if (!s) {
                *statements = s = g_new0(Statements, 1);
                s->operations = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
                s->names = g_array_new(FALSE, FALSE, sizeof(guint64));
        }
        if (!g_hash_table_contains(s->operations, &name))
                statements_remember(s, name);
        g_hash_table_replace(s->operations, g_memdup2(&name, sizeof name), g_strdup(operation));
}

const char *statements_lookup(const Statements *s, guint64 name)
{
        return s ? g_hash_table_lookup(s->operations, &name) : NULL;
}

void statements_free(Statements *s)
{
        if (!s)
                return;
        g_hash_table_destroy(s->operations);
        g_array_free(s->names, TRUE);
        g_free(s);
}
