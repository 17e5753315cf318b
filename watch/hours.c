/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/hours.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/error.h"
#include "store/join-stores.h"
#include "store/store-reader.h"

enum { SLOWEST = 1000 /* requests that a thinned store keeps */ };

#define SECOND G_GINT64_CONSTANT(1000000000)

/* So long windows can be read after their hour, ns: ravel query --follow does. */
#define GRACE (60 * SECOND)

#define NAME "%Y%m%d-%H%M%S.sqlite"
#define NAME_PATTERN                                                                               \
        "????????"                                                                                 \
        "-"                                                                                        \
        "??????"                                                                                   \
        ".sqlite"

struct Hours {
        HoursOptions options;
        char *windows;    /* the folder */
        pid_t worker;     /* 0: none works */
        gint64 worked_to; /* the slot that the last worker began in, ns */
};

/* --- names --------------------------------------------------------------------- */

static gint64 slot_of(const Hours *h, gint64 time)
{
        gint64 into = time % h->options.every;

        return time - (into < 0 ? into + h->options.every : into);
}

static char *name_at(const char *folder, gint64 time)
{
        g_autoptr(GDateTime) moment = g_date_time_new_from_unix_utc(time / SECOND);
        g_autofree char *name = moment ? g_date_time_format(moment, NAME) : NULL;

        return g_build_filename(folder, name ? name : "0-0.sqlite", NULL);
}

char *hours_window_path(const Hours *h, gint64 from)
{
        return name_at(h->windows, from);
}

gint64 hours_moment(const char *name)
{
        g_autofree char *text =
                strlen(name) > 15 ? g_strdup_printf("%.8sT%.6sZ", name, name + 9) : NULL;
        g_autoptr(GDateTime) moment = text ? g_date_time_new_from_iso8601(text, NULL) : NULL;

        return moment ? g_date_time_to_unix(moment) * SECOND : G_MININT64;
}

COMPARISON_OF_POINTERS(compare_names, char, strcmp(a, b))

/* Files of a folder that match. */
static GPtrArray *list_files(const char *folder, const char *pattern)
{
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        GDir *dir = g_dir_open(folder, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir)))
                if (g_pattern_match_simple(pattern, name))
                        g_ptr_array_add(names, g_strdup(name));
        if (dir)
                g_dir_close(dir);
        g_ptr_array_sort(names, compare_names);
        return names;
}

GPtrArray *hours_list(const char *folder)
{
        GPtrArray *names = list_files(folder, NAME_PATTERN);

        for (guint i = names->len; i-- > 0;)
                if (hours_moment(names->pdata[i]) == G_MININT64)
                        g_ptr_array_remove_index(names, i);
        return names;
}

/* Temporary files end in six characters after the suffix. */
static void remove_temporaries(const char *folder)
{
        g_autoptr(GPtrArray) names = list_files(folder, "*.sqlite.??????*");

        for (guint i = 0; i < names->len; i++) {
                g_autofree char *path = g_build_filename(folder, names->pdata[i], NULL);

                unlink(path);
        }
}

/* --- joining, in a process of its own ------------------------------------------- */

/* The names of the stores that a store was joined from. NULL with error set. */
static GHashTable *read_inputs(const char *path, GError **error)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, error);
        g_autoptr(GHashTable) inputs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        StoredCapture c;
        int status = reader ? 1 : -1;

        while (status > 0 && (status = store_reader_next_capture(reader, &c, error)) > 0)
                g_hash_table_add(inputs, g_path_get_basename(c.name));
        return status == 0 ? g_steal_pointer(&inputs) : NULL;
}

static gboolean has_requests(const char *path)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, NULL);
        StoredPattern p;

        return reader && store_reader_next_pattern(reader, &p, NULL) > 0;
}

/* The paths of all windows of a slot from names[*at] on; *at becomes that of the next slot. */
static GPtrArray *take_slot(const Hours *h, const GPtrArray *names, guint *at)
{
        GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
        gint64 slot = slot_of(h, hours_moment(names->pdata[*at]));

        while (*at < names->len && slot_of(h, hours_moment(names->pdata[*at])) == slot)
                g_ptr_array_add(paths, g_build_filename(h->windows, names->pdata[(*at)++], NULL));
        return paths;
}

/* Joins windows with what the slot has already, and deletes them. */
static gboolean join_slot(const Hours *h, gint64 slot, const GPtrArray *windows, GError **error)
{
        g_autofree char *path = name_at(h->options.dir, slot);
        g_autoptr(GHashTable) joined = NULL;
        g_autoptr(GPtrArray) inputs = g_ptr_array_new();
        JoinOptions options = { .arguments = h->options.arguments };

        if (g_file_test(path, G_FILE_TEST_EXISTS)) {
                if (!(joined = read_inputs(path, error)))
                        return FALSE;
                g_ptr_array_add(inputs, path);
        }
        for (guint i = 0; i < windows->len; i++) {
                g_autofree char *name = g_path_get_basename(windows->pdata[i]);

                if ((!joined || !g_hash_table_contains(joined, name)) &&
                    has_requests(windows->pdata[i]))
                        g_ptr_array_add(inputs, windows->pdata[i]);
        }
        if (inputs->len > (joined != NULL) &&
            !stores_join((const char *const *)inputs->pdata, inputs->len, path, &options, error))
                return FALSE;
        for (guint i = 0; i < windows->len; i++)
                unlink(windows->pdata[i]);
        return TRUE;
}

static gboolean join_slots(const Hours *h, gint64 time, GError **error)
{
        g_autoptr(GPtrArray) names = hours_list(h->windows);

        for (guint at = 0; at < names->len;) {
                gint64 slot = slot_of(h, hours_moment(names->pdata[at]));
                g_autoptr(GPtrArray) windows = take_slot(h, names, &at);

                if (slot <= time - h->options.every && !join_slot(h, slot, windows, error))
                        return FALSE;
        }
        return TRUE;
}

static gboolean thin_hour(const Hours *h, const char *path, GError **error)
{
        JoinOptions options = { .arguments = h->options.arguments, .slowest = SLOWEST };
        gboolean thinned;

        return store_is_thinned(path, &thinned, error) &&
               (thinned || stores_join(&path, 1, path, &options, error));
}

static gboolean thin_hours(const Hours *h, gint64 time, GError **error)
{
        g_autoptr(GPtrArray) names = hours_list(h->options.dir);

        /* The newest first: those before it were thinned earlier. */
        for (guint i = names->len; i-- > 0;) {
                g_autofree char *path = g_build_filename(h->options.dir, names->pdata[i], NULL);

                if (hours_moment(names->pdata[i]) < time - h->options.whole - h->options.every &&
                    !thin_hour(h, path, error))
                        return FALSE;
        }
        return TRUE;
}

static void G_GNUC_NORETURN run_worker(const Hours *h, gint64 time, pid_t parent)
{
        static const int numbers[] = { SIGHUP, SIGINT, SIGTERM };
        GError *error = NULL;

        /* The parent's handlers would remove its temporary files. */
        for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
                signal(numbers[i], SIG_DFL);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
                _exit(1);
        if (nice(10) < 0)
                g_debug("nice: %s", g_strerror(errno)); /* a unit may forbid it */
        if (join_slots(h, time, &error) && thin_hours(h, time, &error))
                _exit(0);
        h->options.say("stores are not joined: %s", error->message);
        _exit(1);
}

/* --- deleting -------------------------------------------------------------------- */

typedef struct {
        char *path;
        gint64 from; /* ns */
        guint64 size;
} Aged;

static void clear_aged(gpointer data)
{
        g_free(((Aged *)data)->path);
}

static guint64 list_aged(const char *folder, GArray *all)
{
        g_autoptr(GPtrArray) names = hours_list(folder);
        guint64 sum = 0;
        struct stat st;

        for (guint i = 0; i < names->len; i++) {
                Aged aged = { g_build_filename(folder, names->pdata[i], NULL),
                              hours_moment(names->pdata[i]), 0 };

                aged.size = stat(aged.path, &st) == 0 ? (guint64)st.st_size : 0;
                sum += aged.size;
                g_array_append_val(all, aged);
        }
        return sum;
}

/* All but the newest store, which may be in use. */
static void delete_old(const Hours *h, gint64 time)
{
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Aged));
        guint64 size = list_aged(h->options.dir, all);

        g_array_set_clear_func(all, clear_aged);
        size += list_aged(h->windows, all); /* they are younger */
        for (guint i = 0; i + 1 < all->len; i++) {
                const Aged *a = &g_array_index(all, Aged, i);

                if (a->from >= time - h->options.keep && size <= h->options.size)
                        return;
                if (unlink(a->path) == 0)
                        size -= a->size;
        }
}

/* --- the door --------------------------------------------------------------------- */

Hours *hours_new(const HoursOptions *options, GError **error)
{
        g_autofree char *windows = g_build_filename(options->dir, "windows", NULL);
        Hours *h;

        if (g_mkdir_with_parents(windows, 0777) < 0) {
                ravel_fail(error, RAVEL_ERROR_OUTPUT, "%s: cannot make the folder: %s", windows,
                           g_strerror(errno));
                return NULL;
        }
        h = g_new0(Hours, 1);
        h->options = *options;
        h->windows = g_steal_pointer(&windows);
        h->worked_to = G_MININT64;
        remove_temporaries(h->options.dir);
        remove_temporaries(h->windows);
        return h;
}

static void end_worker(Hours *h, gboolean wait)
{
        int status;

        if (!h->worker || waitpid(h->worker, &status, wait ? 0 : WNOHANG) == 0)
                return;
        h->worker = 0;
        remove_temporaries(h->options.dir); /* of one that was killed */
}

static void begin_worker(Hours *h, gint64 time)
{
        pid_t parent = getpid(), child = fork();

        if (child == 0)
                run_worker(h, time, parent);
        h->worker = MAX(child, 0);
        if (child > 0)
                h->worked_to = slot_of(h, time);
}

void hours_work(Hours *h, gint64 time, gboolean all)
{
        end_worker(h, all);
        delete_old(h, time);
        time = all ? time + h->options.every : time - GRACE;
        if (!h->worker && slot_of(h, time) > h->worked_to)
                begin_worker(h, time);
        end_worker(h, all);
}

void hours_free(Hours *h)
{
        if (h->worker && kill(h->worker, SIGTERM) == 0)
                end_worker(h, TRUE);
        g_free(h->windows);
        g_free(h);
}
