/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The host that packets were captured on, recognised: the one address that each of them
 * is from or to. Where there are only two addresses it may be either, and is not known.
 */
#ifndef RAVEL_COMMON_ADDRESS_H
#define RAVEL_COMMON_ADDRESS_H

#include "capture/address.h"
#include "capture/packet.h"

typedef struct CommonAddress CommonAddress;

CommonAddress *common_address_new(void);
void common_address_free(CommonAddress *common);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CommonAddress, common_address_free)

/* FALSE where there is none, whatever else comes. What is not TCP or UDP from one address
 * to another does not count. */
gboolean common_address_add(CommonAddress *common, const Packet *packet);

/* TRUE: *address is it. */
gboolean common_address_find(const CommonAddress *common, Address *address);

#endif
