/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/work-in-processes.h"

#include "base/compare.h"

enum {
        MOST_CONNECTIONS = 1024, /* the process of later ones is unknown */
        LEAST_MET = 6,           /* overlaps expected by chance, for none to mean one process */
        OVERLAPS = 100,          /* of this many calls one may overlap another, by accident */
        LEAST_BUSY = 20, /* a process has a connection at least 1/20 as busy as the busiest */
        LEAST_KNOWN = 2, /* of this many calls one has a known process */
        NO_CONNECTION = G_MAXUINT16,
};

typedef struct {
        guint32 n;          /* calls */
        gint64 busy;        /* how long they last together, ns */
        gint64 first, last; /* start of the first call, end of the last, ns */
        guint8 process;
} Connection;

/* of: set, by call: the index of its connection, or NO_CONNECTION. */
static void find_connections(const WorkerCall *calls, guint n, GArray *connections, guint16 *of)
{
        g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);

        for (guint i = 0; i < n; i++) {
                gpointer key = GUINT_TO_POINTER(calls[i].connection), found;
                Connection *w;

                of[i] = NO_CONNECTION;
                if (calls[i].connection == 0)
                        continue;
                found = g_hash_table_lookup(known, key);
                if (!found && connections->len < MOST_CONNECTIONS) {
                        Connection new = { 0, 0, calls[i].start, 0, NO_PROCESS };

                        g_array_append_val(connections, new);
                        found = GUINT_TO_POINTER(connections->len);
                        g_hash_table_insert(known, key, found);
                }
                if (!found)
                        continue;
                of[i] = (guint16)(GPOINTER_TO_UINT(found) - 1);
                w = &g_array_index(connections, Connection, of[i]);
                w->n++;
                w->busy += calls[i].end - calls[i].start;
                w->last = calls[i].end;
        }
}

/* overlaps: set, for each two connections: how often their calls overlap. */
static void count_overlaps(const WorkerCall *calls, guint n, const guint16 *of, guint n_connections,
                           guint32 *overlaps)
{
        g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(guint32));

        for (guint i = 0; i < n; i++) {
                if (of[i] == NO_CONNECTION)
                        continue;
                for (guint k = 0; k < open->len;) {
                        guint32 other = g_array_index(open, guint32, k);

                        if (calls[other].end <= calls[i].start) {
                                g_array_remove_index_fast(open, k);
                                continue;
                        }
                        overlaps[(gsize)of[i] * n_connections + of[other]]++;
                        overlaps[(gsize)of[other] * n_connections + of[i]]++;
                        k++;
                }
                g_array_append_val(open, i);
        }
}

/* How often calls of two connections would overlap by chance. */
static double expect_overlaps(const Connection *x, const Connection *y)
{
        gint64 first = MAX(x->first, y->first), last = MIN(x->last, y->last);
        double both = (double)(last - first), in_x, in_y;

        if (last <= first)
                return 0;
        in_x = both / (double)MAX(x->last - x->first, 1);
        in_y = both / (double)MAX(y->last - y->first, 1);
        return in_x * in_y * (x->n * (double)y->busy + y->n * (double)x->busy) / both;
}

static gboolean never_meet(const Connection *x, const Connection *y, guint32 overlaps)
{
        return overlaps * OVERLAPS <= MIN(x->n, y->n);
}

/* How often calls of a connection would overlap those of a process by chance; -1 if they do. */
static double expect_process_overlaps(const GArray *connections, guint32 of, guint8 process,
                                      const guint32 *overlaps)
{
        const Connection *x = &g_array_index(connections, Connection, of);
        double expected = 0;

        for (guint i = 0; i < connections->len; i++) {
                const Connection *y = &g_array_index(connections, Connection, i);

                if (y->process != process)
                        continue;
                if (!never_meet(x, y, overlaps[(gsize)of * connections->len + i]))
                        return -1;
                expected += expect_overlaps(x, y);
        }
        return expected;
}

/* The process of a connection; NO_PROCESS: unknown; n_processes: a new one. */
static guint8 process_of(const GArray *connections, guint32 of, guint n_processes,
                         const guint32 *overlaps)
{
        guint8 found = NO_PROCESS;
        double expected = 0;
        guint n = 0;

        for (guint8 process = 0; process < n_processes; process++) {
                double overlap = expect_process_overlaps(connections, of, process, overlaps);

                if (overlap < 0)
                        continue;
                n++;
                found = process;
                expected = overlap;
        }
        if (n == 0)
                return n_processes < MOST_PROCESSES ? (guint8)n_processes : NO_PROCESS;
        return n == 1 && expected >= LEAST_MET ? found : NO_PROCESS;
}

static int compare_busy(const void *a, const void *b, void *connections)
{
        guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
        gint64 busy = g_array_index((GArray *)connections, Connection, x).busy;
        gint64 other = g_array_index((GArray *)connections, Connection, y).busy;

        return COMPARE(other, busy) ?: COMPARE(x, y);
}

/* Gives each connection its process. Returns the number of processes. */
static guint deal_processes(GArray *connections, const guint32 *overlaps)
{
        g_autofree guint32 *by_use = g_new(guint32, connections->len + 1);
        guint n_processes = 0;
        gint64 most;

        for (guint32 i = 0; i < connections->len; i++)
                by_use[i] = i;
        g_qsort_with_data(by_use, (gint)connections->len, sizeof *by_use, compare_busy,
                          connections);
        most = connections->len ? g_array_index(connections, Connection, by_use[0]).busy : 0;
        for (guint i = 0; i < connections->len; i++) {
                Connection *w = &g_array_index(connections, Connection, by_use[i]);

                w->process = process_of(connections, by_use[i], n_processes, overlaps);
                if (w->process == n_processes && w->busy < most / LEAST_BUSY)
                        w->process = NO_PROCESS;
                n_processes += w->process == n_processes;
        }
        return n_processes;
}

guint worker_processes_find(const WorkerCall *calls, guint n, guint8 *process)
{
        g_autoptr(GArray) connections = g_array_new(FALSE, FALSE, sizeof(Connection));
        g_autofree guint16 *of = g_new(guint16, n + 1);
        g_autofree guint32 *overlaps = NULL;
        gint64 busy[MOST_PROCESSES];
        guint known = 0, overlap = 0, n_processes;

        find_connections(calls, n, connections, of);
        overlaps = g_new0(guint32, (gsize)connections->len * connections->len + 1);
        count_overlaps(calls, n, of, connections->len, overlaps);
        n_processes = deal_processes(connections, overlaps);
        for (guint i = 0; i < n_processes; i++)
                busy[i] = G_MININT64;
        for (guint i = 0; i < n; i++) {
                process[i] = of[i] == NO_CONNECTION
                                     ? NO_PROCESS
                                     : g_array_index(connections, Connection, of[i]).process;
                if (process[i] == NO_PROCESS)
                        continue;
                known++;
                overlap += calls[i].start < busy[process[i]];
                busy[process[i]] = MAX(busy[process[i]], calls[i].end);
        }
        return known * LEAST_KNOWN >= n && overlap * OVERLAPS <= known ? n_processes : 0;
}
