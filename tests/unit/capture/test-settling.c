/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is taken from a queue returns when it is settled.
 */
#include "capture/settling.h"
#include "tests/unit/capture/scene.h"

/* An array of strings, up to NULL. */
G_GNUC_NULL_TERMINATED static void say_words(Scene *s, guint side, gint64 ms, const char *word, ...)
{
        g_autoptr(GString) words = g_string_new(NULL), said = g_string_new(NULL);
        guint n = 0;
        va_list list;
        va_start(list, word);
        for (; word; word = va_arg(list, const char *), n++)
                g_string_append_printf(words, "$%zu\r\n%s\r\n", strlen(word), word);
        va_end(list);
        g_string_printf(said, "*%u\r\n%s", n, words->str);
        say(s, side, ms, said->str);
}

/* A job with a tag returns when the worker takes the tag off; what only names the tag is marked,
 * and so is what takes it off. A tag is settled once, and by who has taken it. */
static void test_redis_settles(void)
{
        static const char job[] = "{\"headers\":{\"task\":\"shop.pay\"},"
                                  "\"properties\":{\"delivery_tag\":\"t1\"}}";
        Scene *s = scene_new(two_nodes, NULL, TRUE);
        say_words(s, CLIENT, 5, "BRPOP", "q", "0", NULL);
        say_words(s, SERVER, 6, "q", job, NULL);
        say_words(s, CLIENT, 7, "HSET", "unacked", "t1", job, NULL);
        say(s, SERVER, 8, ":1\r\n");
        say_words(s, CLIENT, 9, "HDEL", "unacked", "t2", NULL);
        say(s, SERVER, 10, ":0\r\n");
        say_words(s, CLIENT, 11, "HDEL", "unacked", "t1", NULL);
        say(s, SERVER, 12, ":1\r\n");
        say_words(s, CLIENT, 13, "HDEL", "unacked", "t1", NULL);
        say(s, SERVER, 14, ":0\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.100 label=BRPOP fetch=wait\n"
                     "6 CALL_SENT b>a 1000.100 label=deliver%20shop.pay link=1000.100\n"
                     "6 RET_SENT b>a 1000.100\n"
                     "7 CALL_SENT a>b 1000.11d label=HSET fetch=settle\n"
                     "8 RET_SENT b>a 1000.11d\n"
                     "9 CALL_SENT a>b 1000.189 label=HDEL\n"
                     "10 RET_SENT b>a 1000.189\n"
                     "11 RET_SENT a>b 1000.100\n"
                     "11 CALL_SENT a>b 1000.1ac label=HDEL fetch=settle\n"
                     "12 RET_SENT b>a 1000.1ac\n"
                     "13 CALL_SENT a>b 1000.1cf label=HDEL\n"
                     "14 RET_SENT b>a 1000.1cf\n");
}

/* Of a stream a group's readers settle entries by their ids, several at a time, and others none. */
static void test_redis_groups(void)
{
        static const char entries[] = "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n"
                                      "*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nk\r\n$1\r\nv\r\n"
                                      "*2\r\n$3\r\n1-2\r\n*2\r\n$1\r\nk\r\n$1\r\nw\r\n";
        Scene *s = scene_new(two_nodes, NULL, FALSE);
        say_words(s, CLIENT, 5, "XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">", NULL);
        say(s, SERVER, 6, entries);
        say_words(s, CLIENT, 7, "XACK", "s", "g", "1-1", "1-2", "1-3", NULL);
        say(s, SERVER, 8, ":2\r\n");
        say_words(s, CLIENT, 9, "XACK", "t", "g", "1-1", NULL);
        say(s, SERVER, 10, ":0\r\n");
        scene_end(s, "5 CALL_SENT a>b 1000.100 fetch=wait\n"
                     "6 CALL_SENT b>a 1000.100 link=1000.100\n"
                     "6 CALL_SENT b>a 1000.101 link=1000.101\n"
                     "6 RET_SENT b>a 1000.100\n"
                     "7 RET_SENT a>b 1000.100\n"
                     "7 RET_SENT a>b 1000.101\n"
                     "7 CALL_SENT a>b 1000.149 fetch=settle\n"
                     "8 RET_SENT b>a 1000.149\n"
                     "9 CALL_SENT a>b 1000.180\n"
                     "10 RET_SENT b>a 1000.180\n");
}

/* After 1,024 of which none was settled what is taken is one-way. */
static void test_redis_unsettled(void)
{
        Settling *s = settling_new(1 << 20);
        Link link;
        for (guint i = 0; i < 1024; i++)
                g_assert_true(settling_take(s, 1, 2, 100 + i, 7, i));
        g_assert_false(settling_take(s, 1, 2, 99, 7, 1024));
        g_assert_true(settling_take(s, 1, 3, 99, 7, 1025)); /* another consumer */
        g_assert_false(settling_has(s, 1, 2, 99));
        g_assert_false(settling_settle(s, 1, 2, 99).some);
        link = settling_settle(s, 1, 2, 100);
        g_assert_true(link.some && link.number == 0 && link.port == 7);
        g_assert_false(settling_has(s, 1, 2, 100));
        g_assert_true(settling_take(s, 1, 2, 99, 7, 1026));
        settling_free(s);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/settling/redis-settles", test_redis_settles);
        g_test_add_func("/settling/redis-groups", test_redis_groups);
        g_test_add_func("/settling/redis-unsettled", test_redis_unsettled);
        return g_test_run();
}
