/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One pass over the points cuts out the runs above mean + S deviations. The highest point of a run
 * is a spike if it is above mean + N deviations. Here the first run has one, the second has none:
 *
 *                          #
 *     mean + N  ----------###-------------------
 *                         ###
 *     mean + S  ---------#####--------#---------
 *                       #######      ###
 *     mean      --###############################
 *                        from end
 */
#include "convolution/spike.h"

#include <math.h>

static Moments find_point_moments(const float *c, gsize n)
{
        Moments m = { 0, 0 };

        for (gsize i = 0; i < n; i++)
                m.mean += (double)c[i];
        m.mean /= (double)n;
        for (gsize i = 0; i < n; i++)
                m.deviation += ((double)c[i] - m.mean) * ((double)c[i] - m.mean);
        m.deviation = sqrt(m.deviation / (double)n);
        return m;
}

GArray *spikes_find(const float *c, gsize n, double spike, double between, Moments *moments)
{
        GArray *spikes = g_array_new(FALSE, FALSE, sizeof(Spike));
        gsize i = 0;

        *moments = find_point_moments(c, n);
        if (moments->deviation <= 0)
                return spikes;
        while (i < n) {
                double least = moments->mean + between * moments->deviation;
                Spike s = { .at = i, .from = i };

                if ((double)c[i] < least) {
                        i++;
                        continue;
                }
                for (; i < n && (double)c[i] >= least; i++)
                        if (c[i] > c[s.at])
                                s.at = i;
                s.end = i;
                s.height = ((double)c[s.at] - moments->mean) / moments->deviation;
                if (s.height > spike)
                        g_array_append_val(spikes, s);
        }
        return spikes;
}

gsize spike_least_points(gsize width, double spike)
{
        return (gsize)((double)width * (spike * spike + 1)) + 1;
}
