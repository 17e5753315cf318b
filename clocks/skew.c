/* SPDX-License-Identifier: BSD-2-Clause */
#include "clocks/skew.h"

#include <string.h>

#include "base/error.h"
#include "tracefmt/trace-reader.h"

#define UNITS G_GINT64_CONSTANT(1000000000000000) /* of drift, in one */

static const char added[] = "skew added: ", removed[] = "skew removed: ";

/* a / b, to the nearest integer; b is positive. */
static __int128 divide_down(__int128 a, __int128 b)
{
        return a < 0 ? -((-a + b / 2) / b) : (a + b / 2) / b;
}

gint64 skew_apply(const Skew *skew, gint64 time)
{
        __int128 t = (__int128)time - skew->since;

        if (skew->remove)
                t = divide_down((t - skew->offset) * UNITS, UNITS + skew->drift);
        else
                t += skew->offset + divide_down(t * skew->drift, UNITS);
        return CLAMP(t + skew->since, G_MININT64, G_MAXINT64);
}

static void put_decimal(GString *out, const char *plus, gint64 billionths)
{
        guint64 n = billionths < 0 ? -(guint64)billionths : (guint64)billionths;

        g_string_append_printf(out, "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
                               billionths < 0 ? "-" : plus, n / 1000000000, n % 1000000000);
}

char *skew_to_fact(const Skew *skew, const NodeTable *nodes)
{
        GString *out = g_string_new(skew->remove ? removed : added);

        g_string_append_printf(out, "%s ", node_table_written(nodes, skew->node));
        put_decimal(out, "+", skew->offset);
        g_string_append(out, " s ");
        put_decimal(out, "+", skew->drift);
        g_string_append(out, " ppm since ");
        put_decimal(out, "", skew->since);
        return g_string_free(out, FALSE);
}

gboolean skew_is_fact(const char *fact)
{
        return g_str_has_prefix(fact, added) || g_str_has_prefix(fact, removed);
}

/* What put_decimal() wrote: but for a plus, a stamp. */
static gboolean parse_decimal(const char *text, gint64 *billionths)
{
        return trace_parse_time(text + (*text == '+'), billionths, NULL);
}

gboolean skew_from_fact(Skew *skew, const char *fact, NodeTable *nodes, GError **error)
{
        enum { NODE, OFFSET, S, PPM, UNIT, SINCE, TIME, N_WORDS };
        const char *text = strchr(fact, ':');
        g_auto(GStrv) words = g_strsplit(text ? text + 2 : "", " ", -1);

        *skew = (Skew){ .remove = g_str_has_prefix(fact, removed) };
        if (skew_is_fact(fact) && g_strv_length(words) == N_WORDS && !strcmp(words[S], "s") &&
            !strcmp(words[UNIT], "ppm") && !strcmp(words[SINCE], "since") &&
            parse_decimal(words[OFFSET], &skew->offset) &&
            parse_decimal(words[PPM], &skew->drift) && ABS(skew->drift) <= SKEW_MAX_DRIFT &&
            parse_decimal(words[TIME], &skew->since)) {
                skew->node = node_table_add_written(nodes, words[NODE], strlen(words[NODE]), error);
                return skew->node != NO_NODE;
        }
        return ravel_fail(error, RAVEL_ERROR_INPUT,
                          "\"%s\" is not a skew: expected such as \"%sNODE +0.030000000 s "
                          "+50.000000000 ppm since 1047680084.482205000\"",
                          fact, skew->remove ? removed : added);
}
