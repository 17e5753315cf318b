/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/write-why-shared.h"

#include <string.h>

#include "base/printable.h"
#include "write/fields.h"
#include "write/text-table.h"

/* Values that the same requests have stand in one line. */
enum { MOST_LINES = 3, MOST_NAMES = 4 };

static const Field shared_fields[] = {
        { "kind", FIELD_TEXT, G_STRUCT_OFFSET(WhyShared, kind) },
        { "value", FIELD_TEXT, G_STRUCT_OFFSET(WhyShared, value) },
        { "slow", FIELD_COUNT, G_STRUCT_OFFSET(WhyShared, slow) },
        { "slowest", FIELD_COUNT, G_STRUCT_OFFSET(WhyShared, slowest) },
        { "all", FIELD_COUNT, G_STRUCT_OFFSET(WhyShared, all) },
        { "requests", FIELD_COUNT, G_STRUCT_OFFSET(WhyShared, requests) },
        { "chance", FIELD_NUMBER, G_STRUCT_OFFSET(WhyShared, chance) },
};

/* A share of all, never 0. */
static char *shared_format_share(const WhyShared *s)
{
        double percent = 100 * (double)s->all / (double)s->requests;

        return g_strdup_printf("%.*f %%", percent < 10 ? 1 : 0, MAX(percent, 0.1));
}

static gboolean shared_is_same(const WhyShared *a, const WhyShared *b)
{
        return a->slow == b->slow && a->slowest == b->slowest && a->all == b->all;
}

/* "tenant=acme, node app2" */
static void shared_append_name(GString *out, const WhyShared *s)
{
        g_autofree char *value = printable_new(s->value, PRINTABLE_CELL);
        gboolean tag = strcmp(s->kind, "tag") == 0;

        g_string_append_printf(out, "%s%s%s%s", out->len ? ", " : "", tag ? "" : s->kind,
                               tag ? "" : " ", value);
}

void why_shared_append_text(GString *out, guint indent, const GArray *shared, guint columns)
{
        guint at = 0;

        for (guint line = 0; line < MOST_LINES && at < shared->len; line++) {
                const WhyShared *first = &g_array_index(shared, WhyShared, at), *s = first;
                g_autofree char *share = shared_format_share(first);
                g_autoptr(GString) names = g_string_new(NULL);

                for (guint n = 0; at < shared->len && shared_is_same(first, s); s++, at++, n++)
                        if (n < MOST_NAMES)
                                shared_append_name(names, s);
                text_append_line(out, " ,/|(", indent, columns,
                                 "%s: %" G_GUINT64_FORMAT " of the %" G_GUINT64_FORMAT
                                 " slowest, %s of all.",
                                 names->str, first->slow, first->slowest, share);
        }
}

void why_shared_append_cells(GString *out, const GArray *shared)
{
        static const WhyShared none = { .chance = 1 };

        fields_append_cells(out, shared_fields, G_N_ELEMENTS(shared_fields),
                            shared->len > 0 ? (gconstpointer)shared->data : &none);
}

void why_shared_put(Json *json, const GArray *shared)
{
        fields_put_list(json, "shared", -1, shared_fields, G_N_ELEMENTS(shared_fields), shared);
}
