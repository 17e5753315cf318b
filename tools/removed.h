/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The verbs and options of earlier versions.
 */
#pragma once

/* The replacement of a removed option of a verb, or of a removed verb (verb: NULL). The option may
 * have its value after a "=". NULL: no version had it. */
const char *removed_instead(const char *verb, const char *name);
