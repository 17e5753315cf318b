/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/span-trace.h"

#include <string.h>

#include "base/compare.h"

static Span *span_at(const SpanTrace *t, guint32 i)
{
        return &g_array_index(t->spans, Span, i);
}

static SpanPlace *place_at(const SpanTrace *t, guint32 i)
{
        return &g_array_index(t->places, SpanPlace, i);
}

/* --- each span once -------------------------------------------------------------- */

static int compare_texts(const Span *x, const Span *y)
{
        if (x->name_length != y->name_length)
                return COMPARE(x->name_length, y->name_length);
        return memcmp(x->name, y->name, x->name_length);
}

/* By id, senders first, then those with times; whatever the order they came in. */
static int compare_spans(gconstpointer a, gconstpointer b)
{
        const Span *x = a, *y = b;

        if (x->id != y->id)
                return COMPARE(x->id, y->id);
        if (span_is_sender(x) != span_is_sender(y))
                return span_is_sender(x) ? -1 : 1;
        if (span_has_times(x) != span_has_times(y))
                return span_has_times(x) ? -1 : 1;
        if (x->start != y->start)
                return COMPARE(x->start, y->start);
        if (x->end != y->end)
                return COMPARE(y->end, x->end);
        if (x->node != y->node)
                return COMPARE(x->node, y->node);
        if (x->kind != y->kind)
                return COMPARE(x->kind, y->kind);
        return x->parent != y->parent ? COMPARE(x->parent, y->parent) : compare_texts(x, y);
}

/* Zipkin's server has the id of its client. */
static gboolean is_pair(const Span *sender, const Span *s)
{
        return sender->id == s->id && span_is_sender(sender) && !span_is_sender(s) &&
               (s->kind == SPAN_SERVER || s->kind == SPAN_CONSUMER || (s->flags & SPAN_SHARED));
}

static gboolean is_again(const Span *before, const Span *s)
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

                if (!before || before->id != s->id || is_pair(before, s))
                        *span_at(t, kept++) = *s;
                else if (is_again(before, s))
                        counts->duplicates++;
                else
                        counts->clashes++;
        }
        g_array_set_size(t->spans, kept);
}

/* --- parents --------------------------------------------------------------------- */

/* The first span with this id; NO_SPAN: none. */
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

/* Of a client and a server with one id, a child is the server's, unless it can only be the
 * client's. */
static guint32 find_parent(const SpanTrace *t, const Span *child, guint64 id)
{
        guint32 i = find_id(t, id);

        if (i == NO_SPAN || i + 1 == t->spans->len || span_at(t, i + 1)->id != id)
                return i;
        return span_at(t, i + 1)->node != child->node && span_at(t, i)->node == child->node ? i
                                                                                            : i + 1;
}

static gboolean is_in(TraceId trace, const Span *s)
{
        return trace.low == s->trace.low &&
               (trace.high == s->trace.high || trace.high == 0 || s->trace.high == 0);
}

static void take_parent(SpanTrace *t, guint32 i)
{
        const Span *s = span_at(t, i);
        SpanPlace *place = place_at(t, i);

        place->parent = NO_SPAN;
        if (i > 0 && span_at(t, i - 1)->id == s->id)
                place->parent = i - 1;
        else if (s->parent != 0)
                place->parent = find_parent(t, s, s->parent);
        else if (s->other != 0 && is_in(s->other_trace, s)) {
                place->parent = find_parent(t, s, s->other);
                place->follows = place->parent != NO_SPAN;
        }
        t->rootless &= s->parent != 0 || place->parent != NO_SPAN;
        t->lost_parents += s->parent != 0 && place->parent == NO_SPAN;
        t->without += !span_has_times(s);
}

/* Spans that are above each other in a circle, from one on: the earliest becomes the top. */
static void cut_circle(SpanTrace *t, guint32 from)
{
        guint32 earliest = from;

        for (guint32 i = place_at(t, from)->parent; i != from; i = place_at(t, i)->parent)
                if (span_at(t, i)->start < span_at(t, earliest)->start)
                        earliest = i;
        place_at(t, earliest)->parent = NO_SPAN;
        place_at(t, earliest)->follows = FALSE;
        t->circles++;
}

/* The span and those above it that are not in order yet, from the top. */
static guint32 follow_chain(const SpanTrace *t, guint32 i, guint8 *seen, guint32 *chain,
                            guint32 *circle)
{
        guint32 length = 0;

        for (; i != NO_SPAN && !seen[i]; i = place_at(t, i)->parent) {
                seen[i] = 1;
                chain[length++] = i;
        }
        *circle = i != NO_SPAN && seen[i] == 1 ? i : NO_SPAN;
        return length;
}

/* Parents first: each chain up to what is in order already. */
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

/* What is received within a stay of a node belongs to it, unless it was sent there. */
static gboolean is_stay(const SpanTrace *t, guint32 i)
{
        const Span *s = span_at(t, i);
        const SpanPlace *place = place_at(t, i);

        if (place->parent == NO_SPAN)
                return !span_is_sender(s);
        if (span_at(t, place->parent)->node != s->node || s->kind == SPAN_SERVER)
                return TRUE;
        return s->kind == SPAN_CONSUMER && (place->via != NO_SPAN || place->follows);
}

/* What its parent is tells what is above it. */
static void find_place(SpanTrace *t, guint32 i)
{
        SpanPlace *place = place_at(t, i);
        const Span *s = span_at(t, i);

        place->up = place->via = NO_SPAN;
        if (place->parent != NO_SPAN) {
                const SpanPlace *above = place_at(t, place->parent);
                gboolean sends = span_is_sender(span_at(t, place->parent));

                place->up = above->stay ? place->parent : above->up;
                place->via = sends ? place->parent : above->stay ? NO_SPAN : above->via;
                place->follows |= sends && !above->stay && above->follows;
        }
        place->stay = is_stay(t, i);
        if (place->via == NO_SPAN)
                return;
        if (place->stay) {
                place_at(t, place->via)->served++;
                place_at(t, place->via)->to_consumer |= s->kind == SPAN_CONSUMER;
                place_at(t, place->via)->told |= (s->flags & SPAN_INFERRED) != 0;
        } else if (span_is_sender(s)) {
                place_at(t, place->via)->outer = TRUE;
        }
}

/* Who sent to a queue may not name it, but who got it from there. */
static void name_queue(SpanTrace *t, guint32 i)
{
        const SpanPlace *place = place_at(t, i);

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
                find_place(t, t->order[i]);
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
