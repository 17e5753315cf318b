/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The files of ravel nesting --model and --learn.
 */
#pragma once

#include "nesting/nesting-options.h"

/* Reads the model for options, which it must fit, and its id, to be freed. FALSE: error set. */
gboolean nesting_model_load(const char *path, NestingOptions *options, char **id, GError **error);

/* Writes the models that were learned of a trace, with the last part of its name. */
gboolean nesting_model_save(const char *path, Models *models, const char *trace, GError **error);
