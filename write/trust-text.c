/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/trust-text.h"

#include "paths/path-text.h"

/* Runs of systems of known truth with a mean parallelism of at least low and below high. */
typedef struct {
        double low, high;
        gboolean operations;
        guint runs, captured;
        double right, least; /* of guessed parents given 0.9 or more: all, and of a run */
} Measured;

static const Measured measured[] = {
#include "write/trust-measured.h"
};

char *trust_in_counts(double probability, double elsewhere)
{
        g_autofree char *p = path_format_probability(probability);
        GString *text = g_string_new(NULL);

        g_string_append_printf(text,
                               "Most of these paths are probably wrong: one is right with a "
                               "probability of %s in the mean. Counts and ranks are by drawings "
                               "from what nodes were learned to do, with a standard error: believe "
                               "these; found is how many paths were found, whose times these are.",
                               p);
        if (elsewhere >= 0.005)
                g_string_append_printf(text,
                                       " %.0f %% of what was drawn has patterns that are not here.",
                                       100 * elsewhere);
        return g_string_free(text, FALSE);
}

char *trust_in_changes(const char *names, const char *probabilities)
{
        return g_strdup_printf(
                "Most paths of %s are probably wrong: one is right with a probability of %s in the "
                "mean. There patterns are counted by drawings, with a standard error, and what "
                "does not exceed that error is no change; the delays of a pattern are of the paths "
                "found.",
                names, probabilities);
}

static const Measured *find_measured(double parallelism, gboolean operations)
{
        for (guint i = 0; i < G_N_ELEMENTS(measured); i++)
                if (measured[i].operations == operations && parallelism >= measured[i].low &&
                    parallelism < measured[i].high)
                        return &measured[i];
        return NULL;
}

char *trust_in_probabilities(double parallelism, gboolean operations)
{
        const Measured *m = find_measured(parallelism, operations);
        const char *with = operations ? "with" : "without";
        g_autoptr(GString) text = g_string_new(NULL);

        if (!m)
                return g_strdup_printf(
                        "How far these probabilities can be trusted is not known: too few systems "
                        "of known truth had a parallelism of about %.0f %s operations.",
                        parallelism, with);
        g_string_append_printf(text, "In %u runs of systems of known truth ", m->runs);
        if (m->captured == m->runs)
                g_string_append(text, "(all captured)");
        else
                g_string_append_printf(text, "(%u captured)", m->captured);
        g_string_append_printf(
                text,
                " with a parallelism of %.0f to %.0f %s operations, parents that were guessed and "
                "given 0.9 or more were right in %.1f %%; in the worst run in %.1f %%.",
                m->low, m->high, with, 100 * m->right, 100 * m->least);
        return g_string_free(g_steal_pointer(&text), FALSE);
}
