/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One picture of the patterns side by side, best first (the paper's Figure 11),
 * in rows where they are too many for one. Graphviz lays out and draws each graph by itself, since
 * it promises no order of graphs within one; this puts the drawings next to each other.
 */
#include <string.h>

#include "base/error.h"
#include "base/printable.h"
#include "paths/path-text.h"
#include "paths/pattern-text.h"
#include "write/drawer.h"
#include "write/text-table.h"
#include "write/write-graph.h"

enum {
        MAX_NODES = 300,       /* of a pattern: what a person can look at and dot lay out in time */
        SIGNATURE_WIDTH = 500, /* in the description */
        MARGIN = 16,           /* around and between, in points */
        ROW_WIDTH = 1440,      /* in points; a wider picture has a row to itself */
};

typedef struct {
        char *svg; /* the drawing, from its first <g> on */
        double width, height;
        double x, y; /* where it goes */
} Picture;

static void picture_clear(gpointer picture)
{
        g_free(((Picture *)picture)->svg);
}

/* Takes the size and the content out of what Graphviz wrote around them. */
static gboolean cut_out(const char *svg, Picture *picture)
{
        const char *size = strstr(svg, "<svg width=\"");
        const char *start = strstr(svg, "<g ");
        const char *end = g_strrstr(svg, "</svg>");
        char *rest;

        if (!size || !start || !end || start > end)
                return FALSE;
        picture->width = g_ascii_strtod(size + strlen("<svg width=\""), &rest);
        if (!g_str_has_prefix(rest, "pt\" height=\""))
                return FALSE;
        picture->height = g_ascii_strtod(rest + strlen("pt\" height=\""), &rest);
        picture->svg = g_strndup(start, (gsize)(end - start));
        return picture->width > 0 && picture->height > 0;
}

static gboolean svg_draw(Drawer *drawer, const Drawing *drawing, Picture *picture, GError **error)
{
        gsize n;
        g_autofree char *svg = drawer_draw(drawer, drawing, DRAW_SVG, &n, error);

        if (!svg || cut_out(svg, picture))
                return svg != NULL;
        return ravel_fail(error, RAVEL_ERROR_OUTPUT,
                          "Graphviz draws no graph that can be shown beside others");
}

/* A number of points or pixels. */
static void svg_append_number(GString *out, const char *before, double number, const char *after)
{
        g_string_append_printf(out, "%s%.2f%s", before, number, after);
}

/* For those who listen to it: the patterns in words. */
static void append_description(GString *out, const PathSet *set, const PathWriteOptions *options)
{
        g_string_append(out, "<title>Causal path patterns, best first</title>\n<desc>\n");
        for (guint32 i = 0; i < options->n_patterns; i++) {
                const PathPattern *p = path_set_pattern(set, options->rank[i]);
                const PatternNode *slowest = &p->nodes[path_pattern_slowest(p)];
                const char *name = node_table_written(path_set_nodes(set), slowest->node);
                g_autofree char *title = path_pattern_title(p->label, p->signature);
                g_autofree char *start = text_shorten(title, SIGNATURE_WIDTH);
                g_autofree char *signature = printable_new(start, PRINTABLE_XML);
                g_autofree char *count = path_format_count(p->count);
                g_autofree char *mean = path_format_duration(histogram_mean(&p->nodes[0].latency));
                g_autofree char *share = path_format_share(slowest->own.sum, path_pattern_total(p));
                g_autofree char *most = printable_new(name, PRINTABLE_XML);
                g_autofree char *line = g_strdup_printf(
                        "%u. %s: %s %s, mean %s, most time in %s (%s).\n", i + 1, signature, count,
                        path_set_graph(set) ? "messages" : "paths", mean, most, share);
                g_string_append(out, line);
        }
        g_string_append(out, "</desc>\n");
}

static Picture *picture_at(const GArray *pictures, guint i)
{
        return &g_array_index(pictures, Picture, i);
}

/* Sets where each picture goes, and the width and height of all. */
static void arrange(GArray *pictures, double *width, double *height)
{
        double x = MARGIN, y = MARGIN, row_height = 0;

        *width = 0;
        for (guint i = 0; i < pictures->len; i++) {
                Picture *p = picture_at(pictures, i);
                if (x > MARGIN && x + p->width + MARGIN > ROW_WIDTH) {
                        x = MARGIN;
                        y += row_height + 2 * MARGIN;
                        row_height = 0;
                }
                p->x = x;
                p->y = y;
                row_height = MAX(row_height, p->height);
                *width = MAX(*width, x + p->width + MARGIN);
                x += p->width + 2 * MARGIN;
        }
        *height = y + row_height + MARGIN;
}

/* A line between two pictures, or between the rows that they are in. */
static void append_divider(GString *out, const Picture *before, const Picture *p, double width)
{
        if (p->y > before->y) {
                svg_append_number(out, "<path stroke=\"#cccccc\" d=\"M", MARGIN, " ");
                svg_append_number(out, "", p->y - MARGIN, "H");
                svg_append_number(out, "", width - MARGIN, "\"/>\n");
        } else {
                svg_append_number(out, "<path stroke=\"#cccccc\" d=\"M", p->x - MARGIN, " ");
                svg_append_number(out, "", p->y, "v");
                svg_append_number(out, "", MAX(p->height, before->height), "\"/>\n");
        }
}

static void append_pictures(GString *out, const GArray *pictures, double width)
{
        for (guint i = 0; i < pictures->len; i++) {
                const Picture *p = picture_at(pictures, i);
                if (i > 0)
                        append_divider(out, picture_at(pictures, i - 1), p, width);
                svg_append_number(out, "<svg x=\"", p->x, "\" y=\"");
                svg_append_number(out, "", p->y, "\" width=\"");
                svg_append_number(out, "", p->width, "\" height=\"");
                svg_append_number(out, "", p->height, "\" viewBox=\"0 0 ");
                svg_append_number(out, "", p->width, " ");
                svg_append_number(out, "", p->height, "\">\n");
                g_string_append(out, p->svg);
                g_string_append(out, "</svg>\n");
        }
}

static gboolean write_pictures(GArray *pictures, const char *description, OutputFile *file,
                               GError **error)
{
        g_autoptr(GString) out = g_string_new(NULL);
        double width, height;

        arrange(pictures, &width, &height);
        g_string_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
                             "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                             "xmlns:xlink=\"http://www.w3.org/1999/xlink\" role=\"img\" ");
        svg_append_number(out, "width=\"", width, "pt\" ");
        svg_append_number(out, "height=\"", height, "pt\" ");
        svg_append_number(out, "viewBox=\"0 0 ", width, " ");
        svg_append_number(out, "", height, "\">\n");
        g_string_append(out, description);
        g_string_append(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
        append_pictures(out, pictures, width);
        g_string_append(out, "</svg>\n");
        return output_file_write(file, out->str, out->len, error);
}

gboolean write_svg_drawings(const GPtrArray *drawings, const char *description, OutputFile *file,
                            GError **error)
{
        g_autoptr(GArray) pictures = g_array_new(FALSE, TRUE, sizeof(Picture));
        g_autoptr(Drawer) drawer = drawer_new();

        g_array_set_clear_func(pictures, picture_clear);
        for (guint i = 0; i < drawings->len; i++) {
                Picture picture = { .svg = NULL };

                if (!svg_draw(drawer, drawings->pdata[i], &picture, error)) {
                        g_prefix_error(error, "%s: ", output_file_name(file));
                        return FALSE;
                }
                g_array_append_val(pictures, picture);
        }
        return write_pictures(pictures, description, file, error);
}

gboolean path_write_svg(const PathSet *set, const PathWriteOptions *options, OutputFile *file,
                        GError **error)
{
        g_autoptr(GPtrArray) drawings =
                g_ptr_array_new_with_free_func((GDestroyNotify)drawing_free);
        g_autoptr(GString) description = g_string_new(NULL);

        for (guint32 i = 0; i < write_graph_count(set, options); i++) {
                Drawing *drawing = write_graph_new(set, options, i, MAX_NODES);
                char id[16];
                /* What the ids of its elements begin with: they must not repeat. */
                g_snprintf(id, sizeof id, "path%u", i + 1);
                drawing_set(drawing, DRAWING_GRAPH, "id", id);
                g_ptr_array_add(drawings, drawing);
        }
        append_description(description, set, options);
        return write_svg_drawings(drawings, description->str, file, error);
}
