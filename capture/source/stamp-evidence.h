/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether the packets of a file, out of the order of their stamps, are in the order in which they
 * were sent. Then the clock was set back, and sorting them would spoil it.
 *
 * The bytes of a TCP direction tell. Their sequence numbers rise as they are sent. If sorting by
 * stamps makes segments go back that do not in the file, the stamps are wrong. Otherwise they are
 * right: so it is with files of one direction each, one after the other, where both orders keep
 * each direction.
 */
#pragma once

#include "capture/packet/packet.h"

typedef struct StampEvidence StampEvidence;

StampEvidence *stamp_evidence_new(void);
void stamp_evidence_free(StampEvidence *evidence);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StampEvidence, stamp_evidence_free)

/* All packets, as the file has them. Takes bounded memory, and a temporary file. FALSE: error set,
 * where that cannot be written. */
gboolean stamp_evidence_add(StampEvidence *evidence, const Packet *packet, GError **error);

/* After the last packet: sets set_back. FALSE: error set. */
gboolean stamp_evidence_weigh(StampEvidence *evidence, gboolean *set_back, GError **error);
