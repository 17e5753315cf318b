/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/write/trust-text.h"

#include "paths/write/path-text.h"

char *trust_in_counts(double probability, double elsewhere)
{
        g_autofree char *p = path_format_probability(probability);
        GString *text = g_string_new(NULL);

        g_string_append_printf(
                text,
                "Most of these paths are probably wrong: one is right with a probability of %s in "
                "the mean. Counts and ranks are by drawings from what nodes were learned to do, "
                "with a standard error: believe these; found is how many paths were found, whose "
                "times these are.",
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
                "does "
                "not exceed that error is no change; the delays of a pattern are of the paths "
                "found.",
                names, probabilities);
}
