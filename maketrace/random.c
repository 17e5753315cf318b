/* SPDX-License-Identifier: BSD-2-Clause */
#include "maketrace/random.h"

#include <float.h>
#include <math.h>

/* Intermediate results in more than 64 bits would round differently. */
G_STATIC_ASSERT(FLT_EVAL_METHOD == 0);

/* The end of the ziggurat's lowest strip, and the area of each strip. */
#define ZIGGURAT_END  3.6541528853610088
#define ZIGGURAT_AREA 0.00492867323399

/* ln 2 in two parts: products of the first with integers up to 2^20 are exact. */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW  0x1.a39ef35793c76p-33

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static guint64 split_mix(guint64 *state)
{
        guint64 z = *state += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
        return z ^ z >> 31;
}

void random_init(Random *r, guint64 seed, const char *name, guint64 sequence)
{
        guint64 state = seed, mixed = split_mix(&state);

        for (; *name; name++) {
                state = mixed ^ (guchar)*name;
                mixed = split_mix(&state);
        }
        /* 256 is no byte of a name, so names and numbers do not mix. */
        state = mixed ^ 256;
        state = split_mix(&state) ^ sequence;
        state = split_mix(&state);
        for (guint i = 0; i < 4; i++)
                r->s[i] = split_mix(&state);
}

guint random_below(Random *r, guint n)
{
        return (random_next(r) >> 32) * n >> 32;
}

double portable_log(double x)
{
        int exponent;
        double m = frexp(x, &exponent), s, z, sum = 0;

        if (m < G_SQRT2 / 2) {
                m *= 2;
                exponent--;
        }
        /* ln m = 2 artanh s, and |s| < 0.172: 11 terms suffice. */
        s = (m - 1) / (m + 1);
        z = s * s;
        for (int k = 21; k > 1; k -= 2)
                sum = (sum + 1.0 / k) * z;
        return exponent * LN2_HIGH + (exponent * LN2_LOW + 2 * s * sum + 2 * s);
}

double portable_exp(double x)
{
        double k, r, sum = 1;

        x = CLAMP(x, -700, 700);
        k = floor(x / G_LN2 + 0.5);
        r = x - k * LN2_HIGH - k * LN2_LOW;
        for (int i = 14; i > 0; i--)
                sum = 1 + sum * r / i;
        return ldexp(sum, (int)k);
}

static double bell(double x)
{
        return portable_exp(-x * x / 2);
}

void ziggurat_init(Ziggurat *z)
{
        z->x[0] = ZIGGURAT_AREA / bell(ZIGGURAT_END);
        z->x[1] = ZIGGURAT_END;
        z->y[0] = 0;
        z->y[1] = bell(ZIGGURAT_END);
        for (guint i = 1; i < 255; i++) {
                z->y[i + 1] = z->y[i] + ZIGGURAT_AREA / z->x[i];
                z->x[i + 1] = sqrt(-2 * portable_log(z->y[i + 1]));
        }
        z->x[256] = 0;
        z->y[256] = 1;
}

/* Uniform in (0, 1], for logarithms. */
static double uniform_above_0(Random *r)
{
        return ((random_next(r) >> 11) + 1) * 0x1p-53;
}

/* Draws from the tail beyond the end of the lowest strip (Marsaglia, 1964). */
static double gaussian_tail(Random *r)
{
        double x, y;

        do {
                x = -portable_log(uniform_above_0(r)) / ZIGGURAT_END;
                y = -portable_log(uniform_above_0(r));
        } while (y + y < x * x);
        return ZIGGURAT_END + x;
}

double random_gaussian(Random *r, const Ziggurat *z)
{
        for (;;) {
                guint64 bits = random_next(r);
                guint i = bits & 255;
                double x =
                        ((gint64)(bits >> 10) - (G_GINT64_CONSTANT(1) << 53)) * 0x1p-53 * z->x[i];

                if (fabs(x) < z->x[i + 1])
                        return x;
                if (i == 0)
                        return x < 0 ? -gaussian_tail(r) : gaussian_tail(r);
                if (z->y[i] + random_uniform(r) * (z->y[i + 1] - z->y[i]) < bell(x))
                        return x;
        }
}

double random_exponential(Random *r)
{
        return -portable_log(uniform_above_0(r));
}

guint random_poisson(Random *r, double mean)
{
        guint n = 0;

        /* Events of a process of rate 1 up to time mean, in stretches short
         * enough for exp(-stretch): Knuth, vol. 2, 3.4.1. */
        while (mean > 0) {
                double stretch = MIN(mean, 16), limit = portable_exp(-stretch), product = 1;

                for (product *= uniform_above_0(r); product > limit; product *= uniform_above_0(r))
                        n++;
                mean -= stretch;
        }
        return n;
}
