/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The folder of --dir:
 *
 *     20261128-210000.sqlite            the store of an hour (or --store-every)
 *     windows/20261128-211530.sqlite    the windows of the hour that is not over
 *
 * A process of its own joins the windows of an hour that is over, and thins old hours, so that the
 * watch goes on meanwhile. Each step writes a store under a temporary name, renames it and deletes
 * its inputs. If it is killed between, the next one finds the inputs among the captures of the
 * store, and only deletes them.
 */
#pragma once

#include <glib.h>

typedef struct {
        const char *dir;
        gint64 every;          /* the time of a store, ns */
        gint64 whole;          /* older stores keep only their slowest requests, ns */
        gint64 keep;           /* older stores are deleted, ns */
        guint64 size;          /* bytes of all stores; the oldest are deleted */
        const char *arguments; /* the command line */
        void (*say)(const char *format, ...) G_GNUC_PRINTF(1, 2);
} HoursOptions;

typedef struct Hours Hours;

/* Makes the folders, and removes temporary files of a watch that was killed. options are copied;
 * texts are borrowed. NULL with error set if it cannot. */
Hours *hours_new(const HoursOptions *options, GError **error);
void hours_free(Hours *hours); /* ends the process that still works */

/* The path of a window that begins at `from` (ns); the caller's to free. */
char *hours_window_path(const Hours *hours, gint64 from);

/* The time of the traffic is now `time` (ns): joins, thins and deletes what is due. all: no more
 * traffic comes. Windows of the last hour are joined, too, and it waits for that. */
void hours_work(Hours *hours, gint64 time, gboolean all);

/* The names of stores in a folder, sorted, which is by time; the caller's to free. */
GPtrArray *hours_list(const char *folder);

/* The moment that a store's name says, ns; G_MININT64: none. */
gint64 hours_moment(const char *name);
