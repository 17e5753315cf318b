/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Alerts: conditions that windows are asked, said once when they begin to be met and once when they
 * end.
 */
#include <math.h>

#include "base/error.h"
#include "paths/path-text.h"
#include "watch/alert-condition.h"
#include "watch/alert-hook.h"
#include "watch/consumers.h"
#include "write/json.h"

enum {
        LEARNED = 12,             /* windows whose patterns are not new */
        FEW = 5,                  /* requests with new patterns that are no alert */
        MOST_PATTERNS = 1 << 18,  /* that are remembered */
        UNSEEN = 6,               /* windows without its subject until that is said */
        HOOK_SECONDS_AT_END = 40, /* for hooks, if the input has ended; else a second */
};

static struct {
        char **alerts, *hook;
} options;

static const GOptionEntry entries[] = {
        { "alert", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.alerts,
          "Say when it begins and ends; may be repeated", "CONDITION" },
        { "alert-hook", 0, 0, G_OPTION_ARG_FILENAME, &options.hook,
          "Run PROGRAM then, with the facts on its input", "PROGRAM" },
        G_OPTION_ENTRY_NULL
};

typedef struct {
        AlertCondition condition;
        AlertState state;
        guint unseen; /* windows from the first on in which nothing had the subject's name */
} Alert;

typedef struct {
        const WatchSetup *setup;
        GArray *alerts;  /* of Alert */
        GHashTable *old; /* patterns of earlier windows, by hash; NULL: nobody asks */
        guint learned;   /* windows in it */
        guint n_new;     /* windows with new patterns, one after another */
        AlertHook *hook; /* NULL: none */
} Alerts;

/* --- what windows say ------------------------------------------------------------- */

/* What a window says of a subject. */
typedef struct {
        gboolean found;
        const char *operation; /* its name, if it is one; NULL: not */
        guint64 calls, errors;
        const Histogram *latency; /* ns */
        gint128 own;              /* ns; 0 if it is no node */
} AlertSubject;

static AlertSubject find_subject(const WatchWindow *w, const char *name, gboolean node_only)
{
        if (!name)
                return (AlertSubject){ TRUE, NULL, w->requests, w->failed, &w->latency, 0 };
        for (guint i = 0; i < w->operations->len && !node_only; i++) {
                const WatchOperation *o = &g_array_index(w->operations, WatchOperation, i);

                if (!g_strcmp0(o->name, name))
                        return (AlertSubject){
                                TRUE, o->name, o->requests, o->failed, &o->latency, 0
                        };
        }
        for (NodeId i = 0; i < w->n_nodes; i++) {
                const WatchNode *n = &w->nodes[i];

                if (n->calls && !g_strcmp0(node_table_name(path_set_nodes(w->set), i), name))
                        return (AlertSubject){
                                TRUE, NULL, n->calls, n->errors, &n->latency, n->own
                        };
        }
        return (AlertSubject){ .found = FALSE };
}

/* The caller of the root does not count. */
static guint64 hash_pattern(const PathPattern *p)
{
        GString *text = g_string_new(p->label);
        guint64 hash;

        for (guint32 i = 0; i < p->n_nodes; i++)
                g_string_append_printf(text, " %u/%u", p->nodes[i].depth, p->nodes[i].node);
        hash = path_pattern_id(NULL, text->str);
        g_string_free(text, TRUE);
        return hash;
}

static void learn_patterns(Alerts *a, const WatchWindow *w)
{
        if (g_hash_table_size(a->old) > MOST_PATTERNS) {
                g_hash_table_remove_all(a->old);
                a->learned = 0;
        }
        for (guint32 i = 0; i < path_set_size(w->set); i++) {
                guint64 hash = hash_pattern(path_set_outline(w->set, i));

                if (!g_hash_table_contains(a->old, &hash))
                        g_hash_table_add(a->old, g_memdup2(&hash, sizeof hash));
        }
        a->learned += w->requests > 0;
}

/* The share of requests whose pattern no window before had. While there are many, they stay new. */
static double find_new(Alerts *a, const WatchWindow *w)
{
        guint64 n = 0;
        double share;

        for (guint32 i = 0; i < path_set_size(w->set) && a->learned >= LEARNED; i++) {
                const PathPattern *p = path_set_pattern(w->set, i);
                guint64 hash = hash_pattern(p);

                if (!g_hash_table_contains(a->old, &hash))
                        n += p->count;
        }
        share = n >= FEW ? (double)n / w->requests : 0;
        a->n_new = share > ALERT_NEW_SHARE ? a->n_new + 1 : 0;
        if (a->n_new == 0 || a->n_new > ALERT_BEFORE)
                learn_patterns(a, w);
        return share;
}

/* The value of a condition in a window; NAN: none. */
static double find_value(const WatchWindow *w, const AlertCondition *c, const AlertSubject *s)
{
        double seconds = (double)MAX(w->to - w->from, 1) / 1e9;

        if (c->kind == ALERT_RATE)
                return s->calls / seconds;
        if (!s->calls)
                return NAN;
        switch (c->kind) {
        case ALERT_LATENCY:
                return histogram_quantile(s->latency, c->quantile) / 1e9;
        case ALERT_MEAN:
                return (double)s->latency->sum / s->latency->count / 1e9;
        case ALERT_OWN:
                return (double)s->own / s->calls / 1e9;
        default:
                return (double)s->errors / s->calls;
        }
}

/* The node with the most own time in requests of this operation (NULL: all), and its share of all
 * own time. NO_NODE: there is none. */
static NodeId find_slowest(const WatchWindow *w, const char *operation, double *share)
{
        g_autofree gint128 *own = g_new0(gint128, w->n_nodes + 1);
        NodeId slowest = NO_NODE;
        gint128 all = 0;

        for (guint32 i = 0; i < path_set_size(w->set); i++) {
                const PathPattern *p = path_set_pattern(w->set, i);

                if (operation && g_strcmp0(operation, watch_window_operation(w, p)))
                        continue;
                for (guint32 k = 0; k < p->n_nodes; k++)
                        own[p->nodes[k].node] += p->nodes[k].own.sum;
        }
        for (NodeId i = 0; i < w->n_nodes; i++) {
                all += own[i];
                if (own[i] > 0 && (slowest == NO_NODE || own[i] > own[slowest]))
                        slowest = i;
        }
        *share = all > 0 ? (double)own[slowest] / (double)all : 0;
        return slowest;
}

/* --- saying ------------------------------------------------------------------------- */

/* "312 ms", "2 %", "4.5/s"; the caller's to free. */
static char *format_value(const AlertCondition *c, double value)
{
        if (isnan(value))
                return g_strdup("no requests");
        if (c->kind == ALERT_RATE)
                return g_strdup_printf("%.3g/s", value);
        if (c->kind == ALERT_ERRORS || c->kind == ALERT_NEW)
                return g_strdup_printf("%.3g %%", 100 * value);
        return path_format_duration((gint64)rint(value * 1e9));
}

static void say_alert(const Alerts *a, const Alert *alert, const WatchWindow *w, NodeId node,
                      double share)
{
        const AlertState *s = &alert->state;
        const AlertCondition *c = &alert->condition;
        g_autofree char *value = format_value(c, s->value);
        g_autofree char *usual = c->is_change ? format_value(c, s->usual) : NULL;
        g_autofree char *since = path_format_moment(s->since, 6);
        g_autofree char *at =
                node == NO_NODE ? NULL
                                : g_strdup_printf("; most own time: %s, %.0f %%",
                                                  node_table_written(path_set_nodes(w->set), node),
                                                  100 * share);

        a->setup->say("alert %s: %s: %s%s%s, since %.19sZ%s", s->met ? "begins" : "ends", c->text,
                      value, usual ? ", before " : "", usual ? usual : "", since, at ? at : "");
}

static void put_number(Json *j, const char *key, double value)
{
        json_key(j, key);
        if (isnan(value))
                json_null(j);
        else
                json_number(j, value, "%.9g");
}

static const char *find_unit(AlertKind kind)
{
        return kind == ALERT_RATE                          ? "per second"
               : kind == ALERT_ERRORS || kind == ALERT_NEW ? "share"
                                                           : "s";
}

static void append_facts(GString *text, const Alert *alert, const WatchWindow *w, NodeId node,
                         double share)
{
        const AlertState *s = &alert->state;
        const AlertCondition *c = &alert->condition;
        g_autofree char *since = path_format_moment(s->since, 6);
        g_autofree char *to = path_format_moment(w->to, 6);
        Json j = JSON_IN(text);

        json_open(&j, '{');
        json_put_plain(&j, "format", "ravel-alert");
        json_put_count(&j, "version", 1);
        json_put_plain(&j, "state", s->met ? "begins" : "ends");
        json_put_string(&j, "condition", c->text);
        json_put_plain(&j, "since", since);
        json_put_plain(&j, "at", to);
        put_number(&j, "value", s->value);
        put_number(&j, "before", c->is_change ? s->usual : (double)NAN);
        json_put_plain(&j, "unit", find_unit(c->kind));
        json_put_string(&j, "node",
                        node == NO_NODE ? NULL : node_table_name(path_set_nodes(w->set), node));
        put_number(&j, "node_share", node == NO_NODE ? (double)NAN : share);
        json_put_string(&j, "store", w->store);
        json_close(&j, '}');
        g_string_append_c(text, '\n');
}

static void tell_alert(Alerts *a, const Alert *alert, const WatchWindow *w, const char *operation)
{
        double share;
        NodeId node = find_slowest(w, operation, &share);
        g_autoptr(GString) facts = g_string_new(NULL);

        say_alert(a, alert, w, node, share);
        if (!a->hook)
                return;
        append_facts(facts, alert, w, node, share);
        alert_hook_add(a->hook, facts->str, facts->len);
}

/* --- the consumer -------------------------------------------------------------------- */

static void alert_clear(gpointer data)
{
        Alert *alert = data;

        alert_condition_clear(&alert->condition);
        alert_state_clear(&alert->state);
}

static void alerts_free(Alerts *a)
{
        g_array_unref(a->alerts);
        g_clear_pointer(&a->old, g_hash_table_unref);
        g_free(a);
}

static gboolean alerts_begin(const WatchSetup *setup, gpointer *self, GError **error)
{
        Alerts *a;

        if (!options.alerts)
                return !options.hook || ravel_fail(error, RAVEL_ERROR_USAGE,
                                                   "--alert-hook: expected --alert with it");
        a = g_new0(Alerts, 1);
        a->setup = setup;
        a->alerts = g_array_new(FALSE, TRUE, sizeof(Alert));
        g_array_set_clear_func(a->alerts, alert_clear);
        for (char **text = options.alerts; *text; text++) {
                Alert alert = { .unseen = 0 };

                if (!alert_condition_parse(*text, &alert.condition, setup->duration, error)) {
                        alerts_free(a);
                        return FALSE;
                }
                if (alert.condition.kind == ALERT_NEW && !a->old)
                        a->old = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
                g_array_append_val(a->alerts, alert);
        }
        if (options.hook)
                a->hook = alert_hook_new(options.hook, setup->say);
        *self = a;
        return TRUE;
}

/* A name that is misspelt would be silent for ever. */
static void note_unseen(const Alerts *a, Alert *alert, gboolean found)
{
        if (found)
                alert->unseen = UNSEEN + 1;
        else if (alert->unseen <= UNSEEN && ++alert->unseen == UNSEEN)
                a->setup->say("--alert %s: no operation or node has had this name yet",
                              alert->condition.text);
}

static void ask_alert(Alerts *a, Alert *alert, const WatchWindow *w, double share_new)
{
        const AlertCondition *c = &alert->condition;
        AlertSubject subject = find_subject(w, c->subject, c->kind == ALERT_OWN);
        gboolean was = alert->state.met;

        if (w->requests)
                note_unseen(a, alert, subject.found);
        alert_state_add(&alert->state, c, w->from, w->to,
                        c->kind == ALERT_NEW ? share_new : find_value(w, c, &subject),
                        subject.calls);
        if (alert->state.met != was)
                tell_alert(a, alert, w, subject.operation);
}

static gboolean alerts_window(gpointer self, WatchWindow *w, GError **error)
{
        Alerts *a = self;
        double share_new = a->old ? find_new(a, w) : 0;

        (void)error;
        for (guint i = 0; i < a->alerts->len; i++)
                ask_alert(a, &g_array_index(a->alerts, Alert, i), w, share_new);
        if (a->hook)
                alert_hook_work(a->hook);
        return TRUE;
}

static void alerts_idle(gpointer self)
{
        Alerts *a = self;

        if (a->hook)
                alert_hook_work(a->hook);
}

static void alerts_end(gpointer self, gboolean whole)
{
        Alerts *a = self;

        alert_hook_free(a->hook, (whole ? HOOK_SECONDS_AT_END : 1) * G_GINT64_CONSTANT(1000000000));
        alerts_free(a);
}

const WatchConsumer watch_alerts = { .name = "alerts",
                                     .options = entries,
                                     .begin = alerts_begin,
                                     .window = alerts_window,
                                     .idle = alerts_idle,
                                     .end = alerts_end };
