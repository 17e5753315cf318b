/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A body, after a byte with its kind: a name that is found may be written.
 */
#include <string.h>

#include "capture/protocol/body-name.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        gsize kept = 0;
        BodyName *b;
        g_autofree char *name = NULL;

        if (n == 0)
                return 0;
        b = body_name_new(data[0] % (BODY_XML + 1), &kept);
        body_name_add(b, data + 1, n - 1, FALSE);
        name = body_name_find(b);
        g_assert(!name || is_operation_name((const guint8 *)name, strlen(name)));
        body_name_drop(&b, &kept);
        return 0;
}
