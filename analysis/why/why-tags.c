/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The tags of a store (ravel capture --tag): reads them.
 */
#include "analysis/why/why-model.h"

gboolean why_read_tags(Why *w, GError **error)
{
        g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
        WhyTags *tags = w->tags = g_new0(WhyTags, 1);
        StoredTag tag;
        int status;

        tags->texts = g_ptr_array_new_with_free_func(g_free);
        tags->first = g_array_new(FALSE, FALSE, sizeof(guint32));
        tags->numbers = g_array_new(FALSE, FALSE, sizeof(guint32));
        while ((status = store_reader_next_tag(w->reader, &tag, error)) > 0) {
                g_autofree char *text = g_strdup_printf("%s=%s", tag.name, tag.value);
                guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, text));

                while (tags->first->len < tag.id)
                        g_array_append_val(tags->first, tags->numbers->len);
                if (number == 0) {
                        number = tags->texts->len + 1;
                        g_hash_table_insert(numbers, text, GUINT_TO_POINTER(number));
                        g_ptr_array_add(tags->texts, g_steal_pointer(&text));
                }
                number--;
                g_array_append_val(tags->numbers, number);
        }
        g_array_append_val(tags->first, tags->numbers->len);
        return status == 0;
}

void why_tags_free(WhyTags *tags)
{
        if (!tags)
                return;
        g_ptr_array_unref(tags->texts);
        g_array_unref(tags->first);
        g_array_unref(tags->numbers);
        g_free(tags);
}
