/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calibration turns beliefs and drawings into scores, which decide, and into probabilities, which
 * show how far a parent can be trusted. Of the calls with a probability of 0.8, about 80 % should
 * be right. docs/model.md, "How probabilities come out", gives the numbers.
 *
 * Input: the messages of belief propagation (beliefs.h) after learning, and a model. Output, by
 * candidate of a call: its score, of which the greatest decides, and its probability. Both are from
 * 0 to 1 and, but for rounding and calibration, sum to 1 over the candidates of a call.
 *
 * The steps in order, with the odds o = share / (1 - share) of a candidate:
 *
 *  1. Messages settle. Their shares among the messages on a call are the first shares. More rounds
 *     sharpen them, which chooses one of several solutions that are equally good.
 *  2. Messages settle again from the second best parent of each call, to the second shares: loopy
 *     messages confirm what they began with. A weighted mean of both is the chance of a candidate;
 *     of odds above tuning.sure_odds the part above counts by its eighth root.
 *  3. A Markov chain (sampler.h) draws whole assignments: half of them warm, from the likelihood,
 *     and half cold, from its square. It begins with the solution of step 1, or, where leases of
 *     connections count (evidence/leases.h), with the best chances that they refined. If learning
 *     found better parents, at nodes that serve in order, it begins with these. A share is now
 *
 *         (drawings + w chance + b [the chain began with this parent]) / (all drawings + w + b).
 *
 *     b is tuning.first_drawings. In code w is the prior, and chances are beliefs. w is 20 n^2 if n
 *     candidates are about as good, since few drawings tell many apart badly; with leases it is 20.
 *     Calls with a chance above 0.9999 are left out of the chain. So are calls with a w above 480,
 *     unless leases or processes tie calls together. These shares are the scores.
 *  4. temper(): odds beyond usual_odds first count by their power 3/4. Then o becomes o^(7/8).
 *     Drawings of one chain resemble each other, so it is surer than it should be.
 *  5. find_divisor(): odds are divided by D = (1 + k x^1.5 (n - 2))^(3/4) g^(1/4) for n candidates.
 *     x is the mean excess of the best shares over the second shares of the same candidates. It
 *     shows how far the answer depends on the start, and is 0 if the second solution is far less
 *     likely. g is the mean number of candidates that are about as good. Where serving order
 *     counts, the power is 3/8, as second shares know little about order. Drawings of a model that
 *     fits need no divisor: D becomes 1 + m (D - 1), with the misfit m, 0 to 1. m grows with the
 *     dependence d of the calls into the node, which the model takes as independent.
 *  6. find_error_rate(): a part z of the calls is in error whatever their odds, so
 *         probability = (1 - z) o / (1 + o) + z / n.
 *     z grows with y^1.5 (1 + d y), up to a bound, where y is the mean of 1 - best share. Calls
 *     swap parents: a wrong parent of one call often took it from a sure one. z is small if m is,
 *     and larger with leases, which tie calls together.
 *
 * The powers and constants were chosen on generated and captured systems (model/tuning.def).
 * Cost: nine rounds of messages, and 150 sweeps of the chain: 20 and 60 warm, 10 and 60 cold. With
 * leases a second chain has 70 more.
 */
#pragma once

#include "inference/model/problem.h"
#include "inference/search/sampler.h"

typedef struct Scores {
        float *share;      /* by candidate: first its share of the messages, then of the drawings,
                              and in the end its probability */
        float *score;      /* by candidate: the greatest decides */
        Drawings *drawn;   /* by candidate, or NULL; no bits for calls the chain skips */
        guint32 *learned;  /* by call out: the parents that learning ended with, where the chain
                              finds better ones than beliefs; or NULL */
        double prior;      /* weight of beliefs against drawings, as a part of the usual one */
        double error_rate; /* the part of the calls in error whatever their shares are, 0 to 1 */
} Scores;

/* Gives all candidates the same share and score. */
void scores_init(Scores *s, const Problem *p);
void scores_clear(Scores *s);

/* Finds shares and scores by belief propagation, from beliefs that began, and by the Markov chain.
 * Calibrates the shares. Needs a call with two candidates. problem_done() is 1 before the chain. */
void joint_settle(Joint *j);
