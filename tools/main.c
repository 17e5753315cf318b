/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel: dispatches to the verb. The algorithms also answer if the program is started by the
 * paper's names for them.
 */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "tools/tool.h"

/* Starts a program of its own: it links FFTW, which must not come into one program with Graphviz.
 */
static int run_convolution(int argc, char **argv)
{
        (void)argc;
        return tool_run_helper("ravel-convolution", "convolution", argv);
}

static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
        const char *help;
} verbs[] = {
        { "capture", tool_capture, "packets to a trace: from files or a live interface" },
        { "import", tool_import, "a trace from spans, tshark's output or mails" },
        { "merge", tool_merge, "one trace from several, in the order of time" },
        { "stats", tool_stats, "what is in a trace" },
        { "nesting", tool_nesting, "causal paths of calls and returns" },
        { "convolution", run_convolution, "causal paths of any messages" },
        { "watch", tool_watch, "windows of live traffic, one after another, for months" },
        { "show", tool_show, "paths found before, in any format" },
        { "report", tool_report, "an HTML page of packets, a trace or a store" },
        { "why", tool_why, "why requests were slow: one, the slowest, or each kind" },
        { "cut", tool_cut, "the packets of a request, of those that were captured" },
        { "diff", tool_diff, "what changed between two runs" },
        { "variance", tool_variance, "which nodes make latency vary" },
        { "whatif", tool_whatif, "what latencies would be after a change, by replay" },
        { "advise", tool_advise, "what to change, and what that would bring" },
        { "trend", tool_trend, "what changed over many runs, and since when" },
        { "query", tool_query, "queries of a store of paths in SQL" },
        { "export", tool_export, "paths for other programs: OTLP, flame graphs, Perfetto" },
        { "maketrace", tool_maketrace, "synthetic traces from tracelets" },
        { "skewer", tool_skewer, "skew of clocks in a trace: add, estimate, remove" },
        { "score", tool_score, "how right found paths are, given the true ones" },
};

static void print_usage(FILE *to)
{
        fputs("Usage: ravel VERB [OPTION...]\n\n"
              "Finds the causal paths of requests through a system of black boxes, from\n"
              "packets alone, and which node on which path makes them slow.\n\n",
              to);
        for (guint i = 0; i < G_N_ELEMENTS(verbs); i++)
                fprintf(to, "  %-12s %s\n", verbs[i].name, verbs[i].help);
        fputs("\nravel help VERB lists a verb's options; ravel(1) explains them.\n"
              "  ravel report web.pcap -o web.html   or   ravel capture -i eth0 -w web.trace\n",
              to);
}

static int run_verb(const char *name, int argc, char **argv)
{
        for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
                if (strcmp(name, verbs[i].name))
                        continue;
                tool_set_verb(name);
                return verbs[i].run(argc, argv);
        }
        return -1;
}

static int fail_verb(const char *name)
{
        const char *names[G_N_ELEMENTS(verbs) + 1] = { NULL };
        const char *nearest, *instead = removed_instead(NULL, name);

        for (guint i = 0; i < G_N_ELEMENTS(verbs); i++)
                names[i] = verbs[i].name;
        nearest = tool_nearest(name, names);
        if (instead)
                tool_warn("%s was removed: use %s", name, instead);
        else if (nearest)
                tool_warn("there is no verb \"%s\": did you mean \"%s\"?", name, nearest);
        else
                tool_warn("there is no verb \"%s\" (ravel --help lists them)", name);
        return EXIT_USAGE;
}

int main(int argc, char **argv)
{
        g_autofree char *called = g_path_get_basename(argv[0]);
        int status;

        tool_start();
        status = run_verb(called, argc, argv);
        if (status >= 0)
                return status;
        if (argc < 2) {
                print_usage(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "help") && argc == 3) {
                char *help[] = { argv[2], (char[]){ "--help" }, NULL };

                status = run_verb(argv[2], 2, help);
                return status < 0 ? fail_verb(argv[2]) : status;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
                print_usage(stdout);
                return EXIT_DONE;
        }
        if (!strcmp(argv[1], "--version")) {
                puts(PACKAGE_STRING);
                return EXIT_DONE;
        }
        status = run_verb(argv[1], argc - 1, argv + 1);
        return status < 0 ? fail_verb(argv[1]) : status;
}
