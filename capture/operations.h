/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which part of the name of an operation is written. By default that is its vocabulary: words
 * that the makers of a protocol or a program chose. Nothing is written that a user typed or a
 * program counted.
 *
 *     GET /cart           an HTTP method, and the first segment of the path where it is a word
 *     GET /...            where it is none
 *     POST /items/_search with the last segment that is such a verb, of Elasticsearch or CouchDB
 *     POST /api getUser   with the operation in the body or a header, where its name is one of a
 *                         schema
 *     SELECT items        a verb of SQL and the first table, where its name is one of a schema
 *     shop.Cart/Add       a method of gRPC, Twirp or Connect
 *     publish orders      what is done at a broker, and the queue, exchange or topic, likewise
 *     create /lock        an operation of ZooKeeper, and its path, as of HTTP
 *     HGETALL, search     verbs of Redis, memcached, LDAP; MAIL; DNS AAAA; RPC 100003.3.1
 *
 * A *word* is one to four parts of ASCII letters, joined by "-", "_" or as in camelCase; 32
 * letters at most. A part has 2 to 16 letters (3 in camelCase), all small, all large, or the
 * first one large. A part of more than four letters has a vowel (or y), and no six consonants in
 * a row. A part of eight or more has a letter beyond f. After the last part an extension such as
 * .php may follow. A version such as v2 is a word. So numbers, hexadecimal and most other random
 * text, addresses of mail and whatever has a digit, a dot or an escape in it are none. The name
 * of a person may be one.
 */
#pragma once

#include "tracefmt/node-table.h"

enum { EDGE_OPERATIONS = 200 }; /* of an edge; all further ones are "other" */

gboolean operation_is_word(const char *text, gsize n);

/* Appends the vocabulary of a label that a parser made. Nothing where there is none. */
void operation_append(GString *out, const char *label);

/* Which operations each edge has had. */
typedef struct Operations Operations;

/* Remembers at least `most` edges and operations (4 or more), and at most twice that number. The
 * ones unused for longest are forgotten. Each takes 32 to 64 bytes. */
Operations *operations_new(gsize most);
void operations_free(Operations *o);

/* How many edges and operations were forgotten. */
guint64 operations_forgotten(const Operations *o);

/* The vocabulary of a label of a call on an edge, as a trace writes it, valid until the next call;
 * NULL: there is none. */
const char *operations_name(Operations *o, NodeId caller, NodeId callee, const char *label);
