/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Traces of one system, merged: each message read is handed out, or another's, and in order as
 * far as none is later than the window allows. The first byte chooses the window and options, the
 * rest is up to four traces with the byte FF between them.
 */
#include <string.h>

#include "tests/fuzz/fuzz-file.h"
#include "tracefmt/merge.h"

enum { MOST_TRACES = 4, MOST_MESSAGES = 20000 };

enum { KEEP_GOING = 1, WINDOWS = 4 };

typedef struct {
        guint64 messages[MOST_TRACES]; /* read */
} Seen;

static void look(gpointer user, guint trace, const Message *m)
{
        Seen *seen = user;

        g_assert(trace < MOST_TRACES && m->sender != NO_NODE && m->receiver != NO_NODE);
        seen->messages[trace]++;
}

/* Takes all, and looks whether nothing was lost on the way. */
static void take_all(Merge *merge, guint n_traces)
{
        Seen seen = { { 0 } };
        const MergeCounts *counts = merge_counts(merge);
        guint64 read = 0, handed[MOST_TRACES] = { 0 }, n = 0, back = 0;
        gint64 last = G_MININT64;
        Message m;
        guint trace;
        int found = 0;

        merge_set_look(merge, look, &seen);
        while (n < MOST_MESSAGES && (found = merge_next(merge, &m, &trace, NULL)) > 0) {
                g_assert(trace < n_traces);
                back += m.time < last;
                last = MAX(last, m.time);
                handed[trace]++;
                n++;
        }
        g_assert(counts->messages == n && counts->without_id <= n);
        g_assert(back <= counts->late && (counts->late > 0) == (counts->needed > 0));
        for (guint i = 0; i < n_traces; i++) {
                g_assert(handed[i] <= seen.messages[i]);
                read += seen.messages[i];
        }
        g_assert(found != 0 || n + counts->dropped == read);
        g_assert(n_traces > 1 || counts->dropped == 0);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        static const gint64 windows[WINDOWS] = { 0, 1, 500000000, G_MAXINT64 };
        guint8 how = n ? data[0] : 0;
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(GPtrArray) readers =
                g_ptr_array_new_with_free_func((GDestroyNotify)trace_reader_free);
        g_autoptr(Merge) merge = merge_new(windows[how / 2 % WINDOWS], nodes);
        TraceReaderOptions reading = TRACE_READER_DEFAULTS;
        const guint8 *end = data + n, *at = data + !!n;
        int files[MOST_TRACES];

        reading.keep_going = how & KEEP_GOING;
        reading.any_order = TRUE;
        do {
                const guint8 *mark = at < end ? memchr(at, 0xff, (gsize)(end - at)) : NULL;
                const guint8 *to = mark && readers->len + 1 < MOST_TRACES ? mark : end;
                g_autofree char *path = as_file(at, (gsize)(to - at), &files[readers->len]);
                TraceReader *reader = trace_reader_new(path, nodes, &reading, NULL);

                g_assert(reader);
                g_ptr_array_add(readers, reader);
                merge_add(merge, reader);
                at = to < end ? to + 1 : NULL;
        } while (at);
        take_all(merge, readers->len);
        for (guint i = 0; i < readers->len; i++) {
                guint n_facts;

                trace_reader_facts(readers->pdata[i], &n_facts);
                g_assert(merge_head_facts(merge, i) <= n_facts);
                close(files[i]);
        }
        return 0;
}
