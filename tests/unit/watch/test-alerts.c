/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Alerts on made windows: 24 hours of three systems without a change, and four changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "watch/consumers.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

enum { DAY = 8640, CHANGED = 100 }; /* windows */

/* web calls db once, or db and then cache. Times are lognormal. */
typedef struct {
        const char *name;
        double sigma;  /* of the logarithm of times */
        double load;   /* of db's only worker; 0: it has no queue */
        double wave;   /* how the rate rises and falls in a day, a share */
        double errors; /* a share of db's calls */
} System;

static const System systems[] = { { "steady", 0.5, 0, 0, 0 },
                                  { "heavy tails, and a rate that rises and falls", 0.7, 0, 0.5,
                                    0 },
                                  { "a queue", 0.4, 0.6, 0.2, 0.0001 } };

typedef struct {
        double own, rate, errors; /* factors of db's own time and of the rate; a share */
        gboolean cache;
} Change;

static const Change no_change = { 1, 1, 0, FALSE };

typedef struct {
        NodeTable *nodes;
        GPtrArray *labels;
        GRand *random;
        double service; /* mean time of db, ms */
        gint64 free_at; /* when db's worker is, ns */
        gint64 now;     /* ns */
} Maker;

static guint said;

static void G_GNUC_PRINTF(1, 2) hear(const char *format, ...)
{
        va_list arguments;
        g_autofree char *text = NULL;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        if (g_str_has_prefix(text, "alert begins"))
                said++;
        g_test_message("%s", text);
}

static gboolean read_seconds(const char *text, gint64 *ns, GError **error)
{
        (void)error;
        *ns = (gint64)(g_ascii_strtod(text, NULL) * (strstr(text, "ms") ? 1e6 : 1e9));
        return *ns > 0;
}

static double draw_normal(GRand *random)
{
        double u = 1 - g_rand_double(random), v = g_rand_double(random);

        return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

/* Lognormal, with this mean in ms; ns. */
static gint64 draw_time(GRand *random, double mean, double sigma)
{
        return (gint64)(1e6 * mean * exp(sigma * draw_normal(random) - sigma * sigma / 2));
}

static PathCall make_call(NodeId caller, NodeId callee, guint32 parent, gint64 start, gint64 end)
{
        return (PathCall){ .parent = parent,
                           .caller = caller,
                           .callee = callee,
                           .start = start,
                           .enter = start,
                           .reply = end,
                           .end = end,
                           .stamps =
                                   1 << CALL_SENT | 1 << CALL_RECV | 1 << RET_SENT | 1 << RET_RECV,
                           .probability = 1,
                           .family = 1 };
}

static void add_request(Maker *m, PathSet *set, const System *s, const Change *c, gint64 time)
{
        gint64 asks = time + draw_time(m->random, 2, s->sigma);
        gint64 served = draw_time(m->random, m->service * c->own, s->sigma);
        gint64 told = (s->load > 0 ? MAX(asks, m->free_at) : asks) + served;
        gint64 looked = told + (c->cache ? 2000000 : 0);
        gint64 end = looked + draw_time(m->random, 2, s->sigma);
        PathCall calls[] = { make_call(0, 1, NO_PARENT, time, end), make_call(1, 2, 0, asks, told),
                             make_call(1, 3, 0, told + 1000000, looked) };

        m->free_at = told;
        calls[0].label = 1;
        if (g_rand_double(m->random) < s->errors + c->errors)
                calls[1].outcome = outcome_http(500);
        g_assert_true(path_set_add(set, calls, c->cache ? 3 : 2, NULL));
}

/* Hands on a window of 10 s with about n requests. */
static void make_window(Maker *m, gpointer alerts, const System *s, const Change *c, double n,
                        guint number)
{
        PathSet *set = path_set_new(m->nodes, SIBLINGS_MULTISET);
        WatchWindow w = { .from = number * 10 * SECOND,
                          .to = (number + 1) * 10 * SECOND,
                          .set = set };
        double wait = 10e9 / (n * c->rate * (1 + s->wave * sin(2 * G_PI * number / DAY)));

        path_set_set_labels(set, m->labels);
        m->service = s->load > 0 ? s->load * 10000 / n : 4;
        for (m->now = MAX(m->now, w.from); m->now < w.to;) {
                add_request(m, set, s, c, m->now);
                m->now += (gint64)(-log(1 - g_rand_double(m->random)) * wait) + 1;
        }
        watch_window_sum(&w);
        g_assert_true(watch_alerts.window(alerts, &w, NULL));
        watch_window_clear(&w);
        path_set_free(set);
}

static void set_up(Maker *m, guint seed)
{
        *m = (Maker){ .nodes = node_table_new(),
                      .labels = g_ptr_array_new(),
                      .random = g_rand_new_with_seed(seed) };
        for (const char *const *name =
                     (const char *const[]){ "client", "web", "db", "cache", NULL };
             *name; name++)
                node_table_add(m->nodes, *name, strlen(*name));
        g_ptr_array_add(m->labels, "GET /");
        said = 0;
}

static void tear_down(Maker *m)
{
        g_rand_free(m->random);
        g_ptr_array_unref(m->labels);
        node_table_free(m->nodes);
}

/* The consumer with these conditions; NULL at the end. */
static gpointer begin_alerts(const char *const *conditions)
{
        static const WatchSetup setup = { .duration = read_seconds, .say = hear };
        char ***given = watch_alerts.options[0].arg_data;
        gpointer alerts = NULL;

        g_strfreev(*given);
        *given = g_strdupv((char **)conditions);
        g_assert_true(watch_alerts.begin(&setup, &alerts, NULL));
        g_assert_nonnull(alerts);
        return alerts;
}

static const char *const conditions[] = { "own(db) +20%",
                                          "own(web) +20%",
                                          "p99(GET /) +50%",
                                          "mean(GET /) +30%",
                                          "rate(GET /) -30%",
                                          "rate +50%",
                                          "errors(db) > 1%",
                                          "new",
                                          NULL };

/* Without a change there is no alert in a day; $DAYS says in how many. */
static void test_silence(gconstpointer data)
{
        const System *s = data;
        const char *days = g_getenv("DAYS");

        for (guint day = 0; day < (days ? (guint)atoi(days) : 1); day++) {
                gpointer alerts = begin_alerts(conditions);
                Maker m;

                set_up(&m, day + 1);
                for (guint i = 0; i < DAY; i++)
                        make_window(&m, alerts, s, &no_change, 60, i);
                watch_alerts.end(alerts, TRUE);
                tear_down(&m);
                if (days)
                        g_printerr("%s, day %u: %u alerts\n", s->name, day, said);
                else
                        g_assert_cmpuint(said, ==, 0);
        }
}

/* The alert begins within two windows, and ends when the change does. */
static void check_change(const System *s, const char *condition, const Change *change)
{
        gpointer alerts = begin_alerts((const char *const[]){ condition, NULL });
        Maker m;
        guint i;

        set_up(&m, 7);
        g_test_message("%s: %s", s->name, condition);
        for (i = 0; i < CHANGED; i++)
                make_window(&m, alerts, s, &no_change, 1000, i);
        g_assert_cmpuint(said, ==, 0);
        for (; i < CHANGED + 2; i++)
                make_window(&m, alerts, s, change, 1000, i);
        g_assert_cmpuint(said, ==, 1);
        for (; i < CHANGED + 10; i++)
                make_window(&m, alerts, s, change, 1000, i);
        for (; i < CHANGED + 30; i++)
                make_window(&m, alerts, s, &no_change, 1000, i);
        g_assert_cmpuint(said, ==, 1);
        watch_alerts.end(alerts, TRUE);
        tear_down(&m);
}

static void test_changes(gconstpointer data)
{
        check_change(data, "own(db) +20%", &(Change){ 1.2, 1, 0, FALSE });
        check_change(data, "rate(GET /) -30%", &(Change){ 1, 0.5, 0, FALSE });
        check_change(data, "errors(db) > 1%", &(Change){ 1, 1, 0.02, FALSE });
        check_change(data, "new", &(Change){ 1, 1, 0, TRUE });
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        for (guint i = 0; i < G_N_ELEMENTS(systems); i++) {
                g_autofree char *silence = g_strdup_printf("/alerts/silence/%s", systems[i].name);
                g_autofree char *changes = g_strdup_printf("/alerts/changes/%s", systems[i].name);

                g_test_add_data_func(silence, &systems[i], test_silence);
                g_test_add_data_func(changes, &systems[i], test_changes);
        }
        return g_test_run();
}
