/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parents that calls have if the node is an event loop. An event loop is a single thread that
 * takes its inputs one after the other as they come. Inputs are the calls into the node, and the
 * returns of the calls that it made. Each input makes the loop output nothing, or some calls, or a
 * reply. So outputs come in the order of their triggers, whichever parents they have.
 *
 * A hidden Markov model finds the input that triggered each output (Baum and others, 1970). Its
 * state is the input that the loop has come to. From there it goes on to a later input, or makes an
 * output. The outputs that each kind of input triggers are learned in rounds. An input and its
 * outputs belong to the same parent. Parents are passed on from calls into the node to the calls
 * that they trigger, and from the returns of these to the next calls. Replies pass parents in the
 * other direction.
 */
#pragma once

#include "inference/model/joint.h"

#include <glib.h>

typedef struct EventLoop EventLoop;

/* Treats the node as an event loop, whether it is one or not. Borrows j. */
EventLoop *event_loop_new(const Joint *j);
void event_loop_free(EventLoop *l);

/* Runs the next of LOOP_ROUNDS rounds. chance: by candidate, the probability that it made its call;
 * the chances of a call sum to 1. O(calls * LOOP_REACH * candidates). */
void event_loop_round(EventLoop *l, float *chance);
