/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/crew.h"

/* A task in parts. */
typedef struct {
        CrewPart part;
        gpointer data;
        guint32 n, n_taken, n_done;
        guint n_slots, n_free; /* slots so far, and unused ones */
        guint *free;
} Shared;

struct Crew {
        guint n_threads;
        GMutex lock;
        GCond changed;
        GPtrArray *shared; /* of Shared, oldest first */
};

Crew *crew_new(guint n_threads)
{
        Crew *c = g_new(Crew, 1);

        c->n_threads = MAX(n_threads, 1);
        g_mutex_init(&c->lock);
        g_cond_init(&c->changed);
        c->shared = g_ptr_array_new();
        return c;
}

void crew_free(Crew *c)
{
        if (!c)
                return;
        g_ptr_array_unref(c->shared);
        g_cond_clear(&c->changed);
        g_mutex_clear(&c->lock);
        g_free(c);
}

guint crew_size(const Crew *c)
{
        return c ? c->n_threads : 1;
}

/* --- parts -------------------------------------------------------------------- */

/* Does the next part. Called under the lock, which is released meanwhile. */
static void do_shared_part(Crew *c, Shared *s)
{
        guint32 part = s->n_taken++;
        guint slot = s->n_free > 0 ? s->free[--s->n_free] : s->n_slots++;

        g_mutex_unlock(&c->lock);
        s->part(s->data, part, slot);
        g_mutex_lock(&c->lock);
        s->free[s->n_free++] = slot;
        if (++s->n_done == s->n)
                g_cond_broadcast(&c->changed);
}

/* Does a part of any shared task. FALSE if there is none. Called under the lock. */
static gboolean help_share(Crew *c)
{
        for (guint i = 0; i < c->shared->len; i++) {
                Shared *s = c->shared->pdata[i];

                if (s->n_taken == s->n)
                        continue;
                do_shared_part(c, s);
                return TRUE;
        }
        return FALSE;
}

void crew_share(Crew *c, guint32 n, CrewPart part, gpointer data)
{
        Shared s = { .part = part, .data = data, .n = n };

        if (crew_size(c) == 1 || n < 2) {
                for (guint32 i = 0; i < n; i++)
                        part(data, i, 0);
                return;
        }
        s.free = g_new(guint, c->n_threads);
        g_mutex_lock(&c->lock);
        g_ptr_array_add(c->shared, &s);
        g_cond_broadcast(&c->changed);
        while (s.n_taken < n)
                do_shared_part(c, &s);
        while (s.n_done < n)
                g_cond_wait(&c->changed, &c->lock);
        g_ptr_array_remove(c->shared, &s);
        g_mutex_unlock(&c->lock);
        g_free(s.free);
}

/* --- lists -------------------------------------------------------------------- */

typedef struct {
        Crew *crew;
        const CrewList *list;
        gpointer data;
} Member;

static gpointer run_member(gpointer data)
{
        const Member *m = data;
        Crew *c = m->crew;
        CrewNext next;
        gpointer of;

        g_mutex_lock(&c->lock);
        while ((next = m->list->take(m->data, &of)) != CREW_END) {
                if (next == CREW_WAIT) {
                        if (!help_share(c))
                                g_cond_wait(&c->changed, &c->lock);
                        continue;
                }
                g_mutex_unlock(&c->lock);
                m->list->run(m->data, of);
                g_mutex_lock(&c->lock);
                m->list->done(m->data, of);
                g_cond_broadcast(&c->changed);
        }
        g_mutex_unlock(&c->lock);
        return NULL;
}

void crew_run(Crew *c, const CrewList *list, gpointer data)
{
        g_autofree GThread **threads = g_new(GThread *, c->n_threads);
        Member member = { c, list, data };

        for (guint i = 1; i < c->n_threads; i++)
                threads[i] = g_thread_new("crew", run_member, &member);
        run_member(&member);
        for (guint i = 1; i < c->n_threads; i++)
                g_thread_join(threads[i]);
}
