/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel-mpi: stats and nesting by all processes of an MPI job together. A program of its own, so
 * that ravel needs no MPI.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "tools/nesting-ranks.h"
#include "tools/ranks.h"
#include "tools/stats-ranks.h"
#include "tools/tool.h"

static void print_usage(FILE *to)
{
        fputs("Usage: mpirun -n N ravel-mpi stats|nesting [OPTION...] TRACE\n\n"
              "ravel stats and ravel nesting by N processes together, with the same options and\n"
              "the same result. ravel-mpi(1) explains it.\n",
              to);
}

/* Rank 0 speaks for all. */
static void be_quiet(void)
{
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        tool_be_quiet();
        if (null >= 0)
                dup2(null, STDOUT_FILENO);
}

static int run(int argc, char **argv)
{
        if (argc < 2) {
                print_usage(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
                print_usage(stdout);
                return EXIT_DONE;
        }
        if (!strcmp(argv[1], "--version")) {
                puts(PACKAGE_STRING);
                return EXIT_DONE;
        }
        tool_set_verb(argv[1]);
        if (!strcmp(argv[1], "nesting"))
                return tool_nesting_with(argc - 1, argv + 1, nesting_on_ranks);
        if (!strcmp(argv[1], "stats"))
                return tool_stats_with(argc - 1, argv + 1, stats_on_ranks);
        tool_set_verb("mpi");
        tool_warn("there is no verb \"%s\" for several processes: expected stats or nesting (ravel "
                  "has the others)",
                  argv[1]);
        return EXIT_USAGE;
}

int main(int argc, char **argv)
{
        tool_set_verb("mpi");
        if (!ranks_start(&argc, &argv))
                return ranks_end(EXIT_USAGE);
        tool_start();
        tool_be_no_terminal();
        if (ranks_mine() > 0)
                be_quiet();
        return ranks_end(run(argc, argv));
}
