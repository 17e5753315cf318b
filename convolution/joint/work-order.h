/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The order of the messages of one request's work at a node.
 */
#pragma once

#include "convolution/joint/message-causes.h"

/* Moves causes: a message out of a node follows the last earlier message into it of the same work.
 * O(n log n) in the messages of a node, times MOST_VISITS. */
void put_work_in_order(MessageCauses *causes);
