/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/find-call-pairs.h"

#include <string.h>

#include "base/grow.h"
#include "calls/open-calls.h"

enum {
        MAX_CHAIN = 1024,     /* open calls of one key that are looked through */
        HORIZON = 1000000000, /* ns that a call waits for its other stamps */
        LEARNED = 100,        /* calls of an edge tell how long its calls may last, */
        OUTLASTS = 4,         /* times the longest call of the edge */
        MAX_EARLY = 100000,   /* returns that wait for their calls until the end */
};

#define CALL_STAMPS (1 << CALL_SENT | 1 << CALL_RECV)
#define RET_STAMPS  (1 << RET_SENT | 1 << RET_RECV)

typedef struct {
        guint64 words[SHORT_ID / 8];
} ShortId;

struct CallMatcher {
        gint64 window, id_window, horizon, max_call; /* id_window: of calls with an id */
        OpenCalls open;
        EdgeTable edges;
        SettleQueue queue; /* calls that could be complete */
        DoneCall *done;
        guint n_done, done_size;
        GPtrArray *done_ids; /* the long ones of them */
        gboolean long_done;  /* there are such */
        ShortId *kept_ids;   /* of them, where their places may be taken again */
        guint kept_size;
        LoneMessages lone;
        gboolean keep_early; /* see call_matcher_keep_early() */
        guint32 n_early;
        guint64 latest; /* the number of the call that the last message of a call is of */
        MatchCounts counts;
};

CallMatcher *call_matcher_new(gint64 window, gint64 max_call)
{
        CallMatcher *m = g_new0(CallMatcher, 1);

        m->window = m->id_window = window;
        m->horizon = MAX(window, HORIZON);
        m->max_call = max_call;
        open_calls_init(&m->open);
        edge_table_init(&m->edges);
        m->done_ids = g_ptr_array_new_with_free_func(g_free);
        lone_messages_init(&m->lone);
        m->counts.first = m->counts.last = NO_TIME;
        return m;
}

void call_matcher_wait(CallMatcher *m, gint64 window)
{
        m->id_window = MAX(window, m->window);
        m->horizon = MAX(m->horizon, m->id_window);
}

void call_matcher_keep_early(CallMatcher *m, gboolean keep)
{
        m->keep_early = keep;
}

void call_matcher_free(CallMatcher *m)
{
        if (!m)
                return;
        open_calls_clear(&m->open);
        g_free(m->queue.ring);
        edge_table_clear(&m->edges);
        g_free(m->done);
        g_ptr_array_free(m->done_ids, TRUE);
        g_free(m->kept_ids);
        lone_messages_clear(&m->lone);
        g_free(m);
}

/* --- edges ---------------------------------------------------------------- */

static inline Edge *edge_at(const CallMatcher *m, guint32 i)
{
        return edge_table_at(&m->edges, i);
}

static inline guint32 find_edge(CallMatcher *m, guint64 nodes)
{
        return edge_table_find(&m->edges, nodes);
}

/* --- lone messages -------------------------------------------------------- */

static void add_lone(CallMatcher *m, guint32 edge, gint64 time, MessageOp op)
{
        Edge *e = edge_at(m, edge);
        gboolean is_return = op >= RET_SENT;
        gboolean at_caller = op == CALL_SENT || op == RET_RECV;
        LoneMessage lone = { time, e->caller, e->callee, at_caller ? e->caller : e->callee,
                             is_return };

        e->messages++;
        if (is_return) {
                m->counts.lone_returns++;
                e->lone_returns++;
        } else {
                m->counts.lone_calls++;
                e->lone_calls++;
        }
        lone_messages_add(&m->lone, &lone);
}

/* --- the end of a call ---------------------------------------------------- */

G_ALWAYS_INLINE static inline gint64 first_of(const OpenCall *c, guint8 stamps, MessageOp a,
                                              MessageOp b)
{
        return stamps & 1 << a ? c->stamp[a] : c->stamp[b];
}

/* Hands a call out as a pair with the stamps given. */
G_ALWAYS_INLINE static inline DoneCall *put_done(CallMatcher *m, guint32 index, guint8 stamps)
{
        OpenCall *c = &m->open.calls[index];
        DoneCall *d;

        if (G_UNLIKELY(m->n_done == m->done_size))
                GROW(m->done, m->done_size, 16);
        d = &m->done[m->n_done++];
        d->pair.start = first_of(c, stamps, CALL_SENT, CALL_RECV);
        d->pair.enter = first_of(c, stamps, CALL_RECV, CALL_SENT);
        d->pair.reply = first_of(c, stamps, RET_SENT, RET_RECV);
        d->pair.end = first_of(c, stamps, RET_RECV, RET_SENT);
        d->pair.caller = c->nodes >> 32;
        d->pair.callee = (NodeId)c->nodes;
        d->pair.stamps = stamps;
        d->edge = c->edge;
        d->number = d->return_number = c->number;
        d->id_length = c->id_length;
        d->id = (const char *)c->id_words;
        if (G_UNLIKELY(c->long_id != NULL)) {
                d->id = c->long_id;
                g_ptr_array_add(m->done_ids, c->long_id);
                m->long_done = TRUE;
        }
        return d;
}

/* A call with the stamps given goes out of the table as a pair. It stays as it is
 * until the next message. */
G_ALWAYS_INLINE static inline void release_pair(CallMatcher *m, guint32 index, guint8 stamps)
{
        static const guint8 n_stamps[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };
        OpenCall *c = &m->open.calls[index];
        Edge *e = edge_at(m, c->edge);
        DoneCall *d = put_done(m, index, stamps);

        e->pairs++;
        if (G_UNLIKELY(c->one_way)) {
                d->pair.stamps = (guint8)((stamps >> CALL_SENT & 1) << MSG_SENT |
                                          (stamps >> CALL_RECV & 1) << MSG_RECV);
                m->counts.linked++;
                e->messages += n_stamps[stamps] / 2;
        } else {
                m->counts.pairs++;
                e->messages += n_stamps[stamps];
        }
        edge_add_times(e, d->pair.end - d->pair.start, d->pair.reply - d->pair.enter);
        open_calls_free(&m->open, index);
}

static void release_lone(CallMatcher *m, guint32 index)
{
        OpenCall *c = &m->open.calls[index];
        MessageOp op = c->stamps & 1 << CALL_RECV   ? CALL_RECV
                       : c->stamps & 1 << CALL_SENT ? CALL_SENT
                       : c->stamps & 1 << RET_SENT  ? RET_SENT
                                                    : RET_RECV;

        add_lone(m, c->edge, c->stamp[op], op);
        m->n_early -= c->early;
        g_free(c->long_id);
        open_calls_free(&m->open, index);
}

static gboolean is_pair(const OpenCall *c)
{
        return (c->stamps & CALL_STAMPS) && (c->stamps & RET_STAMPS);
}

static void release_call(CallMatcher *m, guint32 index)
{
        OpenCall *c = &m->open.calls[index];

        if (is_pair(c))
                release_pair(m, index, c->stamps);
        else
                release_lone(m, index);
}

/* Takes one call out of its key's chain (slot: the key's) and releases it. If another call of the
 * key is complete, the id of an early return is not unique. */
static inline void take_call_out(CallMatcher *m, guint32 slot, guint32 index)
{
        guint32 head = m->open.keys[slot].call - 1;

        if (G_UNLIKELY(m->open.calls[head].early) && index != head &&
            is_pair(&m->open.calls[index])) {
                open_calls_unlink(&m->open, slot, head);
                release_call(m, head);
        }
        open_calls_unlink(&m->open, slot, index);
        release_call(m, index);
}

/* --- waiting for more stamps ---------------------------------------------- */

static void settle_call(CallMatcher *m, guint32 index, gint64 time)
{
        OpenCall *c = &m->open.calls[index];

        if (c->settling)
                return;
        c->settling = TRUE;
        settle_queue_add(&m->queue, (Settling){ c->number, time, index });
}

/* Gives up on what has waited since before the moment given. */
static void settle_until(CallMatcher *m, gint64 time)
{
        Settling s;

        while (settle_queue_take(&m->queue, time, &s))
                if (m->open.calls[s.call].in_use && m->open.calls[s.call].number == s.number)
                        take_call_out(m, open_calls_slot(&m->open, s.call), s.call);
}

/* The ids of the pairs that are handed out stay, whatever is opened in their places. */
static void keep_ids(CallMatcher *m)
{
        if (m->n_done > m->kept_size) {
                m->kept_size = m->done_size;
                m->kept_ids = g_renew(ShortId, m->kept_ids, m->kept_size);
        }
        for (guint i = 0; i < m->n_done; i++) {
                if (m->done[i].id_length > SHORT_ID)
                        continue;
                memcpy(&m->kept_ids[i], m->done[i].id, sizeof m->kept_ids[i]);
                m->done[i].id = (const char *)&m->kept_ids[i];
        }
}

/* A message came at this time, so calls stop waiting for earlier stamps. It settles them before it
 * is matched itself, so messages on other edges make no difference. */
static void settle_before(CallMatcher *m, gint64 time)
{
        settle_until(m, time - m->horizon);
        if (G_UNLIKELY(m->n_done > 0))
                keep_ids(m);
}

/* --- matching ------------------------------------------------------------- */

/* How long a return may be stamped before its call. */
static inline gint64 window_of(const CallMatcher *m, const Message *message)
{
        return message->id_length > 0 ? m->id_window : m->window;
}

/* Whether this stamp may be the one that c lacks. On each end's clock the return follows the call.
 * Between the two ends only the skew window is known, which matters if an end was seen once. */
static inline gboolean stamp_fits(const OpenCall *c, MessageOp op, gint64 time, gint64 window)
{
        static const struct {
                MessageOp same, cross;
        } other[] = {
                [CALL_SENT] = { RET_RECV, RET_SENT },
                [CALL_RECV] = { RET_SENT, RET_RECV },
                [RET_SENT] = { CALL_RECV, CALL_SENT },
                [RET_RECV] = { CALL_SENT, CALL_RECV },
        };
        MessageOp same = other[op].same, cross = other[op].cross;
        gboolean is_return = op >= RET_SENT;

        if (c->stamps & 1 << op)
                return FALSE;
        if (c->stamps & 1 << same)
                return is_return ? c->stamp[same] <= time : time <= c->stamp[same];
        if (c->stamps == 1 << cross)
                return is_return ? c->stamp[cross] <= time + window
                                 : time <= c->stamp[cross] + window;
        return TRUE;
}

/* Opens a call of a key, whose slot is given. */
G_ALWAYS_INLINE static inline guint32 append_call(CallMatcher *m, guint32 slot, guint32 tag,
                                                  guint64 nodes, guint32 edge,
                                                  const Message *message)
{
        gboolean alone = !m->open.keys[slot].call;
        guint32 index = open_calls_append(&m->open, slot, tag, nodes, edge, message);
        OpenCall *first;

        if (G_LIKELY(alone))
                return index;
        first = &m->open.calls[m->open.keys[slot].call - 1];
        /* Without ids all calls of an edge share a chain: one that could be
         * complete does not wait in the way of too many others. */
        if (first->chain > MAX_CHAIN && is_pair(first))
                take_call_out(m, slot, m->open.keys[slot].call - 1);
        return index;
}

/* Forgets the pairs that were handed out. */
static inline void matcher_begin_message(CallMatcher *m)
{
        m->n_done = 0;
        if (G_UNLIKELY(m->long_done)) {
                m->long_done = FALSE;
                g_ptr_array_set_size(m->done_ids, 0);
        }
}

static gint64 first_stamp(const OpenCall *c)
{
        gint64 first = G_MAXINT64;

        for (guint op = 0; op < G_N_ELEMENTS(c->stamp); op++)
                if (c->stamps & 1 << op)
                        first = MIN(first, c->stamp[op]);
        return first;
}

/* Gives up on calls of the key that have waited too long for a return, or for too long
 * before others. */
static void give_up(CallMatcher *m, guint32 slot, guint32 edge, gint64 time)
{
        while (m->open.keys[slot].call) {
                const OpenCall *head = &m->open.calls[m->open.keys[slot].call - 1];
                guint32 index = head->early ? head->next : m->open.keys[slot].call - 1;
                const OpenCall *c = &m->open.calls[index];
                const Edge *e = edge_at(m, edge);
                gboolean learned = head->chain > 1u + head->early && e->pairs >= LEARNED;
                gint64 waited;

                if (index == NO_CALL)
                        break;
                waited = time - first_stamp(c);
                if (waited <= m->max_call && !(learned && waited / OUTLASTS > e->longest))
                        break;
                if (c->stamps & RET_STAMPS)
                        break;
                take_call_out(m, slot, index);
        }
}

/* The first call of the key that still lacks this stamp. */
static guint32 find_open_call(const CallMatcher *m, guint32 slot, const Edge *edge,
                              const Message *message)
{
        guint32 index = m->open.keys[slot].call - 1;
        gboolean is_call = message_is_call(message);
        gint64 window = window_of(m, message);

        /* A call where no other stamp of calls is known is always a new one. */
        if (is_call && (edge->kinds & CALL_STAMPS) == 1 << message->op && window == 0)
                return NO_CALL;
        for (guint i = 0; index != NO_CALL && i < MAX_CHAIN; i++) {
                if (stamp_fits(&m->open.calls[index], message->op, message->time, window))
                        return index;
                index = m->open.calls[index].next;
        }
        return NO_CALL;
}

/* A return without an open call. TRUE: it is kept until the end. */
static gboolean keep_early(CallMatcher *m, guint32 slot, guint32 tag, guint64 nodes, guint32 edge,
                           const Message *message)
{
        guint32 index;
        OpenCall *c;

        if (!m->keep_early || message->id_length == 0 || m->open.keys[slot].call ||
            m->n_early == MAX_EARLY)
                return FALSE;
        index = append_call(m, slot, tag, nodes, edge, message);
        c = &m->open.calls[index];
        c->early = TRUE;
        c->stamps = 1 << message->op;
        c->stamp[message->op] = message->time;
        m->latest = c->number;
        m->n_early++;
        return TRUE;
}

/* A call or return, whatever stamps its edge has. */
static guint add_any(CallMatcher *m, const Message *message, guint64 nodes, guint32 tag,
                     guint32 slot)
{
        gboolean is_return = message_is_return(message);
        guint32 edge_index = find_edge(m, nodes), found = NO_CALL;
        Edge *edge = edge_at(m, edge_index);
        guint8 bit = 1 << message->op;
        OpenCall *c;
        guint result = 0;

        if (!(edge->kinds & bit)) {
                edge->kinds |= bit;
                edge->kinds_since = message->time;
        }
        if (m->open.keys[slot].call) {
                give_up(m, slot, edge_index, message->time);
                if (!m->open.keys[slot].call) /* the last one's place may be another now */
                        slot = open_calls_find(&m->open, tag, nodes, message);
        }
        if (m->open.keys[slot].call)
                found = find_open_call(m, slot, edge, message);
        if (found == NO_CALL) {
                if (is_return && keep_early(m, slot, tag, nodes, edge_index, message))
                        return MATCH_CLOSED;
                if (is_return && window_of(m, message) == 0) {
                        add_lone(m, edge_index, message->time, message->op);
                        return 0;
                }
                found = append_call(m, slot, tag, nodes, edge_index, message);
                result = is_return ? 0 : MATCH_OPENED;
                if (is_return)
                        settle_call(m, found, message->time);
        } else if (is_return) {
                result = m->open.calls[found].stamps & RET_STAMPS ? MATCH_OTHER_END : MATCH_CLOSED;
        } else if (!is_return && !(m->open.calls[found].stamps & CALL_STAMPS)) {
                m->counts.disorder = TRUE;
        }

        c = &m->open.calls[found];
        m->latest = c->number;
        c->stamps |= bit;
        c->stamp[message->op] = message->time;
        if (is_pair(c)) {
                m->n_early -= c->early;
                c->early = FALSE;
                /* The edge's kinds are sure once they have not grown for a while. */
                if (c->stamps == (CALL_STAMPS | RET_STAMPS) ||
                    (c->stamps == edge->kinds && message->time - edge->kinds_since > m->horizon))
                        take_call_out(m, slot, found);
                else
                        settle_call(m, found, message->time);
        }
        return result;
}

/* A call where no other of its key is open and its edge was seen before: what
 * nearly all calls are. */
G_ALWAYS_INLINE static inline gboolean add_usual_call(CallMatcher *m, const Message *message,
                                                      guint64 nodes, guint32 tag, guint32 slot)
{
        guint32 edge = find_edge(m, nodes);
        guint8 bit = 1 << message->op;
        guint32 index;

        if (G_UNLIKELY(!(edge_at(m, edge)->kinds & bit)))
                return FALSE;
        index = append_call(m, slot, tag, nodes, edge, message);
        m->latest = m->open.calls[index].number;
        m->open.calls[index].stamps = bit;
        m->open.calls[index].stamp[message->op] = message->time;
        return TRUE;
}

/* The return to the one open call of its key, at an edge that has no other stamps. Nearly all
 * returns in a trace from one tap are like that. */
G_ALWAYS_INLINE static inline gboolean add_usual_return(CallMatcher *m, const Message *message,
                                                        guint32 slot)
{
        guint32 index = m->open.keys[slot].call - 1;
        OpenCall *c = &m->open.calls[index];
        Edge *edge = edge_at(m, c->edge);

        if (G_UNLIKELY(c->stamps != 1 << CALL_SENT || c->chain != 1 ||
                       c->stamp[CALL_SENT] > message->time ||
                       message->time - c->stamp[CALL_SENT] > m->max_call ||
                       edge->kinds != (1 << CALL_SENT | 1 << RET_SENT) ||
                       message->time - edge->kinds_since <= m->horizon))
                return FALSE;
        m->latest = c->number;
        c->stamp[RET_SENT] = message->time;
        release_pair(m, index, 1 << CALL_SENT | 1 << RET_SENT);
        open_calls_remove_key(&m->open, slot);
        return TRUE;
}

G_ALWAYS_INLINE static inline guint add_one(CallMatcher *m, const Message *message,
                                            gboolean is_return)
{
        guint64 nodes = is_return ? (guint64)message->receiver << 32 | message->sender
                                  : (guint64)message->sender << 32 | message->receiver;
        guint32 tag = open_calls_tag(&m->open, message->id_words, nodes);
        guint32 slot = open_calls_find(&m->open, tag, nodes, message);
        gboolean is_open = m->open.keys[slot].call != 0;

        if (is_return) {
                if (G_LIKELY(message->op == RET_SENT && is_open) &&
                    add_usual_return(m, message, slot))
                        return MATCH_CLOSED;
        } else if (G_LIKELY(!is_open) && add_usual_call(m, message, nodes, tag, slot)) {
                return MATCH_OPENED;
        }
        return add_any(m, message, nodes, tag, slot);
}

static inline void note_time(CallMatcher *m, const Message *message)
{
        if (G_LIKELY(message->time > m->counts.last)) { /* NO_TIME is less than all */
                if (G_UNLIKELY(m->counts.last == NO_TIME))
                        m->counts.first = message->time;
                m->counts.last = message->time;
        } else if (G_UNLIKELY(message->time < m->counts.last)) {
                m->counts.disorder = TRUE;
        }
}

/* The message of the key that lacks the stamps of this end. */
static guint32 find_other_end(const CallMatcher *m, guint32 slot, guint8 stamps)
{
        guint32 index = m->open.keys[slot].call ? m->open.keys[slot].call - 1 : NO_CALL;

        for (guint i = 0; index != NO_CALL && i < MAX_CHAIN; i++) {
                if (m->open.calls[index].one_way && !(m->open.calls[index].stamps & stamps))
                        return index;
                index = m->open.calls[index].next;
        }
        return NO_CALL;
}

guint call_matcher_add_message(CallMatcher *m, const Message *message)
{
        gboolean sent = message->op == MSG_SENT;
        guint64 nodes = (guint64)message->sender << 32 | message->receiver;
        guint8 stamps = sent ? 1 << CALL_SENT | 1 << RET_RECV : 1 << CALL_RECV | 1 << RET_SENT;
        guint32 tag = open_calls_tag(&m->open, message->id_words, nodes), slot, index;
        OpenCall *c;

        matcher_begin_message(m);
        note_time(m, message);
        settle_before(m, message->time);
        slot = open_calls_find(&m->open, tag, nodes, message);
        index = find_other_end(m, slot, stamps);
        if (index == NO_CALL) {
                index = append_call(m, slot, tag, nodes, find_edge(m, nodes), message);
                m->open.calls[index].one_way = TRUE;
        }
        c = &m->open.calls[index];
        m->latest = c->number;
        c->stamps |= stamps;
        c->stamp[sent ? CALL_SENT : CALL_RECV] = message->time;
        c->stamp[sent ? RET_RECV : RET_SENT] = message->time;
        if (c->stamps == (CALL_STAMPS | RET_STAMPS))
                take_call_out(m, open_calls_slot(&m->open, index), index);
        else
                settle_call(m, index, message->time);
        return MATCH_OPENED | (m->n_done ? MATCH_DONE : 0);
}

guint call_matcher_add(CallMatcher *m, const Message *message)
{
        guint result;

        matcher_begin_message(m);
        note_time(m, message);
        if (G_UNLIKELY(message->op >= MSG_SENT)) {
                guint64 nodes = (guint64)message->sender << 32 | message->receiver;

                m->counts.one_way++;
                edge_at(m, find_edge(m, nodes))->one_way[message->op - MSG_SENT]++;
                return 0;
        }
        if (G_UNLIKELY(m->queue.length > 0))
                settle_before(m, message->time);
        /* Calls and returns follow each other at random, so one branch is mispredicted. It is this
         * one, since the operation is known long before the place in the table. */
        if (message->op >= RET_SENT)
                result = add_one(m, message, TRUE);
        else
                result = add_one(m, message, FALSE);
        return result | (m->n_done ? MATCH_DONE : 0);
}

guint call_matcher_expire(CallMatcher *m, gint64 time, gint64 max_call)
{
        matcher_begin_message(m);
        m->max_call = max_call;
        for (guint32 i = 0; i < m->open.n; i++) {
                const OpenCall *c = &m->open.calls[i];

                if (c->in_use && !(c->stamps & RET_STAMPS) && time - first_stamp(c) > m->max_call)
                        take_call_out(m, open_calls_slot(&m->open, i), i);
        }
        return m->n_done ? MATCH_DONE : 0;
}

void call_matcher_oldest(const CallMatcher *m, gint64 *time, guint64 *number)
{
        *time = G_MAXINT64;
        *number = G_MAXUINT64;
        for (guint32 i = 0; i < m->open.n; i++)
                if (m->open.calls[i].in_use) {
                        *time = MIN(*time, first_stamp(&m->open.calls[i]));
                        *number = MIN(*number, m->open.calls[i].number);
                }
}

void call_matcher_forget_lone(CallMatcher *m, gint64 before)
{
        lone_messages_forget(&m->lone, before);
}

/* An early return and the one call of its key are a pair. Its number is the call's. */
static void join_early(CallMatcher *m, guint32 index)
{
        OpenCall *early = &m->open.calls[index], *c;
        guint64 number = early->number;

        if (early->chain != 2)
                return;
        c = &m->open.calls[early->next];
        if (c->stamps & RET_STAMPS)
                return;
        for (guint op = RET_SENT; op <= RET_RECV; op++)
                c->stamp[op] = early->stamp[op];
        c->stamps |= early->stamps;
        m->counts.disorder = TRUE;
        g_free(early->long_id);
        index = early->next;
        open_calls_free(&m->open, (guint32)(early - m->open.calls));
        release_pair(m, index, c->stamps);
        m->done[m->n_done - 1].return_number = number;
}

/* Whether nobody answers an open call: its edge is seen from one point, and its returns come much
 * sooner. */
static gboolean is_silent(const CallMatcher *m, const OpenCall *c)
{
        const Edge *e = edge_at(m, c->edge);

        return c->in_use && !c->one_way && c->stamps == 1 << CALL_SENT && e->pairs > 0 &&
               e->kinds == (1 << CALL_SENT | 1 << RET_SENT) &&
               (m->counts.last - c->stamp[CALL_SENT]) / OUTLASTS > e->longest;
}

guint call_matcher_take_silent(CallMatcher *m)
{
        matcher_begin_message(m);
        for (guint32 i = 0; i < m->open.n; i++) {
                OpenCall *c = &m->open.calls[i];

                if (!is_silent(m, c))
                        continue;
                add_lone(m, c->edge, c->stamp[CALL_SENT], FALSE);
                c->stamp[RET_SENT] = m->counts.last;
                put_done(m, i, 1 << CALL_SENT | 1 << RET_SENT);
                open_calls_free(&m->open, i);
        }
        return m->n_done ? MATCH_DONE : 0;
}

guint call_matcher_finish(CallMatcher *m)
{
        matcher_begin_message(m);
        for (guint32 i = 0; m->n_early > 0 && i < m->open.n; i++)
                if (m->open.calls[i].in_use && m->open.calls[i].early)
                        join_early(m, i);
        for (guint32 i = 0; i < m->open.n; i++)
                if (m->open.calls[i].in_use)
                        release_call(m, i);
        memset(m->open.keys, 0, (m->open.key_mask + (gsize)1) * sizeof *m->open.keys);
        m->open.keys_used = 0;
        m->queue.length = 0;
        return m->n_done ? MATCH_DONE : 0;
}

static void note_moved(CallMatcher *m, gint64 first, gint64 last)
{
        m->counts.first = m->counts.first == NO_TIME ? first : MIN(m->counts.first, first);
        m->counts.last = MAX(m->counts.last, last);
}

void call_matcher_move(CallMatcher *m, const CallPairs *p, const gint64 *offset)
{
        guint n;
        const LoneMessage *lone;

        lone_messages_move(&m->lone, offset);
        edge_table_clear_times(&m->edges);
        m->counts.first = m->counts.last = NO_TIME;
        m->counts.disorder = TRUE;
        for (guint32 i = 0; i < p->n; i++) {
                Span out = p->at_caller[i], in = p->at_callee[i];

                edge_add_times(edge_at(m, p->edge[i] - 1), out.to - out.from, in.to - in.from);
                note_moved(m, MIN(out.from, in.from), MAX(out.to, in.to));
        }
        lone = lone_messages_list(&m->lone, &n);
        for (guint i = 0; i < n; i++)
                note_moved(m, lone[i].time, lone[i].time);
}

guint64 call_matcher_latest(const CallMatcher *m)
{
        return m->latest;
}

const DoneCall *call_matcher_done(const CallMatcher *m, guint *n)
{
        *n = m->n_done;
        return m->done;
}

const MatchCounts *call_matcher_counts(CallMatcher *m)
{
        m->counts.messages = m->counts.one_way;
        for (guint i = 0; i < m->edges.edges->len; i++)
                m->counts.messages += edge_at(m, i)->messages;
        return &m->counts;
}

const Edge *call_matcher_edges(const CallMatcher *m, guint *n)
{
        *n = m->edges.edges->len;
        return (const Edge *)m->edges.edges->data;
}

const LoneMessage *call_matcher_lone(CallMatcher *m, guint *n)
{
        return lone_messages_list(&m->lone, n);
}
