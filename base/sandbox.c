/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "config.h"
#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif

/* Sanitizers read files of their own, and stop threads to look for leaks. */
#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* --- Landlock ----------------------------------------------------------------- */

/* As of linux/landlock.h, which may be older than the kernel. */
enum {
        RULE_PATH_BENEATH = 1,
        QUERY_VERSION = 1,

        WRITE_FILE = 1 << 1,
        READ_FILE = 1 << 2,
        READ_DIR = 1 << 3,
        REMOVE_FILE = 1 << 5,
        MAKE_REG = 1 << 8,
        TRUNCATE = 1 << 14,
        ALL_OF_FIRST_VERSION = (1 << 13) - 1,
        REFER = 1 << 13,

        BIND_AND_CONNECT_TCP = 3,
        SCOPE_ABSTRACT_SOCKETS = 1,
};

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

typedef struct {
        guint64 files, network, scopes;
} Ruleset;

typedef struct {
        guint64 allowed;
        gint32 fd;
} __attribute__((packed)) PathRule;

struct Sandbox {
        int ruleset;   /* -1: files are not bounded */
        guint64 files; /* the rights that it bounds */
};

Sandbox *sandbox_new(void)
{
        Sandbox *s = g_new0(Sandbox, 1);
        long version = SANITIZED ? 0 : syscall(SYS_landlock_create_ruleset, NULL, 0, QUERY_VERSION);
        Ruleset rules = { .files = ALL_OF_FIRST_VERSION };

        s->ruleset = -1;
        if (version < 1)
                return s;
        if (version >= 2)
                rules.files |= REFER;
        if (version >= 3)
                rules.files |= TRUNCATE;
        if (version >= 4)
                rules.network = BIND_AND_CONNECT_TCP;
        if (version >= 6)
                rules.scopes = SCOPE_ABSTRACT_SOCKETS;
        s->files = rules.files;
        s->ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
        return s;
}

void sandbox_free(Sandbox *s)
{
        sandbox_allow_all_files(s);
        g_free(s);
}

void sandbox_allow_all_files(Sandbox *s)
{
        if (s->ruleset >= 0)
                close(s->ruleset);
        s->ruleset = -1;
}

void sandbox_allow(Sandbox *s, const char *path, SandboxAccess access)
{
        static const guint64 rights[] = {
                [SANDBOX_READ] = READ_FILE | READ_DIR,
                [SANDBOX_WRITE] = WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE,
                [SANDBOX_SCRATCH] =
                        READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | MAKE_REG | REMOVE_FILE,
        };
        PathRule rule = { .allowed = rights[access] & s->files };
        struct stat st;

        if (s->ruleset < 0 || (rule.fd = open(path, O_PATH | O_CLOEXEC)) < 0)
                return;
        if (fstat(rule.fd, &st) == 0 && !S_ISDIR(st.st_mode))
                rule.allowed &= READ_FILE | WRITE_FILE | TRUNCATE;
        /* A pipe has no path: it is not bounded, and cannot be allowed. */
        syscall(SYS_landlock_add_rule, s->ruleset, RULE_PATH_BENEATH, &rule, 0);
        close(rule.fd);
}

/* --- seccomp ------------------------------------------------------------------ */

#ifdef HAVE_SECCOMP

#define CALL(name) SCMP_SYS(name)

/* What all programs do: memory, files that are open or may be, time, threads, their own signals. */
static const int for_all[] = {
        CALL(access),
        CALL(alarm),
        CALL(brk),
        CALL(clock_getres),
        CALL(clock_gettime),
        CALL(clock_nanosleep),
        CALL(close),
        CALL(dup),
        CALL(dup2),
        CALL(dup3),
        CALL(exit),
        CALL(exit_group),
        CALL(faccessat),
        CALL(faccessat2),
        CALL(fadvise64),
        CALL(fallocate),
        CALL(fchmod),
        CALL(fchown),
        CALL(fcntl),
        CALL(fcntl64),
        CALL(fdatasync),
        CALL(flock),
        CALL(fstat),
        CALL(fstat64),
        CALL(fstatfs),
        CALL(fstatfs64),
        CALL(fsync),
        CALL(ftruncate),
        CALL(ftruncate64),
        CALL(futex),
        CALL(futex_time64),
        CALL(getcwd),
        CALL(getdents),
        CALL(getdents64),
        CALL(getegid),
        CALL(geteuid),
        CALL(getgid),
        CALL(getpid),
        CALL(getppid),
        CALL(getrandom),
        CALL(getrusage),
        CALL(gettid),
        CALL(gettimeofday),
        CALL(getuid),
        CALL(_llseek),
        CALL(lseek),
        CALL(lstat),
        CALL(lstat64),
        CALL(madvise),
        CALL(membarrier),
        CALL(mremap),
        CALL(munmap),
        CALL(nanosleep),
        CALL(newfstatat),
        CALL(fstatat64),
        CALL(open),
        CALL(openat),
        CALL(poll),
        CALL(ppoll),
        CALL(pread64),
        CALL(preadv),
        CALL(pselect6),
        CALL(pwrite64),
        CALL(pwritev),
        CALL(read),
        CALL(readlink),
        CALL(readlinkat),
        CALL(readv),
        CALL(rename),
        CALL(renameat),
        CALL(renameat2),
        CALL(restart_syscall),
        CALL(rseq),
        CALL(rt_sigaction),
        CALL(rt_sigprocmask),
        CALL(rt_sigreturn),
        CALL(sched_getaffinity),
        CALL(sched_getattr),
        CALL(sched_setattr),
        CALL(sched_yield),
        CALL(select),
        CALL(set_robust_list),
        CALL(setitimer),
        CALL(sigaltstack),
        CALL(sigreturn),
        CALL(stat),
        CALL(stat64),
        CALL(statfs),
        CALL(statfs64),
        CALL(statx),
        CALL(sysinfo),
        CALL(time),
        CALL(times),
        CALL(ugetrlimit),
        CALL(umask),
        CALL(uname),
        CALL(unlink),
        CALL(unlinkat),
        CALL(write),
        CALL(writev),
};

/* Packets of sockets that are open, and the counts of these. */
static const int for_capture[] = {
        CALL(getsockname), CALL(getsockopt), CALL(recv),     CALL(recvfrom),
        CALL(recvmsg),     CALL(setsockopt), CALL(eventfd2), CALL(epoll_wait),
};

/* The end of a helper program. */
static const int for_files[] = { CALL(wait4), CALL(waitid), CALL(waitpid) };

static gboolean allow_calls(scmp_filter_ctx c, const int *calls, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if (seccomp_rule_add(c, SCMP_ACT_ALLOW, calls[i], 0) < 0)
                        return FALSE;
        return TRUE;
}

/* The call `call` if argument `which` is, under mask, value. */
static gboolean allow_if(scmp_filter_ctx c, int call, guint which, guint64 mask, guint64 value)
{
        return seccomp_rule_add(c, SCMP_ACT_ALLOW, call, 1,
                                SCMP_CMP64(which, SCMP_CMP_MASKED_EQ, mask, value)) >= 0;
}

static gboolean allow_memory(scmp_filter_ctx c, gboolean code)
{
        guint64 mask = code ? 0 : PROT_EXEC;

        return allow_if(c, CALL(mmap), 2, mask, 0) && allow_if(c, CALL(mmap2), 2, mask, 0) &&
               allow_if(c, CALL(mprotect), 2, mask, 0);
}

static gboolean allow_threads(scmp_filter_ctx c)
{
        /* The C library then calls clone(), whose flags can be looked at. */
        return seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), CALL(clone3), 0) >= 0 &&
               allow_if(c, CALL(clone), 0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM) &&
               allow_if(c, CALL(prctl), 0, G_MAXUINT32, PR_SET_NAME) &&
               allow_if(c, CALL(prlimit64), 2, G_MAXUINT64, 0);
}

static gboolean allow_signals(scmp_filter_ctx c, GPid helper)
{
        const guint64 all = G_MAXUINT32;

        return allow_if(c, CALL(tgkill), 0, all, (guint32)getpid()) &&
               allow_if(c, CALL(kill), 0, all, (guint32)getpid()) &&
               (!helper || allow_if(c, CALL(kill), 0, all, (guint32)helper));
}

/* Of a terminal, a pipe, a network interface and the kernel's records; a terminal's input is not
 * among them. */
static gboolean allow_ioctl(scmp_filter_ctx c)
{
        static const guint32 requests[] = {
                0x5401 /* TCGETS */,
                0x5413 /* TIOCGWINSZ */,
                0x541b /* FIONREAD */,
                0x8910 /* SIOCGIFNAME */,
                0x8913 /* SIOCGIFFLAGS */,
                0x8933 /* SIOCGIFINDEX */,
                0x2401 /* PERF_EVENT_IOC_DISABLE */,
        };

        for (gsize i = 0; i < G_N_ELEMENTS(requests); i++)
                if (!allow_if(c, CALL(ioctl), 1, G_MAXUINT32, requests[i]))
                        return FALSE;
        return TRUE;
}

static gboolean filter_fill(scmp_filter_ctx c, SandboxKind kind, GPid helper)
{
        return allow_calls(c, for_all, G_N_ELEMENTS(for_all)) &&
               (kind != SANDBOX_CAPTURE ||
                allow_calls(c, for_capture, G_N_ELEMENTS(for_capture))) &&
               (kind != SANDBOX_FILES || allow_calls(c, for_files, G_N_ELEMENTS(for_files))) &&
               allow_memory(c, kind == SANDBOX_DRAW) && allow_threads(c) &&
               allow_signals(c, helper) && allow_ioctl(c);
}

/* FALSE: errno is set. EINVAL and ENOSYS: the kernel has no filters. */
static gboolean filter_calls(SandboxKind kind, GPid helper)
{
        scmp_filter_ctx c = seccomp_init(SCMP_ACT_ERRNO(EPERM));
        int result = -ENOMEM;

        if (c && filter_fill(c, kind, helper)) {
                /* All threads, a search that halves the list: a kernel or library without goes on.
                 */
                (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_TSYNC, 1);
                (void)seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2);
                result = seccomp_load(c);
        }
        seccomp_release(c);
        errno = -result;
        return result == 0 || result == -EINVAL || result == -ENOSYS || result == -EOPNOTSUPP;
}

#else

static gboolean filter_calls(SandboxKind kind, GPid helper)
{
        (void)kind;
        (void)helper;
        return TRUE;
}

#endif

gboolean sandbox_enter(Sandbox *s, SandboxKind kind, GPid helper, GError **error)
{
        if (SANITIZED)
                return TRUE;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
            (s->ruleset < 0 || syscall(SYS_landlock_restrict_self, s->ruleset, 0) == 0) &&
            filter_calls(kind, helper))
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "cannot enter the sandbox: %s (--no-sandbox goes without)",
                          g_strerror(errno));
}
