/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How Wireshark and tcpdump find the packets of a request.
 */
#include <string.h>

#include "analysis/why/why-model.h"
#include "base/each.h"
#include "base/error.h"

/* "c4e2.3a6f6d92" */
static gboolean parse_port(const PathCall *c, guint *port)
{
        const char *point = c->id_length ? memchr(c->id, '.', c->id_length) : NULL;
        guint n = point ? (guint)(point - c->id) : 0;

        *port = 0;
        for (guint i = 0; i < n && n <= 4; i++) {
                if (!g_ascii_isxdigit(c->id[i]))
                        return FALSE;
                *port = *port << 4 | (guint)g_ascii_xdigit_value(c->id[i]);
        }
        return n > 0 && n <= 4;
}

static gboolean fail_ids(const Why *w, GError **error)
{
        return ravel_fail(
                error, RAVEL_ERROR_INPUT,
                "%s: no packets can be named, expected calls with the ids that ravel capture gives",
                store_reader_name(w->reader));
}

gboolean why_packets(Why *w, guint64 request, GArray *packets, GError **error)
{
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(PathCall));
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        const Request *r = why_request_at(w, (guint32)request - 1);
        const StoredPath path = { .first_call = r->first, .n_calls = r->n };

        if (!w->ports)
                return fail_ids(w, error);
        if (!store_reader_path_calls(w->reader, &path, calls, places, error))
                return FALSE;
        EACH (const PathCall, c, calls) {
                WhyPackets p = { .from = MIN(c->start, c->enter), .to = MAX(c->reply, c->end) };

                if (c->connecting > 0)
                        p.from -= MAX(c->connect, c->connecting);

                if (!parse_port(c, &p.port))
                        return fail_ids(w, error);
                g_array_append_val(packets, p);
        }
        return TRUE;
}

static void append_seconds(GString *text, gint64 time)
{
        gint64 seconds = time / 1000000000 - (time % 1000000000 < 0);

        g_string_append_printf(text, "%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT, seconds,
                               time - seconds * 1000000000);
}

guint why_call_port(const Why *w, const PathCall *call)
{
        guint port;

        return w->ports && parse_port(call, &port) ? port : 0;
}

char *why_display_filter(Why *w, guint64 request, GError **error)
{
        g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(WhyPackets));
        g_autoptr(GString) text = g_string_new(NULL);

        if (!why_packets(w, request, packets, error))
                return NULL;
        for (guint i = 0; i < packets->len; i++) {
                const WhyPackets *p = &g_array_index(packets, WhyPackets, i);

                g_string_append_printf(text, "%s((tcp.port == %u || udp.port == %u) && ",
                                       i > 0 ? " || " : "", p->port, p->port);
                g_string_append(text, "frame.time_epoch >= ");
                append_seconds(text, p->from);
                g_string_append(text, " && frame.time_epoch <= ");
                append_seconds(text, p->to);
                g_string_append_c(text, ')');
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}

char *why_capture_filter(Why *w, guint64 request, GError **error)
{
        g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(WhyPackets));
        g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
        g_autoptr(GString) text = g_string_new(NULL);

        if (!why_packets(w, request, packets, error))
                return NULL;
        for (guint i = 0; i < packets->len; i++) {
                guint port = g_array_index(packets, WhyPackets, i).port;

                if (g_hash_table_add(known, GUINT_TO_POINTER(port)))
                        g_string_append_printf(text, "%sport %u", text->len ? " or " : "", port);
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}
