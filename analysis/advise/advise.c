/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/advise/advise.h"

#include <math.h>
#include <string.h>

#include "analysis/whatif/asking.h"
#include "analysis/whatif/whatif.h"
#include "base/compare.h"

typedef struct {
        Advice *advice;
        StoreReader *reader;
        ReplayRequests *requests;
        ReplaySettings *settings;
        Asking asking;
        ReplayLoad *now, *then; /* by node */
        GArray *undo;           /* of UndoneCall */
} Advising;

/* A call as it was. */
typedef struct {
        guint32 call;
        ReplayCall before;
} UndoneCall;

static void finding_free(gpointer data)
{
        Finding *f = data;

        g_free(f->label);
        g_free(f->entry_label);
        g_free(f);
}

/* --- changes --------------------------------------------------------------- */

static ReplayCall *call_edit(Advising *a, guint32 call)
{
        UndoneCall u = { call, *replay_call_at(a->requests, call) };

        g_array_append_val(a->undo, u);
        return replay_call_at(a->requests, call);
}

/* It is sent with the first of its series. */
static void call_join(Advising *a, guint32 call, guint32 first)
{
        ReplayCall *c = call_edit(a, call);

        c->follows = AFTER_START;
        c->after = call - first;
        c->gap = 0;
        call_edit(a, call - c->up)->unordered = TRUE;
}

static void shorten(gint64 *time, gint64 *less)
{
        gint64 part = CLAMP(*time, 0, *less);

        *time -= part;
        *less -= part;
}

/* The caller's time after a call: until the next one, or until its reply. */
static void hasten_caller(Advising *a, guint32 call, gint64 *less)
{
        const ReplayCall *c = replay_call_at(a->requests, call);
        guint32 caller = call - c->up, next = call + c->size;

        if (c->up == 0)
                return;
        if (next < caller + replay_call_at(a->requests, caller)->size)
                shorten(&call_edit(a, next)->gap, less);
        else
                shorten(&call_edit(a, caller)->last, less);
}

/* A connection is opened before the call is sent, which the gap has. If there is one tap, bytes
 * come in slowly after the callee was entered, or go out before its reply; or were sent again
 * later. */
static void call_hasten(Advising *a, guint32 call, guint cause, gint64 less)
{
        ReplayCall *c = call_edit(a, call);

        if (way_cause_opens(cause))
                shorten(&c->gap, &less);
        shorten(&c->there, &less);
        shorten(&c->back, &less);
        shorten(&c->last, &less);
        if (less > 0 && c->size > 1)
                shorten(&call_edit(a, call + 1)->gap, &less);
        if (less > 0)
                hasten_caller(a, call, &less);
}

/* The call in error is not made, and its retry is made at once, if that was next. */
static void call_succeed(Advising *a, guint32 call, guint32 retry)
{
        ReplayCall *c = call_edit(a, call);

        c->dropped = TRUE;
        if (retry == call + c->size && replay_call_at(a->requests, retry)->follows == AFTER_ALL)
                call_edit(a, retry)->gap = 0;
}

/* Gives the other replicas the worker count of the busiest. Theirs may have been underestimated from
 * too few calls. */
static void set_workers_alike(Advising *a, const Proposal *c)
{
        for (guint i = 0; i < c->callees->len; i++) {
                ReplayNode *node = &a->settings->nodes[g_array_index(c->callees, NodeId, i)];

                node->workers = MAX(node->workers, c->workers);
        }
}

static void proposal_apply(Advising *a, const Proposal *c)
{
        for (guint i = 0; i < c->edits->len; i++) {
                const AdviceEdit *e = &g_array_index(c->edits, AdviceEdit, i);

                switch (c->kind) {
                case ADVICE_REPEATED:
                case ADVICE_DNS:
                        call_edit(a, e->call)->dropped = TRUE;
                        break;
                case ADVICE_SERIAL:
                        call_join(a, e->call, e->other);
                        break;
                case ADVICE_WAY:
                        call_hasten(a, e->call, c->cause, e->time);
                        break;
                case ADVICE_RETRY:
                        call_succeed(a, e->call, e->other);
                        break;
                case ADVICE_SHARE:
                        call_edit(a, e->call)->node = e->other;
                        break;
                case ADVICE_WORKERS:
                case ADVICE_REPLICA:
                case N_ADVICE_KINDS:
                default:
                        break;
                }
        }
        if (c->kind == ADVICE_WORKERS)
                a->settings->nodes[c->node].workers = c->workers + 1;
        if (c->kind == ADVICE_REPLICA)
                a->settings->nodes[c->node].factor = c->usual / c->own;
        if (c->kind == ADVICE_SHARE)
                set_workers_alike(a, c);
}

static void proposal_undo(Advising *a)
{
        for (guint i = a->undo->len; i-- > 0;) {
                const UndoneCall *u = &g_array_index(a->undo, UndoneCall, i);

                *replay_call_at(a->requests, u->call) = u->before;
        }
        g_array_set_size(a->undo, 0);
        for (NodeId node = 0; node < a->requests->n_nodes; node++) {
                a->settings->nodes[node].workers = a->requests->workers[node];
                a->settings->nodes[node].factor = 1;
        }
}

/* --- gains ----------------------------------------------------------------- */

static gboolean gains(const WhatIfFigure *f, double least)
{
        return f->is_known && f->now - f->then >= least * f->now;
}

/* The sum over the requests of an entry, ns. */
static double entry_gain(const Asking *a, guint entry)
{
        double sum = 0;

        for (guint32 i = a->first[entry]; i < a->first[entry + 1]; i++)
                sum += (double)(a->base[i] - a->then[i]);
        return sum;
}

/* Sets the entry of a finding: of those with a gain beyond its error, that which gains most. */
static gboolean finding_set_entry(const Advising *a, Finding *f)
{
        double most = 0;

        for (guint i = 0; i < a->requests->entries->len; i++) {
                const ReplayEntry *e = &g_array_index(a->requests->entries, ReplayEntry, i);
                WhatIfFigure figures[N_FIGURES];
                double gain = entry_gain(&a->asking, i);

                if (e->count < WHATIF_FEWEST || gain <= most)
                        continue;
                asking_figures(&a->asking, i, a->asking.of_now, figures);
                if (!gains(&figures[FIGURE_MEAN], ADVICE_LEAST_MEAN) &&
                    !gains(&figures[FIGURE_P99], ADVICE_LEAST_P99))
                        continue;
                most = gain;
                f->client = e->client;
                f->root = e->root;
                f->count = e->count;
                g_free(f->entry_label);
                f->entry_label = g_strdup(e->label);
                memcpy(f->figures, figures, sizeof figures);
        }
        return most > 0;
}

static void note_example(Finding *f, gint64 *gains_of, guint64 request, gint64 gain)
{
        guint at = FINDING_EXAMPLES;

        for (; at > 0 && gain > gains_of[at - 1]; at--)
                if (at < FINDING_EXAMPLES) {
                        gains_of[at] = gains_of[at - 1];
                        f->examples[at] = f->examples[at - 1];
                }
        if (at == FINDING_EXAMPLES)
                return;
        gains_of[at] = gain;
        f->examples[at] = request;
}

static void finding_set_requests(const Advising *a, Finding *f)
{
        gint64 most[FINDING_EXAMPLES] = { 0 };

        for (guint32 i = 0; i < a->requests->requests->len; i++) {
                const ReplayRequest *q = replay_request_at(a->requests, i);
                guint32 place = a->asking.place[i];
                gint64 gain = a->asking.base[place] - a->asking.then[place];

                f->gain += (double)gain;
                if (gain <= 0)
                        continue;
                f->requests++;
                f->probability += (double)q->probability;
                note_example(f, most, (guint64)q->number + 1, gain);
        }
        f->probability /= (double)MAX(f->requests, 1);
}

static void judge_proposal(Advising *a, Proposal *c)
{
        Finding *f = g_new0(Finding, 1);

        proposal_apply(a, c);
        asking_replay(&a->asking, a->settings, a->then);
        proposal_undo(a);
        g_clear_pointer(&c->edits, g_array_unref);
        f->proposal = c;
        if (asking_find_full(&a->asking, NULL, a->then) != NO_NODE || !finding_set_entry(a, f)) {
                finding_free(f);
                return;
        }
        finding_set_requests(a, f);
        f->busy = a->now[c->node].busy;
        if (c->kind == ADVICE_REPEATED || c->kind == ADVICE_SERIAL)
                f->label = g_strdup(store_reader_label(a->reader, c->label));
        g_ptr_array_add(a->advice->findings, f);
}

static gboolean has_share(const GPtrArray *findings, NodeId node)
{
        for (guint i = 0; i < findings->len; i++) {
                const Proposal *c = ((Finding *)findings->pdata[i])->proposal;

                if (c->kind == ADVICE_SHARE && c->node == node)
                        return TRUE;
        }
        return FALSE;
}

/* A pool is not full for want of workers if other replicas have them idle. */
static void drop_idle_elsewhere(GPtrArray *findings)
{
        for (guint i = findings->len; i-- > 0;) {
                const Proposal *c = ((Finding *)findings->pdata[i])->proposal;

                if (c->kind == ADVICE_WORKERS && has_share(findings, c->node))
                        g_ptr_array_remove_index(findings, i);
        }
}

static int compare_findings(gconstpointer va, gconstpointer vb)
{
        const Finding *a = *(Finding *const *)va, *b = *(Finding *const *)vb;
        const Proposal *x = a->proposal, *y = b->proposal;

        return COMPARE(b->gain, a->gain) ?:
               COMPARE(x->kind, y->kind) ?:
               COMPARE(x->node, y->node) ?:
               COMPARE(x->callee, y->callee) ?:
               COMPARE(x->cause, y->cause) ?:
               COMPARE(x->label, y->label);
}

/* --- public ---------------------------------------------------------------- */

static void advising_run(Advising *a)
{
        Proposals *ps = &a->advice->proposals;

        a->settings = replay_settings_new(a->requests);
        a->now = g_new0(ReplayLoad, a->requests->n_nodes);
        a->then = g_new0(ReplayLoad, a->requests->n_nodes);
        a->undo = g_array_new(FALSE, FALSE, sizeof(UndoneCall));
        asking_begin(&a->asking, a->requests, a->settings, a->now);
        proposals_find(ps, a->requests, a->reader);
        proposals_find_replicas(ps);
        for (guint i = 0; i < ps->all->len; i++)
                judge_proposal(a, ps->all->pdata[i]);
        drop_idle_elsewhere(a->advice->findings);
        g_ptr_array_sort(a->advice->findings, compare_findings);
        asking_clear(&a->asking);
        replay_settings_free(a->settings);
        g_free(a->now);
        g_free(a->then);
        g_array_unref(a->undo);
}

Advice *advice_new(StoreReader *reader, const NodeTable *nodes, GError **error)
{
        g_autoptr(Advice) advice = g_new0(Advice, 1);
        g_autoptr(ReplayRequests) requests = NULL;
        Advising a = { .advice = advice, .reader = reader };

        advice->findings = g_ptr_array_new_with_free_func(finding_free);
        proposals_begin(&advice->proposals);
        if (!(requests = replay_requests_load(reader, nodes, proposals_take, &advice->proposals,
                                              error)))
                return NULL;
        a.requests = requests;
        advice->requests = requests->requests->len;
        advising_run(&a);
        advice->proposals.requests = NULL;
        return g_steal_pointer(&advice);
}

void advice_free(Advice *advice)
{
        if (!advice)
                return;
        g_ptr_array_unref(advice->findings);
        proposals_clear(&advice->proposals);
        g_free(advice);
}
