/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/quic/quic-streams.h"

#include "base/hash.h"

enum {
        MAX_STREAMS = 16384, /* that are open */
        MAX_DONE = 16384,    /* that ended before others that had begun before them */
};

typedef struct {
        guint64 id;
        QuicBytes bytes[2];
        Http3Half half[2];
        guint8 done; /* a bit a side */
} QuicStream;

struct QuicStreams {
        Http3 *http;
        guint client;
        gsize *n_held;
        GHashTable *streams; /* QuicStream by id */
        guint64 done_below;  /* of request streams: all of lower id are over */
        GHashTable *done;    /* and these */
};

static void quic_stream_free(QuicStreams *t, QuicStream *s)
{
        for (guint side = 0; side < 2; side++) {
                quic_bytes_clear(&s->bytes[side], t->n_held);
                http3_half_clear(t->http, &s->half[side]);
        }
        g_free(s);
}

/* A request stream is over: bytes that are sent again are ignored. */
static void stream_finish(QuicStreams *t, QuicStream *s)
{
        guint64 id = s->id;
        g_hash_table_remove(t->streams, &s->id);
        quic_stream_free(t, s);
        g_hash_table_add(t->done, g_memdup2(&id, sizeof id));
        if (g_hash_table_size(t->done) > MAX_DONE)
                t->done_below = MAX(t->done_below, id);
        while (g_hash_table_remove(t->done, &t->done_below))
                t->done_below += 4;
        if (g_hash_table_size(t->done) > MAX_DONE)
                g_hash_table_remove_all(t->done);
}

static QuicStream *stream_lookup(QuicStreams *t, guint64 id)
{
        QuicStream *s = g_hash_table_lookup(t->streams, &id);
        gboolean request = (id & 3) == 0;
        if (s)
                return s;
        if ((request && (id < t->done_below || g_hash_table_contains(t->done, &id))) ||
            id > HTTP3_MAX_REQUEST || g_hash_table_size(t->streams) >= MAX_STREAMS)
                return NULL;
        s = g_new0(QuicStream, 1);
        s->id = id;
        s->bytes[0].end = s->bytes[1].end = QUIC_NO_END;
        g_hash_table_insert(t->streams, &s->id, s);
        return s;
}

/* The direction of side is over. FALSE: the stream was freed. */
static gboolean stream_side_done(QuicStreams *t, QuicStream *s, guint side)
{
        s->done |= (guint8)(1 << side);
        quic_bytes_clear(&s->bytes[side], t->n_held);
        if (s->done != 3 || s->id & 3)
                return TRUE;
        stream_finish(t, s);
        return FALSE;
}

/* Gives the bytes in order to HTTP/3. No byte has an earlier stamp than least. FALSE: the stream
 * was freed. */
static gboolean stream_deliver(QuicStreams *t, QuicStream *s, guint side, Stamp least,
                               const Http3Sink *sink)
{
        QuicBytes *b = &s->bytes[side];
        QuicRun run;
        Stamp last = least;
        while (quic_bytes_next(b, &run)) {
                if (stamp_before(run.stamp, least))
                        run.stamp = least;
                last = run.stamp;
                gsize used = http3_add(t->http, side, s->id, &s->half[side], &run, sink);
                if (used > 0)
                        quic_bytes_take(b, used, t->n_held);
                if (used < run.n)
                        return TRUE;
        }
        if (b->next < b->end || s->done & 1 << side)
                return TRUE;
        http3_end(t->http, side, s->id, &s->half[side], last, sink);
        return stream_side_done(t, s, side);
}

static int ids_compare(gconstpointer a, gconstpointer b)
{
        const guint64 *x = a, *y = b;
        return *x < *y ? -1 : *x > *y;
}

/* The ids of all streams, in order, so that the same comes out every time. */
static GArray *stream_ids(const QuicStreams *t)
{
        GArray *ids = g_array_new(FALSE, FALSE, sizeof(guint64));
        GHashTableIter i;
        gpointer key;
        g_hash_table_iter_init(&i, t->streams);
        while (g_hash_table_iter_next(&i, &key, NULL))
                g_array_append_vals(ids, key, 1);
        g_array_sort(ids, ids_compare);
        return ids;
}

/* Streams that waited for what another stream says. */
void quic_streams_go_on(QuicStreams *t, Stamp stamp, const Http3Sink *sink)
{
        while (http3_goes_on(t->http)) {
                g_autoptr(GArray) ids = stream_ids(t);
                for (guint i = 0; i < ids->len; i++)
                        for (guint side = 0; side < 2; side++) {
                                QuicStream *s = g_hash_table_lookup(
                                        t->streams, &g_array_index(ids, guint64, i));
                                if (s && s->bytes[side].held)
                                        stream_deliver(t, s, side, stamp, sink);
                        }
        }
}

void quic_streams_add(QuicStreams *t, guint side, guint64 id, guint64 offset, const guint8 *bytes,
                      gsize n, gboolean last, Stamp stamp, const Http3Sink *sink)
{
        QuicStream *s = stream_lookup(t, id);
        if (!s || s->done & 1 << side || offset + n < offset)
                return;
        QuicBytes *b = &s->bytes[side];
        if (last)
                b->end = offset + n;
        if (n > 0 && !b->held && offset <= b->next && offset + n >= b->next) {
                gsize old = (gsize)(b->next - offset);
                QuicRun run = { bytes + old, n - old, stamp };
                gsize used =
                        run.n == 0 ? 0 : http3_add(t->http, side, id, &s->half[side], &run, sink);
                b->next += used;
                offset += old + used;
                bytes += old + used;
                n -= old + used;
        }
        quic_bytes_add(b, offset, bytes, n, stamp, t->n_held);
        stream_deliver(t, s, side, stamp, sink);
}

/* Side sends no more on a stream, or wants nothing more. */
void quic_streams_abort(QuicStreams *t, guint side, guint64 id, guint64 error, gboolean stops,
                        Stamp stamp, const Http3Sink *sink)
{
        enum { NO_ERROR = 0x100 };
        QuicStream *s;
        if (id & 3 || (stops && (side != t->client || error == NO_ERROR)) ||
            !(s = stream_lookup(t, id)))
                return;
        if (!(s->done & 1 << side) || stops)
                http3_abort(t->http, side, id, &s->half[stops ? !side : side], error, stamp, sink);
        stream_side_done(t, s, stops ? !side : side);
}

/* The first gaps of all streams are given up: nobody has seen their bytes. Whether any was. */
static gboolean gaps_give_up(QuicStreams *t, const Http3Sink *sink)
{
        g_autoptr(GArray) ids = stream_ids(t);
        gboolean any = FALSE;
        for (guint i = 0; i < ids->len; i++)
                for (guint side = 0; side < 2; side++) {
                        QuicStream *s =
                                g_hash_table_lookup(t->streams, &g_array_index(ids, guint64, i));
                        guint64 gap = s ? quic_bytes_gap(&s->bytes[side]) : 0;
                        QuicRun run = { NULL, (gsize)gap, { 0, 0 } }, next;
                        if (gap == 0)
                                continue;
                        any = TRUE;
                        s->bytes[side].next += gap;
                        if (quic_bytes_next(&s->bytes[side], &next))
                                run.stamp = next.stamp;
                        http3_add(t->http, side, s->id, &s->half[side], &run, sink);
                        stream_deliver(t, s, side, (Stamp){ 0, 0 }, sink);
                }
        return any;
}

void quic_streams_give_up(QuicStreams *t, const Http3Sink *sink)
{
        gint64 since;
        do {
                while (gaps_give_up(t, sink)) {
                }
                quic_streams_go_on(t, (Stamp){ 0, 0 }, sink);
        } while (gaps_give_up(t, sink));
        if (!quic_streams_wait_since(t, &since))
                return;
        http3_give_up(t->http);
        quic_streams_go_on(t, (Stamp){ 0, 0 }, sink);
        while (gaps_give_up(t, sink)) { /* nothing waits for another stream any more */
        }
}

/* --- all of them ----------------------------------------------------------- */

QuicStreams *quic_streams_new(guint client, gsize *n_held, gsize *held, gsize most)
{
        QuicStreams *t = g_new0(QuicStreams, 1);
        t->client = client;
        t->n_held = n_held;
        t->http = http3_new(client, held, most);
        t->streams = g_hash_table_new(hash_int64, g_int64_equal);
        t->done = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL);
        return t;
}

void quic_streams_free(QuicStreams *t)
{
        GHashTableIter i;
        gpointer stream;
        if (!t)
                return;
        g_hash_table_iter_init(&i, t->streams);
        while (g_hash_table_iter_next(&i, NULL, &stream))
                quic_stream_free(t, stream);
        g_hash_table_unref(t->streams);
        g_hash_table_unref(t->done);
        http3_free(t->http);
        g_free(t);
}

gboolean quic_streams_wait_since(const QuicStreams *t, gint64 *time)
{
        GHashTableIter i;
        gpointer value;
        gint64 since;
        *time = G_MAXINT64;
        g_hash_table_iter_init(&i, t->streams);
        while (g_hash_table_iter_next(&i, NULL, &value)) {
                const QuicStream *s = value;
                for (guint side = 0; side < 2; side++)
                        if (quic_bytes_waits_since(&s->bytes[side], &since))
                                *time = MIN(*time, since);
        }
        return *time != G_MAXINT64;
}

gboolean quic_streams_are_other(const QuicStreams *t)
{
        return http3_is_other(t->http);
}
