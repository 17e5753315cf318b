/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Errors of the world outside, by the exit status that they lead to.
 */
#pragma once

#include <glib.h>

#define RAVEL_ERROR (ravel_error_quark())
GQuark ravel_error_quark(void);

typedef enum {
        RAVEL_ERROR_USAGE = 2,    /* an option or argument is wrong */
        RAVEL_ERROR_INPUT = 3,    /* input cannot be read or is corrupt */
        RAVEL_ERROR_PARTIAL = 4,  /* a partial result was written */
        RAVEL_ERROR_OUTPUT = 5,   /* output cannot be written; exits as 4 */
        RAVEL_ERROR_DISORDER = 6, /* a trace is not in time order (trace_reader_next()) */
        RAVEL_ERROR_PIPE = 7, /* the reader of the output has gone (EPIPE); exits as 4, silently */
} RavelError;

/* Sets error as g_set_error() does. Always FALSE, so that a function can end with it. */
gboolean ravel_fail(GError **error, RavelError code, const char *format, ...) G_GNUC_PRINTF(3, 4);
