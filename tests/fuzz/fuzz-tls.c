/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz-frames.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        /* A record that ends where a piece does may be recognised by that, so one may
         * stop before the other. */
        fuzz_frames(&protocol_tls, data, n, FALSE);
        return 0;
}
