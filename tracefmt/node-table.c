/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/node-table.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/printable.h"

/* Both forms of a name lie in one string chunk; two tables find them. The
 * second one, from written forms to nodes, is what a reader asks twice a line,
 * so it is an open-addressed table of our own. */
typedef struct {
        guint64 hash;
        const char *text; /* NULL: free */
        guint32 length;
        NodeId node;
} Slot;

typedef struct {
        Slot *slots;
        gsize mask; /* slots - 1, a power of two less one */
        gsize used;
} SlotTable;

typedef struct {
        const char *name, *written;
} Node;

struct NodeTable {
        GStringChunk *texts;
        GArray *nodes; /* of Node */
        HashKey key;
        SlotTable by_name, by_written;
};

static void slots_init(SlotTable *t)
{
        t->mask = 63;
        t->slots = g_new0(Slot, t->mask + 1);
        t->used = 0;
}

static Slot *slots_find(const SlotTable *t, guint64 hash, const char *text, gsize n)
{
        gsize i = hash & t->mask;

        while (t->slots[i].text) {
                Slot *s = &t->slots[i];

                if (s->hash == hash && s->length == n && !memcmp(s->text, text, n))
                        return s;
                i = (i + 1) & t->mask;
        }
        return &t->slots[i];
}

static void slots_put(SlotTable *t, guint64 hash, const char *text, gsize n, NodeId node)
{
        if (t->used * 2 > t->mask) {
                SlotTable old = *t;

                t->mask = old.mask * 2 + 1;
                t->slots = g_new0(Slot, t->mask + 1);
                for (gsize i = 0; i <= old.mask; i++) {
                        Slot *s = &old.slots[i];

                        if (s->text)
                                *slots_find(t, s->hash, s->text, s->length) = *s;
                }
                g_free(old.slots);
        }
        *slots_find(t, hash, text, n) = (Slot){ hash, text, n, node };
        t->used++;
}

NodeTable *node_table_new(void)
{
        NodeTable *t = g_new0(NodeTable, 1);

        t->texts = g_string_chunk_new(4096);
        t->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
        t->key = *hash_key();
        slots_init(&t->by_name);
        slots_init(&t->by_written);
        return t;
}

void node_table_free(NodeTable *t)
{
        if (!t)
                return;
        g_string_chunk_free(t->texts);
        g_array_free(t->nodes, TRUE);
        g_free(t->by_name.slots);
        g_free(t->by_written.slots);
        g_free(t);
}

static gboolean is_special_in_node(guchar c)
{
        return c != 0 && strchr("(),>~*!\"{}|", c);
}

void node_table_escape(GString *out, const char *text, gsize n, gboolean node_name)
{
        static const char digits[] = "0123456789ABCDEF";
        gsize plain = 0; /* from here on nothing is special */

        if (n == 1 && *text == '-') {
                g_string_append(out, "%2D");
                return;
        }
        for (gsize i = 0; i < n; i++) {
                guchar c = (guchar)text[i];
                gboolean formula = node_name && i == 0 && printable_begins_formula(text[i]);

                if (c != ' ' && c != '%' && !formula && !(node_name && is_special_in_node(c)))
                        continue;
                printable_append(out, text + plain, (gssize)(i - plain), PRINTABLE_FIELD);
                g_string_append_len(out, (char[]){ '%', digits[c >> 4], digits[c & 15] }, 3);
                plain = i + 1;
        }
        printable_append(out, text + plain, (gssize)(n - plain), PRINTABLE_FIELD);
}

/* name is valid: UTF-8, no NUL, not empty. */
static NodeId add_valid(NodeTable *t, const char *name, gsize n)
{
        guint64 hash = hash_keyed_bytes(&t->key, name, n);
        Slot *s = slots_find(&t->by_name, hash, name, n);
        g_autoptr(GString) written = NULL;
        NodeId id = t->nodes->len;
        Node node;

        if (s->text)
                return s->node;
        written = g_string_sized_new(n + 8);
        node_table_escape(written, name, n, TRUE);
        node.name = g_string_chunk_insert_len(t->texts, name, n);
        node.written = g_string_chunk_insert_len(t->texts, written->str, written->len);
        g_array_append_val(t->nodes, node);
        slots_put(&t->by_name, hash, node.name, n, id);
        slots_put(&t->by_written, hash_keyed_bytes(&t->key, node.written, written->len),
                  node.written, written->len, id);
        return id;
}

NodeId node_table_add(NodeTable *t, const char *name, gsize n)
{
        g_autofree char *valid = NULL;

        if (n == 0)
                return add_valid(t, "\xef\xbf\xbd", 3);
        if (memchr(name, 0, n) || !g_utf8_validate(name, n, NULL)) {
                valid = g_utf8_make_valid(name, n);
                return add_valid(t, valid, strlen(valid));
        }
        return add_valid(t, name, n);
}

NodeId node_table_add_written(NodeTable *t, const char *text, gsize n, GError **error)
{
        guint64 hash = hash_keyed_bytes(&t->key, text, n);
        Slot *s = slots_find(&t->by_written, hash, text, n);
        g_autoptr(GString) name = NULL;
        NodeId id;

        if (s->text)
                return s->node;
        name = g_string_sized_new(n);
        for (gsize i = 0; i < n; i++) {
                int high, low;

                if (text[i] != '%') {
                        g_string_append_c(name, text[i]);
                        continue;
                }
                high = i + 1 < n ? g_ascii_xdigit_value(text[i + 1]) : -1;
                low = i + 2 < n ? g_ascii_xdigit_value(text[i + 2]) : -1;
                if (high < 0 || low < 0) {
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "a %% in a node name without two hexadecimal digits");
                        return NO_NODE;
                }
                g_string_append_c(name, high * 16 + low);
                i += 2;
        }
        if (n == 0 || memchr(name->str, 0, name->len) ||
            !g_utf8_validate(name->str, name->len, NULL)) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "a node name that is not UTF-8 text");
                return NO_NODE;
        }
        id = add_valid(t, name->str, name->len);
        /* Written another way than we write it: remember that too. */
        s = slots_find(&t->by_written, hash, text, n);
        if (!s->text)
                slots_put(&t->by_written, hash, g_string_chunk_insert_len(t->texts, text, n), n,
                          id);
        return id;
}

NodeId node_table_lookup(const NodeTable *t, const char *name, gsize n)
{
        const Slot *s = slots_find(&t->by_name, hash_keyed_bytes(&t->key, name, n), name, n);

        return s->text ? s->node : NO_NODE;
}

const char *node_table_name(const NodeTable *t, NodeId node)
{
        g_assert(node < t->nodes->len);
        return g_array_index(t->nodes, Node, node).name;
}

const char *node_table_written(const NodeTable *t, NodeId node)
{
        g_assert(node < t->nodes->len);
        return g_array_index(t->nodes, Node, node).written;
}

guint node_table_size(const NodeTable *t)
{
        return t->nodes->len;
}

int node_table_compare(gconstpointer a, gconstpointer b, gpointer nodes)
{
        return strcmp(node_table_written(nodes, *(const NodeId *)a),
                      node_table_written(nodes, *(const NodeId *)b));
}
