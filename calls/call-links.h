/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Links: which calls and messages continue another (docs/paths.md, "Work that goes on").
 *
 * A link is a hash of a content (link=, docs/trace-format.md). A node that sends a content which had
 * come to it continues the call or message that brought it. If the content came several times, the
 * first to come is the first to go. Deliveries may be unseen: if a message finds its consumer
 * waiting, what had come before is gone.
 *
 * If the contents of a broker were not seen, operations name its queue ("publish orders", "deliver
 * orders"); again, the first message to come is the first to go.
 *
 * If a request opened a transaction on a connection, calls on that connection after the reply are
 * the request's, too.
 */
#pragma once

#include "calls/call-connections.h"
#include "calls/call-labels.h"
#include "calls/call-pair.h"

/* What a one-way message starts at its receiver. */
enum { STARTS_NOTHING, STARTS_WORK, STARTS_UNTIL_ASKED /* its end is known */ };

/* Flags of a call that asks for work. */
enum {
        FETCHES = 1,
        FETCH_WAITS = 2,     /* it waits until there is some */
        FETCH_OF_WORKER = 4, /* its node does nothing but what it has taken */
        FETCH_SETTLES = 8    /* instead of FETCHES: it settles what was taken, and is no path */
};

/* What was found so far. */
typedef struct LinkTables LinkTables;

enum { MAY_GO_ON = 2 }; /* flag beside TRUE in relayed: its content may yet be passed on */

typedef struct {
        GArray *linked;     /* of Linked: calls with a link, in order; NULL before there are any */
        guint32 *parent;    /* by call: the call that it continues, or NO_PARENT. NULL: no links */
        float *probability; /* that parent is right */
        guint8 *continues;  /* WorkContinues */
        guint8 *relayed;    /* TRUE: its node had taken charge of the content: a mail server */
        guint8 *starts;     /* STARTS_, of a one-way message */
        guint8 *fetch;      /* FETCH flags */
        gint64 *until; /* ns: its receiver was done with it, if that is before its return; else
                          G_MAXINT64. NULL: unknown of all */
        gint64 *since; /* ns: its receiver began with it, if that is later than its entry; else
                          G_MININT64. NULL: unknown of all */
        guint32 size;  /* length of these */
        guint64 lost;  /* messages whose parent was found too late */
        LinkTables *tables;
        guint64 *way; /* the connection that it came by, or that it asks on; 0: unknown */
} CallLinks;

void call_links_clear(CallLinks *links); /* frees what it holds */

/* Whether a message has a link, or a relay, which is one, too. */
static inline gboolean call_links_has_link(const Attributes *a)
{
        return a->link.length > 0 || a->relay.length > 0;
}

/* Whether a one-way message without a link has an operation that names a queue. */
gboolean call_links_by_order(const Attributes *attributes);

/* Adds a message of a call (by number) if it has a link, or asks for work (fetch=). by_id: its id
 * begins with the client's port. */
void call_links_add(CallLinks *links, guint64 call, const Message *message,
                    const Attributes *attributes, gboolean by_id);

/* After the last message: calls without a link get the queues that their operations name. */
void call_links_add_operations(CallLinks *links, const CallLabels *labels, guint32 n_calls);

/* Drops links of calls without a return; the other calls move to their places. */
void call_links_close_up(CallLinks *links, const CallPairs *calls);

/* The caller and callee of an edge. */
typedef struct {
        NodeId caller, callee;
} LinkEdge;

/* After the last message: finds what continues what. */
void call_links_find(CallLinks *links, const CallPairs *calls, const LinkEdge *edges,
                     guint n_nodes);

/* Instead, step by step: finds what the calls before a moment continue. until: all calls before it
 * are known; oldest: the number of the first open call. Messages that nobody acknowledges start no
 * work here. */
void call_links_step(CallLinks *links, CallPairs *calls, const CallLabels *labels,
                     const LinkEdge *edges, guint n_nodes, gint64 until, guint64 oldest);

/* The longest time, so far, between the arrival of a message and its passing on, ns. */
gint64 call_links_longest(const CallLinks *links);

/* Forgets the first n calls. */
void call_links_drop(CallLinks *links, guint32 n);

/* Once other parents are known: finds the parents of calls after the reply. */
void call_links_find_late(CallLinks *links, CallPairs *calls, const CallConnections *connections);

/* The call that a call continues; NO_PARENT: no link says it. */
static inline guint32 call_links_parent(const CallLinks *links, guint32 call)
{
        return links->parent ? links->parent[call] : NO_PARENT;
}

static inline WorkContinues call_links_continues(const CallLinks *links, guint32 call)
{
        return links->continues ? (WorkContinues)links->continues[call] : WORK_NESTED;
}

/* Whether a node passes on what it had taken charge of, after it replied to who brought it. */
static inline gboolean call_links_is_relay(const CallLinks *links, guint32 call)
{
        return links->relayed && (links->relayed[call] & TRUE) &&
               links->continues[call] != WORK_NESTED;
}

/* Whether a call is on nobody's time: it waits for work that comes as a message, or settles it. */
static inline gboolean call_links_only_waits(const CallLinks *links, guint32 call)
{
        return links->fetch && links->fetch[call] & (FETCH_WAITS | FETCH_SETTLES);
}

/* Whether a worker makes the call between two messages, for none of them. */
static inline gboolean call_links_is_turn(const CallLinks *links, guint32 call)
{
        return links->fetch && links->fetch[call] & FETCH_OF_WORKER;
}

/* Whether the end of the work that a message started is known by its calls alone. */
static inline gboolean call_links_is_open(const CallLinks *links, guint32 call)
{
        return links->starts && links->starts[call] == STARTS_WORK;
}

/* The time at the callee within which the call's own calls lie. */
static inline Span call_links_stay(const CallLinks *links, const CallPairs *calls, guint32 call)
{
        Span stay = calls->at_callee[call];

        if (links->until)
                stay.to = MIN(stay.to, links->until[call]);
        if (links->since)
                stay.from = MAX(stay.from, links->since[call]);
        return stay;
}

/* Whether it is a one-way message. */
static inline gboolean call_is_message(const CallPairs *calls, guint32 call)
{
        return (calls->stamps[call] & (1 << MSG_SENT | 1 << MSG_RECV)) != 0;
}
