/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Zipkin v2: the spans in an array.
 */
#include "tests/fuzz/fuzz-spans.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        import_value("[", data, n, "]");
        return 0;
}
