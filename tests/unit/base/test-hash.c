/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Texts that collide in the hash without a key do not in the one with a key.
 */
#include "base/hash.h"

enum { N = 4096 };

/* Two words that make hash_bytes() the same for all i. */
static void make_text(guint64 i, guint64 words[2])
{
        words[0] = i * 0x100000001;
        words[1] = hash_word(HASH_SEED ^ 16, words[0]);
}

static void test_collisions(void)
{
        const HashKey *key = hash_key();
        g_autofree guint8 *taken = g_new0(guint8, N);
        guint most = 0;

        for (guint64 i = 0; i < N; i++) {
                guint64 words[2], zero[2];
                make_text(i, words);
                make_text(0, zero);
                g_assert_cmpuint(hash_bytes((char *)words, 16), ==, hash_bytes((char *)zero, 16));
                guint8 *place = &taken[hash_keyed_bytes(key, (char *)words, 16) % N];
                most = MAX(most, ++*place);
        }
        g_assert_cmpuint(most, <, 20);
}

/* Also keys that differ in a few high bits, or in low ones, are spread. */
static void test_bits(void)
{
        const HashKey *key = hash_key();
        for (guint shift = 0; shift <= 52; shift++) {
                g_autofree guint8 *taken = g_new0(guint8, N);
                guint most = 0;
                for (guint64 i = 0; i < N; i++) {
                        guint64 h = hash_keyed_word(key, key->start, i << shift);
                        most = MAX(most, ++taken[h % N]);
                }
                g_assert_cmpuint(most, <, 20);
        }
}

static void test_lengths(void)
{
        static const char text[] = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
        for (gsize n = 0; n < 32; n++)
                for (gsize m = n + 1; m < 32; m++)
                        g_assert_cmpuint(hash_keyed_bytes(hash_key(), text, n), !=,
                                         hash_keyed_bytes(hash_key(), text, m));
        g_assert_cmpuint(hash_text("abc"), ==, (guint)hash_keyed_bytes(hash_key(), "abc", 3));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/hash/collisions", test_collisions);
        g_test_add_func("/hash/bits", test_bits);
        g_test_add_func("/hash/lengths", test_lengths);
        return g_test_run();
}
