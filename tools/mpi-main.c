/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel-mpi: joint inference by all processes of an MPI job together. A program of its own, so that
 * ravel needs no MPI.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "ranks/ranks.h"
#include "tools/tool.h"

static void print_mpi_usage(FILE *to)
{
        fputs("Usage: mpirun -n N ravel-mpi nesting [OPTION...] TRACE\n\n"
              "ravel nesting by N processes together, with the same options and the same result.\n"
              "ravel-mpi(1) explains it.\n",
              to);
}

/* Drops the messages and the output of this rank, because rank 0 writes them. */
static void be_quiet(void)
{
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        tool_be_quiet();
        if (null >= 0)
                dup2(null, STDOUT_FILENO);
}

static int run_rank(int argc, char **argv)
{
        if (argc < 2) {
                print_mpi_usage(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
                print_mpi_usage(stdout);
                return EXIT_DONE;
        }
        if (!strcmp(argv[1], "--version")) {
                puts(PACKAGE_STRING);
                return EXIT_DONE;
        }
        if (!strcmp(argv[1], "nesting")) {
                tool_set_verb(argv[1]);
                return tool_nesting_together(argc - 1, argv + 1, ranks_peers());
        }
        tool_warn("%s is for one process: expected ravel %s", argv[1], argv[1]);
        return EXIT_USAGE;
}

int main(int argc, char **argv)
{
        GError *error = NULL;
        int status;

        tool_set_verb("mpi");
        if (!ranks_start(&argc, &argv, &error))
                return ranks_end(error ? tool_fail(error) : EXIT_USAGE, "");
        tool_start();
        tool_be_no_terminal();
        if (ranks_peers()->mine > 0)
                be_quiet();
        status = run_rank(argc, argv);
        return ranks_end(status, tool_last_words());
}
