/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Connections that caller, callee and port do not tell apart have a number.
 */
#include "tests/unit/capture/scene.h"

/* Of connections that caller, callee and port do not tell apart, all but the first have a
 * number. */
static void test_numbers(void)
{
        static const guint client[3][2] = { { 1, 4096 }, { 3, 4096 }, { 3, 4097 } },
                           server[2] = { 2, 80 };
        Scene *s = scene_new("10.0.0.1 a\n10.0.0.3 a\n10.0.0.2 b\n", NULL, FALSE);
        s->time = 5 * MS;
        for (guint i = 0; i < 3; i++) {
                between(s, client[i], server, SYN, 0x100, 0, 0, "");
                between(s, server, client[i], SYN | ACK, 0x500, 0x101, 0, "");
                between(s, client[i], server, ACK, 0x101, 0x501, 0, "call");
                between(s, server, client[i], ACK, 0x501, 0x105, 0, "return");
        }
        for (guint i = 0; i < 3; i++)
                between(s, client[i], server, ACK, 0x105, 0x507, 0, "call");
        scene_end(s, "5 CALL_SENT a>b 1000.101\n5 RET_SENT b>a 1000.101\n"
                     "5 CALL_SENT a>b 1000.101 conn=1\n5 RET_SENT b>a 1000.101\n"
                     "5 CALL_SENT a>b 1001.101\n5 RET_SENT b>a 1001.101\n"
                     "5 CALL_SENT a>b 1000.105\n"
                     "5 CALL_SENT a>b 1000.105 conn=1\n"
                     "5 CALL_SENT a>b 1001.105\n");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/connection-number/numbers", test_numbers);
        return g_test_run();
}
