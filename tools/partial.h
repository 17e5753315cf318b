/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel nesting --partial: the paper's method on one slice of a trace, a step at a time, for ravel
 * merge-state.
 */
#ifndef RAVEL_PARTIAL_H
#define RAVEL_PARTIAL_H

#include "nesting/learned.h"

/* Adds --partial, --slice, --halo and --state. */
void partial_add_options(GOptionContext *context);

/* Whether --partial or an option that is about it was given; one but for --halo. */
gboolean partial_is_wanted(void);
gboolean partial_is_step(void);

/* The option --halo alone, ns; 0: it was not given. */
gint64 partial_halo(void);

/* The options of nesting that a state notes, and back. */
LearnedHow partial_how(const NestingOptions *options, SiblingOrder siblings);
NestingOptions partial_options(const LearnedHow *how);

/* The bytes of a file. NULL with error set. */
GMappedFile *partial_map(const char *path, GError **error);

/* Reads the state in a file. NULL with error set. */
Learned *partial_load(const char *path, GError **error);

/* Writes it. */
gboolean partial_save(Learned *learned, GError **error);

/* What went wrong with a file, in front of error. */
void partial_name_file(GError **error, const char *path);

/* All of it, after the options were checked, those of the reader too: does the step that was asked
 * for. Returns the exit status. */
int partial_run(int argc, char **argv, const LearnedHow *how);

#endif
