/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/models.h"

#include <string.h>

#include "base/hash.h"
#include "inference/given-model.h"

enum { VERSION = 5, MODELS = 2 };

Models *models_new(void)
{
        Models *m = g_new0(Models, 1);

        m->trace = g_strdup("");
        m->nodes = node_table_new();
        m->operations = g_ptr_array_new_with_free_func(g_free);
        return m;
}

void models_free(Models *m)
{
        if (!m)
                return;
        for (guint i = 0; i < m->n_models; i++)
                g_clear_pointer(&m->model[i], g_bytes_unref);
        g_free(m->model);
        g_free(m->trace);
        node_table_free(m->nodes);
        g_ptr_array_unref(m->operations);
        g_free(m);
}

void models_take_trace(Models *m, const NestingOptions *o, const KnownCalls *calls)
{
        guint n = node_table_size(calls->nodes);

        m->window = o->window;
        m->max_call = o->max_call;
        m->fold = o->fold;
        m->calls = calls->pairs.n;
        for (guint i = 0; i < n; i++) {
                const char *name = node_table_written(calls->nodes, i);

                node_table_add_written(m->nodes, name, strlen(name), NULL);
        }
        for (guint i = 0; i < calls->labels.written->len; i++)
                g_ptr_array_add(m->operations, g_strdup(calls->labels.written->pdata[i]));
        m->model = g_new0(GBytes *, n + 1);
        m->n_models = n;
}

gboolean models_fit(const Models *m, const NestingOptions *o)
{
        return m->window == o->window && m->max_call == o->max_call && !m->fold == !o->fold;
}

/* --- bytes ---------------------------------------------------------------------- */

static void how_bytes(Models *m, Bytes *b)
{
        bytes_i64(b, &m->window);
        bytes_i64(b, &m->max_call);
        bytes_expect(b, m->window >= 0 && m->max_call >= 0, "a duration");
        bytes_bool(b, &m->fold);
        bytes_text(b, &m->trace);
        bytes_u64(b, &m->calls);
}

static void model_bytes(Models *m, guint32 node, Bytes *b)
{
        gboolean known = m->model[node] != NULL;
        g_autoptr(GError) error = NULL;

        bytes_bool(b, &known);
        if (!known)
                return;
        bytes_blob(b, &m->model[node]);
        if (!bytes_reads(b) || !bytes_good(b) || node_model_may_decide(m->model[node], &error))
                return;
        bytes_expect(b, FALSE, error->message);
}

/* The format, its version, and the kind of its content. */
static void head_bytes(Bytes *b)
{
        guint16 version = VERSION;
        guint8 kind = MODELS;

        bytes_word(b, "ravel state");
        bytes_u16(b, &version);
        if (version != VERSION) {
                g_autofree char *what =
                        g_strdup_printf("a state of version %d, not of %u", VERSION, version);

                bytes_expect(b, FALSE, what);
        }
        bytes_u8(b, &kind);
        bytes_expect(b, kind == MODELS, "a model that --learn has written");
}

static void operations_bytes(GPtrArray *operations, Bytes *b)
{
        guint32 n = operations->len;

        bytes_count(b, &n, 4);
        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                if (bytes_reads(b))
                        g_ptr_array_add(operations, NULL);
                bytes_text(b, (char **)&operations->pdata[i]);
        }
        bytes_expect(b, n <= G_MAXUINT16, "at most 65535 operations");
}

static void nodes_bytes(NodeTable *nodes, Bytes *b)
{
        guint32 n = node_table_size(nodes);

        bytes_count(b, &n, 4);
        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                char *name = bytes_reads(b) ? NULL : (char *)node_table_written(nodes, i);

                bytes_text(b, &name);
                if (!bytes_reads(b))
                        continue;
                if (bytes_good(b))
                        bytes_expect(b,
                                     node_table_add_written(nodes, name, strlen(name), NULL) == i &&
                                             !strcmp(node_table_written(nodes, i), name),
                                     "another node");
                g_free(name);
        }
}

static void models_bytes(Models *m, Bytes *b)
{
        head_bytes(b);
        if (!bytes_good(b))
                return;
        how_bytes(m, b);
        nodes_bytes(m->nodes, b);
        operations_bytes(m->operations, b);
        if (!bytes_good(b))
                return;
        if (bytes_reads(b)) {
                m->n_models = node_table_size(m->nodes);
                m->model = g_new0(GBytes *, m->n_models + 1);
        }
        for (guint32 i = 0; i < m->n_models && bytes_good(b); i++)
                model_bytes(m, i, b);
}

GBytes *models_to_bytes(Models *m)
{
        Bytes b = bytes_to_write();

        models_bytes(m, &b);
        return bytes_written(&b);
}

Models *models_from_bytes(const guint8 *data, gsize n, GError **error)
{
        g_autoptr(Models) m = models_new();
        Bytes b = bytes_to_read(data, n);

        g_clear_pointer(&m->trace, g_free);
        models_bytes(m, &b);
        return bytes_end(&b, error) ? g_steal_pointer(&m) : NULL;
}

char *models_id(const guint8 *data, gsize n)
{
        guint64 h = hash_word(HASH_SEED, n);

        for (gsize i = 0; i < n; i += 8) {
                guint64 word = 0;

                memcpy(&word, data + i, MIN(n - i, 8));
                h = hash_word(h, GUINT64_FROM_LE(word));
        }
        return g_strdup_printf("%016" G_GINT64_MODIFIER "x", h);
}

/* --- names ---------------------------------------------------------------------- */

static void find_operations(const Models *m, const CallLabels *labels, ModelNames *names)
{
        g_autoptr(GHashTable) number = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < m->operations->len; i++)
                g_hash_table_insert(number, m->operations->pdata[i], GUINT_TO_POINTER(i + 1));
        names->operation = g_new0(guint16, labels->written->len + 1);
        for (guint i = 0; i < labels->written->len; i++)
                names->operation[i + 1] =
                        GPOINTER_TO_UINT(g_hash_table_lookup(number, labels->written->pdata[i]));
}

ModelNames *models_find_names(const Models *m, const KnownCalls *calls)
{
        ModelNames *names = g_new0(ModelNames, 1);
        guint n_known = node_table_size(m->nodes);

        names->n_nodes = node_table_size(calls->nodes);
        names->node = g_new(guint32, names->n_nodes + 1);
        names->model = g_new0(GBytes *, names->n_nodes + 1);
        names->nothing = node_model_of_nothing();
        for (guint i = 0; i < names->n_nodes; i++) {
                const char *name = node_table_name(calls->nodes, i);
                NodeId id = node_table_lookup(m->nodes, name, strlen(name));

                names->node[i] = id == NO_NODE ? n_known + i : id;
                names->model[i] = id == NO_NODE ? NULL : m->model[id];
        }
        find_operations(m, &calls->labels, names);
        return names;
}

void model_names_free(ModelNames *names)
{
        if (!names)
                return;
        g_free(names->node);
        g_free(names->operation);
        g_free(names->model);
        g_bytes_unref(names->nothing);
        g_free(names);
}
