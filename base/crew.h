/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A pool of threads that help each other. Each takes tasks from a list that its user keeps
 * (crew_run()). A task may have parts that do not depend on each other: crew_share() does them with
 * all threads that have nothing else to do.
 */
#pragma once

#include <glib.h>

typedef struct Crew Crew;

/* Does part number `part`. slot is from 0 to crew_size() - 1, and parts with the same slot never
 * run at the same time. So a part can use scratch memory that is kept by slot. */
typedef void (*CrewPart)(gpointer data, guint32 part, guint slot);

/* What a thread shall do next. */
typedef enum { CREW_WORK, CREW_WAIT, CREW_END } CrewNext;

/* Takes a task from the list into *work. Called under the lock of the crew, and again after each
 * task is done. */
typedef CrewNext (*CrewTake)(gpointer data, gpointer *work);
/* Does a task, without the lock; then notes, under the lock, that it is done. */
typedef void (*CrewDo)(gpointer data, gpointer work);
typedef void (*CrewDone)(gpointer data, gpointer work);

typedef struct {
        CrewTake take;
        CrewDo run;
        CrewDone done;
} CrewList;

Crew *crew_new(guint n_threads);
void crew_free(Crew *crew);
guint crew_size(const Crew *crew); /* NULL: 1 */

/* Does all tasks of a list on all threads of the crew. The caller is one of these threads. */
void crew_run(Crew *crew, const CrewList *list, gpointer data);

/* Does n parts, about in the order of their numbers; the caller does some. Without a crew (NULL)
 * the caller does all. */
void crew_share(Crew *crew, guint32 n, CrewPart part, gpointer data);
