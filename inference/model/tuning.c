/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/tuning.h"

#include <string.h>

#include "base/error.h"

Tuning tuning = {
#define INT(field, value)   .field = value,
#define COUNT(field, value) .field = value,
#define REAL(field, value)  .field = value,
#include "inference/model/tuning.def"
#undef INT
#undef COUNT
#undef REAL
};

static const struct {
        const char *name;
        int *whole; /* one of the three */
        guint *count;
        double *real;
} fields[] = {
#define INT(field, value)   { #field, &tuning.field, NULL, NULL },
#define COUNT(field, value) { #field, NULL, &tuning.field, NULL },
#define REAL(field, value)  { #field, NULL, NULL, &tuning.field },
#include "inference/model/tuning.def"
#undef INT
#undef COUNT
#undef REAL
};

static gboolean tuning_fail(GError **error, const char *found, const char *expected)
{
        return ravel_fail(error, RAVEL_ERROR_USAGE, "--tune: found \"%s\", expected %s", found,
                          expected);
}

gboolean tuning_set(const char *assignment, GError **error)
{
        gsize length = strcspn(assignment, "=");

        for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
                const char *text = assignment + length + 1;
                char *end;
                double value;

                if (strncmp(fields[i].name, assignment, length) || fields[i].name[length] ||
                    !assignment[length])
                        continue;
                value = g_ascii_strtod(text, &end);
                if (end == text || *end || !(value >= 0 && value <= 1e9) ||
                    (!fields[i].real && value != (int)value))
                        return tuning_fail(error, assignment,
                                           fields[i].real ? "a number from 0 to 1e9"
                                                          : "a whole number from 0 to 1e9");
                if (fields[i].whole)
                        *fields[i].whole = (int)value;
                else if (fields[i].count)
                        *fields[i].count = (guint)value;
                else
                        *fields[i].real = value;
                return TRUE;
        }
        return tuning_fail(error, assignment,
                           "FIELD=VALUE with a field of inference/model/tuning.def");
}
