/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The names of Redis' commands, by which it is recognised.
 */
#pragma once

#include <glib.h>

/* Whether the n bytes of name, of letters, digits, "_" and "-", are the name of a command, in
 * whatever case. Commands of modules, which have a dot in their names, are not among them. */
gboolean redis_is_command(const char *name, gsize n);
