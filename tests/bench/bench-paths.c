/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bench-paths STORE: what it costs to gather a million calls, in path instances
 * of seven calls, into a path set; and what to write them to the store as well.
 * Of five runs in turn the median: CPU time and bytes a call.
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/store.h"

enum { INSTANCES = 142857, CALLS = 7, RUNS = 5, ID_LENGTH = 13 };

typedef enum { NEITHER, GATHER, STORE_TWO_STAMPS, STORE_FOUR_STAMPS, N_WORKS } Work;

static const guint32 parents[CALLS] = { NO_PARENT, 0, 1, 2, 1, 4, 4 };
static const guint32 callees[CALLS] = { 1, 2, 3, 4, 5, 6, 6 };
static const gint64 starts[CALLS] = { 0, 200000, 400000, 600000, 5000000, 6000000, 9000000 };
static const gint64 ends[CALLS] = { 12000000, 11800000, 3000000, 1500000,
                                    11500000, 8000000,  11000000 };

static void make_instance(PathCall *calls, char ids[CALLS][ID_LENGTH + 1], guint64 number,
                          gboolean four_stamps)
{
        gint64 begin = G_GINT64_CONSTANT(1700000000000000000) + (gint64)number * 100000;
        /* Later calls come later and end later by up to a millisecond. */
        gint64 jitter =
                (gint64)(((number * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15)) >> 32) % 1000000);
        gint64 on_wire = four_stamps ? 30000 : 0;

        for (guint32 i = 0; i < CALLS; i++) {
                PathCall *c = &calls[i];
                c->parent = parents[i];
                c->caller = i == 0 ? 0 : callees[parents[i]];
                c->callee = callees[i];
                c->start = begin + starts[i] + (i > 3 ? jitter : 0);
                c->end = begin + ends[i] + (i < 2 || i > 3 ? jitter : 0);
                c->enter = c->start + on_wire;
                c->reply = c->end - on_wire;
                c->stamps = four_stamps ? 15 : 1 << CALL_SENT | 1 << RET_SENT;
                c->probability = 1;
                c->candidates = 1;
                memcpy(ids[i], "c350:1a2b3c4d", ID_LENGTH);
                ids[i][0] = "0123456789abcdef"[(number + i) % 16];
                c->id = ids[i];
                c->id_length = ID_LENGTH;
        }
}

/* CPU time in ns. */
static double run(const NodeTable *nodes, const char *path, Work work)
{
        struct timespec from, to;
        PathCall calls[CALLS];
        char ids[CALLS][ID_LENGTH + 1];
        const StoreRun facts = { "bench-paths", "", 0, FALSE };
        g_autoptr(GError) error = NULL;
        g_autoptr(PathSet) set = path_set_new(nodes, SIBLINGS_MULTISET);
        Store *store = NULL;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        if (work >= STORE_TWO_STAMPS && !(store = store_new(path, set, &facts, &error)))
                g_error("%s", error->message);
        for (guint64 i = 0; i < INSTANCES; i++) {
                make_instance(calls, ids, i, work == STORE_FOUR_STAMPS);
                if (work != NEITHER && !path_set_add(set, calls, CALLS, &error))
                        g_error("%s", error->message);
        }
        if (store && !store_finish(store, &error))
                g_error("%s", error->message);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
}

static int compare_doubles(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
        static const char *const names[] = { "client", "lb",      "web1",    "auth",
                                             "redis",  "catalog", "postgres" };
        g_autoptr(NodeTable) nodes = node_table_new();
        double times[N_WORKS][RUNS];
        double bytes[N_WORKS] = { 0 };

        if (argc != 2) {
                fprintf(stderr, "usage: bench-paths STORE\n");
                return 2;
        }
        for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
                node_table_add(nodes, names[i], strlen(names[i]));
        for (int k = 0; k < RUNS; k++) {
                for (Work work = NEITHER; work < N_WORKS; work++) {
                        GStatBuf st = { 0 };
                        times[work][k] = run(nodes, argv[1], work) / (INSTANCES * CALLS);
                        if (work >= STORE_TWO_STAMPS && g_stat(argv[1], &st) == 0)
                                bytes[work] = (double)st.st_size / (INSTANCES * CALLS);
                }
        }
        for (Work work = NEITHER; work < N_WORKS; work++)
                qsort(times[work], RUNS, sizeof times[work][0], compare_doubles);
        double gather = times[GATHER][RUNS / 2];
        printf("path set: %.1f ns a call\n", gather - times[NEITHER][RUNS / 2]);
        printf("store, two stamps: %.2f us and %.1f bytes a call\n",
               (times[STORE_TWO_STAMPS][RUNS / 2] - gather) / 1000, bytes[STORE_TWO_STAMPS]);
        printf("store, four stamps: %.2f us and %.1f bytes a call\n",
               (times[STORE_FOUR_STAMPS][RUNS / 2] - gather) / 1000, bytes[STORE_FOUR_STAMPS]);
        return 0;
}
