/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Models and answers to bytes and back (inference.h). The bytes begin with a line that names their
 * kind and version.
 */
#include "inference/evidence/evidence-table.h"
#include "inference/model/node-model.h"

/* Times stay far from the ends of a gint64, so that sums and differences are safe, ns. */
#define MOST_TIME (G_MAXINT64 / 4)

static void time_bytes(gint64 *time, Bytes *b)
{
        bytes_i64(b, time);
        if (!bytes_expect(b, *time >= -MOST_TIME && *time <= MOST_TIME, "a time"))
                *time = 0;
}

/* --- models --------------------------------------------------------------------- */

GBytes *node_model_to_bytes(const NodeModel *model)
{
        NodeModel m = *model; /* nothing is written to it */
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

        bytes_word(b, "ravel answer 5\n");
        bytes_count(b, &a->n_in, 4);
        bytes_count(b, &a->n_out, 16);
        bytes_count(b, &n, 12);
        bytes_u32(b, &a->n_workers);
        bytes_u32(b, &a->n_hasty);
        bytes_u32(b, &a->most_open);
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
