/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A process that enters the sandbox stands in for a parser that was taken over: it tries what an
 * attacker would. Each attempt is done in a process of its own, once outside and once inside.
 */
#include "base/sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static char *folder, *input, *output, *other;

static gboolean can_open(const char *path, int flags)
{
        int fd = open(path, flags | O_CLOEXEC, 0600);

        return fd >= 0 && close(fd) == 0;
}

/* --- what is needed ------------------------------------------------------------- */

static gboolean reads_input(void)
{
        return can_open(input, O_RDONLY);
}

static gboolean replaces_output(void)
{
        g_autofree char *beside = g_strconcat(output, ".new", NULL);

        return can_open(beside, O_WRONLY | O_CREAT | O_EXCL) && rename(beside, output) == 0 &&
               unlink(output) == 0;
}

static gpointer write_in_thread(gpointer data)
{
        return GINT_TO_POINTER(can_open(output, O_WRONLY | O_CREAT | O_TRUNC) && !data);
}

static gboolean has_threads(void)
{
        return GPOINTER_TO_INT(g_thread_join(g_thread_new("other", write_in_thread, NULL)));
}

static gboolean has_memory(void)
{
        enum { SIZE = 1 << 26 };
        guint8 *bytes = g_malloc(SIZE);

        memset(bytes, 1, SIZE);
        bytes = g_realloc(bytes, 2 * SIZE);
        g_free(bytes);
        return TRUE;
}

/* --- files: by Landlock ---------------------------------------------------------- */

static gboolean reads_other(void)
{
        return can_open(other, O_RDONLY);
}

static gboolean reads_system(void)
{
        return can_open("/etc/passwd", O_RDONLY);
}

static gboolean reads_beside_output(void)
{
        g_autofree char *path = g_build_filename(folder, "out", "there", NULL);

        return can_open(path, O_RDONLY);
}

static gboolean writes_input(void)
{
        return can_open(input, O_WRONLY);
}

static gboolean writes_elsewhere(void)
{
        g_autofree char *path = g_build_filename(folder, "new", NULL);

        return can_open(path, O_WRONLY | O_CREAT);
}

static gboolean removes_other(void)
{
        return unlink(other) == 0;
}

static gboolean other_thread_reads(void)
{
        return GPOINTER_TO_INT(
                g_thread_join(g_thread_new("other", (GThreadFunc)(void *)reads_other, NULL)));
}

/* --- by seccomp ------------------------------------------------------------------ */

static gboolean opens_socket(void)
{
        return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static gboolean opens_datagrams(void)
{
        return socket(AF_INET, SOCK_DGRAM, 0) >= 0;
}

static gboolean opens_local_socket(void)
{
        int both[2];

        return socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0;
}

static gboolean starts_program(void)
{
        pid_t child = fork();
        int status;

        if (child == 0) {
                execl("/bin/true", "true", (char *)NULL);
                _exit(1);
        }
        return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static gboolean becomes_program(void)
{
        execl("/bin/true", "true", (char *)NULL);
        return FALSE;
}

static gboolean forks(void)
{
        pid_t child = fork();

        if (child == 0)
                _exit(0);
        return child > 0;
}

static gboolean looks_at_parent(void)
{
        return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0;
}

static gboolean signals_parent(void)
{
        return kill(getppid(), 0) == 0;
}

static gboolean makes_code(void)
{
        return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0) != MAP_FAILED;
}

static gboolean makes_link(void)
{
        g_autofree char *path = g_build_filename(folder, "out", "link", NULL);

        return symlink("/etc/passwd", path) == 0;
}

static gboolean changes_owner_of_path(void)
{
        return chmod(input, 0666) == 0;
}

/* --- all --------------------------------------------------------------------------- */

typedef struct {
        const char *name;
        gboolean (*try)(void);
} Attempt;

static const Attempt needed[] = { { "reads the input", reads_input },
                                  { "replaces the output", replaces_output },
                                  { "starts threads that write", has_threads },
                                  { "takes memory", has_memory } };
static const Attempt files[] = { { "reads another file", reads_other },
                                 { "reads a file of the system", reads_system },
                                 { "reads beside the output", reads_beside_output },
                                 { "writes the input", writes_input },
                                 { "writes elsewhere", writes_elsewhere },
                                 { "reads by another thread", other_thread_reads },
                                 { "removes another file", removes_other } };
static const Attempt calls[] = { { "opens a socket", opens_socket },
                                 { "opens a socket of datagrams", opens_datagrams },
                                 { "opens a local socket", opens_local_socket },
                                 { "starts a program", starts_program },
                                 { "becomes a program", becomes_program },
                                 { "forks", forks },
                                 { "signals its parent", signals_parent },
                                 { "makes code", makes_code },
                                 { "makes a link", makes_link },
                                 { "changes the rights to a file", changes_owner_of_path } };

static void make_files(void)
{
        g_autofree char *out = g_build_filename(folder, "out", NULL);
        g_autofree char *beside = g_build_filename(out, "there", NULL);

        g_mkdir(out, 0700);
        g_assert_true(g_file_set_contents(input, "input", -1, NULL) &&
                      g_file_set_contents(other, "other", -1, NULL) &&
                      g_file_set_contents(beside, "there", -1, NULL));
}

/* Whether an attempt succeeds in a process inside, or outside. */
static gboolean succeeds(const Attempt *attempt, gboolean inside, SandboxKind kind)
{
        pid_t child;
        int status;

        make_files();
        child = fork();
        if (child == 0) {
                g_autoptr(Sandbox) sandbox = sandbox_new();
                g_autofree char *out = g_path_get_dirname(output);

                sandbox_allow(sandbox, input, SANDBOX_READ);
                sandbox_allow(sandbox, out, SANDBOX_WRITE);
                if (inside && !sandbox_enter(sandbox, kind, 0, NULL))
                        _exit(2);
                _exit(attempt->try() ? 0 : 1);
        }
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), <, 2);
        return WEXITSTATUS(status) == 0;
}

/* Whether all attempts succeed outside, and all or none inside. */
static void check(const Attempt *attempts, gsize n, gboolean expected)
{
        for (gsize i = 0; i < n; i++) {
                g_test_message("%s", attempts[i].name);
                g_assert_true(succeeds(&attempts[i], FALSE, SANDBOX_FILES));
                g_assert_cmpint(succeeds(&attempts[i], TRUE, SANDBOX_FILES), ==, expected);
                g_assert_cmpint(succeeds(&attempts[i], TRUE, SANDBOX_CAPTURE), ==, expected);
        }
}

static void test_needed(void)
{
        check(needed, G_N_ELEMENTS(needed), TRUE);
}

static void test_files(void)
{
#ifdef SANITIZED
        g_test_skip("built with sanitizers");
#else
        if (syscall(444 /* landlock_create_ruleset */, NULL, 0, 1) < 1)
                g_test_skip("the kernel has no Landlock");
        else
                check(files, G_N_ELEMENTS(files), FALSE);
#endif
}

static void test_calls(void)
{
#if defined SANITIZED || !defined HAVE_SECCOMP
        g_test_skip("built with sanitizers, or without libseccomp");
#else
        check(calls, G_N_ELEMENTS(calls), FALSE);
        Attempt trace = { "looks at its parent", looks_at_parent };
        g_assert_false(succeeds(&trace, TRUE, SANDBOX_FILES));
#endif
}

int main(int argc, char **argv)
{
        int result;

        g_test_init(&argc, &argv, NULL);
        folder = g_dir_make_tmp("sandbox-XXXXXX", NULL);
        input = g_build_filename(folder, "input", NULL);
        other = g_build_filename(folder, "other", NULL);
        output = g_build_filename(folder, "out", "output", NULL);
        g_test_add_func("/sandbox/needed", test_needed);
        g_test_add_func("/sandbox/files", test_files);
        g_test_add_func("/sandbox/calls", test_calls);
        result = g_test_run();
        make_files();
        for (guint i = 0; i < 3; i++) {
                static const char *const names[] = { "output", "there", "link" };
                g_autofree char *path = g_build_filename(folder, "out", names[i], NULL);

                unlink(path);
        }
        g_autofree char *out = g_path_get_dirname(output);
        g_autofree char *made = g_build_filename(folder, "new", NULL);
        unlink(made);
        unlink(input);
        unlink(other);
        rmdir(out);
        rmdir(folder);
        g_free(folder);
        g_free(input);
        g_free(output);
        g_free(other);
        return result;
}
