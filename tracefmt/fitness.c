/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/fitness.h"

#define N "%" G_GUINT64_FORMAT

/* Why nesting will not find much; NULL where it will. */
static char *against_nesting(const Fitness *f)
{
        if (f->calls == 0)
                return g_strdup("there are no calls, only one-way messages");
        if (f->returns == 0 && f->one_sided)
                return g_strdup("no call has a return, since only one direction of every "
                                "connection was captured");
        if (f->returns == 0)
                return g_strdup("no call has a return");
        if (f->returns < f->calls / 2)
                return g_strdup_printf(N " of " N " calls have no return", f->calls - f->returns,
                                       f->calls);
        if (f->one_way > f->calls)
                return g_strdup_printf("there are more one-way messages (" N ") than calls (" N ")",
                                       f->one_way, f->calls);
        if (f->lost > f->packets / 10)
                return g_strdup_printf("more than one packet in ten was lost (" N
                                       " dropped or in holes)",
                                       f->lost);
        return NULL;
}

char *fitness_judge(const Fitness *f)
{
        g_autofree char *reason = NULL;

        if (f->calls == 0 && f->one_way == 0)
                return g_strdup("fit for neither nesting nor convolution: there are no calls and "
                                "no one-way messages");
        if (f->packets && f->lost > f->packets)
                return g_strdup_printf("fit for neither nesting nor convolution: more packets were "
                                       "lost (" N ") than captured (" N ")",
                                       f->lost, f->packets);
        reason = against_nesting(f);
        if (reason)
                return g_strconcat("fit for convolution only: ", reason, NULL);
        if (f->too_early > f->both_ends / 100)
                return g_strdup_printf("fit for nesting and convolution, each node on its own "
                                       "clock; but the clocks are apart, as " N " of " N
                                       " calls arrived before they were sent, or back",
                                       f->too_early, f->both_ends);
        return g_strdup("fit for nesting and convolution");
}
