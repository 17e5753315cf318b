/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/messages.h"

#include <stdio.h>

#include "base/error.h"
#include "base/printable.h"
#include "tools/progress.h"

static const char *current_verb;
static gboolean is_quiet;
static char *last_words; /* where it is quiet */

void tool_set_verb(const char *verb)
{
        g_autofree char *name = g_strdup_printf("ravel %s", verb);

        current_verb = verb;
        g_set_prgname(name); /* of the usage line of --help, and of progress */
}

const char *tool_verb(void)
{
        return current_verb;
}

void tool_be_quiet(void)
{
        is_quiet = TRUE;
}

const char *tool_last_words(void)
{
        return last_words ? last_words : "";
}

/* A name in a message may come from a packet or a file: one line, no escapes. */
static void print_line(const char *text)
{
        g_autoptr(GString) line = g_string_new("ravel");

        if (is_quiet) {
                g_free(last_words);
                last_words = g_strdup(text);
                return;
        }
        tool_progress_clear();
        if (current_verb)
                g_string_append_printf(line, " %s", current_verb);
        g_string_append(line, ": ");
        printable_append(line, text, -1, PRINTABLE_TEXT);
        g_string_append_c(line, '\n');
        fputs(line->str, stderr);
}

int tool_fail(GError *error)
{
        int status = EXIT_INPUT;

        /* As with "| head": whoever closed the pipe has seen enough. */
        if (!g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_PIPE))
                print_line(error->message);
        if (error->domain == RAVEL_ERROR)
                status = error->code >= RAVEL_ERROR_OUTPUT ? EXIT_PARTIAL : error->code;
        g_error_free(error);
        return status;
}

void tool_warn(const char *format, ...)
{
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        print_line(text);
}
