/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/node-names.h"

#include <string.h>

#include "tracefmt/byte-source.h"
#include "base/error.h"

enum {
        ANY_PORT = -1,
        MAX_FILE = 16 << 20,
        MAX_KNOWN = 1 << 20, /* addresses without a name that are a node each */
};

typedef struct {
        Address address;
        gint32 port; /* ANY_PORT, or a port */
        guint bits;  /* of the prefix; 128 is one address */
        guint order; /* of the line */
        NodeId node;
} Rule;

/* An address without a name of its own, met before. */
typedef struct {
        Address address;
        NodeId node; /* NO_NODE: a free place */
} Known;

struct NodeNames {
        NodeTable *nodes;
        GArray *rules;  /* Rule: the most specific first; equal bits by address */
        guint n_single; /* how many of them are for one address */
        gboolean sorted;
        gboolean used;
        Known *known; /* a hash table with linear probing */
        gsize n_known, capacity;
        guint64 seed[2]; /* odd, for its hash; no result depends on it */
};

NodeNames *node_names_new(NodeTable *nodes)
{
        NodeNames *names = g_new0(NodeNames, 1);
        names->nodes = nodes;
        names->rules = g_array_new(FALSE, FALSE, sizeof(Rule));
        for (guint i = 0; i < 2; i++)
                names->seed[i] = (guint64)g_random_int() << 32 | g_random_int() | 1;
        return names;
}

void node_names_free(NodeNames *names)
{
        if (!names)
                return;
        g_array_free(names->rules, TRUE);
        g_free(names->known);
        g_free(names);
}

/* --- the file -------------------------------------------------------------- */

static gboolean number_parse(const char *text, gsize n, guint max, guint *number)
{
        guint value = 0;
        if (n == 0 || n > 5)
                return FALSE;
        for (gsize i = 0; i < n; i++) {
                if (!g_ascii_isdigit(text[i]))
                        return FALSE;
                value = value * 10 + (guint)(text[i] - '0');
        }
        *number = value;
        return value <= max;
}

/* addr, addr/bits, addr:port, [addr]:port; an IPv6 address has many colons. */
static gboolean address_field_parse(const char *text, gsize n, Rule *rule)
{
        const char *slash = memchr(text, '/', n), *colon = memrchr(text, ':', n);
        guint number = 0;
        rule->port = ANY_PORT;
        rule->bits = 128;
        if (slash) {
                gsize length = (gsize)(slash - text);
                if (!address_parse(text, length, &rule->address) ||
                    !number_parse(slash + 1, n - length - 1,
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
        if (!colon || !number_parse(colon + 1, n - (gsize)(colon - text) - 1, 65535, &number))
                return FALSE;
        n = (gsize)(colon - text);
        rule->port = (gint32)number;
        if (n > 2 && text[0] == '[' && text[n - 1] == ']')
                return address_parse(text + 1, n - 2, &rule->address);
        return address_parse(text, n, &rule->address) && address_is_v4(rule->address);
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

/* NULL, or what is wrong with the line. */
static const char *line_parse(NodeNames *names, const char *text, gsize n)
{
        const char *comment = memchr(text, '#', n);
        Rule rule = { .order = names->rules->len };
        if (comment)
                n = (gsize)(comment - text);
        gsize blank = blank_length(text, n);
        text += blank;
        n -= blank;
        if (n == 0)
                return NULL;
        gsize address = field_length(text, n);
        if (!address_field_parse(text, address, &rule))
                return "is not an address, addr:port, [addr]:port or addr/bits";
        gsize name = address + blank_length(text + address, n - address);
        gsize length = field_length(text + name, n - name);
        if (length == 0)
                return "has no name after it";
        rule.node = node_table_add(names->nodes, text + name, length);
        g_array_append_val(names->rules, rule);
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
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "%s:%u: \"%s\" %s (expected lines such as "
                                    "\"10.0.0.5 db\" or \"10.0.0.5:80 web\")",
                                    source, number, shown, wrong);
                        return FALSE;
                }
                text += length + (end != NULL);
                n -= length + (end != NULL);
        }
        return TRUE;
}

gboolean node_names_load(NodeNames *names, const char *path, GError **error)
{
        g_autoptr(ByteSource) source = byte_source_new(path, error);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        guint8 block[16384];
        gssize n;
        if (!source)
                return FALSE;
        while ((n = byte_source_read(source, block, sizeof block, error)) > 0) {
                g_byte_array_append(bytes, block, (guint)n);
                if (bytes->len > MAX_FILE) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "%s: too large for a file of node names", path);
                        return FALSE;
                }
        }
        return n == 0 && node_names_parse(names, (const char *)bytes->data, bytes->len,
                                          byte_source_name(source), error);
}

/* --- looking up ------------------------------------------------------------ */

static gint rule_compare(gconstpointer a, gconstpointer b)
{
        const Rule *x = a, *y = b;
        if (x->bits != y->bits)
                return x->bits > y->bits ? -1 : 1;
        gint addresses = address_compare(x->address, y->address);
        if (addresses)
                return addresses;
        if (x->port != y->port)
                return x->port > y->port ? -1 : 1; /* a port before any port */
        return x->order < y->order ? -1 : x->order > y->order;
}

/* Of the rules for single addresses, the first for address, or the one before
 * which it would stand. */
static guint rule_search(const NodeNames *names, const Rule *rules, Address address)
{
        guint low = 0, high = names->n_single;
        while (low < high) {
                guint middle = low + (high - low) / 2;
                if (address_compare(rules[middle].address, address) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static const Rule *rule_find(const NodeNames *names, Address address, gint32 port)
{
        const Rule *rules = (const Rule *)(gpointer)names->rules->data;
        for (guint i = rule_search(names, rules, address);
             i < names->n_single && address_equal(rules[i].address, address); i++)
                if (rules[i].port == port || rules[i].port == ANY_PORT)
                        return &rules[i];
        for (guint i = names->n_single; i < names->rules->len; i++)
                if (address_equal(address_prefix(address, rules[i].bits), rules[i].address))
                        return &rules[i];
        return NULL;
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

/* Whoever chooses addresses does not know the multipliers. */
static guint64 address_hash(const NodeNames *names, Address a)
{
        return (a.high * names->seed[0] + a.low * names->seed[1]) >> 32;
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
        if (known->node == NO_NODE && names->n_known == MAX_KNOWN)
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

NodeId node_names_lookup(NodeNames *names, Address address, guint16 port)
{
        if (!names->sorted)
                rules_sort(names);
        const Rule *rule = names->rules->len ? rule_find(names, address, port) : NULL;
        names->used |= rule != NULL;
        return rule ? rule->node : address_node(names, address);
}

gboolean node_names_is_used(const NodeNames *names)
{
        return names->used;
}

guint node_names_count_twice(NodeNames *names, char **first)
{
        guint n = 0;
        *first = NULL;
        if (!names->sorted)
                rules_sort(names);
        for (guint i = 1; i < names->rules->len; i++) {
                const Rule *a = &g_array_index(names->rules, Rule, i - 1), *b = a + 1;
                if (a->bits != b->bits || !address_equal(a->address, b->address) ||
                    a->port != b->port || a->node == b->node)
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

gboolean node_names_has_port(NodeNames *names, Address address, guint16 port)
{
        if (!names->sorted)
                rules_sort(names);
        const Rule *rule = names->rules->len ? rule_find(names, address, port) : NULL;
        return rule && rule->port == port;
}
