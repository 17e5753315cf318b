/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A Received header of a mail (RFC 5321, 4.4): a host says that it took the mail over, from whom
 * and when. Read as sendmail, Postfix, Exim, Exchange, qmail and others write it; they agree on
 * little more than "from", "by", comments, and a date behind the last semicolon.
 */
#ifndef RAVEL_RECEIVED_H
#define RAVEL_RECEIVED_H

#include <glib.h>

/* Bytes of a host's name or address; what is longer is none. */
enum { RECEIVED_MAX_HOST = 255 };

/* Names are in lower case without a dot at the end, and may be any bytes above a blank; addresses
 * are as inet_pton(3) takes them. "": there is none. What every host calls itself, such as
 * localhost, is no name, and a loopback address is none. */
typedef struct {
        char from[RECEIVED_MAX_HOST + 1];    /* the sender: by the name that the receiver looked
                                                up, where it says one */
        char claimed[RECEIVED_MAX_HOST + 1]; /* as the sender called itself, where that is not from
                                              */
        char from_address[RECEIVED_MAX_HOST + 1];
        char by[RECEIVED_MAX_HOST + 1]; /* the receiver, by itself */
        char by_address[RECEIVED_MAX_HOST + 1];
        gint64 time; /* ns since the epoch; NO_TIME: no date with a zone that can be read */
} Received;

/* Reads the n bytes at text, what stands behind "Received:", unfolded or not. Never fails: what
 * cannot be read is left empty. Linear time. */
void received_parse(const char *text, gsize n, Received *received);

/* Whether two names may be of one host: they are equal, or one is the other's first label. */
gboolean received_same_host(const char *a, const char *b);

#endif
