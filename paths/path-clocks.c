/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-clocks.h"

#include <string.h>

#include "paths/path-text.h"

/* Nodes by name in one line. */
enum { SHOWN = 6 };

static const ClockOffset *clock_at(const GArray *clocks, guint i)
{
        return &g_array_index(clocks, ClockOffset, i);
}

static void append_signed(GString *out, gint64 ns)
{
        g_autofree char *text = path_format_duration(ABS(ns));

        g_string_append_printf(out, "%s%s", ns < 0 ? "-" : "+", text);
}

static void append_bounds(GString *out, const ClockOffset *c)
{
        gint64 least = path_clock_least(c), most = path_clock_most(c);
        gboolean below = least != G_MININT64, above = most != G_MAXINT64;

        if (!below && !above)
                return;
        if (least == most) {
                g_string_append(out, " (as the trace says)");
                return;
        }
        g_string_append(out, below && above ? " (between " : " (");
        append_signed(out, below ? least : most);
        g_string_append(out, below && above ? " and " : below ? " or more" : " or less");
        if (below && above)
                append_signed(out, most);
        g_string_append_c(out, ')');
}

char *path_clocks_text(const GArray *clocks, const NodeTable *nodes, gboolean doubtful)
{
        g_autoptr(GString) out = g_string_new(NULL);
        guint n = 0;

        for (guint i = 0; clocks && i < clocks->len; i++) {
                const ClockOffset *c = clock_at(clocks, i);

                if (c->doubtful != doubtful || n++ >= SHOWN)
                        continue;
                g_string_append_printf(out, "%s%s by ", n > 1 ? ", " : "",
                                       node_table_written(nodes, c->node));
                append_signed(out, path_clock_by(c));
                if (!doubtful)
                        append_bounds(out, c);
        }
        if (n > SHOWN)
                g_string_append_printf(out, ", and %u more", n - SHOWN);
        return n ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

static void append_bound(GString *out, gint64 ns, gint64 none)
{
        if (ns != none)
                g_string_append_printf(out, "%" G_GINT64_FORMAT, ns);
}

void path_clocks_append_parameters(GString *out, const GArray *clocks, const NodeTable *nodes)
{
        for (guint i = 0; clocks && i < clocks->len; i++) {
                const ClockOffset *c = clock_at(clocks, i);
                const char *name = node_table_written(nodes, c->node);

                g_string_append_printf(out, "%s=%s=%" G_GINT64_FORMAT "\n",
                                       c->doubtful ? "skew_doubtful_ns" : "skew_ns", name,
                                       c->offset);
                if (c->doubtful)
                        continue;
                g_string_append_printf(out, "skew_bounds_ns=%s=", name);
                append_bound(out, c->least, G_MININT64);
                g_string_append_c(out, ',');
                append_bound(out, c->most, G_MAXINT64);
                g_string_append_c(out, '\n');
        }
}

/* The value of a line "KEY=NODE=VALUE", and the node; NULL: it is none. Names may have a '=' in
 * them, values have not. */
static const char *node_value(const char *line, const char *key, const NodeTable *nodes,
                              NodeId *node)
{
        const char *name = line + strlen(key), *value = strrchr(line, '=');

        if (!g_str_has_prefix(line, key) || value < name)
                return NULL;
        for (*node = 0; *node < node_table_size(nodes); ++*node) {
                const char *written = node_table_written(nodes, *node);

                if (strlen(written) == (gsize)(value - name) &&
                    !memcmp(written, name, (gsize)(value - name)))
                        return value + 1;
        }
        return NULL;
}

GArray *path_clocks_from_parameters(const char *parameters, const NodeTable *nodes)
{
        GArray *clocks = g_array_new(FALSE, FALSE, sizeof(ClockOffset));
        g_auto(GStrv) lines = g_strsplit(parameters, "\n", -1);

        for (char **line = lines; *line; line++) {
                ClockOffset c = { .least = G_MININT64, .most = G_MAXINT64 };
                ClockOffset *last =
                        clocks->len ? &g_array_index(clocks, ClockOffset, clocks->len - 1) : NULL;
                const char *value, *most;
                NodeId node;

                if ((value = node_value(*line, "skew_bounds_ns=", nodes, &node))) {
                        if (!last || last->node != node || !(most = strchr(value, ',')))
                                continue;
                        if (*value != ',')
                                last->least = g_ascii_strtoll(value, NULL, 10);
                        if (most[1])
                                last->most = g_ascii_strtoll(most + 1, NULL, 10);
                        continue;
                }
                c.doubtful = g_str_has_prefix(*line, "skew_doubtful_ns=");
                value = node_value(*line, c.doubtful ? "skew_doubtful_ns=" : "skew_ns=", nodes,
                                   &c.node);
                if (!value)
                        continue;
                c.offset = g_ascii_strtoll(value, NULL, 10);
                g_array_append_val(clocks, c);
        }
        return clocks;
}
