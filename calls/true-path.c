/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/known-calls.h"

#include <string.h>

void true_path_join(Message *message, AttributeText path, GString *key, TruePathCounts *counts)
{
        gboolean is_return = message_is_return(message);

        counts->calls += path.length > 0 && message_is_call(message);
        counts->returns += path.length > 0 && is_return;
        counts->returns_without += path.length == 0 && is_return;
        g_string_truncate(key, 0);
        g_string_append_len(key, path.at, (gssize)path.length);
        g_string_append_c(key, ' '); /* neither of them has one */
        g_string_append_len(key, message->id, message->id_length);
        message_set_id(message, key->str, key->len);
}

guint32 true_path_length(const char *id, guint32 length)
{
        return (const char *)memchr(id, ' ', length) - id;
}
