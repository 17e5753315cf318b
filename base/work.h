/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The progress of a run, for the user who waits: parts of the work, on several threads, each report
 * the share that is done.
 */
#pragma once

#include <glib.h>

/* Shows the share of the whole work that is done, 0 to 1. Called by one thread at a time. */
typedef void (*WorkShow)(double share);

typedef struct {
        WorkShow show; /* NULL: nobody waits */
        double all;    /* the sum of the sizes of all parts */
        double done;
        GMutex lock;
} Work;

typedef struct {
        Work *work;  /* NULL: not counted */
        double size; /* in any unit, the same for all parts */
        double told; /* the share reported so far, 0 to 1 */
} WorkPart;

void work_init(Work *work, WorkShow show, double all);
void work_clear(Work *work);

/* Reports the share of the part that is done. A share below an earlier one is ignored. */
void work_part_done(WorkPart *part, double share);
