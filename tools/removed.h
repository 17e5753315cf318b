/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The verbs and options that earlier versions had.
 */
#ifndef RAVEL_REMOVED_H
#define RAVEL_REMOVED_H

/* What to use instead of an option of a verb, which may have its value behind a "=", or of a verb,
 * with verb NULL. NULL: no version had it. */
const char *removed_instead(const char *verb, const char *name);

#endif
