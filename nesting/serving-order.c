/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/serving-order.h"

enum {
        REACH = 24,  /* outputs that are looked at to either side */
        ENOUGH = 20, /* pairs of a class to learn from */
};

/* The odds of an inversion, next to those by delays alone, that rule order out; and as they are
 * supposed to be where these do not. */
#define RULED_OUT 3
#define SUPPOSED  0.05

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

/* Factors above most are none, the others at_most at the most. */
static void learn(ServingOrder *o, const DelayDensities *delays, double most, double at_most)
{
        for (guint32 i = 0; i < o->n_classes; i++)
                o->pairs[i] = o->kept[i];
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
                                count_pair(&o->pairs[second->class], delays, first, second);
                }
        }
        o->in_use = FALSE;
        for (guint32 i = 0; i < o->n_classes; i++) {
                const ServedPairs *p = &o->pairs[i];
                double expected = (p->expected + 1) / (p->n + 2),
                       found = (p->inverted + 1) / (p->n + 2);
                double factor = found / (1 - found) * (1 - expected) / expected;

                o->factor[i] =
                        p->n < ENOUGH || factor > most ? 1 : CLAMP(factor, 1.0 / 64, at_most);
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
