/* SPDX-License-Identifier: BSD-2-Clause
 *
 * OpenTelemetry's semantic conventions (1.40) for the spans of a call: the attributes of an HTTP
 * request, a database query, an RPC and a message of a broker. A store has the operation of a call,
 * as ravel capture names it (ravel-privacy(7)), and no protocol. So the protocol is told by the
 * words of the operation. If several protocols have these words, it is told by the other operations
 * of the node. What cannot be told has no such attributes.
 */
#pragma once

#include "store/store-reader.h"
#include "write/json.h"

#define CONVENTIONS_SCHEMA "https://opentelemetry.io/schemas/1.40.0"

/* As OTLP numbers them. */
typedef enum { SPAN_SERVER = 2, SPAN_CLIENT = 3, SPAN_PRODUCER = 4, SPAN_CONSUMER = 5 } SpanKind;

typedef struct Conventions Conventions;

/* What each node is asked, by the patterns' nodes of reader, of which none were read; nodes is
 * borrowed. NULL and error set where they cannot be read. */
Conventions *conventions_new(StoreReader *reader, const NodeTable *nodes, GError **error);
void conventions_free(Conventions *conventions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Conventions, conventions_free)

/* A call by its ends and its operation, or NULL. */
typedef struct {
        NodeId caller, callee;
        const char *label;
} ConventionCall;

/* The kind of the span of the caller's end, or of the callee's, of a call that is answered. */
SpanKind conventions_kind(const Conventions *conventions, const ConventionCall *call,
                          gboolean at_caller);

/* The attributes of that span, as members of the array in hand. */
void conventions_put(const Conventions *conventions, const ConventionCall *call, gboolean at_caller,
                     Json *json);

/* An attribute of OTLP in JSON: a key and a value that says its type. Integers are strings there.
 */

/* One more member of the array in hand. */
void otlp_put_bytes(Json *json, const char *key, const char *value, gsize n);
void otlp_put_string(Json *json, const char *key, const char *value);
void otlp_put_integer(Json *json, const char *key, gint64 value);

/* For a value that the caller writes between the two. */
void otlp_open_attribute(Json *json, const char *key, const char *type);
void otlp_close_attribute(Json *json);
