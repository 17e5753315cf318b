/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz-frames.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        fuzz_frames(&protocol_cql, data, n);
        return 0;
}
