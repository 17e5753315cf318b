/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names in GLib's style for the compilers' integers of 128 bits.
 */
#pragma once

__extension__ typedef __int128 gint128;
__extension__ typedef unsigned __int128 guint128;
