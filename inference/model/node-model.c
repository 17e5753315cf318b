/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/node-model.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "inference/model/tuning.h"

/* --- kinds of calls -------------------------------------------------------- */

/* The other end of a call: node, label and sizes, and their kind. */
typedef struct {
        guint32 node;
        guint16 label, sizes;
        guint32 kind; /* or NO_KIND */
        guint64 n_calls;
} OtherEnd;

static guint hash_end(gconstpointer key)
{
        const OtherEnd *e = key;

        return (guint)hash_word(hash_word(HASH_SEED, (guint64)e->node << 16 | e->label), e->sizes);
}

static gboolean equal_ends(gconstpointer a, gconstpointer b)
{
        const OtherEnd *x = a, *y = b;

        return x->node == y->node && x->label == y->label && x->sizes == y->sizes;
}

void call_kinds_init(CallKinds *k)
{
        *k = (CallKinds){ .seen = g_hash_table_new_full(hash_end, equal_ends, g_free, NULL) };
}

void call_kinds_clear(CallKinds *k)
{
        g_hash_table_unref(k->seen);
}

static OtherEnd *get_other_end(CallKinds *k, guint32 node, guint16 label, guint16 sizes)
{
        OtherEnd new = { .node = node, .label = label, .sizes = sizes, .kind = NO_KIND };
        OtherEnd *end = g_hash_table_lookup(k->seen, &new);

        if (!end) {
                end = g_memdup2(&new, sizeof new);
                g_hash_table_add(k->seen, end);
        }
        return end;
}

static gboolean is_rare(const CallKinds *k, const OtherEnd *end)
{
        return end->kind == NO_KIND && end->n_calls < k->n_calls / tuning.rare_share;
}

/* The end with these sizes, without them where they are rare, or without its label, too. */
static OtherEnd *end_told(CallKinds *k, OtherEnd *end)
{
        if (end->sizes && is_rare(k, end))
                end = get_other_end(k, end->node, end->label, 0);
        if (is_rare(k, end))
                end = get_other_end(k, end->node, 0, 0);
        return end;
}

void call_kinds_find(CallKinds *k, guint32 *kind, const guint16 *label, const guint16 *sizes,
                     guint32 n)
{
        g_autofree OtherEnd **ends = g_new(OtherEnd *, n);

        for (guint32 i = 0; i < n; i++) {
                guint16 size = sizes ? sizes[i] : 0;

                ends[i] = get_other_end(k, kind[i], label[i], size);
                ends[i]->n_calls++;
                if (size)
                        get_other_end(k, kind[i], label[i], 0)->n_calls++;
        }
        k->n_calls += n;
        for (guint32 i = 0; i < n; i++) {
                OtherEnd *end = end_told(k, ends[i]);

                if (end->kind == NO_KIND)
                        end->kind = k->n++;
                kind[i] = end->kind;
        }
}

static guint32 kind_of(const CallKinds *k, guint32 node, guint16 label, guint16 sizes)
{
        OtherEnd like = { .node = node, .label = label, .sizes = sizes };
        const OtherEnd *end = g_hash_table_lookup(k->seen, &like);

        return end ? end->kind : NO_KIND;
}

/* The kind that most calls have, with this node if any have. */
static guint32 most_frequent(const CallKinds *k, guint32 node)
{
        GHashTableIter each;
        gpointer key;
        const OtherEnd *most = NULL;

        g_hash_table_iter_init(&each, k->seen);
        while (g_hash_table_iter_next(&each, &key, NULL)) {
                const OtherEnd *end = key;

                if (end->kind == NO_KIND)
                        continue;
                if (!most || (end->node == node) > (most->node == node) ||
                    ((end->node == node) == (most->node == node) &&
                     (end->n_calls > most->n_calls ||
                      (end->n_calls == most->n_calls && end->kind < most->kind))))
                        most = end;
        }
        return most ? most->kind : NO_KIND;
}

guint32 call_kinds_look_up(const CallKinds *k, guint32 node, guint16 label, guint16 sizes,
                           gboolean most)
{
        guint32 kind = kind_of(k, node, label, sizes);

        if (kind == NO_KIND && sizes)
                kind = kind_of(k, node, label, 0);
        if (kind == NO_KIND)
                kind = kind_of(k, node, 0, 0);
        return kind == NO_KIND && (most || sizes) ? most_frequent(k, node) : kind;
}

/* --- model ------------------------------------------------------------------ */

void node_model_init(NodeModel *h)
{
        memset(h, 0, sizeof *h);
        call_kinds_init(&h->in);
        call_kinds_init(&h->out);
}

static void clear_walks(NodeModel *h)
{
        parent_walk_clear(&h->walk);
        call_numbers_clear(&h->numbers);
        delay_densities_clear(&h->bounds);
        g_clear_pointer(&h->enter_row, g_free);
        g_clear_pointer(&h->reply_row, g_free);
        evidence_set_clear(&h->evidence);
}

void node_model_move(NodeModel *to, NodeModel *from)
{
        node_model_clear(to);
        *to = *from;
        if (to->walk.numbers)
                to->walk.numbers = &to->numbers;
        g_free(from);
}

void node_model_start(NodeModel *h, guint32 more_callees, const EvidenceKind *const *table)
{
        clear_walks(h);
        h->n_parents = h->n_new = 0;
        h->n_callees = MIN(h->out.n + more_callees, WALK_MAX_CALLEES);
        parent_walk_init(&h->walk, h->in.n, h->n_callees);
        delay_densities_init(&h->bounds);
        h->enter_row = g_new(guint32, h->n_callees);
        h->reply_row = g_new(guint32, h->n_callees);
        for (guint32 i = 0; i < h->n_callees; i++) {
                h->enter_row[i] = delay_densities_add_row(&h->bounds, 0);
                h->reply_row[i] = delay_densities_add_row(&h->bounds, 0);
        }
        evidence_set_make(&h->evidence, table, h->n_callees);
}

void node_model_renew_walks(NodeModel *h)
{
        parent_walk_init(&h->walk, h->in.n, h->n_callees);
        parent_walk_set_numbers(&h->walk, &h->numbers);
        delay_densities_set_resolution(&h->walk.delays, h->resolution);
}

void node_model_set_resolution(NodeModel *h, gint64 resolution)
{
        h->resolution = resolution;
        delay_densities_set_resolution(&h->walk.delays, resolution);
        delay_densities_set_resolution(&h->bounds, resolution);
}

static void begin_walks(NodeModel *h)
{
        parent_walk_clear(&h->walk);
        node_model_renew_walks(h);
}

void node_model_tell_numbers(NodeModel *h, CallNumbers *numbers)
{
        call_numbers_clear(&h->numbers);
        h->numbers = *numbers;
        begin_walks(h);
}

gboolean node_model_fit(NodeModel *h)
{
        if (MIN(h->out.n, WALK_MAX_CALLEES) > h->n_callees)
                return FALSE;
        parent_walk_add_callers(&h->walk, h->in.n);
        return TRUE;
}

void node_model_add_other(NodeModel *h)
{
        parent_walk_add_callers(&h->walk, ++h->in.n);
}

gboolean node_model_are_stale(const NodeModel *h, guint32 n)
{
        return h->n_new + n >= MIN(h->n_parents / tuning.learn_again_part, tuning.learn_again);
}

void node_model_keep(NodeModel *h, guint32 n, gboolean learned)
{
        gboolean half = h->n_parents + n >= 2 * tuning.learn_from;

        h->n_parents = (h->n_parents + n) >> half;
        h->n_new = learned ? 0 : h->n_new + n;
        parent_walk_keep(&h->walk, half);
        delay_densities_keep(&h->bounds, half);
        serving_order_keep(&h->evidence.order, half);
}

void node_model_clear(NodeModel *h)
{
        clear_walks(h);
        g_free(h->root);
        call_kinds_clear(&h->in);
        call_kinds_clear(&h->out);
        memset(h, 0, sizeof *h);
}

NodeModel *node_model_new(void)
{
        NodeModel *h = g_new(NodeModel, 1);

        node_model_init(h);
        return h;
}

void node_model_free(NodeModel *h)
{
        node_model_clear(h);
        g_free(h);
}

/* --- bytes ---------------------------------------------------------------------- */

COMPARISON_OF_POINTERS(compare_ends, OtherEnd,
                       COMPARE(a->node, b->node) ?:
                       COMPARE(a->label, b->label) ?:
                       COMPARE(a->sizes, b->sizes))

static void end_bytes(OtherEnd *end, guint32 n_kinds, Bytes *b)
{
        bytes_u32(b, &end->node);
        bytes_u16(b, &end->label);
        bytes_u16(b, &end->sizes);
        bytes_u32(b, &end->kind);
        bytes_expect(b, end->kind < n_kinds || end->kind == NO_KIND, "a kind");
        bytes_u64(b, &end->n_calls);
}

static void kinds_bytes(CallKinds *k, Bytes *b)
{
        guint32 n = g_hash_table_size(k->seen);
        g_autofree OtherEnd **ends = NULL;

        bytes_u64(b, &k->n_calls);
        bytes_u32(b, &k->n);
        bytes_count(b, &n, 20);
        if (bytes_reads(b)) {
                for (guint32 i = 0; i < n && bytes_good(b); i++) {
                        OtherEnd *end = g_new0(OtherEnd, 1);

                        end_bytes(end, k->n, b);
                        g_hash_table_add(k->seen, end);
                }
                return;
        }
        ends = (OtherEnd **)g_hash_table_get_keys_as_array(k->seen, NULL);
        qsort(ends, n, sizeof *ends, compare_ends);
        for (guint32 i = 0; i < n; i++)
                end_bytes(ends[i], k->n, b);
}

static void callees_bytes(NodeModel *h, Bytes *b)
{
        bytes_u32s(b, &h->enter_row, h->n_callees);
        bytes_u32s(b, &h->reply_row, h->n_callees);
        for (guint32 i = 0; i < h->n_callees && bytes_good(b); i++)
                bytes_expect(b, h->enter_row[i] < h->bounds.n && h->reply_row[i] < h->bounds.n,
                             "a callee");
}

static void learned_bytes(NodeModel *h, const EvidenceKind *const *table, Bytes *b)
{
        parent_walk_bytes(&h->walk, b);
        delay_densities_bytes(&h->bounds, b);
        callees_bytes(h, b);
        bytes_expect(b, h->n_callees == h->walk.n_callees && h->walk.n_callers <= h->in.n,
                     "as many callees everywhere");
        call_numbers_bytes(&h->numbers, b);
        if (!bytes_good(b))
                return;
        if (bytes_reads(b)) {
                parent_walk_set_numbers(&h->walk, &h->numbers);
                evidence_set_make(&h->evidence, table, h->n_callees);
        }
        evidence_set_bytes(&h->evidence, b);
}

/* How a problem is decided in parts. */
static void parts_bytes(NodeModel *h, Bytes *b)
{
        bytes_i64(b, &h->life);
        bytes_i64(b, &h->part);
        bytes_expect(b, h->life >= 0 && h->life <= G_MAXINT64 / 1024, "a lifetime");
        bytes_expect(b,
                     h->part == 0 ||
                             (h->part > 0 && h->part <= LONGEST_PART && !(h->part & (h->part - 1))),
                     "the length of parts");
        bytes_count(b, &h->n_roots, 4);
        bytes_u32s(b, &h->root, h->n_roots);
        for (guint32 i = 1; i < h->n_roots && bytes_good(b); i++)
                bytes_expect(b, h->root[i] > h->root[i - 1], "callees in order");
}

void node_model_bytes(NodeModel *h, const EvidenceKind *const *table, Bytes *b)
{
        gboolean learned = h->n_callees > 0;

        bytes_word(b, "ravel model 11\n");
        bytes_u8(b, &h->sizes);
        bytes_expect(b, h->sizes <= (BY_CALL_SIZE | BY_RETURN_SIZE | NOT_BY_LABEL), "sizes");
        kinds_bytes(&h->in, b);
        kinds_bytes(&h->out, b);
        bytes_u32(b, &h->n_callees);
        bytes_u32(b, &h->n_known);
        bytes_u32(b, &h->n_parents);
        bytes_u32(b, &h->n_new);
        bytes_i64(b, &h->resolution);
        bytes_expect(b, h->resolution >= 0 && h->resolution <= STAMPS_COARSEST,
                     "the resolution of stamps");
        parts_bytes(h, b);
        bytes_bool(b, &learned);
        if (learned)
                learned_bytes(h, table, b);
        else
                bytes_expect(b, h->n_parents == 0, "parents that were learned from");
}
