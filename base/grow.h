/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Arrays that are read in loops where a GArray's calls would cost too much: a pointer, and room for
 * size elements.
 */
#pragma once

#include <glib.h>

/* Makes room for more than size elements: doubles it, to at least LEAST. */
#define GROW(array, size, LEAST)                                                                   \
        ((size) = MAX((LEAST), 2 * (size)),                                                        \
         (array) = g_realloc_n((array), (size), sizeof *(array)))
