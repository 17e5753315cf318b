/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/way-times.h"

#include "base/compare.h"
#include "write/text-table.h"

COMPARISON(compare_way_times, WayTime,
           COMPARE(b->sum, a->sum) ?:
           COMPARE(a->call, b->call) ?:
           COMPARE(a->cause, b->cause))

GArray *way_times_find(const CollapsedTree *tree)
{
        GArray *times = g_array_new(FALSE, FALSE, sizeof(WayTime));

        for (guint32 i = 0; i < tree->n_vertices; i++)
                for (WayCause cause = 0; cause < N_WAY_CAUSES; cause++) {
                        const CollapsedCall *v = &tree->vertices[i];
                        WayTime time = { v, cause, pattern_node_cause_sum(&v->all, cause) };

                        if (time.sum > 0)
                                g_array_append_val(times, time);
                }
        g_array_sort(times, compare_way_times);
        return times;
}

/* Every call between captured hosts has a round trip, so a usual one is no row of its own. */
gboolean way_time_is_shown(const PathPattern *p, WayCause cause, gint128 sum)
{
        gint128 least_part = cause == WAY_ROUND_TRIP ? 5 : 200; /* of the whole */

        return sum > 0 && sum * least_part >= path_pattern_total(p);
}

guint way_times_shown(const PathPattern *p)
{
        guint shown = 0;

        for (guint32 i = 0; i < p->n_nodes; i++)
                for (WayCause cause = 0; cause < N_WAY_CAUSES; cause++)
                        if (way_time_is_shown(p, cause,
                                              pattern_node_cause_sum(&p->nodes[i], cause)))
                                shown |= 1U << cause;
        return shown;
}

char *way_time_format(const WayTime *time, const PathSet *set, const PathPattern *p,
                      const CollapsedTree *tree, guint width)
{
        const CollapsedCall *v = time->call;
        NodeId caller = collapsed_call_caller(v, tree, p);
        g_autofree char *edge =
                text_shorten_edge(node_table_written(path_set_nodes(set), caller),
                                  node_table_written(path_set_nodes(set), v->all.node), width);
        g_autofree char *times = collapsed_call_times(v);

        return g_strdup_printf("%s%s (%s)", edge, times, way_cause_name(time->cause));
}
