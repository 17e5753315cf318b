/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/whatif/changes.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define MOST_FACTOR 1e6

enum { MOST_WORKERS = 1000000 };

static void change_clear(gpointer data)
{
        WhatIfChange *c = data;

        g_clear_pointer(&c->callees, g_array_unref);
}

static gboolean change_fail(const char *text, const char *expected, GError **error)
{
        return ravel_fail(error, RAVEL_ERROR_USAGE, "\"%s\" is not a change: expected %s", text,
                          expected);
}

static gboolean change_find_node(const NodeTable *nodes, const char *name, gsize n, NodeId *node,
                                 GError **error)
{
        g_autofree char *wanted = g_strndup(name, n);

        g_strstrip(wanted);
        for (*node = 0; *node < node_table_size(nodes); (*node)++)
                if (!strcmp(node_table_written(nodes, *node), wanted))
                        return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE, "no node is called \"%s\"", wanted);
}

/* All of text. */
static gboolean change_number(const char *text, double least, double most, double *number)
{
        char *end;

        *number = g_ascii_strtod(text, &end);
        return !text[strspn(text, "0123456789.")] && end != text && !*end && *number >= least &&
               *number <= most;
}

static gboolean change_duration(const char *text, gint64 *ns)
{
        static const struct {
                const char *name;
                double ns;
        } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
        gsize digits = strspn(text, "0123456789.");
        g_autofree char *number = g_strndup(text, digits);
        double value;

        for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
                if (strcmp(text + digits, units[i].name))
                        continue;
                if (!change_number(number, 0, 1e9, &value))
                        return FALSE;
                *ns = (gint64)rint(value * units[i].ns);
                return TRUE;
        }
        return FALSE;
}

/* inside: what stands in the brackets; rest: what comes behind them. */
typedef gboolean (*ChangeParser)(WhatIfChange *change, const char *inside, const char *rest,
                                 const NodeTable *nodes, GError **error);

static gboolean change_parse_own(WhatIfChange *c, const char *inside, const char *rest,
                                 const NodeTable *nodes, GError **error)
{
        if (*rest == '*') {
                c->kind = CHANGE_OWN;
                if (!change_number(rest + 1, 0, MOST_FACTOR, &c->factor))
                        return FALSE;
        } else {
                c->kind = CHANGE_OWN_LESS;
                if ((*rest != '-' && *rest != '+') || !change_duration(rest + 1, &c->less))
                        return FALSE;
                c->less = *rest == '+' ? -c->less : c->less;
        }
        return change_find_node(nodes, inside, strlen(inside), &c->node, error);
}

static gboolean change_parse_parallel(WhatIfChange *c, const char *inside, const char *rest,
                                      const NodeTable *nodes, GError **error)
{
        const char *colon = strstr(inside, ": ") ?: strchr(inside, ':');
        g_auto(GStrv) names = colon ? g_strsplit(colon + 1, ",", -1) : NULL;
        NodeId callee;

        c->callees = g_array_new(FALSE, FALSE, sizeof(NodeId));
        if (*rest || !names || g_strv_length(names) < 2)
                return FALSE;
        for (guint i = 0; names[i]; i++) {
                if (!change_find_node(nodes, names[i], strlen(names[i]), &callee, error))
                        return FALSE;
                g_array_append_val(c->callees, callee);
        }
        return change_find_node(nodes, inside, (gsize)(colon - inside), &c->node, error);
}

static gboolean change_parse_drop(WhatIfChange *c, const char *inside, const char *rest,
                                  const NodeTable *nodes, GError **error)
{
        const char *to = strchr(inside, '>');
        NodeId callee;

        c->callees = g_array_new(FALSE, FALSE, sizeof(NodeId));
        if (*rest || !to ||
            !change_find_node(nodes, inside, (gsize)(to - inside), &c->node, error) ||
            !change_find_node(nodes, to + 1, strlen(to + 1), &callee, error))
                return FALSE;
        g_array_append_val(c->callees, callee);
        return TRUE;
}

static gboolean change_parse_workers(WhatIfChange *c, const char *inside, const char *rest,
                                     const NodeTable *nodes, GError **error)
{
        double workers;

        if (*rest != '=' || !change_number(rest + 1, 1, MOST_WORKERS, &workers) ||
            workers != floor(workers))
                return FALSE;
        c->workers = (guint32)workers;
        return change_find_node(nodes, inside, strlen(inside), &c->node, error);
}

static gboolean change_parse_hedge(WhatIfChange *c, const char *inside, const char *rest,
                                   const NodeTable *nodes, GError **error)
{
        const char *at = g_strrstr(inside, "@p");

        if (*rest || !at || !change_number(at + 2, 1, 99.99, &c->factor))
                return FALSE;
        c->factor /= 100;
        return change_find_node(nodes, inside, (gsize)(at - inside), &c->node, error);
}

static gboolean change_parse_hit(WhatIfChange *c, const char *inside, const char *rest,
                                 const NodeTable *nodes, GError **error)
{
        if (*rest != '=' || !change_number(rest + 1, 0, 1, &c->factor))
                return FALSE;
        return change_find_node(nodes, inside, strlen(inside), &c->node, error);
}

static const struct {
        const char *name;
        ChangeKind kind;
        ChangeParser parse;
        const char *expected;
} change_forms[] = {
        { "own(", CHANGE_OWN, change_parse_own, "such as own(NODE)*0.5 or own(NODE)-2ms" },
        { "parallel(", CHANGE_PARALLEL, change_parse_parallel,
          "such as parallel(NODE: CALLEE,CALLEE)" },
        { "drop(", CHANGE_DROP, change_parse_drop, "such as drop(NODE>CALLEE)" },
        { "workers(", CHANGE_WORKERS, change_parse_workers, "such as workers(NODE)=8" },
        { "hedge(", CHANGE_HEDGE, change_parse_hedge, "such as hedge(NODE@p95)" },
        { "hit(", CHANGE_HIT, change_parse_hit, "such as hit(NODE)=0.95" },
};

static gboolean change_parse_rate(WhatIfChange *c, const char *text, GError **error)
{
        c->kind = CHANGE_RATE;
        return (text[4] == '*' && change_number(text + 5, 1e-3, 1e3, &c->factor)) ||
               change_fail(text, "such as rate*1.4, from 0.001 to 1000", error);
}

static gboolean change_parse(WhatIfChange *c, const char *text, const NodeTable *nodes,
                             GError **error)
{
        const char *end = strrchr(text, ')');

        *c = (WhatIfChange){ .node = NO_NODE, .factor = 1 };
        if (g_str_has_prefix(text, "rate"))
                return change_parse_rate(c, text, error);
        for (guint i = 0; end && i < G_N_ELEMENTS(change_forms); i++) {
                gsize n = strlen(change_forms[i].name);
                GError *why = NULL;

                if (strncmp(text, change_forms[i].name, n))
                        continue;
                g_autofree char *inside = g_strndup(text + n, (gsize)(end - text) - n);
                c->kind = change_forms[i].kind;
                if (change_forms[i].parse(c, inside, end + 1, nodes, &why))
                        return TRUE;
                if (!why)
                        return change_fail(text, change_forms[i].expected, error);
                g_propagate_error(error, why);
                return FALSE;
        }
        return change_fail(text,
                           "one of own(), parallel(), drop(), workers(), hedge(), hit() and rate*",
                           error);
}

GArray *whatif_changes_parse(char *const *texts, guint n, const NodeTable *nodes, GError **error)
{
        g_autoptr(GArray) changes = g_array_new(FALSE, TRUE, sizeof(WhatIfChange));

        g_array_set_clear_func(changes, change_clear);
        for (guint i = 0; i < n; i++) {
                g_array_set_size(changes, i + 1);
                if (!change_parse(&g_array_index(changes, WhatIfChange, i), texts[i], nodes, error))
                        return NULL;
        }
        return g_steal_pointer(&changes);
}
