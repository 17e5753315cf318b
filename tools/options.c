/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/each.h"
#include "base/error.h"
#include "tools/messages.h"

/* The verbs and options of earlier versions. */
static const struct {
        const char *verb; /* NULL: the name is a verb */
        const char *name, *instead;
} removed[] = {
        { NULL, "merge-state", "ravel nesting --method paper, in one process" },
        { "nesting", "--halo", "--method paper, in one process" },
        { "nesting", "--partial", "--method paper, in one process" },
        { "nesting", "--slice", "--method paper, in one process" },
        { "nesting", "--state", "--method paper, in one process" },
};

const char *removed_instead(const char *verb, const char *name)
{
        gsize length = strcspn(name, "=");

        for (guint i = 0; i < G_N_ELEMENTS(removed); i++)
                if (g_strcmp0(removed[i].verb, verb) == 0 && strlen(removed[i].name) == length &&
                    strncmp(removed[i].name, name, length) == 0)
                        return removed[i].instead;
        return NULL;
}

/* -n1 is -n 1, as with other programs; GOption knows only the latter. */
static void split_numbers(int *argc, char ***argv)
{
        static GPtrArray *split; /* what argv is from now on */
        static char flags[128][sizeof "-n"];
        gboolean options = TRUE;

        split = g_ptr_array_new();
        for (int i = 0; i < *argc; i++) {
                char *text = (*argv)[i];

                options = options && strcmp(text, "--") != 0;
                if (options && text[0] == '-' && g_ascii_isalpha(text[1]) &&
                    g_ascii_isdigit(text[2 + (text[2] == '-')])) {
                        char *flag = flags[(guchar)text[1]];

                        g_ptr_array_add(split, memcpy(flag, text, 2));
                        text += 2;
                }
                g_ptr_array_add(split, text);
        }
        *argc = (int)split->len;
        g_ptr_array_add(split, NULL);
        *argv = (char **)split->pdata;
}

static gboolean no_sandbox;

/* Of all verbs. */
static const GOptionEntry common[] = { { "no-sandbox", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE,
                                         &no_sandbox, "Parse with all rights, to debug", NULL },
                                       G_OPTION_ENTRY_NULL };

gboolean tool_has_no_sandbox(void)
{
        return no_sandbox;
}

static struct {
        GPtrArray *entries; /* of arrays of GOptionEntry */
        GPtrArray *choices; /* of ToolChoice */
        const char *description;
} added;

void tool_add_options(const GOptionEntry *entries, const ToolChoice *choices)
{
        if (!added.entries) {
                added.entries = g_ptr_array_new();
                added.choices = g_ptr_array_new();
        }
        g_ptr_array_add(added.entries, (gpointer)entries);
        for (; choices && choices->option; choices++)
                g_ptr_array_add(added.choices, (gpointer)choices);
}

void tool_add_description(const char *text)
{
        added.description = text;
}

guint tool_choice_index(const char *value, const char *const *words)
{
        for (guint i = 0; value && words[i]; i++)
                if (!strcmp(value, words[i]))
                        return i;
        return 0;
}

/* "text, tsv or json" */
static char *list_words(const char *const *words)
{
        GString *text = g_string_new(words[0]);

        for (guint i = 1; words[i]; i++)
                g_string_append_printf(text, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
        return g_string_free(text, FALSE);
}

static gboolean check_choices(GError **error)
{
        EACH_OF (const ToolChoice, choice, added.choices) {
                g_autofree char *words = NULL;

                if (!*choice->value || g_strv_contains(choice->words, *choice->value))
                        continue;
                words = list_words(choice->words);
                return ravel_fail(error, RAVEL_ERROR_USAGE, "found \"%s\", expected %s %s",
                                  *choice->value, choice->option, words);
        }
        return TRUE;
}

/* For completion: the words that an option takes, if it is one of these, a line each. */
static void print_words(const char *option)
{
        EACH_OF (const ToolChoice, choice, added.choices)
                for (guint k = 0; !strcmp(choice->option, option) && choice->words[k]; k++)
                        puts(choice->words[k]);
}

static void add_option_names(const GOptionEntry *entries, GPtrArray *names)
{
        for (; entries && entries->long_name; entries++)
                if (!(entries->flags & G_OPTION_FLAG_HIDDEN) && *entries->long_name)
                        g_ptr_array_add(names, (gpointer)entries->long_name);
}

/* The long name of an option that is most like option ("--node"); NULL: none is. entries: the
 * verb's own. */
static const char *nearest_option(const GOptionEntry *entries, const char *option)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        g_autofree char *name = g_strndup(option + 2, strcspn(option + 2, "="));

        add_option_names(entries, names);
        for (guint i = 0; i < added.entries->len; i++)
                add_option_names(added.entries->pdata[i], names);
        g_ptr_array_add(names, NULL);
        return tool_nearest(name, (const char *const *)names->pdata);
}

/* message: of GLib, which ends with the option where that is unknown. */
static void fail_option(const GOptionEntry *entries, const char *message)
{
        const char *option = strstr(message, "--");
        const char *instead = option ? removed_instead(tool_verb(), option) : NULL;
        const char *nearest = option ? nearest_option(entries, option) : NULL;

        if (instead)
                tool_warn("%s was removed: use %s", option, instead);
        else if (nearest)
                tool_warn("%s: did you mean --%s? (ravel %s --help lists the options)", message,
                          nearest, tool_verb());
        else
                tool_warn("%s (ravel %s --help lists the options)", message, tool_verb());
}

gboolean tool_parse(const char *summary, const GOptionEntry *entries, const ToolChoice *choices,
                    int *argc, char ***argv, int *status)
{
        g_autoptr(GOptionContext) context = g_option_context_new(summary);
        g_autoptr(GError) error = NULL;

        if (entries)
                g_option_context_add_main_entries(context, entries, NULL);
        tool_add_options(common, choices);
        for (guint i = 0; i < added.entries->len; i++)
                if (added.entries->pdata[i])
                        g_option_context_add_main_entries(context, added.entries->pdata[i], NULL);
        g_option_context_set_description(context, added.description);
        if (*argc == 3 && !strcmp((*argv)[1], "--complete")) {
                print_words((*argv)[2]);
                *status = EXIT_DONE;
                return FALSE;
        }
        split_numbers(argc, argv);
        if (g_option_context_parse(context, argc, argv, &error)) {
                if (check_choices(&error))
                        return TRUE;
                tool_warn("%s", error->message);
                *status = EXIT_USAGE;
                return FALSE;
        }
        fail_option(entries, error->message);
        *status = EXIT_USAGE;
        return FALSE;
}

static gsize distance(const char *a, const char *b)
{
        gsize n = strlen(b);
        g_autofree gsize *row = g_new(gsize, n + 1);

        for (gsize k = 0; k <= n; k++)
                row[k] = k;
        for (; *a; a++) {
                gsize diagonal = row[0]++;

                for (gsize k = 0; k < n; k++) {
                        gsize changed = diagonal + (*a != b[k]);

                        diagonal = row[k + 1];
                        row[k + 1] = MIN(changed, 1 + MIN(row[k], row[k + 1]));
                }
        }
        return row[n];
}

const char *tool_nearest(const char *name, const char *const *names)
{
        const char *nearest = NULL;
        gsize least = 3; /* letters that differ: more is another word */

        for (; *names; names++) {
                gsize d = g_str_has_prefix(*names, name) ? 1 : distance(name, *names);

                if (d < least && d < strlen(name)) {
                        least = d;
                        nearest = *names;
                }
        }
        return nearest;
}

gboolean tool_duration(const char *text, gint64 *ns, GError **error)
{
        static const struct {
                const char *name;
                double ns;
        } units[] = { { "ns", 1 },  { "us", 1e3 },   { "\xc2\xb5s", 1e3 }, { "ms", 1e6 },
                      { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 },      { "d", 86400e9 } };
        char *unit;
        double value = g_ascii_strtod(text, &unit);

        while (g_ascii_isspace(*unit))
                unit++;
        for (guint i = 0; i < G_N_ELEMENTS(units) && unit != text; i++) {
                if (strcmp(unit, units[i].name))
                        continue;
                value = rint(value * units[i].ns);
                if (!(value >= 0 && value < 9.2e18))
                        break;
                *ns = value;
                return TRUE;
        }
        if (unit != text && !*unit && value >= 0)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "\"%s\" has no unit: did you mean %ss or %sms?", text, text,
                                  text);
        return ravel_fail(
                error, RAVEL_ERROR_USAGE,
                "\"%s\" is not a duration: expected a number with a unit, such as 10ms, 2s or 5us",
                text);
}

gboolean tool_change(const char *text, double *value, gboolean *percent)
{
        gboolean negative = *text == '-';
        char *end;
        gint64 ns;

        if (!strpbrk(text, "0123456789"))
                return FALSE;
        *value = g_ascii_strtod(text, &end);
        *percent = !strcmp(end, "%");
        if (!*percent) {
                if (!tool_duration(text + (negative || *text == '+'), &ns, NULL))
                        return FALSE;
                *value = negative ? -(double)ns : (double)ns;
        }
        return isfinite(*value);
}

gboolean tool_threads(gint given, guint *n, GError **error)
{
        enum { MOST = 256 };

        if (given < 0 || given > MOST)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "found \"%d\", expected -j of 1 to %d",
                                  given, MOST);
        *n = given ? (guint)given : g_get_num_processors();
        return TRUE;
}
