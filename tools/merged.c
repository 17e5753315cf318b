/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/merged.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/printable.h"
#include "tools/nesting-report.h"
#include "tools/partial.h"
#include "tools/result.h"
#include "tools/tool.h"

/* A line of --calls, with where it goes. */
typedef struct {
        gint64 start, first; /* of the call, and its first message, ns */
        guint32 ordinal;     /* of that among those of the same moment */
        guint32 pattern;     /* NO_PATTERN: cut by the capture */
        guint64 instance;
        float probability;
        char *line; /* but for these */
} CallLine;

static void line_clear(gpointer line)
{
        g_free(((CallLine *)line)->line);
}

/* What one process knows of the trace when it is read. */
static void know_calls(Merged *w, NodeTable *nodes)
{
        const Learned *l = w->learned;
        KnownCalls *k = &w->known;

        known_calls_init(k, nodes, l->how.window, l->how.max_call, l->how.fold, 0);
        call_matcher_take(k->matcher, (const Edge *)l->edges->data, l->edges->len, &l->counts,
                          (const LoneMessage *)l->lone->data, l->lone->len);
        known_calls_find_roles(k, FALSE);
        k->children = l->children;
        k->nestings = l->nestings;
}

static void put_call(GString *line, const Merged *w, const PathCall *c)
{
        g_string_append_printf(line, "%s\t%s\t", node_table_written(w->known.nodes, c->caller),
                               node_table_written(w->known.nodes, c->callee));
        printable_append_id(line, c->id_length ? c->id : "-", MAX(c->id_length, 1));
}

static void append_line(Merged *w, const DecidedReader *r, guint32 i, gboolean is_cut)
{
        const PathCall *c = &r->path[i];
        const PathCall *parent = c->parent == NO_PARENT ? NULL : &r->path[c->parent];
        g_autoptr(GString) line = g_string_new(NULL);
        CallLine entry = { .start = c->start,
                           .first = MIN(MIN(c->start, c->enter), MIN(c->reply, c->end)),
                           .ordinal = r->ordinal[i],
                           .pattern = is_cut ? NO_PATTERN : path_set_latest(w->set),
                           .instance = w->instances,
                           .probability = parent ? c->probability : 1 };

        tool_append_time(line, c->start);
        g_string_append_c(line, '\t');
        tool_append_time(line, c->end);
        g_string_append_c(line, '\t');
        put_call(line, w, c);
        g_string_append_c(line, '\t');
        if (parent) {
                tool_append_time(line, parent->start);
                g_string_append_c(line, '\t');
                put_call(line, w, parent);
        } else {
                g_string_append(line, "-\t-\t-\t-");
        }
        entry.line = g_string_free(g_steal_pointer(&line), FALSE);
        g_array_append_val(w->lines, entry);
}

static gboolean add_instance(Merged *w, DecidedReader *r, guint32 n, gboolean is_cut,
                             GError **error)
{
        if (is_cut)
                path_set_summary(w->set)->cut_instances++;
        else if (!path_set_add(w->set, r->path, n, error))
                return FALSE;
        for (guint32 i = 0; w->lines && i < n; i++)
                append_line(w, r, i, is_cut);
        w->instances += !is_cut;
        return TRUE;
}

static int compare_lines(const void *a, const void *b)
{
        const CallLine *x = a, *y = b;

        if (x->start != y->start)
                return COMPARE(x->start, y->start);
        return x->first != y->first ? COMPARE(x->first, y->first) : COMPARE(x->ordinal, y->ordinal);
}

static void end_line(const Merged *w, const CallLine *l, GString *line)
{
        g_string_assign(line, l->line);
        if (l->pattern == NO_PATTERN)
                g_string_append(line, "\t-\t-\t");
        else
                g_string_append_printf(line,
                                       "\t%" G_GUINT64_FORMAT "\t%016" G_GINT64_MODIFIER "x\t",
                                       l->instance, path_set_outline(w->set, l->pattern)->id);
        if (path_set_shows_probability(w->set))
                nesting_report_probability(line, l->probability);
        else
                g_string_append_c(line, '-');
        g_string_append_c(line, '\n');
}

/* --- the door ----------------------------------------------------------------------- */

void merged_init(Merged *w, const Learned *l, NodeTable *nodes, gboolean calls)
{
        *w = (Merged){ .learned = l };
        know_calls(w, nodes);
        call_labels_init(&w->labels);
        w->set = path_set_new(w->known.nodes, l->how.strict ? SIBLINGS_STRICT : SIBLINGS_MULTISET);
        path_set_set_fold(w->set, w->known.roles.fold);
        path_set_set_labels(w->set, w->labels.names);
        if (!calls)
                return;
        w->lines = g_array_new(FALSE, FALSE, sizeof(CallLine));
        g_array_set_clear_func(w->lines, line_clear);
}

void merged_clear(Merged *w)
{
        if (!w->learned)
                return;
        known_calls_clear(&w->known);
        call_labels_clear(&w->labels);
        path_set_free(w->set);
        if (w->lines)
                g_array_free(w->lines, TRUE);
}

void merged_take(Merged *w, PathSet *set, const GPtrArray *labels)
{
        g_free(merged_number_labels(w, labels)); /* in order, as they are in the set */
        path_set_free(w->set);
        w->set = set;
        path_set_be_whole(set, w->known.roles.fold, w->labels.names);
}

Verdict *merged_judge(const Merged *w, GArray *doubts)
{
        const Learned *l = w->learned;
        Fitness fitness = { .both_ends = l->both_ends, .too_early = l->too_early };

        return nesting_report_judge(&w->known, &fitness, (char *const *)l->facts->pdata,
                                    l->facts->len, doubts);
}

void merged_summarise(Merged *w, const Verdict *verdict)
{
        const MatchCounts *counts = call_matcher_counts(w->known.matcher);
        PathSetSummary *s = path_set_summary(w->set);

        s->method = nesting_methods[METHOD_PAPER].name;
        s->messages = counts->messages;
        s->calls = counts->pairs;
        s->unmatched_calls = counts->lone_calls;
        s->unmatched_returns = counts->lone_returns;
        s->parallelism = known_calls_parallelism(&w->known);
        s->first = counts->first;
        s->last = counts->last;
        s->verdict = verdict;
}

guint16 *merged_number_labels(Merged *w, const GPtrArray *labels)
{
        guint16 *number = g_new0(guint16, labels->len + 1);

        for (guint i = 0; i < labels->len; i++)
                number[i] = call_labels_number(&w->labels, labels->pdata[i]);
        path_set_set_labels(w->set, w->labels.names);
        return number;
}

gboolean merged_add(Merged *w, DecidedReader *r, const char *name, GError **error)
{
        g_autofree guint16 *label = merged_number_labels(w, r->labels);
        gboolean is_cut;
        guint32 n;
        int status;

        while ((status = decided_reader_next(r, &n, &is_cut, error)) > 0) {
                for (guint32 i = 0; i < n; i++)
                        if (r->path[i].label)
                                r->path[i].label = label[r->path[i].label - 1];
                if (!add_instance(w, r, n, is_cut, error))
                        return FALSE;
        }
        if (status < 0)
                partial_name_file(error, name);
        return status == 0;
}

gboolean merged_write_calls(Merged *w, const char *path, GError **error)
{
        g_autoptr(GString) line = g_string_new(NULL);
        g_autoptr(OutputFile) out = nesting_report_open_calls(path, FALSE, error);

        if (!out)
                return FALSE;
        if (w->lines->len)
                qsort(w->lines->data, w->lines->len, sizeof(CallLine), compare_lines);
        for (guint i = 0; i < w->lines->len; i++) {
                end_line(w, &g_array_index(w->lines, CallLine, i), line);
                if (!output_file_write(out, line->str, line->len, error))
                        return FALSE;
        }
        return output_file_close(g_steal_pointer(&out), error);
}

Store *merged_open_store(const Merged *w, const char *arguments, gboolean patterns_only,
                         GError **error)
{
        const LearnedHow *how = &w->learned->how;
        NestingOptions o = partial_options(how);
        g_autofree char *parameters = nesting_report_parameters(
                &o, how->strict ? SIBLINGS_STRICT : SIBLINGS_MULTISET, w->known.nodes, NULL, NULL);
        StoreRun run = { .arguments = arguments,
                         .parameters = parameters,
                         .patterns_only = patterns_only };

        return result_open_store(w->set, &run, error);
}

gboolean merged_close_store(const Merged *w, Store *store, const char *digest, GError **error)
{
        const Learned *l = w->learned;

        return result_close_store_of(store, l->trace, digest, (char *const *)l->facts->pdata,
                                     l->facts->len, error);
}
