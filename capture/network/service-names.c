/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/service-names.h"

#include <string.h>

enum { MAX_SERVICES = 65536 };

/* The services of one name. */
typedef struct {
        GHashTable *nodes; /* by key: node + 1, or 0 where it is only expected */
        guint n_expected;  /* of those keys */
        guint n_named;
} Namesakes;

struct ServiceNames {
        NodeTable *nodes;
        GHashTable *by_name; /* of Namesakes */
        GHashTable *taken;   /* names that were given */
};

static void namesakes_free(gpointer user)
{
        Namesakes *same = user;
        g_hash_table_destroy(same->nodes);
        g_free(same);
}

ServiceNames *service_names_new(NodeTable *nodes)
{
        ServiceNames *names = g_new0(ServiceNames, 1);
        names->nodes = nodes;
        names->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, namesakes_free);
        names->taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return names;
}

void service_names_free(ServiceNames *names)
{
        if (!names)
                return;
        g_hash_table_destroy(names->by_name);
        g_hash_table_destroy(names->taken);
        g_free(names);
}

/* A name as a line of --nodes can have it: what divides words there is '_'. The caller's to free.
 */
static char *clean(const char *name)
{
        char *copy = g_strdup(*name ? name : "_");
        for (char *p = copy; *p; p++)
                if (g_ascii_isspace(*p) || g_ascii_iscntrl(*p) || *p == '#')
                        *p = '_';
        return copy;
}

static Namesakes *namesakes(ServiceNames *names, const char *name)
{
        Namesakes *same = g_hash_table_lookup(names->by_name, name);
        if (!same) {
                same = g_new0(Namesakes, 1);
                same->nodes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
                g_hash_table_insert(names->by_name, g_strdup(name), same);
        }
        return same;
}

void service_names_expect(ServiceNames *names, const char *process, guint64 key)
{
        g_autofree char *name = clean(process);
        Namesakes *same = namesakes(names, name);
        gint64 *copy = g_memdup2(&key, sizeof key);
        same->n_expected += g_hash_table_insert(same->nodes, copy, NULL);
}

/* One that no other service has; where there are too many, all others have one. */
static char *service_names_choose(const ServiceNames *names, const Namesakes *same,
                                  const char *name, guint16 port)
{
        gboolean alone = same->n_named == 0 && same->n_expected <= 1;
        char *text = alone || !port ? g_strdup(name) : g_strdup_printf("%s-%u", name, port);
        if (g_hash_table_size(names->taken) >= MAX_SERVICES)
                return text;
        for (guint number = MAX(same->n_named + 1, 2); g_hash_table_contains(names->taken, text);
             number++) {
                g_free(text);
                text = g_strdup_printf("%s-%u", name, number);
        }
        return text;
}

NodeId service_names_find(ServiceNames *names, const char *process, guint64 key, guint16 port)
{
        g_autofree char *name = clean(process);
        Namesakes *same = namesakes(names, name);
        guint known = GPOINTER_TO_UINT(g_hash_table_lookup(same->nodes, &key));
        if (known)
                return known - 1;
        char *text = service_names_choose(names, same, name, port);
        NodeId node = node_table_add(names->nodes, text, strlen(text));
        if (g_hash_table_size(names->taken) < MAX_SERVICES) {
                same->n_named++;
                g_hash_table_add(names->taken, g_strdup(text));
                g_hash_table_insert(same->nodes, g_memdup2(&key, sizeof key),
                                    GUINT_TO_POINTER(node + 1));
        }
        g_free(text);
        return node;
}
