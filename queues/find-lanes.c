/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/find-lanes.h"

#include "base/compare.h"

enum {
        CONNECTIONS = 1024, /* that are compared; of later ones nothing is known */
        LEAST_MET = 6,      /* times that calls are expected to overlap, for it to mean something
                               that they never do */
        OVERLAPS = 100,     /* one call in so many may, by accident */
        LEAST_BUSY = 20,    /* a process has a connection that is at least one so many'th as busy as
                               the busiest */
        LEAST_TOLD = 2,     /* one call in so many is on a connection of a known process */
        NO_WAY = G_MAXUINT16,
};

/* A connection: how many calls there are, how long together, ns, from when to when. */
typedef struct {
        guint32 n;
        gint64 busy, first, last;
        guint8 lane;
} Way;

/* way: set, the index of each call's, or NO_WAY. */
static void find_ways(const WorkerCall *calls, guint n, GArray *ways, guint16 *way)
{
        g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);

        for (guint i = 0; i < n; i++) {
                gpointer key = GUINT_TO_POINTER(calls[i].connection), found;
                Way *w;

                way[i] = NO_WAY;
                if (calls[i].connection == 0)
                        continue;
                found = g_hash_table_lookup(known, key);
                if (!found && ways->len < CONNECTIONS) {
                        Way new = { 0, 0, calls[i].start, 0, NO_LANE };

                        g_array_append_val(ways, new);
                        found = GUINT_TO_POINTER(ways->len);
                        g_hash_table_insert(known, key, found);
                }
                if (!found)
                        continue;
                way[i] = (guint16)(GPOINTER_TO_UINT(found) - 1);
                w = &g_array_index(ways, Way, way[i]);
                w->n++;
                w->busy += calls[i].end - calls[i].start;
                w->last = calls[i].end;
        }
}

/* How often calls of each two connections overlap. */
static void count_overlaps(const WorkerCall *calls, guint n, const guint16 *way, guint n_ways,
                           guint32 *overlaps)
{
        g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(guint32));

        for (guint i = 0; i < n; i++) {
                if (way[i] == NO_WAY)
                        continue;
                for (guint k = 0; k < open->len;) {
                        guint32 other = g_array_index(open, guint32, k);

                        if (calls[other].end <= calls[i].start) {
                                g_array_remove_index_fast(open, k);
                                continue;
                        }
                        overlaps[(gsize)way[i] * n_ways + way[other]]++;
                        overlaps[(gsize)way[other] * n_ways + way[i]]++;
                        k++;
                }
                g_array_append_val(open, i);
        }
}

/* How often they would by chance. */
static double expect_overlaps(const Way *x, const Way *y)
{
        gint64 first = MAX(x->first, y->first), last = MIN(x->last, y->last);
        double both = (double)(last - first), in_x, in_y;

        if (last <= first)
                return 0;
        in_x = both / (double)MAX(x->last - x->first, 1);
        in_y = both / (double)MAX(y->last - y->first, 1);
        return in_x * in_y * (x->n * (double)y->busy + y->n * (double)x->busy) / both;
}

static gboolean never_meet(const Way *x, const Way *y, guint32 overlaps)
{
        return overlaps * OVERLAPS <= MIN(x->n, y->n);
}

/* How often calls of a connection are expected to overlap those of a lane; negative where they do.
 */
static double fits(const GArray *ways, guint32 way, guint8 lane, const guint32 *overlaps)
{
        const Way *x = &g_array_index(ways, Way, way);
        double expected = 0;

        for (guint i = 0; i < ways->len; i++) {
                const Way *y = &g_array_index(ways, Way, i);

                if (y->lane != lane)
                        continue;
                if (!never_meet(x, y, overlaps[(gsize)way * ways->len + i]))
                        return -1;
                expected += expect_overlaps(x, y);
        }
        return expected;
}

/* The lane that a connection surely is of; NO_LANE where it is not known; the next where it is of
 * none. */
static guint8 lane_of(const GArray *ways, guint32 way, guint n_lanes, const guint32 *overlaps)
{
        guint8 found = NO_LANE;
        double expected = 0;
        guint n = 0;

        for (guint8 lane = 0; lane < n_lanes; lane++) {
                double fit = fits(ways, way, lane, overlaps);

                if (fit < 0)
                        continue;
                n++;
                found = lane;
                expected = fit;
        }
        if (n == 0)
                return n_lanes < MOST_LANES ? (guint8)n_lanes : NO_LANE;
        return n == 1 && expected >= LEAST_MET ? found : NO_LANE;
}

static int compare_busy(const void *a, const void *b, void *ways)
{
        guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
        gint64 busy = g_array_index((GArray *)ways, Way, x).busy;
        gint64 other = g_array_index((GArray *)ways, Way, y).busy;

        return busy != other ? COMPARE(other, busy) : COMPARE(x, y);
}

static guint deal_lanes(GArray *ways, const guint32 *overlaps)
{
        g_autofree guint32 *by_use = g_new(guint32, ways->len + 1);
        guint n_lanes = 0;
        gint64 most;

        for (guint32 i = 0; i < ways->len; i++)
                by_use[i] = i;
        g_qsort_with_data(by_use, (gint)ways->len, sizeof *by_use, compare_busy, ways);
        most = ways->len ? g_array_index(ways, Way, by_use[0]).busy : 0;
        for (guint i = 0; i < ways->len; i++) {
                Way *w = &g_array_index(ways, Way, by_use[i]);

                w->lane = lane_of(ways, by_use[i], n_lanes, overlaps);
                if (w->lane == n_lanes && w->busy < most / LEAST_BUSY)
                        w->lane = NO_LANE;
                n_lanes += w->lane == n_lanes;
        }
        return n_lanes;
}

guint find_lanes(const WorkerCall *calls, guint n, guint8 *lane)
{
        g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(Way));
        g_autofree guint16 *way = g_new(guint16, n + 1);
        g_autofree guint32 *overlaps = NULL;
        gint64 busy[MOST_LANES];
        guint told = 0, overlap = 0, n_lanes;

        find_ways(calls, n, ways, way);
        overlaps = g_new0(guint32, (gsize)ways->len * ways->len + 1);
        count_overlaps(calls, n, way, ways->len, overlaps);
        n_lanes = deal_lanes(ways, overlaps);
        for (guint i = 0; i < n_lanes; i++)
                busy[i] = G_MININT64;
        for (guint i = 0; i < n; i++) {
                lane[i] = way[i] == NO_WAY ? NO_LANE : g_array_index(ways, Way, way[i]).lane;
                if (lane[i] == NO_LANE)
                        continue;
                told++;
                overlap += calls[i].start < busy[lane[i]];
                busy[lane[i]] = MAX(busy[lane[i]], calls[i].end);
        }
        return told * LEAST_TOLD >= n && overlap * OVERLAPS <= told ? n_lanes : 0;
}
