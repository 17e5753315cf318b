/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel skewer TRACE: adds skew to the clocks of nodes, removes it, or estimates it (paper, section
 * 7.5.6).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/each.h"
#include "base/error.h"
#include "clocks/clocks.h"
#include "clocks/skewer.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"

static struct {
        GArray *skews; /* of NamedSkew; NULL: no --skew */
        gboolean undo, estimate, deskew;
        char *reference;
        char *output;
} options;

/* A skew whose node is known by name only. */
typedef struct {
        char *name;
        Skew skew;
} NamedSkew;

static gboolean usage_error(GError **error, const char *found, const char *expected)
{
        return ravel_fail(error, RAVEL_ERROR_USAGE, "\"%s\": expected %s", found, expected);
}

/* --- options --------------------------------------------------------------- */

/* Adds one signed part, "+30ms" or "-50ppm", to skew. */
static gboolean add_part(Skew *skew, const char *part, GError **error)
{
        const char *digits = part + (*part == '+' || *part == '-');
        gint64 sign = *part == '-' ? -1 : 1, ns;
        gint64 *to = &skew->offset, limit = MAX_STAMP;
        char *unit;

        if (!g_ascii_isdigit(*digits) && *digits != '.')
                return usage_error(error, part, "an offset or a drift, such as +30ms or -50ppm");
        if (g_str_has_suffix(digits, "ppm")) {
                double ppm = g_ascii_strtod(digits, &unit);

                if (strcmp(unit, "ppm") || !(ppm <= SKEW_MAX_DRIFT / SKEW_PPM))
                        return usage_error(error, part, "a drift of at most 100000ppm");
                ns = rint(ppm * SKEW_PPM);
                to = &skew->drift;
                limit = SKEW_MAX_DRIFT;
        } else if (!tool_duration(digits, &ns, error)) {
                return FALSE;
        }
        if (ns > limit || ABS(*to + sign * ns) > limit)
                return usage_error(error, part, "a skew of less than 146 years and 10 %");
        *to += sign * ns;
        return TRUE;
}

/* The skew of the name, which is added if it is new. */
static Skew *find_skew(const char *name)
{
        NamedSkew new = { g_strdup(name), { 0 } };

        EACH (NamedSkew, known, options.skews) {
                if (!strcmp(known->name, name)) {
                        g_free(new.name);
                        return &known->skew;
                }
        }
        g_array_append_val(options.skews, new);
        return &g_array_index(options.skews, NamedSkew, options.skews->len - 1).skew;
}

/* NODE=+30ms, NODE=+50ppm or NODE=+30ms+50ppm. A sign after a unit begins a part; a sign after an
 * exponent's e does not. */
static gboolean parse_skew(const char *option, const char *value, gpointer data, GError **error)
{
        const char *equals = strrchr(value, '=');
        g_autofree char *name = equals ? g_strndup(value, equals - value) : NULL;
        Skew *skew;

        (void)option;
        (void)data;
        if (!equals || equals == value || !equals[1])
                return usage_error(error, value, "NODE=SKEW, such as WS2=+30ms or WS2=-50ppm");
        if (!options.skews)
                options.skews = g_array_new(FALSE, FALSE, sizeof(NamedSkew));
        skew = find_skew(name);
        for (const char *part = equals + 1; *part;) {
                const char *end = part + 1;
                g_autofree char *text = NULL;

                while (*end && ((*end != '+' && *end != '-') || strchr("eE", end[-1])))
                        end++;
                text = g_strndup(part, end - part);
                if (!add_part(skew, text, error))
                        return FALSE;
                part = end;
        }
        return TRUE;
}

static const GOptionEntry entries[] = {
        { "skew", 0, 0, G_OPTION_ARG_CALLBACK, parse_skew,
          "Add to a clock: WS2=+30ms, WS2=-50ppm, or both", "NODE=SKEW" },
        { "undo", 0, 0, G_OPTION_ARG_NONE, &options.undo, "Undo what the trace says was added",
          NULL },
        { "estimate", 0, 0, G_OPTION_ARG_NONE, &options.estimate,
          "Print the offset and the drift of each node", NULL },
        { "deskew", 0, 0, G_OPTION_ARG_NONE, &options.deskew,
          "Remove the offsets and drifts that --estimate prints", NULL },
        { "reference", 0, 0, G_OPTION_ARG_STRING, &options.reference,
          "Node whose clock is right (default: median)", "NODE" },
        { "output", 'w', 0, G_OPTION_ARG_FILENAME, &options.output,
          "Write to FILE instead of standard output", "FILE" },
        G_OPTION_ENTRY_NULL
};

static gboolean check_skewer_options(GError **error)
{
        guint n = (options.skews != NULL) + options.undo + options.estimate + options.deskew;

        if (n != 1)
                return ravel_fail(
                        error, RAVEL_ERROR_USAGE,
                        n ? "--skew, --undo, --estimate and --deskew: expected one of them"
                          : "nothing to do: expected --skew, --undo, --estimate or --deskew");
        if (options.reference && !options.estimate && !options.deskew)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--reference: expected with --estimate or --deskew");
        return run_files_write("-w", options.output, error);
}

/* --- the trace -------------------------------------------------------------- */

/* A trace, read once or twice. A file is read first without writing anything, to survey it. */
typedef struct {
        int argc;
        char **argv;
        NodeTable *nodes;
        gboolean is_file;
        gboolean is_sorted; /* it was sorted in the first reading */
        guint head;         /* the number of facts before the first message */
        GByteArray *roles;  /* by NodeId: its roles in messages */
        const char *name;   /* interned */
} Input;

enum { NAMED = 1, OBSERVES = 2 };

static TraceReader *open_input(Input *input, GError **error)
{
        TraceReader *reader = tool_open_trace(input->argc, input->argv, input->nodes, FALSE,
                                              &(RunNeeds){ 0 }, error);

        if (!reader)
                return NULL;
        tool_progress_start((const char *const *)input->argv + 1, 1,
                            !options.output || !strcmp(options.output, "-"));
        input->name = g_intern_string(trace_reader_name(reader));
        return reader;
}

static void note_role(Input *input, NodeId node, guint8 role)
{
        while (node >= input->roles->len)
                g_byte_array_append(input->roles, (const guint8 *)"", 1);
        input->roles->data[node] |= role;
}

static void note_roles(Input *input, const Message *m)
{
        note_role(input, m->sender, NAMED);
        note_role(input, m->receiver, NAMED);
        note_role(input, message_observer(m), OBSERVES);
}

static gboolean has_role(const Input *input, NodeId node, guint8 role)
{
        return node < input->roles->len && (input->roles->data[node] & role);
}

/* The node of a name. NO_NODE and error set if no message names it. */
static NodeId find_skewed_node(const Input *input, const char *name, GError **error)
{
        NodeId node = node_table_lookup(input->nodes, name, strlen(name));
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        const char *nearest;

        if (node != NO_NODE && has_role(input, node, NAMED))
                return node;
        for (NodeId k = 0; k < input->roles->len; k++)
                if (has_role(input, k, NAMED))
                        g_ptr_array_add(names, (gpointer)node_table_name(input->nodes, k));
        g_ptr_array_add(names, NULL);
        nearest = tool_nearest(name, (const char *const *)names->pdata);
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, "%s: there is no node \"%s\"%s%s%s",
                    input->name, name, nearest ? ": did you mean \"" : "", nearest ? nearest : "",
                    nearest ? "\"?" : " (ravel stats lists them)");
        return NO_NODE;
}

/* Checks that the facts from first to n - 1 may stand after messages. */
static gboolean check_late(const Input *input, char *const *facts, guint first, guint n,
                           GError **error)
{
        for (; options.undo && first < n; first++)
                if (skew_is_fact(facts[first]))
                        return ravel_fail(error, RAVEL_ERROR_INPUT,
                                          "%s: \"# %s\" stands after messages, expected before the "
                                          "first: undo before traces are put together",
                                          input->name, facts[first]);
        return TRUE;
}

/* Reads the whole trace, to see that it is readable, and to estimate *clocks, if not NULL. */
static gboolean survey(Input *input, Clocks **clocks, GError **error)
{
        g_autoptr(TraceReader) reader = open_input(input, error);
        gboolean begun = FALSE;
        char *const *facts;
        Message m;
        guint n;
        int status;

        if (!reader)
                return FALSE;
        while ((status = trace_reader_next(reader, &m, error)) != 0) {
                if (status < 0) {
                        if (!tool_sort_trace(reader, error))
                                return FALSE;
                        input->is_sorted = TRUE;
                        if (clocks) {
                                clocks_free(*clocks);
                                *clocks = clocks_new();
                        }
                        continue;
                }
                if (!begun)
                        trace_reader_facts(reader, &input->head);
                begun = TRUE;
                note_roles(input, &m);
                if (clocks)
                        clocks_add(*clocks, &m);
        }
        tool_report_reader(reader);
        if (!begun)
                tool_report_empty(reader);
        facts = trace_reader_facts(reader, &n);
        return check_late(input, facts, begun ? input->head : n, n, error);
}

/* --- writing a trace ---------------------------------------------------------- */

/* The most facts that trace_reader_facts() gives. */
enum { MAX_FACTS = 10000 };

/* Appends the skews that undo the facts' skews, the last first. */
static gboolean undo_facts(char *const *facts, guint n, Input *input, GArray *skews, GError **error)
{
        if (n >= MAX_FACTS)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: over %d facts before the first message, expected fewer: "
                                  "some may be of skews that are not seen",
                                  input->name, MAX_FACTS);
        for (guint i = n; i-- > 0;) {
                Skew skew;

                if (!skew_is_fact(facts[i]))
                        continue;
                if (!skew_from_fact(&skew, facts[i], input->nodes, error)) {
                        g_prefix_error(error, "%s: ", input->name);
                        return FALSE;
                }
                skew.remove = !skew.remove;
                g_array_append_val(skews, skew);
        }
        return skews->len ||
               ravel_fail(error, RAVEL_ERROR_INPUT,
                          "%s: nothing to undo: expected a comment such as \"# skew added: ...\" "
                          "before the first message",
                          input->name);
}

/* Writes the facts at the head of the trace. A skew's facts end the head: later facts belong to the
 * first message, which may become another one. Returns the number of facts in the head; G_MAXUINT
 * with error set. */
static guint write_skewed_head(TraceWriter *out, char *const *facts, guint n,
                               const NodeTable *nodes, const GArray *skews, GError **error)
{
        guint head = n;

        while (head > 0 && !skew_is_fact(facts[head - 1]))
                head--;
        if (head == 0)
                head = n;
        for (guint i = 0; i < head; i++)
                if (!(options.undo && skew_is_fact(facts[i])) &&
                    !trace_writer_copy_fact(out, facts[i], error))
                        return G_MAXUINT;
        for (guint i = 0; i < skews->len && !options.undo; i++) {
                g_autofree char *fact = skew_to_fact(&g_array_index(skews, Skew, i), nodes);

                if (!trace_writer_copy_fact(out, fact, error))
                        return G_MAXUINT;
        }
        return head;
}

/* Hands on the facts from *done to n - 1. */
static gboolean copy_facts(Skewer *skewer, char *const *facts, guint *done, guint n,
                           const Input *input, GError **error)
{
        if (!check_late(input, facts, *done, n, error))
                return FALSE;
        while (*done < n)
                skewer_add_fact(skewer, facts[(*done)++]);
        return TRUE;
}

/* Copies every message of reader from m on. status: whether there is a message in m. */
static gboolean copy_messages(Input *input, TraceReader *reader, Message *m, int status, guint done,
                              Skewer *skewer, GError **error)
{
        char *const *facts;
        guint n;

        for (; status != 0; status = trace_reader_next(reader, m, error)) {
                if (status < 0)
                        return FALSE;
                note_roles(input, m);
                facts = trace_reader_facts(reader, &n);
                if (!copy_facts(skewer, facts, &done, input->is_sorted ? input->head : n, input,
                                error) ||
                    !skewer_add(skewer, m, error))
                        return FALSE;
        }
        facts = trace_reader_facts(reader, &n);
        return copy_facts(skewer, facts, &done, n, input, error) && skewer_finish(skewer, error);
}

/* Checks that messages have all names of --skew. */
static gboolean check_skewed_names(const Input *input, GError **error)
{
        for (guint i = 0; options.skews && i < options.skews->len; i++) {
                const char *name = g_array_index(options.skews, NamedSkew, i).name;
                NodeId node = find_skewed_node(input, name, error);

                if (node == NO_NODE)
                        return FALSE;
                if (!has_role(input, node, OBSERVES))
                        tool_warn("%s: no stamp is by the clock of \"%s\": nothing changes",
                                  input->name, name);
        }
        return TRUE;
}

/* Adds the skews of --skew, with drifts from the first stamp on. */
static void add_named(GArray *skews, NodeTable *nodes, gint64 since)
{
        for (guint i = 0; options.skews && i < options.skews->len; i++) {
                NamedSkew *named = &g_array_index(options.skews, NamedSkew, i);
                Skew skew = named->skew;

                skew.node = node_table_add(nodes, named->name, strlen(named->name));
                skew.since = since;
                g_array_append_val(skews, skew);
        }
}

/* Writes the trace with the given skews and the skews of the options. */
static gboolean write_skewed(Input *input, GArray *skews, GError **error)
{
        g_autoptr(TraceReader) reader = open_input(input, error);
        g_autoptr(TraceWriter) out = NULL;
        g_autoptr(Skewer) skewer = NULL;
        Message m = { 0 };
        char *const *facts;
        guint n_facts, head;
        int status;

        if (reader && !input->is_file)
                trace_reader_take_late(reader); /* a message of a pipe is written at once */
        if (!reader || (input->is_sorted && !trace_reader_sort(reader, error)) ||
            (status = trace_reader_next(reader, &m, error)) < 0)
                return FALSE;
        facts = trace_reader_facts(reader, &n_facts);
        if (input->is_sorted)
                n_facts = input->head;
        add_named(skews, input->nodes, m.time);
        if (options.undo && !undo_facts(facts, n_facts, input, skews, error))
                return FALSE;
        out = trace_writer_new(options.output ? options.output : "-", input->nodes, FALSE, error);
        if (!out || (head = write_skewed_head(out, facts, n_facts, input->nodes, skews, error)) ==
                            G_MAXUINT)
                return FALSE;
        skewer = skewer_new((const Skew *)skews->data, skews->len, input->nodes, out);
        if (!copy_messages(input, reader, &m, status, head, skewer, error))
                return FALSE;
        if (!input->is_file) {
                tool_report_reader(reader);
                if (!check_skewed_names(input, error))
                        return FALSE;
        }
        return trace_writer_close(g_steal_pointer(&out), error);
}

/* --- estimates -------------------------------------------------------------- */

/* Says which nodes have no estimate and why, one line for each reason. */
static void report_ties(const ClockEstimates *e, const NodeTable *nodes)
{
        static const char *const reasons[N_CLOCK_TIES] = {
                [CLOCK_UNSEEN] = "no message of them was seen at both ends",
                [CLOCK_ONE_WAY] = "messages seen at both ends went one way only",
                [CLOCK_APART] = "they are tied to each other only",
        };
        enum { MAX_NAMES = 8 };

        for (ClockTie tie = CLOCK_TIED + 1; tie < N_CLOCK_TIES; tie++) {
                g_autoptr(GString) names = g_string_new(NULL);
                guint n = 0;

                for (NodeId node = 0; node < e->n_nodes; node++)
                        if (e->estimates[node].tie == tie && n++ < MAX_NAMES)
                                g_string_append_printf(names, "%s%s", n > 1 ? ", " : "",
                                                       node_table_written(nodes, node));
                if (n > MAX_NAMES)
                        g_string_append_printf(names, " and %u more", n - MAX_NAMES);
                if (n)
                        tool_warn("%u of %u nodes cannot be tied to %s: %s: %s", n, e->n_nodes,
                                  node_table_written(nodes, e->reference), reasons[tie],
                                  names->str);
        }
        if (e->n_uneven)
                tool_warn("pairs of clocks that do not run evenly against each other: %u, worst %s "
                          "and %s, by %.3f ms: a clock was set, or messages share an id; the "
                          "bounds are wider by that",
                          e->n_uneven, node_table_written(nodes, e->worst.a),
                          node_table_written(nodes, e->worst.b), e->worst.by / 1e6);
}

/* Sets the error if no node has an estimate. */
static gboolean fail_untied(const Input *input, const ClockEstimates *e, GError **error)
{
        g_autofree char *given_up =
                e->given_up ? g_strdup_printf(" (%" G_GUINT64_FORMAT
                                              " stamps waited for the other end's until over a "
                                              "million others had come)",
                                              e->given_up)
                            : g_strdup("");

        return ravel_fail(error, RAVEL_ERROR_INPUT,
                          e->matched ? "%s: no two nodes have messages both ways that both ends "
                                       "saw%s: expected calls and returns with _SENT and _RECV"
                                     : "%s: no message was seen at both ends%s: expected _SENT and "
                                       "_RECV of the same message, with its id, as captures on "
                                       "each host (ravel capture --host) put together have",
                          input->name, given_up);
}

static ClockEstimates *estimate(Input *input, GError **error)
{
        Clocks *clocks = clocks_new();
        ClockEstimates *e = NULL;
        NodeId reference = NO_NODE;
        guint tied = 0;

        if (survey(input, &clocks, error) &&
            (!options.reference ||
             (reference = find_skewed_node(input, options.reference, error)) != NO_NODE))
                e = clocks_estimate(clocks, input->nodes, reference);
        clocks_free(clocks);
        for (guint i = 0; e && i < e->n_nodes; i++)
                tied += e->estimates[i].tie == CLOCK_TIED;
        if (e && tied < 2 && (e->matched == 0 || e->reference == NO_NODE)) {
                fail_untied(input, e, error);
                g_clear_pointer(&e, clock_estimates_free);
        }
        if (e)
                report_ties(e, input->nodes);
        return e;
}

static double to_ppm(gint64 drift)
{
        return (double)drift / SKEW_PPM;
}

static void put_estimate(GString *line, const char *name, const ClockEstimate *e)
{
        if (e->tie != CLOCK_TIED) {
                g_string_append_printf(line, "%s\tunknown\tunknown\tunknown\tunknown\n", name);
                return;
        }
        g_string_append_printf(
                line, "%s\t%c%" G_GINT64_FORMAT ".%09d\t%" G_GINT64_FORMAT ".%09d\t%+.3f\t%.3f\n",
                name, e->offset < 0 ? '-' : '+', ABS(e->offset / 1000000000),
                (int)ABS(e->offset % 1000000000), e->offset_bound / 1000000000,
                (int)(e->offset_bound % 1000000000), to_ppm(e->drift), to_ppm(e->drift_bound));
}

static gboolean write_estimates(const Input *input, const ClockEstimates *e, GError **error)
{
        g_autofree const char **names = g_new(const char *, e->n_nodes);
        g_autoptr(GString) text = g_string_new("node\toffset\tbound\tppm\tbound\n");

        for (NodeId node = 0; node < e->n_nodes; node++)
                names[node] = node_table_name(input->nodes, node);
        qsort(names, e->n_nodes, sizeof *names, compare_strings);
        for (guint i = 0; i < e->n_nodes; i++) {
                NodeId node = node_table_lookup(input->nodes, names[i], strlen(names[i]));

                put_estimate(text, node_table_written(input->nodes, node), &e->estimates[node]);
        }
        return output_file_put(options.output ? options.output : "-", text, error);
}

/* The skews that remove the estimated ones. */
static GArray *skews_of(const ClockEstimates *e)
{
        GArray *skews = g_array_new(FALSE, FALSE, sizeof(Skew));

        for (NodeId node = 0; e && node < e->n_nodes; node++) {
                const ClockEstimate *of = &e->estimates[node];
                Skew skew = { node, of->offset, of->drift, e->since, TRUE };

                if (of->offset || of->drift)
                        g_array_append_val(skews, skew);
        }
        return skews;
}

/* --- main ------------------------------------------------------------------- */

static gboolean run_skewer(Input *input, GError **error)
{
        g_autoptr(ClockEstimates) estimates = NULL;
        g_autoptr(GArray) skews = NULL;

        if (options.estimate)
                return (estimates = estimate(input, error)) &&
                       write_estimates(input, estimates, error);
        if (options.deskew) {
                if (input->argc == 2 && !input->is_file)
                        return ravel_fail(error, RAVEL_ERROR_USAGE,
                                          "%s: --deskew reads a trace twice: expected a file",
                                          input->argv[1]);
                if (!(estimates = estimate(input, error)))
                        return FALSE;
        } else if (input->is_file &&
                   !(survey(input, NULL, error) && check_skewed_names(input, error))) {
                return FALSE;
        }
        skews = skews_of(estimates);
        return write_skewed(input, skews, error);
}

int tool_skewer(int argc, char **argv)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(GByteArray) roles = g_byte_array_new();
        GError *error = NULL;
        Input input = { .nodes = nodes, .roles = roles };
        int status;

        tool_add_reader_options();
        if (!tool_parse("TRACE - add skew to clocks, find it, remove it", entries, NULL, &argc,
                        &argv, &status))
                return status;
        input.argc = argc;
        input.argv = argv;
        input.is_file =
                argc == 2 && strcmp(argv[1], "-") && g_file_test(argv[1], G_FILE_TEST_IS_REGULAR);
        if (!check_skewer_options(&error) || !run_skewer(&input, &error))
                return tool_fail(error);
        return tool_done();
}
