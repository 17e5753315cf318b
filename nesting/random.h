/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Random numbers for what samples: splitmix64 (Steele, Lea and Flood, 2014), the same
 * on every machine. The state is the seed.
 */
#ifndef RAVEL_RANDOM_H
#define RAVEL_RANDOM_H

#include <glib.h>

typedef struct {
        guint64 state;
} Random;

static inline guint32 random_next(Random *r)
{
        guint64 z = r->state += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
        return (z ^ z >> 31) >> 32;
}

/* From 0 to n - 1. */
static inline guint32 random_below(Random *r, guint32 n)
{
        return (guint64)random_next(r) * n >> 32;
}

#endif
