/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The condition of an alert, and whether windows meet it:
 *
 *     p99(GET /search) > 200ms for 1m    a limit
 *     own(catalog) +20%                  a change from the windows before
 *     new                                path patterns that no window before had
 *
 * A change is tested on the last two windows together. They must differ from the windows before by
 * more than chance, and an interval of the change must reach the limit. The scatter of the windows
 * before is that of neighbouring pairs, so a series whose neighbours are alike is not taken for
 * independent values. While a condition is met, the windows before stay as they are. After
 * ALERT_BEFORE windows, what was a change is the usual.
 *
 * A share of errors above its limit is tested, too: one error among few calls is chance.
 */
#pragma once

#include <glib.h>

enum { ALERT_BEFORE = 180 }; /* windows that a change is compared with, 30 minutes of 10 s */

/* Requests with new patterns are this share of a window at least. */
#define ALERT_NEW_SHARE 0.01

typedef enum {
        ALERT_LATENCY, /* a quantile of latency, s */
        ALERT_MEAN,    /* mean latency, s */
        ALERT_OWN,     /* own time of a call into a node, s */
        ALERT_ERRORS,  /* share that failed */
        ALERT_RATE,    /* requests or calls a second */
        ALERT_NEW,     /* share of requests with a new pattern */
} AlertKind;

typedef struct {
        char *text; /* as it was given; owned */
        AlertKind kind;
        double quantile;    /* of ALERT_LATENCY, 0 to 1 */
        char *subject;      /* an operation or a node; NULL: all requests; owned */
        gboolean below;     /* it is met below the limit */
        gboolean is_change; /* limit is a share of the windows before */
        double limit;       /* s, a share, or a second */
        gint64 hold;        /* how long the limit must be exceeded, ns */
} AlertCondition;

/* duration reads "200ms", in ns. FALSE with error set if text is no condition. */
gboolean alert_condition_parse(const char *text, AlertCondition *c,
                               gboolean (*duration)(const char *, gint64 *, GError **),
                               GError **error);
void alert_condition_clear(AlertCondition *c);

/* What the condition has seen. All 0 at first. */
typedef struct {
        GArray *before;    /* of double: windows before the last two, the oldest first */
        double recent[2];  /* the last two windows, the newest last */
        double weights[2]; /* their calls */
        guint n_recent;
        gint64 since;    /* when it began to be met, ns; while it is */
        gint64 previous; /* when the last window began, ns */
        gboolean met;    /* for the time that it must hold */
        guint n_met;     /* windows in which it is met, one after another */
        gboolean near;   /* met, but not yet for this time */
        double value;    /* of the last window; of a change, of the last two */
        double usual;    /* of a change: the mean of the windows before; 0: none */
} AlertState;

/* A window of [from, to), ns, has this value, of n calls; NAN: none. Constant time but for a
 * change, where the time is linear in the windows before. */
void alert_state_add(AlertState *s, const AlertCondition *c, gint64 from, gint64 to, double value,
                     guint64 n);
void alert_state_clear(AlertState *s);
