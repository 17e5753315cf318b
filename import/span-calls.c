/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Goes through the spans, parents first, and makes a call of
 *
 * - each stay: it is the callee's side. Its caller is the node of the sender `via`, or else of the
 *   stay `up` (span-trace.h). The call is made during the call of the stay `up`.
 * - each sender without a stay below it: it is the caller's side. The callee is its peer.
 *
 *     A  stay       |---------------------------------|        up
 *     A  client's        |--------------------|                via: CALL_SENT, RET_RECV
 *     B  stay                 |---------|                      the call: CALL_RECV, RET_SENT
 *
 * If spans name the queue between a producer and a consumer, there are two. The first is a message
 * from the producer to the queue. During it the queue calls the consumer.
 */
#include "import/span-calls.h"

/* The most calls above one another; a deeper call starts a new tree. Positions grow with depth. */
enum { DEEPEST = 250 };

typedef struct {
        SpanTrace *trace;
        const SpanNames *names;
        TraceCounts *counts;
        GArray *calls;    /* of SpanCall */
        guint32 *of_stay; /* by span: the call into it; NO_SPAN: none */
        guint32 *of_sent; /* by span: the call of a sender to its peer; NO_SPAN: none */
        gboolean incomplete;
} Finder;

static const SpanCall *found_call(const Finder *f, guint32 i)
{
        return &g_array_index(f->calls, SpanCall, i);
}

gint64 span_call_start(const SpanCall *c)
{
        static const MessageOp order[] = { CALL_SENT, MSG_SENT, CALL_RECV, MSG_RECV };

        for (guint i = 0; i < G_N_ELEMENTS(order); i++)
                if (c->stamp[order[i]] != NO_TIME)
                        return c->stamp[order[i]];
        return NO_TIME;
}

static gboolean is_one_way(const SpanCall *c)
{
        return c->stamp[MSG_SENT] != NO_TIME || c->stamp[MSG_RECV] != NO_TIME;
}

static SpanCall call_of_span(guint32 span, NodeId caller, NodeId callee)
{
        SpanCall c = { .span = span,
                       .parent = NO_SPAN,
                       .link = NO_SPAN,
                       .caller = caller,
                       .callee = callee,
                       .waits = TRUE };

        for (guint i = 0; i < N_MESSAGE_OPS; i++)
                c.stamp[i] = NO_TIME;
        return c;
}

static guint32 add_found_call(Finder *f, SpanCall *c)
{
        guint32 at = f->calls->len;

        if (c->parent != NO_SPAN && found_call(f, c->parent)->depth + 1 == DEEPEST) {
                f->counts->deep++;
                f->incomplete = TRUE;
                c->parent = NO_SPAN;
        }
        if (is_one_way(c) && c->link == NO_SPAN && !c->elsewhere)
                c->link = at;
        c->depth = c->parent == NO_SPAN ? 0 : found_call(f, c->parent)->depth + 1;
        c->root = c->parent == NO_SPAN ? at : found_call(f, c->parent)->root;
        g_array_append_val(f->calls, *c);
        return at;
}

/* --- what is above --------------------------------------------------------------- */

/* Links c to the call `before` that it continues. All that continue one call have the id of the
 * first for their link. */
static void continue_call(Finder *f, SpanCall *c, guint32 before)
{
        SpanCall *b = &g_array_index(f->calls, SpanCall, before);

        if (b->link == NO_SPAN && !b->elsewhere)
                b->link = before;
        c->link = b->link;
}

/* The caller of a stay without a parent, as far as the span names it. */
static NodeId root_caller(const Finder *f, const Span *s)
{
        if (s->client != NO_NODE)
                return s->client;
        if (s->kind != SPAN_SERVER && s->kind != SPAN_CONSUMER)
                return f->names->client;
        return s->peer != NO_NODE ? s->peer : f->names->client;
}

/* Takes the link of a stay without a parent. A consumer's message may come from another trace. */
static void take_elsewhere(Finder *f, SpanCall *c, const Span *s)
{
        if (s->other == 0)
                return;
        c->elsewhere = s->kind == SPAN_CONSUMER && s->peer != NO_NODE;
        f->counts->elsewhere += !c->elsewhere;
}

/* Counts a call that begins before its cause. For a span of ravel export the capture's clock may
 * explain that, not the span's. */
static void count_early(Finder *f, const SpanCall *c)
{
        f->counts->early++;
        f->counts->clocks += !(span_trace_span(f->trace, c->span)->flags & SPAN_INFERRED);
}

static void take_caller(Finder *f, SpanCall *c, guint32 i)
{
        const Span *s = span_trace_span(f->trace, i);
        const SpanPlace *p = span_trace_place(f->trace, i);
        guint32 sent = p->via == NO_SPAN ? NO_SPAN : f->of_sent[p->via];

        if (sent != NO_SPAN) { /* the queue calls the consumer */
                c->parent = sent;
                c->caller = found_call(f, sent)->callee;
                if (s->start != NO_TIME && s->start < span_call_start(found_call(f, sent)))
                        count_early(f, c);
                continue_call(f, c, sent);
                return;
        }
        if (p->up == NO_SPAN && p->via == NO_SPAN) {
                c->caller = root_caller(f, s);
                take_elsewhere(f, c, s);
                return;
        }
        c->caller = span_trace_span(f->trace, p->via != NO_SPAN ? p->via : p->up)->node;
        c->parent = p->up == NO_SPAN ? NO_SPAN : f->of_stay[p->up];
        if (p->follows && c->parent != NO_SPAN)
                continue_call(f, c, c->parent);
}

/* --- stamps ---------------------------------------------------------------------- */

static void stamp_message(SpanCall *c, gint64 sent, gint64 received)
{
        c->stamp[MSG_SENT] = sent;
        c->stamp[MSG_RECV] = received;
        c->waits = FALSE;
}

/* Whether both ends were seen in one place (a tap), and so have the same times. */
static gboolean is_of_one_tap(const Span *sender, const Span *stay)
{
        return sender->start == stay->start && sender->end == stay->end;
}

/* Stamps a call written by ravel export, whose span has the times at the caller, or at the tap if
 * there are no others. A message has only the times of sending and arrival. */
static void stamp_inferred(SpanCall *c, const Span *s)
{
        if (s->kind == SPAN_CONSUMER &&
            (s->start == s->end || (s->enter != NO_TIME && s->reply == NO_TIME))) {
                stamp_message(c, s->start, s->enter);
                return;
        }
        c->stamp[CALL_SENT] = s->start;
        c->stamp[CALL_RECV] = s->enter;
        c->stamp[RET_SENT] = s->reply != NO_TIME ? s->reply : s->end;
        if (s->reply != NO_TIME)
                c->stamp[RET_RECV] = s->end;
}

static void stamp_client(SpanCall *c, const Span *client)
{
        c->stamp[CALL_SENT] = client->start;
        c->stamp[RET_RECV] = client->end;
}

static void check_clocks(Finder *f, const SpanCall *c)
{
        gboolean skewed = c->stamp[CALL_RECV] < c->stamp[CALL_SENT] ||
                          c->stamp[RET_SENT] > c->stamp[RET_RECV];

        f->counts->both_ends++;
        f->counts->skewed += skewed;
        f->counts->clocks += skewed;
}

/* Stamps the call of a stay. FALSE if it has no times. */
static gboolean stamp_stay(Finder *f, SpanCall *c, guint32 i)
{
        const SpanPlace *p = span_trace_place(f->trace, i);
        const Span *s = span_trace_span(f->trace, i);
        const Span *via = p->via == NO_SPAN ? NULL : span_trace_span(f->trace, p->via);
        gboolean queued = via && f->of_sent[p->via] != NO_SPAN;
        gboolean client = via && !queued && via->kind == SPAN_CLIENT && span_has_times(via) &&
                          span_trace_place(f->trace, p->via)->served == 1;

        if (!span_has_times(s)) {
                if (client)
                        stamp_client(c, via);
                return client;
        }
        if ((s->flags & SPAN_INFERRED) && (!via || is_of_one_tap(via, s))) {
                stamp_inferred(c, s);
        } else if (via && !queued && via->kind == SPAN_PRODUCER) {
                stamp_message(c, via->start, s->start);
        } else if (s->start == s->end && (s->kind == SPAN_CONSUMER || p->follows)) {
                stamp_message(c, NO_TIME, s->start);
        } else {
                c->stamp[CALL_RECV] = s->start;
                c->stamp[RET_SENT] = s->end;
                c->waits = !p->follows && s->kind != SPAN_CONSUMER;
                if (client) {
                        stamp_client(c, via);
                        check_clocks(f, c);
                }
        }
        return TRUE;
}

/* --- calls ----------------------------------------------------------------------- */

/* Counts a call that does not lie within the call during which it is made. */
static void check_nesting(Finder *f, const SpanCall *c)
{
        const SpanCall *above = c->parent == NO_SPAN ? NULL : found_call(f, c->parent);
        gint64 enter, reply,
                end = c->stamp[RET_RECV] != NO_TIME ? c->stamp[RET_RECV] : c->stamp[RET_SENT];

        if (!above || !c->waits)
                return;
        enter = above->stamp[CALL_RECV] != NO_TIME ? above->stamp[CALL_RECV]
                                                   : above->stamp[CALL_SENT];
        reply = above->stamp[RET_SENT] != NO_TIME ? above->stamp[RET_SENT] : above->stamp[RET_RECV];
        if (enter == NO_TIME || reply == NO_TIME)
                return;
        if (span_call_start(c) < enter)
                count_early(f, c);
        f->counts->ties += span_call_start(c) == enter;
        f->counts->late += end > reply;
}

static void add_stay(Finder *f, guint32 i)
{
        const Span *s = span_trace_span(f->trace, i);
        const SpanPlace *p = span_trace_place(f->trace, i);
        SpanCall c = call_of_span(i, NO_NODE, s->node);

        take_caller(f, &c, i);
        if (!stamp_stay(f, &c, i))
                return;
        f->counts->calls += !is_one_way(&c);
        f->counts->messages += is_one_way(&c);
        f->counts->follows += p->follows;
        check_nesting(f, &c);
        f->of_stay[i] = add_found_call(f, &c);
}

/* Whether a sender calls a peer that has no stay in the trace. */
static gboolean calls_peer(const Finder *f, guint32 i)
{
        const SpanPlace *p = span_trace_place(f->trace, i);
        const Span *s = span_trace_span(f->trace, i);

        if (!span_has_times(s) || p->told)
                return FALSE;
        if (s->kind == SPAN_PRODUCER || p->to_consumer)
                return s->peer != NO_NODE || p->served == 0;
        return p->served == 0 && !p->outer && !p->stay;
}

static void add_sent(Finder *f, guint32 i)
{
        const SpanPlace *p = span_trace_place(f->trace, i);
        const Span *s = span_trace_span(f->trace, i);
        guint32 stay = p->stay ? i : p->up;
        SpanCall c = call_of_span(i, s->node, s->peer);

        f->counts->retried += s->kind == SPAN_CLIENT && p->served > 1;
        if (!calls_peer(f, i))
                return;
        if (s->peer == NO_NODE) {
                f->counts->unnamed++;
                return;
        }
        c.parent = stay == NO_SPAN ? NO_SPAN : f->of_stay[stay];
        if (s->kind == SPAN_PRODUCER)
                stamp_message(&c, s->start, NO_TIME);
        else
                stamp_client(&c, s);
        if (s->kind == SPAN_PRODUCER || p->to_consumer) {
                c.link = f->calls->len;
                f->counts->messages += s->kind == SPAN_PRODUCER;
        } else if (s->peer < f->names->reported->len && f->names->reported->data[s->peer]) {
                f->counts->lost_servers++;
                f->incomplete = TRUE;
        }
        f->counts->calls += s->kind == SPAN_CLIENT;
        f->counts->peers += s->kind == SPAN_CLIENT;
        check_nesting(f, &c);
        f->of_sent[i] = add_found_call(f, &c);
}

static void count_inside(Finder *f, guint32 i)
{
        const SpanPlace *p = span_trace_place(f->trace, i);

        f->counts->inside += !p->stay && !span_is_sender(span_trace_span(f->trace, i));
}

static void count_trace(Finder *f)
{
        const SpanTrace *t = f->trace;

        f->incomplete |= t->lost_parents || t->without || t->circles;
        f->counts->rootless += t->rootless;
        f->counts->lost_parents += t->lost_parents;
        f->counts->circles += t->circles;
}

GArray *span_calls_find(SpanTrace *trace, const SpanNames *names, TraceCounts *counts,
                        gboolean *incomplete)
{
        guint32 n = trace->spans->len;
        g_autofree guint32 *of_stay = g_new(guint32, n + 1), *of_sent = g_new(guint32, n + 1);
        Finder f = { .trace = trace,
                     .names = names,
                     .counts = counts,
                     .calls = g_array_new(FALSE, FALSE, sizeof(SpanCall)),
                     .of_stay = of_stay,
                     .of_sent = of_sent };

        for (guint32 i = 0; i < n; i++)
                of_stay[i] = of_sent[i] = NO_SPAN;
        for (guint32 k = 0; k < n; k++) {
                guint32 i = trace->order[k];

                if (span_trace_place(trace, i)->stay)
                        add_stay(&f, i);
                if (span_is_sender(span_trace_span(trace, i)))
                        add_sent(&f, i);
                count_inside(&f, i);
        }
        count_trace(&f);
        *incomplete = f.incomplete;
        return f.calls;
}
