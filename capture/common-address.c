/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/common-address.h"

#include "capture/ip.h"
#include "capture/link-layer.h"

struct CommonAddress {
        IpFragments *fragments;
        Account account;      /* of no interest */
        Address candidate[2]; /* n of them */
        guint n;
        gboolean started;
};

CommonAddress *common_address_new(void)
{
        CommonAddress *c = g_new0(CommonAddress, 1);

        c->fragments = ip_fragments_new();
        return c;
}

void common_address_free(CommonAddress *c)
{
        if (!c)
                return;
        ip_fragments_free(c->fragments);
        g_free(c);
}

static gboolean decode(CommonAddress *c, const Packet *packet, IpPacket *ip)
{
        Cursor frame = cursor(packet->bytes, packet->captured);

        return link_layer_decode(packet->link_type, &frame) == ACCOUNT_NONE &&
               ip_decode(c->fragments, frame.at, cursor_left(&frame),
                         cursor_left(&frame) + (packet->length - packet->captured), packet->time,
                         ip, &c->account) == ACCOUNT_NONE &&
               (ip->protocol == IP_TCP || ip->protocol == IP_UDP) &&
               !address_is_group(ip->destination) && !address_is_group(ip->source) &&
               !address_is_loopback(ip->source) && !address_is_loopback(ip->destination) &&
               !address_equal(ip->source, ip->destination);
}

gboolean common_address_add(CommonAddress *c, const Packet *packet)
{
        IpPacket ip;
        guint n = 0;

        if (!decode(c, packet, &ip))
                return TRUE;
        if (!c->started) {
                c->started = TRUE;
                c->candidate[0] = ip.source;
                c->candidate[1] = ip.destination;
                c->n = 2;
        }
        for (guint i = 0; i < c->n; i++)
                if (address_equal(c->candidate[i], ip.source) ||
                    address_equal(c->candidate[i], ip.destination))
                        c->candidate[n++] = c->candidate[i];
        c->n = n;
        return n > 0;
}

gboolean common_address_find(const CommonAddress *c, Address *address)
{
        if (c->n != 1)
                return FALSE;
        *address = c->candidate[0];
        return TRUE;
}
