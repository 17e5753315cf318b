/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/node-names.h"

#include <string.h>

#include "base/compare.h"
#include "base/digits.h"
#include "base/each.h"
#include "base/error.h"
#include "base/hash.h"
#include "capture/network/pair-table.h"
#include "tracefmt/trace-reader.h"

enum {
        ANY_PORT = -1,
        MAX_SERVICES = 1 << 16,    /* that were told, not read */
        MAX_CONNECTIONS = 1 << 24, /* that a file names */
        DEFAULT_RECENT = 1 << 16,  /* connections kept with node_names_forget(): each is named
                                      before that number of others has opened */
        MAX_TIME = 40,             /* bytes of one in a line */
};

#define SECOND G_GINT64_CONSTANT(1000000000)
#define DAY    (86400 * SECOND)

typedef struct {
        Address address;
        gint32 port;        /* ANY_PORT, or a port */
        guint bits;         /* of the prefix; 128 is one address */
        guint order;        /* of the line */
        gint64 from, until; /* ns; when the name holds */
        guint8 of_day;      /* 1: from, 2: until is a time of the first day */
        NodeId node;
} Rule;

/* A value of the tables. */
#define VALUE(node, role) ((node) << 2 | (role))

/* Whom a client reached through address translation. */
typedef struct {
        Endpoint client, server;
} TrueEnds;

/* An address without a name of its own, met before. */
typedef struct {
        Address address;
        NodeId node; /* NO_NODE: a free place */
} Known;

struct NodeNames {
        NodeTable *nodes;
        GArray *rules;  /* Rule: the most specific first; equal bits by address */
        guint n_single; /* how many rules are for one address */
        gboolean sorted;
        gboolean has_day; /* the times of the first day are known */
        gboolean some_of_day;
        gboolean used;
        PairTable *connections;        /* an end, and its peer: node and role */
        PairTable *services;           /* an end: node */
        PairTable *translated;         /* both ends of a form of a connection: its true ends */
        GArray *true_ends;             /* of TrueEnds */
        void (*update)(gpointer user); /* NULL: nobody tells more */
        gpointer user;
        gsize most_known; /* addresses without a name that are a node each */
        Known *known;     /* a hash table with linear probing */
        gsize n_known, capacity;
        HashKey hash; /* no result depends on it */
};

NodeNames *node_names_new(NodeTable *nodes)
{
        NodeNames *names = g_new0(NodeNames, 1);
        names->nodes = nodes;
        names->rules = g_array_new(FALSE, FALSE, sizeof(Rule));
        names->connections = pair_table_new(MAX_CONNECTIONS);
        names->services = pair_table_new(MAX_SERVICES);
        names->translated = pair_table_new(MAX_CONNECTIONS);
        names->true_ends = g_array_new(FALSE, FALSE, sizeof(TrueEnds));
        names->hash = *hash_key();
        names->most_known = G_MAXSIZE;
        return names;
}

void node_names_bound(NodeNames *names, gsize most)
{
        names->most_known = most;
}

void node_names_free(NodeNames *names)
{
        if (!names)
                return;
        g_array_free(names->rules, TRUE);
        pair_table_free(names->connections);
        pair_table_free(names->services);
        pair_table_free(names->translated);
        g_array_free(names->true_ends, TRUE);
        g_free(names->known);
        g_free(names);
}

void node_names_clear(NodeNames *names)
{
        g_array_set_size(names->rules, 0);
        g_array_set_size(names->true_ends, 0);
        names->n_single = 0;
        names->sorted = names->some_of_day = FALSE;
        pair_table_free(names->connections);
        pair_table_free(names->services);
        pair_table_free(names->translated);
        names->connections = pair_table_new(MAX_CONNECTIONS);
        names->services = pair_table_new(MAX_SERVICES);
        names->translated = pair_table_new(MAX_CONNECTIONS);
}

/* --- the file -------------------------------------------------------------- */

/* addr, addr/bits, addr:port, [addr]:port; an IPv6 address has many colons. */
static gboolean address_field_parse(const char *text, gsize n, Rule *rule)
{
        const char *slash = memchr(text, '/', n);
        Endpoint end;
        guint64 number = 0;
        rule->port = ANY_PORT;
        rule->bits = 128;
        if (slash) {
                gsize length = (gsize)(slash - text);
                if (!address_parse(text, length, &rule->address) ||
                    !digits_parse(slash + 1, n - length - 1, 5,
                                  address_is_v4(rule->address) ? 32 : 128, &number))
                        return FALSE;
                rule->bits = address_is_v4(rule->address) ? number + 96 : number;
                rule->address = address_prefix(rule->address, rule->bits);
                return TRUE;
        }
        if (n > 2 && text[0] == '[' && text[n - 1] == ']')
                return address_parse(text + 1, n - 2, &rule->address);
        if (address_parse(text, n, &rule->address))
                return TRUE;
        if (!endpoint_parse(text, n, &end))
                return FALSE;
        rule->address = end.address;
        rule->port = end.port;
        return TRUE;
}

/* addr:port>addr:port, who calls and whom. */
static gboolean connection_field_parse(const char *text, gsize n, Endpoint ends[2])
{
        const char *arrow = memchr(text, '>', n);
        gsize first = arrow ? (gsize)(arrow - text) : 0;
        return arrow && endpoint_parse(text, first, &ends[0]) &&
               endpoint_parse(arrow + 1, n - first - 1, &ends[1]);
}

/* 12:30 or 12:30:15, a time of day. */
static gboolean time_of_day_parse(const char *text, gint64 *time)
{
        guint part[3] = { 0 }, i = 0;
        for (const char *p = text; i < 3; i++, p += 3) {
                if (!g_ascii_isdigit(p[0]) || !g_ascii_isdigit(p[1]))
                        return FALSE;
                part[i] = (guint)(p[0] - '0') * 10 + (guint)(p[1] - '0');
                if (!p[2])
                        break;
                if (p[2] != ':')
                        return FALSE;
        }
        *time = (part[0] * 3600 + part[1] * 60 + part[2]) * SECOND;
        return (i == 1 || i == 2) && part[0] < 24 && part[1] < 60 && part[2] < 60;
}

/* A time behind a name; of_day: it is one of the first day. */
static gboolean time_field_parse(const char *text, gsize n, gint64 *time, gboolean *of_day)
{
        char copy[MAX_TIME];
        if (n == 0 || n >= sizeof copy || memchr(text, '\0', n))
                return FALSE;
        memcpy(copy, text, n);
        copy[n] = '\0';
        *of_day = time_of_day_parse(copy, time);
        return *of_day || trace_parse_time(copy, time, NULL);
}

static gsize field_length(const char *text, gsize n)
{
        gsize i = 0;
        while (i < n && text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
                i++;
        return i;
}

static gsize blank_length(const char *text, gsize n)
{
        gsize i = 0;
        while (i < n && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r'))
                i++;
        return i;
}

/* The next field of the n bytes at *text, which go on behind it. */
static gsize next_field(const char **text, gsize *n, const char **field)
{
        gsize blank = blank_length(*text, *n), length;
        *field = *text + blank;
        length = field_length(*field, *n - blank);
        *text = *field + length;
        *n -= blank + length;
        return length;
}

/* "from TIME" and "until TIME" behind the name; anything else begins the aliases. FALSE: no time.
 */
static gboolean times_parse(const char *text, gsize n, Rule *rule)
{
        const char *field;
        for (gsize length; (length = next_field(&text, &n, &field)) > 0;) {
                gboolean from = length == 4 && memcmp(field, "from", 4) == 0, of_day;
                if (!from && (length != 5 || memcmp(field, "until", 5) != 0))
                        break;
                length = next_field(&text, &n, &field);
                if (!time_field_parse(field, length, from ? &rule->from : &rule->until, &of_day))
                        return FALSE;
                rule->of_day |= (guint8)(of_day ? from ? 1 : 2 : 0);
        }
        return TRUE;
}

/* NULL, or what is wrong with the line. */
static const char *line_parse(NodeNames *names, const char *text, gsize n)
{
        const char *comment = memchr(text, '#', n), *address, *name;
        Rule rule = { .order = names->rules->len, .from = G_MININT64, .until = G_MAXINT64 };
        Endpoint ends[2];
        if (comment)
                n = (gsize)(comment - text);
        gsize n_address = next_field(&text, &n, &address);
        if (n_address == 0)
                return NULL;
        gboolean connection = connection_field_parse(address, n_address, ends);
        if (!connection && !address_field_parse(address, n_address, &rule))
                return "is not an address, addr:port, [addr]:port or addr/bits";
        gsize n_name = next_field(&text, &n, &name);
        if (n_name == 0)
                return "has no name after it";
        if (!times_parse(text, n, &rule))
                return "has no time after \"from\" or \"until\"";
        rule.node = node_table_add(names->nodes, name, n_name);
        if (connection && (rule.of_day || rule.until != G_MAXINT64))
                return "names a connection, which has no time of day and no \"until\"";
        if (connection)
                node_names_add_connection(names, &ends[0], &ends[1], rule.from, rule.node,
                                          ROLE_CALLER);
        else
                g_array_append_val(names->rules, rule);
        names->some_of_day |= rule.of_day != 0;
        return NULL;
}

gboolean node_names_parse(NodeNames *names, const char *text, gsize n, const char *source,
                          GError **error)
{
        names->sorted = FALSE;
        for (guint number = 1; n > 0; number++) {
                const char *end = memchr(text, '\n', n);
                gsize length = end ? (gsize)(end - text) : n;
                const char *wrong = line_parse(names, text, length);
                if (wrong) {
                        gsize blank = blank_length(text, length);
                        gsize field = MIN(field_length(text + blank, length - blank), 100);
                        g_autofree char *shown = g_utf8_make_valid(text + blank, (gssize)field);
                        return ravel_fail(error, RAVEL_ERROR_INPUT,
                                          "%s:%u: \"%s\" %s (expected lines such as "
                                          "\"10.0.0.5 db\" or \"10.0.0.5:80 web\")",
                                          source, number, shown, wrong);
                }
                text += length + (end != NULL);
                n -= length + (end != NULL);
        }
        return TRUE;
}

/* --- told ------------------------------------------------------------------ */

void node_names_forget(NodeNames *names)
{
        pair_table_limit(names->connections, DEFAULT_RECENT);
}

void node_names_follow(NodeNames *names, void (*update)(gpointer user), gpointer user)
{
        names->update = update;
        names->user = user;
}

gboolean node_names_update(NodeNames *names)
{
        if (!names->update)
                return FALSE;
        names->update(names->user);
        return TRUE;
}

void node_names_add_connection(NodeNames *names, const Endpoint *own, const Endpoint *peer,
                               gint64 from, NodeId node, NodeRole role)
{
        pair_table_add(names->connections, own, peer, from, VALUE(node, role));
}

void node_names_add_service(NodeNames *names, const Endpoint *own, gint64 from, NodeId node)
{
        static const Endpoint none;
        pair_table_add(names->services, own, &none, from, node);
}

void node_names_add_translation(NodeNames *names, const Endpoint seen[2], const Endpoint ends[2],
                                gint64 from)
{
        TrueEnds true_ends = { ends[0], ends[1] };
        pair_table_add(names->translated, &seen[0], &seen[1], from, names->true_ends->len);
        g_array_append_val(names->true_ends, true_ends);
}

/* --- looking up ------------------------------------------------------------ */

COMPARISON(rule_compare, Rule,
           COMPARE(b->bits, a->bits) ?:
           address_compare(a->address, b->address) ?:
           COMPARE(b->port, a->port) ?: /* a port before any port */
           COMPARE(a->from, b->from) ?:
           COMPARE(a->order, b->order))

/* Of the rules for single addresses, the first for address and port, or the one before
 * which it would stand. */
static guint rule_search(const NodeNames *names, const Rule *rules, Address address, gint32 port)
{
        guint low = 0, high = names->n_single;
        while (low < high) {
                guint middle = low + (high - low) / 2;
                int order = address_compare(rules[middle].address, address);
                if (order < 0 || (order == 0 && rules[middle].port > port))
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Whether rule holds at that time, and began later than other does. */
static gboolean rule_is_better(const Rule *rule, const Rule *other, gint64 time)
{
        return rule->from <= time && (time < rule->until || rule->until == G_MAXINT64) &&
               (!other || rule->from > other->from);
}

/* Of those for just this address and port, or ANY_PORT. */
static const Rule *rule_find_single(const NodeNames *names, Address address, gint32 port,
                                    gint64 time)
{
        const Rule *rules = (const Rule *)(gpointer)names->rules->data, *best = NULL;
        for (guint i = rule_search(names, rules, address, port);
             i < names->n_single && address_equal(rules[i].address, address) &&
             rules[i].port == port;
             i++)
                if (rule_is_better(&rules[i], best, time))
                        best = &rules[i];
        return best;
}

/* The same among the rules for the address, or for a prefix. */
static const Rule *rule_find_wider(const NodeNames *names, Address address, gint64 time)
{
        const Rule *rules = (const Rule *)(gpointer)names->rules->data;
        const Rule *best = rule_find_single(names, address, ANY_PORT, time);
        for (guint i = names->n_single; i < names->rules->len; i++) {
                if (best && best->bits != rules[i].bits)
                        break;
                if (address_equal(address_prefix(address, rules[i].bits), rules[i].address) &&
                    rule_is_better(&rules[i], best, time))
                        best = &rules[i];
        }
        return best;
}

static void rules_sort(NodeNames *names)
{
        g_array_sort(names->rules, rule_compare);
        names->n_single = 0;
        while (names->n_single < names->rules->len &&
               g_array_index(names->rules, Rule, names->n_single).bits == 128)
                names->n_single++;
        names->sorted = TRUE;
}

/* Times of day are those of the day (UTC) of the first packet. */
static void rules_set_day(NodeNames *names, gint64 time)
{
        gint64 day = time - time % DAY;
        EACH (Rule, rule, names->rules) {
                rule->from += rule->of_day & 1 ? day : 0;
                rule->until += rule->of_day & 2 ? day : 0;
        }
        names->has_day = TRUE;
        names->sorted = FALSE;
}

static void node_names_prepare(NodeNames *names, gint64 time)
{
        if (names->some_of_day && !names->has_day && time > 0)
                rules_set_day(names, time);
        if (!names->sorted)
                rules_sort(names);
}

static guint64 address_hash(const NodeNames *names, Address a)
{
        const HashKey *key = &names->hash;
        return hash_keyed_word(key, hash_keyed_word(key, key->start, a.high), a.low);
}

static Known *known_find(const NodeNames *names, Address address)
{
        gsize at = address_hash(names, address) & (names->capacity - 1);
        while (names->known[at].node != NO_NODE &&
               !address_equal(names->known[at].address, address))
                at = (at + 1) & (names->capacity - 1);
        return &names->known[at];
}

static void known_grow(NodeNames *names)
{
        Known *old = names->known;
        gsize n = names->capacity;
        names->capacity = n ? 2 * n : 64;
        names->known = g_new(Known, names->capacity);
        for (gsize i = 0; i < names->capacity; i++)
                names->known[i].node = NO_NODE;
        for (gsize i = 0; i < n; i++)
                if (old[i].node != NO_NODE)
                        *known_find(names, old[i].address) = old[i];
        g_free(old);
}

static NodeId address_node(NodeNames *names, Address address)
{
        static const char others[] = "other-addresses";
        if (2 * names->n_known >= names->capacity)
                known_grow(names);
        Known *known = known_find(names, address);
        if (known->node == NO_NODE && names->n_known >= names->most_known)
                return node_table_add(names->nodes, others, sizeof others - 1);
        if (known->node == NO_NODE) {
                char text[ADDRESS_TEXT_SIZE];
                address_format(address, text);
                known->address = address;
                known->node = node_table_add(names->nodes, text, strlen(text));
                names->n_known++;
        }
        return known->node;
}

static gboolean service_find(const NodeNames *names, const Endpoint *own, gint64 time, NodeId *node)
{
        static const Endpoint none;
        return pair_table_find(names->services, own, &none, time, node);
}

NodeId node_names_lookup(NodeNames *names, const Endpoint *own, const Endpoint *peer, gint64 time)
{
        guint32 value;
        NodeId node;
        node_names_prepare(names, time);
        const Rule *rule = rule_find_single(names, own->address, own->port, time);
        if (!rule && peer && pair_table_find(names->connections, own, peer, time, &value)) {
                names->used = TRUE;
                return value >> 2;
        }
        if (!rule && service_find(names, own, time, &node)) {
                names->used = TRUE;
                return node;
        }
        if (!rule)
                rule = rule_find_wider(names, own->address, time);
        names->used |= rule != NULL;
        return rule ? rule->node : address_node(names, own->address);
}

NodeRole node_names_role(NodeNames *names, const Endpoint *own, const Endpoint *peer, gint64 time)
{
        guint32 value;
        NodeId node;
        if (node_names_service(names, own, time) != NO_NODE ||
            service_find(names, own, time, &node))
                return ROLE_SERVER;
        return pair_table_find(names->connections, own, peer, time, &value) ? (NodeRole)(value & 3)
                                                                            : ROLE_NAMELESS;
}

NodeId node_names_service(NodeNames *names, const Endpoint *own, gint64 time)
{
        node_names_prepare(names, time);
        const Rule *rule = rule_find_single(names, own->address, own->port, time);
        return rule ? rule->node : NO_NODE;
}

gboolean node_names_translate(const NodeNames *names, Endpoint ends[2], gint64 time)
{
        guint32 i;
        for (guint server = 0; server < 2; server++)
                if (pair_table_find(names->translated, &ends[!server], &ends[server], time, &i)) {
                        const TrueEnds *t = &g_array_index(names->true_ends, TrueEnds, i);
                        ends[!server] = t->client;
                        ends[server] = t->server;
                        return TRUE;
                }
        return FALSE;
}

gboolean node_names_has_translations(const NodeNames *names)
{
        return names->true_ends->len > 0;
}

gboolean node_names_is_used(const NodeNames *names)
{
        return names->used;
}

guint node_names_count_twice(NodeNames *names, char **first)
{
        guint n = 0;
        *first = NULL;
        node_names_prepare(names, 0);
        for (guint i = 1; i < names->rules->len; i++) {
                const Rule *a = &g_array_index(names->rules, Rule, i - 1), *b = a + 1;
                if (a->bits != b->bits || !address_equal(a->address, b->address) ||
                    a->port != b->port || a->node == b->node || a->from != b->from ||
                    a->until != b->until)
                        continue;
                char text[ADDRESS_TEXT_SIZE];
                if (n++ == 0)
                        *first =
                                g_strdup_printf("%s is %s and %s", address_format(a->address, text),
                                                node_table_name(names->nodes, a->node),
                                                node_table_name(names->nodes, b->node));
        }
        return n;
}

gboolean node_names_is_nameless(const NodeNames *names, Address address)
{
        return names->capacity > 0 && known_find(names, address)->node != NO_NODE;
}
