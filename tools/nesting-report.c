/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/nesting-report.h"


#include "calls/forwarded.h"
#include "paths/path-clocks.h"
#include "tools/result.h"
#include "tools/tool.h"

static void report_forwarded(const KnownCalls *calls)
{
        enum { SHOWN = 3 };
        g_autoptr(GArray) forwarded = forwarded_find(calls->matcher);
        const NodeTable *nodes = calls->nodes;

        for (guint i = 0; i < MIN(forwarded->len, SHOWN); i++) {
                const Forwarded *f = &g_array_index(forwarded, Forwarded, i);

                tool_warn(
                        "%" G_GUINT64_FORMAT " of these returns are sent by %s to %s, which calls "
                        "%s: forwarded calls are for convolution",
                        f->answers, node_table_written(nodes, f->answering),
                        node_table_written(nodes, f->caller), node_table_written(nodes, f->callee));
        }
        if (forwarded->len > SHOWN)
                tool_warn("%u other pairs of nodes forward calls in this way",
                          forwarded->len - SHOWN);
}

void nesting_report_matching(const KnownCalls *known, const TraceReader *reader)
{
        const char *name = trace_reader_name(reader);
        const MatchCounts *counts = call_matcher_counts(known->matcher);
        guint64 calls = counts->pairs + counts->lone_calls;

        if (counts->linked && !calls && !counts->lone_returns) {
                ; /* messages that continue each other are paths, too */
        } else if (!counts->messages) {
                tool_report_empty(reader);
        } else if (!counts->pairs && !calls && !counts->lone_returns) {
                tool_warn("%s: no calls, only %" G_GUINT64_FORMAT
                          " one-way messages: nesting needs calls and returns, ravel convolution "
                          "does not",
                          name, counts->one_way);
        } else if (!counts->pairs && !counts->lone_returns) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " calls has a return: capture where "
                          "both directions pass",
                          name, calls);
        } else if (!counts->pairs && !calls) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " returns has a call: capture where "
                          "both directions pass",
                          name, counts->lone_returns);
        } else if (!counts->pairs) {
                tool_warn("%s: none of %" G_GUINT64_FORMAT " calls and %" G_GUINT64_FORMAT
                          " returns match: a return must have its call's id, and go from its "
                          "receiver to its sender",
                          name, counts->lone_calls, counts->lone_returns);
        } else {
                if (counts->lone_calls > known->silent)
                        tool_warn("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                  " calls are left out: they have no return",
                                  counts->lone_calls - known->silent, calls);
                if (counts->lone_returns)
                        tool_warn("%" G_GUINT64_FORMAT " returns are left out: they have no call",
                                  counts->lone_returns);
        }
        if (counts->lone_returns)
                report_forwarded(known);
        if (counts->one_way && (counts->linked || calls || counts->lone_returns))
                tool_warn("%" G_GUINT64_FORMAT
                          " one-way messages are left out: ravel convolution uses them",
                          counts->one_way);
        if (known->links.lost)
                tool_warn("%" G_GUINT64_FORMAT " messages lay in queues until their paths had been "
                          "written: they start paths of their own",
                          known->links.lost);
        if (known->roles.folded)
                tool_warn("%u clients are shown as one node, \"client\" (--no-fold keeps them)",
                          known->roles.folded);
}

char *nesting_report_parameters(const NestingOptions *o, SiblingOrder siblings,
                                const NodeTable *nodes, const GArray *clocks, const Nesting *n)
{
        g_autoptr(GString) text = g_string_new(NULL);
        gboolean joint = nesting_parents_from(o) == PARENTS_JOINT;

        g_string_printf(text,
                        "method=%s\npenalty=%g,%g,%g\nskew_window_ns=%" G_GINT64_FORMAT
                        "\nsmooth=%g\nfold=%d\nsibling_order=%s\nmax_call_ns=%" G_GINT64_FORMAT
                        "\nwindow_ns=%" G_GINT64_FORMAT "\n",
                        nesting_methods[o->method].name, o->overlap, o->same, o->any, o->window,
                        o->smooth, o->fold, siblings == SIBLINGS_STRICT ? "strict" : "multiset",
                        o->max_call, o->span);
        path_clocks_append_parameters(text, clocks, nodes);
        if (joint && n)
                g_string_append_printf(text, "log_likelihood=%.0f\n",
                                       nesting_log_likelihood(n, FALSE));
        if (joint && n && nesting_methods[o->method].truth)
                g_string_append_printf(text, "true_log_likelihood=%.0f\n",
                                       nesting_log_likelihood(n, TRUE));
        return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Whether the clocks of a node's two sides agree, call by call. */
static void count_both_ends(const CallPairs *c, Fitness *fitness)
{
        const guint all = 1 << CALL_SENT | 1 << CALL_RECV | 1 << RET_SENT | 1 << RET_RECV;

        for (guint32 i = 0; c->both_ends && i < c->n; i++)
                if (c->edge[i] && (c->stamps[i] & all) == all) {
                        fitness->both_ends++;
                        fitness->too_early += c->at_callee[i].from < c->at_caller[i].from ||
                                              c->at_caller[i].to < c->at_callee[i].to;
                }
}

Verdict *nesting_report_judge(const KnownCalls *k, const TraceReader *reader)
{
        guint n_edges;
        const Edge *edges = call_matcher_edges(k->matcher, &n_edges);
        const MatchCounts *counts = call_matcher_counts(k->matcher);
        g_autofree EdgeCalls *calls = g_new(EdgeCalls, n_edges);
        Fitness fitness = { .calls = counts->pairs + counts->linked + counts->lone_calls,
                            .returns = counts->pairs + counts->linked,
                            .one_way = counts->one_way };
        Verdict *verdict;

        count_both_ends(&k->pairs, &fitness);
        for (guint i = 0; i < n_edges; i++)
                calls[i] = (EdgeCalls){ edges[i].caller, edges[i].callee,
                                        edges[i].pairs + edges[i].lone_calls };
        verdict = result_judge(reader, &fitness, calls, n_edges, FALSE, k->nodes);
        for (NodeId i = 0; k->roles.folded && verdict->folded == NO_NODE; i++)
                if (k->roles.fold[i] != i)
                        verdict->folded = k->roles.fold[i];
        return verdict;
}
