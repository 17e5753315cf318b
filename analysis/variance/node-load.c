/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/variance/node-load.h"

#include "analysis/variance/exact-moments.h"
#include "base/each.h"
#include "base/grow.h"

/* Up to EXACT_BINS others have a bin each, then each half of an octave. */
enum { EXACT_BINS = 16, N_BINS = EXACT_BINS + 2 * 28 };

#define CLOCK_SLACK ((gint64)1000000000)

typedef struct {
        guint64 n;
        gint128 own;
} Bin;

typedef struct {
        guint64 n;
        gint128 others, others_square, own, own_square, product;
        guint32 most; /* others */
        Bin bins[N_BINS];
} Cell;

/* What is to come at a node: a call, or the end of one. */
typedef struct {
        gint64 time, reply, own;
        gint64 cell;
        guint64 number; /* so that equal times have an order */
        NodeId node;
} Event;

/* The first on top. */
typedef struct {
        Event *events;
        gsize n, size;
} Heap;

struct NodeLoad {
        Cell *cells;
        guint32 n_cells;
        Heap comes, goes;
        GArray *coming; /* of Event: at one moment */
        guint32 *open;  /* calls, by node */
        gsize n_open;
        guint64 number;
};

static gboolean is_before(const Event *a, const Event *b)
{
        return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void heap_add(Heap *h, const Event *event)
{
        gsize i = h->n++;

        if (i == h->size)
                GROW(h->events, h->size, 64);
        for (; i > 0 && is_before(event, &h->events[(i - 1) / 2]); i = (i - 1) / 2)
                h->events[i] = h->events[(i - 1) / 2];
        h->events[i] = *event;
}

static Event node_load_heap_take(Heap *h)
{
        Event first = h->events[0], last = h->events[--h->n];
        gsize i = 0, child;

        while ((child = 2 * i + 1) < h->n) {
                if (child + 1 < h->n && is_before(&h->events[child + 1], &h->events[child]))
                        child++;
                if (!is_before(&h->events[child], &last))
                        break;
                h->events[i] = h->events[child];
                i = child;
        }
        h->events[i] = last;
        return first;
}

NodeLoad *node_load_new(guint32 n_cells)
{
        NodeLoad *load = g_new0(NodeLoad, 1);

        load->cells = g_new0(Cell, n_cells);
        load->n_cells = n_cells;
        load->coming = g_array_new(FALSE, FALSE, sizeof(Event));
        return load;
}

void node_load_free(NodeLoad *load)
{
        if (!load)
                return;
        g_free(load->cells);
        g_array_unref(load->coming);
        g_free(load->comes.events);
        g_free(load->goes.events);
        g_free(load->open);
        g_free(load);
}

static guint find_bin(guint32 others)
{
        guint octave;

        if (others < EXACT_BINS)
                return others;
        octave = g_bit_storage(others) - 1;
        return EXACT_BINS + 2 * (octave - 4) + (others >> (octave - 1) & 1);
}

static void node_load_count_call(Cell *c, guint32 others, gint64 own)
{
        Bin *bin = &c->bins[find_bin(others)];

        bin->n++;
        bin->own += own;
        c->n++;
        c->most = MAX(c->most, others);
        c->others += others;
        c->others_square += (gint128)others * others;
        c->own += own;
        c->own_square += (gint128)own * own;
        c->product += (gint128)others * own;
}

static guint32 *open_at(NodeLoad *load, NodeId node)
{
        while (node >= load->n_open) {
                gsize before = load->n_open;

                GROW(load->open, load->n_open, (gsize)node + 1);
                for (gsize i = before; i < load->n_open; i++)
                        load->open[i] = 0;
        }
        return &load->open[node];
}

/* Takes the calls that come first, all of one moment: none of them counts another. */
static void come(NodeLoad *load)
{
        gint64 now = load->comes.events[0].time;

        while (load->goes.n > 0 && load->goes.events[0].time <= now)
                (*open_at(load, node_load_heap_take(&load->goes).node))--;
        g_array_set_size(load->coming, 0);
        while (load->comes.n > 0 && load->comes.events[0].time == now) {
                Event call = node_load_heap_take(&load->comes);

                if (call.cell != NO_CELL)
                        node_load_count_call(&load->cells[call.cell], *open_at(load, call.node),
                                             call.own);
                call.time = call.reply;
                g_array_append_val(load->coming, call);
        }
        EACH (const Event, call, load->coming) {
                (*open_at(load, call->node))++;
                heap_add(&load->goes, call);
        }
}

void node_load_add(NodeLoad *load, gint64 cell, NodeId node, gint64 enter, gint64 reply, gint64 own)
{
        Event event = { enter, reply, own, cell, load->number++, node };

        g_assert(cell < load->n_cells);
        heap_add(&load->comes, &event);
}

void node_load_advance(NodeLoad *load, gint64 now)
{
        while (load->comes.n > 0 && load->comes.events[0].time < now - CLOCK_SLACK)
                come(load);
}

void node_load_finish(NodeLoad *load)
{
        while (load->comes.n > 0)
                come(load);
}

static guint32 bin_low(guint bin)
{
        guint octave = 4 + (bin - EXACT_BINS) / 2;

        return bin < EXACT_BINS ? bin : (guint32)1 << octave | (guint32)(bin & 1) << (octave - 1);
}

guint32 node_load_quantile(const NodeLoad *load, guint32 cell, double q)
{
        const Cell *c = &load->cells[cell];
        guint64 below = 0;

        for (guint i = 0; i < N_BINS && q < 1; i++)
                if ((double)(below += c->bins[i].n) >= q * (double)c->n)
                        return bin_low(i);
        return c->most;
}

/* The sum of squares between the bins of a cell; how many of them there are. */
static double between_bins(const Cell *c, guint *n_bins)
{
        double mean = (double)c->own / (double)c->n, sum = 0;

        for (guint i = 0; i < N_BINS; i++) {
                const Bin *b = &c->bins[i];
                double away = b->n ? (double)b->own / (double)b->n - mean : 0;

                sum += (double)b->n * away * away;
                *n_bins += b->n > 0;
        }
        return sum;
}

LoadEffect node_load_effect(const NodeLoad *load, const guint32 *cells, guint n)
{
        double between = 0, own = 0, others = 0, product = 0, idle = 0, open = 0;
        LoadEffect e = { .idle = -1 };
        guint64 n_idle = 0;
        guint n_bins = 0;

        for (guint i = 0; i < n; i++) {
                const Cell *c = &load->cells[cells[i]];

                if (c->n == 0)
                        continue;
                e.calls += c->n;
                between += between_bins(c, &n_bins);
                n_bins--;
                own += moment_covariance(c->n, c->own, c->own, c->own_square);
                others += moment_covariance(c->n, c->others, c->others, c->others_square);
                product += moment_covariance(c->n, c->others, c->own, c->product);
                n_idle += c->bins[0].n;
                idle += (double)c->bins[0].own;
                open += (double)c->others;
        }
        if (e.calls == 0)
                return e;
        if (own > 0)
                e.explained = MAX(0, between / own - (double)n_bins / (double)e.calls);
        if (others > 0)
                e.slope = product / others;
        if (n_idle > 0)
                e.idle = idle / (double)n_idle;
        e.others = open / (double)e.calls;
        return e;
}
