/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/span-trace.h"

#include <string.h>

#include "base/compare.h"

static Span *span_at(const SpanTrace *t, guint32 i)
{
        return &g_array_index(t->spans, Span, i);
}

static SpanPlace *span_place_at(const SpanTrace *t, guint32 i)
{
        return &g_array_index(t->places, SpanPlace, i);
}

/* --- each span once -------------------------------------------------------------- */

static int compare_texts(const Span *x, const Span *y)
{
        return COMPARE(x->name_length, y->name_length) ?: memcmp(x->name, y->name, x->name_length);
}

/* By id, senders first, then spans with times. The result does not depend on the order of input. */
COMPARISON(compare_spans, Span,
           COMPARE(a->id, b->id) ?:
           COMPARE(span_is_sender(b), span_is_sender(a)) ?:
           COMPARE(span_has_times(b), span_has_times(a)) ?:
           COMPARE(a->start, b->start) ?:
           COMPARE(b->end, a->end) ?:
           COMPARE(a->node, b->node) ?:
           COMPARE(a->kind, b->kind) ?:
           COMPARE(a->parent, b->parent) ?:
           compare_texts(a, b))

/* Whether s is the server of this client: Zipkin gives both the same id. */
static gboolean is_client_and_server(const Span *sender, const Span *s)
{
        return sender->id == s->id && span_is_sender(sender) && !span_is_sender(s) &&
               (s->kind == SPAN_SERVER || s->kind == SPAN_CONSUMER || (s->flags & SPAN_SHARED));
}

static gboolean is_duplicate(const Span *before, const Span *s)
{
        return before->start == s->start && before->end == s->end && before->node == s->node &&
               before->kind == s->kind;
}

static void drop_repeated(SpanTrace *t, SpanCounts *counts)
{
        guint kept = 0;

        g_array_sort(t->spans, compare_spans);
        for (guint i = 0; i < t->spans->len; i++) {
                const Span *s = span_at(t, i), *before = kept ? span_at(t, kept - 1) : NULL;

                if (!before || before->id != s->id || is_client_and_server(before, s))
                        *span_at(t, kept++) = *s;
                else if (is_duplicate(before, s))
                        counts->duplicates++;
                else
                        counts->clashes++;
        }
        g_array_set_size(t->spans, kept);
}

/* --- parents --------------------------------------------------------------------- */

/* The first span with this id, or NO_SPAN. */
static guint32 find_id(const SpanTrace *t, guint64 id)
{
        guint32 low = 0, high = t->spans->len;

        while (low < high) {
                guint32 middle = low + (high - low) / 2;

                if (span_at(t, middle)->id < id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < t->spans->len && span_at(t, low)->id == id ? low : NO_SPAN;
}

/* The parent of a child by its id. If a client and a server share the id, the server is the parent,
 * unless only the client is of the child's node. */
static guint32 find_span_parent(const SpanTrace *t, const Span *child, guint64 id)
{
        guint32 i = find_id(t, id);

        if (i == NO_SPAN || i + 1 == t->spans->len || span_at(t, i + 1)->id != id)
                return i;
        return span_at(t, i + 1)->node != child->node && span_at(t, i)->node == child->node ? i
                                                                                            : i + 1;
}

static void take_parent(SpanTrace *t, guint32 i)
{
        const Span *s = span_at(t, i);
        SpanPlace *place = span_place_at(t, i);

        place->parent = NO_SPAN;
        if (i > 0 && span_at(t, i - 1)->id == s->id)
                place->parent = i - 1;
        else if (s->parent != 0)
                place->parent = find_span_parent(t, s, s->parent);
        else if (s->other != 0 && trace_id_is_same(s->other_trace, s->trace)) {
                place->parent = find_span_parent(t, s, s->other);
                place->follows = place->parent != NO_SPAN;
        }
        t->rootless &= s->parent != 0 || place->parent != NO_SPAN;
        t->lost_parents += s->parent != 0 && place->parent == NO_SPAN;
        t->without += !span_has_times(s);
}

/* Cuts the circle of parents through a span: its earliest span loses its parent. */
static void cut_circle(SpanTrace *t, guint32 from)
{
        guint32 earliest = from;

        for (guint32 i = span_place_at(t, from)->parent; i != from; i = span_place_at(t, i)->parent)
                if (span_at(t, i)->start < span_at(t, earliest)->start)
                        earliest = i;
        span_place_at(t, earliest)->parent = NO_SPAN;
        span_place_at(t, earliest)->follows = FALSE;
        t->circles++;
}

/* Collects a span and its ancestors, up to one that is in order already. Returns their number.
 * *circle is a span of a circle, or NO_SPAN. */
static guint32 follow_chain(const SpanTrace *t, guint32 i, guint8 *seen, guint32 *chain,
                            guint32 *circle)
{
        guint32 length = 0;

        for (; i != NO_SPAN && !seen[i]; i = span_place_at(t, i)->parent) {
                seen[i] = 1;
                chain[length++] = i;
        }
        *circle = i != NO_SPAN && seen[i] == 1 ? i : NO_SPAN;
        return length;
}

/* Orders spans, parents first: from each span a chain of ancestors, which is added from its top. */
static void find_order(SpanTrace *t)
{
        guint32 n = t->spans->len, filled = 0;
        g_autofree guint8 *seen = g_new0(guint8, n + 1); /* 1: in the chain, 2: in order */
        g_autofree guint32 *chain = g_new(guint32, n + 1);

        t->order = g_new(guint32, n + 1);
        for (guint32 i = 0; i < n; i++) {
                guint32 circle, length = follow_chain(t, i, seen, chain, &circle);

                if (circle != NO_SPAN) {
                        cut_circle(t, circle);
                        for (guint32 k = 0; k < length; k++)
                                seen[chain[k]] = 0;
                        length = follow_chain(t, i, seen, chain, &circle);
                }
                while (length > 0) {
                        seen[chain[--length]] = 2;
                        t->order[filled++] = chain[length];
                }
        }
}

/* --- stays ----------------------------------------------------------------------- */

/* Whether a span is a stay. A consumer's span within a stay of its own node is one only if a sender
 * is in between, or nobody waits. */
static gboolean is_stay(const SpanTrace *t, guint32 i)
{
        const Span *s = span_at(t, i);
        const SpanPlace *place = span_place_at(t, i);

        if (place->parent == NO_SPAN)
                return !span_is_sender(s);
        if (span_at(t, place->parent)->node != s->node || s->kind == SPAN_SERVER)
                return TRUE;
        return s->kind == SPAN_CONSUMER && (place->via != NO_SPAN || place->follows);
}

/* Finds the place of a span from that of its parent. */
static void find_span_place(SpanTrace *t, guint32 i)
{
        SpanPlace *place = span_place_at(t, i);
        const Span *s = span_at(t, i);

        place->up = place->via = NO_SPAN;
        if (place->parent != NO_SPAN) {
                const SpanPlace *above = span_place_at(t, place->parent);
                gboolean sends = span_is_sender(span_at(t, place->parent));

                place->up = above->stay ? place->parent : above->up;
                place->via = sends ? place->parent : above->stay ? NO_SPAN : above->via;
                place->follows |= sends && !above->stay && above->follows;
        }
        place->stay = is_stay(t, i);
        if (place->via == NO_SPAN)
                return;
        if (place->stay) {
                span_place_at(t, place->via)->served++;
                span_place_at(t, place->via)->to_consumer |= s->kind == SPAN_CONSUMER;
                span_place_at(t, place->via)->told |= (s->flags & SPAN_INFERRED) != 0;
        } else if (span_is_sender(s)) {
                span_place_at(t, place->via)->outer = TRUE;
        }
}

/* Names the queue of a producer that does not name it, by its consumer. */
static void name_queue(SpanTrace *t, guint32 i)
{
        const SpanPlace *place = span_place_at(t, i);

        if (place->stay && place->via != NO_SPAN && span_at(t, i)->kind == SPAN_CONSUMER &&
            span_at(t, place->via)->peer == NO_NODE)
                span_at(t, place->via)->peer = span_at(t, i)->peer;
}

SpanTrace *span_trace_new(GArray *spans, SpanCounts *counts)
{
        SpanTrace *t = g_new0(SpanTrace, 1);

        t->spans = spans;
        t->places = g_array_new(FALSE, TRUE, sizeof(SpanPlace));
        drop_repeated(t, counts);
        g_array_set_size(t->places, t->spans->len);
        t->rootless = TRUE;
        for (guint32 i = 0; i < t->spans->len; i++)
                take_parent(t, i);
        find_order(t);
        for (guint32 i = 0; i < t->spans->len; i++)
                find_span_place(t, t->order[i]);
        for (guint32 i = 0; i < t->spans->len; i++)
                name_queue(t, i);
        return t;
}

void span_trace_free(SpanTrace *t)
{
        g_array_unref(t->spans);
        g_array_unref(t->places);
        g_free(t->order);
        g_free(t);
}
