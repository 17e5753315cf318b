/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel watch: paths of traffic, window by window, for as long as it comes. Other processes make a
 * trace (tools/watch-input.c). Consumers take the closed windows (watch/window.h).
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "nesting/moved-messages.h"
#include "nesting/windows.h"
#include "tools/nesting-report.h"
#include "tools/rights.h"
#include "tools/tool.h"
#include "tools/watch-input.h"
#include "tracefmt/output-file.h"
#include "watch/screen.h"
#include "watch/service.h"
#include "watch/watch-state.h"
#include "watch/window.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

enum {
        MOST_WIDER = 32,  /* a window is at most this number of times as long as --window */
        BUSY_WINDOWS = 2, /* windows without a pause until the next is wider */
        LAZY_WINDOWS = 6, /* windows with much time left until the next is narrower */
};

/* How long after its stamp a message may come live, ns; see CAPTURE_PATIENCE_LIVE. */
#define LIVE_SLACK (3 * SECOND)

/* Stamps that are this near to the time of day are live, ns. */
#define LIVE_NEAR (60 * SECOND)

static struct {
        WatchInput input;
        NestingOptions nesting;
        char *dir, *format, *window;
        gboolean screen;
        gint threads;
} options = { .nesting = NESTING_DEFAULTS, .input = { .wait = 60 * SECOND } };

static gboolean parse_wait(const char *option, const char *value, gpointer data, GError **error)
{
        (void)option, (void)data;
        return tool_duration(value, &options.input.wait, error);
}

static const char *const formats[] = { "text", "json", NULL };
static const ToolChoice choices[] = { { "--format", &options.format, formats },
                                      { .option = NULL } };

static const GOptionEntry entries[] = {
        { "interface", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &options.input.interfaces,
          "Watch packets on IF; may be repeated", "IF" },
        { "read", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.input.files,
          "Watch packets in FILE, or - ; may be repeated", "FILE" },
        { "follow", 0, 0, G_OPTION_ARG_NONE, &options.input.follow,
          "-r names a ring: files as they come and grow", NULL },
        { "traces", 0, 0, G_OPTION_ARG_FILENAME, &options.input.traces,
          "Watch traces that hosts put into DIR", "DIR" },
        { "wait", 0, 0, G_OPTION_ARG_CALLBACK, parse_wait,
          "How long a trace waits for others (default 60s)", "DURATION" },
        { "window", 0, 0, G_OPTION_ARG_STRING, &options.window,
          "The length of a window (default 10s)", "DURATION" },
        { "dir", 0, 0, G_OPTION_ARG_FILENAME, &options.dir, "Keep stores in DIR", "DIR" },
        { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
          "text or json (default json, on a terminal text)", "FORMAT" },
        { "screen", 0, 0, G_OPTION_ARG_NONE, &options.screen, "Show a live screen, like top(1)",
          NULL },
        { "threads", 'j', 0, G_OPTION_ARG_INT, &options.threads,
          "Use N threads (default: all processors)", "N" },
        G_OPTION_ENTRY_NULL
};

/* A consumer that has something to do. */
typedef struct {
        const WatchConsumer *consumer;
        gpointer self;
} Active;

typedef struct {
        WatchSetup setup;
        GArray *consumers; /* of Active */
        NodeTable *nodes;
        Windows *windows;
        MovedMessages *moved;
        PathSet *set; /* of the current window */
        WatchState *state;
        WatchShared *shared;
        TraceReader *reader;
        GByteArray *is_called; /* by NodeId */
        WatchCounts before;    /* all counts when the last window was closed */
        guint64 cut_before;    /* for the first window */
        guint64 n_windows;
        gint64 skip_to; /* windows that end by then were closed by an earlier watch, ns */
        gint64 newest;  /* the latest stamp, ns */
        gint64 span;    /* the length of the current window, ns */
        gint64 closed;  /* when the last window ended, ns; G_MININT64: none did */
        gint64 waited;  /* for input, since the last window, ns */
        gint64 last_clock, last_cpu; /* when it was answered, ns */
        gint64 last_tick;            /* ns */
        guint busy, lazy;            /* windows one after another */
        gint64 newest_waited;        /* newest when the input was waited for */
        gboolean live;               /* the newest stamp was near the time of day then */
        gboolean ended;              /* no more messages come */
        gboolean learns_unsaid;      /* the models could not be written */
        GError *idle_error;
} Watch;

static volatile sig_atomic_t watch_stopped;

static void on_stop(int number)
{
        watch_stopped = number;
        watch_input_stop();
}

static gboolean is_stopped(void)
{
        return watch_stopped != 0;
}

static void on_hangup(int number)
{
        (void)number;
        watch_input_reload();
}

static gint64 read_clock(clockid_t clock)
{
        struct timespec now;

        clock_gettime(clock, &now);
        return (gint64)now.tv_sec * SECOND + now.tv_nsec;
}

/* --- consumers ------------------------------------------------------------------ */

static void add_consumer_options(void)
{
        for (guint i = 0; watch_consumers[i]; i++)
                if (watch_consumers[i]->options)
                        tool_add_options(watch_consumers[i]->options, NULL);
}

static gboolean begin_consumers(Watch *w, GError **error)
{
        for (guint i = 0; watch_consumers[i]; i++) {
                Active active = { watch_consumers[i], NULL };

                if (!active.consumer->begin(&w->setup, &active.self, error))
                        return FALSE;
                if (active.self)
                        g_array_append_val(w->consumers, active);
        }
        return TRUE;
}

static void say_consumer_error(const WatchConsumer *consumer, GError *error)
{
        tool_warn("%s: %s", consumer->name, error->message);
        g_error_free(error);
}

static const Active *active_at(const Watch *w, guint i)
{
        return &g_array_index(w->consumers, Active, i);
}

static void open_set(Watch *w, PathSet *set)
{
        for (guint i = 0; i < w->consumers->len; i++) {
                const Active *a = active_at(w, i);
                GError *error = NULL;

                if (a->consumer->open && !a->consumer->open(a->self, set, &error))
                        say_consumer_error(a->consumer, error);
        }
}

static void hand_window(Watch *w, WatchWindow *window)
{
        for (guint i = 0; i < w->consumers->len; i++) {
                const Active *a = active_at(w, i);
                GError *error = NULL;

                if (!a->consumer->window(a->self, window, &error))
                        say_consumer_error(a->consumer, error);
        }
}

static void end_consumers(Watch *w, gboolean whole)
{
        for (guint i = 0; i < w->consumers->len; i++)
                active_at(w, i)->consumer->end(active_at(w, i)->self, whole);
        g_array_set_size(w->consumers, 0);
}

/* --- closed windows --------------------------------------------------------------- */

static PathSet *new_watch_set(Watch *w)
{
        PathSet *set = path_set_new(w->nodes, SIBLINGS_MULTISET);

        path_set_summary(set)->method = nesting_methods[METHOD_JOINT].name;
        path_set_summary(set)->clocks = moved_messages_clocks(w->moved);
        return set;
}

static void count_input(Watch *w, WatchCounts *counts)
{
        const WatchShared *s = w->shared;
        WatchCounts now = { s->capture.packets, s->capture.dropped, s->capture.holes,
                            s->late + trace_reader_late(w->reader) };

        *counts = (WatchCounts){ now.packets - w->before.packets, now.dropped - w->before.dropped,
                                 now.holes - w->before.holes, now.late - w->before.late };
        w->before = now;
}

static Verdict *judge_window(Watch *w, const WatchWindow *window)
{
        const PathSetSummary *s = path_set_summary(window->set);
        Fitness fitness = { .calls = s->calls + s->unmatched_calls,
                            .returns = s->calls,
                            .packets = window->counts.packets,
                            .lost = window->counts.dropped + window->counts.holes };
        char *judgement = fitness_judge(&fitness, NULL, NULL, 0, w->nodes);

        return verdict_new(judgement, judgement_is_fit_for_nesting(judgement) || !fitness.calls,
                           g_array_new(FALSE, FALSE, sizeof(Doubt)));
}

/* Measures the work for the window, and whether there is time for it. */
static void measure_window(Watch *w, WatchWindow *window)
{
        gint64 now = read_clock(CLOCK_REALTIME), clock = read_clock(CLOCK_MONOTONIC);
        gint64 cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID), length = window->to - window->from;
        gint64 worked = clock - w->last_clock - w->waited;

        window->cpu = cpu - w->last_cpu;
        window->live = w->live;
        window->answered = window->live ? now - window->to : worked;
        window->in_time = worked <= length && (!window->live || now - window->to <= length);
        w->busy = worked > length - length / 10 ? w->busy + 1 : 0;
        w->lazy = worked < length / 4 ? w->lazy + 1 : 0;
        w->last_clock = clock;
        w->last_cpu = cpu;
        w->waited = 0;
}

/* A longer window has less work: consumers take a time for each. */
static void fit_length(Watch *w)
{
        gint64 longer = w->span;

        if (w->busy >= BUSY_WINDOWS && w->span < MOST_WIDER * options.nesting.span)
                longer = 2 * w->span;
        else if (w->lazy >= LAZY_WINDOWS && w->span > options.nesting.span)
                longer = w->span / 2;
        if (longer == w->span)
                return;
        tool_warn("%s: windows are %.15gs from now on",
                  longer > w->span ? "windows are not answered in time" : "there is time again",
                  (double)longer / (double)SECOND);
        windows_set_length(w->windows, w->span = longer);
        w->busy = w->lazy = 0;
}

static void save_learned(Watch *w)
{
        g_autoptr(GBytes) bytes = options.dir ? windows_learned(w->windows) : NULL;
        g_autofree char *path = options.dir ? g_build_filename(options.dir, "learned", NULL) : NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(OutputFile) out = NULL;
        gboolean ok;

        if (!bytes)
                return;
        ok = (out = output_file_new(path, FALSE, &error)) &&
             output_file_write(out, g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes),
                               &error) &&
             output_file_close(g_steal_pointer(&out), &error);
        if (!ok && !w->learns_unsaid)
                tool_warn("what was learned is not kept: %s", error->message);
        w->learns_unsaid = !ok;
}

static void close_watch_window(Watch *w, WatchWindow *window)
{
        g_autoptr(Verdict) verdict = NULL;
        PathSetSummary *summary = path_set_summary(window->set);

        window->number = ++w->n_windows;
        count_input(w, &window->counts);
        summary->verdict = verdict = judge_window(w, window);
        window->cut_before = w->cut_before;
        w->cut_before = 0;
        watch_window_sum(window);
        measure_window(w, window);
        fit_length(w);
        window->span = w->span;
        hand_window(w, window);
        watch_window_clear(window);
        w->closed = window->to;
        watch_state_close(w->state, window->to);
        save_learned(w);
        service_notify("WATCHDOG=1");
}

/* Live: windows without a path up to `until`. */
static void close_silent(Watch *w, gint64 until)
{
        while (w->closed != G_MININT64 && w->closed + w->span <= until) {
                g_autoptr(PathSet) none = new_watch_set(w);
                WatchWindow window = { .from = w->closed,
                                       .to = w->closed + w->span - w->closed % w->span,
                                       .set = none };

                path_set_summary(none)->first = window.from;
                path_set_summary(none)->last = window.to;
                close_watch_window(w, &window);
        }
}

/* The end of a window: that of the last one is the end of the input. */
static gint64 end_of(const Watch *w, gint64 to)
{
        return w->ended ? MIN(to, MAX(w->newest + 1, w->closed)) : to;
}

/* WindowDone */
static PathSet *take_window(gpointer data, PathSet *set, guint64 first_instance, GError **error)
{
        Watch *w = data;
        const PathSetSummary *summary = path_set_summary(set);
        WatchWindow window = { .from = summary->first, .to = end_of(w, summary->last), .set = set };

        (void)first_instance, (void)error;
        if (window.to > w->skip_to) {
                if (w->live)
                        close_silent(w, window.from);
                close_watch_window(w, &window);
        }
        path_set_free(w->set);
        w->set = new_watch_set(w);
        open_set(w, w->set);
        return w->set;
}

/* --- input ------------------------------------------------------------------------ */

static void tick(Watch *w)
{
        gint64 now = read_clock(CLOCK_MONOTONIC_COARSE);

        if (now - w->last_tick < SECOND)
                return;
        w->last_tick = now;
        service_notify("WATCHDOG=1");
        for (guint i = 0; i < w->consumers->len; i++)
                if (active_at(w, i)->consumer->idle)
                        active_at(w, i)->consumer->idle(active_at(w, i)->self);
}

/* A second without input. */
static gboolean pass_time(Watch *w)
{
        gint64 time = read_clock(CLOCK_REALTIME) - LIVE_SLACK;

        if (!w->live)
                return TRUE;
        if (!windows_idle(w->windows, time, &w->idle_error))
                return FALSE;
        if (watch_state_open(w->state) == 0)
                close_silent(w, time);
        return TRUE;
}

/* ByteSourceWait: until there is something to read from fd. */
static gboolean wait_for_input(gpointer data, int fd)
{
        Watch *w = data;
        struct pollfd input = { .fd = fd, .events = POLLIN };

        if (w->newest != w->newest_waited)
                w->live = ABS(read_clock(CLOCK_REALTIME) - w->newest) < LIVE_NEAR;
        w->newest_waited = w->newest;
        do {
                gint64 began = read_clock(CLOCK_MONOTONIC);
                int n;

                tick(w);
                n = poll(&input, 1, 1000);
                w->waited += read_clock(CLOCK_MONOTONIC) - began;
                if (n > 0)
                        return TRUE;
                if (n == 0 && !pass_time(w))
                        return FALSE;
        } while (TRUE);
}

/* Requests are calls of a node that nobody calls. */
static void count_request(Watch *w, const Message *m)
{
        NodeId most = MAX(m->sender, m->receiver);

        if (m->op != CALL_SENT && m->op != CALL_RECV)
                return;
        while (w->is_called->len <= most)
                g_byte_array_append(w->is_called, (const guint8 *)"", 1);
        w->is_called->data[m->receiver] = TRUE;
        if (!w->is_called->data[m->sender])
                watch_state_add(w->state, m->time);
}

/* MessageNext */
static gboolean add_to_watch(gpointer data, const Message *message, GError **error)
{
        return windows_add(((Watch *)data)->windows, message, error);
}

static gboolean read_messages(Watch *w, GError **error)
{
        gboolean begun = FALSE;
        Message message;
        int status;

        trace_reader_take_late(w->reader);
        while ((status = trace_reader_next(w->reader, &message, error)) > 0) {
                if (!begun) {
                        guint n;
                        char *const *facts = trace_reader_facts(w->reader, &n);

                        nesting_set_ids(windows_run(w->windows), call_connections_by_id(facts, n));
                        if (!moved_messages_begin(w->moved, facts, n, error))
                                return FALSE;
                }
                begun = TRUE;
                w->newest = MAX(w->newest, message.time);
                count_request(w, &message);
                if (!moved_messages_add(w->moved, &message, error))
                        return FALSE;
        }
        if (w->idle_error) {
                g_clear_error(error);
                g_propagate_error(error, g_steal_pointer(&w->idle_error));
                return FALSE;
        }
        w->ended = TRUE;
        return status == 0 && moved_messages_finish(w->moved, error) &&
               windows_finish(w->windows, error);
}

/* --- the run ------------------------------------------------------------------------ */

static void watch_clear(Watch *w)
{
        end_consumers(w, FALSE);
        g_array_unref(w->consumers);
        trace_reader_free(w->reader);
        windows_free(w->windows);
        moved_messages_free(w->moved);
        path_set_free(w->set);
        watch_state_free(w->state);
        node_table_free(w->nodes);
        g_byte_array_unref(w->is_called);
        g_free((char *)w->setup.parameters);
        g_clear_error(&w->idle_error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Watch, watch_clear)

static gboolean check_watch_input(int argc, char **argv, GError **error)
{
        WatchInput *in = &options.input;
        int kinds = (in->interfaces != NULL) + (in->files != NULL) + (in->traces != NULL);

        in->capture = argv + 1 + (argc > 1 && !strcmp(argv[1], "--"));
        if (kinds != 1)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "%s: expected one of -i IF, -r FILE and --traces DIR",
                                  kinds ? "several inputs" : "nothing to watch");
        if (in->follow && !in->files)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "--follow: expected -r FILE with it");
        if (*in->capture && in->traces)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "%s: --traces takes no options of ravel capture", *in->capture);
        if (*in->capture && **in->capture != '-')
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "%s: expected options of ravel capture; -r %s names a file",
                                  *in->capture, *in->capture);
        return TRUE;
}

static gboolean check_watch_options(GError **error)
{
        NestingOptions *o = &options.nesting;

        o->span = 10 * SECOND;
        if (options.window && !tool_duration(options.window, &o->span, error))
                return FALSE;
        if (o->span < SECOND || o->span % SECOND || o->span > 86400 * SECOND)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--window %s: expected whole seconds, at most a day",
                                  options.window);
        o->keep = options.dir != NULL;
        return tool_threads(options.threads, &o->threads, error);
}

/* Whether the next watch can read the same traffic: a restart loses nothing. */
static gboolean reads_again(void)
{
        const WatchInput *in = &options.input;
        gboolean again = in->files || in->traces;

        for (char **f = in->files; f && *f && !in->follow; f++)
                again &= g_file_test(*f, G_FILE_TEST_IS_REGULAR);
        return again;
}

/* Goes on where the last watch of the folder ended. */
static gboolean take_over(Watch *w, GError **error)
{
        g_autofree char *path = options.dir ? g_build_filename(options.dir, "learned", NULL) : NULL;
        g_autofree char *data = NULL;
        g_autoptr(GError) wrong = NULL;
        gsize n;

        if (!(w->state = watch_state_new(options.dir, error)))
                return FALSE;
        w->skip_to = w->closed = watch_state_closed(w->state);
        if (w->closed != G_MININT64) {
                windows_part_at(w->windows, w->closed);
                options.input.since = w->closed - 60 * SECOND;
                w->cut_before = reads_again() ? 0 : watch_state_open(w->state);
        }
        watch_state_forget(w->state);
        if (w->cut_before)
                tool_warn("the last watch was killed: %" G_GUINT64_FORMAT
                          " requests were open, and are in no store",
                          w->cut_before);
        if (!path || !g_file_get_contents(path, &data, &n, NULL) ||
            windows_take_learned(w->windows, (const guint8 *)data, n, &wrong))
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: %s", path, wrong->message);
}

static void set_up(Watch *w, const char *arguments)
{
        const WatchSetup setup = {
                .dir = options.dir,
                .arguments = arguments,
                .parameters = nesting_report_parameters(&options.nesting, SIBLINGS_MULTISET,
                                                        w->nodes, NULL, NULL),
                .span = options.nesting.span,
                .json = options.format ? !strcmp(options.format, "json") : tool_columns() == 0,
                .screen = options.screen,
                .stopped = is_stopped,
                .duration = tool_duration,
                .say = tool_warn
        };

        w->setup = setup;
        w->span = options.nesting.span;
        w->newest = w->newest_waited = w->skip_to = w->closed = G_MININT64;
        w->moved = moved_messages_new(w->nodes, &options.nesting, add_to_watch, w);
        w->set = new_watch_set(w);
        w->windows = windows_new(w->nodes, &options.nesting, w->set, take_window, w);
}

static void watch_catch_signals(void)
{
        struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
        struct sigaction reload = { .sa_handler = on_hangup, .sa_flags = SA_RESTART };

        sigaction(SIGINT, &stop, NULL);
        sigaction(SIGTERM, &stop, NULL);
        sigaction(SIGHUP, &reload, NULL);
}

static gboolean drop_rights(GError **error)
{
        g_auto(Rights) rights = { .keep = TRUE };
        g_autofree char *state = options.dir ? g_build_filename(options.dir, "state", NULL) : NULL;
        g_autofree char *why = NULL;

        return !options.input.interfaces ||
               (rights_find(&rights, NULL, state, error) && rights_drop(&rights, &why, error));
}

static gboolean run_watch(Watch *w, GError **error)
{
        TraceReaderOptions how = TRACE_READER_DEFAULTS;

        how.wait = wait_for_input;
        how.wait_user = w;
        watch_catch_signals();
        if ((options.screen && !screen_prepare(error)) ||
            !watch_input_start(&options.input, &w->shared, error) || !drop_rights(error) ||
            !begin_consumers(w, error) ||
            !(w->reader = trace_reader_new("-", w->nodes, &how, error)))
                return FALSE;
        open_set(w, w->set);
        service_notify("READY=1");
        w->last_clock = read_clock(CLOCK_MONOTONIC);
        w->last_cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        if (!read_messages(w, error))
                return FALSE;
        end_consumers(w, !watch_stopped);
        return TRUE;
}

int tool_watch(int argc, char **argv)
{
        g_auto(Watch) w = { .consumers = g_array_new(FALSE, FALSE, sizeof(Active)),
                            .nodes = node_table_new(),
                            .is_called = g_byte_array_new() };
        g_autofree char *arguments = g_strjoinv(" ", argv);
        GError *error = NULL;
        int status;

        add_consumer_options();
        if (!tool_parse("[-- CAPTURE-OPTION...] - live paths", entries, choices, &argc, &argv,
                        &status))
                return status;
        if (!check_watch_input(argc, argv, &error) || !check_watch_options(&error))
                return tool_fail(error);
        set_up(&w, arguments);
        if (options.dir && g_mkdir_with_parents(options.dir, 0777) < 0)
                return tool_fail(g_error_new(RAVEL_ERROR, RAVEL_ERROR_OUTPUT, "%s: %s", options.dir,
                                             g_strerror(errno)));
        if (!take_over(&w, &error) || !run_watch(&w, &error)) {
                watch_input_stop();
                return tool_fail(error);
        }
        status = watch_input_wait();
        return watch_stopped ? EXIT_DONE : status;
}
