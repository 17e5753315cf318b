/* SPDX-License-Identifier: BSD-2-Clause
 *
 * FindCallPairs (paper, Figure 4, lines 1 to 10): matches calls with their returns, in a hash table
 * of open calls by caller, callee and id.
 *
 * It is a stream: messages go in one at a time, in time order, and call pairs come out when they
 * are complete. Memory is bounded by the open calls.
 *
 * Calls with the same key (repeated ids, or none) pair first-in-first-out.
 *
 * A trace may have stamps of both ends. The two at the caller are matched on the caller's clock,
 * and the two at the callee on the callee's. They are never compared with each other, since clocks
 * may disagree by any amount. A call waits for missing stamps while its edge is known to carry
 * them: at most a second of the trace, or the skew window if that is longer. If messages are in
 * time order, messages on other edges make no difference.
 *
 * A return without a call is counted and dropped at once. It waits for a call stamped later if
 * there is a skew window, or if it has an id and call_matcher_wait() says so. With
 * call_matcher_keep_early() it waits until the end if it has an id. It goes with the one call of
 * its key that has no return. If another call of the key gets one, the id is not unique.
 *
 * A call that has waited for longer than max_call is given up. If ids do not tell calls apart, a
 * call whose return is missing would get the return of the next call, and so on for ever. There a
 * call with another behind it is given up earlier: after four times the longest of at least a
 * hundred calls of its edge.
 */
#pragma once

#include "calls/call-pair.h"
#include "calls/edge-table.h"
#include "calls/lone-messages.h"

typedef struct CallMatcher CallMatcher;

/* What a message did; a set of flags. */
enum {
        MATCH_OPENED = 1,    /* it is the first of a new call */
        MATCH_CLOSED = 2,    /* it is the first return of an open call */
        MATCH_DONE = 4,      /* call pairs are complete: see call_matcher_done() */
        MATCH_OTHER_END = 8, /* it is the return of an open call, seen at its other end */
};

/* A call pair that is complete. */
typedef struct {
        CallPair pair;
        guint32 edge;          /* index of its edge: see call_matcher_edges() */
        guint64 number;        /* counts calls from 0 in the order they opened */
        guint64 return_number; /* the same; of a return that was stamped before its call, its own */
        guint32 id_length;     /* 0 where the call has no id */
        const char *id;        /* as written; valid until the next message is added */
} DoneCall;

typedef struct {
        guint64 messages, pairs, lone_calls, lone_returns;
        guint64 one_way;    /* messages that nobody answers, but for */
        guint64 linked;     /* calls that came out as pairs */
        gint64 first, last; /* time of the first and last message; NO_TIME where none */
        gboolean disorder;  /* a message came after later ones, or a call after its return */
} MatchCounts;

/* window: the skew window, ns. max_call: the longest that a call may last, ns; G_MAXINT64
 * for no limit. */
CallMatcher *call_matcher_new(gint64 window, gint64 max_call);

/* Before the first message. If ids tell calls apart, a return may be stamped this long before its
 * call, ns, even if the skew window is less. */
void call_matcher_wait(CallMatcher *matcher, gint64 window);

/* Before the first message, for traces with an end: if ids tell calls apart, a return may be
 * stamped before its call by any time. */
void call_matcher_keep_early(CallMatcher *matcher, gboolean keep);
void call_matcher_free(CallMatcher *matcher);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CallMatcher, call_matcher_free)

/* Returns MATCH_ flags. Constant time. */
guint call_matcher_add(CallMatcher *matcher, const Message *message);

/* A one-way message that is to come out as a pair, which ends as it begins: with stamps of both
 * ends both are one. Returns MATCH_ flags. */
guint call_matcher_add_message(CallMatcher *matcher, const Message *message);

/* The number (see DoneCall) of the call that the last message was of, where it was a call, or a
 * return that matched one. */
guint64 call_matcher_latest(const CallMatcher *matcher);

/* Before call_matcher_finish(): calls of edges seen from one point come out as pairs if they have
 * waited four times longer than any return took. They end with the trace. The counts have them as
 * calls without a return. Returns MATCH_DONE or 0. */
guint call_matcher_take_silent(CallMatcher *matcher);

/* Gives up waiting: what is open and complete enough comes out, the rest is
 * lone. Returns MATCH_DONE or 0. */
guint call_matcher_finish(CallMatcher *matcher);

/* Gives up on calls that were open for longer than max_call, from now on the limit, at this
 * moment. Returns MATCH_DONE or 0. Linear in the most calls that were ever open. */
guint call_matcher_expire(CallMatcher *matcher, gint64 time, gint64 max_call);

/* The earliest stamp and the least number of an open call: no later pair has an earlier stamp or a
 * smaller number. G_MAXINT64 and G_MAXUINT64: no call is open. Linear, too. */
void call_matcher_oldest(const CallMatcher *matcher, gint64 *time, guint64 *number);

/* Forgets what call_matcher_lone() has of before a moment. */
void call_matcher_forget_lone(CallMatcher *matcher, gint64 before);

/* After _finish(): clocks were put right. Takes the durations of edges from the moved pairs, all of
 * which have an edge, and moves the lone messages. offset: by how much the clock of a node is late,
 * ns, by NodeId. */
void call_matcher_move(CallMatcher *matcher, const CallPairs *pairs, const gint64 *offset);

/* The n pairs that the last call_matcher_add() or _finish() completed. Borrowed. */
const DoneCall *call_matcher_done(const CallMatcher *matcher, guint *n);

/* Complete after _finish(). Borrowed. */
const MatchCounts *call_matcher_counts(CallMatcher *matcher);

/* Borrowed; in order of first sight. */
const Edge *call_matcher_edges(const CallMatcher *matcher, guint *n);

/* Complete after _finish(). Borrowed. */
const LoneMessage *call_matcher_lone(CallMatcher *matcher, guint *n);
