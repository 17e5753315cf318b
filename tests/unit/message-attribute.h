/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One attribute of a message, looked up by its key.
 */
#pragma once

#include <string.h>

#include "tracefmt/message.h"

/* The value of attribute key, not NUL-terminated, as written. NULL: the message has none. */
static inline const char *message_attribute(const Message *m, const char *key, gsize *length)
{
        gsize key_length = strlen(key);
        const char *p = m->attrs, *end = m->attrs_length ? p + m->attrs_length : p;

        while (p < end) {
                const char *word = p;

                while (p < end && (guchar)*p > ' ')
                        p++;
                if ((gsize)(p - word) > key_length && word[key_length] == '=' &&
                    !memcmp(word, key, key_length)) {
                        *length = p - word - key_length - 1;
                        return word + key_length + 1;
                }
                while (p < end && (guchar)*p <= ' ')
                        p++;
        }
        return NULL;
}
