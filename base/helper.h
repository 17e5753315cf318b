/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The programs that come with this one and are started by it: each links a library that the
 * others must not have (README.md, "Licence").
 */
#ifndef RAVEL_HELPER_H
#define RAVEL_HELPER_H

#include <glib.h>

/* Where the program of that name is: beside the running one, as in a build folder; or in
 * ../libexec/ravel from there, wherever all of it was moved to; or where configure was told to
 * install it. No variable of the environment says so: ravel may have capabilities that its caller
 * has not. NULL and error set where it is in none of these. */
char *helper_find(const char *name, GError **error);

#endif
