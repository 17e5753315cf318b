/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/alert-condition.h"

#include <math.h>
#include <string.h>

#include "base/binomial.h"
#include "base/error.h"

enum { LEAST_BEFORE = 12 }; /* fewer windows are no comparison */

/* The probability that chance alone makes one pair of windows differ so much. A day has 8,640
 * windows of 10 s. */
#define PAIR_CHANCE 1e-9

/* Likewise that it makes each of the two differ, so that one odd window is no alert. */
#define WINDOW_CHANCE 0.01

/* Likewise that a share of errors at its limit looks higher. */
#define ERROR_CHANCE 0.05

/* Half the width of the interval of a change, in standard errors: 99 % on one side. */
#define INTERVAL 2.33

/* Windows differ by this share at least, even if all before are the same. */
#define LEAST_SCATTER 0.001

/* --- text ------------------------------------------------------------------------ */

static const struct {
        const char *name;
        AlertKind kind;
} kinds[] = { { "mean", ALERT_MEAN },
              { "own", ALERT_OWN },
              { "errors", ALERT_ERRORS },
              { "rate", ALERT_RATE } };

/* "p99" or "p99.9" as 0.99 or 0.999. */
static gboolean parse_quantile(const char *name, double *quantile)
{
        char *end;

        *quantile = *name == 'p' && g_ascii_isdigit(name[1]) ? g_ascii_strtod(name + 1, &end) / 100
                                                             : -1;
        return *quantile >= 0 && *quantile <= 1 && !*end;
}

static gboolean parse_kind(const char *name, AlertCondition *c)
{
        c->kind = ALERT_LATENCY;
        if (parse_quantile(name, &c->quantile))
                return TRUE;
        for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (!strcmp(name, kinds[i].name)) {
                        c->kind = kinds[i].kind;
                        return TRUE;
                }
        return FALSE;
}

/* "1%" as 0.01; "5/s" or "300/min" as 5. */
static gboolean parse_number(const char *text, const char *const *units, const double *factors,
                             double *value)
{
        char *end;

        *value = g_ascii_strtod(text, &end);
        if (end == text)
                return FALSE;
        g_strchug(end);
        for (guint i = 0; units[i]; i++)
                if (!strcmp(end, units[i])) {
                        *value *= factors[i];
                        return *value >= 0 && isfinite(*value);
                }
        return FALSE;
}

static gboolean parse_share(const char *text, double *value)
{
        return parse_number(text, (const char *const[]){ "%", NULL }, (const double[]){ 0.01 },
                            value);
}

typedef gboolean (*ParseDuration)(const char *, gint64 *, GError **);

/* "1m" is a minute, too. */
static gboolean parse_time(const char *text, ParseDuration duration, gint64 *ns)
{
        gsize n = strlen(text);
        gboolean minutes = n > 1 && text[n - 1] == 'm' && !g_ascii_isalpha(text[n - 2]);
        g_autofree char *whole = g_strconcat(text, minutes ? "in" : "", NULL);

        return duration(whole, ns, NULL);
}

static gboolean parse_limit(const char *text, AlertCondition *c, ParseDuration duration)
{
        static const char *const rates[] = { "/s", "/min", "/h", NULL };
        static const double factors[] = { 1, 1.0 / 60, 1.0 / 3600 };
        gint64 ns;

        if (c->kind == ALERT_RATE)
                return parse_number(text, rates, factors, &c->limit);
        if (c->kind == ALERT_ERRORS)
                return parse_share(text, &c->limit);
        if (!duration(text, &ns, NULL))
                return FALSE;
        c->limit = (double)ns / 1e9;
        return TRUE;
}

/* "p99(GET /search)" and what follows it, which is returned. NULL: it is none. */
static char *parse_subject(char *text, AlertCondition *c)
{
        gsize n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.");
        g_autofree char *name = g_strndup(text, n);
        char *close = text[n] == '(' ? strrchr(text, ')') : text + n - 1;

        if (n == 0 || !close || !parse_kind(name, c))
                return NULL;
        if (text[n] == '(' && close > text + n + 1)
                c->subject = g_strndup(text + n + 1, close - text - n - 1);
        return g_strchug(close + 1);
}

static gboolean parse_rest(char *rest, AlertCondition *c, ParseDuration duration)
{
        char *hold = strstr(rest, " for ");
        char sign = *rest;

        if (hold) {
                *hold = 0;
                if (!parse_time(g_strstrip(hold + 5), duration, &c->hold))
                        return FALSE;
        }
        g_strstrip(rest);
        c->is_change = sign == '+' || sign == '-';
        c->below = sign == '<' || sign == '-';
        if (!sign || !strchr("+-<>", sign) || (c->is_change && hold))
                return FALSE;
        g_strchug(rest + 1);
        return c->is_change ? parse_share(rest + 1, &c->limit) && c->limit > 0
                            : parse_limit(rest + 1, c, duration);
}

gboolean alert_condition_parse(const char *text, AlertCondition *c, ParseDuration duration,
                               GError **error)
{
        g_autofree char *copy = g_strstrip(g_strdup(text));
        char *rest;

        *c = (AlertCondition){ .text = g_strdup(copy),
                               .kind = ALERT_NEW,
                               .limit = ALERT_NEW_SHARE };
        if (!strcmp(copy, "new"))
                return TRUE;
        rest = parse_subject(copy, c);
        if (rest && parse_rest(rest, c, duration) && (c->kind != ALERT_OWN || c->subject))
                return TRUE;
        alert_condition_clear(c);
        return ravel_fail(
                error, RAVEL_ERROR_USAGE,
                "--alert %s: expected a condition such as \"p99(GET /search) > 200ms for "
                "1m\", \"errors(db) > 1%%\", \"rate(GET /) < 5/s\", \"own(catalog) +20%%\" "
                "or \"new\"",
                text);
}

void alert_condition_clear(AlertCondition *c)
{
        g_clear_pointer(&c->text, g_free);
        g_clear_pointer(&c->subject, g_free);
}

/* --- changes ---------------------------------------------------------------------- */

/* The scatter of values: mean, and standard deviation of a value and of the mean of a pair, on the
 * side of the condition alone, as latencies scatter more upwards. They are logarithms of shares of
 * the mean, whose distribution is nearer to the normal one. */
typedef struct {
        double usual; /* the mean of the values themselves */
        double mean, one, pair;
        guint n;
} Scatter;

/* Small values are not worth their whole logarithm. */
static double scale(double value, double usual)
{
        return log(value / usual + 0.01);
}

static double deviation(const double *values, guint n, guint together, const Scatter *s,
                        double sign)
{
        double square = 0;
        guint m = 0;

        for (guint i = 0; i + together <= n; i++) {
                double v = scale(values[i], s->usual);

                if (together == 2)
                        v = (v + scale(values[i + 1], s->usual)) / 2;
                v = sign * (v - s->mean);
                square += v > 0 ? v * v : 0;
                m += v > 0;
        }
        return hypot(sqrt(square / MAX(m, 1)), LEAST_SCATTER);
}

static gboolean find_scatter(const AlertState *s, double sign, Scatter *scatter)
{
        const double *values = s->before ? (const double *)(gpointer)s->before->data : NULL;

        *scatter = (Scatter){ .n = s->before ? s->before->len : 0 };
        if (scatter->n < LEAST_BEFORE)
                return FALSE;
        for (guint i = 0; i < scatter->n; i++)
                scatter->usual += values[i] / scatter->n;
        if (!(scatter->usual > 0))
                return FALSE;
        for (guint i = 0; i < scatter->n; i++)
                scatter->mean += scale(values[i], scatter->usual) / scatter->n;
        scatter->one = deviation(values, scatter->n, 1, scatter, sign);
        scatter->pair = deviation(values, scatter->n, 2, scatter, sign);
        return TRUE;
}

/* Whether chance makes a value this far from the mean, in the condition's direction, so rarely. */
static gboolean is_beyond(double distance, double deviation, double freedom, double chance)
{
        return distance > 0 && student_tails(distance / deviation, freedom) / 2 < chance;
}

/* goes_on: it was met before. Then it takes less to be met again. */
static gboolean has_changed(AlertState *s, const AlertCondition *c, gboolean goes_on)
{
        double sign = c->below ? -1 : 1, pair = 0, error, reach;
        Scatter scatter;

        if (s->n_recent < 2 || !find_scatter(s, sign, &scatter))
                return FALSE;
        for (guint i = 0; i < 2; i++) {
                double v = scale(s->recent[i], scatter.usual);

                pair += v / 2;
                if (!goes_on &&
                    !is_beyond(sign * (v - scatter.mean), scatter.one * sqrt(1 + 1.0 / scatter.n),
                               scatter.n - 1, WINDOW_CHANCE))
                        return FALSE;
        }
        s->value = (s->recent[0] + s->recent[1]) / 2;
        s->usual = scatter.usual;
        error = scatter.pair * sqrt(1 + 2.0 / scatter.n);
        reach = exp(sign * INTERVAL * error) * s->value / s->usual - 1;
        if (goes_on)
                return sign * (s->value / s->usual - 1) > c->limit / 2;
        /* Pairs that overlap have about half the freedom. */
        return is_beyond(sign * (pair - scatter.mean), error, scatter.n / 2.0 - 1, PAIR_CHANCE) &&
               sign * reach >= c->limit;
}

/* The older of the last two windows is one of those before. */
static void pass_window(AlertState *s)
{
        if (s->n_recent < 2)
                return;
        if (!s->before)
                s->before = g_array_new(FALSE, FALSE, sizeof(double));
        if (s->before->len >= ALERT_BEFORE)
                g_array_remove_index(s->before, 0);
        g_array_append_val(s->before, s->recent[0]);
}

static void take_recent(AlertState *s, double value, double weight)
{
        s->recent[0] = s->recent[1];
        s->weights[0] = s->weights[1];
        s->recent[1] = value;
        s->weights[1] = weight;
        s->n_recent = MIN(s->n_recent + 1, 2);
}

static gboolean add_change(AlertState *s, const AlertCondition *c, double value)
{
        gboolean met = s->met || s->near;

        if (isnan(value))
                return FALSE;
        if (s->n_met >= ALERT_BEFORE)
                alert_state_clear(s);
        if (!met)
                pass_window(s);
        take_recent(s, value, 1);
        return has_changed(s, c, met);
}

/* Of the last two windows together, so that few calls are enough. */
static gboolean has_errors(AlertState *s, const AlertCondition *c, double value, guint64 n)
{
        double calls = 0, errors = 0;

        if (isnan(value))
                return FALSE;
        take_recent(s, value, n);
        for (guint i = 2 - s->n_recent; i < 2; i++) {
                calls += s->weights[i];
                errors += s->weights[i] * s->recent[i];
        }
        s->value = errors / calls;
        return s->value > c->limit &&
               (s->met || s->near || binomial_tail(calls, errors, c->limit) < ERROR_CHANCE);
}

/* Whether it was the last window but one that began to meet the condition. */
static gboolean began_before(const AlertState *s, const AlertCondition *c)
{
        return c->is_change ||
               (c->kind == ALERT_ERRORS && s->n_recent == 2 && s->recent[0] > c->limit);
}

void alert_state_add(AlertState *s, const AlertCondition *c, gint64 from, gint64 to, double value,
                     guint64 n)
{
        gboolean was = s->met || s->near, now;

        s->value = value;
        if (c->is_change)
                now = add_change(s, c, value);
        else if (c->kind == ALERT_ERRORS && !c->below)
                now = has_errors(s, c, value, n);
        else
                now = c->below ? value < c->limit : value > c->limit;
        if (now && !was)
                s->since = began_before(s, c) ? s->previous : from;
        /* One window with a pattern that nobody has seen may be chance. */
        s->met = now && (c->kind == ALERT_NEW ? was : to - s->since >= c->hold);
        s->near = now && !s->met;
        s->n_met = now ? s->n_met + 1 : 0;
        s->previous = from;
}

void alert_state_clear(AlertState *s)
{
        g_clear_pointer(&s->before, g_array_unref);
}
