/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parents that calls have if the node is an event loop: a single thread that takes its inputs,
 * the calls into it and the returns of the calls that it made, one after the other as they come.
 * Each input makes it output nothing, or some calls, or a reply. So its outputs come in the order
 * of their triggers, whosever they are.
 *
 * A hidden Markov model says which input each output was triggered by (Baum and others, 1970): its
 * state is the input that the loop has come to; it goes on from there to a later one, or outputs
 * something. What inputs of each kind output is learned in rounds. An input belongs to a parent,
 * and so do its outputs: that goes from the calls into the node on to their calls, from these to
 * the calls that their returns trigger, and from replies back.
 */
#ifndef RAVEL_EVENT_LOOP_H
#define RAVEL_EVENT_LOOP_H

#include "inference/model/joint.h"

#include <glib.h>

typedef struct EventLoop EventLoop;

/* Takes the node for an event loop, be it one or not. Borrows j. */
EventLoop *event_loop_new(const Joint *j);
void event_loop_free(EventLoop *l);

/* Runs one round more, of LOOP_ROUNDS that it needs, and finds by candidate the chance that it made
 * its call; the chances of a call sum to 1. O(calls * LOOP_REACH * candidates). */
void event_loop_round(EventLoop *l, float *chance);

#endif
