/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/run-verb.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/tool.h"

static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU };

static volatile pid_t child;
static volatile sig_atomic_t caught;

static void redirect(const char *path, int to)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0 || dup2(fd, to) < 0)
                _exit(EXIT_PARTIAL);
}

static void G_GNUC_NORETURN run_child(int (*verb)(int, char **), const char *const *arguments,
                                      const char *log, pid_t parent)
{
        g_auto(GStrv) argv = g_strdupv((char **)arguments);
        int result;

        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) /* the parent has already ended */
                _exit(EXIT_INTERRUPTED);
        if (log)
                redirect(log, STDERR_FILENO);
        redirect("/dev/null", STDOUT_FILENO);
        tool_set_verb(argv[0]);
        result = verb((int)g_strv_length(argv), argv);
        fflush(NULL);
        _exit(result);
}

static void pass_signal_on(int number)
{
        caught = number;
        if (child > 0)
                kill(child, number);
}

int run_verb(int (*verb)(int, char **), const char *const *arguments, const char *log)
{
        struct sigaction action = { .sa_handler = pass_signal_on }, before[G_N_ELEMENTS(numbers)];
        sigset_t mine, usual;
        pid_t parent = getpid(), ended;
        int status = 0;

        fflush(NULL);
        sigemptyset(&mine);
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                sigaddset(&mine, numbers[i]);
        sigprocmask(SIG_BLOCK, &mine, &usual); /* until the child exists, to pass it on to */
        child = fork();
        if (child == 0) {
                sigprocmask(SIG_SETMASK, &usual, NULL);
                run_child(verb, arguments, log, parent);
        }
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
                sigaction(numbers[i], NULL, &before[i]);
                if (before[i].sa_handler != SIG_IGN)
                        sigaction(numbers[i], &action, NULL);
        }
        sigprocmask(SIG_SETMASK, &usual, NULL);
        do
                ended = child > 0 ? waitpid(child, &status, 0) : -1;
        while (ended < 0 && errno == EINTR);
        child = 0;
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                sigaction(numbers[i], &before[i], NULL);
        if (caught)
                raise(caught);
        if (ended > 0 && WIFSIGNALED(status))
                tool_warn("ravel %s ended: %s", arguments[0], g_strsignal(WTERMSIG(status)));
        return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_PARTIAL;
}
