/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The header of a proxy. The input: a byte for the size of segments, then a side's first bytes. In
 * segments and in one they must give the same bytes, but for a header, and the same ends.
 */
#include <string.h>

#include "capture/prefix.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

typedef struct {
        GByteArray *bytes;
        guint32 next; /* sequence number */
        ProxyHeader header;
} Shown;

static gboolean see_segment(gpointer user, guint side, const PrefixSegment *segment)
{
        Shown *shown = user;
        g_assert(side == 1 && segment->n == segment->length && segment->n > 0);
        g_assert(shown->bytes->len == 0 || segment->seq == shown->next);
        shown->next = segment->seq + (guint32)segment->n;
        g_byte_array_append(shown->bytes, segment->bytes, (guint)segment->n);
        return TRUE;
}

static void see_caller(gpointer user, guint side, const ProxyHeader *header, Stamp stamp)
{
        Shown *shown = user;
        g_assert(side == 1 && stamp.time == 1000);
        shown->header = *header;
}

static void show(const guint8 *data, gsize n, gsize step, Shown *shown)
{
        Sequencer *sequencer = sequencer_new(1000, 0);
        OpenItem item = { 0 };
        Prefix prefix = { 0 };
        PrefixSink sink = { see_segment, see_caller, sequencer, &item, shown };
        for (gsize at = 0; at < n; at += step) {
                gsize size = MIN(step, n - at);
                g_autofree guint8 *copy = g_memdup2(data + at, size);
                PrefixSegment segment = { (guint32)at, copy, size, size, { 1000, 0 } };
                if (prefix_is_open(&prefix, 1))
                        prefix_take(&prefix, 1, TRUE, segment, sink);
                else
                        see_segment(shown, 1, &segment);
        }
        prefix_release(&prefix, sink);
        prefix_clear(&prefix);
        sequencer_free(sequencer);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Shown whole = { .bytes = g_byte_array_new() }, parts = { .bytes = g_byte_array_new() };
        ProxyHeader header;
        if (n > 1) {
                show(data + 1, n - 1, n, &whole);
                show(data + 1, n - 1, 1 + data[0] % 50u, &parts);
        }
        g_assert(whole.bytes->len == parts.bytes->len);
        g_assert(whole.bytes->len == 0 || (whole.next == parts.next && whole.next == n - 1));
        g_assert(whole.bytes->len == 0 ||
                 memcmp(whole.bytes->data, parts.bytes->data, whole.bytes->len) == 0);
        g_assert(whole.header.has_ends == parts.header.has_ends &&
                 whole.header.size == parts.header.size);
        if (n > 1 && proxy_header_read(data + 1, n - 1, &header) == PROXY_HEADER_READ)
                g_assert(whole.bytes->len == n - 1 - MIN(header.size, n - 1));
        g_byte_array_free(whole.bytes, TRUE);
        g_byte_array_free(parts.bytes, TRUE);
        return 0;
}
