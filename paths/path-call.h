/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One call of a path instance, which is an array of them in pre-order.
 */
#pragma once

#include "base/outcome.h"
#include "paths/way-cause.h"
#include "tracefmt/call-delays.h"
#include "tracefmt/message.h"
#include "tracefmt/parent.h"

/* Times lie within this many ns of 1970, the years 1823 to 2116, so that
 * differences never overflow. path_set_add() brings others to the limit. */
#define PATH_TIME_LIMIT (((gint64)1 << 62) - 1)

/* One call of a path instance, or a message, which ends as it comes. Times are ns since the epoch.
 * The four moments are always set; stamps says which of them were observed and which were taken
 * over from the other end of the message. */
typedef struct {
        guint32 parent; /* index into the same array, less than its own; NO_PARENT for the root */
        NodeId caller, callee;
        gint64 start;       /* the caller sends the call    (CALL_SENT, else CALL_RECV) */
        gint64 enter;       /* it enters the callee         (CALL_RECV, else CALL_SENT) */
        gint64 reply;       /* the callee replies           (RET_SENT, else RET_RECV)  */
        gint64 end;         /* the return is at the caller  (RET_RECV, else RET_SENT)  */
        guint8 stamps;      /* 1 << MessageOp of each stamp that the trace had */
        float probability;  /* that parent is right; 1 for a root */
        float family;       /* probability that the children are right and complete */
        guint32 candidates; /* how many parents there were to choose from */
        const char *id;     /* as written, not NUL-terminated; NULL where not kept */
        guint32 id_length;
        guint32 call;   /* the caller's number for it; comes back untouched */
        gint64 own;     /* set by path_set_add(): own time at the callee, ns */
        gint64 network; /* set by path_set_add(): time on the way there and back that counts, ns */
        gint64 queued;  /* set by path_set_add(): time that it lay at its caller, ns */
        guint8 continues; /* WorkContinues; of the root: WORK_GOES_ON where nobody waits for it */
        guint16 label;    /* its operation, a number of path_set_set_labels(); 0: none */
        gint64 connect; /* how long before it its connection was opened, ns; 0: unknown, or not its
                           first call */
        gint64 call_bytes, ret_bytes; /* 0: unknown */
        gint64 own_queued; /* set by path_set_add(): the part of own before a worker took the call,
                              ns */
        gint64 wait;     /* from its entry until one of them took it, ns; 0: at once, or unknown */
        guint32 workers; /* of its callee, with a queue before them; 0: no bound, or not known;
                            from a store: 1 where they are known */
        gint64 connecting; /* set by path_set_add(): the part of network in which its caller waited
                              for the connection, ns */
        const CallDelays *delays;   /* borrowed; NULL: it had none, or from a store */
        gint64 cause[N_WAY_CAUSES]; /* set by path_set_add(), if network is not 0: its parts, ns */
        Outcome outcome;
        guint16 tags;         /* a number of path_set_set_tags(); 0: none */
        gboolean transaction; /* one is open on its connection after its return */
        guint32 connection;   /* its number, from 1; 0: unknown */
} PathCall;

/* A message that nobody answers: it ends when it is sent, and its stay is none. */
static inline gboolean path_call_is_message(const PathCall *call)
{
        return (call->stamps & (1 << MSG_SENT | 1 << MSG_RECV)) != 0;
}

/* Whether it is work of its caller's: nested, or a call that it made after the reply. */
static inline gboolean path_call_has_time(const PathCall *call)
{
        return !work_goes_on(call->continues) ||
               (call->continues == WORK_GOES_ON && !path_call_is_message(call));
}

/* Whether the children of a node are a multiset, or stand in call order. */
typedef enum { SIBLINGS_MULTISET, SIBLINGS_STRICT } SiblingOrder;
