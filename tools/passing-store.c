/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/passing-store.h"

#include "base/error.h"
#include "tools/run-verb.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"

typedef struct {
        GPtrArray *scratch; /* of char *, removed at the end */
        int status;         /* the greatest exit status of a verb that left a result */
} Steps;

static void steps_clear(Steps *s)
{
        g_ptr_array_unref(s->scratch);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Steps, steps_clear)

FileKind passing_store_kind(char *const *paths, guint n, GError **error)
{
        FileKind all = n == 1 ? FILE_STORE : FILE_TRACE;

        for (guint i = 0; i < n; i++) {
                FileKind kind = file_kind_read(paths[i]);

                if (kind == FILE_CAPTURE || (kind == FILE_TRACE && n == 1))
                        all = kind;
                if (n == 1 || kind == FILE_CAPTURE || kind == FILE_TRACE)
                        continue;
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "%s: %s, expected captures or traces where several are named", paths[i],
                            kind == FILE_STORE ? "this is a store" : "this is none");
                return FILE_UNKNOWN;
        }
        if (n <= PASSING_INPUTS)
                return all;
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                    "%u files, expected at most %d: make one trace of them with ravel merge", n,
                    PASSING_INPUTS);
        return FILE_UNKNOWN;
}

/* "a.pcap, b.pcap" */
static char *join_names(char *const *paths, guint n)
{
        GString *names = g_string_new(NULL);

        for (guint i = 0; i < n; i++) {
                g_autofree char *name = g_path_get_basename(paths[i]);

                g_string_append_printf(names, i > 0 ? ", %s" : "%s", name);
        }
        return g_string_free(names, FALSE);
}

/* NULL where it cannot be made, which is said. */
static const char *add_scratch(Steps *s, const char *suffix)
{
        GError *error = NULL;
        char *path = output_scratch_new(suffix, &error);

        if (path)
                g_ptr_array_add(s->scratch, path);
        else
                s->status = tool_fail(error);
        return path;
}

/* Whether it left a result, as it also does where that is in part, or not fit. */
static gboolean step(Steps *s, int (*verb)(int, char **), GPtrArray *arguments)
{
        int status;

        g_ptr_array_add(arguments, NULL);
        status = run_verb(verb, (const char *const *)arguments->pdata, NULL);
        s->status = MAX(s->status, status);
        return status == EXIT_DONE || status == EXIT_DIFFERS || status == EXIT_PARTIAL;
}

static GPtrArray *begin_arguments(const char *const *words, const GPtrArray *options)
{
        GPtrArray *arguments = g_ptr_array_new();

        for (; *words; words++)
                g_ptr_array_add(arguments, (gpointer)*words);
        for (guint i = 0; options && i < options->len; i++)
                g_ptr_array_add(arguments, options->pdata[i]);
        return arguments;
}

/* The trace of one input, which is that itself where it is one; NULL where there is none. */
static const char *trace_of(Steps *s, const char *path, const GPtrArray *options)
{
        const char *trace;

        if (file_kind_read(path) != FILE_CAPTURE)
                return path;
        if (!(trace = add_scratch(s, ".trace")))
                return NULL;
        const char *const words[] = { "capture", "-r", path, "-w", trace, NULL };
        g_autoptr(GPtrArray) arguments = begin_arguments(words, options);
        tool_call_input(trace, path);
        return step(s, tool_capture, arguments) ? trace : NULL;
}

/* One trace of all. */
static const char *merge(Steps *s, const GPtrArray *traces, const char *name)
{
        const char *all = add_scratch(s, ".trace");
        const char *const words[] = { "merge", "-w", all, "--", NULL };
        g_autoptr(GPtrArray) arguments = begin_arguments(words, traces);

        tool_call_input(all ? all : "", name);
        return all && step(s, tool_merge, arguments) ? all : NULL;
}

/* FALSE: s->status says why. */
static gboolean find_paths(Steps *s, const char *trace, const GPtrArray *options, const char *store)
{
        const char *const words[] = { "nesting", "-o", store, "-w", "/dev/null", NULL };
        g_autoptr(GPtrArray) arguments = begin_arguments(words, options);

        g_ptr_array_add(arguments, "--");
        g_ptr_array_add(arguments, (gpointer)trace);
        return step(s, tool_nesting, arguments) && file_kind_read(store) == FILE_STORE;
}

int passing_store_make(char *const *paths, guint n, const GPtrArray *capture,
                       const GPtrArray *nesting, char **store)
{
        g_auto(Steps) s = { .scratch = g_ptr_array_new_with_free_func(
                                    (GDestroyNotify)output_scratch_remove) };
        g_autoptr(GPtrArray) traces = g_ptr_array_new();
        g_autofree char *names = join_names(paths, n);
        const char *trace, *path;
        guint index;

        *store = NULL;
        for (guint i = 0; i < n; i++) {
                if (!(trace = trace_of(&s, paths[i], capture)))
                        return s.status;
                g_ptr_array_add(traces, (gpointer)trace);
        }
        trace = n > 1 ? merge(&s, traces, names) : traces->pdata[0];
        if (!trace || !(path = add_scratch(&s, ".sqlite")) || !find_paths(&s, trace, nesting, path))
                return s.status;
        if (g_ptr_array_find(s.scratch, path, &index))
                *store = g_ptr_array_steal_index(s.scratch, index);
        return s.status;
}
