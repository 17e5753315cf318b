/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A state of strangers: what reads one reads it to its end. What was learned is written again as it
 * was read, merged and decided by; what was decided becomes a path set; by models some calls are
 * decided.
 */
#include "inference/given-model.h"
#include "nesting/decided.h"
#include "nesting/models.h"
#include "nesting/slices.h"
#include "paths/path-set.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

static void check_error(gboolean ok, GError *error)
{
        g_assert_true(ok == (error == NULL));
        if (error)
                g_assert_true(g_utf8_validate(error->message, -1, NULL));
        g_clear_error(&error);
}

static gboolean take(gpointer data, const PathCall *path, guint32 n, gboolean is_cut,
                     GError **error)
{
        (void)path;
        (void)is_cut;
        (void)error;
        *(guint32 *)data += n;
        return TRUE;
}

/* Some calls between the nodes that it knows. */
static void decide(const Learned *l, const LearnedSlice *slice)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(SliceRun) run = NULL;
        guint n_nodes = node_table_size(l->nodes);
        GError *error = NULL;
        guint64 seam[2];
        guint32 n = 0;
        gboolean ok;

        node_table_add_all(nodes, l->nodes);
        run = slice_run_new(nodes, &l->how, &slice->slice, SLICE_KEEPS_ALL, l);
        for (guint i = 0; n_nodes > 0 && i < 8; i++) {
                static const char ids[] = "abcdabcd";
                Message message = { .time = MAX(slice->slice.from, 0) + i,
                                    .op = i < 4 ? CALL_SENT : RET_SENT,
                                    .sender = i % n_nodes,
                                    .receiver = (i + 1) % n_nodes };

                message_set_id(&message, &ids[i], 1);
                if (!slice_run_add(run, &message, NULL))
                        return;
        }
        ok = slice_run_decide(run, take, &n, seam, &error);
        check_error(ok, error);
}

static void try_learned(const guint8 *data, gsize n)
{
        Bytes b = bytes_to_read(data, n), again = bytes_to_write();
        Learned *l = learned_new(), *merged;
        StateKind kind = STATE_LEARNED;
        g_autoptr(GBytes) bytes = NULL;
        GError *error = NULL;
        gboolean ok;

        state_head_bytes(&kind, &b);
        if (bytes_good(&b))
                learned_bytes(l, TRUE, &b);
        ok = bytes_end(&b, &error);
        check_error(ok, error);
        error = NULL;
        if (ok && kind == STATE_LEARNED) {
                state_head_bytes(&kind, &again);
                learned_bytes(l, TRUE, &again);
                g_assert_cmpmem(again.out->data, again.out->len, data, n);
                decide(l, &g_array_index(l->slices, LearnedSlice, 0));
                merged = learned_merge(&l, 1, &error);
                check_error(merged != NULL, error);
                learned_free(merged);
        }
        bytes = bytes_written(&again);
        learned_free(l);
}

static void try_decided(const guint8 *data, gsize n)
{
        DecidedReader reader;
        g_autoptr(PathSet) set = NULL;
        GError *error = NULL;
        gboolean is_cut;
        guint32 n_calls;
        int status = -1;

        if (decided_reader_init(&reader, data, n, &error)) {
                set = path_set_new(reader.learned->nodes, SIBLINGS_MULTISET);
                path_set_set_labels(set, reader.labels);
                while ((status = decided_reader_next(&reader, &n_calls, &is_cut, &error)) > 0)
                        path_set_add(set, reader.path, n_calls, NULL);
                for (guint32 i = 0; i < path_set_size(set); i++)
                        path_set_pattern(set, i);
        }
        check_error(status == 0, error);
        decided_reader_clear(&reader);
}

/* Some calls by the models that there are. */
static void decide_by(const Models *m)
{
        for (guint node = 0; node < m->n_models; node++) {
                CallIn in[4];
                CallOut out[4];
                NodeProblem problem = { .in = in,
                                        .out = out,
                                        .n_in = 4,
                                        .n_out = 4,
                                        .from = G_MININT64,
                                        .decide = G_MAXINT64 };
                NodeAnswer answer;

                if (!m->model[node])
                        continue;
                for (guint32 i = 0; i < 4; i++) {
                        in[i] = (CallIn){ .enter = i * 1000,
                                          .reply = 100000 + i * 1000,
                                          .call = i,
                                          .caller = i % m->n_models,
                                          .label = i % 2 };
                        out[i] = (CallOut){ .start = 10000 + i * 1000,
                                            .end = 50000 + i * 1000,
                                            .call = 4 + i,
                                            .callee = i % m->n_models,
                                            .label = i % 2 };
                }
                find_parents_by_model(&problem, m->model[node], &answer);
                node_answer_clear(&answer);
        }
}

static void try_models(const guint8 *data, gsize n)
{
        GError *error = NULL;
        g_autoptr(Models) m = models_from_bytes(data, n, &error);
        g_autoptr(GBytes) again = NULL;
        gconstpointer bytes;
        gsize length;

        check_error(m != NULL, error);
        if (!m)
                return;
        again = models_to_bytes(m);
        bytes = g_bytes_get_data(again, &length);
        g_assert_cmpmem(bytes, length, data, n);
        decide_by(m);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        try_models(data, n);
        try_learned(data, n);
        try_decided(data, n);
        return 0;
}
