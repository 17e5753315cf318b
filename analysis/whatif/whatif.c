/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/whatif.h"

#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "base/error.h"

/* Latencies of the requests of each entry, in the order of time. */
typedef struct {
        WhatIf *whatif;
        const NodeTable *nodes;
        gint64 *now, *base, *then; /* by request, entry after entry */
        gint64 *latency;           /* by request, as replayed */
        guint32 *place;            /* by request, in these */
        guint32 *first;            /* by entry, in these */
        double *doubt;             /* by entry */
} Asking;

static const WhatIfChange *change_at(const GArray *changes, guint i)
{
        return &g_array_index(changes, WhatIfChange, i);
}

static WhatIfEntry *entry_at(const WhatIf *w, guint i)
{
        return g_ptr_array_index(w->entries, i);
}

static void whatif_entry_free(gpointer data)
{
        WhatIfEntry *e = data;

        if (e->gains)
                g_array_unref(e->gains);
        g_free(e);
}

/* --- changes --------------------------------------------------------------- */

static gboolean note_fail(const WhatIfChange *c, const NodeTable *nodes, GError **error)
{
        return ravel_fail(
                error, RAVEL_ERROR_USAGE, "%s makes no %s", node_table_written(nodes, c->node),
                c->kind == CHANGE_PARALLEL ? "two of these calls in one visit" : "such call");
}

/* Those of a structure are made in the requests, the others in settings. */
static gboolean make_change(WhatIf *w, ReplaySettings *s, WhatIfNote *note, const NodeTable *nodes,
                            GError **error)
{
        const WhatIfChange *c = note->change;
        ReplayNode *node = c->node == NO_NODE ? NULL : &s->nodes[c->node];

        switch (c->kind) {
        case CHANGE_OWN:
                node->factor *= c->factor;
                return TRUE;
        case CHANGE_OWN_LESS:
                node->less += c->less;
                return TRUE;
        case CHANGE_PARALLEL:
                note->n = replay_requests_join(w->requests, c);
                return note->n > 0 || note_fail(c, nodes, error);
        case CHANGE_DROP:
                note->n = replay_requests_drop(w->requests, c);
                return note->n > 0 || note_fail(c, nodes, error);
        case CHANGE_WORKERS:
                note->workers = node->workers;
                node->workers = c->workers;
                return TRUE;
        case CHANGE_RATE:
                s->rate *= c->factor;
                return TRUE;
        case CHANGE_HEDGE:
                note->after = histogram_quantile(&w->requests->took[c->node], c->factor);
                node->hedge = MAX(note->after, 1);
                return w->requests->took[c->node].count > 0 ||
                       ravel_fail(error, RAVEL_ERROR_USAGE, "nobody calls %s",
                                  node_table_written(nodes, c->node));
        case CHANGE_HIT:
        default:
                return replay_requests_hit(w->requests, c, nodes, &note->cache, error);
        }
}

static gboolean make_changes(WhatIf *w, ReplaySettings *s, const GArray *changes,
                             const NodeTable *nodes, GError **error)
{
        for (guint i = 0; i < changes->len; i++) {
                WhatIfNote note = { .change = change_at(changes, i) };

                if (!make_change(w, s, &note, nodes, error))
                        return FALSE;
                g_array_append_val(w->notes, note);
        }
        return TRUE;
}

/* --- latencies ------------------------------------------------------------- */

static void add_entries(Asking *a)
{
        const ReplayRequests *r = a->whatif->requests;
        guint32 at = 0;

        a->first = g_new(guint32, r->entries->len + 1);
        a->doubt = g_new0(double, r->entries->len);
        for (guint i = 0; i < r->entries->len; i++) {
                const ReplayEntry *from = &g_array_index(r->entries, ReplayEntry, i);
                WhatIfEntry *e = g_new0(WhatIfEntry, 1);

                e->client = from->client;
                e->root = from->root;
                e->label = from->label;
                e->count = from->count;
                g_ptr_array_add(a->whatif->entries, e);
                a->first[i] = at;
                at += (guint32)from->count;
        }
        a->first[r->entries->len] = at;
}

static void place_requests(Asking *a)
{
        const ReplayRequests *r = a->whatif->requests;
        g_autofree guint32 *next = g_memdup2(a->first, r->entries->len * sizeof *next);

        a->place = g_new(guint32, r->requests->len);
        a->now = g_new(gint64, r->requests->len);
        a->base = g_new(gint64, r->requests->len);
        a->then = g_new(gint64, r->requests->len);
        a->latency = g_new(gint64, r->requests->len);
        for (guint32 i = 0; i < r->requests->len; i++) {
                const ReplayRequest *q = replay_request_at(r, i);

                a->place[i] = next[q->entry]++;
                a->now[a->place[i]] = q->latency;
                a->doubt[q->entry] += 1 - (double)q->probability;
        }
        for (guint i = 0; i < r->entries->len; i++)
                a->doubt[i] /= (double)MAX(entry_at(a->whatif, i)->count, 1);
}

static void replay_into(Asking *a, const ReplaySettings *s, gint64 *times, ReplayLoad *loads)
{
        replay_run(a->whatif->requests, s, a->latency, loads);
        for (guint32 i = 0; i < a->whatif->requests->requests->len; i++)
                times[a->place[i]] = a->latency[i];
}

static void set_figures(const Asking *a, guint entry, const gint64 *now, WhatIfFigure *figures)
{
        guint32 first = a->first[entry];

        whatif_figures_find(now + first, a->base + first, a->then + first,
                            a->first[entry + 1] - first, a->doubt[entry], figures);
}

static void count_slower(const Asking *a, guint entry)
{
        WhatIfEntry *e = entry_at(a->whatif, entry);

        for (guint32 i = a->first[entry]; i < a->first[entry + 1]; i++)
                e->slower += a->then[i] > a->base[i];
}

/* --- answers --------------------------------------------------------------- */

/* Clients that ask at their own times fill a queue without an end. */
static void find_full(WhatIf *w)
{
        for (guint i = 0; i < w->requests->n_nodes && w->full == NO_NODE; i++)
                if (w->now[i].stuck || w->then[i].stuck)
                        w->full = i;
        if (w->full != NO_NODE || w->waiting * 2 > w->requests->requests->len)
                return;
        for (guint i = 0; i < w->requests->n_nodes; i++)
                if (w->then[i].busy >= WHATIF_FULL &&
                    (w->full == NO_NODE || w->then[i].busy > w->then[w->full].busy))
                        w->full = i;
}

static gboolean is_many(const WhatIfEntry *e)
{
        return e->count >= WHATIF_FEWEST;
}

static void ask_changes(Asking *a, const ReplaySettings *s)
{
        WhatIf *w = a->whatif;

        replay_into(a, s, a->then, w->then);
        find_full(w);
        for (guint i = 0; i < w->entries->len; i++) {
                WhatIfEntry *e = entry_at(w, i);

                if (!is_many(e) || w->full != NO_NODE)
                        continue;
                e->has_figures = TRUE;
                set_figures(a, i, a->now, e->figures);
                count_slower(a, i);
        }
}

static int compare_gains(gconstpointer va, gconstpointer vb)
{
        const WhatIfGain *a = va, *b = vb;
        const WhatIfFigure *fa = &a->figures[FIGURE_P99], *fb = &b->figures[FIGURE_P99];

        return COMPARE(fb->now - fb->then, fa->now - fa->then) ?: COMPARE(a->node, b->node);
}

static void ask_node(Asking *a, ReplaySettings *s, NodeId node)
{
        WhatIf *w = a->whatif;

        s->nodes[node].factor = WHATIF_QUICKER;
        replay_into(a, s, a->then, w->then);
        s->nodes[node].factor = 1;
        for (guint i = 0; i < w->entries->len; i++) {
                WhatIfEntry *e = entry_at(w, i);
                WhatIfGain gain = { .node = node };

                if (!is_many(e))
                        continue;
                e->has_figures = TRUE;
                set_figures(a, i, a->base, gain.figures);
                if (gain.figures[FIGURE_MEAN].then != gain.figures[FIGURE_MEAN].now)
                        g_array_append_val(e->gains, gain);
        }
}

static void ask_table(Asking *a, ReplaySettings *s)
{
        WhatIf *w = a->whatif;

        for (guint i = 0; i < w->entries->len; i++)
                entry_at(w, i)->gains = g_array_new(FALSE, FALSE, sizeof(WhatIfGain));
        find_full(w);
        for (NodeId node = 0; node < w->requests->n_nodes && w->full == NO_NODE; node++)
                if (w->requests->took[node].count > 0)
                        ask_node(a, s, node);
        for (guint i = 0; i < w->entries->len; i++)
                g_array_sort(entry_at(w, i)->gains, compare_gains);
}

COMPARISON_OF_POINTERS(compare_whatif_entries, WhatIfEntry, COMPARE(b->count, a->count) ?: COMPARE(a->client, b->client) ?: COMPARE(a->root, b->root) ?: g_strcmp0(a->label, b->label))

static void asking_clear(Asking *a)
{
        g_free(a->now);
        g_free(a->base);
        g_free(a->then);
        g_free(a->latency);
        g_free(a->place);
        g_free(a->first);
        g_free(a->doubt);
}

WhatIf *whatif_new(StoreReader *reader, const NodeTable *nodes, const GArray *changes,
                   GError **error)
{
        g_autoptr(WhatIf) w = g_new0(WhatIf, 1);
        g_autoptr(ReplaySettings) settings = NULL;
        Asking a = { .whatif = w, .nodes = nodes };
        gboolean ok;

        w->full = NO_NODE;
        w->entries = g_ptr_array_new_with_free_func(whatif_entry_free);
        w->notes = g_array_new(FALSE, FALSE, sizeof(WhatIfNote));
        if (!(w->requests = replay_requests_load(reader, nodes, error)))
                return NULL;
        w->waiting = w->requests->n_waiting;
        w->now = g_new0(ReplayLoad, w->requests->n_nodes);
        w->then = g_new0(ReplayLoad, w->requests->n_nodes);
        settings = replay_settings_new(w->requests);
        add_entries(&a);
        place_requests(&a);
        replay_into(&a, settings, a.base, w->now);
        if ((ok = make_changes(w, settings, changes, nodes, error))) {
                if (changes->len > 0)
                        ask_changes(&a, settings);
                else
                        ask_table(&a, settings);
                g_ptr_array_sort(w->entries, compare_whatif_entries);
        }
        asking_clear(&a);
        return ok ? g_steal_pointer(&w) : NULL;
}

void whatif_free(WhatIf *w)
{
        if (!w)
                return;
        g_ptr_array_unref(w->entries);
        g_array_unref(w->notes);
        replay_requests_free(w->requests);
        g_free(w->now);
        g_free(w->then);
        g_free(w);
}
