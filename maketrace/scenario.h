/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A scenario: a parsed configuration. ravel-maketrace(1) has its groups and keys.
 */
#pragma once

#include "maketrace/key-file.h"
#include "maketrace/server.h"
#include "maketrace/tracelet.h"

/* The sniffer (paper, section 7.5.5): it captures messages at a peak rate from a finite queue. A
 * message that finds the queue full is lost. */
typedef struct {
        gint64 capture_time; /* ns to capture one message; 0: it captures everything */
        guint32 queue;       /* messages it holds, the one being captured included; at least 1 */
        gint64 idle_at;      /* ns: when it has captured all that it holds */
        guint64 lost;
} Sniffer;

/* Whether it captures a message at time, ns. Times never go back. */
static inline gboolean sniffer_take(Sniffer *s, gint64 time)
{
        /* The messages in the queue are the time left until idle over capture_time, rounded up. */
        if (s->idle_at - time > (s->queue - 1) * s->capture_time) {
                s->lost++;
                return FALSE;
        }
        s->idle_at = MAX(s->idle_at, time) + s->capture_time;
        return TRUE;
}

typedef enum {
        STAMPS_SENT, /* one stamp a message, where it was sent */
        STAMPS_BOTH, /* another stamp where it arrived */
} Stamps;

typedef struct {
        KeyFile *text;
        guint64 seed;
        gint64 start;     /* ns since the epoch: the start of the trace */
        gint64 duration;  /* ns after which no tracelet begins; 0: no limit */
        guint64 messages; /* lines after which no tracelet begins; 0: no limit */
        guint parallel;   /* sequences of the mix (the tracelets with a weight); 0: no mix */
        DelayLaw network; /* between a message's sending and its arrival */
        Stamps stamps;
        Sniffer sniffer;
        GArray *nodes;        /* of ServerLaw, in the order of the file */
        GPtrArray *tracelets; /* of Tracelet, in the order of the file */
} Scenario;

/* Parses a configuration; file is its name in error messages. Adds names to nodes, which is
 * borrowed. NULL and error set if something is wrong. */
Scenario *scenario_parse(const guint8 *data, gsize n, const char *file, NodeTable *nodes,
                         GError **error);

/* FALSE and error set if the scenario would never end: it limits neither duration nor messages, nor
 * each tracelet's count. */
gboolean scenario_ends(const Scenario *s, GError **error);

/* The name of stamps: "sent" or "both". */
gboolean stamps_lookup(const char *name, Stamps *stamps);
const char *stamps_name(Stamps stamps);

void scenario_free(Scenario *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scenario, scenario_free)
