/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Kinds of calls by more than node and label, tried before any parent is known.
 */
#pragma once

#include "inference/model/joint.h"

/* Splits kinds by the sizes of calls and returns where these go with candidates beyond chance.
 * Merges kinds by label where labels do not. In both cases the model begins anew. */
void split_by_sizes(Joint *j);

/* Finds the number of calls that parents of a kind make, if always the same. Resets the walks. */
void split_by_numbers(Joint *j);
