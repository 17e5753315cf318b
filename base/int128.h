/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Integers of 128 bits, which the compilers have and GLib has no name for.
 */
#ifndef RAVEL_INT128_H
#define RAVEL_INT128_H

__extension__ typedef __int128 gint128;
__extension__ typedef unsigned __int128 guint128;

#endif
