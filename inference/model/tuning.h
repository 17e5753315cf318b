/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Every constant of inference that was tuned, once: what it means, and on what it was chosen:
 *
 *     C   a captured testbed, eight and 32 requests at a time
 *     R   random systems (tests/gen-trace), mostly 33 of them; crowded: at parallelism 20 and 45
 *     W   captures of systems in the wild
 *     speed, memory: as large or small as these allow; more changes answers little
 *
 * as their commits tell, and where these do not, as was usual when they came. One without such a
 * mark stands by its reason alone. What changes without each is in
 * docs/evaluation/ablation-systems.tsv, by tests/experiments/ablation-inference.py.
 */
#ifndef RAVEL_TUNING_H
#define RAVEL_TUNING_H

/* --- States and what is learned of them (parent-walk.c, delay-density.c, node-model.c) --- */

/* A state counts calls to one callee up to here. C, R. */
#define WALK_COUNT          3
/* A full state backs off as if it had seen this many events more, in the general state. C, R. */
#define BACKOFF_WEIGHT      2.0
/* The same for a general state and the state of nothing. C, R. */
#define GENERAL_WEIGHT      0.5
/* So many events are taken off the count of a step of a full state, */
#define RARE_EVENTS         1
/* and this share of all: an event seen so rarely is often an error of the assignment, which would
 * feed itself. R, crowded. */
#define RARE_EVENTS_SHARE   0.02
/* A density of so many delays is smoothed by running means over one bin to either side; of fewer by
 * more, */
#define SMOOTH_DELAYS       1000
/* up to so many. C, R. */
#define SMOOTH_MOST         8
/* A density backs off as if it had seen so many delays more, */
#define DENSITY_WEIGHT      4
/* and one more for so many that it saw. C, R. */
#define DENSITY_WEIGHT_PART 100
/* A label or sizes that fewer than one call in RARE_SHARE has gets no kind of its own. C. */
#define RARE_SHARE          100
/* With more, walks go on in general states. Memory. */
#define WALK_MAX_STATES     (1 << 15)

/* --- Coarse stamps (problem.c) --- */

/* Stamps are coarse if all are multiples of this, ns, or of a tenfold: no node calls another so
 * soon after what caused it, so finer stamps tell their order; */
#define STAMPS_COARSE   10000
/* at most multiples of this. */
#define STAMPS_COARSEST 1000000000
/* So many calls say so: by chance, exact ones do not. */
#define STAMPS_ENOUGH   8

/* --- Which calls are learned from (problem.h, stretches.c, learn.c, solve.c, node-model.c) --- */

/* Parents that follow each other and train the model, or not, together. Speed. */
#define STRETCH          1024
/* Of training parents, at most one in so many is open with parents that are neither learned from
 * nor in the margins of its stretch. R, speed. */
#define CUT_SHARE        1000
/* Enough parents to learn from. R, speed. */
#define LEARN_FROM       8192
/* Beliefs that are enough to learn from. R, speed. */
#define LEARN_BELIEFS    (1 << 18)
/* With several processes: so many times as many beliefs are found in a part as are learned from in
 * the same time, about. Measured on 2 million messages of gen-trace at parallelisms of 5 and 45; what
 * is found does not depend on it. */
#define LEARNING_ROUNDS  10.0
/* New parents that a model learns from again; that costs as much as solving for some dozens. Speed.
 */
#define LEARN_AGAIN      256
/* or so many if that is less: one in LEARN_AGAIN_PART of those before. R, in windows. */
#define LEARN_AGAIN_PART 8

/* --- Numbers of calls (call-numbers.c, parent-walk.c) --- */

/* So many calls of a set of callees say how many a parent makes. */
#define NUMBERS_CALLS  100
/* To this part their curve may leave the band, as where a call is lost. Where numbers are fixed it
 * did not at all, and else by 0.015 or more: g8, j2, j24, n24, pt24, u24. */
#define NUMBERS_OFF    0.002
/* By so many more calls it must with one more or one less. */
#define NUMBERS_SURE   5
/* It would leave the band if parents left one call in ten to chance: the variance of such a number. */
#define NUMBERS_SPREAD 0.09
/* At either end of a stretch so many happenings do not count, or an eighth of all. */
#define NUMBERS_END    512
/* Each happening is looked at so often at most; and none where there are more kinds of parents, or
 * callees, than so many. Speed. */
#define NUMBERS_WORK   1000
#define NUMBERS_KINDS  256
/* An event by which a parent would break a number is as improbable as it was learned to be, times
 * this. Of 0.1 to 0.001, where right parents differ by a point at most: g8, j24, n24, pt24, u8, u24,
 * C; gen-trace at a parallelism of 20 loses three by 0.001. */
#define NUMBERS_BROKEN 0.02

/* --- Identifiers (evidence-identifiers.c) --- */

/* Counts of parents and of others back off to equal ones as if so many more had been seen of
 * each. */
#define MATCH_BACKOFF    1.0
/* Identifiers are used for a callee where they tell its parents from others by so many nats, and by
 * so many times what they tell of a candidate at random. As for leases. */
#define MATCH_GAIN       20
#define MATCH_TIMES      4
/* The guess of ratios is made in so many rounds. */
#define MATCH_ROUNDS     12

/* --- Leases (leases.c, lease-table.c, lease-chances.c, evidence-leases.c) --- */

/* Connections are dealt at random so many times, to compare with. Speed. */
#define LEASE_DEALS          2
/* Frequencies of standings back off to those at random as if so many calls more had been seen. */
#define LEASE_BACKOFF        4
/* A table is used if it gains so many nats, and so many times the gain of one more random deal.
 * Chosen on captured services: w3, p8, u24, pt24. */
#define LEASE_GAIN           20
#define LEASE_TIMES          4
/* Rounds of the chain that still suppose leases. As above. */
#define LEASE_SUPPOSE_ROUNDS 4
/* Until then, who may hold a connection is supposed to, to this part, where leases are
 * likely. As above. */
#define LEASE_SUPPOSED       0.97
/* Calls that follow each other are moved together if they have one parent in more than this part of
 * cases. */
#define LEASE_TIED           0.7
/* Connections are leased where at most this part of the leases has no candidate that spans them,
 * and where that is so is likelier by LEASE_GAIN than at random. In w3, u8, u24, p8, pt24, j2, j24
 * and n24 every lease has one. */
#define LEASE_ASTRAY         0.01
/* Of transactions it is enough that this is likelier by so many nats where only this part of them
 * is astray, by faults of clocks or of the capture; but nothing is at a node that makes as many calls
 * as it gets, to this part, as a pooler does, which passes on the calls of a transaction one by one.
 * Chosen on services under load (a full CPU), and poolers at three loads. */
#define TRANSACTION_ASTRAY   0.001
#define TRANSACTION_GAIN     2
#define PASSED_ON            0.02
/* The least chance that a call leaves a candidate by itself. */
#define LEASE_LEAST_CHANCE   1e-4

/* By parents found with leases, and with connections of one process, walks may be less likely by
 * so many nats an output than by those found without (learn.c). True ones lost up to 0.21 (w3, p8, p2,
 * pt24, j2, j24, u8, u24), those of the same systems dealt last in, first out 0.19 to 0.85, dealt at
 * random 1.05. */
#define BLOCKS_LOST          0.3

/* --- Connections of one process (evidence-processes.c, processes.c) --- */

/* A connection is looked at if it is used so often in the problem, and is in so many pairs. */
#define PROCESS_USES      8
/* Pairs of connections of a node that there is room for. Memory. */
#define PROCESS_PAIRS     (1 << 18)
/* Parents that follow each other and are judged by others: those that may change calls with each
 * other are mostly in one block. */
#define PROCESS_BLOCK     64
/* Connections are dealt at random so many times, to compare with. Speed. */
#define PROCESS_DEALS     4
/* Counts of all pairs back off to those at random as if so many more had been seen. */
#define PROCESS_BACKOFF   2.0
/* Groups are first sought as if pairs of one were so frequent, and pairs of two; there are none where
 * they come out closer than PROCESS_APART times. They are sought so often from the beginning, each
 * time by the ratios found before, in at most so many sweeps. */
#define PROCESS_OWN       1.5
#define PROCESS_OTHER     0.5
#define PROCESS_APART     1.05
#define PROCESS_STARTS    4
#define PROCESS_SWEEPS    10
/* Connections to a callee are kept by processes where groups foretell so many nats of the pairs of
 * other parents; those of a pool have less than none (the pools of gunicorn, Go, Node and Erlang). */
#define PROCESS_KEPT      10
/* Processes count if the uses of connections gain so many nats, and so many times the gain of one
 * more random deal. As for leases. */
#define PROCESS_GAIN      20
#define PROCESS_TIMES     4
/* And so many nats a use: pools that deal connections last in, first out, or in turns have up to
 * 0.004 (j2, j24, n24, u24, p8, pt24 so dealt), processes from 0.016 while most parents are wrong to
 * 1.2. */
#define PROCESS_GAIN_EACH 0.012
/* So much likelier a connection of their own process is supposed to be used by parents than another
 * process's. What is seen of that while parents are in doubt is mostly their errors; and processes
 * are certain to keep to their own, but parents' uses are not as independent as if they were. */
#define PROCESS_RATIO     30.0

/* --- Workers (workers.c, assign.c) --- */

/* A parent makes calls before its start so many nats more rarely. Half of that, and twice, make no
 * difference. */
#define OUT_OF_TURN      (4 * LOG_UNIT)
/* So many of the calls that would wait are answered before a worker is free: none to 0.0054 of them
 * where the workers are what they are said to be (u8, u24, p8, a Java service with twelve), 0.025 and
 * more at event loops and pools of threads that take a request up again and again (n24, busy servers
 * 608). */
#define MOST_TOO_EARLY  0.01
/* Rounds that learn rates, for each number of workers. Speed. */
#define WORKER_ROUNDS    4
/* Kinds of calls into the node, and callees, that have rates of their own. Speed. */
#define WORKER_KINDS     8
/* Calls into the node that follow each other and are learned from together. */
#define WORKER_BLOCK     64
/* Calls into the node that are looked at, where it is busiest, and pairs of a call out of it and a
 * candidate. Speed. */
#define WORKER_CALLS     2048
#define WORKER_PAIRS     (1 << 18)
/* Up to here every number is tried; beyond, steps of an eighth. Speed. */
#define WORKERS_EACH     12
/* Where learning begins, parents that wait make calls at this share of the rate of others. W. */
#define RATE_OF_WAITING  0.02
/* A queue must gain so many nats, times the calls that a parent makes in the mean, since calls of
 * one parent go together; and LEAST_GAIN_EACH for each parent that waits. Chosen on captured
 * services with four, six and no workers, and on two generated systems; W, C: of false queues, none
 * gained more than two thirds of it but for one event loop. */
#define LEAST_QUEUE_GAIN 10.0
#define LEAST_GAIN_WAITS 0.1
/* In a queue, parents that wait make at most FEW_WAITING of the calls out of the node, or make them
 * at LOW_WAITING times the rate of others or less. As before. */
#define FEW_WAITING      0.05
#define LOW_WAITING      0.25

/* Of parents that wait, so many make calls before their start. Queues of workers, captured and
 * generated, had 0 to 0.03, and 0.15 from one start of learning; queues taken for those of event loops
 * 0.27 to 0.84, two of 17 less. */
#define MOST_EARLY        0.2
/* If more parents do so and order is found, the queue does no harm: busy server 804, an event loop, has
 * 0.995, and 95 % of its parents are right; without this 33 %. Others had 0.53 and 0.63. */
#define OVERRULED         0.9
/* Of the calls that some candidate would wait for, so many, or so few, come when all candidates would
 * wait. True queues, captured and generated ones, had 0.0003 at most, and none but one call of one; two
 * event loops taken for one worker 0.0035 and 0.007 (busy server 511), others up to 0.25 or none. */
#define MOST_UNMADE       0.002
#define FEW_UNMADE        2
/* Where fewer calls wait, or fewer than one in so many, it is not said how long: captured queues
 * had 94 and one in 19 or more; one web server that had none, 3 and one in 700. W. */
#define LEAST_WAITED      20
#define LEAST_WAITED_PART 100

/* --- Rounds (assign.c, learn.c, rounds.c) --- */

/* Rounds that learn bounds before the first assignment. R, crowded. */
#define BOUNDS_ROUNDS    12
/* Rounds that do so where learning starts once more; */
#define OTHER_BOUNDS     5
/* rounds of beliefs until the starts are compared. Starts of 2 and 8 rounds, too, and comparing
 * after 1 or 2 rounds found no better parents in the mean. C, W, crowded. */
#define START_ROUNDS     4
/* The weight of the best candidate of a call in the first assignment, less 1. R. */
#define MOST_WEIGHT      255
/* Latest children of a parent that the first assignment looks at. Speed. */
#define REMEMBERED       16
/* Rounds that assign in order of time. C, R. */
#define FRESH_ROUNDS     6
/* Rounds that learn from beliefs. R, crowded. */
#define ROUNDS           16
/* From this round on all parents are learned from. R, crowded. */
#define CALM_ROUNDS      14
/* Rounds of a further step of --window. R, in windows. */
#define GO_ON_ROUNDS     3
/* Rounds that learn from assignments of the Markov chain. C, R. */
#define CHAIN_ROUNDS     8
/* After so many rounds half of learning is said to be done: there are 34 before order is tried, which
 * takes 20 to 100 more. The progress display alone uses it. */
#define HALF_THE_ROUNDS  40.0
/* Sweeps of the chain before each of these rounds. C, R. */
#define CHAIN_SWEEPS     4
/* If the mean share of the best parents is less, learning from a chain is skipped: it would learn
 * next to nothing. R, at a parallelism of 45; speed. */
#define LEAST_BEST_SHARE 0.33

/* --- Beliefs and the trellis (beliefs.c, trellis.c) --- */

/* Where beliefs begin, the belief of the assigned parent is so many times that of another
 * candidate. R. */
#define ASSIGNED            100
/* The largest share that a belief may have, unless its parent is the only candidate; */
#define MOST_TAKEN          (1 - 1e-6)
/* and the least that the trellis may give it: a call may always turn out to be another parent's. */
#define LEAST_SHARE         1e-8
/* A call on which a parent's belief has a smaller share is not offered to it. Speed. */
#define LEAST_OFFERED       1e-9
/* A belief is given up if its share by the trellis is less in the first round, */
#define NEGLIGIBLE_AT_FIRST 1e-3
/* and if it is less later; */
#define NEGLIGIBLE          1e-2
/* but not if its share before was KEPT or more: each call keeps a belief. R; speed. */
#define KEPT                0.1
/* The least message, per ns, */
#define LEAST_RATE          1e-20
/* and the greatest. */
#define MOST_RATE           1e10
/* Vertices and edges of the trellis with less than this share of the weight are left out. Speed. */
#define TRELLIS_LEAST       1e-4
/* An edge that skips calls whose probability of being skipped is less is left out. Speed. */
#define LEAST_SKIP          1e-12
/* Vertices of one call; further ones are left out. Speed. */
#define MAX_AT_CALL         24
/* Open calls of a vertex; of more, the last return is not seen. Memory. */
#define MAX_OPEN            12

/* --- The chain and what comes out (sampler.c, calibrate.c, answer.c) --- */

/* Nats; other evidence cannot make up for a step that loses more. Speed. */
#define HOPELESS            24
/* A parent is proposed with its chance plus this, so that each is proposed at times. C, R. */
#define LEAST_CHANCE        0.002
/* A call with a candidate of a greater chance is left out of the chain. Speed. */
#define CERTAIN             0.9999
/* Where all outputs come in order, beliefs find worse parents than the chain did that learned: its
 * parents have this part of the chances. n24, g8; without it n24 has three points less. */
#define LEARNED_PART        0.1
/* The beliefs on a call are worth so many drawings where they leave no doubt, and more where they
 * leave more. C, R. */
#define PRIOR_DRAWINGS      20
/* A call whose beliefs would be worth more is left out of the chain. Speed. */
#define MOST_PRIOR_DRAWINGS 480
/* They are worth this part of it where the chain began with parents that are far likelier. n24. */
#define LEAST_PRIOR         0.1
/* Being the parent when the chain starts is worth so many drawings. C, R. */
#define FIRST_DRAWINGS      8
/* Sweeps before drawings of the warm chain count, */
#define WARM_UP             20
/* and of the cold chain. C, R. */
#define COOL_DOWN           10
/* Warm and cold drawings, each, of a second chain, that says how far the first one can be trusted.
 * Ten or 60 change calibration errors by less than 0.01. W; speed. */
#define AGAIN_DRAWN         20
/* The cold chain raises likelihoods to this power. C. */
#define COLD                2
/* Rounds of belief propagation before shares are taken; more hardly change them. R. */
#define SETTLE              3
/* Rounds that sharpen beliefs, to choose one of several ways to agree. R. */
#define DECIDE              3
/* The weight of the first shares in a mean with the second ones. C, R. */
#define FIRST_OPINION       (2.0 / 3)
/* Odds beyond these count by their eighth root: messages that go round in a circle confirm each
 * other. C, R. */
#define SURE_ODDS           2.0
/* Odds beyond these count less in probabilities, */
#define USUAL_ODDS          9.0
/* which are divided by a doubt that this scales. C, R. */
#define DOUBT               4.0
/* The second shares count where walks are less likely by their parents by less than so many nats a
 * call with a choice. Wrong parents lost up to 1.3 (services, generated event loops and
 * busy servers), right ones of which much was doubted 1.9 to 12. W, captured services, busy
 * servers with seeds 501 to 506. */
#define SECOND_LOST         2.0
/* So many calls are in error whatever is said of them, times x to the power of 1.5, with x what the
 * node's calls are in doubt in the mean; */
#define ASTRAY              1.25
/* at most so many; */
#define MOST_ASTRAY         0.11
/* and so many more where leases make calls hang together. The first two on C, R, W and captured
 * services, the last on u8 and u24. */
#define TIED_ASTRAY         0.02
/* Nats of doubt that a family is said to leave as usual, beside what drawings say of its own. From
 * 0.02 to 1 all is the same to 0.03. */
#define FAMILY_DOUBT       0.1
/* The answer names a candidate with at least this share of the best candidate's score. */
#define WORTH_NAMING        1e-3

/* Where parents are right with a mean probability below this, whole assignments are drawn
 * (drawings.c). Speed. */
#define DRAWN_BELOW  0.8
/* Sweeps of the chain before the first of them, */
#define DRAW_WARM_UP 60
/* and before each. Speed. */
#define DRAW_SWEEPS  10

/* --- Parts (parts.c) --- */

/* A part ends when it is so many mean lifetimes of parents long. */
#define PART_LIVES    8
/* and has so many beliefs, */
#define PART_BELIEFS  (1 << 20)
/* or when it is so many lifetimes long. */
#define LONG_LIVES    256
/* and has so many, which fit into caches. Speed, memory. */
#define LONG_BELIEFS  (1 << 16)
/* Of a given model: parts with more beliefs are halved, where they are long enough. Memory. */
#define MOST_IN_PART  (1 << 22)
/* A part is no longer, ns. */
#define LONGEST_PART  ((gint64)1 << 50)
/* Calls so many lifetimes before and after a part are solved with it. R. */
#define CONTEXT_LIVES 3

/* --- Sizes (evidence-sizes.c) --- */

/* Sizes are tried where by the parents found without them they are likelier than sizes dealt again
 * among so many neighbouring calls of an edge, in the mean of so many deals, by so many standard
 * deviations of these and by so much for each call out of the node. Chosen on conc8, conc32, w3, p8
 * and n24 without labels, and by sizes drawn at random on these. Labels are left out where they are
 * likelier than dealt by less than so many deviations: true ones are by 16 to 250, random ones by up
 * to 3.2 (u8, u24, p8, pt24, j2, j24, n24, w3, g8). By candidates
 * true ones are by 36 to 670 where labels tell calls apart at all, random ones by up to 5.1, and
 * then by less than LEAST_GAIN. */
#define SIZE_NEIGHBOURS 64
#define SIZE_DEALS      8
#define SIZE_DEVIATIONS 5
#define SIZE_EXCESS     0.02
/* Beside labels parents may become likelier by at most so many times what sizes say of the parents
 * found without them (of every other parent): 2.5 to 3.1 times where sizes did harm (j24, u8), 0.4 to
 * 1.6 elsewhere. Chosen on these and on 23 captures of five other systems. */
#define SIZE_FIT        2.0
/* Or where by candidates they are likelier than dealt so often by so many deviations. Those of
 * requests were by 4.1 to 17 where parents without them were mostly wrong, dealt ones by as much,
 * and by LEAST_GAIN, in 21 of 16,308 deals. Chosen on 38 captures of several processes. */
#define CANDIDATE_DEALS 32
#define CANDIDATE_DEVIATIONS 4
/* Where calls have fewer candidates than this in the mean, parents tell it. Speed. */
#define CROWD           4
/* The weight of what is done whatever came before, in that. */
#define PAIR_WEIGHT     2
/* Not with more kinds of calls than this, on either side. R. */
#define MOST_SIZED      64
/* Parents are then found with them in so many rounds in order of time, as those found without hide
 * what sizes say. Chosen on w3, p8 and j24 without labels. */
#define SIZE_ROUNDS     3
/* A context is told apart if that raises the log likelihood of its parents by at least this, */
#define LEAST_GAIN      5.0
/* and by this for each parent. C, R. */
#define LEAST_GAIN_EACH 0.01

/* --- Order (serving-order.c, evidence-order.c) --- */

/* With more callees, a node's order is not looked at: pairs of events would be too many. Speed. */
#define MOST_ORDERED   64
/* Outputs before and after one that it may be inverted with. Speed. */
#define REACH          24
/* A class with fewer pairs has no factor learned from beliefs. C. */
#define ORDER_PAIRS    20
/* The odds of all classes weigh as this many pairs in one class. C, R. */
#define PRIOR_PAIRS    40
/* With more classes, pairs of two classes are not counted. Speed. */
#define MOST_MIXED     256
/* Only outputs whose trigger has this share or more are learned from. C. */
#define SURE_TRIGGER   0.95
/* A pair counts only if delays alone make both orders at least this probable. C. */
#define OPEN_PAIR      0.05
/* The largest factor that is supposed. C, R. */
#define SUPPOSED       0.05
/* A factor is at least this; */
#define LEAST_FACTOR   (1.0 / 64)
/* one above this becomes 1. C, R. */
#define NO_ORDER       0.7
/* Rounds that learn from beliefs whether the node works in order, */
#define ORDER_ROUNDS   8
/* of which the first suppose that it does. C, R. */
#define SUPPOSE_ROUNDS 5
/* Rounds of the chain of one stage, */
#define STAGE_ROUNDS   4
/* and stages, each of which fits the order once. C, R. */
#define ORDER_STAGES   6
/* The largest factor that counts as order while it is learned from beliefs; 1 would be the odds that
 * delays alone give. C. */
#define IN_ORDER       0.4
/* The factor of inversions supposed where beliefs show none. C. */
#define MAYBE_FACTOR   0.2
/* The ratio of the odds of inversions to the odds by delays that a node in order has at most. Nodes
 * without order come to more than 0.4, since their delays are not known exactly; an event loop came
 * to 0.27, 0.29 and 0.34 from three starts. C, R, W. */
#define ORDER_ODDS     0.35
/* The first calls of requests by themselves are in order only if walks are likelier by so many nats
 * an output: by at most 0.08 where calls are made in no
 * order (ten seeds of test-inference's generator), by 0.11 to 0.18 at j24 and pt24. */
#define DISPATCH_GAIN  0.1
/* And the reverse order shows none, or its ratio is so many times greater: where goroutines are
 * served last in, first out, it was 0.7 to 2.1 times, at threads in neither order mostly 1.7 to 2.3,
 * at threads in order 4.3 or there was none. Chosen on these. */
#define REVERSE_ODDS   3
/* No further stage is run if the ratio after one is this or more: none of 136 nodes that came to it
 * showed order in the end. W, R, C, hotel; speed. */
#define HOPELESS_ODDS  0.6

/* Order is not even tried where so much of the triggers are hardly in doubt, and the odds are so
 * many. Of 200 nodes with as much, those that showed order when it was tried had 0.6 at most: sure
 * triggers may be wrong. C, W, R; speed. */
#define PLAIN_TRIGGERS 0.85
#define PLAIN_ODDS     0.65

/* --- Event loops (event-loop.c) --- */

/* Inputs before an output that may have triggered it. Speed. */
#define LOOP_REACH           64
/* The likeliest triggers of an output that say what its parent is. */
#define LOOP_TRIGGERS        6
/* Outputs of a node that is looked at. Speed. */
#define LOOP_MOST            (1 << 18)
/* Outputs that are looked at together. Memory. */
#define LOOP_BLOCK           2048
/* and outputs that are looked at, or not, together: a divisor of that. Speed. */
#define LOOP_PART            256
/* The loop is at an input, and at those before it, no more, if it was with this probability. Speed. */
#define LOOP_NOWHERE         1e-12
/* So many outputs come out of turn. Where that is learned, it takes over. W: one event loop. */
#define LOOP_ASTRAY          0.02
/* A step has been seen so often before it was. */
#define LOOP_BACKOFF         0.05
/* An input and an output have one parent with at least this, whatever is known of either. */
#define LOOP_LEAST_AGREEMENT 1e-3
/* Rounds, after each of which parents are found, */
#define LOOP_ROUNDS          5
/* and steps in the first one and the others that learn what inputs output. */
#define LOOP_FIRST_STEPS     8
#define LOOP_LATER_STEPS     4

/* By these parents walks may be less likely by so many nats an output, which order then can make up
 * for. Event loops lost 0.0 to 1.6, busy nodes with threads mostly 0.9 to 3.3. W, generated event
 * loops; speed. */
#define LOOP_LOSS       1.6
/* In the end, with order, they may be less likely by so many, times how rare inversions are: the log
 * of their odds. Event loops had 0.6 more to 0.23 less, with odds of 0.007 0.34 less; what was none had
 * 0.26 less with odds of 0.03, and 0.3 to 0.5 with more. W, generated event loops, busy servers. */
#define LOOP_LAST_LOSS  0.075
/* What the loop found of a candidate counts by this power, as order says much of it again, */
#define LOOP_SAYS       0.33
/* and not less than this part of what a candidate has by chance. Powers of 0.33 and 0.5, and leasts of
 * 0.05 and 0.2, are the same to two points of a node: n24, g8. */
#define LOOP_LEAST_SAID 0.05

/* --- Roots (roots.c) --- */

/* Of the calls of an edge that have a candidate, accident must give it to so many. W. */
#define ROOTS_BY_ACCIDENT 0.5

#endif
