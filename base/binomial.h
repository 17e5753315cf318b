/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The binomial, hypergeometric, normal and Student's distributions, as far as intervals and tests
 * need them.
 */
#pragma once

/* The probability that at least k of n trials with success p succeed. n and k need not be whole.
 * To about 1e-12. */
double binomial_tail(double n, double k, double p);

/* Clopper and Pearson's interval of p, for k successes in n trials. Each side is wrong with
 * probability tail. */
void binomial_interval(double n, double k, double tail, double *low, double *high);

/* The logarithm of the probability that at least hits of drawn values without replacement are
 * marked, if marked of n are (Fisher's exact test). Numbers need not be whole. The cost grows with
 * the square root of n. */
double hypergeometric_log_tail(double n, double marked, double drawn, double hits);

/* How many standard deviations above its mean a normal value exceeds with a probability, given its
 * logarithm. */
double normal_deviate(double log_tail);

/* The probability that a value of Student's distribution lies t or more from 0, on either side; and
 * the t of a probability. freedom is above 0. */
double student_tails(double t, double freedom);
double student_bound(double tails, double freedom);
