/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-identifiers.h"

#include <string.h>

#define TWO_MINUTES (120 * G_GINT64_CONSTANT(1000000000))

void call_identifiers_clear(CallIdentifiers *c)
{
        g_clear_pointer(&c->newer, g_hash_table_unref);
        g_clear_pointer(&c->older, g_hash_table_unref);
        if (c->lists)
                g_array_free(c->lists, TRUE);
        call_column_clear(&c->column);
}

/* --- numbers --------------------------------------------------------------- */

/* A hash is in use for two minutes: the minute of its key, and the next. */
static void take_time(CallIdentifiers *c, gint64 time)
{
        gint64 minutes = time / TWO_MINUTES;

        if (!c->newer) {
                c->newer = g_hash_table_new(NULL, NULL);
                c->older = g_hash_table_new(NULL, NULL);
        } else if (minutes > c->minutes) {
                GHashTable *oldest = c->older;

                g_hash_table_remove_all(oldest);
                c->older = c->newer;
                c->newer = oldest;
                if (minutes > c->minutes + 1)
                        g_hash_table_remove_all(c->older);
        } else {
                return;
        }
        c->minutes = minutes;
}

/* The number of a hash; 0 if it has none yet. */
static guint32 hash_number(const CallIdentifiers *c, guint32 hash)
{
        gpointer key = GUINT_TO_POINTER(hash), number = g_hash_table_lookup(c->newer, key);

        if (!number && (number = g_hash_table_lookup(c->older, key)))
                g_hash_table_insert(c->newer, key, number);
        return GPOINTER_TO_UINT(number);
}

/* The number of a value by its hash of this minute, and by the hash of the minute before, if any.
 */
static guint32 identifier_number(CallIdentifiers *c, guint32 now, gboolean has_before,
                                 guint32 before)
{
        guint32 number = hash_number(c, now), earlier = has_before ? hash_number(c, before) : 0;

        if (number == 0) {
                number = earlier ? earlier : ++c->last;
                g_hash_table_insert(c->newer, GUINT_TO_POINTER(now), GUINT_TO_POINTER(number));
        }
        if (has_before && earlier == 0)
                g_hash_table_insert(c->newer, GUINT_TO_POINTER(before), GUINT_TO_POINTER(number));
        return number;
}

/* Reads one hash. FALSE: the text has none. */
static gboolean hash_read(const char **at, const char *end, guint32 *hash)
{
        guint n = 0;

        *hash = 0;
        for (; *at < end && g_ascii_isxdigit(**at) && n < 8; (*at)++, n++)
                *hash = *hash << 4 | (guint32)g_ascii_xdigit_value(**at);
        return n > 0;
}

/* --- lists ----------------------------------------------------------------- */

/* Adds a number to an ascending list. */
static void list_add(guint32 *list, guint32 number)
{
        guint32 n = list[0], at = n;

        while (at > 0 && list[at] > number)
                at--;
        if (n == MOST_IDENTIFIERS || (at > 0 && list[at] == number))
                return;
        memmove(list + at + 2, list + at + 1, (n - at) * sizeof *list);
        list[at + 1] = number;
        list[0]++;
}

/* Reads the value of ids= into a list, up to the first thing that is no identifier. */
static void list_read(CallIdentifiers *c, guint32 *list, const char *text, gsize length)
{
        const char *end = text + length;
        guint32 now, before = 0;

        while (hash_read(&text, end, &now)) {
                gboolean has_before = text < end && *text == '.';

                if (has_before) {
                        text++;
                        if (!hash_read(&text, end, &before))
                                return;
                }
                list_add(list, identifier_number(c, now, has_before, before));
                if (text == end || *text++ != ',')
                        return;
        }
}

void call_identifiers_add(CallIdentifiers *c, guint64 call, gint64 time, AttributeText ids)
{
        guint32 list[MOST_IDENTIFIERS + 1] = { 0 }, *of;

        if (!ids.at || call >= G_MAXUINT32)
                return;
        if (!c->lists) {
                c->lists = g_array_new(FALSE, FALSE, sizeof(guint32));
                g_array_append_val(c->lists, list[0]);
        }
        if (c->lists->len > G_MAXUINT32 - 2 * MOST_IDENTIFIERS)
                return;
        take_time(c, time);
        of = call_column_place(&c->column, sizeof *of, call);
        if (*of) { /* its other end */
                const guint32 *had = &g_array_index(c->lists, guint32, *of);

                memcpy(list, had, (1 + had[0]) * sizeof *list);
        }
        list_read(c, list, ids.at, ids.length);
        if (list[0] == 0)
                return;
        *of = c->lists->len;
        g_array_append_vals(c->lists, list, 1 + list[0]);
}

void call_identifiers_close_up(CallIdentifiers *c)
{
        GArray *lists;
        guint32 none = 0, *of = c->column.of;

        if (!c->lists)
                return;
        lists = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_array_append_val(lists, none);
        for (guint32 i = 0; i < c->column.n; i++) {
                const guint32 *list = &g_array_index(c->lists, guint32, of[i]);

                if (!of[i])
                        continue;
                of[i] = lists->len;
                g_array_append_vals(lists, list, 1 + list[0]);
        }
        g_array_free(c->lists, TRUE);
        c->lists = lists;
}

guint32 call_identifiers_shared(const guint32 *a, const guint32 *b)
{
        guint32 shared = 0;

        for (guint32 i = 1, k = 1; i <= a[0] && k <= b[0];) {
                shared += a[i] == b[k];
                if (a[i] < b[k])
                        i++;
                else
                        k++;
        }
        return shared;
}
