/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A body, after a byte with its kind: a name that is found may be written. Its values, and those of
 * the same bytes as an argument.
 */
#include <string.h>

#include "capture/protocol/values.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        gsize kept = 0;
        BodyName *b;
        g_autofree char *name = NULL;
        g_autoptr(GString) values = g_string_new(NULL);

        if (n == 0)
                return 0;
        b = body_name_new(data[0] % (BODY_PROTOBUF + 1), &kept);
        body_name_add(b, data + 1, n - 1, FALSE);
        name = body_name_find(b);
        g_assert(!name || is_operation_name((const guint8 *)name, strlen(name)));
        values_append_body(values, data[0] % (BODY_PROTOBUF + 1), data + 1, n - 1, data[0] < 128);
        values_append_argument(values, data + 1, n - 1);
        body_name_drop(&b, &kept);
        return 0;
}
