/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reads a trace, one message at a time (docs/trace-format.md).
 *
 * This is the hot path of every analysis: input comes in blocks, a line is
 * parsed where it lies, eight bytes at a time, and a message's texts point into
 * the block. Nothing is allocated for a line whose node names were seen before.
 *
 * Disorder: lines out of time order are accepted. Up to a reorder window of
 * TRACE_REORDER messages they are put in order as they stream by. What lies
 * further apart makes the reader take the whole rest of the input into memory and sort
 * that; where even this comes too late, because later messages have been handed
 * out already, the messages come out as they are and are counted as late.
 */
#ifndef RAVEL_TRACE_READER_H
#define RAVEL_TRACE_READER_H

#include "tracefmt/message.h"

typedef struct TraceReader TraceReader;
