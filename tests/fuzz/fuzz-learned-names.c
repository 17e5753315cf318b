/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names in a datagram and in a segment: what is learned is a host name.
 */
#include "capture/learned-names.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autoptr(LearnedNames) names = learned_names_new();
        const LearnedName *learned;
        learned_names_add_datagram(names, data, n);
        learned_names_add_segment(names, address_v4(1), data, n);
        for (guint i = 0; (learned = learned_names_get(names, i)); i++) {
                gsize length = strlen(learned->name);
                g_assert(length > 0 && length < sizeof learned->name &&
                         strspn(learned->name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") ==
                                 length);
        }
        return 0;
}
