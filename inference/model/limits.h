/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Numbers of joint inference that bound its time and memory, and what a stamp is: beyond them
 * an answer loses little. Numbers that were tuned are in tuning.def.
 */
#pragma once

/* States of a walk; with more, walks go on in general states. */
#define WALK_MAX_STATES (1 << 15)

/* Stamps are coarse if all are multiples of STAMPS_COARSE ns, or of a tenfold up to
 * STAMPS_COARSEST. Finer stamps give the order, as no node calls another so soon after the cause.
 * STAMPS_ENOUGH calls are needed, as exact stamps do not look coarse by chance then. */
#define STAMPS_COARSE   10000
/* Spans of one host have stamps of a microsecond, and calls often begin with their cause. Stamps of
 * STAMPS_FINE ns are coarse if that is no chance. */
#define STAMPS_FINE     1000
#define STAMPS_COARSEST 1000000000
#define STAMPS_ENOUGH   8

/* Consecutive parents that train the model, or not, together. */
#define STRETCH         1024
/* Beliefs that are enough to learn from. */
#define LEARN_BELIEFS   (1 << 17)
/* Beliefs that several processes find in a part in the time that learning from one takes. It
 * divides work alone. Measured on 2 million messages of gen-trace. */
#define LEARNING_ROUNDS 10.0
/* Rounds of beliefs that learn from calm parents alone; later ones learn from all. */
#define CALM_ROUNDS     14
/* Rounds after which the progress display shows half of learning as done. */
#define HALF_THE_ROUNDS 40.0

/* Passes over the events of a node after which numbers of calls are no longer searched. Kinds of
 * parents, or callees, above which no numbers of calls are guessed. */
#define NUMBERS_WORK  1000
#define NUMBERS_KINDS 256

/* Pairs of connections of a node. */
#define PROCESS_PAIRS (1 << 18)
/* Consecutive parents judged by the others: parents that swap calls are mostly in one block. */
#define PROCESS_BLOCK 64

/* Operations of calls into a node with a density of their own, the last shared by the rest. */
#define WORKER_KINDS 16
/* Consecutive calls into a node that are learned from together. */
#define WORKER_BLOCK 64
/* Calls into a node that are looked at, where the node is busiest. */
#define WORKER_CALLS 2048
/* Numbers of workers that are each tried; beyond, in steps of an eighth. */
#define WORKERS_EACH 12

/* Weight of the best candidate in the first assignment, less 1; and the latest children of a parent
 * that it looks at. */
#define MOST_WEIGHT 255
#define REMEMBERED  16

/* Least and greatest message of belief propagation, per ns. */
#define LEAST_RATE 1e-20
#define MOST_RATE  1e10

/* Candidates of a call: half of them entered first, half last. */
#define MOST_CANDIDATES 192
/* Offers that the trellis looks at, times effort: a call while learning, deciding; in one run. */
#define LEARN_LOOKS     48000
#define DECIDE_LOOKS    12000
#define MOST_LOOKED_AT  (1 << 18)
/* Probability of being skipped below which the trellis has no edge around a call. */
#define LEAST_SKIP  1e-12
/* Vertices of one call. */
#define MAX_AT_CALL 24
/* Open calls of a vertex, its own included; of more, the last return of the others is not seen. */
#define MAX_OPEN    12

/* Score, as a share of the best candidate's, from which an answer names a candidate. */
#define WORTH_NAMING 1e-3

/* Beliefs with which a part ends, once it has part_lives lifetimes; and after LONG_LIVES
 * lifetimes, beliefs that fit into caches. */
#define PART_BELIEFS (1 << 20)
#define LONG_LIVES   256
#define LONG_BELIEFS (1 << 16)
/* Beliefs above which a part ends, or is halved by a given model, and no more calls are learned
 * from. No more calls than a part has, or FEW_IN_PART, before and after it are solved with it. */
#define MOST_IN_PART (1 << 22)
#define FEW_IN_PART  512
/* Length of a part, ns. */
#define LONGEST_PART ((gint64)1 << 50)

/* Kinds of calls, on either side, above which sizes are not tried. */
#define MOST_SIZED 64

/* Callees above which order is not tried. */
#define MOST_ORDERED 64
/* Outputs before and after one that it may be inverted with. */
#define REACH        24
/* With twice as many training parents or more, order is first tried with about this many. */
#define ORDER_FEW    2048
/* Classes above which pairs of two classes are not counted. */
#define MOST_MIXED   256

/* Event loops: inputs before an output that may trigger it, and the likeliest triggers, which
 * decide its parent. */
#define LOOP_REACH    64
#define LOOP_TRIGGERS 6
/* A node with more than LOOP_MOST outputs is not tried as an event loop. Outputs are run in blocks.
 * LOOP_PART divides a block; the outputs of a part are looked at together or not at all. */
#define LOOP_MOST     (1 << 18)
#define LOOP_BLOCK    2048
#define LOOP_PART     256
/* Probability below which the loop is at no earlier input. */
#define LOOP_NOWHERE  1e-12
/* Rounds, after each of which parents are found. */
#define LOOP_ROUNDS   5
/* Loss after the first round, times loop_loss, from which no further round is run. Later rounds
 * lessened losses above loop_loss by at most 0.2 nats. */
#define LOOP_HOPELESS 1.5
