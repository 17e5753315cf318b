/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/clients.h"

#include <math.h>

#include "base/compare.h"
#include "tracefmt/parent.h"

/* A closed loop is this much likelier than an open one, in nats. Below it both predict the same. */
#define LEAST_GAIN 10.0

/* Of users that are tried, between the most requests open at one time and twice as many. */
enum {
        USERS_TRIED = 64,
        FEW_REQUESTS = 30 /* of a caller, too few to see by them whether it waits */
};

/* The requests of one caller. */
typedef struct {
        ClientRequest *requests;
        guint32 n;
        gint64 *ends;    /* rising */
        guint32 most;    /* open at one time */
        double *time;    /* by number of open requests, until the last start */
        double *arrived; /* likewise: requests that came */
} Caller;

/* By caller, then as they come. */
static int compare_requests(gconstpointer va, gconstpointer vb, gpointer data)
{
        const ClientRequest *r = data, *a = &r[*(const guint32 *)va], *b = &r[*(const guint32 *)vb];

        return COMPARE(a->group, b->group) ?:
               COMPARE(a->caller, b->caller) ?:
               COMPARE(*(const guint32 *)va, *(const guint32 *)vb);
}

/* An end comes before a start at the same time. */
static void caller_count(Caller *c, gboolean sum)
{
        guint32 ended = 0, open = 0;
        gint64 at = c->requests[0].start;

        for (guint32 i = 0; i < c->n; i++) {
                gint64 start = c->requests[i].start;

                for (; ended < i && c->ends[ended] <= start; ended++) {
                        if (sum && c->ends[ended] > at)
                                c->time[open] += (double)(c->ends[ended] - at);
                        at = MAX(at, c->ends[ended]);
                        open--;
                }
                if (sum) {
                        c->time[open] += (double)(start - at);
                        c->arrived[open] += i > 0;
                }
                at = start;
                open++;
                c->most = MAX(c->most, open);
        }
}

/* How much likelier users who wait are than arrivals at any time, in nats. */
static double caller_gain(const Caller *c, double users)
{
        double all = 0, time = 0, free = 0, gain = 0;

        for (guint32 i = 0; i <= c->most; i++) {
                all += c->arrived[i];
                time += c->time[i];
                free += (users - i) * c->time[i];
                if (c->arrived[i] > 0 && i < users)
                        gain += c->arrived[i] * log(users - i);
        }
        return gain - all * log(MAX(free, 1)) + all * log(MAX(time, 1));
}

static double caller_best_gain(const Caller *c)
{
        double best = -HUGE_VAL;

        for (guint i = 0; i <= USERS_TRIED; i++) {
                double users = c->most + floor((double)c->most * i / USERS_TRIED);

                best = MAX(best, caller_gain(c, users));
        }
        return best;
}

static int compare_ends(gconstpointer va, gconstpointer vb, gpointer data)
{
        const ClientRequest *r = data, *a = &r[*(const guint32 *)va], *b = &r[*(const guint32 *)vb];

        return COMPARE(a->end, b->end) ?: COMPARE(*(const guint32 *)va, *(const guint32 *)vb);
}

/* Links each request to the answer that has been there for longest. */
static void caller_link(Caller *c, const guint32 *index)
{
        g_autofree guint32 *by_end = g_new(guint32, c->n);
        guint32 ended = 0, taken = 0;

        for (guint32 i = 0; i < c->n; i++)
                by_end[i] = i;
        qsort_r(by_end, c->n, sizeof *by_end, compare_ends, (gpointer)c->requests);
        for (guint32 i = 0; i < c->n; i++) {
                while (ended < i && c->requests[by_end[ended]].end <= c->requests[i].start &&
                       by_end[ended] < i)
                        ended++;
                if (taken < ended)
                        c->requests[i].previous = index[by_end[taken++]];
        }
}

/* Whether the time between starts goes with the latency, as where the client waits. A client that
 * asks at even times would look like a closed loop. */
static gboolean caller_follows_answers(const Caller *c, const ClientRequest *all)
{
        double n = 0, x = 0, y = 0, xx = 0, xy = 0;

        for (guint32 i = 0; i < c->n; i++) {
                const ClientRequest *r = &c->requests[i];

                if (r->previous == NO_PARENT)
                        continue;
                const ClientRequest *p = &all[r->previous];
                double latency = (double)(p->end - p->start), apart = (double)(r->start - p->start);

                n++;
                x += latency;
                y += apart;
                xx += latency * latency;
                xy += latency * apart;
        }
        return n > 1 && xy - x * y / n >= 0.5 * (xx - x * x / n);
}

static void caller_init(Caller *c, const ClientRequest *all, const guint32 *index, guint32 n)
{
        *c = (Caller){ .n = n, .requests = g_new(ClientRequest, n), .ends = g_new(gint64, n) };
        for (guint32 i = 0; i < n; i++) {
                c->requests[i] = all[index[i]];
                c->ends[i] = c->requests[i].end;
        }
        qsort(c->ends, n, sizeof *c->ends, compare_int64s);
        caller_count(c, FALSE);
        c->time = g_new0(double, c->most + 1);
        c->arrived = g_new0(double, c->most + 1);
        caller_count(c, TRUE);
}

static void caller_clear(Caller *c)
{
        g_free((gpointer)c->requests);
        g_free(c->ends);
        g_free(c->time);
        g_free(c->arrived);
}

static guint32 caller_size(const ClientRequest *all, const guint32 *index, guint32 n)
{
        guint32 size = 1;

        while (size < n && all[index[size]].group == all[*index].group &&
               all[index[size]].caller == all[*index].caller)
                size++;
        return size;
}

/* The gain of one user for each caller, over the callers of a group that have one at most. */
static double group_gain(const ClientRequest *all, const guint32 *index, guint32 n)
{
        double gain = 0;

        for (guint32 i = 0, size; i < n; i += size) {
                Caller c;

                size = caller_size(all, index + i, n - i);
                caller_init(&c, all, index + i, size);
                if (c.most == 1)
                        gain += caller_gain(&c, 1);
                caller_clear(&c);
        }
        return gain;
}

static void group_link(ClientRequest *all, const guint32 *index, guint32 n)
{
        gboolean single = group_gain(all, index, n) >= LEAST_GAIN;

        for (guint32 i = 0, size; i < n; i += size) {
                Caller c;

                size = caller_size(all, index + i, n - i);
                caller_init(&c, all, index + i, size);
                if ((c.most == 1 && single) || caller_best_gain(&c) >= LEAST_GAIN) {
                        caller_link(&c, index + i);
                        if (caller_follows_answers(&c, all) || (single && size < FEW_REQUESTS))
                                for (guint32 k = 0; k < size; k++)
                                        all[index[i + k]].previous = c.requests[k].previous;
                }
                caller_clear(&c);
        }
}

void client_requests_link(ClientRequest *requests, guint32 n)
{
        g_autofree guint32 *index = g_new(guint32, n + 1); /* never NULL */
        guint32 size;

        for (guint32 i = 0; i < n; i++) {
                index[i] = i;
                requests[i].previous = NO_PARENT;
        }
        qsort_r(index, n, sizeof *index, compare_requests, requests);
        for (guint32 i = 0; i < n; i += size) {
                for (size = 1;
                     i + size < n && requests[index[i + size]].group == requests[index[i]].group;)
                        size++;
                group_link(requests, index + i, size);
        }
}
