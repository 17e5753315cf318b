/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/alert-hook.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
        MOST_QUEUED = 100, /* alerts */
        PATIENCE = 30,     /* seconds that a program may take */
};

struct AlertHook {
        const char *program;
        void (*say)(const char *format, ...) G_GNUC_PRINTF(1, 2);
        GQueue *queue;   /* of GBytes */
        pid_t child;     /* 0: none runs */
        gint64 deadline; /* of child, us of g_get_monotonic_time() */
        guint left_out;
};

AlertHook *alert_hook_new(const char *program,
                          void (*say)(const char *format, ...) G_GNUC_PRINTF(1, 2))
{
        AlertHook *h = g_new0(AlertHook, 1);

        h->program = program;
        h->say = say;
        h->queue = g_queue_new();
        return h;
}

/* A file in memory: the program reads as it likes, and nobody waits. -1 with errno set. */
static int open_facts(GBytes *facts)
{
        gsize n;
        const void *data = g_bytes_get_data(facts, &n);
        int fd = memfd_create("alert", MFD_CLOEXEC);

        if (fd >= 0 && write(fd, data, n) == (gssize)n && lseek(fd, 0, SEEK_SET) == 0)
                return fd;
        if (fd >= 0)
                close(fd);
        return -1;
}

/* In the child: a group of its own, so that its own children end with it. */
static void lead_group(gpointer data)
{
        (void)data;
        setpgid(0, 0);
}

static void start_hook(AlertHook *h, GBytes *facts)
{
        char *argv[] = { (char *)h->program, NULL };
        int fd = open_facts(facts);
        GError *error = NULL;

        if (fd < 0) {
                h->say("--alert-hook %s: %s", h->program, g_strerror(errno));
                return;
        }
        /* What it prints goes to standard error: standard output has lines for other programs. */
        if (!g_spawn_async_with_fds(NULL, argv, NULL,
                                    G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH, lead_group,
                                    NULL, &h->child, fd, STDERR_FILENO, STDERR_FILENO, &error)) {
                h->say("--alert-hook %s: %s", h->program, error->message);
                g_error_free(error);
                h->child = 0;
        }
        h->deadline = g_get_monotonic_time() + PATIENCE * G_USEC_PER_SEC;
        close(fd);
}

static void say_status(AlertHook *h, int status)
{
        if (WIFSIGNALED(status))
                h->say("--alert-hook %s: ended by signal %d", h->program, WTERMSIG(status));
        else if (WEXITSTATUS(status))
                h->say("--alert-hook %s: ended with status %d", h->program, WEXITSTATUS(status));
}

static void end_hook(AlertHook *h)
{
        int status;

        kill(-h->child, SIGKILL);
        kill(h->child, SIGKILL);
        while (waitpid(h->child, &status, 0) < 0 && errno == EINTR)
                ;
        h->child = 0;
}

void alert_hook_work(AlertHook *h)
{
        int status;

        if (h->child && waitpid(h->child, &status, WNOHANG) == h->child) {
                h->child = 0;
                say_status(h, status);
        }
        if (h->child && g_get_monotonic_time() > h->deadline) {
                h->say("--alert-hook %s: ended after %d s", h->program, PATIENCE);
                end_hook(h);
        }
        while (!h->child && !g_queue_is_empty(h->queue)) {
                g_autoptr(GBytes) facts = g_queue_pop_head(h->queue);

                start_hook(h, facts);
        }
}

void alert_hook_add(AlertHook *h, const char *facts, gsize n)
{
        if (g_queue_get_length(h->queue) < MOST_QUEUED)
                g_queue_push_tail(h->queue, g_bytes_new(facts, n));
        else if (h->left_out++ == 0)
                h->say("--alert-hook %s: takes too long; alerts are left out", h->program);
        alert_hook_work(h);
}

static void free_facts(gpointer facts)
{
        g_bytes_unref(facts);
}

void alert_hook_free(AlertHook *h, gint64 wait)
{
        gint64 until = g_get_monotonic_time() + wait / 1000;

        if (!h)
                return;
        for (alert_hook_work(h); h->child && g_get_monotonic_time() < until; alert_hook_work(h))
                g_usleep(10000);
        h->left_out += g_queue_get_length(h->queue);
        if (h->child) {
                h->say("--alert-hook %s: ended with the watch", h->program);
                end_hook(h);
        }
        if (h->left_out)
                h->say("--alert-hook %s: %u alerts were left out", h->program, h->left_out);
        g_queue_free_full(h->queue, free_facts);
        g_free(h);
}
