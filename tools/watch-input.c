/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/watch-input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tools/tool.h"
#include "watch/ring.h"
#include "watch/traces.h"

enum {
        MOST = 2,            /* processes, one after another */
        PIPE_SIZE = 1 << 20, /* bytes: what waits while parents are found */
};

static volatile pid_t processes[MOST]; /* the last one writes the trace */
static volatile sig_atomic_t n_processes;
static WatchShared *shared;

/* Runs in a process of its own: reads standard input, writes standard output. */
typedef int (*Run)(const WatchInput *input);

static int run_capture(const WatchInput *input)
{
        g_autoptr(GPtrArray) argv = g_ptr_array_new();

        g_ptr_array_add(argv, "capture");
        for (char **i = input->interfaces; i && *i; i++) {
                g_ptr_array_add(argv, "-i");
                g_ptr_array_add(argv, *i);
        }
        for (char **f = input->files; f && *f && !input->follow; f++) {
                g_ptr_array_add(argv, "-r");
                g_ptr_array_add(argv, *f);
        }
        if (input->follow) {
                g_ptr_array_add(argv, "-r");
                g_ptr_array_add(argv, "-");
        }
        for (char **o = input->capture; *o; o++)
                g_ptr_array_add(argv, *o);
        g_ptr_array_add(argv, "-w");
        g_ptr_array_add(argv, "-");
        g_ptr_array_add(argv, NULL);
        tool_set_verb("watch");
        capture_share_counts(&shared->capture);
        capture_reload_on_hangup();
        return tool_capture((int)argv->len - 1, (char **)argv->pdata);
}

static int run_ring(const WatchInput *input)
{
        GError *error = NULL;

        tool_set_verb("watch");
        if (!ring_follow((const char *const *)input->files, input->since, STDOUT_FILENO, tool_warn,
                         &error))
                return tool_fail(error);
        return EXIT_DONE;
}

static int run_traces(const WatchInput *input)
{
        TracesOptions options = { input->traces, input->wait, input->since, &shared->late,
                                  tool_warn };
        GError *error = NULL;

        return traces_follow(&options, &error) ? EXIT_DONE : tool_fail(error);
}

static void G_GNUC_NORETURN run_process(Run run, const WatchInput *input, int in, int out,
                                        pid_t parent)
{
        static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
        int status;

        /* The terminal's signals are for the parent alone, which passes them on. */
        setpgid(0, 0);
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                signal(numbers[i], SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent || (in >= 0 && dup2(in, STDIN_FILENO) < 0) ||
            dup2(out, STDOUT_FILENO) < 0)
                _exit(EXIT_PARTIAL);
        tool_be_no_terminal();
        status = run(input);
        fflush(NULL);
        _exit(status);
}

/* Starts a process that reads from in (-1: from standard input). Returns where its output can be
 * read; -1: error set. Takes in. */
static int start_process(Run run, const WatchInput *input, int in, GError **error)
{
        pid_t parent = getpid(), child;
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0 || (child = fork()) < 0) {
                ravel_fail(error, RAVEL_ERROR_OUTPUT, "cannot start a process: %s",
                           g_strerror(errno));
                return -1;
        }
        if (child == 0)
                run_process(run, input, in, ends[1], parent);
        fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);
        processes[n_processes] = child;
        n_processes++;
        close(ends[1]);
        if (in >= 0)
                close(in);
        return ends[0];
}

gboolean watch_input_start(const WatchInput *input, WatchShared **counts, GError **error)
{
        int in = -1;

        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
        if (shared == MAP_FAILED)
                return ravel_fail(error, RAVEL_ERROR_OUTPUT, "cannot share memory: %s",
                                  g_strerror(errno));
        *counts = shared;
        if ((input->follow && (in = start_process(run_ring, input, -1, error)) < 0) ||
            (in = start_process(input->traces ? run_traces : run_capture, input, in, error)) < 0)
                return FALSE;
        return dup2(in, STDIN_FILENO) >= 0 ||
               ravel_fail(error, RAVEL_ERROR_INPUT, "standard input: %s", g_strerror(errno));
}

void watch_input_stop(void)
{
        /* The first one: its reader sees the end. */
        if (n_processes > 0)
                kill(processes[0], SIGTERM);
}

void watch_input_reload(void)
{
        if (n_processes > 0)
                kill(processes[n_processes - 1], SIGHUP);
}

int watch_input_wait(void)
{
        int worst = EXIT_DONE, status;

        for (int i = 0; i < n_processes; i++) {
                while (waitpid(processes[i], &status, 0) < 0 && errno == EINTR)
                        ;
                worst = MAX(worst, WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_PARTIAL);
        }
        n_processes = 0;
        return worst;
}
