/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Latencies after a change, for people.
 */
#include <math.h>

#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/text-table.h"
#include "write/write-whatif.h"

enum { MAX_GAINS = 10, WHATIF_MEANING_WIDTH = 100 };

static char *whatif_duration(double ns)
{
        return path_format_duration((gint64)round(ns));
}

static char *whatif_node_name(const NodeTable *nodes, NodeId node)
{
        return printable_new(node_table_written(nodes, node), PRINTABLE_TEXT);
}

static char *whatif_percent(double share)
{
        return g_strdup_printf("%.0f %%", 100 * share);
}

/* --- what was changed ------------------------------------------------------ */

static void append_note(const WhatIfNote *note, const NodeTable *nodes, guint width, GString *out)
{
        const WhatIfChange *c = note->change;
        g_autofree char *node = c->node == NO_NODE ? NULL : whatif_node_name(nodes, c->node);
        g_autofree char *n = path_format_count(note->n),
                        *after = whatif_duration((double)note->after);
        double uses = (double)(note->cache.hits + note->cache.misses);
        g_autofree char *look_ups = path_format_count((guint64)uses);
        g_autofree char *hits = whatif_percent((double)note->cache.hits / MAX(uses, 1));
        g_autofree char *wanted = whatif_percent(c->factor);

        switch (c->kind) {
        case CHANGE_DROP:
                text_append_line(out, " ", 0, width, "%s: %s calls are not made.", node, n);
                break;
        case CHANGE_PARALLEL:
                text_append_line(out, " ", 0, width, "%s: calls at the same time in %s visits.",
                                 node, n);
                break;
        case CHANGE_WORKERS:
                if (note->workers == 0)
                        text_append_line(out, " ", 0, width,
                                         "%s: no queue was found there, so its calls had as many "
                                         "workers as they needed.",
                                         node);
                break;
        case CHANGE_HEDGE:
                text_append_line(out, " ", 0, width, "%s: a second call after %s.", node, after);
                break;
        case CHANGE_HIT:
                text_append_line(out, " ", 0, width, "%s: hits are %s of %s look-ups now, then %s.",
                                 node, hits, look_ups, wanted);
                break;
        case CHANGE_OWN:
        case CHANGE_OWN_LESS:
        case CHANGE_RATE:
        default:
                break;
        }
}

static void append_workers(const WhatIf *w, NodeId node, const NodeTable *nodes, guint width,
                           GString *out)
{
        const ReplayLoad *now = &w->now[node], *then = &w->then[node];
        g_autofree char *name = whatif_node_name(nodes, node);
        g_autofree char *busy = whatif_percent(now->busy), *busy_then = whatif_percent(then->busy);

        if (now->workers == 0 && (then->workers == 0 || w->notes->len == 0))
                return;
        if (w->notes->len == 0)
                text_append_line(out, " ", 0, width, "%s: %u worker%s, %s busy.", name,
                                 now->workers, now->workers == 1 ? "" : "s", busy);
        else if (now->workers == then->workers)
                text_append_line(out, " ", 0, width, "%s: %u worker%s, %s busy now, then %s.", name,
                                 now->workers, now->workers == 1 ? "" : "s", busy, busy_then);
        else
                text_append_line(out, " ", 0, width, "%s: then %u worker%s, %s busy.", name,
                                 then->workers, then->workers == 1 ? "" : "s", busy_then);
}

static void append_head(const WhatIf *w, const NodeTable *nodes, guint width, GString *out)
{
        gsize before = out->len;
        g_autofree char *waiting = path_format_count(w->waiting);

        for (guint i = 0; i < w->notes->len; i++)
                append_note(&g_array_index(w->notes, WhatIfNote, i), nodes, width, out);
        for (NodeId i = 0; i < w->requests->n_nodes; i++)
                append_workers(w, i, nodes, width, out);
        if (w->waiting > 0)
                text_append_line(out, " ", 0, width,
                                 "%s requests follow an answer that their client waited for.",
                                 waiting);
        if (w->full != NO_NODE) {
                g_autofree char *name = whatif_node_name(nodes, w->full);
                gboolean stuck = w->now[w->full].stuck || w->then[w->full].stuck;

                text_append_line(out, " ", 0, width,
                                 "%s would be full: %s, so there are no figures.", name,
                                 stuck ? "its workers would wait for each other"
                                       : "requests would come faster than it serves them");
        }
        if (out->len > before)
                g_string_append_c(out, '\n');
}

/* --- figures --------------------------------------------------------------- */

static void add_figure(TextTable *table, const char *name, const WhatIfFigure *f)
{
        text_table_add(table, g_strdup(name));
        text_table_add(table, whatif_duration(f->now));
        if (!f->is_known) {
                for (guint i = 0; i < 4; i++)
                        text_table_add(table, g_strdup("?"));
                return;
        }
        text_table_add(table, whatif_duration(f->then));
        text_table_add(table, whatif_duration(f->low));
        text_table_add(table, whatif_duration(f->high));
        text_table_add(table,
                       g_strdup_printf("%+.0f %%", 100 * (f->then - f->now) / MAX(f->now, 1)));
}

static void append_figures_table(const WhatIfEntry *e, guint width, GString *out)
{
        static const char *const headings[] = { "", "now", "then", "from", "to", "change", NULL };
        g_autoptr(TextTable) table = text_table_new_headed(TEXT_LEFT, headings);
        g_autofree char *slower = path_format_count(e->slower);
        gboolean unknown = FALSE;

        for (guint k = 0; k < N_FIGURES; k++) {
                add_figure(table, figure_names[k], &e->figures[k]);
                unknown |= !e->figures[k].is_known;
        }
        text_table_write(table, "  ", out);
        text_append_line(out, " ", 2, width, "%s requests take longer.", slower);
        if (unknown)
                text_append_line(out, " ", 2, width,
                                 "?: the change is less than the error of the prediction.");
}

static char *format_gain(const WhatIfFigure *f)
{
        g_autofree char *gain = whatif_duration(f->now - f->then);
        g_autofree char *error = whatif_duration(f->error);

        return f->is_known ? g_strdup_printf("%s +-%s", gain, error) : g_strdup("?");
}

static void append_gains(const WhatIfEntry *e, const NodeTable *nodes, guint width, GString *out)
{
        static const char *const headings[] = { "10 % quicker", "p99 falls by", "mean falls by",
                                                NULL };
        g_autoptr(TextTable) table = text_table_new_headed(TEXT_LEFT, headings);

        for (guint i = 0; i < e->gains->len && i < MAX_GAINS; i++) {
                const WhatIfGain *gain = &g_array_index(e->gains, WhatIfGain, i);

                text_table_add(table, whatif_node_name(nodes, gain->node));
                text_table_add(table, format_gain(&gain->figures[FIGURE_P99]));
                text_table_add(table, format_gain(&gain->figures[FIGURE_MEAN]));
        }
        text_table_write(table, "  ", out);
        if (e->gains->len > MAX_GAINS)
                text_append_line(out, " ", 2, width, "And %u more, which bring less.",
                                 e->gains->len - MAX_GAINS);
}

static void whatif_append_entry(const WhatIfEntry *e, const NodeTable *nodes, guint width,
                                GString *out)
{
        g_autofree char *name = whatif_entry_name(e, nodes);
        g_autofree char *title = path_pattern_title(e->label, name);
        g_autofree char *count = path_format_count(e->count);

        text_append_line(out, " ", 0, width, "%s: %s requests", title, count);
        if (e->gains)
                append_gains(e, nodes, width, out);
        else
                append_figures_table(e, width, out);
        g_string_append_c(out, '\n');
}

static void append_few_requests(const WhatIf *w, guint n, const NodeTable *nodes, guint width,
                                GString *out)
{
        g_autoptr(GString) line = g_string_new(NULL);

        for (guint i = 0; i < n; i++) {
                const WhatIfEntry *e = g_ptr_array_index(w->entries, i);
                g_autofree char *name = whatif_entry_name(e, nodes);
                g_autofree char *title = path_pattern_title(e->label, name);

                if (e->count < WHATIF_FEWEST)
                        g_string_append_printf(line, "%s%s (%" G_GUINT64_FORMAT ")",
                                               line->len ? ", " : "", title, e->count);
        }
        if (line->len == 0)
                return;
        g_string_prepend(line, "Too few requests to say anything, " G_STRINGIFY(
                                       WHATIF_FEWEST) " are needed: ");
        text_append_wrapped(out, line->str, " ", 0, width);
        g_string_append_c(out, '\n');
}

static const char whatif_meaning[] =
        "from, to: a measurement of the same length after the change lies between with 95 %.";

void whatif_write_text(const WhatIf *w, const NodeTable *nodes, guint n, guint width, GString *out)
{
        gboolean figures = FALSE;

        append_head(w, nodes, width, out);
        for (guint i = 0; i < n; i++) {
                const WhatIfEntry *e = g_ptr_array_index(w->entries, i);

                if (!e->has_figures)
                        continue;
                whatif_append_entry(e, nodes, width, out);
                figures |= !e->gains;
        }
        append_few_requests(w, n, nodes, width, out);
        if (n < w->entries->len)
                g_string_append_printf(out, "And %u more (-n 0: all).\n\n", w->entries->len - n);
        if (w->entries->len == 0)
                g_string_append(out, "No requests.\n");
        if (figures)
                text_append_wrapped(out, whatif_meaning, " ", 0,
                                    width > 0 ? width : WHATIF_MEANING_WIDTH);
}
