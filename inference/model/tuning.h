/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The tuned numbers of joint inference, a field each (tuning.def says what they mean).
 */
#ifndef RAVEL_TUNING_H
#define RAVEL_TUNING_H

#include <glib.h>

#include "inference/model/limits.h"

typedef struct {
#define INT(field, value)   int field;
#define COUNT(field, value) guint field;
#define REAL(field, value)  double field;
#include "inference/model/tuning.def"
#undef INT
#undef COUNT
#undef REAL
} Tuning;

/* The one set of numbers of a process. Only tuning_set() writes it, before inference begins. */
extern Tuning tuning;

/* Sets a field from "field=value". FALSE with the error set if there is no such field, or the value
 * is no number, or not a whole one where the field is. */
gboolean tuning_set(const char *assignment, GError **error);

#endif
