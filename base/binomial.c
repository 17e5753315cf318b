/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/binomial.h"

#include <math.h>

/* The continued fraction of the incomplete beta function, evaluated from the front by
 * ratios of successive convergents. */
static double beta_fraction(double a, double b, double x)
{
        const double tiny = 1e-300;
        double c = 1, d = 1 - (a + b) * x / (a + 1), result;

        d = 1 / (fabs(d) < tiny ? tiny : d);
        result = d;
        for (int i = 1; i < 100000; i++) {
                const double steps[2] = {
                        i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i)),
                        -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1)),
                };
                double factor = 1;

                for (int k = 0; k < 2; k++) {
                        d = 1 + steps[k] * d;
                        d = 1 / (fabs(d) < tiny ? tiny : d);
                        c = 1 + steps[k] / c;
                        c = fabs(c) < tiny ? tiny : c;
                        factor = c * d;
                        result *= factor;
                }
                if (fabs(factor - 1) < 1e-14)
                        break;
        }
        return result;
}

/* The regularised incomplete beta function, for x between 0 and 1. */
static double incomplete_beta(double a, double b, double x)
{
        double front;
        int sign;

        front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
                    b * log1p(-x));
        if (x < (a + 1) / (a + b + 2))
                return front * beta_fraction(a, b, x) / a;
        return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double binomial_tail(double n, double k, double p)
{
        if (k <= 0 || p >= 1)
                return 1;
        if (k > n || p <= 0)
                return 0;
        return incomplete_beta(k, n - k + 1, p);
}

static double log_choose(double n, double k)
{
        int sign;

        return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

double hypergeometric_log_tail(double n, double marked, double drawn, double hits)
{
        double most = fmin(marked, drawn), least = fmax(marked + drawn - n, 0);
        double term = 1, sum = 1;

        if (hits <= least)
                return 0;
        if (hits > most)
                return -HUGE_VAL;
        double first = log_choose(marked, hits) + log_choose(n - marked, drawn - hits) -
                       log_choose(n, drawn);
        for (double k = hits; k + 1 <= most && term > 1e-16 * sum; k++) {
                term *= (marked - k) * (drawn - k) / ((k + 1) * (n - marked - drawn + k + 1));
                sum += term;
        }
        return fmin(first + log(sum), 0);
}

/* The logarithm of the probability that a normal value exceeds z. */
static double normal_log_tail(double z)
{
        const double half_log_two_pi = 0.91893853320467274178;

        if (z < 30)
                return log(erfc(z / sqrt(2)) / 2);
        return -z * z / 2 - log(z) - half_log_two_pi;
}

double normal_deviate(double log_tail)
{
        double low = -10, high = 10;

        while (normal_log_tail(high) > log_tail && high < 1e9)
                high *= 2;
        for (int i = 0; i < 100; i++) {
                double middle = (low + high) / 2;
                *(normal_log_tail(middle) > log_tail ? &low : &high) = middle;
        }
        return low;
}

double student_tails(double t, double freedom)
{
        double x = freedom / (freedom + t * t);

        if (x >= 1)
                return 1;
        return x > 0 ? incomplete_beta(freedom / 2, 0.5, x) : 0;
}

double student_bound(double tails, double freedom)
{
        double low = 0, high = 1;

        while (student_tails(high, freedom) > tails && high < 1e12)
                high *= 2;
        for (int i = 0; i < 60; i++) {
                double middle = (low + high) / 2;
                *(student_tails(middle, freedom) > tails ? &low : &high) = middle;
        }
        return high;
}

void binomial_interval(double n, double k, double tail, double *low, double *high)
{
        double share = n > 0 ? k / n : 0;
        double from = 0, to = share;

        /* Below low, k or more would be too rare; above high, k or fewer. */
        for (int i = 0; i < 60; i++) {
                double p = (from + to) / 2;
                if (binomial_tail(n, k, p) < tail)
                        from = p;
                else
                        to = p;
        }
        *low = k > 0 ? from : 0;
        from = share;
        to = 1;
        for (int i = 0; i < 60; i++) {
                double p = (from + to) / 2;
                if (1 - binomial_tail(n, k + 1, p) < tail)
                        to = p;
                else
                        from = p;
        }
        *high = k < n ? to : 1;
}
