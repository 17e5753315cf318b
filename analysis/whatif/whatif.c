/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/whatif.h"

#include <math.h>
#include <string.h>

#include "analysis/whatif/asking.h"
#include "base/compare.h"
#include "base/error.h"

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

static void add_entries(WhatIf *w)
{
        for (guint i = 0; i < w->requests->entries->len; i++) {
                const ReplayEntry *from = &g_array_index(w->requests->entries, ReplayEntry, i);
                WhatIfEntry *e = g_new0(WhatIfEntry, 1);

                e->client = from->client;
                e->root = from->root;
                e->label = from->label;
                e->count = from->count;
                g_ptr_array_add(w->entries, e);
        }
}

static void count_slower(const WhatIf *w, const Asking *a, guint entry)
{
        WhatIfEntry *e = entry_at(w, entry);

        for (guint32 i = a->first[entry]; i < a->first[entry + 1]; i++)
                e->slower += a->then[i] > a->base[i];
}

/* --- answers --------------------------------------------------------------- */

static gboolean is_many(const WhatIfEntry *e)
{
        return e->count >= WHATIF_FEWEST;
}

static void ask_changes(WhatIf *w, Asking *a, const ReplaySettings *s)
{
        asking_replay(a, s, w->then);
        w->full = asking_find_full(a, w->now, w->then);
        for (guint i = 0; i < w->entries->len; i++) {
                WhatIfEntry *e = entry_at(w, i);

                if (!is_many(e) || w->full != NO_NODE)
                        continue;
                e->has_figures = TRUE;
                asking_figures(a, i, a->of_now, e->figures);
                count_slower(w, a, i);
        }
}

static int compare_gains(gconstpointer va, gconstpointer vb)
{
        const WhatIfGain *a = va, *b = vb;
        const WhatIfFigure *fa = &a->figures[FIGURE_P99], *fb = &b->figures[FIGURE_P99];

        return COMPARE(fb->now - fb->then, fa->now - fa->then) ?: COMPARE(a->node, b->node);
}

static void ask_node(WhatIf *w, Asking *a, ReplaySettings *s, NodeId node)
{
        s->nodes[node].factor = WHATIF_QUICKER;
        asking_replay(a, s, w->then);
        s->nodes[node].factor = 1;
        for (guint i = 0; i < w->entries->len; i++) {
                WhatIfEntry *e = entry_at(w, i);
                WhatIfGain gain = { .node = node };

                if (!is_many(e))
                        continue;
                e->has_figures = TRUE;
                asking_figures(a, i, a->of_base, gain.figures);
                if (gain.figures[FIGURE_MEAN].then != gain.figures[FIGURE_MEAN].now)
                        g_array_append_val(e->gains, gain);
        }
}

static void ask_table(WhatIf *w, Asking *a, ReplaySettings *s)
{
        for (guint i = 0; i < w->entries->len; i++)
                entry_at(w, i)->gains = g_array_new(FALSE, FALSE, sizeof(WhatIfGain));
        w->full = asking_find_full(a, w->now, w->then);
        for (NodeId node = 0; node < w->requests->n_nodes && w->full == NO_NODE; node++)
                if (w->requests->took[node].count > 0)
                        ask_node(w, a, s, node);
        for (guint i = 0; i < w->entries->len; i++)
                g_array_sort(entry_at(w, i)->gains, compare_gains);
}

COMPARISON_OF_POINTERS(compare_whatif_entries, WhatIfEntry,
                       COMPARE(b->count, a->count) ?:
                       COMPARE(a->client, b->client) ?:
                       COMPARE(a->root, b->root) ?:
                       g_strcmp0(a->label, b->label))

WhatIf *whatif_new(StoreReader *reader, const NodeTable *nodes, const GArray *changes,
                   GError **error)
{
        g_autoptr(WhatIf) w = g_new0(WhatIf, 1);
        g_autoptr(ReplaySettings) settings = NULL;
        Asking a = { NULL };
        gboolean ok;

        w->full = NO_NODE;
        w->entries = g_ptr_array_new_with_free_func(whatif_entry_free);
        w->notes = g_array_new(FALSE, FALSE, sizeof(WhatIfNote));
        if (!(w->requests = replay_requests_load(reader, nodes, NULL, NULL, error)))
                return NULL;
        w->waiting = w->requests->n_waiting;
        w->now = g_new0(ReplayLoad, w->requests->n_nodes);
        w->then = g_new0(ReplayLoad, w->requests->n_nodes);
        settings = replay_settings_new(w->requests);
        add_entries(w);
        asking_begin(&a, w->requests, settings, w->now);
        if ((ok = make_changes(w, settings, changes, nodes, error))) {
                if (changes->len > 0)
                        ask_changes(w, &a, settings);
                else
                        ask_table(w, &a, settings);
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
