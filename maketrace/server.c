/* SPDX-License-Identifier: BSD-2-Clause */
#include "maketrace/server.h"

#include <string.h>

#include "tracefmt/message.h"

/* The number of a node's random stream. The streams of sequences have lower numbers. */
#define NODE_STREAM G_MAXUINT64

typedef struct {
        gint64 begin, end;
} Stall;

struct Server {
        const ServerLaw *law;
        const Ziggurat *ziggurat;
        Random random, stalls_random;
        guint busy;     /* workers with a call */
        GQueue waiting; /* who waits for a worker, the first to come at the head */
        GArray *stalls; /* of Stall, in order: stalls drawn and not over */
        gint64 last;    /* the end of the last stall drawn, ns */
};

static const char *const order_names[] = { "fifo", "lifo", "random" };

gboolean queue_order_lookup(const char *name, QueueOrder *order)
{
        for (guint i = 0; i < G_N_ELEMENTS(order_names); i++)
                if (!strcmp(name, order_names[i])) {
                        *order = i;
                        return TRUE;
                }
        return FALSE;
}

Server *server_new(const ServerLaw *law, guint64 seed, gint64 start, const Ziggurat *ziggurat)
{
        Server *s = g_new0(Server, 1);

        s->law = law;
        s->ziggurat = ziggurat;
        random_init(&s->random, seed, law->name, NODE_STREAM);
        random_init(&s->stalls_random, seed, law->name, NODE_STREAM - 1);
        g_queue_init(&s->waiting);
        s->stalls = g_array_new(FALSE, FALSE, sizeof(Stall));
        s->last = start;
        return s;
}

const ServerLaw *server_law(const Server *s)
{
        return s->law;
}

gboolean server_take(Server *s, gpointer who)
{
        if (s->law->workers == 0 || s->busy < s->law->workers) {
                s->busy++;
                return TRUE;
        }
        g_queue_push_tail(&s->waiting, who);
        return FALSE;
}

gpointer server_give_back(Server *s)
{
        gpointer who = NULL;

        switch (s->law->order) {
        case ORDER_FIFO:
                who = g_queue_pop_head(&s->waiting);
                break;
        case ORDER_LIFO:
                who = g_queue_pop_tail(&s->waiting);
                break;
        case ORDER_RANDOM:
                if (s->waiting.length > 0)
                        who = g_queue_pop_nth(&s->waiting,
                                              random_below(&s->random, s->waiting.length));
                break;
        }
        if (!who)
                s->busy--;
        return who;
}

guint server_waiting(const Server *s)
{
        return s->waiting.length;
}

/* --- stalls ---------------------------------------------------------------- */

static gint64 stall_later(gint64 time, gint64 delay)
{
        return MIN(time + delay, MAX_STAMP + 1);
}

static void draw_stall(Server *s)
{
        Stall stall;

        stall.begin = stall_later(
                s->last, MAX(delay_law_draw(&s->law->every, &s->stalls_random, s->ziggurat), 1));
        stall.end = stall_later(stall.begin,
                                delay_law_draw(&s->law->stall, &s->stalls_random, s->ziggurat));
        s->last = stall.end;
        g_array_append_val(s->stalls, stall);
}

static void forget_stalls(Server *s, gint64 now)
{
        guint over = 0;

        while (over < s->stalls->len && g_array_index(s->stalls, Stall, over).end <= now)
                over++;
        if (over)
                g_array_remove_range(s->stalls, 0, over);
}

gint64 server_done(Server *s, gint64 now, gint64 time, gint64 delay)
{
        if (!s->law->stalls)
                return stall_later(time, delay);
        forget_stalls(s, now);
        for (guint i = 0;; i++) {
                Stall stall;

                if (i == s->stalls->len)
                        draw_stall(s);
                stall = g_array_index(s->stalls, Stall, i);
                if (stall_later(time, delay) <= stall.begin)
                        return stall_later(time, delay);
                if (stall.end <= time)
                        continue;
                delay -= MAX(stall.begin - time, 0);
                time = stall.end;
        }
}

void server_free(Server *s)
{
        if (!s)
                return;
        g_queue_clear(&s->waiting);
        g_array_free(s->stalls, TRUE);
        g_free(s);
}
