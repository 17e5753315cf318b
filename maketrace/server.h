/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A node that serves calls, as [node NAME] says. It has workers, a queue of calls that wait for a
 * worker, and stalls, in which all work stops.
 */
#pragma once

#include "maketrace/delay-law.h"
#include "tracefmt/node-table.h"

typedef enum {
        ORDER_FIFO,   /* the call that came first is served first */
        ORDER_LIFO,   /* the call that came last is served first */
        ORDER_RANDOM, /* any waiting call is served next */
} QueueOrder;

typedef struct {
        const char *name; /* of the node, as in the configuration; borrowed */
        NodeId node;
        guint workers; /* 0: no bound */
        QueueOrder order;
        gboolean loop;         /* an event loop: a worker is free while its call waits for others
                                  (holds=work) */
        gboolean stalls;       /* the node has stalls */
        DelayLaw stall, every; /* the length of a stall; from the end of one to the next */
} ServerLaw;

/* Looks up "fifo", "lifo" or "random". FALSE if name is none of these. */
gboolean queue_order_lookup(const char *name, QueueOrder *order);

typedef struct Server Server;

/* law and ziggurat are borrowed and must outlive the server. Its random numbers depend on the seed
 * and the node's name alone. */
Server *server_new(const ServerLaw *law, guint64 seed, gint64 start, const Ziggurat *ziggurat);

const ServerLaw *server_law(const Server *s);

/* Asks for a worker. TRUE if who has one now, FALSE if it waits for one. */
gboolean server_take(Server *s, gpointer who);

/* Gives back a worker. Returns the next to have it, or NULL if nobody waits. */
gpointer server_give_back(Server *s);

guint server_waiting(const Server *s);

/* When work of delay ns that begins at time is done, stalls included. With a delay of 0: when the
 * node is next out of a stall. now is not after time, and never goes back. */
gint64 server_done(Server *s, gint64 now, gint64 time, gint64 delay);

void server_free(Server *s);
