/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory that grows keeps what is in it, is zero where it is new, and lies where huge pages can.
 */
#include "base/big-memory.h"

#include <string.h>
#include <sys/resource.h>

#if defined __SANITIZE_ADDRESS__
#define SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif

enum { HUGE = 1 << 21 };

typedef gpointer (*Renew)(gpointer memory, gsize old_size, gsize new_size);

/* Grows by factor from first until last bytes, with a byte of its own in each stretch. */
static void grow_by(Renew renew, gsize first, gsize last, gsize factor)
{
        guint8 *p = NULL;
        gsize size = 0;
        guint8 mark = 0;

        for (gsize next = first; next <= last; next *= factor) {
                p = renew(p, size, next);
                g_assert_cmpuint((gsize)p % HUGE, ==, 0);
                for (gsize i = size; i < next; i += 997)
                        g_assert_cmpuint(p[i], ==, 0);
                g_assert_cmpuint(p[next - 1], ==, 0);
                mark++;
                memset(p + size, mark, next - size);
                size = next;
                big_put_away(p, size);
        }
        for (gsize next = first, at = 0; next <= last; at = next, next *= factor) {
                g_assert_cmpuint(p[at], ==, p[next - 1]);
                g_assert_cmpuint(p[at], >, 0);
        }
        g_assert_cmpuint(p[last - 1], ==, mark);
        big_free(p, size);
}

static void grow(gsize first, gsize last, gsize factor)
{
        grow_by(big_renew, first, last, factor);
}

static void test_grow(void)
{
        grow(1, 1 << 26, 2);
        grow(4096, 1 << 24, 2);
        grow(5, 5 << 24, 4);
        grow(1 << 21, 1 << 27, 64);
}

/* What is in a file is the same, whatever was put away; without one it is in memory. */
static void test_in_file(void)
{
        grow_by(big_renew_in_file, 1, 1 << 26, 2);
        grow_by(big_renew_in_file, 5, 5 << 24, 4);
        grow_by(big_renew_in_file, 1 << 21, 1 << 27, 64);
        grow_by(big_renew_in_file, 1 << 26, 1 << 27, 2);
}

static void test_no_file(void)
{
        if (g_test_subprocess()) {
                g_setenv("TMPDIR", "/nowhere", TRUE);
                test_in_file();
                return;
        }
        g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
        g_test_trap_assert_passed();
}

/* What is given back comes again as zeros. */
static void shrink(Renew renew, gsize size)
{
        guint8 *p = renew(NULL, 0, size);

        memset(p, 1, size);
        p = renew(p, size, size / 2);
        p = renew(p, size / 2, size);
        g_assert_cmpuint(p[0], ==, 1);
        g_assert_cmpuint(p[size / 2 - 1], ==, 1);
        for (gsize i = size / 2; i < size; i++)
                g_assert_cmpuint(p[i], ==, 0);
        big_free(p, size);
}

static void test_shrink(void)
{
        shrink(big_renew, 1 << 23);
        shrink(big_renew_in_file, 1 << 23);
        shrink(big_renew_in_file, 1 << 25);
        big_free(NULL, 0);
        big_put_away(NULL, 0);
        g_assert_true(big_renew(NULL, 0, 0) == NULL);
}

/* Runs the test in hand in a process of its own, which may take a limit for itself. */
static void run_limited(void)
{
#ifdef SANITIZED
        g_test_skip("sanitizers take address space without end");
#else
        g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
        g_test_trap_assert_passed();
#endif
}

/* Where address space has a limit, arrays are moved when they are past their room. */
static void test_move(void)
{
        if (g_test_subprocess()) {
                struct rlimit limit = { (rlim_t)1 << 40, (rlim_t)1 << 40 };

                setrlimit(RLIMIT_AS, &limit);
                grow(5, 5 << 24, 4);
                return;
        }
        run_limited();
}

/* A limit on address space leaves no room to grow, but what fits into it is there. */
static void test_limit(void)
{
        if (g_test_subprocess()) {
                struct rlimit limit = { 1 << 28, 1 << 28 };

                setrlimit(RLIMIT_AS, &limit);
                grow(1 << 24, 1 << 26, 2);
                return;
        }
        run_limited();
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/big-memory/grow", test_grow);
        g_test_add_func("/big-memory/in-file", test_in_file);
        g_test_add_func("/big-memory/no-file", test_no_file);
        g_test_add_func("/big-memory/shrink", test_shrink);
        g_test_add_func("/big-memory/move", test_move);
        g_test_add_func("/big-memory/limit", test_limit);
        return g_test_run();
}
