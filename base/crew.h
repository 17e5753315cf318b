/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads that help each other. Each takes work of its own from a list that its user keeps, by
 * crew_member(). A work may have parts that do not depend on each other: crew_share() does them,
 * with all members that have nothing else to do.
 */
#ifndef RAVEL_CREW_H
#define RAVEL_CREW_H

#include <glib.h>

typedef struct Crew Crew;

/* Does part number `part`. Parts with the same slot never run at the same time, and slots are
 * numbers from 0 to crew_size() - 1: so what a part needs to work in can be kept by slot. */
typedef void (*CrewPart)(gpointer data, guint32 part, guint slot);

/* What there is for a member to do. */
typedef enum { CREW_WORK, CREW_WAIT, CREW_END } CrewNext;

/* Called under the lock of the crew: whether there is work, none yet, or no more; *work is what it
 * is. It is called again after each work that is done. */
typedef CrewNext (*CrewTake)(gpointer data, gpointer *work);
/* Does a work; and, under the lock, notes that it is done. */
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

/* Goes through a list with all threads of the crew, of which the caller is one. */
void crew_run(Crew *crew, const CrewList *list, gpointer data);

/* Does n parts, in about the order of their numbers; the caller does some of them. crew NULL: one
 * after the other. */
void crew_share(Crew *crew, guint32 n, CrewPart part, gpointer data);

#endif
