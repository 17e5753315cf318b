/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The terminal of ravel watch --screen.
 */
#pragma once

#include <glib.h>

/* Before other processes begin: opens the terminal, and takes what they write on standard error if
 * that is the terminal. It is shown as messages, and written there when the program ends. FALSE
 * with error set if there is no terminal, or this program was built without ncurses. */
gboolean screen_prepare(GError **error);
