/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which other requests were in a node when a call came to it.
 */
#include "analysis/why/why-model.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/each.h"

typedef struct {
        NodeId node;
        gint64 time; /* ns */
        guint32 moment;
        guint32 last; /* 1 + the request that was counted last; 0: none */
} Arrival;

COMPARISON(compare_arrivals, Arrival,
           COMPARE(a->node, b->node) ?: COMPARE(a->time, b->time)
                                     ?: COMPARE(a->moment, b->moment))

/* The first one at a node that is not before time. */
static guint find_arrival(const GArray *arrivals, NodeId node, gint64 time)
{
        guint low = 0, high = arrivals->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;
                const Arrival *a = &g_array_index(arrivals, Arrival, middle);

                if (a->node < node || (a->node == node && a->time < time))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static gint64 beside_length(const WhyBeside *b)
{
        return b->reply - b->enter;
}

/* In place of the shortest one, where there are WHY_BESIDE. */
static void add_beside(WhyMoment *m, const WhyBeside *b)
{
        guint at = m->n;

        m->others++;
        if (m->n < WHY_BESIDE) {
                m->n++;
        } else {
                at = 0;
                for (guint i = 1; i < m->n; i++)
                        if (beside_length(&m->beside[i]) < beside_length(&m->beside[at]))
                                at = i;
                if (beside_length(b) <= beside_length(&m->beside[at]))
                        return;
        }
        m->beside[at] = *b;
}

static void add_call(const Why *w, guint32 request, const Call *c, GArray *arrivals,
                     GArray *moments)
{
        for (guint i = find_arrival(arrivals, c->node, c->enter); i < arrivals->len; i++) {
                Arrival *a = &g_array_index(arrivals, Arrival, i);
                WhyMoment *m = &g_array_index(moments, WhyMoment, a->moment);
                WhyBeside beside = { .request = (guint64)request + 1,
                                     .label = store_reader_label(w->reader, c->label),
                                     .enter = c->enter,
                                     .reply = c->reply };

                if (a->node != c->node || a->time >= c->reply)
                        return;
                if (m->request == beside.request || a->last == request + 1)
                        continue;
                a->last = request + 1;
                add_beside(m, &beside);
        }
}

COMPARISON(compare_beside, WhyBeside,
           COMPARE(a->enter, b->enter) ?: COMPARE(a->request, b->request))

void why_find_beside(const Why *w, GArray *moments)
{
        g_autoptr(GArray) arrivals = g_array_new(FALSE, FALSE, sizeof(Arrival));

        for (guint32 i = 0; i < moments->len; i++) {
                const WhyMoment *m = &g_array_index(moments, WhyMoment, i);
                const Request *r = why_request_at(w, (guint32)m->request - 1);
                const Call *c = why_call_at(w, r->first + m->call);
                Arrival a = { c->node, c->enter, i, 0 };

                g_array_append_val(arrivals, a);
        }
        g_array_sort(arrivals, compare_arrivals);
        for (guint32 i = 0; i < w->requests->len; i++)
                for (guint32 k = 0; k < why_request_at(w, i)->n; k++)
                        add_call(w, i, why_call_at(w, why_request_at(w, i)->first + k), arrivals,
                                 moments);
        EACH (WhyMoment, m, moments)
                qsort(m->beside, m->n, sizeof *m->beside, compare_beside);
}
