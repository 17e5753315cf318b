/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names of operations from the header blocks of HTTP/2: "GET /users/{id}" from
 * :method and :path, or of gRPC "shop.Cart/Add"; and outcomes from those of responses, by :status
 * and grpc-status. Blocks are packed (RFC 7541) with a
 * table that all blocks of a direction build, so they must all be shown, in order,
 * from the first of the connection.
 */
#pragma once

#include "base/outcome.h"
#include "capture/protocol/body-name.h"
#include "capture/protocol/request-tags.h"

typedef struct HeaderLabels HeaderLabels;

/* *memory counts the bytes that the tables of all take; 64 MiB at most. NULL where
 * there is no more. */
HeaderLabels *header_labels_new(gsize *memory);
void header_labels_free(HeaderLabels *h);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HeaderLabels, header_labels_free)

/* The next n bytes of header blocks; last: of this block. Then label has the
 * operation's name, or is empty where the block is not a request's. values: where to append path
 * and fields, as lines of text (values.h), or NULL. *outcome is set where the block has one. FALSE:
 * it is broken, or memory is short, and nothing can be read any more. */
gboolean header_labels_read(HeaderLabels *h, const guint8 *bytes, gsize n, gboolean last,
                            GString *label, GString *values, Outcome *outcome);

/* From now on blocks of requests are looked at for tags. rules: borrowed. */
void header_labels_want_tags(HeaderLabels *h, const TagRules *rules);

/* The tags of the last block of a request; NULL: none. The caller's. */
RequestTags *header_labels_take_tags(HeaderLabels *h);

/* The kind of the body that the last block of a request announces. */
BodyKind header_labels_body(const HeaderLabels *h);

/* As header_labels_read(), for a block of a response. One that only refers to the table, as most
 * do, is not read again as long as the table stays as it was. label: scratch. */
gboolean header_labels_read_answer(HeaderLabels *h, const guint8 *bytes, gsize n, gboolean last,
                                   GString *label, Outcome *outcome);
