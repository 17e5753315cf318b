/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Markov chain of assignments (Metropolis and others, 1953; Hastings, 1970). An assignment is as
 * likely as the walks of its parents and other evidence make it. A step gives one call, or a few,
 * to another parent.
 *
 * The chain corrects an error of belief propagation. Belief propagation takes the beliefs on a call
 * as independent. It may choose parents for two calls that are unlikely together.
 */
#pragma once

#include <glib.h>

#include "inference/model/joint.h"

/* The drawings in which the Markov chain has a candidate as the parent of its call, a bit for each
 * drawing. In warm drawings an assignment is as likely as the model makes it. In cold drawings its
 * likelihood is raised to a power, so that the best assignment stands out. */
typedef struct {
        guint64 warm, cold;
} Drawings;

enum {
        JOINT_DRAWN = 60
}; /* drawings of the warm chain and of the cold one; a guint64 holds them */

static inline guint drawings_count(Drawings d)
{
        return (guint)(__builtin_popcountll(d.warm) + __builtin_popcountll(d.cold));
}

typedef struct Sampler Sampler;

/* A Markov chain that begins with the assignment. It proposes a candidate as parent with a
 * probability of about chance (by candidate, borrowed). learns: only training parents take part. */
Sampler *sampler_new(Joint *j, const float *chance, gboolean learns);
void sampler_free(Sampler *c);

/* From now on all uncertain calls take part, even if they are not worth drawing. */
void sampler_open_all(Sampler *c);

/* From now on raises likelihoods to this power. */
void sampler_cool(Sampler *c, guint power);

/* Takes over the likelihoods of the model; call it after the model has learned. */
void sampler_take_model(Sampler *c);

/* Runs the chain for some sweeps. A sweep proposes once for each call of uncertain parent. */
void sampler_run(Sampler *c, guint sweeps);

/* Sets the bits of `drawing` for the present parent of each open call. drawn is by candidate. */
void sampler_note(const Sampler *c, Drawings *drawn, Drawings drawing);

/* The number of drawings that the beliefs on a call are worth. It is smaller the more certain the
 * beliefs are. It is constant where evidence refined them. squares: the sum of the squares of their
 * shares. */
double sampler_prior(const Joint *j, double squares);
