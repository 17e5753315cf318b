/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls of a trace as far as it was read. Messages go in one at a time (paper, Figure 4, line
 * 2). Call pairs with their columns come to lie in arrays, in the order in which they were opened,
 * and name each other by index. The roles of edges are found from them.
 */
#pragma once

#include "calls/call-connections.h"
#include "calls/call-facts.h"
#include "calls/call-identifiers.h"
#include "calls/call-labels.h"
#include "calls/call-links.h"
#include "calls/call-order.h"
#include "calls/edge-roles.h"
#include "tracefmt/attributes.h"

/* The true position of a call (paper, section 7.5.1): path=17.1.2 is the second child of the first
 * child of request 17. Both messages of a call have it.
 *
 * Messages are still matched by the matcher of calls. There a position becomes part of the id,
 * since ids may be missing or repeat where positions do not.
 */

/* Messages with path=. */
typedef struct {
        guint64 calls, returns;
        guint64 returns_without; /* they cannot match a call that has it */
} TruePathCounts;

typedef struct {
        NodeTable *nodes; /* borrowed */
        CallMatcher *matcher;
        CallPairs pairs;
        CallLabels labels;
        CallLabels tags; /* of tags= */
        CallConnections connections;
        CallIdentifiers identifiers;
        CallLinks links;
        CallFacts facts;
        EdgeRoles roles;
        guint64 dropped; /* calls that were forgotten, all before the others */
        GByteArray *ids; /* of all calls, one after the other; NULL where not kept */
        GString *key;    /* "PATH ID", which stands for a message's id; NULL where not wanted */
        TruePathCounts paths;
        guint64 silent;    /* calls that known_calls_keep_silent() kept */
        guint64 children;  /* calls with a candidate parent */
        guint64 nestings;  /* their candidate parents, all together */
        guint64 hasty;     /* calls whose parents joint inference decided in haste */
        guint32 most_open; /* requests at a time, at most, where it did so: at the node `busiest` */
        NodeId busiest;
} KnownCalls;

/* What is kept of calls, besides the columns of CallPairs. */
enum {
        WANT_CONNECTIONS = 1 << 16,
        WANT_TRUE_PATHS = 1 << 17, /* with WANT_IDS */
        WANT_IDENTIFIERS = 1 << 18,
        WANT_LINKS = 1 << 19,
        WANT_FACTS = 1 << 20, /* also the facts that only a store keeps */
};

/* window: the skew window; max_call: the longest that a call may last, ns; 0: no limit. wanted:
 * WANT_ flags. */
void known_calls_init(KnownCalls *calls, NodeTable *nodes, gint64 window, gint64 max_call,
                      gboolean fold, guint wanted);
void known_calls_clear(KnownCalls *calls); /* frees what it holds */

/* Messages in time order. FALSE with error set past 2^32 - 2 calls. */
gboolean known_calls_add(KnownCalls *calls, const Message *message, GError **error);

/* Gives up on open calls: on all, or on calls that have lasted longer than max_call at this time.
 */
gboolean known_calls_finish(KnownCalls *calls, GError **error);

/* Whether the facts of a whole trace say that no packet of its capture is missing. */
gboolean known_calls_are_whole(char *const *facts, guint n);

/* Before known_calls_finish(), if no packet is missing: the calls that nobody answered stay. Each
 * is the last on its connection, and has an operation. */
gboolean known_calls_keep_silent(KnownCalls *calls, GError **error);
gboolean known_calls_expire(KnownCalls *calls, gint64 time, gint64 max_call, GError **error);

/* Drops calls without a return; the later ones move up. */
void known_calls_close_up(KnownCalls *calls);

/* After known_calls_close_up(): subtracts the offset of its clock from each stamp. offset: by how
 * much the clock of a node is late, ns, by NodeId. */
void known_calls_move(KnownCalls *calls, const gint64 *offset);

/* After known_calls_find_roles(): finds what continues what, by the links that there are. */
void known_calls_find_links(KnownCalls *calls);

/* Instead, for calls before a moment: see call_links_step(). */
void known_calls_step_links(KnownCalls *calls, gint64 until, guint64 oldest);

/* Once all other parents are known: see call_links_find_late(). */
void known_calls_find_late(KnownCalls *calls);

void known_calls_drop(KnownCalls *calls, guint32 n);

/* See edge_roles_find(). */
gint64 known_calls_find_roles(KnownCalls *calls, gboolean all);

/* The id of a call, as written, and its true path; not NUL-terminated; length 0 where it has
 * none. */
const char *known_calls_id(const KnownCalls *calls, guint32 call, guint32 *length);
const char *known_calls_path(const KnownCalls *calls, guint32 call, guint32 *length);

/* Puts indices of calls in order of start, ties in the order of the trace. */
void known_calls_sort(const KnownCalls *calls, guint32 *call, guint32 n);

/* Gives back the memory of columns that lie in files, until they are looked at again. */
void known_calls_put_away(const KnownCalls *calls);

/* Called for each call by passes in about the order of calls, to keep few of them in memory. */
static inline void known_calls_pass(const KnownCalls *k, guint32 i)
{
        enum { EACH = 1 << 15 };

        if (G_UNLIKELY(i % EACH == EACH - 1))
                known_calls_put_away(k);
}

static inline const EdgeRole *known_calls_edge(const KnownCalls *k, guint32 call)
{
        return &k->roles.edge[k->pairs.edge[call] - 1];
}

static inline void known_calls_note_candidates(KnownCalls *k, guint32 call, guint32 n)
{
        if (k->pairs.candidates)
                k->pairs.candidates[call] = n;
        k->children += n > 0;
        k->nestings += n;
}

/* The mean number of candidate parents of the calls that have one. */
static inline double known_calls_parallelism(const KnownCalls *k)
{
        return k->children ? (double)k->nestings / k->children : 0;
}

/* Whether the parent of a call was found in an earlier step; it may be that it has none. */
static inline gboolean known_calls_is_decided(const KnownCalls *k, guint32 call)
{
        return k->pairs.progress && (k->pairs.progress[call] & CALL_STARTED);
}

/* Whether call is other, or was caused by it, directly or not, as far as parents are known. */
static inline gboolean known_calls_is_within(const KnownCalls *k, guint32 call, guint32 other)
{
        while (call != NO_PARENT && call != other)
                call = k->pairs.cause[call].parent;
        return call != NO_PARENT;
}
