/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/compare.h"

#include <string.h>

int compare_int64s(gconstpointer a, gconstpointer b)
{
        gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

        return COMPARE(x, y);
}

int compare_uint32s(gconstpointer a, gconstpointer b)
{
        guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;

        return COMPARE(x, y);
}

int compare_doubles(gconstpointer a, gconstpointer b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return COMPARE(x, y);
}

int compare_strings(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}
