/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What stages say of a call and its parent.
 */
#pragma once

#include <glib.h>

/* In place of a parent's index: the call is a root. */
#define NO_PARENT ((guint32)-1)

/* What a call is to its caller's work (docs/paths.md). */
typedef enum {
        WORK_NESTED,  /* its caller waits for it */
        WORK_GOES_ON, /* its caller goes on without it: a message, or a call after the reply */
        WORK_QUEUED,  /* and what its caller had got lay there until then */
        /* These two are nested. Their caller went on without a return. */
        WORK_LATE,       /* the return came after the caller's own reply */
        WORK_UNANSWERED, /* no return came */
} WorkContinues;

/* Whether the work goes on without its caller, instead of being nested. */
static inline gboolean work_goes_on(guint continues)
{
        return continues == WORK_GOES_ON || continues == WORK_QUEUED;
}

/* Whether the caller waited for a return, and then went on without it. */
static inline gboolean work_is_missed(guint continues)
{
        return continues >= WORK_LATE;
}
