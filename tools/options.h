/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the command lines of all verbs have in common.
 */
#pragma once

#include <glib.h>

/* An option that takes one of some words, NULL at their end. Completion offers these, and
 * tool_parse() takes no others. */
typedef struct {
        const char *option; /* "--format" */
        char *const *value; /* as the user gave it, or NULL */
        const char *const *words;
} ToolChoice;

/* Before tool_parse(): options that several verbs have, which --help lists after those of the verb,
 * and a text behind them. All stay the caller's; choices may be NULL, or end with option NULL. */
void tool_add_options(const GOptionEntry *entries, const ToolChoice *choices);
void tool_add_description(const char *text);

/* Whether --no-sandbox was given, which all verbs take, also to this process before it forked. */
gboolean tool_has_no_sandbox(void);

/* Which of the words it is; 0 where value is NULL or none. */
guint tool_choice_index(const char *value, const char *const *words);

/* Parses options, those of the verb (NULL: it has none) and added ones, and leaves the arguments in
 * *argc and *argv. summary: of the arguments, and of what the verb does. FALSE: *status is what to
 * exit with (a wrong option was named). */
gboolean tool_parse(const char *summary, const GOptionEntry *entries, const ToolChoice *choices,
                    int *argc, char ***argv, int *status);

/* The replacement of a removed option of a verb, or of a removed verb (verb: NULL). The option may
 * have its value after a "=". NULL: no version had it. */
const char *removed_instead(const char *verb, const char *name);

/* The one of names (NULL-terminated) that name may have been meant to be; NULL
 * where it is like none. */
const char *tool_nearest(const char *name, const char *const *names);

/* "10ms", "2s", "5us", "1.5s", "100" is an error: a duration needs its unit. In ns. */
gboolean tool_duration(const char *text, gint64 *ns, GError **error);

/* A change: "10%", "-5ms"; in percent, or ns. FALSE: it is neither. */
gboolean tool_change(const char *text, double *value, gboolean *percent);

/* How many threads -j asks for: all processors where it was not given, which is 0. */
gboolean tool_threads(gint given, guint *n, GError **error);
