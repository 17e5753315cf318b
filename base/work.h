/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How much of the work of a run is done, for the user who waits: parts of it, on several
 * threads, each say how far they are.
 */
#ifndef RAVEL_WORK_H
#define RAVEL_WORK_H

#include <glib.h>

/* Called with the share of all that is done, 0 to 1, by one thread at a time. */
typedef void (*WorkShow)(double share);

typedef struct {
        WorkShow show; /* NULL: nobody waits */
        double all;    /* of the sizes of its parts */
        double done;
        GMutex lock;
} Work;

typedef struct {
        Work *work;  /* NULL: it does not count */
        double size; /* in any unit, the same for all parts */
        double told; /* the share of it that was told */
} WorkPart;

void work_init(Work *work, WorkShow show, double all);
void work_clear(Work *work);

/* So much of the part is done: a share that is less than one before says nothing. */
void work_part_done(WorkPart *part, double share);

#endif
