/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/redis-carried.h"

#include <string.h>

#include "base/hash.h"
#include "capture/protocol/job-name.h"

enum {
        MAX_CONTENT = 4096, /* bytes of an element that are looked at */
        MAX_CONTENTS = 64,  /* of a message */
        MAX_TAG = 64,       /* bytes; what is longer is none */
};

/* Where a reply of streams stands. */
typedef enum { AT_ALL, AT_STREAM, AT_KEY, AT_ENTRIES, AT_ENTRY, AT_ID, AT_FIELDS, AT_FIELD } Place;

/* One message of a side. */
typedef struct {
        guint8 form;     /* RedisForm */
        guint8 place;    /* Place */
        guint8 options;  /* of XADD: words to pass over; */
        guint8 bounds;   /* after a word that bounds the stream */
        guint8 waits;    /* BLOCK was among the words */
        guint asked;     /* the list that is asked for: its number */
        guint32 words;   /* strings so far */
        guint64 key;     /* a hash of the list, stream or channel */
        guint64 entry;   /* of the fields so far of an entry */
        guint64 entries; /* of a stream, and */
        guint64 fields;  /* of an entry, still to come */
        guint64 id;      /* a hash of the entry's */
        guint64 contents[MAX_CONTENTS];
        guint16 n_contents;
} Walk;

struct RedisCarried {
        Walk walk[2];
        guint64 asked[REDIS_ASKED]; /* the lists of commands that wait for their replies, a ring */
        guint n_asked;
        GString *job[2];            /* the name of what the last message of a side carries */
        GString *tag;               /* of what the last reply has brought */
        guint64 tags[MAX_CONTENTS]; /* of that */
};

RedisCarried *redis_carried_new(void)
{
        RedisCarried *c = g_new0(RedisCarried, 1);
        for (guint side = 0; side < 2; side++)
                c->job[side] = g_string_new(NULL);
        c->tag = g_string_new(NULL);
        return c;
}

void redis_carried_free(gpointer carried)
{
        RedisCarried *c = carried;
        if (!c)
                return;
        for (guint side = 0; side < 2; side++)
                g_string_free(c->job[side], TRUE);
        g_string_free(c->tag, TRUE);
        g_free(c);
}

RedisForm redis_form_of(const char *name, gsize n, gboolean *waits)
{
        static const struct {
                const char *name;
                RedisForm form;
                gboolean waits;
        } commands[] = {
                { "BLMOVE", ASKS_LIST, TRUE },         { "BLMPOP", ASKS_KEYED, TRUE },
                { "BLPOP", ASKS_KEYED, TRUE },         { "BRPOP", ASKS_KEYED, TRUE },
                { "BRPOPLPUSH", ASKS_LIST, TRUE },     { "BZMPOP", CARRIES_NOTHING, TRUE },
                { "BZPOPMAX", CARRIES_NOTHING, TRUE }, { "BZPOPMIN", CARRIES_NOTHING, TRUE },
                { "HDEL", SETTLES_FIELDS, FALSE },     { "HSET", NAMES_FIELDS, FALSE },
                { "XACK", SETTLES_ENTRIES, FALSE },    { "ZADD", NAMES_FIELDS, FALSE },
                { "ZREM", NAMES_FIELDS, FALSE },       { "LMOVE", ASKS_LIST, FALSE },
                { "LMPOP", ASKS_KEYED, FALSE },        { "LPOP", ASKS_LIST, FALSE },
                { "LPUSH", CARRIES_ELEMENTS, FALSE },  { "LPUSHX", CARRIES_ELEMENTS, FALSE },
                { "PUBLISH", CARRIES_MESSAGE, FALSE }, { "RPOP", ASKS_LIST, FALSE },
                { "RPOPLPUSH", ASKS_LIST, FALSE },     { "RPUSH", CARRIES_ELEMENTS, FALSE },
                { "RPUSHX", CARRIES_ELEMENTS, FALSE }, { "SPUBLISH", CARRIES_MESSAGE, FALSE },
                { "XADD", CARRIES_ENTRY, FALSE },      { "XREAD", ASKS_STREAMS, FALSE },
                { "XREADGROUP", ASKS_STREAMS, TRUE },
        };
        char first = g_ascii_toupper(name[0]);
        *waits = FALSE;
        if (!strchr("BHLPRSXZ", first) || n < 4)
                return CARRIES_NOTHING;
        for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
                if (commands[i].name[0] == first && strlen(commands[i].name) == n &&
                    g_ascii_strncasecmp(name, commands[i].name, n) == 0) {
                        *waits = commands[i].waits;
                        return commands[i].form;
                }
        return CARRIES_NOTHING;
}

guint redis_carried_begin(RedisCarried *c, guint side, RedisForm form, guint asked)
{
        Walk *w = &c->walk[side];
        w->form = (guint8)form;
        w->place = AT_ALL;
        w->options = w->bounds = w->waits = FALSE;
        w->words = w->n_contents = 0;
        w->key = w->entry = w->entries = w->fields = 0;
        if (form == ASKS_LIST)
                asked = c->n_asked++;
        w->id = 0;
        w->asked = asked % REDIS_ASKED;
        g_string_truncate(c->job[side], 0);
        if (form == BRINGS_ELEMENTS)
                w->key = c->asked[w->asked];
        return w->asked;
}

/* --- strings --------------------------------------------------------------------- */

static gsize needs(guint64 length)
{
        return (gsize)MIN(length, (guint64)MAX_CONTENT);
}

gsize redis_carried_needs(const RedisCarried *c, guint side, guint64 length)
{
        RedisForm form = (RedisForm)c->walk[side].form;

        if (form == NAMES_FIELDS || form == SETTLES_FIELDS)
                return length <= MAX_TAG ? (gsize)length : 0;
        return needs(length);
}

/* A string, by its length too. */
static guint64 redis_carried_hash_text(guint64 h, const guint8 *text, gsize n, guint64 length)
{
        return hash_word(hash_word(h, hash_bytes((const char *)text, n)), length);
}

static gboolean redis_carried_is_word(const guint8 *text, gsize n, const char *word)
{
        return strlen(word) == n && g_ascii_strncasecmp((const char *)text, word, n) == 0;
}

static guint64 tag_of_field(const guint8 *text, gsize n)
{
        return redis_carried_hash_text(SETTLES_FIELDS, text, n, n) | 1;
}

/* stream: a hash. */
static guint64 tag_of_entry(guint64 stream, guint64 id)
{
        return hash_word(hash_word(SETTLES_ENTRIES, stream), id) | 1;
}

static void add_content(Walk *w, guint64 content)
{
        if (w->n_contents < MAX_CONTENTS)
                w->contents[w->n_contents++] = MAX(content, 1);
}

/* Of an element, or a message of a channel. What was cut off is not known. */
static void add_text(Walk *w, guint64 seed, const guint8 *text, gsize n, guint64 length)
{
        if (n == needs(length))
                add_content(w, redis_carried_hash_text(hash_word(seed, w->key), text, n, length));
}

/* Field or value of an entry, of which nothing is known where one was cut off. */
static void redis_carried_add_field(Walk *w, const guint8 *text, gsize n, guint64 length)
{
        if (n == needs(length) && w->entry)
                w->entry = redis_carried_hash_text(w->entry, text, n, length);
        else
                w->entry = 0;
}

/* XADD stream [NOMKSTREAM] [KEEPREF | DELREF | ACKED] [MAXLEN | MINID [= | ~] bound [LIMIT n]] id
 * field value ... */
static void read_entry(Walk *w, const guint8 *text, gsize n, guint64 length)
{
        if (w->place == AT_FIELDS) {
                w->fields++;
                redis_carried_add_field(w, text, n, length);
        } else if (w->bounds &&
                   (redis_carried_is_word(text, n, "=") || redis_carried_is_word(text, n, "~"))) {
                w->bounds = FALSE;
        } else if (w->options) {
                w->options--;
                w->bounds = FALSE;
        } else if (redis_carried_is_word(text, n, "MAXLEN") ||
                   redis_carried_is_word(text, n, "MINID")) {
                w->options = 1;
                w->bounds = TRUE;
        } else if (redis_carried_is_word(text, n, "LIMIT")) {
                w->options = 1;
        } else if (!redis_carried_is_word(text, n, "NOMKSTREAM") &&
                   !redis_carried_is_word(text, n, "KEEPREF") &&
                   !redis_carried_is_word(text, n, "DELREF") &&
                   !redis_carried_is_word(text, n, "ACKED")) {
                w->place = AT_FIELDS; /* that was the id */
                w->entry = hash_word(CARRIES_ENTRY, w->key);
        }
}

static void read_entries(RedisCarried *c, Walk *w, const guint8 *text, gsize n, guint64 length);

/* What was added last will be settled by this tag. */
static void set_tag(RedisCarried *c, guint16 before, guint64 tag)
{
        if (c->walk[1].n_contents > before)
                c->tags[before] = tag;
}

static void add_element(RedisCarried *c, Walk *w, const guint8 *text, gsize n, guint64 length)
{
        gboolean brought = w->form != CARRIES_ELEMENTS;
        GString *job = g_string_truncate(c->job[brought], 0);
        guint16 before = w->n_contents;

        add_text(w, CARRIES_ELEMENTS, text, n, length);
        job_name_append_json(job, text, n, brought ? c->tag : NULL);
        if (brought)
                set_tag(c, before,
                        c->tag->len > 0 && c->tag->len <= MAX_TAG
                                ? tag_of_field((const guint8 *)c->tag->str, c->tag->len)
                                : 0);
}

void redis_carried_string(RedisCarried *c, guint side, const guint8 *text, gsize n, guint64 length)
{
        static const guint8 key_word[] = {
                [CARRIES_ELEMENTS] = 1, [CARRIES_MESSAGE] = 1, [CARRIES_ENTRY] = 1,
                [ASKS_LIST] = 1,        [BRINGS_MESSAGE] = 1,  [BRINGS_MATCHED] = 2,
                [NAMES_FIELDS] = 1,     [SETTLES_FIELDS] = 1,  [SETTLES_ENTRIES] = 1,
        };
        Walk *w = &c->walk[side];
        guint32 word = w->words++;
        RedisForm form = (RedisForm)w->form;
        if (form < G_N_ELEMENTS(key_word) && key_word[form] && word <= key_word[form]) {
                if (word == key_word[form])
                        w->key = redis_carried_hash_text(HASH_SEED, text, n, length);
                if (form == ASKS_LIST && word == 1)
                        c->asked[w->asked] = w->key;
                return;
        }
        switch (form) {
        case CARRIES_ELEMENTS:
        case BRINGS_ELEMENTS:
                add_element(c, w, text, n, length);
                break;
        case BRINGS_KEYED:
                if (word == 0)
                        w->key = redis_carried_hash_text(HASH_SEED, text, n, length);
                else
                        add_element(c, w, text, n, length);
                break;
        case CARRIES_MESSAGE:
        case BRINGS_MESSAGE:
        case BRINGS_MATCHED:
                add_text(w, CARRIES_MESSAGE, text, n, length);
                break;
        case CARRIES_ENTRY:
                read_entry(w, text, n, length);
                break;
        case ASKS_STREAMS:
                if (redis_carried_is_word(text, n, "STREAMS"))
                        w->place = AT_STREAM;
                w->waits |= w->place == AT_ALL && redis_carried_is_word(text, n, "BLOCK");
                break;
        case NAMES_FIELDS:
        case SETTLES_FIELDS:
                if (n == length && n > 0)
                        add_content(w, tag_of_field(text, n));
                break;
        case SETTLES_ENTRIES:
                if (word > 2) /* after the group */
                        add_content(w, tag_of_entry(w->key,
                                                    redis_carried_hash_text(0, text, n, length)));
                break;
        case BRINGS_ENTRIES:
                read_entries(c, w, text, n, length);
                break;
        case ASKS_LIST:
        case ASKS_KEYED:
        case CARRIES_NOTHING:
                break;
        }
}

/* --- replies of streams: [[stream, [[id, [field, value, ...]], ...]], ...] -------- */

/* An entry is over, or has no fields. */
static void end_entry(Walk *w)
{
        w->place = --w->entries > 0 ? AT_ENTRY : AT_STREAM;
}

static void read_entries(RedisCarried *c, Walk *w, const guint8 *text, gsize n, guint64 length)
{
        switch ((Place)w->place) {
        case AT_STREAM: /* of a map */
        case AT_KEY:
                w->key = redis_carried_hash_text(HASH_SEED, text, n, length);
                w->place = AT_ENTRIES;
                break;
        case AT_ID:
                w->id = redis_carried_hash_text(0, text, n, length);
                w->place = AT_FIELDS;
                break;
        case AT_FIELD:
                redis_carried_add_field(w, text, n, length);
                if (--w->fields > 0)
                        break;
                if (w->entry) {
                        guint16 before = w->n_contents;

                        add_content(w, w->entry);
                        set_tag(c, before, w->asked ? tag_of_entry(w->key, w->id) : 0);
                }
                end_entry(w);
                break;
        default:
                break;
        }
}

void redis_carried_values(RedisCarried *c, guint side, guint64 values)
{
        Walk *w = &c->walk[side];
        if (w->form != BRINGS_ENTRIES)
                return;
        switch ((Place)w->place) {
        case AT_ALL:
                w->place = AT_STREAM;
                break;
        case AT_STREAM:
                w->place = AT_KEY;
                break;
        case AT_ENTRIES:
                w->entries = values;
                w->place = values > 0 ? AT_ENTRY : AT_STREAM;
                break;
        case AT_ENTRY:
                w->place = AT_ID;
                break;
        case AT_FIELDS:
                w->fields = values;
                w->entry = hash_word(CARRIES_ENTRY, w->key);
                w->place = AT_FIELD;
                if (values == 0)
                        end_entry(w);
                break;
        default:
                break;
        }
}

/* --- the end ---------------------------------------------------------------------- */

const guint64 *redis_carried_end(RedisCarried *c, guint side, guint16 *n)
{
        Walk *w = &c->walk[side];
        if (w->form == CARRIES_ENTRY && w->fields > 0 && w->entry)
                add_content(w, w->entry);
        *n = w->n_contents;
        return w->contents;
}

const guint64 *redis_carried_tags(const RedisCarried *c)
{
        return c->tags;
}

const char *redis_carried_job(const RedisCarried *c, guint side)
{
        return c->walk[side].n_contents == 1 && c->job[side]->len > 0 ? c->job[side]->str : NULL;
}

gboolean redis_carried_waits(const RedisCarried *c)
{
        return c->walk[0].waits;
}
