/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/serving-order.h"

enum {
        REACH = 24,   /* outputs that are looked at to either side */
        ENOUGH = 20,  /* pairs of a class to learn from */
        LEANING = 40, /* pairs that a class leans on all with */
};

/* The odds of an inversion, next to those by delays alone, that rule order out; and as they are
 * supposed to be where these do not. */
#define RULED_OUT 3
#define SUPPOSED  0.05

#define NO_ORDER     0.7 /* a factor above it */
#define LEAST_FACTOR (1.0 / 64)

/* Learned from are outputs that are believed so much, */
#define SURE 0.95
/* and pairs that by their delays might as well be the other way round. */
#define OPEN 0.05

void serving_order_init(ServingOrder *o, guint32 n_classes)
{
        *o = (ServingOrder){ .n_classes = n_classes };
        o->factor = g_new(double, n_classes);
        for (guint32 i = 0; i < n_classes; i++)
                o->factor[i] = 1;
        o->pairs = g_new0(ServedPairs, n_classes);
        o->kept = g_new0(ServedPairs, n_classes);
}

void serving_order_take(ServingOrder *o, Output *outputs, guint32 n)
{
        g_free(o->outputs);
        o->outputs = outputs;
        o->n = n;
        serving_order_forget(o);
}

void serving_order_forget(ServingOrder *o)
{
        for (guint32 i = 0; i < o->n; i++) {
                o->outputs[i].class = NO_CLASS;
                o->outputs[i].share = 0;
        }
}

void serving_order_clear(ServingOrder *o)
{
        g_free(o->outputs);
        g_free(o->factor);
        g_free(o->pairs);
        g_free(o->kept);
}

static void count_pair(ServedPairs *pairs, const DelayDensities *delays, const Output *first,
                       const Output *second)
{
        const float *density = delays->density[second->row];
        gint64 early = MIN(first->trigger, second->trigger);
        gint64 late = MAX(first->trigger, second->trigger);
        double in_order = (double)density[density_bin(first->time - early)] *
                          density[density_bin(second->time - late)];
        double inverted = (double)density[density_bin(first->time - late)] *
                          density[density_bin(second->time - early)];
        double share = inverted / (in_order + inverted);

        if (late >= first->time || share < OPEN || share > 1 - OPEN)
                return;
        pairs->n++;
        pairs->inverted += first->trigger > second->trigger;
        pairs->expected += share;
}

void serving_order_count(const ServingOrder *o, const DelayDensities *delays, ServedPairs *pairs)
{
        for (guint32 i = 0; i < o->n; i++) {
                const Output *second = &o->outputs[i];

                if (second->class == NO_CLASS || second->share < SURE)
                        continue;
                for (guint32 k = i; k-- > 0 && i - k <= REACH;) {
                        const Output *first = &o->outputs[k];

                        if (first->time <= second->trigger)
                                break;
                        if (first->class == second->class && first->share >= SURE &&
                            first->parent != second->parent)
                                count_pair(&pairs[second->class], delays, first, second);
                }
        }
}

/* The odds of an inversion next to those by delays, as far as they are seen. */
static double odds_of(const ServedPairs *p)
{
        return (p->inverted + 1) / (p->n - p->inverted + 1) * (p->n - p->expected + 1) /
               (p->expected + 1);
}

/* Factors above most are none, the others at_most at the most. */
static void learn(ServingOrder *o, const DelayDensities *delays, double most, double at_most)
{
        for (guint32 i = 0; i < o->n_classes; i++)
                o->pairs[i] = o->kept[i];
        serving_order_count(o, delays, o->pairs);
        o->in_use = FALSE;
        for (guint32 i = 0; i < o->n_classes; i++) {
                double factor = odds_of(&o->pairs[i]);

                o->factor[i] = o->pairs[i].n < ENOUGH || factor > most
                                       ? 1
                                       : CLAMP(factor, LEAST_FACTOR, at_most);
                o->in_use |= o->factor[i] < 1;
        }
}

void serving_order_learn(ServingOrder *o, const DelayDensities *delays, double most)
{
        learn(o, delays, most, 1);
}

void serving_order_suppose(ServingOrder *o, const DelayDensities *delays)
{
        learn(o, delays, RULED_OUT, SUPPOSED);
}

void serving_order_drop(ServingOrder *o)
{
        for (guint32 i = 0; i < o->n_classes; i++) {
                o->factor[i] = 1;
                o->pairs[i] = (ServedPairs){ 0 };
        }
        o->in_use = FALSE;
}

void serving_order_set(ServingOrder *o, double factor)
{
        for (guint32 i = 0; i < o->n_classes; i++)
                o->factor[i] = factor;
        o->in_use = TRUE;
}

double serving_order_odds(const ServingOrder *o, const ServedPairs *pairs)
{
        ServedPairs all = { 0 };

        for (guint32 i = 0; i < o->n_classes; i++) {
                all.n += pairs[i].n;
                all.inverted += pairs[i].inverted;
                all.expected += pairs[i].expected;
        }
        return odds_of(&all);
}

void serving_order_fit(ServingOrder *o, const ServedPairs *pairs)
{
        double all = serving_order_odds(o, pairs);

        o->in_use = FALSE;
        for (guint32 i = 0; i < o->n_classes; i++) {
                ServedPairs p = o->pairs[i] = pairs[i];
                double expected = (p.expected + 1) / (p.n + 2);
                double odds = all * expected / (1 - expected), factor;

                p.n += LEANING;
                p.expected += LEANING * expected;
                p.inverted += LEANING * odds / (1 + odds);
                factor = odds_of(&p);
                o->factor[i] = factor > NO_ORDER ? 1 : MAX(factor, LEAST_FACTOR);
                o->in_use |= o->factor[i] < 1;
        }
}

void serving_order_keep(ServingOrder *o, gboolean half)
{
        double part = half ? 0.5 : 1;

        for (guint32 i = 0; i < o->n_classes; i++) {
                const ServedPairs *p = &o->pairs[i];

                o->kept[i] = (ServedPairs){ p->n * part, p->inverted * part, p->expected * part };
        }
}

double serving_order_factor(const ServingOrder *o, guint32 at, guint32 class, gint64 trigger,
                            guint32 parent)
{
        double factor = o->factor[class], product = 1;
        const Output *outputs = o->outputs;

        if (factor == 1)
                return 1;
        for (guint32 k = at; k-- > 0 && at - k <= REACH && outputs[k].time > trigger;)
                if (outputs[k].class == class && outputs[k].trigger > trigger &&
                    outputs[k].parent != parent)
                        product *= 1 - outputs[k].share * (1 - factor);
        for (guint32 k = at + 1; k < o->n && k - at <= REACH; k++)
                if (outputs[k].class == class && outputs[k].trigger < trigger &&
                    outputs[k].parent != parent)
                        product *= 1 - outputs[k].share * (1 - factor);
        return product;
}

guint32 serving_order_inversions(const ServingOrder *o, guint32 at)
{
        const Output *outputs = o->outputs, *x = &outputs[at];
        guint32 n = 0;

        for (guint32 k = at; k-- > 0 && at - k <= REACH && outputs[k].time > x->trigger;)
                n += outputs[k].class == x->class && outputs[k].trigger > x->trigger &&
                     outputs[k].parent != x->parent;
        for (guint32 k = at + 1; k < o->n && k - at <= REACH; k++)
                n += outputs[k].class == x->class && outputs[k].trigger < x->trigger &&
                     outputs[k].parent != x->parent;
        return n;
}
