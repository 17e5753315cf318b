/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/sorted-runs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "tracefmt/output-file.h"

enum { LEAST_BUFFER = 1 << 14 };

/* A message in memory; its texts, id first, begin at text in the texts of all. */
typedef struct {
        Message message;
        gsize text;
} Held;

/* What is written of one, before its texts. */
typedef struct {
        gint64 time;
        NodeId sender, receiver;
        guint32 op, id_length, attrs_length;
} Record;

/* A part on disk while it is read. data[start] to data[end - 1] are in memory; the rest is in the
 * file, from offset to stop. */
typedef struct {
        goffset offset, stop;
        char *data;
        gsize size, start, end;
        gint64 time; /* of the record at start */
} Run;

struct SortedRuns {
        gsize memory;
        GArray *held;      /* of Held: the part in hand */
        GByteArray *texts; /* of these */
        guint next;        /* of held, where all is in memory */
        int fd;            /* -1: there is nothing on disk */
        goffset written;
        GArray *runs; /* of Run */
        GArray *heap; /* of guint: the runs that are not at their end, the earliest on top */
        gsize record; /* of the run on top: bytes of the message with the caller */
};

static void run_clear(gpointer run)
{
        g_free(((Run *)run)->data);
}

SortedRuns *sorted_runs_new(gsize memory)
{
        SortedRuns *s = g_new0(SortedRuns, 1);

        s->memory = memory;
        s->held = g_array_new(FALSE, FALSE, sizeof(Held));
        s->texts = g_byte_array_new();
        s->fd = -1;
        s->runs = g_array_new(FALSE, TRUE, sizeof(Run));
        g_array_set_clear_func(s->runs, run_clear);
        s->heap = g_array_new(FALSE, FALSE, sizeof(guint));
        return s;
}

void sorted_runs_free(SortedRuns *s)
{
        if (!s)
                return;
        g_array_unref(s->held);
        g_byte_array_unref(s->texts);
        g_array_unref(s->runs);
        g_array_unref(s->heap);
        if (s->fd >= 0)
                close(s->fd);
        g_free(s);
}

guint sorted_runs_parts(const SortedRuns *s)
{
        return s->runs->len;
}

/* --- parts ----------------------------------------------------------------- */

COMPARISON(compare_times, Held, COMPARE(a->message.time, b->message.time))

static gboolean disk_error(const char *what, GError **error)
{
        return ravel_fail(error, RAVEL_ERROR_OUTPUT,
                          "cannot %s the temporary file for sorting in %s (TMPDIR): %s", what,
                          g_get_tmp_dir(), g_strerror(errno));
}

static gboolean write_out(SortedRuns *s, GByteArray *bytes, GError **error)
{
        for (gsize done = 0; done < bytes->len;) {
                gssize k = write(s->fd, bytes->data + done, bytes->len - done);

                if (k < 0 && errno != EINTR)
                        return disk_error("write", error);
                done += (gsize)MAX(k, 0);
        }
        s->written += bytes->len;
        g_byte_array_set_size(bytes, 0);
        return TRUE;
}

/* The part in hand goes to disk. */
static gboolean write_part(SortedRuns *s, GError **error)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        Run run = { .offset = s->written };

        if (s->fd < 0 && (s->fd = output_scratch_open()) < 0)
                return disk_error("create", error);
        g_array_sort(s->held, compare_times); /* stable: a merge sort */
        EACH (const Held, h, s->held) {
                const Message *m = &h->message;
                Record record = { m->time, m->sender,    m->receiver,
                                  m->op,   m->id_length, m->attrs_length };

                g_byte_array_append(bytes, (const guint8 *)&record, sizeof record);
                g_byte_array_append(bytes, s->texts->data + h->text,
                                    m->id_length + m->attrs_length);
                if (bytes->len >= 1 << 20 && !write_out(s, bytes, error))
                        return FALSE;
        }
        if (!write_out(s, bytes, error))
                return FALSE;
        run.stop = s->written;
        g_array_append_val(s->runs, run);
        g_array_set_size(s->held, 0);
        g_byte_array_set_size(s->texts, 0);
        return TRUE;
}

gboolean sorted_runs_add(SortedRuns *s, const Message *m, GError **error)
{
        Held held = { *m, s->texts->len };

        g_array_append_val(s->held, held);
        g_byte_array_append(s->texts, (const guint8 *)m->id, m->id_length);
        g_byte_array_append(s->texts, (const guint8 *)m->attrs, m->attrs_length);
        return s->held->len * sizeof held + s->texts->len < s->memory || write_part(s, error);
}

/* --- merging --------------------------------------------------------------- */

/* Until n bytes of the run are in memory. */
static gboolean part_fill(SortedRuns *s, Run *run, gsize n, GError **error)
{
        if (run->end - run->start >= n)
                return TRUE;
        memmove(run->data, run->data + run->start, run->end - run->start);
        run->end -= run->start;
        run->start = 0;
        if (n > run->size)
                run->data = g_realloc(run->data, run->size = n);
        while (run->end < n) {
                gsize wanted = MIN(run->size - run->end, (gsize)(run->stop - run->offset));
                gssize k = pread(s->fd, run->data + run->end, wanted, run->offset);

                if (k == 0)
                        errno = EIO; /* somebody cut it */
                if (k == 0 || (k < 0 && errno != EINTR))
                        return disk_error("read", error);
                run->end += (gsize)MAX(k, 0);
                run->offset += MAX(k, 0);
        }
        return TRUE;
}

static gboolean part_is_before(const SortedRuns *s, guint a, guint b)
{
        gint64 x = g_array_index(s->runs, Run, a).time, y = g_array_index(s->runs, Run, b).time;

        return x != y ? x < y : a < b;
}

/* The run on top of the heap has another time now. */
static void sink(SortedRuns *s, guint i)
{
        guint *heap = (guint *)(void *)s->heap->data, run = heap[i], child;

        while ((child = 2 * i + 1) < s->heap->len) {
                if (child + 1 < s->heap->len && part_is_before(s, heap[child + 1], heap[child]))
                        child++;
                if (!part_is_before(s, heap[child], run))
                        break;
                heap[i] = heap[child];
                i = child;
        }
        heap[i] = run;
}

/* The next record of the run. FALSE without error: there is none. */
static gboolean next_record(SortedRuns *s, Run *run, GError **error)
{
        Record record;

        if ((run->start == run->end && run->offset == run->stop) ||
            !part_fill(s, run, sizeof record, error))
                return FALSE;
        memcpy(&record, run->data + run->start, sizeof record);
        run->time = record.time;
        return part_fill(s, run, sizeof record + record.id_length + record.attrs_length, error);
}

gboolean sorted_runs_finish(SortedRuns *s, GError **error)
{
        if (!s->runs->len) {
                g_array_sort(s->held, compare_times);
                return TRUE;
        }
        if (s->held->len && !write_part(s, error))
                return FALSE;
        g_array_set_size(s->held, 0);
        g_byte_array_unref(s->texts);
        s->texts = g_byte_array_new();
        for (guint i = 0; i < s->runs->len; i++) {
                Run *run = &g_array_index(s->runs, Run, i);

                run->size = MAX(s->memory / s->runs->len, LEAST_BUFFER);
                run->data = g_malloc(run->size);
                if (!next_record(s, run, error)) /* none is empty */
                        return FALSE;
                g_array_append_val(s->heap, i);
        }
        for (guint i = s->heap->len; i-- > 0;)
                sink(s, i);
        return TRUE;
}

/* The message that the caller had leaves its run. */
static gboolean part_next(SortedRuns *s, GError **error)
{
        guint top = g_array_index(s->heap, guint, 0);
        Run *run = &g_array_index(s->runs, Run, top);
        g_autoptr(GError) failed = NULL;

        run->start += s->record;
        s->record = 0;
        if (!next_record(s, run, &failed)) {
                if (failed) {
                        g_propagate_error(error, g_steal_pointer(&failed));
                        return FALSE;
                }
                g_array_remove_index_fast(s->heap, 0);
        }
        if (s->heap->len)
                sink(s, 0);
        return TRUE;
}

int sorted_runs_next(SortedRuns *s, Message *m, GError **error)
{
        Record record;
        const Run *run;
        const char *id;

        if (!s->runs->len) {
                const Held *h;

                if (s->next == s->held->len)
                        return 0;
                h = &g_array_index(s->held, Held, s->next++);
                *m = h->message;
                m->id = (const char *)s->texts->data + h->text;
                m->attrs = m->id + m->id_length;
                return 1;
        }
        if (s->record && !part_next(s, error))
                return -1;
        if (!s->heap->len)
                return 0;
        run = &g_array_index(s->runs, Run, g_array_index(s->heap, guint, 0));
        memcpy(&record, run->data + run->start, sizeof record);
        id = run->data + run->start + sizeof record;
        *m = (Message){ .time = record.time,
                        .sender = record.sender,
                        .receiver = record.receiver,
                        .op = record.op,
                        .attrs_length = record.attrs_length };
        message_set_id(m, record.id_length ? id : "-", MAX(record.id_length, 1));
        m->attrs = id + record.id_length;
        s->record = sizeof record + record.id_length + record.attrs_length;
        return 1;
}
