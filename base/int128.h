/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names in GLib's style for the compilers' integers of 128 bits.
 */
#pragma once

#include <glib.h>

__extension__ typedef __int128 gint128;
__extension__ typedef unsigned __int128 guint128;

/* The nearest integer of 64 bits. */
static inline gint64 int128_clamp(gint128 n)
{
        return (gint64)CLAMP(n, G_MININT64, G_MAXINT64);
}
