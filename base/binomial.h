/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The binomial distribution and Student's, as far as intervals and tests need them.
 */
#ifndef RAVEL_BINOMIAL_H
#define RAVEL_BINOMIAL_H

/* The probability that of n trials with success p at least k succeed, where n and k
 * may lie between whole numbers. To about 1e-12. */
double binomial_tail(double n, double k, double p);

/* The least and the greatest p that k successes of n are compatible with, each but for
 * a probability tail (Clopper and Pearson). */
void binomial_interval(double n, double k, double tail, double *low, double *high);

/* The probability that a value of Student's distribution lies t or more from 0, on either side, and
 * the t for which that is so. freedom above 0. */
double student_tails(double t, double freedom);
double student_bound(double tails, double freedom);

#endif
