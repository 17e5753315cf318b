/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compare.h"
#include "base/error.h"
#include "tools/ranks.h"
#include "tools/tool.h"

enum {
        HALO_SHARE = 128,     /* of a slice, and */
        HALO_BYTES = 1 << 20, /* at least so much */
        SAMPLES = 1 << 14,
};

/* The least halo, ns. */
#define HALO_LEAST G_GINT64_CONSTANT(1000000)

void shares_clear(Shares *s)
{
        g_free(s->path);
        trace_index_free(s->index);
        trace_reader_free(s->whole);
        if (s->cuts)
                g_array_free(s->cuts, TRUE);
        if (s->places)
                g_array_free(s->places, TRUE);
}

guint shares_n(const Shares *s)
{
        return s->cuts->len + 1;
}

static gint64 cut_at(const Shares *s, guint i)
{
        return g_array_index(s->cuts, gint64, i);
}

static void add_cut(Shares *s, gint64 cut, guint64 place)
{
        if (cut <= (s->cuts->len ? cut_at(s, s->cuts->len - 1) : s->first))
                return;
        g_array_append_val(s->cuts, cut);
        g_array_append_val(s->places, place);
}

/* Of a trace of so many bytes. */
static void choose_halo(Shares *s, guint64 size)
{
        double least = MIN(1, (double)HALO_BYTES / (double)MAX(size, 1));
        double share = MAX(1.0 / HALO_SHARE / ranks_n(), least);

        s->halo = MAX((gint64)((double)(s->last - s->first) * share) + 1, HALO_LEAST);
}

/* --- a file that can be read from the middle ----------------------------------- */

static void cut_file(Shares *s)
{
        const TraceReaderOptions *o = tool_reader_options();
        guint64 size = trace_index_size(s->index);
        guint64 low = o->from == G_MININT64 ? 0 : trace_index_find(s->index, o->from);
        guint64 high = o->to == G_MAXINT64 ? size : trace_index_find(s->index, o->to);
        gint64 cut;

        s->first = s->last = 0;
        if (!trace_index_time(s->index, low, &s->first))
                return;
        s->last = s->first;
        for (guint64 back = 64; s->last == s->first && back < 2 * size; back *= 4)
                if (!trace_index_time(s->index, high - MIN(back, high), &s->last))
                        s->last = s->first;
        for (guint i = 1; low < high && i < ranks_n(); i++)
                if (trace_index_time(s->index, low + (high - low) / ranks_n() * i, &cut))
                        add_cut(s, cut, trace_index_find(s->index, cut));
        choose_halo(s, high - low);
}

/* --- one that must be gone through ------------------------------------------------ */

typedef struct {
        GArray *times; /* of gint64: each of every-th message */
        guint64 every, seen;
} Sample;

static void sample(Sample *of, gint64 time)
{
        if (of->seen++ % of->every)
                return;
        g_array_append_val(of->times, time);
        if (of->times->len < SAMPLES)
                return;
        for (guint i = 0; i < SAMPLES / 2; i++)
                g_array_index(of->times, gint64, i) = g_array_index(of->times, gint64, 2 * i);
        g_array_set_size(of->times, SAMPLES / 2);
        of->every *= 2;
}

static gboolean go_through(Shares *s, Sample *of, NodeTable *nodes, GError **error)
{
        Message message;
        int status;

        if (!(s->whole = trace_reader_new(s->path, nodes, tool_reader_options(), error)))
                return FALSE;
        while ((status = trace_reader_next(s->whole, &message, error)) != 0) {
                if (status > 0) {
                        sample(of, message.time);
                        continue;
                }
                if (!tool_sort_trace(s->whole, error))
                        return FALSE;
                g_array_set_size(of->times, 0);
                of->every = 1;
                of->seen = 0;
        }
        return TRUE;
}

/* Names of nodes in a table that lasts as long as the reader. */
static NodeTable *whole_nodes(void)
{
        static NodeTable *nodes;

        if (!nodes)
                nodes = node_table_new();
        return nodes;
}

static gboolean cut_all(Shares *s, GError **error)
{
        Sample of = { g_array_new(FALSE, FALSE, sizeof(gint64)), 1, 0 };
        guint n = ranks_n();
        gboolean ok = go_through(s, &of, whole_nodes(), error);
        const gint64 *time = (const gint64 *)of.times->data;

        s->first = ok && of.times->len ? time[0] : 0;
        s->last = ok && of.times->len ? time[of.times->len - 1] : 0;
        for (guint i = 1; ok && of.times->len && i < n; i++)
                add_cut(s, time[(guint64)of.times->len * i / n], 0);
        choose_halo(s, of.seen * 64);
        g_array_free(of.times, TRUE);
        return ok;
}

/* --- all ranks ---------------------------------------------------------------------- */

static void array_bytes(GArray *array, Bytes *b)
{
        guint32 n = array->len;

        bytes_count(b, &n, 8);
        if (bytes_reads(b))
                g_array_set_size(array, n);
        for (guint32 i = 0; i < n; i++)
                bytes_i64(b, &g_array_index(array, gint64, i));
}

static void shares_bytes(Shares *s, Bytes *b)
{
        array_bytes(s->cuts, b);
        array_bytes(s->places, b);
        bytes_i64(b, &s->first);
        bytes_i64(b, &s->last);
        bytes_i64(b, &s->halo);
}

/* What rank 0 has found goes to all. */
static gboolean tell(Shares *s, GError **error)
{
        Bytes b = bytes_to_write();
        g_autoptr(GBytes) mine = NULL, told = NULL;
        const guint8 *data;
        gsize n;

        if (!ranks_agree(error))
                return FALSE;
        shares_bytes(s, &b);
        mine = bytes_written(&b);
        told = ranks_share(mine);
        data = g_bytes_get_data(told, &n);
        b = bytes_to_read(data, n);
        shares_bytes(s, &b);
        return bytes_end(&b, error);
}

gboolean shares_find(Shares *s, const char *path, gint64 halo, GError **error)
{
        s->path = g_strdup(path);
        s->index = trace_index_new(path);
        s->cuts = g_array_new(FALSE, TRUE, sizeof(gint64));
        s->places = g_array_new(FALSE, TRUE, sizeof(guint64));
        if (ranks_mine() == 0) {
                if (s->index)
                        cut_file(s);
                else
                        cut_all(s, error);
                if (halo)
                        s->halo = halo;
        }
        return tell(s, error);
}

gboolean shares_sort(Shares *s, GError **error)
{
        g_clear_pointer(&s->index, trace_index_free);
        g_array_set_size(s->cuts, 0);
        g_array_set_size(s->places, 0);
        if (ranks_mine() == 0)
                cut_all(s, error);
        return tell(s, error);
}

Slice shares_slice(const Shares *s, guint rank, gint64 halo)
{
        return (Slice){ rank == 0 ? G_MININT64 : cut_at(s, rank - 1),
                        rank == s->cuts->len ? G_MAXINT64 : cut_at(s, rank), halo };
}

gboolean shares_halo_is_all(const Shares *s, gint64 halo)
{
        return halo / 2 > s->last - s->first;
}

static TraceShare share_of(const Shares *s, guint rank, const Slice *slice)
{
        guint64 size = trace_index_size(s->index);
        TraceShare share = { 0, size, 0, size };

        if (rank > 0) {
                share.own_begin = g_array_index(s->places, guint64, rank - 1);
                share.begin =
                        MIN(share.own_begin, trace_index_find(s->index, slice_read_from(slice)));
        }
        if (rank < s->cuts->len) {
                share.own_end = g_array_index(s->places, guint64, rank);
                share.end = MAX(share.own_end, trace_index_find(s->index, slice_read_to(slice)));
        }
        return share;
}

TraceReader *shares_open(Shares *s, guint rank, const Slice *slice, NodeTable *nodes,
                         GError **error)
{
        TraceReaderOptions options = *tool_reader_options();
        TraceShare share;

        if (s->index) {
                share = share_of(s, rank, slice);
                options.share = &share;
        } else {
                options.from = MAX(options.from, slice_read_from(slice));
                options.to = MIN(options.to, slice_read_to(slice));
        }
        return trace_reader_new(s->path, nodes, &options, error);
}
