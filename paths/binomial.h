/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The binomial distribution, as far as intervals need it.
 */
#ifndef RAVEL_BINOMIAL_H
#define RAVEL_BINOMIAL_H

/* The probability that of n trials with success p at least k succeed, where n and k
 * may lie between whole numbers. To about 1e-12. */
double binomial_tail(double n, double k, double p);

/* The least and the greatest p that k successes of n are compatible with, each but for
 * a probability tail (Clopper and Pearson). */
void binomial_interval(double n, double k, double tail, double *low, double *high);

#endif
