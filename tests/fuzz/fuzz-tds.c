/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz-pieces.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        fuzz_pieces(&protocol_tds, data, n);
        return 0;
}
