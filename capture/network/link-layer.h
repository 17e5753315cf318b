/* SPDX-License-Identifier: BSD-2-Clause
 *
 * From a frame to the IP packet in it. Knows Ethernet with any stack of VLAN tags, MPLS labels,
 * PPPoE and SNAP; Linux cooked captures 1 and 2, loopback, PPP, NFLOG, and bare IP.
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
        LINK_RAW_OTHER = 101,
        LINK_LOOP = 108,
        LINK_LINUX_SLL = 113,
        LINK_MPLS = 219,
        LINK_IPV4 = 228,
        LINK_IPV6 = 229,
        LINK_NFLOG = 239,
        LINK_LINUX_SLL2 = 276,
} LinkType;

/* FALSE where the link type carries no IP, or none that we can find. */
gboolean link_layer_is_known(int link_type);

/* Narrows frame to the IP packet in it. ACCOUNT_NONE, or why there is none. */
AccountEntry link_layer_decode(int link_type, Cursor *frame);
