/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Helper programs, which ravel starts: each links a library that the others must not link
 * (README.md, "Licence").
 */
#pragma once

#include <glib.h>

/* Finds a helper program: beside the running program, as in a build folder; in ../libexec/ravel
 * from there; or where configure installs it. The environment has no say: ravel may have
 * capabilities that its caller has not. NULL and error set if there is none. */
char *helper_find(const char *name, GError **error);
