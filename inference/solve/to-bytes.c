/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Problems, models and answers to bytes and back (inference.h). Each begins with a line that says
 * what it is, and its version.
 */
#include "inference/evidence/evidence-table.h"
#include "inference/model/node-model.h"

/* Times are so far from the ends of a gint64 that they can be added and subtracted, ns. */
#define MOST_TIME (G_MAXINT64 / 4)

static void time_bytes(gint64 *time, Bytes *b)
{
        bytes_i64(b, time);
        if (!bytes_expect(b, *time >= -MOST_TIME && *time <= MOST_TIME, "a time"))
                *time = 0;
}

/* A moment may also be before or after all others. */
static void moment_bytes(gint64 *time, Bytes *b)
{
        bytes_i64(b, time);
        bytes_expect(b,
                     (*time >= -MOST_TIME && *time <= MOST_TIME) || *time == G_MININT64 ||
                             *time == G_MAXINT64,
                     "a moment");
}

/* --- problems ------------------------------------------------------------------- */

/* The list of a call; read, it is added to lists. */
static void list_bytes(guint32 *list, const guint32 *all, GArray *lists, Bytes *b)
{
        guint32 n = all ? all[*list] : 0, before = 0;

        bytes_count(b, &n, 4);
        if (bytes_reads(b) && n > 0) {
                *list = lists->len;
                g_array_append_val(lists, n);
        }
        for (guint32 i = 1; i <= n && bytes_good(b); i++) {
                guint32 number = all ? all[*list + i] : 0;

                bytes_u32(b, &number);
                bytes_expect(b, i == 1 || number > before, "identifiers in order");
                before = number;
                if (bytes_reads(b))
                        g_array_append_val(lists, number);
        }
}

static void in_bytes(CallIn *in, Bytes *b)
{
        time_bytes(&in->enter, b);
        time_bytes(&in->reply, b);
        bytes_u32(b, &in->call);
        bytes_u32(b, &in->caller);
        bytes_u32(b, &in->connection);
        bytes_u16(b, &in->label);
        bytes_u8(b, &in->size[0]);
        bytes_u8(b, &in->size[1]);
}

static void out_bytes(CallOut *out, Bytes *b)
{
        time_bytes(&out->start, b);
        time_bytes(&out->end, b);
        bytes_u32(b, &out->call);
        bytes_u32(b, &out->callee);
        bytes_u32(b, &out->parent);
        bytes_u32(b, &out->connection);
        bytes_u16(b, &out->label);
        bytes_u8(b, &out->size[0]);
        bytes_u8(b, &out->size[1]);
        bytes_u8(b, &out->flags);
        time_bytes(&out->lead, b);
}

static void calls_bytes(NodeProblem *p, Bytes *b)
{
        enum { IN_BYTES = 36, OUT_BYTES = 49 };
        guint32 n_in = p->n_in, n_out = p->n_out, none = 0;
        const guint32 *all = p->identifiers;
        GArray *lists = g_array_new(FALSE, FALSE, sizeof(guint32));

        g_array_append_val(lists, none);

        bytes_count(b, &n_in, IN_BYTES);
        p->n_in = bytes_room(b, &p->in, n_in, sizeof *p->in, IN_BYTES);
        for (guint32 i = 0; i < p->n_in && bytes_good(b); i++) {
                in_bytes(&p->in[i], b);
                list_bytes(&p->in[i].identifiers, all, lists, b);
                bytes_expect(b, i == 0 || p->in[i - 1].enter <= p->in[i].enter, "calls by enter");
        }
        bytes_count(b, &n_out, OUT_BYTES);
        p->n_out = bytes_room(b, &p->out, n_out, sizeof *p->out, OUT_BYTES);
        for (guint32 i = 0; i < p->n_out && bytes_good(b); i++) {
                out_bytes(&p->out[i], b);
                list_bytes(&p->out[i].identifiers, all, lists, b);
                bytes_expect(b, i == 0 || p->out[i - 1].start <= p->out[i].start, "calls by start");
        }
        if (bytes_reads(b) && lists->len > 1)
                p->identifiers = (const guint32 *)g_array_free(g_steal_pointer(&lists), FALSE);
        else
                g_array_free(lists, TRUE);
}

static void problem_bytes(NodeProblem *p, Bytes *b)
{
        gboolean truth = p->truth != NULL;

        bytes_word(b, "ravel problem 5\n");
        calls_bytes(p, b);
        time_bytes(&p->window, b);
        bytes_expect(b, p->window >= 0, "a skew window");
        moment_bytes(&p->from, b);
        moment_bytes(&p->decide, b);
        bytes_bool(b, &p->draws);
        bytes_bool(b, &p->keep_log);
        bytes_bool(b, &p->best_only);
        bytes_bool(b, &truth);
        if (truth)
                bytes_u32s(b, &p->truth, p->n_out);
}

GBytes *node_problem_to_bytes(const NodeProblem *problem)
{
        NodeProblem p = *problem;
        Bytes b = bytes_to_write();

        problem_bytes(&p, &b);
        return bytes_written(&b);
}

gboolean node_problem_from_bytes(NodeProblem *problem, const guint8 *data, gsize n, GError **error)
{
        Bytes b = bytes_to_read(data, n);

        *problem = (NodeProblem){ 0 };
        problem_bytes(problem, &b);
        if (bytes_end(&b, error))
                return TRUE;
        node_problem_clear(problem);
        return FALSE;
}

void node_problem_clear(NodeProblem *problem)
{
        g_free(problem->in);
        g_free(problem->out);
        g_free(problem->truth);
        g_free((gpointer)problem->identifiers);
        *problem = (NodeProblem){ 0 };
}

/* --- models --------------------------------------------------------------------- */

GBytes *node_model_to_bytes(const NodeModel *model)
{
        NodeModel m = *model; /* of which nothing is written to */
        Bytes b = bytes_to_write();

        node_model_bytes(&m, evidence_table, &b);
        return bytes_written(&b);
}

NodeModel *node_model_from_bytes(const guint8 *data, gsize n, GError **error)
{
        NodeModel *model = node_model_new();
        Bytes b = bytes_to_read(data, n);

        node_model_bytes(model, evidence_table, &b);
        if (bytes_end(&b, error))
                return model;
        node_model_free(model);
        return NULL;
}

/* --- answers -------------------------------------------------------------------- */

static void shares_bytes(NodeAnswer *a, guint32 n, Bytes *b)
{
        bytes_u32s(b, &a->parent, n);
        bytes_floats(b, &a->share, n);
        bytes_floats(b, &a->score, n);
}

static void first_bytes(NodeAnswer *a, guint32 n, Bytes *b)
{
        gsize n_first = bytes_room(b, &a->first, (gsize)a->n_out + 1, sizeof *a->first, 8);

        for (gsize i = 0; i < n_first && bytes_good(b); i++) {
                guint64 first = a->first[i];

                bytes_u64(b, &first);
                bytes_expect(b, first <= n && (i > 0 ? first >= a->first[i - 1] : first == 0),
                             "candidates in order");
                a->first[i] = first;
        }
        if (bytes_good(b))
                bytes_expect(b, a->first[a->n_out] == n, "as many candidates");
}

static void wait_bytes(NodeAnswer *a, Bytes *b)
{
        gboolean known = a->wait != NULL;

        bytes_bool(b, &known);
        if (!known || bytes_room(b, &a->wait, a->n_in, sizeof *a->wait, 8) < a->n_in)
                return;
        for (guint32 p = 0; p < a->n_in && bytes_good(b); p++) {
                time_bytes(&a->wait[p], b);
                bytes_expect(b, a->wait[p] >= 0, "a wait");
        }
}

static void drawn_bytes(NodeAnswer *a, Bytes *b)
{
        gboolean known = a->drawn != NULL;

        bytes_bool(b, &known);
        if (known)
                bytes_u32s(b, &a->drawn, (gsize)a->n_out * ANSWER_DRAWINGS);
}

static void answer_bytes(NodeAnswer *a, Bytes *b)
{
        guint32 n = bytes_reads(b) ? 0 : a->first[a->n_out];

        bytes_word(b, "ravel answer 4\n");
        bytes_count(b, &a->n_in, 4);
        bytes_count(b, &a->n_out, 16);
        bytes_count(b, &n, 12);
        bytes_u32(b, &a->n_workers);
        wait_bytes(a, b);
        bytes_u32s(b, &a->call, a->n_out);
        bytes_u32s(b, &a->n_candidates, a->n_out);
        bytes_floats(b, &a->family, a->n_in);
        first_bytes(a, n, b);
        shares_bytes(a, n, b);
        drawn_bytes(a, b);
        bytes_double(b, &a->log);
        bytes_double(b, &a->true_log);
}

GBytes *node_answer_to_bytes(const NodeAnswer *answer)
{
        NodeAnswer a = *answer;
        Bytes b = bytes_to_write();

        answer_bytes(&a, &b);
        return bytes_written(&b);
}

gboolean node_answer_from_bytes(NodeAnswer *answer, const guint8 *data, gsize n, GError **error)
{
        Bytes b = bytes_to_read(data, n);

        *answer = (NodeAnswer){ 0 };
        answer_bytes(answer, &b);
        if (bytes_end(&b, error))
                return TRUE;
        node_answer_clear(answer);
        return FALSE;
}
