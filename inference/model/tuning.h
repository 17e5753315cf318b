/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The tuned numbers of joint inference, a field each (their meaning is in tuning.def).
 */
#pragma once

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

/* Sets a field from "field=value". Returns FALSE, with the error set, for an unknown field or a
 * value that is no number. The number must be whole if the field is. */
gboolean tuning_set(const char *assignment, GError **error);
