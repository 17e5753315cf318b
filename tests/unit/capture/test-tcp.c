/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A conversation is made, cut into segments, and the segments are then reordered,
 * repeated, overlapped and lost as on a bad tap. What comes out must be what was
 * said, in the order in which it was said.
 */
#include <string.h>

#include "capture/network/tcp.h"

/* --- what comes out -------------------------------------------------------- */

typedef struct {
        GByteArray *bytes[2]; /* missing bytes are 0 */
        GString *turns;       /* who was heard to talk: "0101" */
        guint64 missing[2], cut[2];
        guint ends;
        guint32 next[2];
        gboolean next_known[2];
        GString *stalls; /* what held which side up, and for how many ms */
} Heard;

/* One letter for many bytes. */
static void turn_append(GString *turns, guint side)
{
        char letter = (char)('0' + side);
        if (turns->len == 0 || turns->str[turns->len - 1] != letter)
                g_string_append_c(turns, letter);
}

static void hear_seq(Heard *h, guint side, guint32 seq, gsize n)
{
        if (h->next_known[side])
                g_assert_cmpuint(seq, ==, h->next[side]);
        h->next_known[side] = TRUE;
        h->next[side] = seq + (guint32)n;
}

static void hear_nothing(Heard *h, guint side, gsize n)
{
        for (gsize i = 0; i < n; i++)
                g_byte_array_append(h->bytes[side], (const guint8 *)"", 1);
}

static gboolean hear_bytes(gpointer user, guint side, guint32 seq, const guint8 *bytes, gsize n,
                           gsize length, Stamp stamp)
{
        Heard *h = user;
        g_assert_cmpint(stamp.time, >, 0);
        hear_seq(h, side, seq, length);
        turn_append(h->turns, side);
        g_byte_array_append(h->bytes[side], bytes, (guint)n);
        hear_nothing(h, side, length - n);
        h->cut[side] += length - n;
        return TRUE;
}

static void hear_missing(gpointer user, guint side, guint32 seq, gsize n)
{
        Heard *h = user;
        hear_seq(h, side, seq, n);
        hear_nothing(h, side, n);
        h->missing[side] += n;
}

static void hear_end(gpointer user, guint side, Stamp stamp)
{
        Heard *h = user;
        (void)stamp;
        g_assert(!(h->ends & 1u << side));
        h->ends |= 1u << side;
}

static void hear_stall(gpointer user, guint side, TcpStall stall, gint64 ns)
{
        static const char *const names[] = { "hole", "resent", "window", "ack", "pause", "kept" };
        Heard *h = user;
        g_string_append_printf(h->stalls, "%s %u %d ", names[stall], side, (int)(ns / 1000000));
}

static Heard *heard_new(void)
{
        Heard *h = g_new0(Heard, 1);
        h->bytes[0] = g_byte_array_new();
        h->bytes[1] = g_byte_array_new();
        h->turns = g_string_new(NULL);
        h->stalls = g_string_new(NULL);
        return h;
}

static void heard_free(Heard *h)
{
        g_byte_array_free(h->bytes[0], TRUE);
        g_byte_array_free(h->bytes[1], TRUE);
        g_string_free(h->turns, TRUE);
        g_string_free(h->stalls, TRUE);
        g_free(h);
}

/* --- what goes in ---------------------------------------------------------- */

typedef struct {
        guint side;
        TcpSegment segment;
        gint64 time;
        gint64 order; /* to sort by */
} Event;

typedef struct {
        GByteArray *bytes[2];
        GString *turns;
        GArray *events;
        guint32 isn[2];
} Said;

static void say(Said *said, guint side, guint8 flags, guint32 seq, guint32 ack, const guint8 *bytes,
                gsize n)
{
        Event e = { .side = side,
                    .segment = { .seq = seq,
                                 .ack = ack,
                                 .flags = flags,
                                 .payload = bytes,
                                 .captured = n,
                                 .length = n },
                    .time = ((gint64)said->events->len + 1) * 1000000 };
        e.order = e.time;
        g_array_append_val(said->events, e);
}

static Said *said_new(GRand *rand)
{
        Said *s = g_new0(Said, 1);
        s->turns = g_string_new(NULL);
        s->events = g_array_new(FALSE, FALSE, sizeof(Event));
        for (guint side = 0; side < 2; side++) {
                s->isn[side] = g_rand_int(rand);
                s->bytes[side] = g_byte_array_new();
        }
        return s;
}

/* Cuts it into segments; turn t of side is the t-th run of its bytes. */
static void said_cut(Said *s, GRand *rand, const guint *turn_length, guint turns, gboolean start)
{
        guint32 next[2] = { s->isn[0] + 1, s->isn[1] + 1 };
        guint32 at[2] = { 0, 0 };
        if (start) {
                say(s, 0, TCP_SYN, s->isn[0], 0, NULL, 0);
                say(s, 1, TCP_SYN | TCP_ACK, s->isn[1], next[0], NULL, 0);
                say(s, 0, TCP_ACK, next[0], next[1], NULL, 0);
        }
        for (guint t = 0; t < turns; t++) {
                guint side = t % 2;
                for (guint left = turn_length[t]; left > 0;) {
                        guint most = (guint)g_rand_int_range(rand, 1, 1460), n = MIN(left, most);
                        say(s, side, TCP_ACK, next[side], next[!side],
                            s->bytes[side]->data + at[side], n);
                        at[side] += n;
                        next[side] += n;
                        left -= n;
                        if (g_rand_int_range(rand, 0, 3) == 0)
                                say(s, !side, TCP_ACK, next[!side], next[side], NULL, 0);
                }
        }
        say(s, 0, TCP_ACK | TCP_FIN, next[0], next[1], NULL, 0);
        say(s, 1, TCP_ACK | TCP_FIN, next[1], next[0] + 1, NULL, 0);
        say(s, 0, TCP_ACK, next[0] + 1, next[1] + 1, NULL, 0);
}

static void said_free(Said *s)
{
        g_byte_array_free(s->bytes[0], TRUE);
        g_byte_array_free(s->bytes[1], TRUE);
        g_string_free(s->turns, TRUE);
        g_array_free(s->events, TRUE);
        g_free(s);
}

static gint event_compare(gconstpointer a, gconstpointer b)
{
        const Event *x = a, *y = b;
        return x->order < y->order ? -1 : x->order > y->order;
}

static Heard *hear(const Said *said)
{
        Heard *h = heard_new();
        TcpSink sink = { hear_bytes, hear_missing, hear_end, hear_stall, h };
        TcpTotals totals = { 0 };
        TcpConnection c = { 0 };
        for (guint i = 0; i < said->events->len; i++) {
                const Event *e = &g_array_index(said->events, Event, i);
                g_assert(!tcp_is_new(&c, e->side, &e->segment));
                tcp_add(&c, e->side, &e->segment, (Stamp){ e->time, i + 1 }, &sink, &totals);
        }
        tcp_settle(&c, G_MAXINT64, &sink, &totals);
        tcp_clear(&c, &totals);
        g_assert_cmpuint(totals.bytes, ==, 0);
        return h;
}

/* Turns of random bytes, each acknowledging all that came before it. */
static Said *said_random(GRand *rand, guint turns, gboolean start)
{
        Said *s = said_new(rand);
        g_autofree guint *lengths = g_new(guint, turns);
        for (guint t = 0; t < turns; t++) {
                lengths[t] = (guint)g_rand_int_range(rand, 1, 5000);
                g_string_append_c(s->turns, (char)('0' + t % 2));
                for (guint j = 0; j < lengths[t]; j++) {
                        guint8 byte = (guint8)g_rand_int_range(rand, 1, 256);
                        g_byte_array_append(s->bytes[t % 2], &byte, 1);
                }
        }
        said_cut(s, rand, lengths, turns, start);
        return s;
}

static void check_all_heard(const Said *said, const Heard *heard)
{
        for (guint side = 0; side < 2; side++)
                g_assert_cmpmem(heard->bytes[side]->data, heard->bytes[side]->len,
                                said->bytes[side]->data, said->bytes[side]->len);
        g_assert_cmpstr(heard->turns->str, ==, said->turns->str);
        g_assert_cmpuint(heard->ends, ==, 3);
}

/* --- tests ----------------------------------------------------------------- */

static void test_in_order(void)
{
        GRand *rand = g_rand_new_with_seed(1);
        for (guint i = 0; i < 50; i++) {
                Said *said = said_random(rand, 1 + i % 9, i % 2);
                Heard *heard = hear(said);
                check_all_heard(said, heard);
                heard_free(heard);
                said_free(said);
        }
        g_rand_free(rand);
}

/* Segments change places within a few others, and some come again, also cut
 * differently. Nothing is lost, so everything is heard. */
static void test_shuffled(void)
{
        GRand *rand = g_rand_new_with_seed(2);
        for (guint i = 0; i < 300; i++) {
                Said *said = said_random(rand, 1 + i % 9, TRUE);
                guint n = said->events->len;
                for (guint j = 3; j < n; j++) {
                        Event *e = &g_array_index(said->events, Event, j);
                        e->order += g_rand_int_range(rand, 0, 8) * 1000000;
                        if (g_rand_int_range(rand, 0, 4) || e->segment.length < 3)
                                continue;
                        Event again = *e;
                        gsize skip = (gsize)g_rand_int_range(rand, 0, (gint32)again.segment.length);
                        again.segment.seq += (guint32)skip;
                        again.segment.payload += skip;
                        again.segment.length -= skip;
                        again.segment.captured -= skip;
                        again.order += g_rand_int_range(rand, -3, 20) * 1000000;
                        g_array_append_val(said->events, again);
                }
                g_array_sort(said->events, event_compare);
                Heard *heard = hear(said);
                check_all_heard(said, heard);
                heard_free(heard);
                said_free(said);
        }
        g_rand_free(rand);
}

/* Segments are lost to the tap: what is heard is what was said, with holes of
 * just that size in the right places. */
static void test_lost(void)
{
        GRand *rand = g_rand_new_with_seed(3);
        for (guint i = 0; i < 300; i++) {
                Said *said = said_random(rand, 1 + i % 9, TRUE);
                guint64 lost[2] = { 0, 0 };
                g_string_truncate(said->turns, 0);
                for (guint j = 3; j < said->events->len; j++) {
                        const Event *e = &g_array_index(said->events, Event, j);
                        if (e->segment.length == 0)
                                continue;
                        if (g_rand_int_range(rand, 0, 10)) {
                                turn_append(said->turns, e->side);
                                continue;
                        }
                        lost[e->side] += e->segment.length;
                        g_array_remove_index(said->events, j--);
                }
                Heard *heard = hear(said);
                for (guint side = 0; side < 2; side++) {
                        g_assert_cmpuint(heard->missing[side], ==, lost[side]);
                        g_assert_cmpuint(heard->bytes[side]->len, ==, said->bytes[side]->len);
                        for (guint k = 0; k < said->bytes[side]->len; k++)
                                g_assert(heard->bytes[side]->data[k] == 0 ||
                                         heard->bytes[side]->data[k] == said->bytes[side]->data[k]);
                }
                g_assert_cmpstr(heard->turns->str, ==, said->turns->str);
                heard_free(heard);
                said_free(said);
        }
        g_rand_free(rand);
}

/* Packets are cut: every byte is accounted for. */
static void test_cut(void)
{
        GRand *rand = g_rand_new_with_seed(4);
        Said *said = said_random(rand, 6, TRUE);
        guint64 cut[2] = { 0, 0 };
        for (guint j = 0; j < said->events->len; j++) {
                Event *e = &g_array_index(said->events, Event, j);
                gsize captured = MIN(e->segment.captured, 40);
                cut[e->side] += e->segment.length - captured;
                e->segment.captured = captured;
        }
        Heard *heard = hear(said);
        for (guint side = 0; side < 2; side++) {
                g_assert_cmpuint(heard->cut[side], ==, cut[side]);
                g_assert_cmpuint(heard->missing[side], ==, 0);
                g_assert_cmpuint(heard->bytes[side]->len, ==, said->bytes[side]->len);
        }
        heard_free(heard);
        said_free(said);
        g_rand_free(rand);
}

/* Only one direction passes the tap: the other's turns are known from what is
 * acknowledged. */
static void test_one_sided(void)
{
        GRand *rand = g_rand_new_with_seed(5);
        Said *said = said_random(rand, 7, TRUE);
        for (guint j = 0; j < said->events->len; j++)
                if (g_array_index(said->events, Event, j).side == 1)
                        g_array_remove_index(said->events, j--);
        Heard *heard = hear(said);
        g_assert_cmpmem(heard->bytes[0]->data, heard->bytes[0]->len, said->bytes[0]->data,
                        said->bytes[0]->len);
        g_assert_cmpuint(heard->bytes[1]->len, >, 0);
        heard_free(heard);
        said_free(said);
        g_rand_free(rand);
}

static TcpSegment segment_of(guint8 flags, guint32 seq, guint32 ack, const char *text)
{
        gsize n = strlen(text);
        return (TcpSegment){ .flags = flags,
                             .seq = seq,
                             .ack = ack,
                             .payload = (const guint8 *)text,
                             .captured = n,
                             .length = n };
}

static void add(TcpConnection *c, Heard *h, guint side, TcpSegment segment, gint64 time)
{
        TcpSink sink = { hear_bytes, hear_missing, hear_end, hear_stall, h };
        TcpTotals totals = { 0 };
        tcp_add(c, side, &segment, (Stamp){ time, (guint64)time }, &sink, &totals);
}

static void test_keep_alive(void)
{
        TcpConnection c = { 0 };
        Heard *h = heard_new();
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 1);
        add(&c, h, 0, segment_of(TCP_ACK, 102, 500, "X"), 2); /* keep-alive with a byte */
        add(&c, h, 0, segment_of(TCP_ACK, 102, 500, ""), 3);
        add(&c, h, 0, segment_of(TCP_ACK, 103, 500, "two"), 4);
        g_byte_array_append(h->bytes[0], (const guint8 *)"", 1);
        g_assert_cmpstr((const char *)h->bytes[0]->data, ==, "onetwo");
        heard_free(h);
}

/* Bytes are held up by a hole until it is filled, by being sent again before they were
 * acknowledged, and by a window of 0. Copies, keep-alives and acknowledged bytes do not hold
 * anything up. */
static void test_stalls(void)
{
        TcpConnection c = { 0 };
        Heard *h = heard_new();
        TcpSegment shut = segment_of(TCP_ACK, 500, 112, "");
        const gint64 ms = 1000000;
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 10 * ms);
        add(&c, h, 1, segment_of(TCP_ACK, 500, 100, ""), 10 * ms);
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 10 * ms + 900000);
        g_assert_cmpstr(h->stalls->str, ==, ""); /* captured twice */
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 210 * ms);
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 610 * ms);
        g_assert_cmpstr(h->stalls->str, ==, "resent 0 200 resent 0 400 ");
        add(&c, h, 1, segment_of(TCP_ACK, 500, 103, ""), 611 * ms);
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 700 * ms);
        add(&c, h, 0, segment_of(TCP_ACK, 106, 500, "three"), 710 * ms);
        add(&c, h, 0, segment_of(TCP_ACK, 111, 500, "4"), 720 * ms);
        add(&c, h, 0, segment_of(TCP_ACK, 103, 500, "two"), 740 * ms);
        g_assert_cmpstr(h->stalls->str, ==,
                        "resent 0 200 resent 0 400 hole 0 20 kept 0 30 kept 0 20 ");
        shut.shut = TRUE;
        add(&c, h, 1, shut, 750 * ms);
        add(&c, h, 0, segment_of(TCP_ACK, 111, 500, "4"), 760 * ms); /* asks for a window */
        add(&c, h, 1, shut, 761 * ms);
        shut.shut = FALSE;
        add(&c, h, 1, shut, 800 * ms);
        g_assert_cmpstr(h->stalls->str, ==,
                        "resent 0 200 resent 0 400 hole 0 20 kept 0 30 kept 0 20 window 0 50 ");
        g_assert_cmpuint(h->bytes[0]->len, ==, 12);
        heard_free(h);
}

/* The second part of a message waits for the acknowledgement of the first, which is delayed. */
static void test_delayed_ack(void)
{
        static const struct {
                gint64 ack, more; /* us after the first part */
                const char *with; /* what the acknowledgement carries */
                const char *stalls;
        } rows[] = {
                { 40000, 40100, "", "ack 0 40 " },
                { 200000, 200900, "", "ack 0 200 " },
                { 40000, 41100, "", "" },       /* it could have gone on before */
                { 19000, 19100, "", "" },       /* no receiver waits for so little */
                { 251000, 251100, "", "" },     /* nor for so long */
                { 10, 40000, "", "" },          /* it was acknowledged at once */
                { 40000, 40100, "answer", "" }, /* an answer, not an acknowledgement */
        };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                TcpConnection c = { 0 };
                Heard *h = heard_new();
                const gint64 us = 1000;
                add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), us);
                add(&c, h, 1, segment_of(TCP_ACK, 500, 103, rows[i].with), (1 + rows[i].ack) * us);
                add(&c, h, 0, segment_of(TCP_ACK, 103, 500, "two"), (1 + rows[i].more) * us);
                g_assert_cmpstr(h->stalls->str, ==, rows[i].stalls);
                heard_free(h);
        }
}

/* Bytes come so late that only their sender can have kept them. */
static void test_pauses(void)
{
        static const struct {
                const char *first;
                gint64 ack, more; /* us after the first part */
                guint16 reach;    /* us in which the sender acknowledges */
                guint8 flags;     /* of the first part */
                const char *stalls;
        } rows[] = {
                { "one", 10, 30000, 100, TCP_PUSH, "pause 0 30 " },
                { "one", 40000, 30000, 100, TCP_PUSH, "pause 0 30 " }, /* not acknowledged yet */
                { "one", 40000, 300000, 100, TCP_PUSH, "pause 0 300 " },
                { "one", 10, 30000, 100, 0, "" },            /* the sender has more */
                { "one", 10000, 11000, 1000, TCP_PUSH, "" }, /* was sent for the acknowledgement */
                { "one", 10, 30000, 15000, TCP_PUSH, "" },   /* may have been */
                { "one", 10, 90, 10, TCP_PUSH, "" },
                { "on", 10, 19000, 100, TCP_PUSH, "" }, /* the link is slow */
                { "on", 10, 50000, 100, TCP_PUSH, "pause 0 50 " },
        };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                TcpConnection c = { 0 };
                Heard *h = heard_new();
                const gint64 us = 1000, start = 1000000 * us;
                gboolean slow = rows[i].first[2] == '\0'; /* its last byte comes 10 ms later */
                gint64 first = start + slow * 10000 * us;
                guint8 flags = TCP_ACK | rows[i].flags;
                add(&c, h, 1, segment_of(TCP_ACK, 500, 100, "get"), start - 50000 * us);
                add(&c, h, 0, segment_of(TCP_ACK, 100, 503, ""),
                    start - (50000 - rows[i].reach) * us);
                add(&c, h, 0, segment_of(slow ? TCP_ACK : flags, 100, 503, rows[i].first), start);
                if (slow)
                        add(&c, h, 0, segment_of(flags, 102, 503, "e"), first);
                for (guint k = 0; k < 2; k++) /* in the order of time */
                        if (k != (rows[i].ack < rows[i].more))
                                add(&c, h, 1, segment_of(TCP_ACK, 503, 103, ""),
                                    first + rows[i].ack * us);
                        else
                                add(&c, h, 0, segment_of(TCP_ACK, 103, 503, "4"),
                                    first + rows[i].more * us);
                g_assert_cmpstr(h->stalls->str, ==, rows[i].stalls);
                heard_free(h);
        }
}

/* A window opens in a pause. Bytes were sent again in another, needlessly. */
static void test_pauses_and_stalls(void)
{
        TcpConnection c = { 0 };
        Heard *h = heard_new();
        const gint64 ms = 1000000;
        TcpSegment answer = segment_of(TCP_ACK, 500, 106, "");
        add(&c, h, 1, segment_of(TCP_ACK, 499, 100, "?"), 10 * ms);
        add(&c, h, 0, segment_of(TCP_ACK | TCP_PUSH, 100, 500, "one"), 11 * ms);
        answer.shut = TRUE;
        answer.ack = 103;
        add(&c, h, 1, answer, 12 * ms);
        answer.shut = FALSE;
        add(&c, h, 1, answer, 100 * ms);
        add(&c, h, 0, segment_of(TCP_ACK | TCP_PUSH, 103, 500, "two"), 400 * ms);
        g_assert_cmpstr(h->stalls->str, ==, "window 0 88 pause 0 300 ");
        add(&c, h, 0, segment_of(TCP_ACK | TCP_PUSH, 103, 500, "two"), 410 * ms);
        answer.ack = 106;
        answer.options = cursor((const guint8 *)"\1\1\5\12\0\0\0\147\0\0\0\152", 12);
        add(&c, h, 1, answer, 411 * ms);
        add(&c, h, 0, segment_of(TCP_ACK, 106, 500, "three"), 500 * ms);
        g_assert_cmpstr(h->stalls->str, ==,
                        "window 0 88 pause 0 300 resent 0 10 resent 0 -10 pause 0 100 ");
        heard_free(h);
}

/* Bytes that are sent again, although they had arrived: the receiver says so, or its
 * acknowledgement is of the first copy. */
static void test_needless_copy(void)
{
        static const struct {
                const char *options; /* of the acknowledgement */
                gsize n;
                gboolean needless;
        } rows[] = {
                { "", 0, FALSE },
                { "\1\1\5\12\0\0\0\144\0\0\0\147", 12, TRUE },  /* 100 to 103 came twice */
                { "\1\1\5\12\0\0\0\200\0\0\0\203", 12, FALSE }, /* 128 to 131 came early */
                { "\1\1\10\12\0\0\0\1\0\0\0\7", 12, TRUE },     /* echoes the first, */
                { "\1\1\10\12\0\0\0\1\0\0\0\11", 12, FALSE },   /* and the second */
        };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                TcpConnection c = { 0 };
                Heard *h = heard_new();
                const gint64 ms = 1000000;
                TcpSegment first = segment_of(TCP_ACK, 100, 500, "one"), again = first;
                TcpSegment ack = segment_of(TCP_ACK, 500, 103, "");
                first.options = cursor((const guint8 *)"\1\1\10\12\0\0\0\7\0\0\0\1", 12);
                again.options = cursor((const guint8 *)"\1\1\10\12\0\0\0\11\0\0\0\1", 12);
                ack.options = cursor((const guint8 *)rows[i].options, rows[i].n);
                add(&c, h, 1, segment_of(TCP_ACK, 500, 100, ""), ms);
                add(&c, h, 0, first, ms);
                add(&c, h, 0, again, 9 * ms);
                add(&c, h, 1, ack, 9 * ms);
                g_assert_cmpstr(h->stalls->str, ==,
                                rows[i].needless ? "resent 0 8 resent 0 -8 " : "resent 0 8 ");
                heard_free(h);
        }
}

static void test_reset(void)
{
        TcpConnection c = { 0 };
        Heard *h = heard_new();
        add(&c, h, 0, segment_of(TCP_SYN, 99, 0, ""), 1);
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 2);
        add(&c, h, 1, segment_of(TCP_RST, 0x7fffffff, 0, ""), 3); /* not of this connection */
        g_assert_cmpuint(h->ends, ==, 0);
        add(&c, h, 1, segment_of(TCP_RST | TCP_ACK, 500, 103, ""), 4);
        g_assert_cmpuint(h->ends, ==, 3);
        g_assert(c.closed);
        heard_free(h);
}

static void test_reuse(void)
{
        TcpConnection c = { 0 };
        Heard *h = heard_new();
        TcpSegment same = segment_of(TCP_SYN, 99, 0, ""), new = segment_of(TCP_SYN, 70000, 0, "");
        add(&c, h, 0, same, 1);
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 2);
        g_assert(!tcp_is_new(&c, 0, &same));
        g_assert(tcp_is_new(&c, 0, &new));
        heard_free(h);

        c = (TcpConnection){ 0 };
        h = heard_new();
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 1);
        g_assert(!tcp_is_new(&c, 0, &same)); /* captured late */
        g_assert(tcp_is_new(&c, 0, &new));
        heard_free(h);
}

/* Memory that waits is bounded: the hole is given up. */
static void test_bounded(void)
{
        static const guint8 block[1400] = { 1 };
        TcpConnection c = { 0 };
        TcpTotals totals = { 0 };
        Heard *h = heard_new();
        TcpSink sink = { hear_bytes, hear_missing, hear_end, hear_stall, h };
        add(&c, h, 1, segment_of(TCP_ACK, 500, 100, ""), 1);
        add(&c, h, 0, segment_of(TCP_ACK, 100, 500, "one"), 1);
        for (guint i = 0; i < 10000; i++) {
                TcpSegment s = { .flags = TCP_ACK,
                                 .seq = 200 + i * 1400,
                                 .ack = 500,
                                 .payload = block,
                                 .captured = sizeof block,
                                 .length = sizeof block };
                tcp_add(&c, 0, &s, (Stamp){ 2 + i, 2 + i }, &sink, &totals);
                g_assert_cmpuint(totals.bytes, <, 4 << 20);
        }
        g_assert_cmpuint(h->missing[0], ==, 97);
        tcp_clear(&c, &totals);
        heard_free(h);
}

static void test_decode(void)
{
        guint8 bytes[24] = { 0x12, 0x34, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x60, TCP_ACK };
        TcpSegment s;
        g_assert(tcp_decode(bytes, 24, 30, &s));
        g_assert_cmpuint(s.source_port, ==, 0x1234);
        g_assert_cmpuint(s.captured, ==, 0);
        g_assert_cmpuint(s.length, ==, 6);
        g_assert(tcp_decode(bytes, 20, 30, &s)); /* options cut */
        g_assert(tcp_decode(bytes, 14, 30, &s)); /* as far as the flags */
        g_assert_cmpuint(s.captured, ==, 0);
        g_assert_cmpuint(s.length, ==, 6);
        g_assert(!tcp_decode(bytes, 13, 30, &s));
        g_assert(!tcp_decode(bytes, 20, 20, &s)); /* options missing */
        bytes[12] = 0x40;
        g_assert(!tcp_decode(bytes, 24, 24, &s));
}

static void test_timestamps(void)
{
        static const struct {
                const char *options;
                gsize n;
                guint64 stamps; /* 0: there are none */
        } rows[] = {
                { "\1\1\10\12\0\0\0\5\0\0\0\6", 12, G_GUINT64_CONSTANT(0x500000006) },
                { "\2\4\5\264\10\12\0\0\0\5\0\0\0\6\0\0", 16, G_GUINT64_CONSTANT(0x500000006) },
                { "\1\1\10\12\0\0\0\5\0\0\0", 11, 0 },   /* cut */
                { "\0\1\10\12\0\0\0\5\0\0\0\6", 12, 0 }, /* after the end */
                { "\10\11\0\0\0\5\0\0\0\1\1\1", 12, 0 }, /* of another length */
                { "\2\0\10\12\0\0\0\5\0\0\0\6", 12, 0 }, /* a length of 0 */
                { "\2\1\10\12\0\0\0\5\0\0\0\6", 12, 0 },
                { "\2\377\10\12\0\0\0\5\0\0\0\6", 12, 0 },
                { "\10", 1, 0 },
                { "", 0, 0 },
        };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autofree guint8 *copy = g_memdup2(rows[i].options, rows[i].n);
                TcpSegment segment = { .options = cursor(copy, rows[i].n) };
                guint64 stamps = 0;
                g_assert_cmpint(tcp_timestamps(&segment, &stamps), ==, rows[i].stamps != 0);
                g_assert_cmpuint(stamps, ==, rows[i].stamps);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/tcp/in-order", test_in_order);
        g_test_add_func("/tcp/shuffled", test_shuffled);
        g_test_add_func("/tcp/lost", test_lost);
        g_test_add_func("/tcp/cut", test_cut);
        g_test_add_func("/tcp/one-sided", test_one_sided);
        g_test_add_func("/tcp/keep-alive", test_keep_alive);
        g_test_add_func("/tcp/stalls", test_stalls);
        g_test_add_func("/tcp/pauses", test_pauses);
        g_test_add_func("/tcp/pauses-and-stalls", test_pauses_and_stalls);
        g_test_add_func("/tcp/delayed-ack", test_delayed_ack);
        g_test_add_func("/tcp/needless-copy", test_needless_copy);
        g_test_add_func("/tcp/reset", test_reset);
        g_test_add_func("/tcp/reuse", test_reuse);
        g_test_add_func("/tcp/bounded", test_bounded);
        g_test_add_func("/tcp/decode", test_decode);
        g_test_add_func("/tcp/timestamps", test_timestamps);
        return g_test_run();
}
