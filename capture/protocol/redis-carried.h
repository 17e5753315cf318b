/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What commands of Redis put into lists, streams and channels, and what replies bring out of them,
 * as hashes: what is taken from a list is known by them for what was put in. See links.h.
 */
#pragma once

#include <glib.h>

/* What a message carries, and where in it that stands. */
typedef enum {
        CARRIES_NOTHING,
        CARRIES_ELEMENTS, /* RPUSH list element ... */
        CARRIES_MESSAGE,  /* PUBLISH channel message */
        CARRIES_ENTRY,    /* XADD stream [options] id field value ... */
        ASKS_LIST,        /* LPOP list ...: its reply is elements alone */
        ASKS_KEYED,       /* BLPOP list ... timeout: the list stands in the reply */
        ASKS_STREAMS,     /* XREADGROUP ... */
        NAMES_FIELDS,     /* HSET hash field value ..., ZADD, ZREM: tags may be among the words */
        SETTLES_FIELDS,   /* HDEL hash field ... */
        SETTLES_ENTRIES,  /* XACK stream group id ... */
        BRINGS_ELEMENTS,  /* a string, or an array of them, of a list that the command named */
        BRINGS_KEYED,     /* a list, and some of its elements */
        BRINGS_ENTRIES,   /* of streams */
        BRINGS_MESSAGE,   /* message channel text */
        BRINGS_MATCHED,   /* pmessage pattern channel text */
} RedisForm;

/* What is kept of a connection on which something was carried. */
typedef struct RedisCarried RedisCarried;

RedisCarried *redis_carried_new(void);
void redis_carried_free(gpointer carried); /* NULL is allowed */

/* The form of a command, by its name, of n bytes (1 at least), in whatever case. waits: set where
 * the command is answered only when there is something to bring. */
RedisForm redis_form_of(const char *name, gsize n, gboolean *waits);

/* A message of a side (0: the client's) begins. Of a command that asks for elements of a list: the
 * number, less than REDIS_ASKED, by which its reply is to be begun; else 0. Of a reply of streams
 * asked says whether its reader is of a group, and is to settle what it brings. */
enum { REDIS_ASKED = 16 };
guint redis_carried_begin(RedisCarried *carried, guint side, RedisForm form, guint asked);

/* How many bytes of the next string must be seen, of this length. */
gsize redis_carried_needs(const RedisCarried *carried, guint side, guint64 length);

/* The next string of the message: its first n bytes; fewer than are needed if the rest was cut
 * off. */
void redis_carried_string(RedisCarried *carried, guint side, const guint8 *text, gsize n,
                          guint64 length);

/* The next array or map, with the number of its values; 0 if it is null. */
void redis_carried_values(RedisCarried *carried, guint side, guint64 values);

/* The message is over: hashes of what it carried, or the tags of what it settles, 64 at most, until
 * the next one begins. */
const guint64 *redis_carried_end(RedisCarried *carried, guint side, guint16 *n);

/* Of a reply that is over, for each of what it brought the tag by which that will be settled; 0:
 * none. Until the next one begins. */
const guint64 *redis_carried_tags(const RedisCarried *carried);

/* Of a message that is over and puts one element into a list or brings one, a job with a name
 * (job-name.h): the name, until the side's next one begins. Else NULL. */
const char *redis_carried_job(const RedisCarried *carried, guint side);

/* Whether the command that is over waits for what it asks for, as its arguments say. */
gboolean redis_carried_waits(const RedisCarried *carried);
