/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/true-path.h"

#include <string.h>

void true_path_join(Message *message, GString *key, TruePathCounts *counts)
{
        gsize length = 0;
        const char *path = message_attribute(message, "path", &length);

        counts->calls += length > 0 && message_is_call(message);
        counts->returns += length > 0 && message_is_return(message);
        counts->returns_without += length == 0 && message_is_return(message);
        g_string_truncate(key, 0);
        g_string_append_len(key, path, (gssize)length);
        g_string_append_c(key, ' '); /* neither of them has one */
        g_string_append_len(key, message->id, message->id_length);
        message_set_id(message, key->str, key->len);
}

guint32 true_path_length(const char *id, guint32 length)
{
        return (const char *)memchr(id, ' ', length) - id;
}
