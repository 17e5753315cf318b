/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Identifiers: what of a call's request may be passed on in the calls that it leads to. A request
 * for item 4711 becomes a query for 4711, and a header that names a request goes along with it.
 *
 * An *identifier* is a whole word of letters and digits. It has two digits or more and no
 * letter; or six letters and digits or more, with a digit. Of a shorter word with letters the
 * digits count, where they stand at its end or its beginning: 17 in "id17". Each is known by a
 * keyed hash of 32 bits and nothing else, and its text is kept nowhere.
 *
 * Each minute has a key of its own, which is thrown away at its end. So hashes can be compared
 * only within a minute, unless one knows the secret that keys are derived from. A call has the
 * hashes of the minute in which it starts. It has the hashes of the minute before, too, so that
 * they are found again in a call that began then.
 */
#pragma once

#include <glib.h>

enum { MOST_HASHES = 16 }; /* of a call */

/* What a call carries: n different identifiers, in order of appearance. Those of which there is
 * room for a second hash, MOST_HASHES - n at most, have that of the minute before. */
typedef struct {
        guint8 n;
        guint32 now[MOST_HASHES], before[MOST_HASHES / 2];
} RequestIdentifiers;

static inline guint request_identifiers_n_before(const RequestIdentifiers *i)
{
        return MIN(i->n, MOST_HASHES - i->n);
}

typedef struct Identifiers Identifiers;

enum { LEAST_SECRET = 16, MOST_SECRET = 4096 }; /* bytes */

/* secret: what the key of each minute is derived from, of LEAST_SECRET to MOST_SECRET bytes; NULL:
 * keys are random. ignore: text that matches this is left out; NULL: none is. NULL and error set
 * where that is no regular expression. */
Identifiers *identifiers_new(const guint8 *secret, gsize n, const char *ignore, GError **error);
void identifiers_free(Identifiers *i);

/* Adds those of a text to *call, which is made where it is NULL and there are any. start: of the
 * call, ns. whole: the text's last word ends with it. */
void identifiers_add(Identifiers *i, RequestIdentifiers **call, gint64 start, const char *text,
                     gsize n, gboolean whole);

/* As a trace has them: "1a2b3c4d.5e6f7081,...", the hash of each, and after a point that of the
 * minute before. */
void identifiers_append(GString *out, const RequestIdentifiers *call);
