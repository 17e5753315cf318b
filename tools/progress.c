/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean is_passed_on;

void tool_be_no_terminal(void)
{
        is_passed_on = TRUE;
}

static struct {
        gboolean wanted;
        guint width;         /* of what stands there now; 0: nothing */
        guint64 done, size;  /* stored bytes; size 0: not known */
        gint64 began, shown; /* us */
        const char *stage;   /* after reading, with work of its own */
        gint64 stage_began;
} progress;

void tool_progress_start(const char *const *paths, guint n, gboolean prints)
{
        struct stat st;

        progress.wanted =
                !is_passed_on && isatty(STDERR_FILENO) && !(prints && isatty(STDOUT_FILENO));
        progress.began = g_get_monotonic_time();
        progress.done = progress.size = 0;
        progress.stage = NULL;
        for (guint i = 0; i < n; i++) {
                if (!strcmp(paths[i], "-") || stat(paths[i], &st) < 0 || !S_ISREG(st.st_mode)) {
                        progress.size = 0;
                        return;
                }
                progress.size += (guint64)st.st_size;
        }
}

void tool_progress_clear(void)
{
        if (progress.width > 0)
                fprintf(stderr, "\r%*s\r", (int)progress.width, "");
        progress.width = 0;
}

static void show_progress(double seconds)
{
        double done = (double)progress.done, size = (double)progress.size;
        const char *stage = progress.stage ? progress.stage : "";
        int width;

        tool_progress_clear();
        if (done < size) {
                guint64 left = (guint64)(seconds * (size - done) / done + 0.5);

                width = fprintf(stderr,
                                "%s: %s%s%.0f %% of %.1f MB, %.1f MB/s, %" G_GUINT64_FORMAT
                                ":%02u left",
                                g_get_prgname(), stage, *stage ? ", " : "", 100 * done / size,
                                size / 1e6, done / seconds / 1e6, left / 60, (guint)(left % 60));
        } else { /* a pipe, or it is read again */
                width = fprintf(stderr, "%s: %s%s%.1f MB, %.1f MB/s", g_get_prgname(), stage,
                                *stage ? ", " : "", done / 1e6, done / seconds / 1e6);
        }
        fflush(stderr);
        progress.width = (guint)MAX(width, 0);
}

void tool_progress_stage(const char *what)
{
        tool_progress_clear();
        progress.stage = what;
        progress.stage_began = g_get_monotonic_time();
}

void tool_progress_work(double share)
{
        gint64 left;

        if (!progress.stage || !(share > 0) || !tool_progress_due())
                return;
        left = (gint64)((double)(progress.shown - progress.stage_began) * (1 - share) / share /
                                G_USEC_PER_SEC +
                        0.5);
        tool_progress_say("%s, %.0f %%, %" G_GINT64_FORMAT ":%02u left", progress.stage,
                          100 * share, left / 60, (guint)(left % 60));
}

gboolean tool_progress_due(void)
{
        gint64 now;

        if (!progress.wanted)
                return FALSE;
        now = g_get_monotonic_time();
        if (now - progress.began <= G_USEC_PER_SEC || now - progress.shown <= G_USEC_PER_SEC / 5)
                return FALSE;
        progress.shown = now;
        return TRUE;
}

void tool_progress_say(const char *format, ...)
{
        va_list arguments;
        int width;

        tool_progress_clear();
        width = fprintf(stderr, "%s: ", g_get_prgname());
        va_start(arguments, format);
        width += vfprintf(stderr, format, arguments);
        va_end(arguments);
        fflush(stderr);
        progress.width = (guint)MAX(width, 0);
}

void tool_progress_read(gsize n)
{
        progress.done += n;
        if (n == 0)
                tool_progress_clear();
        else if (tool_progress_due())
                show_progress((double)(progress.shown - progress.began) / G_USEC_PER_SEC);
}

guint tool_columns(void)
{
        const char *columns = g_getenv("COLUMNS");
        struct winsize size;

        if (is_passed_on || !isatty(STDOUT_FILENO))
                return 0;
        if (columns && atoi(columns) > 0)
                return atoi(columns);
        return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}
