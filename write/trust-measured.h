/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Made by tests/experiments/trust.py; docs/evaluation.md has the table. Of systems of known truth:
 * mean parallelism from and below, whether with operations, how many systems, how many of them
 * captured; of guessed parents given 0.9 or more the share that was right, and the least of a
 * system. */
{ 1, 3, 0, 47, 18, 0.9920, 0.8932 },
{ 3, 10, 0, 24, 8, 0.9778, 0.9352 },
{ 10, 30, 0, 8, 2, 0.9721, 0.9553 },
{ 1, 3, 1, 4, 4, 0.9965, 0.9703 },
{ 3, 10, 1, 5, 5, 0.9877, 0.9753 },
