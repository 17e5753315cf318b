/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/known-calls.h"

#include <string.h>

#include "base/compare.h"
#include "base/error.h"

/* Puts the message's path= before its id, so that a call and its return match by both. The id lies
 * in key until the next message. */
static void true_path_join(Message *message, AttributeText path, GString *key,
                           TruePathCounts *counts)
{
        gboolean is_return = message_is_return(message);

        counts->calls += path.length > 0 && message_is_call(message);
        counts->returns += path.length > 0 && is_return;
        counts->returns_without += path.length == 0 && is_return;
        g_string_truncate(key, 0);
        g_string_append_len(key, path.at, (gssize)path.length);
        g_string_append_c(key, ' '); /* neither of them has one */
        g_string_append_len(key, message->id, message->id_length);
        message_set_id(message, key->str, key->len);
}

/* How long the path is that such an id begins with, 0 where there was none; a blank follows it. */
static guint32 true_path_length(const char *id, guint32 length)
{
        return (const char *)memchr(id, ' ', length) - id;
}

void known_calls_init(KnownCalls *k, NodeTable *nodes, gint64 window, gint64 max_call,
                      gboolean fold, guint wanted)
{
        memset(k, 0, sizeof *k);
        k->nodes = nodes;
        k->matcher = call_matcher_new(window, max_call ? max_call : G_MAXINT64);
        k->pairs.wanted = wanted;
        edge_roles_init(&k->roles, fold, window);
        call_labels_init(&k->labels);
        call_labels_init(&k->tags);
        if (wanted & WANT_IDS)
                k->ids = g_byte_array_new();
        if (wanted & WANT_TRUE_PATHS)
                k->key = g_string_new(NULL);
}

void known_calls_clear(KnownCalls *k)
{
        edge_roles_clear(&k->roles);
        call_matcher_free(k->matcher);
        call_labels_clear(&k->labels);
        call_labels_clear(&k->tags);
        call_connections_clear(&k->connections);
        call_identifiers_clear(&k->identifiers);
        call_links_clear(&k->links);
        call_facts_clear(&k->facts);
        call_pairs_clear(&k->pairs);
        if (k->ids)
                g_byte_array_free(k->ids, TRUE);
        if (k->key)
                g_string_free(k->key, TRUE);
}

void known_calls_put_away(const KnownCalls *k)
{
        call_pairs_put_away(&k->pairs);
        call_column_put_away(&k->labels.column);
        call_column_put_away(&k->tags.column);
        call_column_put_away(&k->connections.column);
        call_column_put_away(&k->identifiers.column);
        call_column_put_away(&k->facts.column);
}

/* What was noted of a return before its call came. */
static void take_early_return(KnownCalls *k, guint64 call, guint64 from)
{
        call_facts_join(&k->facts, call, from);
        if (call_connections_get(&k->connections, (guint32)from).transaction)
                call_connections_add_transaction(&k->connections, call);
}

/* A call's place is its number, so calls are in the order in which they were opened. The places of
 * calls without a return are closed up later. */
static gboolean take_done_calls(KnownCalls *k, GError **error)
{
        guint n_done;
        const DoneCall *done = call_matcher_done(k->matcher, &n_done);

        for (guint i = 0; i < n_done; i++, done++) {
                guint64 place = done->number - k->dropped;

                if (G_UNLIKELY(place >= NO_PARENT))
                        return ravel_fail(error, RAVEL_ERROR_INPUT,
                                          "more than %u calls, expected fewer: narrow the trace "
                                          "with --from and --to, or take it in parts with --window",
                                          NO_PARENT - 1);
                call_pairs_put(&k->pairs, place, &done->pair, done->edge);
                known_calls_pass(k, (guint32)place);
                if (G_UNLIKELY(done->return_number != done->number))
                        take_early_return(k, place, done->return_number - k->dropped);
                if (k->ids) {
                        g_byte_array_append(k->ids, (const guint8 *)done->id, done->id_length);
                        k->pairs.id_at[place] = (guint64)k->ids->len << 32 | done->id_length;
                }
        }
        return TRUE;
}

/* The attributes of a message go to its call, or to the call that it answers. */
static void take_attributes(KnownCalls *k, const Message *message, const Attributes *a,
                            gboolean is_call, guint did)
{
        guint64 call = call_matcher_latest(k->matcher) - k->dropped;
        gboolean bytes = (k->pairs.wanted & WANT_FACTS) != 0;

        if (is_call) {
                call_labels_add(&k->labels, call, a->label);
                call_labels_add(&k->tags, call, a->tags);
                if (k->pairs.wanted & WANT_CONNECTIONS)
                        call_connections_add(&k->connections, call, message, a);
                if (k->pairs.wanted & WANT_IDENTIFIERS)
                        call_identifiers_add(&k->identifiers, call, message->time, a->ids);
                call_facts_add(&k->facts, call, message->op, a, bytes);
        } else if (did & (MATCH_CLOSED | MATCH_OTHER_END)) {
                if ((did & MATCH_CLOSED) && (k->pairs.wanted & WANT_CONNECTIONS) && a->txn)
                        call_connections_add_transaction(&k->connections, call);
                call_facts_add(&k->facts, call, message->op, a, bytes);
        }
}

/* A one-way message with a link is like a call that ends at once. matched: the same message, with
 * the id that it is matched by. */
static gboolean add_one_way(KnownCalls *k, const Message *message, const Message *matched,
                            const Attributes *a, GError **error)
{
        guint did = call_matcher_add_message(k->matcher, matched);

        take_attributes(k, message, a, TRUE, did);
        if (call_links_has_link(a))
                call_links_add(&k->links, call_matcher_latest(k->matcher) - k->dropped, message, a,
                               k->connections.by_id);
        return !(did & MATCH_DONE) || take_done_calls(k, error);
}

gboolean known_calls_add(KnownCalls *k, const Message *message, GError **error)
{
        Attributes space;
        const Attributes *a = attributes_of(message, &space);
        gboolean is_call = message_is_call(message);
        Message with_path;
        const Message *matched =
                message; /* its id says the true path, which nothing else may see */
        guint did;

        if (G_UNLIKELY(k->key != NULL)) {
                with_path = *message;
                true_path_join(&with_path, a->path, k->key, &k->paths);
                matched = &with_path;
        }
        if (G_UNLIKELY(message->op >= MSG_SENT && (k->pairs.wanted & WANT_LINKS) &&
                       (call_links_has_link(a) || call_links_by_order(a))))
                return add_one_way(k, message, matched, a, error);
        did = call_matcher_add(k->matcher, matched);
        take_attributes(k, message, a, is_call, did);
        if (is_call && (k->pairs.wanted & WANT_LINKS))
                call_links_add(&k->links, call_matcher_latest(k->matcher) - k->dropped, message, a,
                               k->connections.by_id);
        return !(did & MATCH_DONE) || take_done_calls(k, error);
}

gboolean known_calls_are_whole(char *const *facts, guint n)
{
        static const char *const missing[] = { "holes skipped: ", "packets dropped by ",
                                               "packets cut by ", "connections forgotten " };
        gboolean ended = FALSE;

        for (guint i = 0; i < n; i++) {
                ended |= g_str_has_prefix(facts[i], "packets: ");
                for (guint k = 0; k < G_N_ELEMENTS(missing); k++)
                        if (g_str_has_prefix(facts[i], missing[k]))
                                return FALSE;
        }
        return ended;
}

/* By connection: its last call. The caller frees the array. */
static guint32 *find_last_calls(const KnownCalls *k)
{
        guint32 *last = g_new0(guint32, k->connections.last + (gsize)1);

        for (guint32 i = 0; i < k->connections.column.n; i++)
                last[call_connections_get(&k->connections, i).connection] = i;
        return last;
}

gboolean known_calls_keep_silent(KnownCalls *k, GError **error)
{
        g_autofree guint32 *last = NULL;
        const DoneCall *done;
        guint n;

        if (!(call_matcher_take_silent(k->matcher) & MATCH_DONE))
                return TRUE;
        if (!take_done_calls(k, error))
                return FALSE;
        last = find_last_calls(k);
        done = call_matcher_done(k->matcher, &n);
        for (guint i = 0; i < n; i++) {
                guint32 call = (guint32)(done[i].number - k->dropped);
                guint32 connection = call_connections_get(&k->connections, call).connection;

                if (!connection || last[connection] != call || !call_labels_get(&k->labels, call) ||
                    call_facts_get(&k->facts, call).asks) {
                        k->pairs.edge[call] = 0;
                } else {
                        call_facts_set_silent(&k->facts, call);
                        k->silent++;
                }
        }
        return TRUE;
}

gboolean known_calls_finish(KnownCalls *k, GError **error)
{
        return !(call_matcher_finish(k->matcher) & MATCH_DONE) || take_done_calls(k, error);
}

gboolean known_calls_expire(KnownCalls *k, gint64 time, gint64 max_call, GError **error)
{
        return !(call_matcher_expire(k->matcher, time, max_call) & MATCH_DONE) ||
               take_done_calls(k, error);
}

/* Moves one run of calls with returns at a time. */
void known_calls_close_up(KnownCalls *k)
{
        CallPairs *c = &k->pairs;
        guint32 kept = 0, first = 0, end;

        call_links_close_up(&k->links, c);
        if (call_matcher_counts(k->matcher)->pairs + call_matcher_counts(k->matcher)->linked ==
            c->n)
                return;
        for (; first < c->n; first = end + 1) {
                for (end = first; end < c->n && c->edge[end]; end++)
                        ;
                if (kept < first) {
                        call_column_move(&k->labels.column, kept, first, end - first);
                        call_column_move(&k->tags.column, kept, first, end - first);
                        call_column_move(&k->connections.column, kept, first, end - first);
                        call_column_move(&k->identifiers.column, kept, first, end - first);
                        call_column_move(&k->facts.column, kept, first, end - first);
                        call_pairs_move(c, kept, first, end - first);
                }
                kept += end - first;
        }
        c->n = kept;
}

static Span move_span(Span span, SpanClocks clocks, const gint64 *offset)
{
        return (Span){ span.from - offset[clocks.from], span.to - offset[clocks.to] };
}

void known_calls_move(KnownCalls *k, const gint64 *offset)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(k->matcher, &n_edges);
        CallPairs *c = &k->pairs;

        for (guint32 i = 0; i < c->n; i++) {
                const Edge *e = &edges[c->edge[i] - 1];
                SpanClocks out = clocks_at_caller(c->stamps[i], e->caller, e->callee);
                SpanClocks in = clocks_at_callee(c->stamps[i], e->caller, e->callee);

                /* Two stamps of a message may be equal before they are moved. */
                if (!c->both_ends && (out.from != in.from || out.to != in.to))
                        call_pairs_split_ends(c);
                known_calls_pass(k, i);
                if (c->both_ends)
                        c->at_callee[i] = move_span(c->at_callee[i], in, offset);
                c->at_caller[i] = move_span(c->at_caller[i], out, offset);
        }
        call_matcher_move(k->matcher, c, offset);
}

static LinkEdge *list_link_edges(const KnownCalls *k)
{
        LinkEdge *edges = g_new(LinkEdge, k->roles.n_edges);

        for (guint i = 0; i < k->roles.n_edges; i++)
                edges[i] = (LinkEdge){ k->roles.edge[i].caller, k->roles.edge[i].callee };
        return edges;
}

void known_calls_find_links(KnownCalls *k)
{
        g_autofree LinkEdge *edges = list_link_edges(k);
        CallPairs *c = &k->pairs;

        if (!(c->wanted & WANT_LINKS))
                return;
        call_links_add_operations(&k->links, &k->labels, c->n);
        call_links_find(&k->links, c, edges, node_table_size(k->nodes));
        for (guint32 i = 0; k->links.parent && c->cause && i < c->n; i++)
                if (k->links.parent[i] != NO_PARENT) {
                        call_pairs_set_cause(
                                c, i, (Cause){ k->links.parent[i], k->links.probability[i] });
                        if (c->candidates)
                                c->candidates[i] = 1;
                }
}

void known_calls_step_links(KnownCalls *k, gint64 until, guint64 oldest)
{
        g_autofree LinkEdge *edges = list_link_edges(k);

        if (k->pairs.wanted & WANT_LINKS)
                call_links_step(&k->links, &k->pairs, &k->labels, edges, node_table_size(k->nodes),
                                until, oldest);
}

void known_calls_find_late(KnownCalls *k)
{
        if (k->pairs.cause && (k->pairs.wanted & WANT_LINKS))
                call_links_find_late(&k->links, &k->pairs, &k->connections);
}

static void drop_ids(KnownCalls *k)
{
        CallPairs *c = &k->pairs;
        gsize first = G_MAXSIZE;

        for (guint32 i = 0; i < c->n; i++)
                if (c->edge[i])
                        first = MIN(first, (c->id_at[i] >> 32) - (guint32)c->id_at[i]);
        first = MIN(first, k->ids->len);
        if (first > 0)
                g_byte_array_remove_range(k->ids, 0, first);
        for (guint32 i = 0; i < c->n; i++)
                c->id_at[i] -= (guint64)first << 32;
}

void known_calls_drop(KnownCalls *k, guint32 n)
{
        call_pairs_drop(&k->pairs, n);
        edge_roles_drop_calls(&k->roles, n);
        call_column_drop(&k->labels.column, n);
        call_column_drop(&k->tags.column, n);
        call_column_drop(&k->connections.column, n);
        call_column_drop(&k->identifiers.column, n);
        call_facts_drop(&k->facts, n);
        call_identifiers_close_up(&k->identifiers);
        if (k->pairs.wanted & WANT_LINKS)
                call_links_drop(&k->links, n);
        k->dropped += n;
        if (k->ids)
                drop_ids(k);
}

gint64 known_calls_find_roles(KnownCalls *k, gboolean all)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(k->matcher, &n_edges);

        return edge_roles_find(&k->roles, k->nodes, edges, n_edges, all);
}

/* The id with the path before it. */
static const char *whole_id(const KnownCalls *k, guint32 call, guint32 *length)
{
        *length = (guint32)k->pairs.id_at[call];
        if (*length == 0)
                return ""; /* without ids there is no array, either */
        return (const char *)k->ids->data + (k->pairs.id_at[call] >> 32) - *length;
}

const char *known_calls_id(const KnownCalls *k, guint32 call, guint32 *length)
{
        const char *id = whole_id(k, call, length);

        if (k->key && *length) {
                guint32 path = true_path_length(id, *length) + 1;

                id += path;
                *length -= path;
        }
        return id;
}

const char *known_calls_path(const KnownCalls *k, guint32 call, guint32 *length)
{
        const char *id = whole_id(k, call, length);

        *length = true_path_length(id, *length);
        return id;
}

static int compare_starts(const void *a, const void *b, void *data)
{
        const CallPairs *c = data;
        guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
        gint64 x = c->at_caller[i].from, y = c->at_caller[j].from;

        return COMPARE(x, y) ?: COMPARE(i, j);
}

void known_calls_sort(const KnownCalls *k, guint32 *calls, guint32 n)
{
        const CallPairs *c = &k->pairs;

        for (guint32 i = 1; i < n; i++)
                if (c->at_caller[calls[i]].from < c->at_caller[calls[i - 1]].from) {
                        qsort_r(calls, n, sizeof *calls, compare_starts, (void *)c);
                        return;
                }
}
