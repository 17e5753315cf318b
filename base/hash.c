/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hash.h"

static guint64 random_word(void)
{
        return (guint64)g_random_int() << 32 | g_random_int();
}

const HashKey *hash_key(void)
{
        static HashKey key;
        static gsize made;

        if (g_once_init_enter(&made)) {
                key = (HashKey){ random_word(), random_word() | 1 };
                g_once_init_leave(&made, 1);
        }
        return &key;
}

guint hash_text(gconstpointer text)
{
        return (guint)hash_keyed_bytes(hash_key(), text, strlen(text));
}
