/* SPDX-License-Identifier: BSD-2-Clause */
#include "convolution/correlation-series.h"

#include <math.h>

#include "base/each.h"
#include "base/printable.h"
#include "paths/path-text.h"

struct CorrelationSeries {
        const Convolution *run;
        const EdgeTrace *cause, *effect;
        const PathGraph *graph;
        float *c; /* the correlation, run->lags.n numbers */
        Moments moments;
        GArray *spikes; /* of Spike */
};

CorrelationSeries *correlation_series_new(const Convolution *run, const EdgeTrace *cause,
                                          const EdgeTrace *effect, const PathGraph *graph)
{
        CorrelationSeries *s = g_new0(CorrelationSeries, 1);
        g_autoptr(EdgeSignal) x =
                edge_signal_new(cause->received, cause->n, &run->quanta, SIGNAL_ROOT);
        g_autoptr(EdgeSignal) y =
                edge_signal_new(effect->sent, effect->n, &run->quanta, SIGNAL_ROOT);
        g_autoptr(Correlator) correlator = correlator_new(&run->lags, run->options.correlate, 0);

        s->run = run;
        s->cause = cause;
        s->effect = effect;
        s->graph = graph;
        s->c = g_new(float, run->lags.n);
        correlator_run(correlator, x, y, s->c);
        s->spikes = spikes_find(s->c, run->lags.n, run->options.spike, run->options.between,
                                &s->moments);
        return s;
}

void correlation_series_free(CorrelationSeries *s)
{
        if (!s)
                return;
        g_array_free(s->spikes, TRUE);
        g_free(s->c);
        g_free(s);
}

static gint64 series_delay_at(const CorrelationSeries *s, gsize i)
{
        return quanta_delay(&s->run->quanta, s->run->lags.first + (gint64)i);
}

static double deviations_at(const CorrelationSeries *s, gsize i)
{
        return s->moments.deviation > 0 ? ((double)s->c[i] - s->moments.mean) / s->moments.deviation
                                        : 0;
}

/* The spike at a lag, or NULL. */
static const Spike *spike_at(const CorrelationSeries *s, gsize i)
{
        for (guint k = 0; k < s->spikes->len; k++)
                if (g_array_index(s->spikes, Spike, k).at == i)
                        return &g_array_index(s->spikes, Spike, k);
        return NULL;
}

/* Whether a vertex stands for messages on an edge. */
static gboolean is_on_edge(const CorrelationSeries *s, const PathVertex *v, const EdgeTrace *e)
{
        return v->node == e->to && v->parent != NO_VERTEX &&
               path_graph_vertex(s->graph, v->parent)->node == e->from;
}

/* The fate of a spike: the messages and paths of the graph on both edges in turn, with about its
 * delay. */
static char *fate_of(const CorrelationSeries *s, const Spike *spike)
{
        gint64 near = s->run->quanta.quantum * (1 + s->run->tolerance);
        guint64 messages = 0, paths = 0, leading = 0;

        for (guint32 i = 0; i < path_graph_size(s->graph); i++) {
                const PathVertex *v = path_graph_vertex(s->graph, i);
                guint64 before = messages;

                leading += is_on_edge(s, v, s->cause);
                if (!is_on_edge(s, v, s->effect) ||
                    !is_on_edge(s, path_graph_vertex(s->graph, v->parent), s->cause))
                        continue;
                EACH (const PathDelay, d, v->delays)
                        if (ABS(d->delay - series_delay_at(s, spike->at)) <= near)
                                messages += d->count;
                paths += messages > before;
        }
        if (paths > 0)
                return g_strdup_printf("%" G_GUINT64_FORMAT " messages on %" G_GUINT64_FORMAT " %s",
                                       messages, paths, paths == 1 ? "path" : "paths");
        if (s->run->is_root[s->cause->to])
                return g_strdup("left out: paths end at a root");
        if (leading == 0)
                return g_strdup("left out: no path leads there");
        return g_strdup_printf("left out: no spike of a path's messages, or fewer than "
                               "%" G_GUINT64_FORMAT " of them",
                               s->run->options.min_messages);
}

/* --- tsv ------------------------------------------------------------------- */

gboolean correlation_series_write_tsv(const CorrelationSeries *s, OutputFile *file, GError **error)
{
        g_autoptr(GString) out =
                g_string_new("delay\tcorrelation\tbackground\tdeviations\tspike\tfate\n");

        for (gsize i = 0; i < s->run->lags.n; i++) {
                const Spike *spike = spike_at(s, i);
                g_autofree char *fate = spike ? fate_of(s, spike) : NULL;

                g_string_append_printf(out, "%" G_GINT64_FORMAT "\t", series_delay_at(s, i));
                path_append_number(out, (double)s->c[i], "%.6g");
                g_string_append_c(out, '\t');
                path_append_number(out, s->moments.mean, "%.6g");
                g_string_append_c(out, '\t');
                path_append_number(out, deviations_at(s, i), "%.3f");
                g_string_append_printf(out, "\t%s\t%s\n", spike ? "spike" : "-", fate ? fate : "-");
                if (out->len < 1 << 16)
                        continue;
                if (!output_file_write(file, out->str, out->len, error))
                        return FALSE;
                g_string_truncate(out, 0);
        }
        return output_file_write(file, out->str, out->len, error);
}

/* --- svg ------------------------------------------------------------------- */

/* The sizes of the picture and the margins of the plot, in pixels. */
enum { WIDTH = 960, HEIGHT = 460, LEFT = 70, RIGHT = 20, TOP = 60, BOTTOM = 110 };

typedef struct {
        GString *out;
        const CorrelationSeries *s;
        double top; /* the value at the top of the plot */
} Plot;

static double x_of(const Plot *p, double lag)
{
        return LEFT + (WIDTH - LEFT - RIGHT) * lag / (double)p->s->run->lags.n;
}

static double y_of(const Plot *p, double value)
{
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / p->top;
}

static void append_plot_line(const Plot *p, double x1, double y1, double x2, double y2,
                             const char *style)
{
        const double ends[] = { x1, y1, x2, y2 };
        static const char *const names[] = { "<line x1=\"", "\" y1=\"", "\" x2=\"", "\" y2=\"" };

        for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
                g_string_append(p->out, names[i]);
                path_append_number(p->out, ends[i], "%.2f");
        }
        g_string_append_printf(p->out, "\" %s/>\n", style);
}

static void append_plot_text(const Plot *p, double x, double y, const char *style, const char *text)
{
        g_autofree char *escaped = printable_new(text, PRINTABLE_XML);

        g_string_append(p->out, "<text x=\"");
        path_append_number(p->out, x, "%.2f");
        g_string_append(p->out, "\" y=\"");
        path_append_number(p->out, y, "%.2f");
        g_string_append_printf(p->out, "\" %s>%s</text>\n", style, escaped);
}

/* The distance of ticks for about ten of them: 1, 2 or 5 times a power of ten. */
static double tick_distance(double range)
{
        static const double steps[] = { 2, 5, 10 };
        double power = pow(10, floor(log10(range / 10))), step = power;

        for (guint i = 0; i < G_N_ELEMENTS(steps) && range / step > 10; i++)
                step = steps[i] * power;
        return step;
}

static void append_axes(const Plot *p)
{
        double lags = (double)p->s->run->lags.n, quantum = (double)p->s->run->quanta.quantum;
        double step = tick_distance(lags * quantum);

        for (double delay = 0; delay < lags * quantum; delay += step) {
                g_autofree char *label = path_format_duration((gint64)delay);

                append_plot_line(p, x_of(p, delay / quantum), HEIGHT - BOTTOM,
                                 x_of(p, delay / quantum), HEIGHT - BOTTOM + 5, "stroke=\"#333\"");
                append_plot_text(p, x_of(p, delay / quantum), HEIGHT - BOTTOM + 20,
                                 "text-anchor=\"middle\"", label);
        }
        step = tick_distance(p->top);
        for (double value = 0; value <= p->top; value += step) {
                g_autofree char *label = g_strdup_printf("%.0f", value);

                append_plot_line(p, LEFT - 5, y_of(p, value), LEFT, y_of(p, value),
                                 "stroke=\"#333\"");
                append_plot_text(p, LEFT - 9, y_of(p, value) + 4, "text-anchor=\"end\"", label);
        }
        append_plot_line(p, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM,
                         "stroke=\"#333\"");
        append_plot_line(p, LEFT, TOP, LEFT, HEIGHT - BOTTOM, "stroke=\"#333\"");
        append_plot_text(p, WIDTH - RIGHT, HEIGHT - BOTTOM + 38, "text-anchor=\"end\"",
                         "delay of the effect");
        append_plot_text(p, 10, TOP - 12, "", "correlation, about messages");
}

/* A column of pixels shows the lowest and the highest of its lags. */
static void append_plot_series(const Plot *p)
{
        gsize n = p->s->run->lags.n, columns = MIN(n, WIDTH - LEFT - RIGHT);

        g_string_append(p->out, "<path fill=\"none\" stroke=\"#3b6ea5\" d=\"");
        for (gsize column = 0; column < columns; column++) {
                gsize i = column * n / columns, end = (column + 1) * n / columns;
                float low = p->s->c[i], high = low;
                gsize first = i;

                for (; i < end; i++) {
                        low = MIN(low, p->s->c[i]);
                        high = MAX(high, p->s->c[i]);
                }
                for (guint k = 0; k < (low < high ? 2 : 1); k++) {
                        g_string_append_c(p->out, column == 0 && k == 0 ? 'M' : 'L');
                        path_append_number(p->out, x_of(p, (double)first), "%.2f");
                        g_string_append_c(p->out, ' ');
                        path_append_number(p->out, y_of(p, (double)(k == 0 ? low : high)), "%.2f");
                }
        }
        g_string_append(p->out, "\"/>\n");
}

static void append_level(const Plot *p, double deviations, const char *style, const char *what)
{
        double value = p->s->moments.mean + deviations * p->s->moments.deviation;

        append_plot_line(p, LEFT, y_of(p, value), WIDTH - RIGHT, y_of(p, value), style);
        append_plot_text(p, WIDTH - RIGHT, y_of(p, value) - 4, "text-anchor=\"end\" fill=\"#555\"",
                         what);
}

static void append_spikes(const Plot *p)
{
        enum { SHOWN = 4 };

        if (p->s->spikes->len == 0)
                append_plot_text(p, LEFT, HEIGHT - BOTTOM + 56, "",
                                 "There is no spike: no point is so far above the mean.");
        for (guint k = 0; k < p->s->spikes->len; k++) {
                const Spike *spike = &g_array_index(p->s->spikes, Spike, k);
                g_autofree char *delay = path_format_duration(series_delay_at(p->s, spike->at));
                g_autofree char *fate = fate_of(p->s, spike);
                g_autofree char *text = NULL;
                double x = x_of(p, (double)spike->at), y = y_of(p, (double)p->s->c[spike->at]);

                append_plot_line(p, x, HEIGHT - BOTTOM, x, y,
                                 "stroke=\"#c1440e\" stroke-width=\"3\"");
                append_plot_text(p, x, y - 5, "text-anchor=\"middle\" font-weight=\"bold\"", delay);
                if (k >= SHOWN)
                        continue;
                text = g_strdup_printf("%s: %.1f deviations above the mean; %s", delay,
                                       spike->height, fate);
                append_plot_text(p, LEFT, HEIGHT - BOTTOM + 56 + 14 * (int)k, "", text);
        }
}

gboolean correlation_series_write_svg(const CorrelationSeries *s, OutputFile *file, GError **error)
{
        const NodeTable *nodes = s->run->traces->nodes;
        const ConvolutionOptions *o = &s->run->options;
        g_autofree char *title = g_strdup_printf(
                "%s>%s (%u messages) and then %s>%s (%u messages)",
                node_table_written(nodes, s->cause->from), node_table_written(nodes, s->cause->to),
                s->cause->n, node_table_written(nodes, s->effect->from),
                node_table_written(nodes, s->effect->to), s->effect->n);
        g_autofree char *escaped = printable_new(title, PRINTABLE_XML);
        g_autofree char *spike = g_strdup_printf("mean + %g deviations: a spike", o->spike);
        Plot p = { g_string_new(NULL), s, s->moments.mean + o->spike * s->moments.deviation };
        gboolean ok;

        for (gsize i = 0; i < s->run->lags.n; i++)
                p.top = MAX(p.top, (double)s->c[i]);
        p.top = p.top > 0 ? 1.1 * p.top : 1;
        g_string_append_printf(p.out,
                               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
                               "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                               "font-family=\"Helvetica,Arial,sans-serif\" font-size=\"12\">\n"
                               "<title>%s</title>\n"
                               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                               WIDTH, HEIGHT, WIDTH, HEIGHT, escaped);
        append_plot_text(&p, LEFT, 24, "font-size=\"15\" font-weight=\"bold\"", title);
        append_axes(&p);
        append_plot_series(&p);
        append_level(&p, 0, "stroke=\"#888\" stroke-dasharray=\"4 3\"", "mean");
        append_level(&p, o->spike, "stroke=\"#c1440e\" stroke-dasharray=\"4 3\"", spike);
        append_spikes(&p);
        g_string_append(p.out, "</svg>\n");
        ok = output_file_write(file, p.out->str, p.out->len, error);
        g_string_free(p.out, TRUE);
        return ok;
}
