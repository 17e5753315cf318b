/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/overlap.h"

#include "base/compare.h"
#include "base/each.h"
#include "base/hash.h"

enum {
        MAX_IDS = 16384,
        /* Ids of this many bytes are hardly equal by chance, as counted numbers are. */
        LONG_ENOUGH = 9,
};

typedef struct {
        gint64 time;
        NodeId sender, receiver;
        guint32 trace;
        guint16 op;
        gboolean long_id;
} Seen;

struct Overlap {
        guint n_traces;
        GHashTable *ids; /* hash of kind and id -> GArray of Seen */
        guint64 limit;   /* ids whose hash is at most this are in the sample */
        GArray **nodes;  /* by trace: guint8 by NodeId, whether the trace has it */
};

Overlap *overlap_new(guint n_traces)
{
        Overlap *o = g_new0(Overlap, 1);

        o->n_traces = n_traces;
        o->ids = g_hash_table_new_full(hash_int64, g_int64_equal, g_free,
                                       (GDestroyNotify)g_array_unref);
        o->limit = G_MAXUINT64;
        o->nodes = g_new(GArray *, n_traces);
        for (guint i = 0; i < n_traces; i++)
                o->nodes[i] = g_array_new(FALSE, TRUE, 1);
        return o;
}

void overlap_free(Overlap *o)
{
        if (!o)
                return;
        for (guint i = 0; i < o->n_traces; i++)
                g_array_unref(o->nodes[i]);
        g_free(o->nodes);
        g_hash_table_destroy(o->ids);
        g_free(o);
}

/* --- the sample ------------------------------------------------------------ */

static void note_node(Overlap *o, guint trace, NodeId node)
{
        GArray *nodes = o->nodes[trace];

        if (node >= nodes->len)
                g_array_set_size(nodes, node + 1);
        g_array_index(nodes, guint8, node) = TRUE;
}

static gboolean has_node(const Overlap *o, guint trace, NodeId node)
{
        const GArray *nodes = o->nodes[trace];

        return node < nodes->len && g_array_index(nodes, guint8, node);
}

static gboolean is_beyond(gpointer key, gpointer value, gpointer limit)
{
        (void)value;
        return *(const guint64 *)key > *(const guint64 *)limit;
}

void overlap_add(Overlap *o, guint trace, const Message *m)
{
        guint64 hash = hash_word(hash_word(hash_word(HASH_SEED, m->id_words[0]), m->id_words[1]),
                                 (guint64)m->id_length << 32 | m->op >> 1) *
                       HASH_SEED;
        Seen seen = { m->time, m->sender, m->receiver, trace, m->op, m->id_length >= LONG_ENOUGH };
        GArray *all;

        note_node(o, trace, m->sender);
        note_node(o, trace, m->receiver);
        if (m->id_length == 0 || hash > o->limit)
                return;
        all = g_hash_table_lookup(o->ids, &hash);
        if (!all) {
                if (g_hash_table_size(o->ids) == MAX_IDS) {
                        o->limit /= 2;
                        g_hash_table_foreach_remove(o->ids, is_beyond, &o->limit);
                        if (hash > o->limit)
                                return;
                }
                all = g_array_new(FALSE, FALSE, sizeof(Seen));
                g_hash_table_insert(o->ids, g_memdup2(&hash, sizeof hash), all);
        }
        EACH (const Seen, s, all)
                if (s->trace == trace && s->op == m->op)
                        return;
        g_array_append_val(all, seen);
}

/* Two stamps of one message, by two traces. */
typedef struct {
        const Seen *seen, *other;
} Both;

COMPARISON(by_traces, Both,
           COMPARE(a->seen->trace, b->seen->trace) ?: COMPARE(a->other->trace, b->other->trace))

/* All of the sample, of Both, those of the same traces together. */
static GArray *find_both(const Overlap *o)
{
        GArray *both = g_array_new(FALSE, FALSE, sizeof(Both));
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, o->ids);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const GArray *all = value;

                for (guint i = 0; i < all->len; i++)
                        for (guint k = 0; k < all->len; k++) {
                                Both b = { &g_array_index(all, Seen, i),
                                           &g_array_index(all, Seen, k) };

                                if (b.seen->trace > b.other->trace)
                                        g_array_append_val(both, b);
                        }
        }
        g_array_sort(both, by_traces);
        return both;
}

/* Where the pairs of traces that begin at i end. */
static guint end_of_traces(const GArray *both, guint i)
{
        guint end = i;

        while (end < both->len &&
               by_traces(&g_array_index(both, Both, i), &g_array_index(both, Both, end)) == 0)
                end++;
        return end;
}

/* --- clocks ---------------------------------------------------------------- */

static ClocksApart compare_clocks(const GArray *both, guint begin, guint end)
{
        const Both *first = &g_array_index(both, Both, begin);
        ClocksApart apart = { .trace = first->seen->trace, .other = first->other->trace };
        g_autoptr(GArray) ahead = g_array_new(FALSE, FALSE, sizeof(gint64));

        for (guint i = begin; i < end; i++) {
                const Both *b = &g_array_index(both, Both, i);
                gint64 by = b->seen->time - b->other->time;

                if (b->seen->sender != b->other->sender || b->seen->receiver != b->other->receiver)
                        continue;
                apart.twice |= b->seen->op == b->other->op;
                g_array_append_val(ahead, by);
        }
        g_array_sort(ahead, compare_int64s);
        apart.messages = ahead->len;
        if (ahead->len)
                apart.ahead = g_array_index(ahead, gint64, ahead->len / 2);
        return apart;
}

GArray *overlap_find_clocks(const Overlap *o, gint64 window)
{
        g_autoptr(GArray) both = find_both(o);
        GArray *found = g_array_new(FALSE, FALSE, sizeof(ClocksApart));
        ClocksApart most = { .messages = 0 };

        for (guint i = 0, end; i < both->len; i = end) {
                ClocksApart apart = compare_clocks(both, i, end = end_of_traces(both, i));

                if (apart.messages > most.messages)
                        most = apart;
                if (end < both->len && g_array_index(both, Both, end).seen->trace == apart.trace)
                        continue;
                if (most.messages && ABS(most.ahead) > window)
                        g_array_append_val(found, most);
                most.messages = 0;
        }
        return found;
}

/* --- names ----------------------------------------------------------------- */

COMPARISON(by_names, NamesApart, COMPARE(a->node, b->node) ?: COMPARE(a->other_node, b->other_node))

static void add_names(const Overlap *o, GArray *names, const Both *b, NodeId node, NodeId other)
{
        NamesApart apart = { b->seen->trace, b->other->trace, node, other, 1 };

        if (node != other && !has_node(o, apart.other, node) && !has_node(o, apart.trace, other))
                g_array_append_val(names, apart);
}

/* Appends to found each of names, sorted, that stands for one other node, and this one for
 * it alone. */
static void append_names(GArray *found, GArray *names)
{
        g_autoptr(GHashTable) partners = g_hash_table_new(NULL, NULL); /* other node -> count */
        guint n = 0;

        g_array_sort(names, by_names);
        EACH (NamesApart, at, names) {
                if (n && by_names(at, &g_array_index(names, NamesApart, n - 1)) == 0) {
                        g_array_index(names, NamesApart, n - 1).messages++;
                        continue;
                }
                g_array_index(names, NamesApart, n++) = *at;
        }
        g_array_set_size(names, n);
        for (guint i = 0; i < n; i++) {
                gpointer other = GUINT_TO_POINTER(g_array_index(names, NamesApart, i).other_node);
                guint count = GPOINTER_TO_UINT(g_hash_table_lookup(partners, other));

                g_hash_table_insert(partners, other, GUINT_TO_POINTER(count + 1));
        }
        for (guint i = 0; i < n; i++) {
                const NamesApart *at = &g_array_index(names, NamesApart, i);

                if ((i > 0 && at[-1].node == at->node) || (i + 1 < n && at[1].node == at->node) ||
                    GPOINTER_TO_UINT(
                            g_hash_table_lookup(partners, GUINT_TO_POINTER(at->other_node))) > 1)
                        continue;
                g_array_append_val(found, *at);
        }
}

GArray *overlap_find_names(const Overlap *o)
{
        g_autoptr(GArray) both = find_both(o);
        GArray *found = g_array_new(FALSE, FALSE, sizeof(NamesApart));

        for (guint i = 0, end; i < both->len; i = end) {
                g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(NamesApart));

                end = end_of_traces(both, i);
                for (guint k = i; k < end; k++) {
                        const Both *b = &g_array_index(both, Both, k);

                        if (!b->seen->long_id && b->seen->sender != b->other->sender &&
                            b->seen->receiver != b->other->receiver)
                                continue;
                        add_names(o, names, b, b->seen->sender, b->other->sender);
                        add_names(o, names, b, b->seen->receiver, b->other->receiver);
                }
                append_names(found, names);
        }
        return found;
}
