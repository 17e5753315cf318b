/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

G_DEFINE_QUARK(ravel - error - quark, ravel_error)

gboolean ravel_fail(GError **error, RavelError code, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        g_propagate_error(error, g_error_new_valist(RAVEL_ERROR, code, format, args));
        va_end(args);
        return FALSE;
}
