/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Work that goes on (docs/paths.md): which calls and messages continue another, by what the trace
 * says of their contents (link=, docs/trace-format.md). What is sent with a content that came to
 * its sender before continues that; where the content came more than once, the first to come is the
 * first to go.
 *
 * Where a broker's contents were not seen, operations name the queue ("publish orders", "deliver
 * orders"), of which the first message to come is the first to go, too. And a call that a node
 * makes after its reply, on a connection whose transaction was opened for a request, is that
 * request's.
 */
#ifndef RAVEL_CALL_LINKS_H
#define RAVEL_CALL_LINKS_H

#include "calls/call-connections.h"
#include "calls/call-labels.h"
#include "calls/call-pair.h"

/* What a message that nobody answers starts at its receiver. */
enum { STARTS_NOTHING, STARTS_WORK, STARTS_UNTIL_ASKED /* its end is known */ };

/* Flags of a call that asks for work. */
enum {
        FETCHES = 1,
        FETCH_WAITS = 2,    /* until there is some */
        FETCH_OF_WORKER = 4, /* of a node that does only what it has taken */
        FETCH_SETTLES = 8    /* it only tells of what was taken, and is no path; not FETCHES */
};

/* What was found so far. */
typedef struct LinkTables LinkTables;

enum { MAY_GO_ON = 2 }; /* beside TRUE in relayed: what it brought may yet be passed on */

typedef struct {
        GArray *linked;     /* calls with a link, in order; NULL before there are any */
        guint32 *parent;    /* by call: what it continues; NO_PARENT. NULL: there are no links */
        float *probability; /* that it is this one */
        guint8 *continues;  /* WorkContinues */
        guint8 *relayed;    /* by a node that had taken charge of it: a mail server */
        guint8 *starts;     /* STARTS_, what it does, a message */
        guint8 *fetch;      /* FETCH flags, of one that asks for work */
        gint64 *until; /* when its receiver was done with it, by the order of its work, where its
                          return says that too late; else G_MAXINT64. NULL: of none */
        gint64 *since; /* when it may have begun with it, where that is later; else G_MININT64.
                          NULL: of none */
        guint32 size;  /* length of these */
        guint64 lost;  /* messages of which it is known what they continue, but too late */
        LinkTables *tables;
        guint64 *way; /* the connection that asks, and that it came by; 0: unknown. NULL again
                         when all is found */
} CallLinks;

void call_links_clear(CallLinks *links); /* frees what it holds */

/* Whether a message has a link, or a relay, which is one, too. */
static inline gboolean call_links_has_link(const Attributes *a)
{
        return a->link.length > 0 || a->relay.length > 0;
}

/* Whether a one-way message without a link has an operation that names a queue. */
gboolean call_links_by_order(const Attributes *attributes);

/* A message of a call (by number): it may have a link, or else may ask for work (fetch=). by_id: its
 * id begins with the client's port. */
void call_links_add(CallLinks *links, guint64 call, const Message *message,
                    const Attributes *attributes, gboolean by_id);

/* After the last: calls without a link have the queues that their operations name, if any. */
void call_links_add_operations(CallLinks *links, const CallLabels *labels, guint32 n_calls);

/* Those of the calls that found no return are gone; the others move to their places. */
void call_links_close_up(CallLinks *links, const CallPairs *calls);

/* After the last: finds what continues what. nodes: the caller and callee of each edge. */
typedef struct {
        NodeId caller, callee;
} LinkEdge;
void call_links_find(CallLinks *links, const CallPairs *calls, const LinkEdge *edges,
                     guint n_nodes);

/* Instead, step by step: finds what the calls before a moment continue, all of which are known;
 * oldest: the number of the first call that is still open, of all. What nobody acknowledges starts
 * no work here. */
void call_links_step(CallLinks *links, CallPairs *calls, const CallLabels *labels,
                     const LinkEdge *edges, guint n_nodes, gint64 until, guint64 oldest);

/* The longest that a message lay before it was passed on, so far, ns. */
gint64 call_links_longest(const CallLinks *links);

/* The first n calls are no longer there. */
void call_links_drop(CallLinks *links, guint32 n);

/* Once other parents are known: those of calls after the reply. */
void call_links_find_late(CallLinks *links, CallPairs *calls, const CallConnections *connections);

/* What a call continues; NO_PARENT where no link says it. */
static inline guint32 call_links_parent(const CallLinks *links, guint32 call)
{
        return links->parent ? links->parent[call] : NO_PARENT;
}

static inline WorkContinues call_links_continues(const CallLinks *links, guint32 call)
{
        return links->continues ? (WorkContinues)links->continues[call] : WORK_NESTED;
}

/* Whether it continues another as a call of its node's own: that one had been answered, and the
 * node had taken charge of what it brought. */
static inline gboolean call_links_is_relay(const CallLinks *links, guint32 call)
{
        return links->relayed && (links->relayed[call] & TRUE) &&
               links->continues[call] != WORK_NESTED;
}

/* Its time is nobody's: it waits for work, which comes as a message of its own, or tells of it. */
static inline gboolean call_links_only_waits(const CallLinks *links, guint32 call)
{
        return links->fetch && links->fetch[call] & (FETCH_WAITS | FETCH_SETTLES);
}

/* Made by a worker between one message and the next, for none of them. */
static inline gboolean call_links_is_turn(const CallLinks *links, guint32 call)
{
        return links->fetch && links->fetch[call] & FETCH_OF_WORKER;
}

/* A message that started work, of which it is not known where that ends, but by its calls. */
static inline gboolean call_links_is_open(const CallLinks *links, guint32 call)
{
        return links->starts && links->starts[call] == STARTS_WORK;
}

/* The time that a call's own calls lie in, at its callee. */
static inline Span call_links_stay(const CallLinks *links, const CallPairs *calls, guint32 call)
{
        Span stay = calls->at_callee[call];

        if (links->until)
                stay.to = MIN(stay.to, links->until[call]);
        if (links->since)
                stay.from = MAX(stay.from, links->since[call]);
        return stay;
}

/* A message that nobody answers. */
static inline gboolean call_is_message(const CallPairs *calls, guint32 call)
{
        return (calls->stamps[call] & (1 << MSG_SENT | 1 << MSG_RECV)) != 0;
}

#endif
