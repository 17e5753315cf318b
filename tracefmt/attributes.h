/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The attributes of a message ("key=value key=value", docs/trace-format.md) that pairing, links
 * and joint inference use. They are parsed once a message; unknown keys are skipped. If a key
 * stands twice, its first value counts; if a number stands twice, its first above 0.
 */
#pragma once

#include "base/outcome.h"
#include "tracefmt/message.h"

/* A value as written, borrowed from the message and not NUL-terminated. */
typedef struct {
        const char *at; /* NULL: the message has no such attribute */
        gsize length;
} AttributeText;

/* Numbers are 0 if the attribute is missing, or is no number of up to 18 digits. */
typedef struct {
        AttributeText label, link, relay, fetch, ids, tags, path, end;
        gint64 bytes, conn, txn;
        gint64 dur, syn, tcp, tls, login, stall, shut, ack, way, resent, again; /* ns */
        Outcome outcome; /* OUTCOME_OK, too, where st= is not one */
} Attributes;

extern const Attributes no_attributes;

void attributes_parse(Attributes *attributes, const char *text, gsize length);

/* The text that a value stands for, or the value itself if that is no text. The caller's to free.
 */
char *attribute_unescape(const char *value);

/* The attributes of a message, which lie in space if there are any. */
static inline const Attributes *attributes_of(const Message *message, Attributes *space)
{
        if (G_LIKELY(message->attrs_length == 0))
                return &no_attributes;
        attributes_parse(space, message->attrs, message->attrs_length);
        return space;
}
