/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What [node NAME] says of a node, and how the node serves: it has workers, a queue
 * of those that wait for one, and times at which it stops altogether.
 */
#ifndef RAVEL_SERVER_H
#define RAVEL_SERVER_H

#include "maketrace/delay-law.h"
#include "tracefmt/node-table.h"

typedef enum {
        ORDER_FIFO,   /* who came first is served first */
        ORDER_LIFO,   /* who came last is */
        ORDER_RANDOM, /* any of those that wait */
} QueueOrder;

typedef struct {
        const char *name; /* of the node, as in the configuration; borrowed */
        NodeId node;
        guint workers; /* 0: no bound */
        QueueOrder order;
        gboolean loop;         /* a worker is held for work alone, not while calls are waited for */
        gboolean stalls;       /* it stops now and then */
        DelayLaw stall, every; /* for how long; from the end of one stop to the next */
} ServerLaw;

/* FALSE: no such name. */
gboolean queue_order_lookup(const char *name, QueueOrder *order);

typedef struct Server Server;

/* law and ziggurat are borrowed and outlive the server. Its random numbers are made from the seed
 * and the node's name alone. */
Server *server_new(const ServerLaw *law, guint64 seed, gint64 start, const Ziggurat *ziggurat);

const ServerLaw *server_law(const Server *s);

/* TRUE: who has a worker now. FALSE: it waits for one. */
gboolean server_take(Server *s, gpointer who);

/* A worker has nothing to do any more: whoever has it now, or NULL where nobody waits. */
gpointer server_give_back(Server *s);

/* How many wait for a worker. */
guint server_waiting(const Server *s);

/* When work of delay ns that begins at time is done; with a delay of 0, when the node is next not
 * stopped. now is not after time, and never goes back. */
gint64 server_done(Server *s, gint64 now, gint64 time, gint64 delay);

void server_free(Server *s);

#endif
