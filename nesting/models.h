/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What joint inference has learned of the nodes of a trace, to decide other traces by. A model
 * names nodes and operations, but no call. docs/learned-models.md describes its bytes.
 */
#pragma once

#include "base/bytes.h"
#include "calls/known-calls.h"
#include "nesting/nesting-options.h"

typedef struct Models {
        gint64 window, max_call; /* as in NestingOptions; a user's must be equal */
        gboolean fold;
        char *trace;           /* the name of the trace that was learned from */
        guint64 calls;         /* in that trace */
        NodeTable *nodes;      /* of that trace */
        GPtrArray *operations; /* of that trace, as written */
        GBytes **model;        /* by node (given-model.h); NULL: none */
        guint n_models;        /* length of model */
} Models;

Models *models_new(void); /* without any node */
void models_free(Models *models);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Models, models_free)

/* Takes the facts of the whole trace: its options, nodes, operations and number of calls. */
void models_take_trace(Models *models, const NestingOptions *options, const KnownCalls *calls);

/* To bytes; or back, from bytes that anyone may have made. Errors (G_FILE_ERROR) say where
 * something is wrong. */
GBytes *models_to_bytes(Models *models);
Models *models_from_bytes(const guint8 *data, gsize n, GError **error);

/* Tells one model from another: 16 digits. */
char *models_id(const guint8 *data, gsize n);

/* Whether these options find parents as they were found when the model was learned. */
gboolean models_fit(const Models *models, const NestingOptions *options);

/* The nodes and operations of another trace as the model numbers them. */
typedef struct {
        guint32 *node; /* by NodeId: its number in the model; beyond the model's nodes: unknown */
        guint16 *operation; /* by number: its number in the model; 0: none or unknown */
        GBytes **model;     /* by NodeId; borrowed */
        GBytes *nothing;    /* the model of unknown nodes */
        guint n_nodes;
} ModelNames;

ModelNames *models_find_names(const Models *models, const KnownCalls *calls);
void model_names_free(ModelNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ModelNames, model_names_free)
