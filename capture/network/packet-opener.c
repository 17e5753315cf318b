/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/packet-opener.h"

#include "capture/network/link-layer.h"
#include "capture/network/tunnel.h"

struct PacketOpener {
        IpFragments *fragments[TUNNEL_DEPTH + 1]; /* by depth: what one completes the next reads */
        Tunnels *tunnels;
};

PacketOpener *packet_opener_new(const guint8 *kinds)
{
        PacketOpener *o = g_new0(PacketOpener, 1);
        for (guint depth = 0; depth <= TUNNEL_DEPTH; depth++)
                o->fragments[depth] = ip_fragments_new();
        o->tunnels = tunnels_new(kinds);
        return o;
}

void packet_opener_free(PacketOpener *o)
{
        if (!o)
                return;
        for (guint depth = 0; depth <= TUNNEL_DEPTH; depth++)
                ip_fragments_free(o->fragments[depth]);
        tunnels_free(o->tunnels);
        g_free(o);
}

AccountEntry packet_open(PacketOpener *o, const Packet *packet, gint64 time, IpPacket *ip,
                         Account *account)
{
        TunnelInside in = { .frame = cursor(packet->bytes, packet->captured),
                            .link_type = packet->link_type };
        gsize missing = packet->length - packet->captured;
        for (guint depth = 0; depth <= TUNNEL_DEPTH; depth++) {
                AccountEntry reason = link_layer_decode(in.link_type, &in.frame, &in.unopened);
                if (reason == ACCOUNT_NOT_IP)
                        account_add_unopened(account, in.unopened);
                if (reason == ACCOUNT_NONE)
                        reason = ip_decode(o->fragments[depth], in.frame.at, cursor_left(&in.frame),
                                           cursor_left(&in.frame) + missing, time, ip, account);
                if (reason != ACCOUNT_NONE)
                        return reason;
                switch (tunnel_decode(o->tunnels, ip, &in)) {
                case TUNNEL_NONE:
                        return ACCOUNT_NONE;
                case TUNNEL_OTHER:
                        account_add_unopened(account, in.unopened);
                        return in.reason;
                case TUNNEL_FRAME:
                        break;
                }
                missing = ip->length - ip->captured;
                if (depth == 0)
                        account_add(account, ACCOUNT_TUNNELLED);
        }
        return ACCOUNT_TOO_DEEP;
}

void packet_opener_flush(PacketOpener *o, Account *account)
{
        for (guint depth = 0; depth <= TUNNEL_DEPTH; depth++)
                ip_fragments_flush(o->fragments[depth], account);
}
