/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz-pieces.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        Parsed parsed = { 0 };

        fuzz_pieces(&protocol_gossip, data, n);
        protocol_gossip_udp.parse(NULL, CALL_PROBE, data, n, TRUE, NULL, &parsed);
        return 0;
}
