/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A scenario: a parsed configuration. ravel-maketrace(1) has its groups and keys.
 */
#pragma once

#include "maketrace/key-file.h"
#include "maketrace/server.h"
#include "maketrace/sniffer.h"
#include "maketrace/tracelet.h"

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
