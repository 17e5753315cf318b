/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Packets into a pcapng file (draft-ietf-opsawg-pcapng), with stamps of nanoseconds and an
 * interface for each link type.
 */
#pragma once

#include "capture/packet/packet.h"
#include "tracefmt/output-file.h"

typedef struct PcapngWriter PcapngWriter;

/* path: "-" is standard output. The file is there whole or not at all (output-file.h). NULL and
 * error set where it cannot be made. */
PcapngWriter *pcapng_writer_new(const char *path, GError **error);
gboolean pcapng_writer_add(PcapngWriter *writer, const Packet *packet, GError **error);
gboolean pcapng_writer_close(PcapngWriter *writer, GError **error); /* frees it either way */

/* Gives the file up. NULL is allowed. */
void pcapng_writer_free(PcapngWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PcapngWriter, pcapng_writer_free)
