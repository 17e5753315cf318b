/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Each window as a store, in the folder of --dir. While the disk is full, windows are not stored,
 * which is said; their paths are counted all the same.
 */
#include <string.h>

#include "base/error.h"
#include "paths/path-text.h"
#include "store/store.h"
#include "watch/consumers.h"
#include "watch/hours.h"

#define DAY G_GINT64_CONSTANT(86400000000000)

static struct {
        char *every, *whole, *keep, *size;
} options;

static const GOptionEntry entries[] = { { "store-every", 0, 0, G_OPTION_ARG_STRING, &options.every,
                                          "The time of a store (default 1h)", "DURATION" },
                                        { "whole", 0, 0, G_OPTION_ARG_STRING, &options.whole,
                                          "Thin older stores (default 1d)", "AGE" },
                                        { "keep", 0, 0, G_OPTION_ARG_STRING, &options.keep,
                                          "Delete older stores (default 30d)", "AGE" },
                                        { "keep-size", 0, 0, G_OPTION_ARG_STRING, &options.size,
                                          "Bytes of all stores (default 10G)", "SIZE" },
                                        G_OPTION_ENTRY_NULL };

typedef struct {
        const WatchSetup *setup;
        Hours *hours;
        char *next;       /* the path of a store whose window is not known yet */
        Store *store;     /* of the current window; NULL: it could not be made */
        char *path;       /* of the last store */
        gint64 last;      /* when the last window ended, ns */
        guint64 unstored; /* windows one after another that are in no store */
        guint64 requests; /* of these */
} Stores;

/* "10G", in bytes. */
static gboolean parse_size(const char *text, guint64 *size, GError **error)
{
        static const char units[] = "KMGT";
        char *end;
        guint64 n = g_ascii_strtoull(text, &end, 10);
        const char *unit = *end ? strchr(units, *end) : NULL;

        if (!g_ascii_isdigit(*text) || n == 0 || n >> 20 || !unit || end[1])
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "--keep-size %s: expected a size, such as 500M or 10G", text);
        *size = n << 10 * (unit - units + 1);
        return TRUE;
}

static gboolean read_age(const WatchSetup *setup, const char *text, gint64 otherwise, gint64 *ns,
                         GError **error)
{
        *ns = otherwise;
        return !text || setup->duration(text, ns, error);
}

static gboolean stores_read_options(const WatchSetup *setup, HoursOptions *h, GError **error)
{
        *h = (HoursOptions){ .dir = setup->dir,
                             .size = G_GUINT64_CONSTANT(10) << 30,
                             .arguments = setup->arguments,
                             .say = setup->say };
        if (!read_age(setup, options.every, DAY / 24, &h->every, error) ||
            !read_age(setup, options.whole, DAY, &h->whole, error) ||
            !read_age(setup, options.keep, 30 * DAY, &h->keep, error) ||
            (options.size && !parse_size(options.size, &h->size, error)))
                return FALSE;
        return (h->every >= setup->span && h->every % setup->span == 0) ||
               ravel_fail(error, RAVEL_ERROR_USAGE,
                          "--store-every %s: expected a multiple of --window",
                          options.every ? options.every : "1h");
}

static gboolean stores_begin(const WatchSetup *setup, gpointer *self, GError **error)
{
        const char *given = options.every   ? "--store-every"
                            : options.whole ? "--whole"
                            : options.keep  ? "--keep"
                            : options.size  ? "--keep-size"
                                            : NULL;
        HoursOptions h;
        Hours *hours;
        Stores *s;

        if (!setup->dir)
                return !given || ravel_fail(error, RAVEL_ERROR_USAGE,
                                            "%s: expected --dir DIR with it", given);
        if (!stores_read_options(setup, &h, error) || !(hours = hours_new(&h, error)))
                return FALSE;
        *self = s = g_new0(Stores, 1);
        s->setup = setup;
        s->hours = hours;
        s->next = g_build_filename(setup->dir, "windows", "next.sqlite", NULL);
        return TRUE;
}

static gboolean stores_open(gpointer self, PathSet *set, GError **error)
{
        Stores *s = self;
        StoreRun run = { .arguments = s->setup->arguments,
                         .parameters = s->setup->parameters,
                         .go_on = TRUE };
        g_autoptr(GError) wrong = NULL;

        store_free(s->store); /* of a window that an earlier watch closed */
        s->store = store_new(s->next, set, &run, &wrong);
        if (!s->store && s->unstored == 0)
                g_propagate_error(error, g_steal_pointer(&wrong));
        return s->store || s->unstored > 0;
}

static gboolean finish_store(Stores *s, const WatchWindow *w, GError **error)
{
        g_autofree char *path = hours_window_path(s->hours, w->from);
        g_autofree char *name = g_path_get_basename(path);
        g_autofree char *packets =
                g_strdup_printf("packets: %" G_GUINT64_FORMAT, w->counts.packets);
        g_autofree char *dropped =
                g_strdup_printf("packets dropped: %" G_GUINT64_FORMAT, w->counts.dropped);
        char *facts[] = { packets, dropped };

        store_rename(s->store, path);
        if (!store_add_capture(s->store, name, NULL, facts, G_N_ELEMENTS(facts), error)) {
                g_clear_pointer(&s->store, store_free);
                return FALSE;
        }
        if (!store_finish(g_steal_pointer(&s->store), error))
                return FALSE;
        g_free(s->path);
        s->path = g_steal_pointer(&path);
        return TRUE;
}

/* Says when it begins and when it ends that windows are in no store. */
static gboolean note_unstored(Stores *s, const WatchWindow *w, GError *wrong, GError **error)
{
        gboolean first = s->unstored++ == 0;

        s->requests += w->requests;
        if (first && wrong)
                g_propagate_error(error, wrong);
        else
                g_clear_error(&wrong);
        return !first || !error || !*error;
}

static void note_stored(Stores *s)
{
        if (s->unstored)
                s->setup->say("stores are written again: %" G_GUINT64_FORMAT
                              " windows with %" G_GUINT64_FORMAT " requests are in none",
                              s->unstored, s->requests);
        s->unstored = s->requests = 0;
}

static gboolean stores_window(gpointer self, WatchWindow *w, GError **error)
{
        Stores *s = self;
        GError *wrong = NULL;
        gboolean ok = s->store && finish_store(s, w, &wrong);

        w->store = ok ? s->path : NULL;
        s->last = w->to;
        if (ok)
                note_stored(s);
        hours_work(s->hours, w->to, FALSE);
        return ok || note_unstored(s, w, wrong, error);
}

static void stores_end(gpointer self, gboolean whole)
{
        Stores *s = self;

        store_free(s->store);
        if (s->unstored)
                s->setup->say("%" G_GUINT64_FORMAT " windows with %" G_GUINT64_FORMAT
                              " requests are in no store",
                              s->unstored, s->requests);
        if (whole) /* no more comes into the last hour */
                hours_work(s->hours, s->last, TRUE);
        hours_free(s->hours);
        g_free(s->next);
        g_free(s->path);
        g_free(s);
}

const WatchConsumer watch_stores = { .name = "stores",
                                     .options = entries,
                                     .begin = stores_begin,
                                     .open = stores_open,
                                     .window = stores_window,
                                     .end = stores_end };
