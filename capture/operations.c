/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/operations.h"

#include <string.h>

#include "base/hash.h"

enum {
        MAX_WORD = 32,
        MAX_PARTS = 4,
        MIN_PART = 2,
        MIN_HUMP = 3, /* of camelCase; in encoded text large letters stand closer */
        MAX_PART = 16,
        SHORT_PART = 4, /* db, http, css: as many letters need no vowel */
        HEX_PART = 8,   /* as many letters that are all hexadecimal digits are no word */
        MAX_CONSONANTS = 5,
        MAX_NAME = 63, /* of a table, PostgreSQL's limit */
        MAX_NAME_DIGITS = 2,
        MAX_VERB = 24,
};

static const char *const methods[] = {
        "ACL",       "CHECKOUT", "CONNECT",  "COPY",        "DELETE", "GET",
        "HEAD",      "LOCK",     "M-SEARCH", "MERGE",       "MKCOL",  "MOVE",
        "NOTIFY",    "OPTIONS",  "PATCH",    "POST",        "PRI",    "PROPFIND",
        "PROPPATCH", "PURGE",    "PUT",      "QUERY",       "REPORT", "SEARCH",
        "SUBSCRIBE", "TRACE",    "UNLOCK",   "UNSUBSCRIBE", NULL,
};

/* ZooKeeper's operations that have a path. */
static const char *const path_operations[] = {
        "addWatch",      "check",         "checkWatches",
        "create",        "create2",       "createContainer",
        "createTTL",     "delete",        "deleteContainer",
        "exists",        "getACL",        "getAllChildrenNumber",
        "getChildren",   "getChildren2",  "getData",
        "getEphemerals", "removeWatches", "setACL",
        "setData",       "sync",          NULL
};

static const char *const extensions[] = {
        "asmx", "asp", "aspx", "cgi",  "css",  "do",   "gif", "htm", "html",
        "ico",  "jpg", "js",   "json", "jsp",  "map",  "php", "pl",  "png",
        "py",   "rss", "svg",  "txt",  "wasm", "woff", "xml", NULL,
};

static gboolean operation_is_one_of(const char *text, gsize n, const char *const *words)
{
        for (; *words; words++)
                if (strlen(*words) == n && memcmp(*words, text, n) == 0)
                        return TRUE;
        return FALSE;
}

/* --- words ----------------------------------------------------------------- */

/* How many letters at p are one part. */
static gsize part_length(const char *p, const char *end)
{
        const char *at = p;

        while (at < end && g_ascii_isupper(*at))
                at++;
        if (at - p > 1)
                return at < end && g_ascii_islower(*at) ? at - p - 1 : at - p; /* HTTPServer */
        while (at < end && g_ascii_islower(*at))
                at++;
        return at - p;
}

/* n letters. */
static gboolean is_pronounceable(const char *p, gsize n)
{
        gsize vowels = 0, hex = 0, consonants = 0;

        for (gsize i = 0; i < n; i++) {
                gboolean vowel = strchr("aeiouy", g_ascii_tolower(p[i])) != NULL;

                vowels += vowel;
                hex += g_ascii_isxdigit(p[i]) != 0;
                consonants = vowel ? 0 : consonants + 1;
                if (consonants > MAX_CONSONANTS)
                        return FALSE;
        }
        return (n <= SHORT_PART || vowels > 0) && (n < HEX_PART || hex < n);
}

static gboolean operation_is_version(const char *text, gsize n)
{
        return n >= 2 && n <= 3 && text[0] == 'v' && g_ascii_isdigit(text[1]) &&
               (n == 2 || g_ascii_isdigit(text[2]));
}

gboolean operation_is_word(const char *text, gsize n)
{
        const char *at = text, *dot = memchr(text, '.', n), *end = dot ? dot : text + n;

        if (operation_is_version(text, n) || (n == 1 && g_ascii_isalpha(*text)))
                return TRUE;
        if (end - text > MAX_WORD ||
            (dot && !operation_is_one_of(dot + 1, text + n - dot - 1, extensions)))
                return FALSE;
        for (guint parts = 0; parts < MAX_PARTS; parts++) {
                gsize length = part_length(at, end);
                gboolean is_hump = (at > text && g_ascii_isalpha(at[-1])) ||
                                   (at + length < end && g_ascii_isalpha(at[length]));

                if (length < (is_hump ? MIN_HUMP : MIN_PART) || length > MAX_PART ||
                    !is_pronounceable(at, length))
                        return FALSE;
                at += length;
                if (at == end)
                        return TRUE;
                at += *at == '-' || *at == '_';
        }
        return FALSE;
}

/* --- labels ---------------------------------------------------------------- */

/* A name of a schema: letters, "_", and a few digits at the end of what "_" divides. Several
 * names have dots between them. */
static gboolean operation_is_name(const char *text, gsize n)
{
        gsize digits = 0, letters = 0;

        for (gsize i = 0; i < n; i++) {
                if (g_ascii_isalpha(text[i])) {
                        if (digits > 0)
                                return FALSE;
                        letters++;
                } else if (g_ascii_isdigit(text[i])) {
                        if (letters == 0 || ++digits > MAX_NAME_DIGITS)
                                return FALSE;
                } else if (text[i] == '.') {
                        if (letters == 0)
                                return FALSE;
                        digits = letters = 0;
                } else if (text[i] == '_') {
                        digits = 0;
                } else {
                        return FALSE;
                }
        }
        return letters > 0 && n <= 3 * MAX_NAME;
}

static gboolean is_verb(const char *text, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if (!g_ascii_isalpha(text[i]) && (i == 0 || !strchr("._-", text[i])))
                        return FALSE;
        return n > 0 && n <= MAX_VERB;
}

/* The last slash before end; NULL: there is none after path. */
static const char *slash_before(const char *path, const char *end)
{
        return end > path ? memrchr(path, '/', (gsize)(end - path)) : NULL;
}

/* Where a method of Twirp or Connect stands, "shop.v1.Cart/Add", as in gRPC: both are names of a
 * schema, have capitals, and are the end of the path. NULL: there is none. */
static const char *rpc_find(const char *path, const char *end)
{
        const char *method = slash_before(path, end), *service, *last;

        if (!method || !(service = slash_before(path, method)))
                return NULL;
        last = memrchr(service, '.', (gsize)(method - service));
        return last && g_ascii_isupper(last[1]) && g_ascii_isupper(method[1]) &&
                               operation_is_name(service + 1, (gsize)(method - service - 1)) &&
                               operation_is_name(method + 1, (gsize)(end - method - 1))
                       ? service + 1
                       : NULL;
}

/* The last segment such as "/_search", a verb of Elasticsearch or CouchDB. NULL: there is none. */
static const char *path_verb_find(const char *path, const char *end, gsize *n)
{
        for (const char *at = end; (at = slash_before(path, at));) {
                *n = MIN(strcspn(at + 1, "/;"), (gsize)(end - at - 1));
                if (*n > 1 && at[1] == '_' && operation_is_word(at + 2, *n - 1))
                        return at;
        }
        return NULL;
}

/* Up to end. */
static void path_append(GString *out, const char *path, const char *end)
{
        gsize n = MIN(strcspn(path + 1, "/;"), (gsize)(end - path - 1)), verb_n = 0;
        const char *verb = path_verb_find(path, end, &verb_n);

        g_string_append_c(out, ' ');
        if (verb == path) {
                /* and nothing else */
        } else if (n == 0 && path + 1 == end) {
                g_string_append(out, "/");
        } else if (operation_is_word(path + 1, n)) {
                g_string_append_printf(out, "/%.*s", (int)n, path + 1);
        } else {
                g_string_append(out, "/...");
        }
        if (verb)
                g_string_append_printf(out, "/%.*s", (int)verb_n, verb + 1);
}

static void operation_name_append(GString *out, const char *word, gsize n)
{
        g_string_append_c(out, ' ');
        if (operation_is_name(word, n))
                g_string_append_len(out, word, (gssize)n);
        else
                g_string_append(out, "...");
}

/* The parts of a job's name are divided as its language does it ("App\Jobs\Pay", "Shop::Pay",
 * "com.shop.Pay$Card"), and are written with dots. */
static void job_append(GString *out, const char *name)
{
        gsize from = out->len + 1;

        g_string_append_c(out, ' ');
        for (; *name; name++) {
                gboolean divides = strchr("\\:$", *name) != NULL;

                if (!divides)
                        g_string_append_c(out, *name);
                else if (out->len > from && out->str[out->len - 1] != '.')
                        g_string_append_c(out, '.');
        }
        if (operation_is_name(out->str + from, out->len - from))
                return;
        g_string_truncate(out, from);
        g_string_append(out, "...");
}

static gboolean is_at_queue(const char *verb, gsize n)
{
        static const char *const verbs[] = { "publish", "deliver", "LPUSH", "LPUSHX",
                                             "RPUSH",   "RPUSHX",  NULL };

        return operation_is_one_of(verb, n, verbs);
}

/* A queue, or a job, or both. */
static void queue_append(GString *out, const char *words)
{
        const char *blank = strchr(words, ' ');

        if (blank)
                operation_name_append(out, words, blank - words);
        job_append(out, blank ? blank + 1 : words);
}

/* VERB or METHOD, and what stands after the blank. */
static void two_append(GString *out, const char *label, const char *blank)
{
        const char *rest = blank + 1;
        gsize n = blank - label;

        if (g_str_has_prefix(label, "DNS ") || g_str_has_prefix(label, "RPC ")) {
                g_string_append(out, label);
        } else if (*rest == '/' || *rest == '*' || *rest == '\0') {
                gboolean http = operation_is_one_of(label, n, methods);
                const char *name = http ? strchr(rest, ' ') : NULL;
                const char *end = name ? name : rest + strlen(rest);
                const char *rpc = strncmp(label, "POST ", 5) == 0 ? rpc_find(rest, end) : NULL;

                if (!http && !operation_is_one_of(label, n, path_operations))
                        return;
                if (rpc) {
                        g_string_append_len(out, rpc, end - rpc);
                        return;
                }
                g_string_append_len(out, label, n);
                if (*rest == '/')
                        path_append(out, rest, end);
                if (name)
                        operation_name_append(out, name + 1, strlen(name + 1));
        } else if (is_verb(label, n)) {
                g_string_append_len(out, label, n);
                if (is_at_queue(label, n))
                        queue_append(out, rest);
                else
                        operation_name_append(out, rest, strlen(rest));
        }
}

void operation_append(GString *out, const char *label)
{
        const char *blank = strchr(label, ' '), *slash = strchr(label, '/');

        if (blank)
                two_append(out, label, blank);
        else if (slash && operation_is_name(label, slash - label) &&
                 operation_is_name(slash + 1, strlen(slash + 1)))
                g_string_append(out, label);
        else if (is_verb(label, strlen(label)))
                g_string_append(out, label);
}

/* --- edges ----------------------------------------------------------------- */

enum { CACHE = 256 }; /* entries; an edge has few labels that come again and again */

/* What a label became. */
typedef struct {
        gint64 edge;
        char *label;   /* NULL: free */
        char *written; /* NULL: it has no vocabulary */
} Known;

/* Of an edge, or of an operation of an edge; n: operations of the edge. */
typedef struct {
        guint64 hash; /* 0: free */
        guint32 n;
} Slot;

typedef struct {
        Slot *slots;
        gsize n, n_slots; /* at least two an entry; a power of 2 */
} Slots;

struct Operations {
        Slots newer, older; /* the older is dropped when the newer is full */
        gsize most;         /* entries of each */
        guint64 forgotten;  /* entries */
        GString *name;
        Known cache[CACHE]; /* by hash */
};

Operations *operations_new(gsize most)
{
        Operations *o = g_new0(Operations, 1);

        o->most = most;
        o->name = g_string_new(NULL);
        return o;
}

void operations_free(Operations *o)
{
        if (!o)
                return;
        for (guint i = 0; i < CACHE; i++) {
                g_free(o->cache[i].label);
                g_free(o->cache[i].written);
        }
        g_free(o->newer.slots);
        g_free(o->older.slots);
        g_string_free(o->name, TRUE);
        g_free(o);
}

/* Where the hash stands, or would. */
static Slot *operation_slot(const Slots *t, guint64 hash)
{
        gsize at = hash & (t->n_slots - 1);

        while (t->slots[at].hash && t->slots[at].hash != hash)
                at = (at + 1) & (t->n_slots - 1);
        return &t->slots[at];
}

static void operation_slots_grow(Slots *t)
{
        Slots old = *t;

        t->n_slots = MAX(64, 2 * old.n_slots);
        t->slots = g_new0(Slot, t->n_slots);
        for (gsize i = 0; i < old.n_slots; i++)
                if (old.slots[i].hash)
                        *operation_slot(t, old.slots[i].hash) = old.slots[i];
        g_free(old.slots);
}

static void operations_make_room(Operations *o)
{
        if (o->newer.n >= o->most) {
                o->forgotten += o->older.n;
                g_free(o->older.slots);
                o->older = o->newer;
                o->newer = (Slots){ 0 };
        }
        if (2 * o->newer.n >= o->newer.n_slots)
                operation_slots_grow(&o->newer);
}

/* The entry of a hash; NULL: there is none, and none is to be made. */
static Slot *operation_entry(Operations *o, guint64 hash, gboolean make)
{
        Slot *slot = o->newer.n ? operation_slot(&o->newer, hash) : NULL;
        const Slot *known;
        Slot entry = { hash, 0 };

        if (slot && slot->hash)
                return slot;
        known = o->older.n ? operation_slot(&o->older, hash) : NULL;
        if (known && known->hash) {
                entry.n = known->n;
                o->older.n--; /* it is not forgotten */
        } else if (!make) {
                return NULL;
        }
        operations_make_room(o);
        slot = operation_slot(&o->newer, hash);
        *slot = entry;
        o->newer.n++;
        return slot;
}

/* Whether o->name is one of the edge's operations, or becomes one. */
static gboolean admit(Operations *o, gint64 edge)
{
        const HashKey *key = hash_key();
        guint64 of_edge = hash_keyed_word(key, key->start, (guint64)edge);
        guint64 of_name = hash_keyed_bytes(key, o->name->str, o->name->len);
        Slot *edge_slot;

        of_edge = MAX(of_edge, 1);
        of_name = MAX(hash_keyed_word(key, of_name, of_edge), 1);
        if (operation_entry(o, of_name, FALSE))
                return TRUE;
        edge_slot = operation_entry(o, of_edge, TRUE);
        if (edge_slot->n >= EDGE_OPERATIONS)
                return FALSE;
        edge_slot->n++;
        operation_entry(o, of_name, TRUE);
        return TRUE;
}

guint64 operations_forgotten(const Operations *o)
{
        return o->forgotten;
}

static char *write_name(Operations *o, gint64 edge, const char *label)
{
        GString *written;

        operation_append(g_string_truncate(o->name, 0), label);
        if (o->name->len == 0)
                return NULL;
        if (!admit(o, edge))
                return g_strdup("other");
        written = g_string_new(NULL);
        node_table_escape(written, o->name->str, o->name->len, FALSE);
        return g_string_free(written, FALSE);
}

const char *operations_name(Operations *o, NodeId caller, NodeId callee, const char *label)
{
        gint64 edge = (gint64)((guint64)caller << 32 | callee);
        guint64 hash = hash_word(hash_bytes(label, strlen(label)), (guint64)edge);
        Known *known = &o->cache[hash % CACHE];

        if (!known->label || known->edge != edge || strcmp(known->label, label) != 0) {
                g_free(known->label);
                g_free(known->written);
                *known = (Known){ edge, g_strdup(label), write_name(o, edge, label) };
        }
        return known->written;
}
