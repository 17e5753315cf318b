/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What outlives a watch in the folder of --dir: up to where windows are closed, and how many
 * requests began after that. The file is mapped, so that a kill at any moment leaves it as it is.
 */
#pragma once

#include <glib.h>

typedef struct WatchState WatchState;

/* Opens DIR/state, or makes it. dir: NULL keeps nothing. NULL with error set if the folder cannot
 * be used, or if another watch uses it. */
WatchState *watch_state_new(const char *dir, GError **error);
void watch_state_free(WatchState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WatchState, watch_state_free)

/* All windows before this moment (ns) are closed; G_MININT64: none is. */
gint64 watch_state_closed(const WatchState *state);

/* How many requests began after that, by the last watch if this one has not added any. */
guint64 watch_state_open(const WatchState *state);

/* Forgets them: another capture begins. */
void watch_state_forget(WatchState *state);

/* A request begins. Constant time. */
void watch_state_add(WatchState *state, gint64 time);

/* All windows before `to` (ns) are closed. */
void watch_state_close(WatchState *state, gint64 to);
