/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/text-parts.h"

#include "paths/path-clocks.h"
#include "paths/path-text.h"
#include "paths/verdict.h"
#include "write/text-table.h"
#include "write/trust-text.h"

/* "3 calls without a return", nothing where n is 0. */
static void text_add_fact(GString *text, guint64 n, const char *one, const char *many)
{
        g_autofree char *count = path_format_count(n);

        if (n > 0)
                g_string_append_printf(text, "%s%s %s", text->len > 0 ? ", " : "", count,
                                       n == 1 ? one : many);
}

/* "6 h 12 min": how long a trace is, in its two largest units. */
static char *format_span(gint64 ns)
{
        gint64 s = ns / 1000000000;

        if (s < 120)
                return path_format_duration(ns);
        if (s < 2 * 3600)
                return g_strdup_printf("%d min %d s", (int)(s / 60), (int)(s % 60));
        if (s < 48 * 3600)
                return g_strdup_printf("%d h %d min", (int)(s / 3600), (int)(s / 60 % 60));
        return g_strdup_printf("%d days %d h", (int)(s / 86400), (int)(s / 3600 % 24));
}

static void text_add_span(GString *text, const PathSetSummary *summary)
{
        gint64 span;

        if (summary->first == NO_TIME || summary->last < summary->first ||
            __builtin_sub_overflow(summary->last, summary->first, &span))
                return;
        g_autofree char *length = format_span(span);
        g_autoptr(GDateTime) first = g_date_time_new_from_unix_utc(summary->first / 1000000000);
        g_autofree char *when = first ? g_date_time_format(first, "%Y-%m-%d %H:%M:%S UTC") : NULL;
        g_string_append_printf(text, ", over %s", length);
        if (when)
                g_string_append_printf(text, " from %s", when);
}

/* Of linear patterns it is not known which messages are one instance. */
static void add_found(GString *text, const PathSet *set)
{
        g_autofree char *patterns = path_format_count(path_set_size(set));
        gboolean linear = path_set_graph(set) != NULL, one = path_set_size(set) == 1;

        if (linear) {
                text_add_fact(text, path_set_instances(set), "message ends", "messages end");
                g_string_append_printf(text, " one of %s %s", patterns, one ? "path" : "paths");
        } else {
                text_add_fact(text, path_set_instances(set), "path", "paths");
                g_string_append_printf(text, " of %s %s", patterns, one ? "pattern" : "patterns");
        }
}

static void text_write_clocks(const PathSet *set, const char *what, gboolean doubtful,
                              const PathWriteOptions *options, GString *out)
{
        g_autofree char *clocks =
                path_clocks_text(path_set_summary(set)->clocks, path_set_nodes(set), doubtful);
        g_autofree char *line = g_strdup_printf("%s: %s.", what, clocks);

        if (clocks)
                text_append_wrapped(out, line, " ", 0, options->columns);
}

/* What its line begins with; the line after the last one says how many more there are. */
static const char *kind_of_doubt(const Verdict *v, guint i)
{
        static const char *const kinds[] = { [DOUBT_OF_CALLS] = "Doubtful",
                                             [DOUBT_OF_PAYLOAD] = "Not seen",
                                             [DOUBT_REMARK] = "Note" };

        return kinds[doubt_class(
                g_array_index(v->doubts, Doubt, MIN(i, v->doubts->len - 1)).reason)];
}

/* The judgement where the answer is not fit, and the edges that are doubtful. */
static void write_verdict(const PathSet *set, const PathWriteOptions *options, GString *out)
{
        const Verdict *v = path_set_summary(set)->verdict;

        if (!v)
                return;
        if (!v->fit && path_set_instances(set) > 0) {
                text_append_line(out, " ", 0, options->columns,
                                 "No probabilities are shown, as what was captured is %s.",
                                 v->judgement);
        }
        g_auto(GStrv) lines = doubts_to_lines(v->doubts, path_set_nodes(set));

        for (guint i = 0; lines[i]; i++) {
                text_append_line(out, " ", 2, options->columns, "%s: %s.", kind_of_doubt(v, i),
                                 lines[i]);
        }
}

/* What counts are by, where they are not of the instances found. */
static void write_drawn(const PathSet *set, const PathWriteOptions *options, GString *out)
{
        double elsewhere = path_set_drawn_elsewhere(set) / (double)path_set_instances(set);
        g_autofree char *text = trust_in_counts(path_set_probability(set), elsewhere);

        if (path_set_is_drawn(set))
                text_append_wrapped(out, text, " ", 0, options->columns);
}

void text_write_summary(const PathSet *set, const PathWriteOptions *options, GString *out)
{
        const PathSetSummary *summary = path_set_summary(set);
        g_autoptr(GString) read = g_string_new(NULL), aside = g_string_new(NULL);
        guint64 instances = path_set_instances(set);

        text_add_fact(read, summary->messages, "message", "messages");
        text_add_fact(read, summary->calls, "call", "calls");
        if (read->len > 0) {
                text_add_span(read, summary);
                if (summary->parallelism > 0)
                        g_string_append_printf(read, "; mean parallelism %.*f",
                                               summary->parallelism < 9.995 ? 2 : 1,
                                               summary->parallelism);
                g_string_append_c(read, '.');
                text_append_wrapped(out, read->str, " ", 0, options->columns);
        }
        text_add_fact(aside, summary->unmatched_calls, "call without a return",
                      "calls without a return");
        text_add_fact(aside, summary->unmatched_returns, "return without a call",
                      "returns without a call");
        text_add_fact(aside, summary->cut_instances, "path cut by the start or end of the trace",
                      "paths cut by the start or end of the trace");
        if (aside->len > 0) {
                g_string_prepend(aside, "Not in the table: ");
                g_string_append_c(aside, '.');
                text_append_wrapped(out, aside->str, " ", 0, options->columns);
        }
        g_string_truncate(read, 0);
        if (instances == 0)
                g_string_append(read, "No whole path was found");
        else
                add_found(read, set);
        if (options->n_patterns < path_set_size(set)) {
                g_autofree char *shown = path_format_count(options->n_patterns);
                g_string_append_printf(read, ", the first %s of them here", shown);
        }
        g_string_append_printf(read, " (method %s", summary->method);
        if (summary->model)
                g_string_append_printf(read, ", model %s", summary->model);
        g_string_append(read, ").");
        text_append_wrapped(out, read->str, " ", 0, options->columns);
        write_drawn(set, options, out);
        text_write_clocks(set, "Clocks put right", FALSE, options, out);
        text_write_clocks(set, "May be clocks, and were left as they are", TRUE, options, out);
        write_verdict(set, options, out);
}
