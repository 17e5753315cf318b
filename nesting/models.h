/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What joint inference has learned of the nodes of a trace, to decide other traces by, or shards of
 * the same one. It names nodes and operations, and no call. docs/learned-models.md describes the
 * bytes.
 */
#ifndef RAVEL_MODELS_H
#define RAVEL_MODELS_H

#include "base/bytes.h"
#include "calls/known-calls.h"
#include "nesting/nesting-options.h"

typedef struct Models {
        gint64 window, max_call; /* as in NestingOptions: with others, it cannot be used */
        gboolean fold;
        char *trace;           /* the name of the one that was learned from */
        guint64 calls;         /* in it */
        NodeTable *nodes;      /* those of the trace */
        GPtrArray *operations; /* likewise, as written */
        GBytes **model;        /* by node, as given-model.h has it; NULL: none */
        guint n_models;        /* length of that */
} Models;

Models *models_new(void); /* of nothing */
void models_free(Models *models);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Models, models_free)

/* Takes what is not known of single nodes, of all calls. */
void models_take_trace(Models *models, const NestingOptions *options, const KnownCalls *calls);

/* To bytes; or back, from a stranger's. Errors (G_FILE_ERROR) say where something is wrong. */
GBytes *models_to_bytes(Models *models);
Models *models_from_bytes(const guint8 *data, gsize n, GError **error);

/* What tells one from another: 16 digits. */
char *models_id(const guint8 *data, gsize n);

/* Whether parents are found as they were when it was learned. */
gboolean models_fit(const Models *models, const NestingOptions *options);

/* What nodes and operations of other calls are in a model. */
typedef struct {
        guint32 *node;      /* by NodeId: its number there; after those, where it is unknown */
        guint16 *operation; /* by number: its number there; 0: none, or unknown */
        GBytes **model;     /* by NodeId; borrowed */
        GBytes *nothing;    /* for nodes that are not known */
        guint n_nodes;
} ModelNames;

ModelNames *models_find_names(const Models *models, const KnownCalls *calls);
void model_names_free(ModelNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ModelNames, model_names_free)

#endif
