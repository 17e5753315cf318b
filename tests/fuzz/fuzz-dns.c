/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The DNS parser: the first byte says whether the datagram is whole.
 */
#include "capture/protocol/protocol.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        GString *label = g_string_new(NULL);
        Parsed parsed = { 0 };
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        if (n > 0 && protocol_dns.parse(state, CALL_NONE, data + 1, n - 1, data[0] & 1, label,
                                        &parsed) == PARSE_MESSAGE)
                g_assert(parsed.length == n - 1 && parsed.keyed);
        g_string_free(label, TRUE);
        return 0;
}
