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
} WorkContinues;
