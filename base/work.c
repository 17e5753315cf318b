/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/work.h"

void work_init(Work *work, WorkShow show, double all)
{
        *work = (Work){ .show = show, .all = all };
        g_mutex_init(&work->lock);
}

void work_clear(Work *work)
{
        g_mutex_clear(&work->lock);
}

void work_part_done(WorkPart *part, double share)
{
        Work *work = part->work;

        if (!work || !work->show || !(share > part->told) || !(work->all > 0))
                return;
        g_mutex_lock(&work->lock);
        work->done += (share - part->told) * part->size;
        work->show(MIN(work->done / work->all, 1));
        g_mutex_unlock(&work->lock);
        part->told = share;
}
