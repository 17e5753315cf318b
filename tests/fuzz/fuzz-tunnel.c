/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From frames inwards: link layers, IP, tunnels. The input: a byte for the link type, two for a
 * port that has a kind, then records: two bytes of length, one of bytes cut off, and the frame.
 * What is found lies within the frame, and again gives the same.
 */
#include "capture/network/link-layer.h"
#include "capture/network/tunnel.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

static const int link_types[] = {
        LINK_ETHERNET,  LINK_RAW,    LINK_NULL,     LINK_PPP,
        LINK_C_HDLC,    LINK_802_11, LINK_PRISM,    LINK_FRAME_RELAY,
        LINK_LINUX_SLL, LINK_AVS,    LINK_PPI,      LINK_JUNIPER_ETHERNET,
        LINK_MPLS,      LINK_NFLOG,  LINK_PKTAP,    LINK_LINUX_SLL2,
        LINK_DSA,       LINK_LOOP,   LINK_RADIOTAP, LINK_DSA_BROADCOM_PREPENDED,
};

static void decode(Tunnels *tunnels, IpFragments *fragments[TUNNEL_DEPTH + 1], TunnelInside in,
                   gsize cut)
{
        static Account account;
        for (guint depth = 0; depth <= TUNNEL_DEPTH; depth++) {
                IpPacket ip;
                AccountEntry reason = link_layer_decode(in.link_type, &in.frame, &in.unopened);
                g_assert(in.frame.at <= in.frame.end);
                if (reason == ACCOUNT_NONE)
                        reason = ip_decode(fragments[depth], in.frame.at, cursor_left(&in.frame),
                                           cursor_left(&in.frame) + cut, 1000, &ip, &account);
                if (reason != ACCOUNT_NONE)
                        return;
                g_assert(ip.captured <= ip.length);
                TunnelResult result = tunnel_decode(tunnels, &ip, &in);
                g_assert(result != TUNNEL_OTHER || in.reason < N_ACCOUNT);
                if (result != TUNNEL_FRAME)
                        return;
                g_assert(in.frame.at >= ip.payload && in.frame.end <= ip.payload + ip.captured);
                cut = ip.length - ip.captured;
        }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        static guint8 said[65536];
        Cursor c = cursor(data, n);
        guint8 choice, kind, cut;
        guint16 port, length;
        IpFragments *fragments[TUNNEL_DEPTH + 1];
        if (!cursor_u8(&c, &choice) || !cursor_u8(&c, &kind) || !cursor_u16(&c, &port))
                return 0;
        g_autofree char *list = tunnel_kind_list();
        g_auto(GStrv) names = g_strsplit(list, ", ", -1);
        gboolean is_said = kind >= 0xe0; /* to read all ports takes long */
        if (is_said)
                said[port] = tunnel_kind_lookup(names[kind % g_strv_length(names)]);
        g_autoptr(Tunnels) tunnels = tunnels_new(is_said ? said : NULL);
        said[port] = 0;
        for (guint i = 0; i <= TUNNEL_DEPTH; i++)
                fragments[i] = ip_fragments_new();
        while (cursor_u16(&c, &length) && cursor_u8(&c, &cut)) {
                gsize captured = MIN(length, cursor_left(&c));
                /* A copy of just its size, so that reading past it is seen. */
                g_autofree guint8 *bytes = g_memdup2(cursor_take(&c, captured), captured);
                TunnelInside in = { .frame = cursor(bytes, captured),
                                    .link_type = link_types[choice % G_N_ELEMENTS(link_types)] };
                decode(tunnels, fragments, in, cut);
        }
        for (guint i = 0; i <= TUNNEL_DEPTH; i++)
                ip_fragments_free(fragments[i]);
        return 0;
}
