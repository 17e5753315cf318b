/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What becomes of the network interfaces of this machine, as the kernel says it: that one
 * goes down, comes up, or is there no more.
 */
#pragma once

#include <glib.h>

typedef enum { LINK_UP, LINK_DOWN, LINK_GONE } LinkState;

/* A descriptor that is readable when there is something to say; -1 where the kernel does not
 * tell. Close it with close(). */
int link_watch_open(void);

/* Called for each event. index is that of if_nametoindex(). */
typedef void (*LinkSeen)(gpointer user, guint index, LinkState state);

/* Says what has become known, without waiting. */
void link_watch_read(int fd, LinkSeen seen, gpointer user);

/* The same for a message of the kernel's, of n bytes. */
void link_watch_parse(const void *message, gsize n, LinkSeen seen, gpointer user);
