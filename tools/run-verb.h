/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A verb that is run by another one: each reads its options into what it has one of, so that each
 * has a process of its own.
 */
#ifndef RAVEL_RUN_VERB_H
#define RAVEL_RUN_VERB_H

#include <glib.h>

/* arguments: strings, the first the verb's name, NULL at the end, which the verb may change. What
 * it prints on standard output is thrown away; log: where standard error goes, NULL: where it goes
 * now. A signal that would end this process ends the verb first, which also ends where this one is
 * killed. Returns the exit status. */
int run_verb(int (*verb)(int, char **), const GPtrArray *arguments, const char *log);

#endif
