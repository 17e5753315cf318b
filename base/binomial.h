/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The binomial distribution and Student's, as far as intervals and tests need them.
 */
#pragma once

/* The probability that at least k of n trials with success p succeed. n and k need not be whole.
 * To about 1e-12. */
double binomial_tail(double n, double k, double p);

/* Clopper and Pearson's interval of p, for k successes in n trials. Each side is wrong with
 * probability tail. */
void binomial_interval(double n, double k, double tail, double *low, double *high);

/* The probability that a value of Student's distribution lies t or more from 0, on either side; and
 * the t of a probability. freedom is above 0. */
double student_tails(double t, double freedom);
double student_bound(double tails, double freedom);
