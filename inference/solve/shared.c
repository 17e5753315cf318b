/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/shared-node.h"

#include "base/peers.h"
#include "inference/model/tuning.h"
#include "inference/solve/part-search.h"
#include "inference/solve/whole.h"

struct SharedNode {
        Whole begun;
        NodeModel *model;
        NodeAnswer answer;
        GArray *parts; /* NULL: all is found at once */
        guint32 *mine; /* the numbers of the parts found here, n_mine */
        guint32 n_mine;
        PartSearch search;
};

SharedNode *shared_node_new(NodeProblem *problem)
{
        SharedNode *s = g_new0(SharedNode, 1);

        g_assert(!problem->truth);
        s->model = node_model_new();
        whole_begin(&s->begun, problem, s->model, (Learning){ 0 }, &s->answer);
        g_mutex_init(&s->search.lock);
        return s;
}

void shared_node_free(SharedNode *s)
{
        if (!s)
                return;
        for (guint32 i = 0; s->parts && i < s->parts->len; i++)
                found_part_clear(&s->search.found[i]);
        g_free(s->search.found);
        if (s->search.learned)
                g_bytes_unref(s->search.learned);
        if (s->parts)
                g_array_free(s->parts, TRUE);
        for (guint i = 0; s->search.model && i < crew_size(s->begun.n.problem.node->crew); i++) {
                if (!s->search.model[i])
                        continue;
                evidence_end(&s->search.model[i]->evidence);
                node_model_free(s->search.model[i]);
        }
        g_free(s->search.model);
        g_free(s->search.size);
        g_free(s->mine);
        if (!s->begun.ended) /* another one ends it */
                whole_abandon(&s->begun);
        node_answer_clear(&s->answer);
        node_model_free(s->model);
        g_mutex_clear(&s->search.lock);
        g_free(s);
}

static void begin_parts(SharedNode *s)
{
        guint n_slots = crew_size(s->begun.n.problem.node->crew);

        s->parts = part_search_divide(&s->begun.n.problem, s->answer.n_candidates);
        s->mine = g_new(guint32, s->parts->len + 1);
        s->search.whole = &s->begun.n.j;
        s->search.parts = s->parts;
        s->search.found = g_new0(FoundPart, s->parts->len + 1);
        s->search.model = g_new0(NodeModel *, n_slots);
        s->search.size = g_new(WalkSize, n_slots);
        s->search.answer = &s->answer;
}

/* The learned model. */
static void learned_bytes(SharedNode *s, Bytes *b)
{
        gboolean choice = s->search.learned != NULL;

        bytes_bool(b, &choice);
        if (choice)
                bytes_blob(b, &s->search.learned);
}

GBytes *shared_node_learn(SharedNode *s)
{
        Joint *j = &s->begun.n.j;
        Bytes b;

        if (j->problem->n_stretches == 1) {
                whole_find_at_once(&s->begun, &s->answer);
                return NULL;
        }
        if (s->begun.choice)
                s->search.learned = part_search_learn(j, &s->begun.open);
        b = bytes_to_write();
        learned_bytes(s, &b);
        begin_parts(s);
        return bytes_written(&b);
}

void shared_node_take(SharedNode *s, GBytes *learned)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(learned, &n);
        Bytes b = bytes_to_read(data, n);

        learned_bytes(s, &b);
        g_assert(bytes_end(&b, NULL));
        begin_parts(s);
        if (s->search.learned)
                part_search_number(&s->begun.n.j, part_search_model(&s->search, 0));
}

/* The parents of a part's calls, in the assignment of all calls. */
static void parents_bytes(SharedNode *s, const Part *part, Bytes *b)
{
        guint32 *of = s->begun.n.assignment.parent + part->at, n = part->before - part->at;
        guint32 *parent = of;

        bytes_u32s(b, &parent, n);
        if (!bytes_reads(b) || !parent)
                return;
        memcpy(of, parent, n * sizeof *of);
        g_free(parent);
}

static void found_bytes(SharedNode *s, guint32 number, Bytes *b)
{
        FoundPart *f = &s->search.found[number];
        const Part *part = &g_array_index(s->parts, Part, number);
        NodeAnswer *a = &f->answer;
        guint32 n = part->before - part->at, n_named;
        gboolean drawn;

        if (bytes_reads(b))
                *a = found_part_begin(part);
        n_named = (guint32)a->first[n];
        drawn = a->drawn != NULL;
        parents_bytes(s, part, b);
        bytes_u32(b, &f->first_in);
        bytes_u32(b, &a->n_hasty);
        bytes_count(b, &f->n_in, 4);
        bytes_floats(b, &f->family, f->n_in);
        for (guint32 i = 0; i < n; i++) {
                guint32 end_of = (guint32)a->first[i + 1];

                bytes_u32(b, &a->call[i]);
                bytes_u32(b, &end_of);
                a->first[i + 1] = end_of;
        }
        bytes_count(b, &n_named, 12);
        bytes_u32s(b, &a->parent, n_named);
        bytes_floats(b, &a->share, n_named);
        bytes_floats(b, &a->score, n_named);
        bytes_bool(b, &drawn);
        if (drawn)
                bytes_u32s(b, &a->drawn, (gsize)n * ANSWER_DRAWINGS);
        f->done = TRUE;
}

double shared_node_learning(const SharedNode *s)
{
        const Whole *b = &s->begun;

        return b->choice ? LEARNING_ROUNDS * (double)b->n_beliefs / b->n.problem.n_stretches : 0;
}

void shared_node_assign(SharedNode *s, guint mine, double *load, guint n)
{
        for (guint32 i = 0; i < s->parts->len; i++) {
                const Part *part = &g_array_index(s->parts, Part, i);
                guint who = peers_least_loaded(load, NULL, n);

                load[who] += (double)parts_beliefs(s->answer.n_candidates, part->at, part->before);
                if (who == mine)
                        s->mine[s->n_mine++] = i;
        }
}

/* The parts found here. */
typedef struct {
        SharedNode *node;
        Bytes *bytes; /* NULL: the parts are kept */
} Share;

/* CrewPart; data: the share. */
static void do_mine(gpointer data, guint32 number, guint slot)
{
        Share *share = data;
        PartSearch *s = &share->node->search;
        guint32 i = share->node->mine[number];

        s->found[i] = found_part_find(s->whole, part_search_model(s, slot),
                                      &g_array_index(s->parts, Part, i));
        if (!share->bytes)
                return;
        g_mutex_lock(&s->lock);
        bytes_u32(share->bytes, &i);
        found_bytes(share->node, i, share->bytes);
        g_mutex_unlock(&s->lock);
        found_part_clear(&s->found[i]);
}

GBytes *shared_node_find(SharedNode *s, gboolean keep)
{
        Bytes b = bytes_to_write();
        Share share = { s, keep ? NULL : &b };

        crew_share(s->begun.n.problem.node->crew, s->n_mine, do_mine, &share);
        return bytes_written(&b);
}

void shared_node_add(SharedNode *s, GBytes *share)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(share, &n);
        Bytes b = bytes_to_read(data, n);

        while (b.at < n && bytes_good(&b)) {
                guint32 number = 0;

                bytes_u32(&b, &number);
                g_assert(number < s->parts->len);
                found_bytes(s, number, &b);
        }
        g_assert(bytes_end(&b, NULL));
}

void shared_node_end(SharedNode *s, NodeAnswer *answer)
{
        Joint *j = &s->begun.n.j;

        if (s->parts) {
                part_search_model(&s->search, 0); /* all parts may be from elsewhere */
                for (guint32 i = 0; i < s->parts->len; i++)
                        part_search_hand_out(&s->search, i);
                part_search_end(&s->search, j);
                g_clear_pointer(&s->search.model, g_free); /* the first has become the model */
        }
        whole_end(&s->begun, &s->answer);
        *answer = s->answer;
        s->answer = (NodeAnswer){ 0 };
}
