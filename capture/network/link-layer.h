/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From a frame to the IP packet in it. Knows Ethernet with any stack of tags and of frames in
 * frames, also with the tags of switch chips (DSA), and 802.11 in clear. Knows PPP, Cisco HDLC,
 * Frame Relay, Linux cooked captures, loopback, NFLOG, Juniper's, Apple's, MPLS and bare IP.
 */
#pragma once

#include "capture/packet/account.h"
#include "capture/packet/packet.h"

/* Link types that are understood, with libpcap's numbers (pcap-linktype(7)). */
typedef enum {
        LINK_NULL = 0,
        LINK_ETHERNET = 1,
        LINK_PPP = 9,
        LINK_RAW = 12,
        LINK_RAW_BSD = 14,
        LINK_PPP_SERIAL = 50,
        LINK_RAW_OTHER = 101,
        LINK_C_HDLC = 104,
        LINK_802_11 = 105,
        LINK_FRAME_RELAY = 107,
        LINK_LOOP = 108,
        LINK_LINUX_SLL = 113,
        LINK_PRISM = 119,
        LINK_RADIOTAP = 127,
        LINK_AVS = 163,
        LINK_JUNIPER_ETHERNET = 178,
        LINK_PPI = 192,
        LINK_MPLS = 219,
        LINK_IPV4 = 228,
        LINK_IPV6 = 229,
        LINK_NFLOG = 239,
        LINK_PKTAP = 258,
        LINK_LINUX_SLL2 = 276,
        LINK_DSA_BROADCOM = 281,
        LINK_DSA_BROADCOM_PREPENDED = 282,
        LINK_DSA = 284,
        LINK_DSA_WITH_TYPE = 285,
} LinkType;

/* Beside these: what an EtherType says follows, as in a tunnel. */
#define LINK_OF_ETHERTYPE(type) (UNOPENED_ETHERTYPE | (int)(type))

/* FALSE where the link type carries no IP, or none that we can find. */
gboolean link_layer_is_known(int link_type);

/* Narrows frame to the IP packet in it. ACCOUNT_NONE, or why there is none. ACCOUNT_NOT_IP:
 * *unopened is the header at which decoding ended, a link type or an Unopened with its number. */
AccountEntry link_layer_decode(int link_type, Cursor *frame, guint32 *unopened);
