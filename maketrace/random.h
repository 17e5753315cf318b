/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Random numbers that are the same everywhere.
 *
 * The generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2021). All distributions use the four operations, sqrt() and scaling by powers of
 * two, which IEEE 754 defines to the last bit. The logarithm and the exponential are our own, since
 * C libraries differ in their last bits. So a seed gives the same trace with every compiler and
 * every libm.
 */
#pragma once

#include <glib.h>

typedef struct {
        guint64 s[4]; /* never all zero */
} Random;

/* Starts the random stream of a name and a sequence number. Streams with another seed, name or
 * number are independent. */
void random_init(Random *r, guint64 seed, const char *name, guint64 sequence);

static inline guint64 random_next(Random *r)
{
        guint64 sum = r->s[0] + r->s[3];
        guint64 result = (sum << 23 | sum >> 41) + r->s[0];
        guint64 t = r->s[1] << 17;

        r->s[2] ^= r->s[0];
        r->s[3] ^= r->s[1];
        r->s[1] ^= r->s[2];
        r->s[0] ^= r->s[3];
        r->s[2] ^= t;
        r->s[3] = r->s[3] << 45 | r->s[3] >> 19;
        return result;
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double random_uniform(Random *r)
{
        return (random_next(r) >> 11) * 0x1p-53;
}

/* Uniform among 0 .. n - 1. n is at least 1. */
guint random_below(Random *r, guint n);

/* The layers of the ziggurat (Marsaglia and Tsang, 2000): 256 strips of equal
 * area under exp(-x*x/2). Strip i reaches to x[i] and begins at height y[i]. */
typedef struct {
        double x[257], y[257];
} Ziggurat;

void ziggurat_init(Ziggurat *z);

/* Standard normal: mean 0, standard deviation 1. */
double random_gaussian(Random *r, const Ziggurat *z);

/* Exponential, mean 1. */
double random_exponential(Random *r);

/* Poisson. mean is from 0 to 1,000,000. */
guint random_poisson(Random *r, double mean);

/* Natural logarithm of a positive normal number, and e to the x, both within a
 * few units of the last place. */
double portable_log(double x);
double portable_exp(double x);
