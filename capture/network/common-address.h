/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Recognises the host that packets were captured on: the one address that each packet is from or
 * to. Where there are only two addresses it may be either, and is not known.
 *
 * A broker with all its clients looks the same at a mirror port. But next to a host its
 * own kernel answers sooner than its peers': a SYN, and the answer to one, wait for no program.
 */
#pragma once

#include "capture/network/address.h"
#include "capture/packet/packet.h"

typedef struct CommonAddress CommonAddress;

CommonAddress *common_address_new(void);
void common_address_free(CommonAddress *common);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CommonAddress, common_address_free)

/* FALSE where there is none, whatever else comes. What is not TCP or UDP from one address
 * to another does not count. */
gboolean common_address_add(CommonAddress *common, const Packet *packet);

/* TRUE: *address is it. sure: openings of connections show that it answered sooner than its
 * peers, and so that packets were captured there. */
gboolean common_address_find(const CommonAddress *common, Address *address, gboolean *sure);
