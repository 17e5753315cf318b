/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/prefix.h"

enum { MARK = 12 }; /* bytes by which a header is known, though the rest was cut off */

struct PrefixBytes {
        guint8 bytes[PROXY_HEADER_SHOWN];
        guint8 side;
        guint n; /* that wait */
        guint32 seq;
        Stamp stamp;  /* of the first */
        gsize passes; /* bytes of a header that are still to come; n is 0 then */
};

static void prefix_end(Prefix *prefix, guint side, const PrefixSink *sink)
{
        g_clear_pointer(&prefix->bytes, g_free);
        prefix->begun |= (guint8)(1 << side);
        sequencer_close(sink->item);
}

void prefix_release(Prefix *prefix, PrefixSink sink)
{
        g_autofree PrefixBytes *p = g_steal_pointer(&prefix->bytes);
        if (!p)
                return;
        prefix_end(prefix, p->side, &sink);
        if (p->n > 0)
                sink.segment(sink.user, p->side,
                             &(PrefixSegment){ p->seq, p->bytes, p->n, p->n, p->stamp });
}

void prefix_miss(Prefix *prefix, guint side, PrefixSink sink)
{
        prefix_release(prefix, sink);
        prefix->begun |= (guint8)(1 << side);
}

void prefix_clear(Prefix *prefix)
{
        g_clear_pointer(&prefix->bytes, g_free);
        prefix->begun = 0;
}

/* Takes the bytes of the header from the segment, and passes on what follows. */
static void prefix_pass(Prefix *prefix, guint side, PrefixSegment *s, const PrefixSink *sink)
{
        PrefixBytes *p = prefix->bytes;
        gsize taken = MIN(p->passes, s->length), seen = MIN(taken, s->n);
        p->passes -= taken;
        s->seq += (guint32)taken;
        s->bytes += seen;
        s->n -= seen;
        s->length -= taken;
        if (p->passes == 0)
                prefix_end(prefix, side, sink);
        if (s->length > 0)
                sink->segment(sink->user, side, s);
}

/* Whether what waits and the segment are a header. Of a cut one the size may be known. Otherwise a
 * proxy sends it alone. */
static ProxyHeaderStatus prefix_read(PrefixBytes *p, const PrefixSegment *s, ProxyHeader *header)
{
        memcpy(p->bytes + p->n, s->bytes, MIN(s->n, PROXY_HEADER_SHOWN - p->n));
        ProxyHeaderStatus status = proxy_header_read(p->bytes, p->n + s->n, header);
        if (status != PROXY_HEADER_MORE || s->n == s->length)
                return status;
        if (p->n + s->n < MARK || (header->size == 0 && p->n + s->length > PROXY_HEADER_SHOWN))
                return PROXY_HEADER_NONE;
        if (header->size == 0)
                header->size = p->n + s->length;
        return PROXY_HEADER_READ;
}

static void prefix_add(Prefix *prefix, guint side, PrefixSegment *s, const PrefixSink *sink)
{
        PrefixBytes *p = prefix->bytes;
        ProxyHeader header;
        switch (prefix_read(p, s, &header)) {
        case PROXY_HEADER_NONE:
                prefix_release(prefix, *sink);
                sink->segment(sink->user, side, s);
                break;
        case PROXY_HEADER_MORE:
                p->n += (guint)s->n;
                sequencer_open(sink->sequencer, sink->item, p->stamp.time);
                break;
        case PROXY_HEADER_READ:
                if (header.has_ends)
                        sink->caller(sink->user, side, &header, s->stamp);
                p->passes = header.size - p->n;
                p->n = 0;
                sequencer_close(sink->item);
                prefix_pass(prefix, side, s, sink);
                break;
        }
}

void prefix_take(Prefix *prefix, guint side, gboolean client, PrefixSegment segment,
                 PrefixSink sink)
{
        if (prefix->bytes && prefix->bytes->side != side)
                prefix_release(prefix, sink);
        if (prefix->bytes && prefix->bytes->passes > 0) {
                prefix_pass(prefix, side, &segment, &sink);
                return;
        }
        if (!prefix->bytes) {
                ProxyHeader header;
                if (!client ||
                    proxy_header_read(segment.bytes, segment.n, &header) == PROXY_HEADER_NONE) {
                        prefix->begun |= (guint8)(1 << side);
                        sink.segment(sink.user, side, &segment);
                        return;
                }
                prefix->bytes = g_new0(PrefixBytes, 1);
                prefix->bytes->side = (guint8)side;
                prefix->bytes->seq = segment.seq;
                prefix->bytes->stamp = segment.stamp;
        }
        prefix_add(prefix, side, &segment, &sink);
}

void prefix_skip_datagram(const guint8 **bytes, gsize *n, gsize *length)
{
        ProxyHeader header;
        if (*n == 0 || **bytes != '\r' ||
            proxy_header_read(*bytes, *n, &header) != PROXY_HEADER_READ || header.size > *n)
                return;
        *bytes += header.size;
        *n -= header.size;
        *length -= header.size;
}
