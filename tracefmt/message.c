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
