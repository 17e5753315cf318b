/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The first bytes of the body of a request, which are kept until its message ends: for the name of
 * the operation that it asks for, and for the values in it (values.h). Services of GraphQL,
 * JSON-RPC, SOAP and XML-RPC have one path for all their operations.
 *
 * A name has 1 to 64 letters, digits, "_" and ".", and begins with a letter or "_".
 */
#pragma once

#include "capture/packet/packet.h"

typedef enum {
        BODY_OTHER,
        BODY_JSON,
        BODY_GRAPHQL,
        BODY_XML,
        BODY_FORM,
        BODY_PROTOBUF,
        BODY_OF_STREAM /* as the fields of its stream say */
} BodyKind;

/* Of a Content-Type. */
BodyKind body_kind(const guint8 *type, gsize n);

/* Whether such a body may have a name in it. */
gboolean body_may_name(BodyKind kind);

gboolean is_operation_name(const guint8 *text, gsize n);

/* The operation in a header such as SOAPAction, the last part of a value such as
 * "urn:shop#GetPrice": its length, and value is where it begins. 0: there is none. */
gsize action_name_find(const guint8 **value, gsize n);

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

/* The kind, and the bytes so far, which are borrowed. whole: there were no others. */
BodyKind body_name_kind(const BodyName *b, Cursor *bytes, gboolean *whole);
