/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs a verb for another verb. Each verb reads its options into a static struct, so each runs in a
 * process of its own.
 */
#pragma once

#include <glib.h>

/* arguments: strings that the verb may change, its name first, NULL at the end. Its standard output
 * is thrown away; its standard error goes to log, or NULL: stays. A signal that would end this
 * process ends the verb first. If this process is killed, the verb ends, too. Returns the exit
 * status. */
int run_verb(int (*verb)(int, char **), const char *const *arguments, const char *log);
