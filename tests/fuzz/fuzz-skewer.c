/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A trace whose clocks are moved by what its facts say of them, and by what is estimated.
 * The first byte says which, the rest is the trace, compressed or not.
 */
#include "base/error.h"
#include "clocks/clocks.h"
#include "clocks/skewer.h"
#include "tests/fuzz/fuzz-file.h"
#include "tracefmt/trace-reader.h"

enum { MOST_MESSAGES = 20000 }; /* a few bytes may unpack to more than can be waited for */

enum { KEEP_GOING = 1, ESTIMATED = 2, REMOVED = 4 };

typedef struct {
        const char *path;
        NodeTable *nodes;
        TraceReaderOptions reading;
        guint64 messages;
} Input;

typedef gboolean (*TakeMessage)(gpointer user, const Message *message);

/* Hands on the messages that can be read, in order of time. FALSE: take said no. */
static gboolean read_messages(Input *input, TakeMessage take, gpointer user)
{
        g_autoptr(TraceReader) reader =
                trace_reader_new(input->path, input->nodes, &input->reading, NULL);
        Message m;

        g_assert(reader);
        input->messages = 0;
        trace_reader_take_late(reader); /* one that is late may be written so */
        while (input->messages < MOST_MESSAGES && trace_reader_next(reader, &m, NULL) > 0) {
                input->messages++;
                if (!take(user, &m))
                        return FALSE;
        }
        return TRUE;
}

/* --- what is found out ------------------------------------------------------- */

static gboolean look(gpointer user, const Message *m)
{
        clocks_add(user, m);
        return TRUE;
}

/* Appends what takes the estimated skews out. */
static void add_estimated(Input *input, GArray *skews)
{
        g_autoptr(Clocks) clocks = clocks_new();
        g_autoptr(ClockEstimates) e = NULL;

        read_messages(input, look, clocks);
        e = clocks_estimate(clocks, input->nodes, NO_NODE);
        g_assert(e->n_nodes <= node_table_size(input->nodes));
        for (NodeId node = 0; node < e->n_nodes; node++) {
                const ClockEstimate *of = &e->estimates[node];
                Skew skew = { node, of->offset, of->drift, e->since, TRUE };

                g_assert(of->offset_bound >= 0 && of->drift_bound >= 0);
                g_assert(of->tie == CLOCK_TIED || (of->offset == 0 && of->drift == 0));
                if (of->offset || of->drift)
                        g_array_append_val(skews, skew);
        }
}

/* Appends the skews of the facts, and checks that the facts say them right. */
static void add_told(Input *input, gboolean removed, GArray *skews)
{
        g_autoptr(TraceReader) reader =
                trace_reader_new(input->path, input->nodes, &input->reading, NULL);
        char *const *facts;
        Message m;
        guint n;

        trace_reader_next(reader, &m, NULL);
        facts = trace_reader_facts(reader, &n);
        for (guint i = 0; i < n; i++) {
                g_autoptr(GError) error = NULL;
                g_autofree char *again = NULL;
                Skew skew, same;

                if (!skew_is_fact(facts[i]))
                        continue;
                if (!skew_from_fact(&skew, facts[i], input->nodes, &error)) {
                        g_assert(error);
                        continue;
                }
                again = skew_to_fact(&skew, input->nodes);
                g_assert(skew_from_fact(&same, again, input->nodes, NULL));
                g_assert(same.node == skew.node && same.offset == skew.offset &&
                         same.drift == skew.drift && same.since == skew.since &&
                         same.remove == skew.remove);
                skew.remove ^= removed;
                g_array_append_val(skews, skew);
        }
}

/* --- the output -------------------------------------------------------- */

typedef struct {
        Skewer *skewer;
        const GArray *skews;
} Moved;

/* A skew and its opposite give the stamp again, as far as both are in the range of stamps. */
static void check_back(const Skew *skew, gint64 time)
{
        Skew back = *skew;
        gint64 moved = skew_apply(skew, time), again;

        if (moved > MAX_STAMP || moved < -MAX_STAMP)
                return;
        back.remove = !back.remove;
        again = skew_apply(&back, moved);
        /* Where the clock runs slow two stamps fall into one: at a tenth, the next is near. */
        g_assert(again >= time - 1 && again <= time + 1);
        g_assert(skew_apply(skew, time + 1) >= moved);
}

static gboolean move(gpointer user, const Message *m)
{
        Moved *moved = user;

        for (guint i = 0; i < moved->skews->len; i++)
                check_back(&g_array_index(moved->skews, Skew, i), m->time);
        return skewer_add(moved->skewer, m, NULL);
}

static gboolean pass(gpointer user, const Message *m)
{
        (void)user;
        (void)m;
        return TRUE;
}

/* Writes the trace with skews: it is a trace, with as many messages. */
static void write_skewed(Input *input, const GArray *skews)
{
        int fd;
        g_autofree char *path = as_file(NULL, 0, &fd);
        g_autoptr(TraceWriter) out = trace_writer_new(path, input->nodes, FALSE, NULL);
        g_autoptr(Skewer) skewer =
                skewer_new((const Skew *)skews->data, skews->len, input->nodes, out);
        Moved moved = { skewer, skews };
        Input output = { path, input->nodes, TRACE_READER_DEFAULTS, 0 };

        g_assert(out);
        for (guint i = 0; i < skews->len; i++) {
                g_autofree char *fact = skew_to_fact(&g_array_index(skews, Skew, i), input->nodes);

                skewer_add_fact(skewer, fact);
        }
        if (read_messages(input, move, &moved) && skewer_finish(skewer, NULL)) {
                g_assert(skewer_most_waiting(skewer) <= input->messages);
                g_assert(trace_writer_close(g_steal_pointer(&out), NULL));
                g_assert(read_messages(&output, pass, NULL));
                g_assert(output.messages == input->messages);
        }
        close(fd);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        guint8 how = n ? data[0] : 0;
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(GArray) skews = g_array_new(FALSE, FALSE, sizeof(Skew));
        g_autofree char *path = NULL;
        Input input = { .nodes = nodes, .reading = TRACE_READER_DEFAULTS };
        int fd;

        input.path = path = as_file(data + !!n, n - !!n, &fd);
        input.reading.keep_going = how & KEEP_GOING;
        add_told(&input, (how & REMOVED) != 0, skews);
        if (how & ESTIMATED)
                add_estimated(&input, skews);
        write_skewed(&input, skews);
        close(fd);
        return 0;
}
