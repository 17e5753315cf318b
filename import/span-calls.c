/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/span-calls.h"

/* Calls above one another; what is deeper begins anew. Positions are as long as they are deep. */
enum { DEEPEST = 250 };

typedef struct {
        SpanTrace *trace;
        const SpanNames *names;
        TraceCounts *counts;
        GArray *calls;    /* of SpanCall */
        guint32 *of_stay; /* by span: the call into it; NO_SPAN: none */
        guint32 *of_sent; /* by span: the call that a client's or producer's makes */
        gboolean incomplete;
} Finder;

static const SpanCall *call_at(const Finder *f, guint32 i)
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

gboolean span_call_is_message(const SpanCall *c)
{
        return c->stamp[MSG_SENT] != NO_TIME || c->stamp[MSG_RECV] != NO_TIME;
}

static SpanCall new_call(guint32 span, NodeId caller, NodeId callee)
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

static guint32 add_call(Finder *f, SpanCall *c)
{
        guint32 at = f->calls->len;

        if (c->parent != NO_SPAN && call_at(f, c->parent)->depth + 1 == DEEPEST) {
                f->counts->deep++;
                f->incomplete = TRUE;
                c->parent = NO_SPAN;
        }
        if (span_call_is_message(c) && c->link == NO_SPAN && !c->elsewhere)
                c->link = at;
        c->depth = c->parent == NO_SPAN ? 0 : call_at(f, c->parent)->depth + 1;
        c->root = c->parent == NO_SPAN ? at : call_at(f, c->parent)->root;
        g_array_append_val(f->calls, *c);
        return at;
}

/* --- what is above --------------------------------------------------------------- */

/* It continues this call: the id of the first is the link of all. */
static void continue_call(Finder *f, SpanCall *c, guint32 before)
{
        SpanCall *b = &g_array_index(f->calls, SpanCall, before);

        if (b->link == NO_SPAN && !b->elsewhere)
                b->link = before;
        c->link = b->link;
}

/* Where nothing is above it, who calls is what the span says. */
static NodeId root_caller(const Finder *f, const Span *s)
{
        if (s->client != NO_NODE)
                return s->client;
        if (s->kind != SPAN_SERVER && s->kind != SPAN_CONSUMER)
                return f->names->client;
        return s->peer != NO_NODE ? s->peer : f->names->client;
}

/* A consumer that nothing is above: its message may be one of another trace. */
static void take_elsewhere(Finder *f, SpanCall *c, const Span *s)
{
        if (s->other == 0)
                return;
        c->elsewhere = s->kind == SPAN_CONSUMER && s->peer != NO_NODE;
        f->counts->elsewhere += !c->elsewhere;
}

/* Nothing comes before what made it. What ravel exported has the clocks of a capture, which are not
 * those of its spans. */
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

        if (sent != NO_SPAN) { /* out of a queue */
                c->parent = sent;
                c->caller = call_at(f, sent)->callee;
                if (s->start != NO_TIME && s->start < span_call_start(call_at(f, sent)))
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

/* What was seen in one place has the same times at both ends. */
static gboolean is_of_one_tap(const Span *sender, const Span *stay)
{
        return sender->start == stay->start && sender->end == stay->end;
}

/* A call that ravel inferred, with the times that its caller saw; a tap's, where these were all. Of
 * a message only the sending and the arrival are known. */
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

/* FALSE: there are none. */
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

/* Whether it lies within the stay that it was made in. */
static void check_nesting(Finder *f, const SpanCall *c)
{
        const SpanCall *above = c->parent == NO_SPAN ? NULL : call_at(f, c->parent);
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
        SpanCall c = new_call(i, NO_NODE, s->node);

        take_caller(f, &c, i);
        if (!stamp_stay(f, &c, i))
                return;
        f->counts->calls += !span_call_is_message(&c);
        f->counts->messages += span_call_is_message(&c);
        f->counts->follows += p->follows;
        check_nesting(f, &c);
        f->of_stay[i] = add_call(f, &c);
}

/* What a client's or producer's span calls that is no stay of these. */
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
        SpanCall c = new_call(i, s->node, s->peer);

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
        f->of_sent[i] = add_call(f, &c);
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
