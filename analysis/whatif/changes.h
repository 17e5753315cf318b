/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The changes of `ravel whatif`, as a user writes them:
 *
 *     own(db)*0.5  own(db)-2ms  parallel(web: user,price,stock)  drop(web>dns)
 *     workers(app)=8  rate*1.4  hedge(db@p95)  hit(cache)=0.95
 *
 * Names of nodes are in their written form (base/printable.h, tracefmt/node-table.h).
 */
#pragma once

#include "tracefmt/node-table.h"

typedef enum {
        CHANGE_OWN,      /* factor */
        CHANGE_OWN_LESS, /* less */
        CHANGE_PARALLEL, /* callees */
        CHANGE_DROP,     /* callees, of which there is one */
        CHANGE_WORKERS,  /* workers */
        CHANGE_RATE,     /* factor; no node */
        CHANGE_HEDGE,    /* factor: the quantile after which a second call is sent */
        CHANGE_HIT       /* factor: the share of hits */
} ChangeKind;

typedef struct {
        ChangeKind kind;
        NodeId node;     /* NO_NODE of CHANGE_RATE */
        GArray *callees; /* of NodeId; NULL where the kind has none */
        double factor;
        gint64 less; /* ns; below 0: more */
        guint32 workers;
} WhatIfChange;

/* Parses n texts. Returns an array of WhatIfChange, which owns its callees, or NULL with error set
 * (RAVEL_ERROR_USAGE): the text is no change, or names a node that is not in nodes. */
GArray *whatif_changes_parse(char *const *texts, guint n, const NodeTable *nodes, GError **error);
