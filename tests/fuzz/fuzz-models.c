/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Models of strangers: what reads them reads them to their end. They are written again as they were
 * read, and decide some calls.
 */
#include "inference/given-model.h"
#include "nesting/models.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

static void check_error(gboolean ok, GError *error)
{
        g_assert_true(ok == (error == NULL));
        if (error)
                g_assert_true(g_utf8_validate(error->message, -1, NULL));
        g_clear_error(&error);
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

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        GError *error = NULL;
        g_autoptr(Models) m = models_from_bytes(data, n, &error);
        g_autoptr(GBytes) again = NULL;
        gconstpointer bytes;
        gsize length;

        check_error(m != NULL, error);
        if (!m)
                return 0;
        again = models_to_bytes(m);
        bytes = g_bytes_get_data(again, &length);
        g_assert_cmpmem(bytes, length, data, n);
        decide_by(m);
        return 0;
}
