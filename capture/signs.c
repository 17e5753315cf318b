/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/signs.h"

#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/hash.h"

/* Chosen on HTTP/2 and HTTP/1.1 over TLS of nginx, Node and h2load. Requests came one and
 * several at a time, in one write and in two, with Nagle's algorithm and without. Also on a
 * queue with one and several requests at a time, and on brokers of 1 to 8 publishers. */
enum {
        WARM_RUNS = 4,      /* in which TLS and HTTP/2 exchange tickets and settings */
        MAX_REQUEST = 4096, /* bytes of a run after which it is an upload, which may pause */
        MANY = 4,           /* segments in which nobody writes one request */
        MIN_RUNS = 20,      /* of a connection that is weighed by itself */
        MIN_SIGNS = 5,
        MAX_TALLIES = 65536, /* after which callers are put together */
        MIN_SERVICES = 3,    /* of an address: with two, who calls the second is the first */
        MIN_RETURNS = 8,
        MIN_UNSEEN = 10,    /* segments */
        SHARE_H2 = 50,      /* one in this number of runs, where HTTP/2 was chosen, */
        SHARE_LENGTHS = 20, /* where nothing is known, of lengths, */
        SHARE_RUNS = 10,    /* and of all else */
        SHARE_UNSEEN = 50,
        SHARE_CUT = 100, /* calls of an edge, of which one in doubt makes the edge doubtful */
        MAX_RUN = 1400,  /* bytes, of one segment */
};
#define LATE     G_GINT64_CONSTANT(1000000)    /* ns */
#define MAX_TURN G_GINT64_CONSTANT(1000000000) /* where it is not known, too */

/* Who has called a node last, and before that. */
typedef struct {
        const Signs *who;
        gint64 time, gap; /* ns since the call before */
} Prompt;

typedef struct {
        Prompt prompt[2]; /* the last, and the last of another connection */
} Server;

/* The connections of two nodes that speak one protocol, in one state of what is known of TLS. */
typedef struct {
        NodeId caller, callee;
        const Protocol *protocol; /* NULL: runs */
        guint8 inside;
        guint16 ports[MIN_SERVICES]; /* of the servers of connections that are alone; 0 is none */
        guint64 calls, alone;
        guint64 segments, bytes, unseen, unseen_bytes, quic;
        guint64 doubtful[N_DOUBT_REASONS]; /* calls of connections that are, by themselves */
        SignCounts rest;                   /* of the others */
} Tally;

struct SignTable {
        GHashTable *tallies; /* set of Tally */
        GArray *servers;     /* of Server, by node */
        Tally beyond;        /* of what there is no room for; never told */
};

static guint tally_hash(gconstpointer tally)
{
        const Tally *t = tally;
        const HashKey *key = hash_key();
        guint64 nodes = (guint64)t->caller << 32 | t->callee;
        guint64 kind = (guint64)t->inside << 56 ^ (gsize)t->protocol;
        return (guint)hash_keyed_word(key, hash_keyed_word(key, key->start, nodes), kind);
}

static gboolean tally_equal(gconstpointer a, gconstpointer b)
{
        const Tally *x = a, *y = b;
        return x->caller == y->caller && x->callee == y->callee && x->protocol == y->protocol &&
               x->inside == y->inside;
}

SignTable *sign_table_new(void)
{
        SignTable *t = g_new0(SignTable, 1);
        t->tallies = g_hash_table_new_full(tally_hash, tally_equal, g_free, NULL);
        t->servers = g_array_new(FALSE, TRUE, sizeof(Server));
        return t;
}

void sign_table_free(SignTable *t)
{
        g_hash_table_destroy(t->tallies);
        g_array_free(t->servers, TRUE);
        g_free(t);
}

/* --- a connection ---------------------------------------------------------- */

void signs_init(Signs *s, gboolean alone)
{
        memset(s, 0, sizeof *s);
        for (guint side = 0; side < 2; side++) {
                s->last[side] = s->acked[side] = G_MININT64;
                s->turn[side] = G_MAXINT64;
        }
        s->talks = NO_SIDE;
        s->alone = alone != FALSE;
}

static Server *server_at(SignTable *t, NodeId node)
{
        if (node >= t->servers->len)
                g_array_set_size(t->servers, node + 1);
        return &g_array_index(t->servers, Server, node);
}

/* A call of this connection has come to the node. */
static void server_prompt(Server *server, const Signs *who, gint64 time)
{
        Prompt *last = &server->prompt[0];
        gint64 gap = last->who ? time - last->time : G_MAXINT64;
        if (last->who != who)
                server->prompt[1] = *last;
        *last = (Prompt){ who, time, gap };
}

/* Whether a return at time comes because of another connection's call. It comes soon after that
 * call, compared with how long ago its own call was, and with the silence before. And its own
 * call came sooner after the server had talked. If calls come at random, one return in four is
 * like that. */
static gboolean is_prompted(const Server *server, const Signs *s, guint client, gint64 time)
{
        const Prompt *p = &server->prompt[server->prompt[0].who == s];
        gint64 since = time - p->time, own = time - s->last[client];
        return p->who && since >= 0 && since < own / 4 && since < p->gap / 3 && s->waited < own;
}

/* Whether n is k times the usual length of a run: k records, or one record of k frames. The
 * latter lacks what TLS 1.3 or 1.2 adds to a record. */
static gboolean is_multiple(const Signs *s, gsize n)
{
        static const guint added[] = { 0, 22, 29 };
        for (guint i = 0; i < G_N_ELEMENTS(added); i++)
                if (s->usual > added[i] + 8 && n > s->usual &&
                    (n - added[i]) % (s->usual - added[i]) == 0)
                        return TRUE;
        return FALSE;
}

static void see_length(Signs *s, gsize n)
{
        if (n > MAX_RUN)
                return;
        if (s->votes == 0)
                s->usual = (guint32)n;
        if (n == s->usual)
                s->votes++;
        else
                s->votes--;
        s->counts.multiples += s->votes > s->counts.runs / 4 && is_multiple(s, n);
}

/* The end of side has answered the other's at time. */
static void signs_see_turn(Signs *s, guint side, gint64 time)
{
        if (s->last[!side] != G_MININT64 && time >= s->last[!side])
                s->turn[side] = MIN(s->turn[side], time - s->last[!side]);
}

/* Its first segment. */
static void run_begin(SignTable *t, Signs *s, const Pairing *p, gboolean lengths, guint side,
                      gsize n, gint64 time, gboolean crossed)
{
        s->counts.crossed += crossed && s->warm >= WARM_RUNS;
        s->run_bytes = s->run_segments = 0;
        s->run_again = s->run_late = FALSE;
        if (s->warm < WARM_RUNS)
                s->warm++;
        signs_see_turn(s, side, time);
        if (side == p->client) {
                s->counts.runs++;
                s->waited = s->last[!side] == G_MININT64 ? G_MAXINT64 : time - s->last[!side];
                if (lengths && s->warm == WARM_RUNS)
                        see_length(s, n);
        } else if (s->counts.runs > 0) {
                s->counts.returns++;
                s->counts.prompted += is_prompted(server_at(t, p->node[side]), s, !side, time);
        }
}

/* Whether side paused before it goes on at time, and was not held back. */
static gboolean is_late(const Signs *s, guint side, gint64 time)
{
        /* Of a run that began before its protocol was known, nothing is. */
        if (s->last[side] == G_MININT64)
                return FALSE;
        gint64 near = LATE + 2 * MIN(s->turn[side], MAX_TURN);
        gboolean held = s->acked[side] >= s->last[side] && time - s->acked[side] <= near;
        return time - s->last[side] > LATE && !held;
}

/* The side goes on in its run. */
static void run_go_on(Signs *s, gboolean by_client, guint side, gint64 time)
{
        if (s->warm < WARM_RUNS || (by_client && s->run_bytes > MAX_REQUEST))
                return;
        if (by_client) {
                s->counts.many += s->run_segments == MANY - 1;
                s->counts.again += !s->run_again;
                s->run_again = TRUE;
        }
        if (!s->run_late && is_late(s, side, time)) {
                s->counts.late[!by_client]++;
                s->run_late = TRUE;
        }
}

static gboolean has_runs(const Protocol *protocol)
{
        return !protocol || protocol == &protocol_generic || protocol == &protocol_tls;
}

void signs_payload(SignTable *t, Signs *s, const Pairing *p, const Protocol *protocol, guint side,
                   gsize n, gint64 time, gboolean crossed)
{
        gboolean begins = s->talks != side;
        s->segments++;
        s->bytes += n;
        if (p->client == NO_SIDE)
                return;
        s->talks = (guint8)side;
        if (begins && side == p->client)
                server_prompt(server_at(t, p->node[!side]), s, time);
        if (!has_runs(protocol))
                return;
        if (begins)
                run_begin(t, s, p, protocol == &protocol_tls, side, n, time, crossed);
        else
                run_go_on(s, side == p->client, side, time);
        s->run_bytes += (guint32)MIN(n, MAX_REQUEST);
        s->run_segments++;
        s->last[side] = time;
}

void signs_datagram(Signs *s, gboolean quic, gsize length)
{
        s->quic |= quic != FALSE;
        s->segments++;
        s->bytes += length;
}

void signs_syn(Signs *s, const Pairing *p, guint side, gint64 time)
{
        if (side != p->client)
                s->last[side] = time;
}

void signs_ack(Signs *s, guint side, gint64 time)
{
        signs_see_turn(s, side, time);
        s->acked[!side] = time;
}

/* --- what they say of calls ------------------------------------------------ */

/* Whether several calls at a time were made, by runs of a protocol, NULL or TLS. */
static gboolean overlaps(const SignCounts *n, const Protocol *protocol, guint inside)
{
        guint64 lengths = protocol ? n->multiples : 0;
        guint64 late = protocol ? MIN(n->late[0], n->late[1]) : n->late[0];
        guint64 sure = n->crossed + late + (protocol || inside ? 0 : n->many);
        guint64 all = sure + n->again + lengths;
        if (inside == TLS_CHOSE_H2)
                return all >= MIN_SIGNS && all * SHARE_H2 > n->runs;
        if (inside == TLS_CHOSE_OTHER)
                return FALSE; /* HTTP/1.1 */
        return (sure >= MIN_SIGNS && sure * SHARE_RUNS > n->runs) ||
               (lengths >= MIN_SIGNS && lengths * SHARE_LENGTHS > n->runs);
}

/* The reason why these calls are doubtful, or what there is to remark. FALSE where there is
 * none. */
static gboolean find_reason(const SignCounts *n, const Protocol *protocol, guint inside,
                            DoubtReason *reason)
{
        gboolean runs = has_runs(protocol);
        if (runs && n->returns >= MIN_RETURNS && n->prompted * 2 > n->returns)
                *reason = DOUBT_INVERTED;
        else if (runs && overlaps(n, protocol, inside))
                *reason = protocol ? DOUBT_MULTIPLEXED : DOUBT_SEVERAL_AT_ONCE;
        else if (n->shifted >= MIN_SIGNS && n->shifted >= n->drained * 9)
                *reason = DOUBT_SHIFTED;
        else if (inside == TLS_CHOSE_H2 || inside == TLS_OFFERS_H2)
                *reason = DOUBT_MAY_BE_MULTIPLEXED;
        else
                return FALSE;
        return TRUE;
}

/* --- tallies --------------------------------------------------------------- */

static Tally *tally_find(SignTable *t, const Signs *s, const Pairing *p, const Protocol *protocol)
{
        guint client = p->client == NO_SIDE ? 0 : p->client;
        Tally wanted = { .caller = p->node[client],
                         .callee = p->node[!client],
                         .protocol = protocol == &protocol_generic ? NULL : protocol,
                         .inside = s->inside };
        Tally *tally = g_hash_table_lookup(t->tallies, &wanted);
        guint n = g_hash_table_size(t->tallies);
        if (!tally && n >= MAX_TALLIES) {
                wanted.caller = NO_NODE;
                tally = g_hash_table_lookup(t->tallies, &wanted);
        }
        if (!tally && n >= 2 * MAX_TALLIES)
                return &t->beyond;
        if (!tally) {
                tally = g_memdup2(&wanted, sizeof wanted);
                g_hash_table_add(t->tallies, tally);
        }
        return tally;
}

/* Adds a port, unless there are MIN_SERVICES already. */
static void add_port(guint16 *ports, guint16 port)
{
        guint i = 0;
        while (i < MIN_SERVICES && ports[i] != 0 && ports[i] != port)
                i++;
        if (i < MIN_SERVICES)
                ports[i] = port;
}

static void counts_add(SignCounts *to, const SignCounts *from)
{
        to->calls += from->calls;
        to->shifted += from->shifted;
        to->drained += from->drained;
        to->runs += from->runs;
        to->crossed += from->crossed;
        to->late[0] += from->late[0];
        to->late[1] += from->late[1];
        to->again += from->again;
        to->many += from->many;
        to->multiples += from->multiples;
        to->returns += from->returns;
        to->prompted += from->prompted;
}

void signs_take(SignTable *t, Signs *s, Pairing *p, const Protocol *protocol)
{
        DoubtReason reason;
        if (s->segments == 0 && p->counts.written == 0)
                return;
        Tally *tally = tally_find(t, s, p, protocol);
        s->counts.calls = p->counts.written;
        s->counts.shifted = p->counts.shifted;
        s->counts.drained = p->counts.drained;
        if (MAX(s->counts.runs, s->counts.calls) >= MIN_RUNS &&
            find_reason(&s->counts, tally->protocol, s->inside, &reason) &&
            doubt_class(reason) == DOUBT_OF_CALLS)
                tally->doubtful[reason] += s->counts.calls;
        else
                counts_add(&tally->rest, &s->counts);
        if (s->alone) {
                add_port(tally->ports, p->port[p->client == 0]);
                tally->alone += s->counts.calls;
        }
        tally->doubtful[DOUBT_CUT] += p->counts.doubtful;
        tally->calls += s->counts.calls;
        tally->segments += s->segments;
        tally->bytes += s->bytes;
        tally->quic += s->quic ? s->segments : 0;
        tally->unseen += p->counts.unseen_segments;
        tally->unseen_bytes += p->counts.unseen_bytes;
        p->counts = (PairingCounts){ 0 };
        s->segments = 0;
        s->bytes = 0;
        memset(&s->counts, 0, sizeof s->counts);
}

/* --- all together --------------------------------------------------------- */

static void signs_add_doubt(GArray *doubts, const Tally *t, DoubtReason reason, guint64 count,
                            guint64 of)
{
        Doubt doubt = { .caller = t->caller,
                        .callee = t->callee,
                        .reason = reason,
                        .count = MIN(count, of),
                        .of = of };
        if (doubt.count > 0)
                g_array_append_val(doubts, doubt);
}

static void add_unseen(GArray *doubts, const Tally *t)
{
        Doubt doubt = { .caller = t->caller,
                        .callee = t->callee,
                        .reason = DOUBT_UNSEEN,
                        .count = MIN(t->unseen, t->segments),
                        .of = t->segments,
                        .bytes = MIN(t->unseen_bytes, t->bytes),
                        .of_bytes = t->bytes };
        g_strlcpy(doubt.kind, t->protocol ? t->protocol->name : protocol_generic.name,
                  sizeof doubt.kind);
        g_array_append_val(doubts, doubt);
}

/* The ports on which addresses serve that call themselves, by the node that calls: a crowd of
 * programs, and no call says which. */
static GHashTable *find_crowds(const GPtrArray *tallies)
{
        GHashTable *crowds = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        EACH_OF (const Tally, t, tallies) {
                guint16 *ports = g_hash_table_lookup(crowds, GUINT_TO_POINTER(t->caller));
                if (!t->alone)
                        continue;
                if (!ports) {
                        ports = g_new0(guint16, MIN_SERVICES);
                        g_hash_table_insert(crowds, GUINT_TO_POINTER(t->caller), ports);
                }
                for (guint k = 0; k < MIN_SERVICES && t->ports[k]; k++)
                        add_port(ports, t->ports[k]);
        }
        return crowds;
}

/* Whether the caller is an address without a name that calls several services at itself: each of
 * them may be the true caller. */
static gboolean is_crowd(GHashTable *crowds, const Tally *t)
{
        const guint16 *ports = g_hash_table_lookup(crowds, GUINT_TO_POINTER(t->caller));
        return t->alone && ports && ports[t->caller == t->callee ? MIN_SERVICES - 1 : 1];
}

/* Weighs the n tallies of one edge. */
static void weigh_edge(Tally *const *tallies, guint n, GHashTable *crowds, GArray *doubts,
                       GArray *edges)
{
        EdgeCalls edge = { tallies[0]->caller, tallies[0]->callee, 0 };
        guint64 count[N_DOUBT_REASONS] = { 0 };
        DoubtReason reason;
        for (guint i = 0; i < n; i++) {
                const Tally *t = tallies[i];
                edge.calls += t->calls;
                for (reason = 0; reason < N_DOUBT_REASONS; reason++)
                        count[reason] += t->doubtful[reason];
                if (find_reason(&t->rest, t->protocol, t->inside, &reason))
                        count[reason] += t->rest.calls;
                if (is_crowd(crowds, t))
                        count[DOUBT_CALLERS] += t->alone;
                if (t->unseen >= MIN_UNSEEN && t->unseen * SHARE_UNSEEN > t->segments)
                        add_unseen(doubts, t);
                signs_add_doubt(doubts, t, DOUBT_QUIC, t->quic, t->segments);
        }
        if (count[DOUBT_CUT] * SHARE_CUT <= edge.calls)
                count[DOUBT_CUT] = 0;
        for (reason = 0; reason < N_DOUBT_REASONS; reason++)
                signs_add_doubt(doubts, tallies[0], reason, count[reason], edge.calls);
        g_array_append_val(edges, edge);
}

static int compare_tallies(gconstpointer a, gconstpointer b)
{
        const Tally *x = *(Tally *const *)a, *y = *(Tally *const *)b;
        const char *of_x = x->protocol ? x->protocol->name : "";
        const char *of_y = y->protocol ? y->protocol->name : "";
        return COMPARE(x->caller, y->caller) ?:
               COMPARE(x->callee, y->callee) ?:
               COMPARE(x->inside, y->inside) ?:
               strcmp(of_x, of_y);
}

void sign_table_weigh(SignTable *table, GArray *doubts, GArray *edges)
{
        g_autoptr(GPtrArray) tallies = g_ptr_array_new();
        GHashTableIter iter;
        gpointer tally;
        g_hash_table_iter_init(&iter, table->tallies);
        while (g_hash_table_iter_next(&iter, &tally, NULL))
                g_ptr_array_add(tallies, tally);
        g_autoptr(GHashTable) crowds = find_crowds(tallies);
        g_ptr_array_sort(tallies, compare_tallies);
        for (guint i = 0, end; i < tallies->len; i = end) {
                const Tally *first = tallies->pdata[i];
                for (end = i + 1; end < tallies->len; end++) {
                        const Tally *next = tallies->pdata[end];
                        if (next->caller != first->caller || next->callee != first->callee)
                                break;
                }
                weigh_edge((Tally *const *)tallies->pdata + i, end - i, crowds, doubts, edges);
        }
        doubts_fold(doubts);
        g_hash_table_remove_all(table->tallies);
}
