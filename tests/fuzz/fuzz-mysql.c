/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fuzz-pieces.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autoptr(GString) text = g_string_new(NULL);
        gpointer memory = NULL;

        fuzz_pieces(&protocol_mysql, data, n);
        for (guint i = 0; i < 2 && n > 2; i++)
                protocol_mysql.values(text, &memory, data + 2, n - 2);
        protocol_mysql.forget(memory);
        return 0;
}
