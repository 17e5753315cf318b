/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/message.h"

#include <string.h>

#include "base/hash.h"

const char *message_op_name(MessageOp op)
{
        static const char *const names[N_MESSAGE_OPS] = {
                "CALL_SENT", "CALL_RECV", "RET_SENT", "RET_RECV", "MSG_SENT", "MSG_RECV",
        };

        g_assert(op < N_MESSAGE_OPS);
        return names[op];
}

const char *message_attribute(const Message *m, const char *key, gsize *length)
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

void message_set_id(Message *m, const char *id, gsize n)
{
        m->id = id;
        m->id_length = n - (n == 1 && *id == '-');
        m->id_words[0] = m->id_words[1] = 0;
        if (m->id_length <= SHORT_ID)
                memcpy(m->id_words, id, m->id_length);
        else
                m->id_words[0] = hash_bytes(id, m->id_length);
}
