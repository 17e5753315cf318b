/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The name of the operation that the body of a request asks for. Services of GraphQL, JSON-RPC,
 * SOAP and XML-RPC have one path for all their operations. Only the first bytes of a body are
 * kept, until its message ends.
 *
 * A name has 1 to 64 letters, digits, "_" and ".", and begins with a letter or "_".
 */
#pragma once

#include <glib.h>

typedef enum { BODY_OTHER, BODY_JSON, BODY_GRAPHQL, BODY_XML } BodyKind;

/* Of a Content-Type. */
BodyKind body_kind(const guint8 *type, gsize n);

gboolean is_operation_name(const guint8 *text, gsize n);

/* The first bytes of a body. */
typedef struct BodyName BodyName;

/* kept: how many there are. NULL: too many. */
BodyName *body_name_new(BodyKind kind, gsize *kept);

void body_name_drop(BodyName **b, gsize *kept);

/* The next bytes. missing: what follows them was not seen. */
void body_name_add(BodyName *b, const guint8 *bytes, gsize n, gboolean missing);

/* Finds the name in the bytes so far. Of GraphQL it is operationName, else the name of the first
 * operation in the query, else of its first field. NULL: there is none. The caller's. */
char *body_name_find(const BodyName *b);
