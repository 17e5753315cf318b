/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The live screen: a thread of its own has the terminal, so that keys are answered while parents
 * are found. The thread of the watch hands it windows.
 */
#include "config.h"

#include "watch/screen.h"

#include "base/error.h"
#include "watch/consumers.h"

#ifdef HAVE_NCURSES
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "base/compare.h"
#include "watch/screen-view.h"

enum {
        TURN = 250,             /* ms at most until messages and the size are looked at */
        ESCAPE_DELAY = 25,      /* ms after which Escape is no part of another key */
        MOST_REQUESTS = 500,    /* rows */
        KEPT_MESSAGES = 1 << 16 /* bytes that are written to standard error at the end */
};

/* --- the terminal, also after a crash -------------------------------------------- */

static const int crashes[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV };

static struct {
        int fd;                /* of the terminal */
        FILE *file;            /* likewise */
        struct termios before; /* its settings */
        char restore[256];     /* what ends the mode of a screen */
        gsize n_restore;
        gboolean shown;
        struct sigaction actions[G_N_ELEMENTS(crashes)]; /* that ours replaced */
        int messages; /* memory with what was written on standard error; -1: that is elsewhere */
        int error;    /* the standard error before */
} terminal = { .messages = -1 };

static void write_all(int fd, const char *text, gsize n)
{
        while (n > 0) {
                gssize written = write(fd, text, n);

                if (written <= 0 && errno != EINTR)
                        return;
                text += MAX(written, 0);
                n -= (gsize)MAX(written, 0);
        }
}

/* Async-signal-safe. */
static void copy_messages(void)
{
        char piece[4096];
        off_t end = lseek(terminal.messages, 0, SEEK_END), at = MAX(end - KEPT_MESSAGES, 0);
        gssize n;

        while ((n = pread(terminal.messages, piece, sizeof piece, at)) > 0) {
                write_all(terminal.error, piece, (gsize)n);
                at += n;
        }
}

/* Async-signal-safe. */
static void restore_terminal(void)
{
        if (!terminal.shown)
                return;
        write_all(terminal.fd, terminal.restore, terminal.n_restore);
        tcsetattr(terminal.fd, TCSANOW, &terminal.before);
        terminal.shown = FALSE;
}

static void on_crash(int number)
{
        restore_terminal();
        if (terminal.messages >= 0)
                copy_messages();
        for (guint i = 0; i < G_N_ELEMENTS(crashes); i++)
                sigaction(crashes[i], &terminal.actions[i], NULL);
        raise(number);
}

static void catch_crashes(void)
{
        const struct sigaction crash = { .sa_handler = on_crash };

        for (guint i = 0; i < G_N_ELEMENTS(crashes); i++)
                sigaction(crashes[i], &crash, &terminal.actions[i]);
        signal(SIGTSTP, SIG_IGN); /* a stopped watch would lose packets */
}

static const char *capability(const char *name)
{
        const char *text = tigetstr(name);

        return text == (const char *)-1 ? NULL : text;
}

static void append_capability(const char *name)
{
        const char *text = capability(name);
        gsize n = text ? strlen(text) : 0;

        if (!text || terminal.n_restore + n > sizeof terminal.restore)
                return;
        memcpy(terminal.restore + terminal.n_restore, text, n);
        terminal.n_restore += n;
}

/* atexit(): whatever is still written goes where it belongs. */
static void end_messages(void)
{
        restore_terminal();
        fflush(stderr);
        dup2(terminal.error, STDERR_FILENO);
        copy_messages();
}

static gboolean take_messages(GError **error)
{
        if (!isatty(STDERR_FILENO))
                return TRUE;
        terminal.messages = memfd_create("messages", MFD_CLOEXEC);
        terminal.error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        if (terminal.messages < 0 || terminal.error < 0 ||
            fcntl(terminal.messages, F_SETFL, O_APPEND) < 0 || atexit(end_messages) != 0 ||
            dup2(terminal.messages, STDERR_FILENO) < 0)
                return ravel_fail(error, RAVEL_ERROR_OUTPUT, "standard error: %s",
                                  g_strerror(errno));
        return TRUE;
}

gboolean screen_prepare(GError **error)
{
        terminal.fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
        if (terminal.fd < 0 || tcgetattr(terminal.fd, &terminal.before) < 0)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "--screen: expected a terminal");
        return take_messages(error);
}

/* --- painting -------------------------------------------------------------------- */

/* Of each operation and node, a request of the window is kept, to be opened. */
typedef enum { KEPT_NODE, KEPT_OPERATION, KEPT_FAILED, N_KEPT } Kept;

typedef struct {
        const WatchSetup *setup;
        ScreenView *view; /* of the thread */
        SCREEN *screen;
        gboolean colour, utf8;
        off_t messages_read;
        GString *message; /* the beginning of a line */

        GThread *thread;
        int wake;              /* eventfd */
        GMutex lock;           /* for: */
        ScreenData *data;      /* handed over */
        gboolean ended, close; /* no more windows come; the thread is to end */

        PathSet *set; /* open; the thread of the watch */
        PathSink sink_before;
        gpointer sink_data;
        GPtrArray *slowest;    /* of ScreenRow: of the open window */
        GPtrArray *by[N_KEPT]; /* of ScreenRow or NULL, by number: likewise, see Kept */
        GPtrArray *requests;   /* of ScreenRow: the slowest of all windows, the latest first */
} Screen;

static chtype look_attributes(const Screen *s, ScreenLook look)
{
        switch (look) {
        case LOOK_STRONG:
                return A_BOLD;
        case LOOK_HEADING:
                return A_REVERSE;
        case LOOK_SELECTED:
                return A_REVERSE | A_BOLD;
        case LOOK_BAD:
                return A_BOLD | (s->colour ? COLOR_PAIR(1) : 0);
        default:
                return A_NORMAL;
        }
}

/* Not all terminals have more than ASCII. */
static void paint_text(const Screen *s, const char *text, gsize n)
{
        const char *end = text + n;

        if (s->utf8) {
                addnstr(text, (int)n);
                return;
        }
        for (; text < end; text = g_utf8_next_char(text))
                addch((guchar)*text < 0x80 ? (chtype)*text : '?');
}

static void paint(Screen *s)
{
        g_autoptr(GPtrArray) lines =
                screen_view_draw(s->view, (guint)MAX(COLS, 1), (guint)MAX(LINES, 1));

        erase();
        for (guint i = 0; i < lines->len; i++) {
                const ScreenLine *line = g_ptr_array_index(lines, i);
                gsize at = 0;

                move((int)i, 0);
                for (guint k = 0; k < line->runs->len; k++) {
                        const ScreenRun *run = &g_array_index(line->runs, ScreenRun, k);

                        attrset((int)look_attributes(s, run->look));
                        paint_text(s, line->text->str + at, run->end - at);
                        at = run->end;
                }
        }
        attrset(A_NORMAL);
        refresh();
}

/* --- keys ------------------------------------------------------------------------ */

static gunichar translate_key(int status, wint_t key)
{
        if (status != KEY_CODE_YES)
                return key == '\r' || key == '\n'  ? SCREEN_ENTER
                       : key == 27                 ? SCREEN_ESCAPE
                       : key == 127 || key == '\b' ? SCREEN_BACKSPACE
                                                   : (gunichar)key;
        switch (key) {
        case KEY_UP:
                return SCREEN_UP;
        case KEY_DOWN:
                return SCREEN_DOWN;
        case KEY_PPAGE:
                return SCREEN_PAGE_UP;
        case KEY_NPAGE:
                return SCREEN_PAGE_DOWN;
        case KEY_HOME:
                return SCREEN_HOME;
        case KEY_END:
                return SCREEN_END;
        case KEY_ENTER:
                return SCREEN_ENTER;
        case KEY_BACKSPACE:
                return SCREEN_BACKSPACE;
        default:
                return 0;
        }
}

static void take_keys(Screen *s)
{
        wint_t key;
        int status;

        while ((status = get_wch(&key)) != ERR)
                if (!screen_view_key(s->view, translate_key(status, key)))
                        kill(getpid(), SIGTERM);
}

/* --- the thread ------------------------------------------------------------------ */

static void fit_screen(void)
{
        struct winsize size;

        if (ioctl(terminal.fd, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
            (size.ws_row != LINES || size.ws_col != COLS)) {
                resizeterm(size.ws_row, size.ws_col);
                clear();
        }
}

static void read_messages_of(Screen *s)
{
        char piece[4096];
        gssize n;

        while (terminal.messages >= 0 &&
               (n = pread(terminal.messages, piece, sizeof piece, s->messages_read)) > 0) {
                s->messages_read += n;
                for (gssize i = 0; i < n; i++) {
                        if (piece[i] != '\n') {
                                g_string_append_c(s->message, piece[i]);
                                continue;
                        }
                        screen_view_say(s->view, s->message->str);
                        g_string_truncate(s->message, 0);
                }
                if (s->messages_read > KEPT_MESSAGES) /* watches go on for months */
                        fallocate(terminal.messages, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                                  s->messages_read - KEPT_MESSAGES);
        }
}

/* Whether the thread goes on. */
static gboolean take_window_handed(Screen *s)
{
        ScreenData *data;
        gboolean ended, close;

        g_mutex_lock(&s->lock);
        data = g_steal_pointer(&s->data);
        ended = s->ended;
        close = s->close;
        g_mutex_unlock(&s->lock);
        if (data)
                screen_view_take(s->view, data);
        if (ended)
                screen_view_end(s->view);
        return !close && !(ended && s->setup->stopped());
}

static gpointer run_screen(gpointer data)
{
        Screen *s = data;
        struct pollfd fds[] = { { .fd = terminal.fd, .events = POLLIN },
                                { .fd = s->wake, .events = POLLIN } };
        guint64 woken;

        while (take_window_handed(s)) {
                fit_screen();
                read_messages_of(s);
                take_keys(s);
                paint(s);
                if (poll(fds, G_N_ELEMENTS(fds), TURN) > 0 &&
                    fds[0].revents & (POLLHUP | POLLERR)) {
                        kill(getpid(), SIGTERM); /* the terminal is gone */
                        fds[0].fd = -1;
                }
                if (fds[1].revents & POLLIN && read(s->wake, &woken, sizeof woken) < 0)
                        g_debug("eventfd: %s", g_strerror(errno));
        }
        endwin();
        return NULL;
}

static void wake_screen(Screen *s)
{
        const guint64 one = 1;

        if (write(s->wake, &one, sizeof one) < 0)
                g_debug("eventfd: %s", g_strerror(errno));
}

/* --- the consumer ---------------------------------------------------------------- */

static gboolean open_screen(Screen *s, GError **error)
{
        terminal.file = fdopen(terminal.fd, "r+");
        s->screen = terminal.file ? newterm(NULL, terminal.file, terminal.file) : NULL;
        if (s->screen && capability("cup"))
                return TRUE;
        if (s->screen)
                endwin();
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "--screen: TERM=%s is no terminal with a screen", g_getenv("TERM") ?: "");
}

static gboolean begin_terminal(Screen *s, GError **error)
{
        if (!open_screen(s, error))
                return FALSE;
        append_capability("sgr0");
        append_capability("rmkx");
        append_capability("cnorm");
        append_capability("rmcup");
        terminal.shown = TRUE;
        catch_crashes();
        set_escdelay(ESCAPE_DELAY);
        cbreak();
        noecho();
        nonl();
        keypad(stdscr, TRUE);
        nodelay(stdscr, TRUE);
        curs_set(0);
        s->colour = !*(g_getenv("NO_COLOR") ?: "") && has_colors();
        if (s->colour) {
                start_color();
                use_default_colors();
                init_pair(1, COLOR_RED, -1);
        }
        s->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
        return TRUE;
}

static void free_kept(ScreenRow *row)
{
        g_clear_pointer(&row, screen_row_unref);
}

static void screen_free(Screen *s)
{
        if (s->screen)
                delscreen(s->screen);
        screen_view_free(s->view);
        screen_data_free(s->data);
        g_ptr_array_unref(s->slowest);
        for (guint k = 0; k < N_KEPT; k++)
                g_ptr_array_unref(s->by[k]);
        g_ptr_array_unref(s->requests);
        g_string_free(s->message, TRUE);
        g_mutex_clear(&s->lock);
        close(s->wake);
        g_free(s);
}

static gboolean screen_begin(const WatchSetup *setup, gpointer *self, GError **error)
{
        Screen *s;

        if (!setup->screen)
                return TRUE;
        s = g_new0(Screen, 1);
        s->setup = setup;
        s->view = screen_view_new(setup->span);
        s->slowest = g_ptr_array_new_with_free_func((GDestroyNotify)screen_row_unref);
        s->requests = g_ptr_array_new_with_free_func((GDestroyNotify)screen_row_unref);
        for (guint k = 0; k < N_KEPT; k++)
                s->by[k] = g_ptr_array_new_with_free_func((GDestroyNotify)free_kept);
        s->message = g_string_new(NULL);
        s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        g_mutex_init(&s->lock);
        if (!begin_terminal(s, error)) {
                screen_free(s);
                return FALSE;
        }
        s->thread = g_thread_new("screen", run_screen, s);
        *self = s;
        return TRUE;
}

/* The row with the least latency; NULL: there is room for more. */
static ScreenRow **least_of(const GPtrArray *slowest)
{
        ScreenRow **least = NULL;

        for (guint i = 0; slowest->len >= SCREEN_SLOWEST && i < slowest->len; i++) {
                ScreenRow **row = (ScreenRow **)&slowest->pdata[i];

                if (!least || (*row)->values[1] < (*least)->values[1])
                        least = row;
        }
        return least;
}

static gboolean is_slowest(const GPtrArray *by, guint number, double latency)
{
        const ScreenRow *row = number < by->len ? g_ptr_array_index(by, number) : NULL;

        return !row || latency > row->values[1];
}

static void keep_row(GPtrArray *by, guint number, ScreenRow *row)
{
        if (number >= by->len)
                g_ptr_array_set_size(by, (gint)number + 1);
        g_clear_pointer((ScreenRow **)&by->pdata[number], screen_row_unref);
        by->pdata[number] = screen_row_ref(row);
}

/* Keeps a request if it is the slowest of an operation or a node. row: NULL until it is known that
 * it is kept. */
static void keep_for_names(Screen *s, const PathCall *calls, guint32 n, ScreenRow **row)
{
        double latency = (double)(calls->end - calls->start);
        Kept root[] = { KEPT_OPERATION, KEPT_FAILED };

        for (guint32 i = 0; i < n; i++)
                if (is_slowest(s->by[KEPT_NODE], calls[i].callee, latency)) {
                        *row = *row ?: screen_request_new(s->set, calls, n);
                        keep_row(s->by[KEPT_NODE], calls[i].callee, *row);
                }
        for (guint k = 0; k < (outcome_is_failure(calls->outcome) ? 2 : 1); k++)
                if (is_slowest(s->by[root[k]], calls->label, latency)) {
                        *row = *row ?: screen_request_new(s->set, calls, n);
                        keep_row(s->by[root[k]], calls->label, *row);
                }
}

/* PathSink: keeps the slowest, and passes all on. */
static gboolean screen_sink(gpointer data, guint64 number, guint32 pattern, const PathCall *calls,
                            const guint32 *slot, guint32 n, double probability, GError **error)
{
        Screen *s = data;
        ScreenRow **least = least_of(s->slowest), *row = NULL;

        keep_for_names(s, calls, n, &row);
        if (!least || (double)(calls->end - calls->start) > (*least)->values[1]) {
                row = row ?: screen_request_new(s->set, calls, n);
                if (!least) {
                        g_ptr_array_add(s->slowest, screen_row_ref(row));
                } else {
                        screen_row_unref(*least);
                        *least = screen_row_ref(row);
                }
        }
        g_clear_pointer(&row, screen_row_unref);
        return !s->sink_before ||
               s->sink_before(s->sink_data, number, pattern, calls, slot, n, probability, error);
}

static void forget_open_window(Screen *s)
{
        g_ptr_array_set_size(s->slowest, 0);
        for (guint k = 0; k < N_KEPT; k++)
                g_ptr_array_set_size(s->by[k], 0);
}

static gboolean screen_open(gpointer self, PathSet *set, GError **error)
{
        Screen *s = self;

        (void)error;
        s->set = set;
        s->sink_before = path_set_sink(set, &s->sink_data);
        path_set_set_sink(set, screen_sink, s);
        forget_open_window(s);
        return TRUE;
}

COMPARISON_OF_POINTERS(compare_latencies, ScreenRow, COMPARE(a->values[1], b->values[1]))

/* The slowest of the window come first. */
static void keep_slowest(Screen *s)
{
        g_ptr_array_sort(s->slowest, compare_latencies);
        for (guint i = 0; i < s->slowest->len; i++)
                g_ptr_array_insert(s->requests, 0,
                                   screen_row_ref(g_ptr_array_index(s->slowest, i)));
        if (s->requests->len > MOST_REQUESTS)
                g_ptr_array_set_size(s->requests, MOST_REQUESTS);
}

/* The slowest requests of all windows, and the kept ones of this window. */
static GPtrArray *list_requests(const Screen *s)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        GPtrArray *list = g_ptr_array_new();

        for (guint i = 0; i < s->requests->len; i++) {
                g_hash_table_add(seen, g_ptr_array_index(s->requests, i));
                g_ptr_array_add(list, g_ptr_array_index(s->requests, i));
        }
        for (guint k = 0; k < N_KEPT; k++)
                for (guint i = 0; i < s->by[k]->len; i++) {
                        ScreenRow *row = g_ptr_array_index(s->by[k], i);

                        if (row && g_hash_table_add(seen, row))
                                g_ptr_array_add(list, row);
                }
        return list;
}

static gboolean screen_window(gpointer self, WatchWindow *window, GError **error)
{
        Screen *s = self;
        g_autoptr(GPtrArray) requests = NULL;
        gboolean silent = window->set != s->set; /* without paths, before the open one */
        ScreenData *data, *before;

        (void)error;
        if (!silent)
                keep_slowest(s);
        requests = list_requests(s);
        data = screen_data_new(window, requests);
        if (!silent)
                forget_open_window(s);
        g_mutex_lock(&s->lock);
        before = g_steal_pointer(&s->data);
        s->data = data;
        g_mutex_unlock(&s->lock);
        screen_data_free(before);
        wake_screen(s);
        return TRUE;
}

/* At the end of the input, the screen stays until a key or a signal ends it. */
static void screen_end(gpointer self, gboolean whole)
{
        Screen *s = self;

        g_mutex_lock(&s->lock);
        s->ended = TRUE;
        s->close = !whole;
        g_mutex_unlock(&s->lock);
        wake_screen(s);
        g_thread_join(s->thread);
        restore_terminal();
        screen_free(s);
}

const WatchConsumer watch_screen = { .name = "screen",
                                     .begin = screen_begin,
                                     .open = screen_open,
                                     .window = screen_window,
                                     .end = screen_end };

#else /* no ncurses */

gboolean screen_prepare(GError **error)
{
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "--screen: this ravel was built without ncurses");
}

static gboolean screen_begin(const WatchSetup *setup, gpointer *self, GError **error)
{
        (void)setup, (void)self, (void)error;
        return TRUE;
}

const WatchConsumer watch_screen = { .name = "screen", .begin = screen_begin };

#endif
