/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Captures are opened and read while one allocation after the other fails, each in a process of its
 * own. The process may end with an error, or as GLib ends without memory, but not crash.
 */
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "capture/source/pcap-source.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER)
#define CAN_FAIL 1

static long fails_in = -1; /* allocations until one fails; below 0 none fails */

static gboolean fails(void)
{
        return fails_in >= 0 && fails_in-- == 0;
}

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
        return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
        return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
        return fails() ? NULL : __libc_realloc(p, n);
}

enum { MOST = 1000 };

/* Whether that allocation was made, and failed. */
static gboolean read_with(long allocation, const char *path)
{
        PcapOptions options = { .filter = NULL };
        Packet packet;
        int status;
        pid_t child = fork();
        if (child == 0) {
                /* The message of GLib is not of interest. */
                if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
                        _exit(2);
                fails_in = allocation;
                PcapSource *source = pcap_source_open(path, &options, NULL);
                while (source && pcap_source_next(source, &packet, NULL) == 1)
                        continue;
                pcap_source_free(source);
                _exit(fails_in >= 0);
        }
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        if (WIFSIGNALED(status)) /* GLib's own end: it aborts from 2.88 or so on */
                g_assert_true(WTERMSIG(status) == SIGTRAP || WTERMSIG(status) == SIGABRT);
        else
                g_assert_cmpint(WEXITSTATUS(status), <, 2);
        return WIFSIGNALED(status) || WEXITSTATUS(status) == 0;
}
#endif

/* A capture of one packet, compressed or not. */
static void check_capture(gboolean compressed)
{
#ifdef CAN_FAIL
        static const guint32 pcap[] = {
                0xa1b2c3d4, 0x00040002, 0, 0, 65535, 101, 1, 0, 4, 4, 0x45
        };
        g_autofree char *path = g_strdup("out-of-memory-XXXXXX");
        guint8 packed[sizeof pcap + 100];
        gsize n = ZSTD_compress(packed, sizeof packed, pcap, sizeof pcap, 1);
        long allocation = 0;
        g_assert_false(ZSTD_isError(n));
        close(g_mkstemp(path));
        g_assert_true(g_file_set_contents(path,
                                          compressed ? (const char *)packed : (const char *)pcap,
                                          compressed ? (gssize)n : (gssize)sizeof pcap, NULL));
        while (read_with(allocation, path))
                g_assert_cmpint(++allocation, <, MOST);
        g_assert_cmpint(allocation, >, 5);
        g_remove(path);
#else
        (void)compressed;
        g_test_skip("allocations cannot be made to fail");
#endif
}

static void test_plain(void)
{
        check_capture(FALSE);
}

static void test_compressed(void)
{
        check_capture(TRUE);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/out-of-memory/plain", test_plain);
        g_test_add_func("/out-of-memory/compressed", test_compressed);
        return g_test_run();
}
