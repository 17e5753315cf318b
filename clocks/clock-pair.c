/* SPDX-License-Identifier: BSD-2-Clause */
#include "clocks/clock-pair.h"

#include <math.h>

#include "base/compare.h"
#include "base/each.h"

enum { MAX_STRETCHES = 64, FIRST_STRETCH = 1000000 /* ns */, SEARCH_STEPS = 200 };

/* Without messages that say otherwise, clocks are taken to drift about this much. */
#define USUAL_DRIFT 100e-6

/* Of the delay, by how much its two directions are taken to differ, when lines of
 * several pairs are weighed against each other. */
#define USUAL_ASYMMETRY 0.1

/* No noise is taken to be smaller; ns. */
#define LEAST_NOISE 100.0

/* Relative to the pair's x0 and y0, so that doubles are exact. */
typedef struct {
        double x, y; /* ns */
} Point;

/* A lower convex hull, by x. */
typedef GArray Hull;

typedef struct {
        gint64 number;  /* of widths since x0 */
        Hull *hulls[2]; /* of messages from i to j, and back */
} Stretch;

struct ClockPair {
        gboolean begun;
        gint64 x0, y0;
        gint64 width;      /* of a stretch */
        GArray *stretches; /* of Stretch, by number */
};

/* --- hulls ------------------------------------------------------------------ */

static Hull *hull_new(void)
{
        return g_array_new(FALSE, FALSE, sizeof(Point));
}

static Point hull_at(const Hull *hull, guint i)
{
        return g_array_index(hull, Point, i);
}

/* Whether b is not below the line from a to c. */
static gboolean is_above(Point a, Point b, Point c)
{
        return (b.y - a.y) * (c.x - a.x) >= (c.y - a.y) * (b.x - a.x);
}

/* Most points are above the hull and change nothing, and most are the last by x. */
static void hull_add(Hull *hull, Point p)
{
        guint i = hull->len;

        while (i > 0 && hull_at(hull, i - 1).x > p.x)
                i--;
        if (i > 0 && hull_at(hull, i - 1).x == p.x) {
                if (hull_at(hull, i - 1).y <= p.y)
                        return;
                g_array_remove_index(hull, --i);
        }
        if (i > 0 && i < hull->len && is_above(hull_at(hull, i - 1), p, hull_at(hull, i)))
                return;
        while (i + 1 < hull->len && is_above(p, hull_at(hull, i), hull_at(hull, i + 1)))
                g_array_remove_index(hull, i);
        for (; i >= 2 && is_above(hull_at(hull, i - 2), hull_at(hull, i - 1), p); i--)
                g_array_remove_index(hull, i - 1);
        g_array_insert_val(hull, i, p);
}

static void hull_add_all(Hull *hull, const Hull *other)
{
        for (guint i = 0; i < other->len; i++)
                hull_add(hull, hull_at(other, i));
}

/* The least of y - slope * (x - origin), and the x that has it. */
static double hull_least(const Hull *hull, double slope, double origin, double *x)
{
        double least = INFINITY;

        for (guint i = 0; i < hull->len; i++) {
                Point p = hull_at(hull, i);
                double y = p.y - slope * (p.x - origin);

                if (y < least) {
                        least = y;
                        if (x)
                                *x = p.x;
                }
        }
        return least;
}

/* --- stretches -------------------------------------------------------------- */

static void stretch_clear(gpointer data)
{
        Stretch *s = data;

        for (guint way = 0; way < 2; way++)
                g_array_free(s->hulls[way], TRUE);
}

static Stretch *stretch_at(const ClockPair *pair, guint i)
{
        return &g_array_index(pair->stretches, Stretch, i);
}

ClockPair *clock_pair_new(void)
{
        ClockPair *pair = g_new0(ClockPair, 1);

        pair->width = FIRST_STRETCH;
        pair->stretches = g_array_new(FALSE, FALSE, sizeof(Stretch));
        g_array_set_clear_func(pair->stretches, stretch_clear);
        return pair;
}

void clock_pair_free(ClockPair *pair)
{
        if (!pair)
                return;
        g_array_free(pair->stretches, TRUE);
        g_free(pair);
}

/* Makes each stretch twice as wide. */
static void pair_widen_bound(ClockPair *pair)
{
        guint n = 0;

        pair->width *= 2;
        for (guint i = 0; i < pair->stretches->len; i++) {
                Stretch *s = stretch_at(pair, i);
                Stretch *last = n ? stretch_at(pair, n - 1) : NULL;
                gint64 number = s->number >> 1; /* rounds down, also below 0 */

                if (last && last->number == number) {
                        for (guint way = 0; way < 2; way++)
                                hull_add_all(last->hulls[way], s->hulls[way]);
                        stretch_clear(s);
                } else {
                        *stretch_at(pair, n) = *s;
                        stretch_at(pair, n++)->number = number;
                }
        }
        g_array_set_clear_func(pair->stretches, NULL); /* the rest has moved */
        g_array_set_size(pair->stretches, n);
        g_array_set_clear_func(pair->stretches, stretch_clear);
}

static Stretch *find_stretch(ClockPair *pair, gint64 x)
{
        for (;;) {
                gint64 number = x >= 0 ? x / pair->width : -((-x - 1) / pair->width) - 1;
                guint i = pair->stretches->len;
                Stretch new = { .number = number };

                while (i > 0 && stretch_at(pair, i - 1)->number > number)
                        i--;
                if (i > 0 && stretch_at(pair, i - 1)->number == number)
                        return stretch_at(pair, i - 1);
                if (pair->stretches->len < MAX_STRETCHES) {
                        new.hulls[0] = hull_new();
                        new.hulls[1] = hull_new();
                        g_array_insert_val(pair->stretches, i, new);
                        return stretch_at(pair, i);
                }
                pair_widen_bound(pair);
        }
}

void clock_pair_add(ClockPair *pair, gboolean forward, gint64 sent, gint64 received)
{
        gint64 x = forward ? sent : received, y = received - sent;
        Point p;

        if (!pair->begun) {
                pair->begun = TRUE;
                pair->x0 = x;
                pair->y0 = forward ? y : -y;
        }
        x -= pair->x0;
        p.x = x;
        p.y = forward ? y - pair->y0 : y + pair->y0;
        hull_add(find_stretch(pair, x)->hulls[!forward], p);
}

/* The hulls of all stretches together. */
static void hull_join(const ClockPair *pair, Hull *hulls[2])
{
        for (guint way = 0; way < 2; way++) {
                hulls[way] = hull_new();
                for (guint i = 0; i < pair->stretches->len; i++)
                        hull_add_all(hulls[way], stretch_at(pair, i)->hulls[way]);
        }
}

static void free_hulls(Hull *hulls[2])
{
        g_array_free(hulls[0], TRUE);
        g_array_free(hulls[1], TRUE);
}

/* --- lines ------------------------------------------------------------------ */

/* The smallest round trip, by clocks that differ by a line of this slope: how far the
 * hulls are apart. It is concave in the slope. */
static double round_trip(Hull *const hulls[2], double slope)
{
        return hull_least(hulls[0], slope, 0, NULL) + hull_least(hulls[1], -slope, 0, NULL);
}

/* The slope, from least to most, at which the hulls are furthest apart. */
static double widest_slope(Hull *const hulls[2], double least, double most)
{
        for (guint i = 0; i < SEARCH_STEPS; i++) {
                double a = least + (most - least) / 3, b = most - (most - least) / 3;
                double at_a = round_trip(hulls, a), at_b = round_trip(hulls, b);

                if (at_a <= at_b)
                        least = a;
                if (at_a >= at_b)
                        most = b;
        }
        return (least + most) / 2;
}

/* The last slope, on the way from one that has it to end, with a round trip of at
 * least that. */
static double last_slope(Hull *const hulls[2], double inside, double end, double least_trip)
{
        if (round_trip(hulls, end) >= least_trip)
                return end;
        for (guint i = 0; i < SEARCH_STEPS; i++) {
                double middle = (inside + end) / 2;

                *(round_trip(hulls, middle) >= least_trip ? &inside : &end) = middle;
        }
        return end; /* just outside, so that rounding does not narrow the bounds */
}

/* The highest line at x below the messages of one way, of slopes from least to most. */
static double highest(const Hull *hull, double least, double most, double x)
{
        for (guint i = 0; i < SEARCH_STEPS; i++) {
                double a = least + (most - least) / 3, b = most - (most - least) / 3;
                double at_a = hull_least(hull, a, x, NULL), at_b = hull_least(hull, b, x, NULL);

                if (at_a <= at_b)
                        least = a;
                if (at_a >= at_b)
                        most = b;
        }
        return hull_least(hull, (least + most) / 2, x, NULL);
}

/* The middle between the two ways in one stretch. */
typedef struct {
        double x, middle, trip, weight;
} Middle;

static Middle middle_of(Hull *const hulls[2], double slope)
{
        double x0 = 0, x1 = 0;
        double forward = hull_least(hulls[0], slope, 0, &x0);
        double back = hull_least(hulls[1], -slope, 0, &x1);

        return (Middle){ .x = (x0 + x1) / 2,
                         .middle = (forward - back) / 2,
                         .trip = forward + back };
}

static void add_middle(GArray *middles, Hull *const hulls[2], double slope)
{
        Middle m = middle_of(hulls, slope);

        g_array_append_val(middles, m);
}

static void move_hulls(Hull *to[2], Hull *from[2])
{
        for (guint way = 0; way < 2; way++) {
                hull_add_all(to[way], from[way]);
                g_array_set_size(from[way], 0);
        }
}

/* One middle of each stretch with messages both ways. Other stretches are joined with the ones that
 * follow, or at the end with the ones before. */
static void find_middles(const ClockPair *pair, double slope, GArray *middles)
{
        Hull *last[2] = { hull_new(), hull_new() }, *now[2] = { hull_new(), hull_new() };

        for (guint i = 0; i < pair->stretches->len; i++) {
                for (guint way = 0; way < 2; way++)
                        hull_add_all(now[way], stretch_at(pair, i)->hulls[way]);
                if (!now[0]->len || !now[1]->len)
                        continue;
                if (last[0]->len) {
                        add_middle(middles, last, slope);
                        g_array_set_size(last[0], 0);
                        g_array_set_size(last[1], 0);
                }
                move_hulls(last, now);
        }
        move_hulls(last, now);
        add_middle(middles, last, slope);
        free_hulls(last);
        free_hulls(now);
}

COMPARISON(by_trip, Middle, COMPARE(a->trip, b->trip))

/* Sets the weights: where the round trip is longer than the shortest, up to half of
 * that may lie on one way. Leaves them by trip. */
static void middles_weigh(GArray *middles)
{
        double shortest, noise;

        g_array_sort(middles, by_trip);
        shortest = g_array_index(middles, Middle, 0).trip;
        noise = (g_array_index(middles, Middle, middles->len / 2).trip - shortest) / 2;
        noise = MAX(noise, LEAST_NOISE);
        EACH (Middle, m, middles) {
                double excess = (m->trip - shortest) / 2;

                m->weight = 1 / (noise * noise + excess * excess);
        }
}

/* The line through the middles, which were found with line->slope. */
static void fit_middles(const ClockPair *pair, const GArray *middles, ClockLine *line)
{
        const double prior = 1 / (USUAL_DRIFT * USUAL_DRIFT);
        double sum = 0, sum_x = 0, sum_y = 0, xx = 0, xy = 0, x, y;

        EACH (const Middle, m, middles) {
                sum += m->weight;
                sum_x += m->weight * m->x;
                sum_y += m->weight * m->middle;
        }
        x = rint(sum_x / sum);
        y = sum_y / sum;
        EACH (const Middle, m, middles) {
                xx += m->weight * (m->x - x) * (m->x - x);
                xy += m->weight * (m->x - x) * (m->middle - y);
        }
        y += line->slope * x; /* the middles are relative to a line through 0 */
        line->slope += (xy - line->slope * prior) / (xx + prior);
        line->slope = CLAMP(line->slope, line->least, line->most);
        line->slope_weight = xx + prior;
        line->weight = 1 / (1 / sum + pow(USUAL_ASYMMETRY * line->round_trip / 2, 2));
        line->at = pair->x0 + (gint64)x;
        line->apart = pair->y0 + (gint64)rint(y);
        line->rest = y - rint(y);
}

gboolean clock_pair_fit(const ClockPair *pair, ClockLine *line)
{
        g_autoptr(GArray) middles = g_array_new(FALSE, FALSE, sizeof(Middle));
        Hull *hulls[2];
        double slope, trip, enough;

        hull_join(pair, hulls);
        if (!hulls[0]->len || !hulls[1]->len) {
                free_hulls(hulls);
                return FALSE;
        }
        slope = widest_slope(hulls, -CLOCK_PAIR_MAX_DRIFT, CLOCK_PAIR_MAX_DRIFT);
        trip = round_trip(hulls, slope);
        /* No line fits: give the messages as much as they lack, and once more. */
        enough = MIN(0, 2 * trip);
        *line = (ClockLine){
                .slope = slope,
                .least = last_slope(hulls, slope, -CLOCK_PAIR_MAX_DRIFT, enough),
                .most = last_slope(hulls, slope, CLOCK_PAIR_MAX_DRIFT, enough),
                .round_trip = trip - enough,
                .uneven = -enough / 2,
        };
        find_middles(pair, slope, middles);
        middles_weigh(middles);
        fit_middles(pair, middles, line);
        free_hulls(hulls);
        return TRUE;
}

void clock_pair_bounds(const ClockPair *pair, const ClockLine *line, gint64 t, double *least,
                       double *most)
{
        Hull *hulls[2];
        double x = t - pair->x0, y0 = line->apart - pair->y0;

        hull_join(pair, hulls);
        *most = highest(hulls[0], line->least, line->most, x) - y0 + line->uneven;
        *least = -highest(hulls[1], -line->most, -line->least, x) - y0 - line->uneven;
        free_hulls(hulls);
}
