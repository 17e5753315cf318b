/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/streams.h"
#include "base/hash.h"

#include "capture/links.h"
#include "capture/protocol/header-labels.h"

enum {
        MAX_CONNECTION_STREAMS = 16384,
        FIRST_BUCKETS = 16,
        MAX_HELD_UP = 1024, /* streams, the newest, that are looked at when a connection stalls */
};

/* A call in flight. */
typedef struct Stream Stream;
struct Stream {
        OpenItem item; /* at the call's first byte, until it is written; first, for its owner */
        Stream *chain; /* in its bucket; or the next free one */
        Stream *older, *newer;
        Stream *peer_older, *peer_newer; /* in its group; see Group */
        Pairing *pairing;
        guint64 key, number; /* with which its parts come; of its id */
        Link link;
        Pieces *pieces[2]; /* of the call and of the return; NULL before the first */
        Stamp call_first, call_last, return_first;
        Outcome outcome; /* of the return */
        char *label;
        BodyName *body; /* NULL: it is not looked at */
        RequestIdentifiers *identifiers;
        RequestTags *tags;
        guint64 call_bytes, return_bytes;
        HeldUp held_up[2]; /* of the call and of the return */
        gint64 resent;     /* ns from the call's last byte until bytes were sent again */
        guint32 segments;  /* of a return that has not ended, */
        guint64 bytes;     /* and theirs */
        guint8 side;       /* who called */
        guint8 written, return_begun, one_way, grouped;
        guint8 unsure;    /* a hole may hide its return */
        guint8 body_kind; /* BodyKind of the call's body */
};

/* Calls by one side whose keys are of one group, in the order of these. */
typedef struct {
        guint64 id;
        Stream *oldest, *newest;
} Group;

/* Those of a connection. */
struct StreamTable {
        GHashTable *groups; /* of Group by id; NULL before the first */
        /* The stream whose return has had its first piece in this segment: most end in it, too.
         * NULL: none. */
        Stream *fresh;
        Piece piece;         /* that */
        gboolean piece_ends; /* is complete */
        Stream **buckets;
        guint n_buckets; /* a power of two */
        HashKey hash;    /* the pool's */
        guint n;
        Stream *oldest, *newest;
        HeaderLabels *labels[2];    /* by the side that sends; NULL before the first */
        gboolean without_labels[2]; /* they can be read no more */
};

struct StreamPool {
        Stream *free;
        guint n, most; /* all there are, used or not */
        gsize label_memory;
        HashKey hash; /* no result depends on it: a list keeps the order */
};

StreamPool *stream_pool_new(guint most)
{
        StreamPool *pool = g_new0(StreamPool, 1);
        pool->most = most;
        pool->hash = *hash_key();
        return pool;
}

void stream_pool_free(StreamPool *pool)
{
        for (Stream *s = pool->free, *next; s; s = next) {
                next = s->chain;
                g_free(s);
        }
        g_free(pool);
}

/* --- the table ------------------------------------------------------------- */

static Stream **bucket(const StreamTable *t, guint64 key)
{
        return &t->buckets[hash_keyed_word(&t->hash, t->hash.start, key) & (t->n_buckets - 1)];
}

/* The call of key that side has made. */
static inline Stream *stream_find(const Pairing *p, guint side, guint64 key)
{
        if (!p->streams)
                return NULL;
        Stream *s = p->streams->n ? *bucket(p->streams, key) : NULL;
        while (s && (s->key != key || s->side != side))
                s = s->chain;
        return s;
}

/* The connection's, made where there is none. */
static StreamTable *table(Pairing *p, const CaptureContext *context)
{
        if (!p->streams) {
                p->streams = g_new0(StreamTable, 1);
                p->streams->hash = context->streams->hash;
        }
        return p->streams;
}

static void table_resize(StreamTable *t, guint n_buckets)
{
        g_free(t->buckets);
        t->n_buckets = n_buckets;
        t->buckets = g_new0(Stream *, n_buckets);
        for (Stream *s = t->oldest; s; s = s->newer) {
                Stream **place = bucket(t, s->key);
                s->chain = *place;
                *place = s;
        }
}

/* --- groups ---------------------------------------------------------------- */

/* NULL where there is none, and none is to be made. */
static Group *group_find(StreamTable *t, guint side, guint64 key, gboolean make)
{
        guint64 id = KEY_GROUP(key) << 1 | side;
        Group *group = t->groups ? g_hash_table_lookup(t->groups, &id) : NULL;
        if (group || !make)
                return group;
        if (!t->groups)
                t->groups = g_hash_table_new_full(hash_int64, g_int64_equal, NULL, g_free);
        group = g_new0(Group, 1);
        group->id = id;
        g_hash_table_insert(t->groups, &group->id, group);
        return group;
}

/* After all whose keys are lower: that is the last, but where a peer breaks the rules. */
static void group_add(Stream *s)
{
        Group *group = group_find(s->pairing->streams, s->side, s->key, TRUE);
        s->grouped = TRUE;
        s->peer_older = group->newest;
        *(group->newest ? &group->newest->peer_newer : &group->oldest) = s;
        group->newest = s;
}

static void group_remove(Stream *s)
{
        StreamTable *t = s->pairing->streams;
        Group *group = group_find(t, s->side, s->key, FALSE);
        *(s->peer_older ? &s->peer_older->peer_newer : &group->oldest) = s->peer_newer;
        *(s->peer_newer ? &s->peer_newer->peer_older : &group->newest) = s->peer_older;
        if (!group->oldest)
                g_hash_table_remove(t->groups, &group->id);
}

static void stream_remove(Stream *s, const CaptureContext *context)
{
        StreamTable *t = s->pairing->streams;
        Stream **place = bucket(t, s->key);
        while (*place != s)
                place = &(*place)->chain;
        *place = s->chain;
        *(s->older ? &s->older->newer : &t->oldest) = s->newer;
        *(s->newer ? &s->newer->older : &t->newest) = s->older;
        t->n--;
        if (s->grouped)
                group_remove(s);
        if (t->fresh == s)
                t->fresh = NULL;
        sequencer_close(&s->item);
        pieces_free(s->pieces[0]);
        pieces_free(s->pieces[1]);
        g_free(s->label);
        if (s->body)
                body_name_drop(&s->body, &context->memory->bodies);
        g_free(s->identifiers);
        g_free(s->tags);
        s->chain = context->streams->free;
        context->streams->free = s;
}

/* --- what is written ------------------------------------------------------- */

static void call_write(Stream *s, const CaptureContext *context)
{
        Pairing *p = s->pairing;
        CapturedMessage out = pairing_message(p, s->side, s->one_way ? MSG_SENT : CALL_SENT,
                                              s->call_first, p->port[s->side], s->number);
        if (s->written)
                return;
        out.bytes = s->call_bytes;
        out.link = s->link;
        out.duration = s->call_last.time - s->call_first.time;
        held_up_write(&s->held_up[0], 0, &out);
        s->written = TRUE;
        out.label = g_steal_pointer(&s->label);
        if (!s->one_way || s->link.some)
                out.identifiers = g_steal_pointer(&s->identifiers);
        out.tags = g_steal_pointer(&s->tags);
        if (s->body)
                pairing_take_body(&s->body, &out, context);
        pairing_mark_call(p, s->side, &out, context);
        sequencer_close(&s->item);
        sequencer_add(context->sequencer, &out);
        account_add(context->account, s->one_way ? ACCOUNT_ONE_WAY : ACCOUNT_CALLS);
        p->counts.written += !s->one_way;
}

/* number: of the call. s: NULL where it has no stream. */
static void return_write(const Pairing *p, guint side, guint64 number, guint64 bytes,
                         Outcome outcome, Stamp first, Stamp last, const Stream *s,
                         const CaptureContext *context)
{
        CapturedMessage out = pairing_message(p, side, RET_SENT, last, p->port[!side], number);
        out.bytes = bytes;
        out.outcome = outcome;
        out.duration = MAX(last.time - first.time, 0);
        if (s)
                held_up_write(&s->held_up[1], s->resent, &out);
        sequencer_add(context->sequencer, &out);
        account_add(context->account, ACCOUNT_RETURNS);
}

/* --- pieces ---------------------------------------------------------------- */

static PieceUser piece_user(const Stream *s, guint of_return, const CaptureContext *context)
{
        return (PieceUser){ s->pairing, s->side ^ of_return, context };
}

static void keep_fresh(StreamTable *t, const CaptureContext *context);

static void settle_pieces(Stream *s, const CaptureContext *context)
{
        if (s->pairing->streams->fresh == s)
                keep_fresh(s->pairing->streams, context);
        for (guint i = 0; i < 2; i++) {
                PieceUser user = piece_user(s, i, context);
                if (!s->pieces[i])
                        continue;
                pieces_settle(s->pieces[i], pairing_piece_write, &user);
                s->segments = 0; /* of a return */
                s->bytes = 0;
        }
}

/* Puts the open item at the earliest stamp that the call or its pieces may get. */
static void stream_item_update(Stream *s, const CaptureContext *context)
{
        gint64 time = G_MAXINT64, of_piece;
        if (!s->written)
                time = s->call_first.time;
        for (guint i = 0; i < 2; i++)
                if (pieces_time(s->pieces[i], &of_piece))
                        time = MIN(time, of_piece);
        if (time == G_MAXINT64)
                sequencer_close(&s->item);
        else
                sequencer_open(context->sequencer, &s->item, time);
}

/* The first piece of a return that goes on in another segment. */
static void keep_fresh(StreamTable *t, const CaptureContext *context)
{
        Stream *s = t->fresh;
        PieceUser user = piece_user(s, 1, context);
        t->fresh = NULL;
        s->pieces[1] = pieces_new(FALSE, &context->memory->pieces);
        gboolean room = pieces_begin(s->pieces[1], t->piece.number, t->piece.first);
        if (t->piece_ends)
                room &= pieces_end(s->pieces[1], t->piece.last, pairing_piece_write, &user);
        if (!room)
                settle_pieces(s, context);
        stream_item_update(s, context);
}

/* Of a call that is not written a piece is a part. */
static void piece_begin(Stream *s, guint side, guint32 seq, Stamp first,
                        const CaptureContext *context)
{
        guint of_return = side != s->side;
        Pieces **pieces = &s->pieces[of_return];
        StreamTable *t = s->pairing->streams;
        if (!of_return && !s->written)
                return;
        if (of_return && !*pieces && t->fresh != s) {
                if (t->fresh)
                        keep_fresh(t, context);
                t->fresh = s;
                t->piece = (Piece){ first, first, seq };
                t->piece_ends = FALSE;
                return;
        }
        if (t->fresh == s)
                keep_fresh(t, context);
        if (!*pieces)
                *pieces = pieces_new(!of_return, &context->memory->pieces);
        if (!pieces_begin(*pieces, seq, first))
                settle_pieces(s, context);
        stream_item_update(s, context);
}

static void stream_piece_end(Stream *s, guint side, Stamp last, const CaptureContext *context)
{
        guint of_return = side != s->side;
        PieceUser user = piece_user(s, of_return, context);
        StreamTable *t = s->pairing->streams;
        if (of_return && t->fresh == s) {
                t->piece.last = last;
                t->piece_ends = TRUE;
                return;
        }
        if (!s->pieces[of_return])
                return;
        if (!pieces_end(s->pieces[of_return], last, pairing_piece_write, &user))
                settle_pieces(s, context);
        if (of_return && pieces_are_endless(s->pieces[1])) {
                s->segments = 0;
                s->bytes = 0;
        }
        stream_item_update(s, context);
}

static void stream_answer(Stream *s, Stamp last, const CaptureContext *context)
{
        call_write(s, context);
        return_write(s->pairing, !s->side, s->number, s->return_bytes, s->outcome,
                     s->return_begun ? s->return_first : last, last, s, context);
        stream_remove(s, context);
}

static void stream_forget(Stream *s, const CaptureContext *context)
{
        settle_pieces(s, context);
        call_write(s, context);
        if (s->one_way) {
                stream_remove(s, context);
                return;
        }
        account_add(context->account, ACCOUNT_UNANSWERED);
        if (s->pairing->cut)
                pairing_doubt(s->pairing, context);
        s->pairing->counts.unseen_segments += s->segments;
        s->pairing->counts.unseen_bytes += s->bytes;
        stream_remove(s, context);
}

/* Nobody answers the call any more, since stamp. */
static void stream_give_up(Stream *s, CallEnding how, Stamp stamp, const CaptureContext *context)
{
        const Pairing *p = s->pairing;
        CapturedMessage out =
                pairing_message(p, !s->side, RET_SENT, stamp, p->port[s->side], s->number);
        gboolean known = !s->unsure && !s->one_way && !p->cut;

        stream_forget(s, context);
        out.ending = (guint8)how;
        if (!known)
                return;
        account_add(context->account, ACCOUNT_ENDED);
        sequencer_add(context->sequencer, &out);
}

/* Whether a return that has begun gives no answer if its side ends here: it told of no failure,
 * bytes were not missed, and its caller has not left before. */
static gboolean is_cut_short(const Stream *s)
{
        const Pairing *p = s->pairing;

        return !s->outcome && !s->unsure && !s->one_way && !p->cut && !p->message[s->side].left &&
               !(s->pieces[1] && pieces_are_endless(s->pieces[1]));
}

/* The return is none. */
static void stream_drop_return(Stream *s)
{
        StreamTable *t = s->pairing->streams;

        s->return_begun = FALSE;
        g_clear_pointer(&s->pieces[1], pieces_free);
        if (t->fresh == s)
                t->fresh = NULL;
}

/* A stream that is not in use, or NULL. */
static Stream *stream_take(Pairing *p, const CaptureContext *context)
{
        StreamPool *pool = context->streams;
        StreamTable *t = p->streams;
        if ((t->n >= MAX_CONNECTION_STREAMS || (!pool->free && pool->n >= pool->most)) && t->oldest)
                stream_forget(t->oldest, context);
        Stream *s = pool->free;
        if (s) {
                pool->free = s->chain;
        } else if (pool->n < pool->most) {
                s = g_new(Stream, 1);
                pool->n++;
        }
        return s;
}

static void stream_call_begin(Pairing *p, guint side, MessageKind kind, guint part, guint64 key,
                              guint32 seq, Stamp first, const CaptureContext *context)
{
        StreamTable *t = table(p, context);
        Stream *s = stream_take(p, context);
        if (!s) {
                account_add(context->account, ACCOUNT_UNANSWERED);
                return;
        }
        *s = (Stream){ .item.kind = ITEM_STREAM,
                       .older = t->newest,
                       .pairing = p,
                       .key = key,
                       .number = part & PART_BY_PLACE ? seq : key,
                       .call_first = first,
                       .call_last = first,
                       .held_up[0] = p->message[side].held_up,
                       .side = (guint8)side,
                       .one_way = kind == KIND_ONE_WAY };
        if (context->label && context->label->len > 0)
                s->label = g_strndup(context->label->str, context->label->len);
        if (t->n >= t->n_buckets)
                table_resize(t, t->n_buckets ? 2 * t->n_buckets : FIRST_BUCKETS);
        Stream **place = bucket(t, key);
        s->chain = *place;
        *place = s;
        *(t->newest ? &t->newest->newer : &t->oldest) = s;
        t->newest = s;
        t->n++;
        if (part & PART_BY_PLACE)
                group_add(s);
        sequencer_open(context->sequencer, &s->item, first.time);
}

/* A part after the first has a label. */
static void label_part(Stream *s, guint part, const GString *label)
{
        if (!s->label)
                s->label = g_strndup(label->str, label->len);
        else if (part & PART_NAMES)
                label_go_on(&s->label, label->str);
}

/* --- from outside ---------------------------------------------------------- */

void streams_part_begin(Pairing *p, guint side, MessageKind kind, guint part, guint64 key,
                        guint32 seq, Stamp first, const CaptureContext *context)
{
        Stream *s = stream_find(p, side ^ (kind == KIND_RETURN), key);
        if (kind != KIND_RETURN && !s && (part & PART_BEGINS)) {
                stream_call_begin(p, side, kind, part, key, seq, first, context);
        } else if (kind != KIND_RETURN && (part & PART_BEGINS) && (part & PART_BY_PLACE)) {
                account_add(context->account, ACCOUNT_REPEATED_CALLS); /* its key is in use */
        } else if (kind != KIND_RETURN && s && !s->written && context->label &&
                   context->label->len > 0) {
                label_part(s, part, context->label);
        } else if (kind == KIND_RETURN && s && !s->return_begun && !(part & PART_ABORTS)) {
                s->return_begun = TRUE;
                s->return_first = first;
        }
        if (s && (part & PART_PIECE) && !(part & PART_ENDS))
                piece_begin(s, side, seq, first, context);
}

static void return_part_end(Pairing *p, guint side, guint part, Stream *s, Stamp last,
                            const CaptureContext *context)
{
        guint64 number;
        if (!(part & (PART_ENDS | PART_ABORTS)))
                return;
        if (s && (part & PART_ABORTS) && s->return_begun && is_cut_short(s))
                stream_drop_return(s);
        if (s && (part & PART_ABORTS) && !s->return_begun)
                stream_give_up(s, ENDING_RESET, last, context);
        else if (s)
                stream_answer(s, last, context);
        else if (part & PART_ABORTS)
                return;                               /* what is over */
        else if (pairing_take_call(p, side, &number)) /* it led to this protocol */
                return_write(p, side, number, p->message[side].bytes, p->message[side].outcome,
                             last, last, NULL, context);
        else {
                account_add(context->account, ACCOUNT_RETURN_WITHOUT_CALL);
                if (p->cut)
                        pairing_doubt(p, context);
        }
}

/* All calls of side in the group of key, with keys up to it, are answered, or given up. Whether
 * there are any. */
static gboolean through_end(Pairing *p, guint side, gboolean aborts, guint64 key, Stamp last,
                            const CaptureContext *context)
{
        Group *group = p->streams ? group_find(p->streams, side, key, FALSE) : NULL;
        gboolean any = group && group->oldest->key <= key;
        Stream *next;
        for (Stream *s = any ? group->oldest : NULL; s && s->key <= key; s = next) {
                next = s->peer_newer; /* with the last its group is gone */
                s->outcome = p->message[!side].outcome;
                if (aborts)
                        stream_forget(s, context);
                else
                        stream_answer(s, last, context);
        }
        return any;
}

/* By side, of calls of the other side; where they are given up, of calls of both. */
static void through_part_end(Pairing *p, guint side, gboolean aborts, guint64 key, Stamp last,
                             const CaptureContext *context)
{
        gboolean any = through_end(p, !side, aborts, key, last, context);
        if (aborts)
                through_end(p, side, aborts, key, last, context);
        pairing_account(p, side, any || aborts);
        if (!any && !aborts)
                account_add(context->account, ACCOUNT_RETURN_WITHOUT_CALL);
}

void streams_part_end(Pairing *p, guint side, MessageKind kind, guint part, guint64 key, Stamp last,
                      const CaptureContext *context)
{
        Stream *s = stream_find(p, side ^ (kind == KIND_RETURN), key);
        if (part & PART_THROUGH) {
                through_part_end(p, side, (part & PART_ABORTS) != 0, key, last, context);
        } else if (kind == KIND_RETURN) {
                if (s) {
                        if (p->message[side].outcome)
                                s->outcome = p->message[side].outcome;
                        s->return_bytes += p->message[side].bytes;
                        s->segments += p->loose[side].segments;
                        s->bytes += p->loose[side].bytes;
                        if ((part & PART_PIECE) && !(part & PART_ENDS))
                                stream_piece_end(s, side, last, context);
                } else {
                        pairing_account(p, side, FALSE);
                }
                return_part_end(p, side, part, s, last, context);
        } else if (s && (part & PART_ABORTS)) {
                if (s->return_begun)
                        stream_answer(s, last, context);
                else
                        stream_give_up(s, ENDING_RESET, last, context);
        } else if (s && !s->written) {
                s->call_last = last;
                s->call_bytes += p->message[side].bytes;
                if (part & PART_ENDS)
                        call_write(s, context);
                if (s->one_way && s->written)
                        stream_remove(s, context);
        } else if (s && (part & PART_PIECE) && !(part & PART_ENDS)) {
                stream_piece_end(s, side, last, context);
        }
}

void streams_content(Pairing *p, guint side, guint64 key, const Carried *carried,
                     const CaptureContext *context)
{
        LinkTable *links = context->links;
        NodeId node = p->node[side];
        Stream *s = stream_find(p, side, key);
        if (!s || s->written)
                return;
        if (carried->content_else && side != p->client &&
            !link_table_find(links, carried->content, node).some)
                s->link = link_table_find(links, carried->content_else, node);
        if (s->link.some)
                return;
        if (carried->content_else && side == p->client && !s->one_way) { /* it may be used again */
                s->link = (Link){ (guint32)s->number, p->port[side], .some = TRUE };
                link_table_set(links, carried->content, node, s->link);
        } else {
                s->link = link_table_add(links, carried->content, node, p->port[side],
                                         (guint32)s->number);
        }
        if (carried->content_else && side == p->client)
                link_table_set(links, carried->content_else, node, s->link);
}

void streams_values(Pairing *p, guint side, guint64 key, gboolean whole,
                    const CaptureContext *context)
{
        Stream *s = stream_find(p, side, key);
        if (s && !s->written)
                identifiers_add(context->identifiers, &s->identifiers, s->call_first.time,
                                context->values->str, context->values->len, whole);
}

BodyName *streams_body(Pairing *p, guint side, guint64 key, const CaptureContext *context)
{
        Stream *s = stream_find(p, side, key);

        if (!s || s->written || s->one_way)
                return NULL;
        if (!s->body)
                s->body = pairing_body_new((BodyKind)s->body_kind, s->label, context);
        return s->body;
}

/* FALSE: the fields can be read no more. */
static gboolean fields_read(HeaderLabels *labels, const Parsed *parsed, gboolean of_call,
                            GString *label, GString *values, Outcome *outcome)
{
        const HeaderBlock *b = &parsed->headers;

        return of_call ? header_labels_read(labels, b->bytes, b->n, b->ends, label, values, outcome)
                       : header_labels_read_answer(labels, b->bytes, b->n, b->ends, label, outcome);
}

static HeaderLabels *fields_reader_new(gboolean of_calls, const CaptureContext *context)
{
        HeaderLabels *labels = header_labels_new(&context->streams->label_memory);
        if (labels && of_calls && context->tags)
                header_labels_want_tags(labels, context->tags);
        return labels;
}

void streams_fields(Pairing *p, guint side, const Parsed *parsed, const CaptureContext *context)
{
        StreamTable *t = table(p, context);
        HeaderLabels **labels = &t->labels[side];
        GString *label = context->label, *values = side == p->client ? context->values : NULL;
        if (!*labels && !t->without_labels[side])
                *labels = fields_reader_new(side == p->client, context);
        g_string_truncate(label, 0);
        if (values)
                g_string_truncate(values, 0);
        if (!*labels || !fields_read(*labels, parsed, side == p->client, label, values,
                                     &p->message[side].outcome)) {
                g_clear_pointer(labels, header_labels_free);
                t->without_labels[side] = TRUE;
                return;
        }
        if (side != p->client)
                return;
        Stream *s = stream_find(p, side, parsed->key);
        if (s && !s->written && !s->label && label->len > 0)
                s->label = g_strndup(label->str, label->len);
        if (s && parsed->headers.ends)
                s->body_kind = (guint8)header_labels_body(*labels);
        if (s && values)
                streams_values(p, side, parsed->key, TRUE, context);
        if (s && !s->written && !s->one_way && context->tags)
                request_tags_join(&s->tags, header_labels_take_tags(*labels));
}

void streams_segment_end(Pairing *p, const CaptureContext *context)
{
        if (p->streams && p->streams->fresh)
                keep_fresh(p->streams, context);
}

void streams_hold_up(Pairing *p, guint side, TcpStall stall, gint64 ns)
{
        guint left = MAX_HELD_UP;
        for (Stream *s = p->streams->newest; s && left > 0; s = s->older, left--) {
                if (s->side == side && !s->written)
                        held_up_add(&s->held_up[0], stall, ns);
                else if (s->side != side && s->return_begun)
                        held_up_add(&s->held_up[1], stall, ns);
                else if (s->side == side && !s->return_begun && stall == TCP_RESENT)
                        s->resent = MAX(s->resent + ns, 0);
        }
}

void streams_keep(Pairing *p, guint side, gint64 time, gint64 ns)
{
        guint left = MAX_HELD_UP;
        for (Stream *s = p->streams->newest; s && left > 0; s = s->older, left--)
                if (s->side == side && s->written && !s->return_begun && s->call_last.time == time)
                        s->resent = ns;
}

void streams_side_end(Pairing *p, guint side, gboolean owes, Stamp stamp,
                      const CaptureContext *context)
{
        Stream *next;
        for (Stream *s = p->streams ? p->streams->oldest : NULL; s; s = next) {
                next = s->newer;
                if (s->side == side || !s->return_begun)
                        continue;
                if (owes && is_cut_short(s))
                        stream_drop_return(s); /* streams_give_up() says so */
                else
                        stream_answer(s, stamp, context);
        }
}

void streams_give_up(Pairing *p, guint side, CallEnding how, Stamp stamp,
                     const CaptureContext *context)
{
        Stream *next;
        for (Stream *s = p->streams ? p->streams->oldest : NULL; s; s = next) {
                next = s->newer;
                if (s->side == side && !s->return_begun)
                        stream_give_up(s, how, stamp, context);
        }
}

void streams_doubt_returns(Pairing *p, guint side)
{
        for (Stream *s = p->streams ? p->streams->oldest : NULL; s; s = s->newer)
                s->unsure |= s->side != side;
}

void streams_settle(OpenItem *item, const CaptureContext *context)
{
        Stream *s = (Stream *)item;
        call_write(s, context);
        settle_pieces(s, context);
        sequencer_close(&s->item);
}

void streams_clear(Pairing *p, const CaptureContext *context)
{
        if (!p->streams)
                return;
        while (p->streams->oldest)
                stream_forget(p->streams->oldest, context);
        header_labels_free(p->streams->labels[0]);
        header_labels_free(p->streams->labels[1]);
        g_clear_pointer(&p->streams->groups, g_hash_table_destroy);
        g_free(p->streams->buckets);
        g_clear_pointer(&p->streams, g_free);
}
