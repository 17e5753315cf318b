/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/advise/proposals.h"

#include <string.h>

#include "base/compare.h"
#include "paths/path-failure.h"

enum { SERIAL_ENDED = 8 /* calls of a series that may be the beginning of another */ };

#define SERIAL_DECIDED 0.01 /* at most, of visits that end before all calls were made */

static void proposal_free(gpointer data)
{
        Proposal *c = data;

        if (c->callees)
                g_array_unref(c->callees);
        if (c->edits)
                g_array_unref(c->edits);
        g_free(c);
}

Proposal *proposals_get(Proposals *ps, char *name, AdviceKind kind, NodeId node, NodeId callee)
{
        guint found = GPOINTER_TO_UINT(g_hash_table_lookup(ps->by_name, name));

        if (found) {
                g_free(name);
                return g_ptr_array_index(ps->all, found - 1);
        }
        Proposal *c = g_new0(Proposal, 1);
        c->kind = kind;
        c->node = node;
        c->callee = callee;
        c->edits = g_array_new(FALSE, FALSE, sizeof(AdviceEdit));
        g_ptr_array_add(ps->all, c);
        g_hash_table_insert(ps->by_name, name, GUINT_TO_POINTER(ps->all->len));
        return c;
}

static void proposal_edit(Proposal *c, guint32 call, guint32 other, gint64 time)
{
        AdviceEdit edit = { call, other, time };

        g_array_append_val(c->edits, edit);
}

/* --- facts ----------------------------------------------------------------- */

void proposals_take(gpointer data, guint32 first, const PathCall *calls, guint32 n)
{
        Proposals *ps = data;
        g_autofree guint32 *retried =
                path_has_errors(calls, n) ? path_find_retried(calls, n) : NULL;

        for (guint32 i = 0; i < n; i++) {
                for (guint cause = 0; cause < N_WAY_CAUSES; cause++) {
                        ProposalFact f = { first + i, NO_PARENT, cause, calls[i].cause[cause] };

                        if (f.time > 0 && way_cause_remedy(cause))
                                g_array_append_val(ps->facts, f);
                }
                if (retried && retried[i] != NO_PARENT) {
                        ProposalFact f = { first + i, first + retried[i], 0, 0 };
                        g_array_append_val(ps->facts, f);
                }
        }
}

static guint find_fact(const Proposals *ps, guint32 call)
{
        guint low = 0, high = ps->facts->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (g_array_index(ps->facts, ProposalFact, middle).call < call)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The node that makes a call of a request. */
static NodeId call_caller(const ReplayRequests *r, const ReplayRequest *q, guint32 call)
{
        const ReplayCall *c = replay_call_at(r, call);

        return c->up > 0 ? c[-(gint64)c->up].node
                         : g_array_index(r->entries, ReplayEntry, q->entry).client;
}

static void find_in_facts(Proposals *ps, const ReplayRequest *q)
{
        const ReplayRequests *r = ps->requests;
        guint32 end = q->first_call + replay_call_at(r, q->first_call)->size;

        for (guint i = find_fact(ps, q->first_call); i < ps->facts->len; i++) {
                const ProposalFact *f = &g_array_index(ps->facts, ProposalFact, i);
                gboolean is_retry = f->retried != NO_PARENT;
                NodeId caller, callee;

                if (f->call >= end)
                        break;
                caller = call_caller(r, q, f->call);
                callee = replay_call_at(r, f->call)->node;
                Proposal *c = proposals_get(ps,
                                            g_strdup_printf("%c%u %u %u", is_retry ? 't' : 'w',
                                                            f->cause, caller, callee),
                                            is_retry ? ADVICE_RETRY : ADVICE_WAY, caller, callee);
                c->cause = f->cause;
                c->calls++;
                proposal_edit(c, is_retry ? f->retried : f->call, f->call, f->time);
        }
}

/* --- calls of a visit ------------------------------------------------------ */

static gboolean is_same_call(const ReplayCall *a, const ReplayCall *b)
{
        return a->node == b->node && a->label == b->label && a->label < G_MAXUINT8;
}

static guint32 in_series(const Proposals *ps, guint i)
{
        return g_array_index(ps->series, guint32, i);
}

static const ReplayCall *series_call(const Proposals *ps, guint i)
{
        return replay_call_at(ps->requests, in_series(ps, i));
}

static void take_repeated(Proposals *ps, NodeId node, guint from, guint to)
{
        if (to - from < REPEATED_FEWEST)
                return;
        const ReplayCall *first = series_call(ps, from);
        Proposal *c =
                proposals_get(ps, g_strdup_printf("r%u %u %u", node, first->node, first->label),
                              ADVICE_REPEATED, node, first->node);
        c->label = first->label;
        c->visits++;
        c->calls += to - from;
        for (guint i = from + 1; i < to; i++)
                proposal_edit(c, in_series(ps, i), 0, 0);
}

/* Names calls in series of a visit of v by their nodes, sorted or in their order. */
static char *series_name(const ReplayCall *v, const GArray *callees, guint n)
{
        GString *name = g_string_new(NULL);

        g_string_printf(name, "s%u %u", v->node, v->label);
        for (guint i = 0; i < n; i++)
                g_string_append_printf(name, " %u", g_array_index(callees, NodeId, i));
        return g_string_free(name, FALSE);
}

static GArray *series_callees(const Proposals *ps, guint from, guint to)
{
        GArray *callees = g_array_new(FALSE, FALSE, sizeof(NodeId));

        for (guint i = from; i < to; i++)
                g_array_append_val(callees, series_call(ps, i)->node);
        return callees;
}

static void take_serial(Proposals *ps, const ReplayCall *v, guint from, guint to)
{
        if (to < from + SERIAL_FEWEST)
                return;
        g_autoptr(GArray) order = series_callees(ps, from, to);
        g_autoptr(GArray) sorted = g_array_copy(order);
        g_array_sort(sorted, compare_uint32s);
        Proposal *c = proposals_get(ps, series_name(v, sorted, sorted->len), ADVICE_SERIAL, v->node,
                                    NO_NODE);
        if (!c->callees)
                c->callees = g_array_ref(order);
        c->label = v->label;
        c->varies |= memcmp(c->callees->data, order->data, order->len * sizeof(NodeId)) != 0;
        c->visits++;
        c->calls += to - from;
        for (guint i = from + 1; i < to; i++)
                proposal_edit(c, in_series(ps, i), in_series(ps, from), 0);
}

/* Counts a series that may be the beginning of another. */
static void count_series(Proposals *ps, const ReplayCall *v)
{
        g_autoptr(GArray) callees = series_callees(ps, 0, ps->series->len);
        char *name = series_name(v, callees, callees->len);
        gsize n = GPOINTER_TO_SIZE(g_hash_table_lookup(ps->ended, name)) + 1;

        g_hash_table_replace(ps->ended, name, GSIZE_TO_POINTER(n));
}

/* Some visits end after the first of these calls: an answer decides on the others. */
static gboolean is_decided(const Proposals *ps, const Proposal *c)
{
        ReplayCall v = { .node = c->node, .label = c->label };

        for (guint n = 1; n < c->callees->len; n++) {
                g_autofree char *name = series_name(&v, c->callees, n);
                gsize ended = GPOINTER_TO_SIZE(g_hash_table_lookup(ps->ended, name));

                if ((double)ended > SERIAL_DECIDED * (double)c->visits)
                        return TRUE;
        }
        return FALSE;
}

static void drop_decided(Proposals *ps)
{
        for (guint i = 0; i < ps->all->len; i++) {
                Proposal *c = ps->all->pdata[i];

                if (c->kind == ADVICE_SERIAL && is_decided(ps, c))
                        g_array_set_size(c->edits, 0);
        }
}

static void count_nodes(Proposals *ps, gint32 step)
{
        for (guint i = 0; i < ps->series->len; i++)
                ps->times[series_call(ps, i)->node] += (guint32)step;
}

/* The calls in ps->series, of a visit of v. A node that is called again is a cache that is filled,
 * or has a transaction. */
static void end_series(Proposals *ps, const ReplayCall *v)
{
        guint n = ps->series->len, same = 0, different = 0;

        count_nodes(ps, 1);
        for (guint i = 0; i <= n; i++) {
                if (i == n || !is_same_call(series_call(ps, i), series_call(ps, same))) {
                        take_repeated(ps, v->node, same, i);
                        same = i;
                }
                if (i == n || ps->times[series_call(ps, i)->node] > 1) {
                        take_serial(ps, v, different, i);
                        different = i + 1;
                }
        }
        count_nodes(ps, -1);
        if (n > 0 && n < SERIAL_ENDED)
                count_series(ps, v);
        g_array_set_size(ps->series, 0);
}

static void find_in_visit(Proposals *ps, guint32 visit)
{
        const ReplayCall *v = replay_call_at(ps->requests, visit);

        for (guint32 i = 1; i < v->size && v[i].follows != AFTER_REPLY; i += v[i].size) {
                guint32 call = visit + i;

                if (ps->is_query[v[i].label]) {
                        Proposal *c = proposals_get(ps, g_strdup_printf("d%u", v->node), ADVICE_DNS,
                                                    v->node, v[i].node);
                        c->calls++;
                        proposal_edit(c, call, 0, 0);
                }
                if (v[i].follows != AFTER_ALL || v[i].loose || v[i].missed)
                        end_series(ps, v);
                if (!v[i].loose && !v[i].missed)
                        g_array_append_val(ps->series, call);
        }
        end_series(ps, v);
}

/* --- public ---------------------------------------------------------------- */

void proposals_begin(Proposals *ps)
{
        *ps = (Proposals){ .all = g_ptr_array_new_with_free_func(proposal_free),
                           .by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                           .ended = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                           .facts = g_array_new(FALSE, FALSE, sizeof(ProposalFact)),
                           .series = g_array_new(FALSE, FALSE, sizeof(guint32)) };
}

void proposals_clear(Proposals *ps)
{
        g_ptr_array_unref(ps->all);
        g_hash_table_unref(ps->by_name);
        g_hash_table_unref(ps->ended);
        g_array_unref(ps->facts);
        g_array_unref(ps->series);
        g_free(ps->times);
}

void proposals_find(Proposals *ps, const ReplayRequests *r, StoreReader *reader)
{
        ps->requests = r;
        ps->times = g_new0(guint32, r->n_nodes);
        for (guint label = 1; label < G_MAXUINT8; label++) {
                const char *name = store_reader_label(reader, label);

                ps->is_query[label] = name && g_str_has_prefix(name, "DNS ");
        }
        for (guint32 i = 0; i < r->requests->len; i++) {
                const ReplayRequest *q = replay_request_at(r, i);
                guint32 n = replay_call_at(r, q->first_call)->size;

                find_in_facts(ps, q);
                for (guint32 k = q->first_call; k < q->first_call + n; k++)
                        if (replay_call_at(r, k)->size > 1)
                                find_in_visit(ps, k);
        }
        drop_decided(ps);
        for (NodeId node = 0; node < r->n_nodes; node++)
                if (r->workers[node] > 0)
                        proposals_get(ps, g_strdup_printf("k%u", node), ADVICE_WORKERS, node,
                                      NO_NODE)
                                ->workers = r->workers[node];
}
