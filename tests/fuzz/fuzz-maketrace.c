/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A configuration of maketrace, and the begin of the trace it makes.
 */
#include "maketrace/generator.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

/* How many steps a list takes, or how often it is done to take one; about. */
static double count_steps(const Step *step)
{
        double n = 0;

        for (; step; step = step->next)
                n += MAX(step->repeat, step->repeat_mean) * (1 + count_steps(step->first)) /
                     step->probability;
        return n;
}

/* Whether the begin of its trace is soon there. */
static gboolean is_small(const Scenario *s)
{
        double n = s->parallel;

        /* A node that stops every ns takes a while for a year's work. */
        for (guint i = 0; i < s->nodes->len; i++)
                if (g_array_index(s->nodes, ServerLaw, i).stalls)
                        return FALSE;
        for (guint i = 0; i < s->tracelets->len; i++) {
                const Tracelet *t = s->tracelets->pdata[i];

                n += t->parallel;
                for (guint k = 0; k < t->paths->len; k++)
                        n += count_steps(t->paths->pdata[k]);
        }
        return n < 10000;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(GError) error = NULL;
        g_autoptr(Scenario) scenario = scenario_parse(data, n, "fuzz", nodes, &error);
        g_autoptr(Generator) generator = NULL;
        gint64 last = G_MININT64;
        Message m;

        if (!scenario) {
                g_assert(error && g_utf8_validate(error->message, -1, NULL));
                return 0;
        }
        if (!is_small(scenario))
                return 0;
        scenario->messages = 100;
        generator = generator_new(scenario);
        for (guint i = 0; i < 1000 && generator_next(generator, &m, NULL) == 1; i++) {
                g_assert(m.time >= last && m.sender < node_table_size(nodes));
                last = m.time;
        }
        return 0;
}
