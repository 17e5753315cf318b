/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz-pieces.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autofree guint8 *input = g_memdup2(data, n);

        if (n > 1)
                input[1] %= 4; /* what HTTP knows of a call */
        fuzz_pieces(&protocol_http, input, n);
        return 0;
}
