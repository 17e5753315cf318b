/* SPDX-License-Identifier: BSD-2-Clause
 *
 * OTLP: spans of resources.
 */
#include "tests/fuzz/fuzz-spans.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        import_value("{\"resourceSpans\":", data, n, "}");
        return 0;
}
