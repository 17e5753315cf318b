/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What tells kinds of calls apart besides node and label, tried before any parent is known.
 */
#ifndef RAVEL_SPLITS_H
#define RAVEL_SPLITS_H

#include "inference/model/joint.h"

/* Kinds by the sizes of calls and returns, where parents do different things for and around calls
 * of different size; and not by labels where these mean nothing. Begins the model anew then. */
void split_by_sizes(Joint *j);

/* How many calls parents of a kind make, where that is always the same number. Resets the walks. */
void split_by_numbers(Joint *j);

#endif
