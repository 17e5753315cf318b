/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/trend/trend-condition.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"

static const char *const unit_names[] = { "", "store", "hour", "day", "week" };
static const double unit_ns[] = { 0, 0, 3600e9, 86400e9, 604800e9 };

static gboolean skip(const char **at, const char *end, const char *word)
{
        gsize n = strlen(word);

        if ((gsize)(end - *at) < n || memcmp(*at, word, n) != 0)
                return FALSE;
        *at += n;
        return TRUE;
}

/* Digits with a point or without; no exponent, no sign. */
static gboolean condition_parse_number(const char **at, const char *end, double *number)
{
        const char *from = *at;
        g_autofree char *digits = NULL;
        guint points = 0;

        while (*at < end && (g_ascii_isdigit(**at) || (**at == '.' && ++points == 1)))
                (*at)++;
        digits = g_strndup(from, (gsize)(*at - from));
        *number = g_ascii_strtod(digits, NULL);
        return *at - from > (gssize)points && isfinite(*number);
}

static gboolean parse(const char *at, const char *end, TrendCondition *c)
{
        *c = (TrendCondition){ .pattern = TRUE };
        c->gone = skip(&at, end, "gone");
        if (c->gone || skip(&at, end, "new"))
                return at == end;
        c->pattern = FALSE;
        while (c->kind < N_TREND_KINDS && !skip(&at, end, trend_kind_names[c->kind]))
                c->kind++;
        if (c->kind == N_TREND_KINDS)
                return FALSE;
        c->below = skip(&at, end, "<");
        if (!c->below && !skip(&at, end, ">"))
                return FALSE;
        gboolean negative = skip(&at, end, "-");
        if (!negative)
                skip(&at, end, "+");
        if (!condition_parse_number(&at, end, &c->limit) || !skip(&at, end, "%"))
                return FALSE;
        c->limit /= negative ? -100 : 100;
        if (at == end)
                return TRUE;
        if (!skip(&at, end, "/"))
                return FALSE;
        for (c->unit = TREND_A_STORE; c->unit <= TREND_A_WEEK; c->unit++)
                if (skip(&at, end, unit_names[c->unit]))
                        return at == end;
        return FALSE;
}

gboolean trend_condition_parse(const char *text, gsize n, TrendCondition *c, GError **error)
{
        g_autoptr(GString) shown = g_string_new(NULL);

        if (parse(text, text + n, c))
                return TRUE;
        printable_append(shown, text, (gssize)n, PRINTABLE_TEXT);
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "found \"%s\", expected such as own>+3%%/week, latency>10%%, rate<-50%%, "
                          "share>20%%/store, new or gone",
                          shown->str);
}

gboolean trend_condition_check(const TrendCondition *c, const Trend *t, GError **error)
{
        return c->pattern || t->timed || c->unit <= TREND_A_STORE ||
               ravel_fail(error, RAVEL_ERROR_USAGE,
                          "the stores overlap in time: a condition for each %s cannot be asked, "
                          "expected one for each store",
                          unit_names[c->unit]);
}

gboolean trend_condition_meets(const TrendCondition *c, const Trend *t, const TrendSeries *s,
                               const SeriesChange *change)
{
        double size = change->change;

        if (c->pattern || c->kind != s->kind || change->kind == SERIES_ODD)
                return FALSE;
        if (change->kind == SERIES_STEP || c->unit == TREND_A_STORE)
                size = expm1(size);
        else if (c->unit == TREND_IN_ALL)
                size = trend_change_in_all(t, change);
        else
                size = expm1(size * unit_ns[c->unit] / t->spacing);
        return c->below ? size < c->limit : size > c->limit;
}

gboolean trend_condition_meets_pattern(const TrendCondition *c, const TrendPattern *p)
{
        return c->pattern && c->gone == p->gone;
}
