/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Received header of a mail (RFC 5321, 4.4): a host says from whom it received the mail, and
 * when. sendmail, Postfix, Exim, Exchange, qmail and others agree on little more than "from", "by",
 * comments, and a date behind the last semicolon.
 */
#pragma once

#include <glib.h>

/* Bytes of a host's name or address; longer ones are ignored. */
enum { RECEIVED_MAX_HOST = 255 };

/* Names are in lower case without a dot at the end, and may have any bytes above a blank. Addresses
 * are as inet_pton(3) takes them. "" means none. Names that any host may have, such as localhost,
 * and loopback addresses count as none. */
typedef struct {
        char from[RECEIVED_MAX_HOST +
                  1]; /* the sender: the name that the receiver looked up, if given */
        char claimed[RECEIVED_MAX_HOST +
                     1]; /* the sender's own name for itself, if not the same as from */
        char from_address[RECEIVED_MAX_HOST + 1];
        char by[RECEIVED_MAX_HOST + 1]; /* the receiver, by its own name */
        char by_address[RECEIVED_MAX_HOST + 1];
        gint64 time; /* ns since the epoch; NO_TIME: no date with a zone that can be read */
} Received;

/* Reads the n bytes behind "Received:", folded or not. Never fails: unreadable parts are left
 * empty. Linear time. */
void received_parse(const char *text, gsize n, Received *received);

/* Whether two names may be of one host: they are equal, or one is the other's first label. */
gboolean received_same_host(const char *a, const char *b);
