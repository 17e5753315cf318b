/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/traces.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compare.h"
#include "base/each.h"
#include "tracefmt/merge.h"
#include "tracefmt/trace-clocks.h"
#include "tracefmt/trace-writer.h"

enum { PAUSE = 200000 /* us between two looks */ };

/* How far apart two hosts may stamp one message, ns: as ravel merge. */
#define MERGE_WINDOW G_GINT64_CONSTANT(2000000000)

/* A trace of the folder. */
typedef struct {
        char *name;
        gint64 changed;  /* when it was last seen to change, monotonic us */
        gint64 written;  /* its time of change, ns */
        gint64 last;     /* the last stamp, ns */
        gboolean taken;  /* it was looked through: last is known */
        gboolean done;   /* passed on to its end, or no trace */
        gboolean merged; /* a part was passed on */
} Drop;

typedef struct {
        const TracesOptions *options;
        NodeTable *nodes;
        GPtrArray *drops; /* of Drop, by name */
        TraceWriter *writer;
        gboolean headed; /* the facts are written */
        gint64 passed;   /* all messages before it were passed on, ns */
} Traces;

static volatile sig_atomic_t traces_stopped;

static void stop_traces(int number)
{
        traces_stopped = number;
}

static void drop_free(gpointer data)
{
        Drop *d = data;

        g_free(d->name);
        g_free(d);
}

static char *drop_path(const Traces *t, const Drop *d)
{
        return g_build_filename(t->options->folder, d->name, NULL);
}

static gboolean is_trace_name(const char *name)
{
        return g_str_has_suffix(name, ".trace") || g_str_has_suffix(name, ".trace.gz") ||
               g_str_has_suffix(name, ".trace.zst");
}

/* --- looking -------------------------------------------------------------------- */

static Drop *find_drop(Traces *t, const char *name)
{
        Drop *d;

        EACH_OF (Drop, known, t->drops)
                if (!strcmp(known->name, name))
                        return known;
        d = g_new0(Drop, 1);
        d->name = g_strdup(name);
        g_ptr_array_add(t->drops, d);
        return d;
}

/* Reads a trace to its end. Messages that are too late are counted. FALSE: it is not whole. */
static gboolean look_through(Traces *t, Drop *d, gboolean *whole)
{
        g_autofree char *path = drop_path(t, d);
        TraceReaderOptions how = TRACE_READER_DEFAULTS;
        g_autoptr(GError) error = NULL;
        g_autoptr(TraceReader) reader = NULL;
        guint64 late = 0;
        Message m;
        int status = -1;

        how.any_order = how.keep_going = TRUE;
        d->last = G_MININT64;
        if ((reader = trace_reader_new(path, t->nodes, &how, &error)))
                while ((status = trace_reader_next(reader, &m, &error)) > 0) {
                        d->last = MAX(d->last, m.time);
                        late += m.time < t->passed;
                }
        if (status < 0) {
                t->options->say("%s: left out: %s", path, error->message);
                return d->done = TRUE;
        }
        *whole = trace_reader_end(reader) == TRACE_WHOLE;
        d->done = d->last < t->passed;
        if (late && t->headed && (*whole || d->done)) {
                *t->options->late += late;
                t->options->say("%s: came too late: %" G_GUINT64_FORMAT
                                " messages are left out (--wait)",
                                path, late);
        }
        return TRUE;
}

static gboolean has_waited(const Traces *t, const Drop *d)
{
        return traces_stopped || g_get_monotonic_time() - d->changed > t->options->wait / 1000;
}

static void look_at(Traces *t, const char *name)
{
        Drop *d = find_drop(t, name);
        g_autofree char *path = drop_path(t, d);
        gboolean whole = FALSE;
        gint64 written;
        struct stat st;

        if (d->done || d->merged || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return;
        written = (gint64)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        if (written != d->written)
                d->changed = g_get_monotonic_time();
        else if (d->taken || !has_waited(t, d)) /* it was looked at as it is */
                return;
        d->written = written;
        d->taken = look_through(t, d, &whole) && (whole || has_waited(t, d));
}

/* Forgets traces that are no longer there. */
static void forget_gone_drops(Traces *t)
{
        for (guint i = t->drops->len; i-- > 0;) {
                g_autofree char *path = drop_path(t, t->drops->pdata[i]);
                struct stat st;

                if (stat(path, &st) < 0)
                        g_ptr_array_remove_index(t->drops, i);
        }
}

static void look_at_folder(Traces *t)
{
        GDir *folder = g_dir_open(t->options->folder, 0, NULL);
        const char *name;

        while (folder && (name = g_dir_read_name(folder)))
                if (is_trace_name(name))
                        look_at(t, name);
        if (folder)
                g_dir_close(folder);
        forget_gone_drops(t);
}

/* --- passing on ------------------------------------------------------------------- */

/* The end of the traces that have waited long enough; G_MININT64: none has. */
static gint64 find_due(const Traces *t)
{
        gint64 due = G_MININT64;

        EACH_OF (const Drop, d, t->drops)
                if (d->taken && !d->done && has_waited(t, d))
                        due = MAX(due, d->last);
        return due;
}

COMPARISON_OF_POINTERS(compare_drops, Drop, strcmp(a->name, b->name))

/* The facts before the first message, of the first traces. */
static gboolean write_head(Traces *t, const GPtrArray *readers, const Merge *merge, GError **error)
{
        MergedClocks merged = { 0 };
        const char *word;

        for (guint i = 0; i < readers->len; i++) {
                guint n;
                char *const *facts = trace_reader_facts(readers->pdata[i], &n);

                n = merge_head_facts(merge, i);
                merged_clocks_add(&merged, facts, n);
                for (guint k = 0; k < n; k++)
                        if (!trace_clocks_is_fact(facts[k]) &&
                            !trace_writer_copy_fact(t->writer, facts[k], error))
                                return FALSE;
        }
        word = trace_clocks_word(merged.clocks);
        merged_clocks_clear(&merged);
        t->headed = TRUE;
        return !word || trace_writer_fact(t->writer, "clocks", word, error);
}

/* Opens the traces with messages up to `due`. */
static GPtrArray *open_drops(Traces *t, gint64 due, Merge *merge)
{
        GPtrArray *readers = g_ptr_array_new_with_free_func((GDestroyNotify)trace_reader_free);
        TraceReaderOptions how = TRACE_READER_DEFAULTS;

        how.any_order = how.keep_going = TRUE;
        how.from = t->passed;
        how.to = due + 1;
        g_ptr_array_sort(t->drops, compare_drops);
        EACH_OF (Drop, d, t->drops) {
                g_autofree char *path = drop_path(t, d);
                TraceReader *reader;

                if (!d->taken || d->done ||
                    !(reader = trace_reader_new(path, t->nodes, &how, NULL)))
                        continue;
                g_ptr_array_add(readers, reader);
                merge_add(merge, reader);
                d->merged = TRUE;
                d->done = d->last <= due;
        }
        return readers;
}

static gboolean pass_on(Traces *t, gint64 due, GError **error)
{
        g_autoptr(Merge) merge = merge_new(MERGE_WINDOW, t->nodes);
        g_autoptr(GPtrArray) readers = open_drops(t, due, merge);
        Message m;
        guint trace;
        int status;

        while ((status = merge_next(merge, &m, &trace, error)) > 0)
                if ((!t->headed && !write_head(t, readers, merge, error)) ||
                    !trace_writer_add(t->writer, &m, error))
                        return FALSE;
        t->passed = due + 1;
        return status == 0 && trace_writer_flush(t->writer, error);
}

gboolean traces_follow(const TracesOptions *options, GError **error)
{
        struct sigaction action = { .sa_handler = stop_traces };
        Traces t = { .options = options,
                     .nodes = node_table_new(),
                     .drops = g_ptr_array_new_with_free_func(drop_free),
                     .passed = options->since };
        gboolean ok = (t.writer = trace_writer_new("-", t.nodes, TRUE, error)) != NULL, stopped;

        sigaction(SIGTERM, &action, NULL);
        do {
                gint64 due;

                stopped = traces_stopped;
                look_at_folder(&t);
                due = find_due(&t);
                if (ok && due != G_MININT64)
                        ok = pass_on(&t, due, error);
                else if (!stopped)
                        g_usleep(PAUSE);
        } while (ok && !stopped);
        ok = ok && trace_writer_close(g_steal_pointer(&t.writer), error);
        trace_writer_free(t.writer);
        g_ptr_array_unref(t.drops);
        node_table_free(t.nodes);
        return ok;
}
