/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Jaeger's answers: the traces in them.
 */
#include "tests/fuzz/fuzz-spans.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        import_value("{\"data\":", data, n, "}");
        return 0;
}
