/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Draws a view of the screen as lines.
 */
#include <math.h>
#include <string.h>

#include "paths/path-text.h"
#include "watch/screen-state.h"
#include "watch/screen-view.h"
#include "write/text-table.h"

enum {
        LEAST_NAME = 14, /* cells of a name before a column is left out */
        NOTE_WIDTH = 20, /* cells */
        NARROW = 60,     /* cells of a screen with short texts */
        BAR_WIDTH = 20,  /* cells of the bar of a call */
        BAR_FROM = 76,   /* cells of a screen with bars */
        STRIP_FROM = 16, /* lines of a screen with the slowest requests below a table */
        KEYS_WIDTH = 13  /* cells of the keys in the help */
};

/* --- lines ----------------------------------------------------------------------- */

static void screen_line_free(gpointer data)
{
        ScreenLine *line = data;

        g_string_free(line->text, TRUE);
        g_array_unref(line->runs);
        g_free(line);
}

static ScreenLine *begin_line(GPtrArray *lines)
{
        ScreenLine *line = g_new0(ScreenLine, 1);

        line->text = g_string_new(NULL);
        line->runs = g_array_new(FALSE, FALSE, sizeof(ScreenRun));
        g_ptr_array_add(lines, line);
        return line;
}

/* Appends at most width cells of a text. */
static void append_fitting(GString *out, const char *text, guint width)
{
        g_autofree char *cut = NULL;

        if (text_width(text) <= width)
                g_string_append(out, text);
        else if (width >= 3)
                g_string_append(out, cut = text_shorten(text, width));
}

static void end_run(ScreenLine *line, ScreenLook look)
{
        ScreenRun run = { line->text->len, look };

        g_array_append_val(line->runs, run);
}

static void pad_to(GString *out, guint width)
{
        for (guint n = text_width(out->str); n < width; n++)
                g_string_append_c(out, ' ');
}

/* A line of one look; a heading goes over the whole width. */
static void add_line(GPtrArray *lines, ScreenLook look, guint width, const char *text)
{
        ScreenLine *line = begin_line(lines);

        append_fitting(line->text, text, width);
        if (look == LOOK_HEADING || look == LOOK_SELECTED)
                pad_to(line->text, width);
        end_run(line, look);
}

static void add_text(GPtrArray *lines, ScreenLook look, guint width, const char *format, ...)
        G_GNUC_PRINTF(4, 5);

static void add_text(GPtrArray *lines, ScreenLook look, guint width, const char *format, ...)
{
        g_autofree char *text = NULL;
        va_list args;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        add_line(lines, look, width, text);
}

/* --- values ---------------------------------------------------------------------- */

static const guint kind_widths[] = { [SCREEN_RATE] = 8,   [SCREEN_TIME] = 9,  [SCREEN_SHARE] = 7,
                                     [SCREEN_ERRORS] = 7, [SCREEN_COUNT] = 7, [SCREEN_MOMENT] = 9 };

static char *format_rate(double rate)
{
        if (rate < 100)
                return g_strdup_printf(rate < 10 ? "%.2f" : "%.1f", rate);
        return path_format_count((guint64)(rate + 0.5));
}

static char *format_clock(gint64 time)
{
        g_autofree char *moment = path_format_moment(time, 6);

        return g_strndup(moment + strlen("2026-11-28T"), strlen("12:00:00"));
}

static char *format_value(double value, ScreenKind kind)
{
        const gint64 whole = 1000000000;

        if (isnan(value))
                return g_strdup("-");
        switch (kind) {
        case SCREEN_RATE:
                return format_rate(value);
        case SCREEN_TIME:
                return path_format_duration((gint64)value);
        case SCREEN_COUNT:
                return path_format_count((guint64)value);
        case SCREEN_MOMENT:
                return format_clock((gint64)value);
        default:
                return path_format_share((gint64)(value * (double)whole), whole);
        }
}

static gboolean is_bad(double value, const ScreenColumn *column)
{
        return value > 0 && (column->kind == SCREEN_ERRORS || !strcmp(column->heading, "errors"));
}

/* --- tables ---------------------------------------------------------------------- */

/* Which columns there is room for. */
typedef struct {
        gboolean shown[SCREEN_VALUES];
        gboolean note;
        guint name; /* cells */
} Layout;

/* The column by which the table is sorted stays, then those with the least drop. */
static Layout lay_out(const ScreenTableKind *kind, guint sort, guint width)
{
        Layout layout = { .name = width };

        for (guint drop = 0; drop <= SCREEN_VALUES; drop++)
                for (guint i = 0; i < kind->n; i++) {
                        guint cells = kind_widths[kind->columns[i].kind];

                        if (layout.shown[i] || layout.name < LEAST_NAME + cells ||
                            (drop == 0 ? i != sort : kind->columns[i].drop != drop))
                                continue;
                        layout.shown[i] = TRUE;
                        layout.name -= cells;
                }
        if (kind->note && layout.name >= LEAST_NAME + NOTE_WIDTH) {
                layout.note = TRUE;
                layout.name -= NOTE_WIDTH;
        }
        return layout;
}

static void append_right(GString *out, const char *text, guint width)
{
        for (guint n = text_width(text) + 1; n < width; n++)
                g_string_append_c(out, ' ');
        g_string_append_c(out, ' ');
        append_fitting(out, text, width - 1);
}

static void append_left(GString *out, const char *text, guint width)
{
        gsize begin = out->len;

        append_fitting(out, text, width);
        for (guint n = text_width(out->str + begin); n < width; n++)
                g_string_append_c(out, ' ');
}

static void add_table_heading(GPtrArray *lines, const ScreenTableKind *kind, const Layout *layout,
                              guint width)
{
        g_autoptr(GString) text = g_string_new(NULL);

        append_left(text, kind->first, layout->name);
        for (guint i = 0; i < kind->n; i++)
                if (layout->shown[i])
                        append_right(text, kind->columns[i].heading,
                                     kind_widths[kind->columns[i].kind]);
        if (layout->note) {
                g_string_append(text, "  ");
                append_left(text, kind->note, NOTE_WIDTH - 2);
        }
        add_line(lines, LOOK_HEADING, width, text->str);
}

static void add_row_line(GPtrArray *lines, const ScreenTableKind *kind, const Layout *layout,
                         const ScreenRow *row, gboolean selected)
{
        ScreenLine *line = begin_line(lines);

        append_left(line->text, row->name, layout->name);
        for (guint i = 0; i < kind->n; i++) {
                g_autofree char *value = NULL;

                if (!layout->shown[i])
                        continue;
                end_run(line, selected ? LOOK_SELECTED : LOOK_PLAIN);
                value = format_value(row->values[i], kind->columns[i].kind);
                append_right(line->text, value, kind_widths[kind->columns[i].kind]);
                end_run(line, selected                                    ? LOOK_SELECTED
                              : is_bad(row->values[i], &kind->columns[i]) ? LOOK_BAD
                                                                          : LOOK_PLAIN);
        }
        if (layout->note) {
                g_string_append(line->text, "  ");
                append_left(line->text, row->note ? row->note : "-", NOTE_WIDTH - 2);
        }
        end_run(line, selected ? LOOK_SELECTED : LOOK_PLAIN);
}

static void scroll_to_selected(ScreenView *view)
{
        guint *top = &view->top[view->table], selected = view->selected[view->table];

        if (selected < *top)
                *top = selected;
        if (selected >= *top + view->page)
                *top = selected + 1 - view->page;
        *top = MIN(*top, view->rows->len - MIN(view->rows->len, view->page));
}

/* The slowest requests of the window below another table. */
static void add_slowest(GPtrArray *lines, const ScreenView *view, guint width, guint end)
{
        const ScreenTableKind *kind = &screen_tables[SCREEN_REQUESTS];
        Layout layout = lay_out(kind, 1, width);
        const GPtrArray *rows = view->data->rows[SCREEN_REQUESTS];

        add_line(lines, LOOK_PLAIN, width, "");
        add_line(lines, LOOK_STRONG, width, "Slowest requests, the latest first (3)");
        for (guint i = 0; i < rows->len && lines->len < end; i++)
                add_row_line(lines, kind, &layout, g_ptr_array_index(rows, i), FALSE);
        while (lines->len < end)
                add_line(lines, LOOK_PLAIN, width, "");
}

static void add_table(GPtrArray *lines, ScreenView *view, guint width, guint end)
{
        const ScreenTableKind *kind = &screen_tables[view->table];
        Layout layout = lay_out(kind, view->sort[view->table], width);
        gboolean strip = view->table != SCREEN_REQUESTS && end + 1 >= STRIP_FROM;
        guint rows_end = strip ? end - 2 - end / 5 : end;

        add_table_heading(lines, kind, &layout, width);
        view->page = MAX(rows_end, lines->len + 1) - lines->len;
        scroll_to_selected(view);
        if (view->rows->len == 0)
                add_line(lines, LOOK_PLAIN, width,
                         view->filter->len ? "no match" : "no requests in this window");
        for (guint i = view->top[view->table]; i < view->rows->len && lines->len < rows_end; i++)
                add_row_line(lines, kind, &layout, g_ptr_array_index(view->rows, i),
                             i == view->selected[view->table]);
        while (lines->len < rows_end)
                add_line(lines, LOOK_PLAIN, width, "");
        if (strip)
                add_slowest(lines, view, width, end);
}

/* --- the head -------------------------------------------------------------------- */

static void add_summary(GPtrArray *lines, const ScreenView *view, guint width)
{
        const ScreenData *d = view->data;
        g_autofree char *from = format_clock(d->from);
        g_autofree char *rate =
                format_rate((double)d->requests * 1e9 / (double)MAX(d->to - d->from, 1));
        g_autofree char *p50 = path_format_duration(d->p50);
        g_autofree char *p99 = path_format_duration(d->p99);

        if (width < NARROW)
                add_text(lines, LOOK_STRONG, width, "%s  %s/s  p99 %s", from, rate, p99);
        else
                add_text(lines, LOOK_STRONG, width,
                         "ravel watch  %s  %s requests/s  p50 %s  p99 %s", from, rate, p50, p99);
}

static void append_wrong(GString *text, guint64 n, const char *what)
{
        if (n)
                g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " %s", text->len ? "  " : "", n,
                                       what);
}

/* What is wrong with the window, else the last message. */
static void add_state(GPtrArray *lines, const ScreenView *view, guint width)
{
        const ScreenData *d = view->data;
        const char *message = g_queue_peek_head((GQueue *)&view->messages);
        g_autoptr(GString) text = g_string_new(NULL);

        append_wrong(text, d->failed, "failed");
        append_wrong(text, d->dropped, "packets dropped");
        append_wrong(text, d->late, "messages late");
        append_wrong(text, !d->in_time, "window behind");
        if (d->judgement)
                g_string_append_printf(text, "%s%s", text->len ? "  " : "", d->judgement);
        if (text->len)
                add_line(lines, LOOK_BAD, width, text->str);
        else
                add_text(lines, LOOK_PLAIN, width, "%s%s", message ? message : "all is well",
                         message ? " (m: all messages)" : "");
}

static void add_tabs(GPtrArray *lines, const ScreenView *view, guint width)
{
        ScreenLine *line = begin_line(lines);
        g_autofree char *frozen =
                g_strdup_printf("  FROZEN (%" G_GUINT64_FORMAT " windows since)", view->unseen);
        guint room = width;

        for (guint i = 0; i < N_SCREEN_TABLES && room > 0; i++) {
                g_autofree char *tab =
                        g_strdup_printf("%s%u %s", i ? "  " : "", i + 1, screen_tables[i].name);

                append_fitting(line->text, tab, room);
                end_run(line, i == view->table ? LOOK_SELECTED : LOOK_PLAIN);
                room = width - MIN(width, text_width(line->text->str));
        }
        append_fitting(line->text,
                       view->frozen && room < text_width(frozen) ? "  FROZEN"
                       : view->frozen                            ? frozen
                       : view->ended                             ? "  the input has ended"
                                                                 : "",
                       room);
        end_run(line, LOOK_BAD);
}

/* Which rows are on the screen, in which order. */
static void add_order(GPtrArray *lines, const ScreenView *view, guint width)
{
        const ScreenTableKind *kind = &screen_tables[view->table];
        guint sort = view->sort[view->table], top = view->top[view->table];
        gboolean by_name = sort == kind->n;
        g_autofree char *filter =
                view->filter->len || view->typing
                        ? g_strdup_printf("  /%s%s", view->filter->str, view->typing ? "_" : "")
                        : g_strdup("");

        add_text(lines, view->typing ? LOOK_STRONG : LOOK_PLAIN, width, "%u-%u of %u by %s%s%s",
                 MIN(top + 1, view->rows->len), MIN(top + view->page, view->rows->len),
                 view->rows->len, by_name ? "name" : kind->columns[sort].heading,
                 view->reverse[view->table] ? ", reversed" : "", filter);
}

/* --- a request ------------------------------------------------------------------- */

static void append_bar(GString *out, const ScreenCall *call, gint64 whole)
{
        double scale = BAR_WIDTH / (double)MAX(whole, 1);
        int from = (int)CLAMP((double)call->start * scale, 0, BAR_WIDTH - 1);
        int to = (int)CLAMP((double)(call->start + call->latency) * scale + 0.5, from + 1,
                            BAR_WIDTH);

        g_string_append(out, " |");
        for (int i = 0; i < BAR_WIDTH; i++)
                g_string_append_c(out, i >= from && i < to ? '=' : ' ');
        g_string_append_c(out, '|');
}

/* Times of a call: all but its latency and own time go where the screen is narrow. */
static void append_times(GString *out, guint width, const char *start, const char *latency,
                         const char *own, const char *network)
{
        if (width >= 50)
                append_right(out, start, 9);
        append_right(out, latency, 9);
        append_right(out, own, 9);
        if (width >= 60)
                append_right(out, network, 9);
}

static guint call_name_width(guint width)
{
        guint taken = 18 + (width >= 50 ? 9 : 0) + (width >= 60 ? 9 : 0) +
                      (width >= BAR_FROM ? BAR_WIDTH + 3 : 0);

        return width - MIN(width, taken);
}

static void add_call_line(GPtrArray *lines, const ScreenCall *call, gint64 whole, guint width)
{
        g_autofree char *start = path_format_duration(call->start);
        g_autofree char *latency = path_format_duration(call->latency);
        g_autofree char *own = path_format_duration(call->own);
        g_autofree char *network = path_format_duration(call->network);
        g_autofree char *name =
                g_strdup_printf("%*s%s%s%s", (int)MIN(2 * call->depth, call_name_width(width) / 2),
                                "", call->name, *call->outcome ? " " : "", call->outcome);
        g_autoptr(GString) text = g_string_new(NULL);

        append_left(text, name, call_name_width(width));
        append_times(text, width, start, latency, own, network);
        if (width >= BAR_FROM)
                append_bar(text, call, whole);
        add_line(lines, call->has_error ? LOOK_BAD : LOOK_PLAIN, width, text->str);
}

static void add_request(GPtrArray *lines, ScreenView *view, guint width, guint end)
{
        const ScreenRow *r = view->request;
        g_autofree char *start = path_format_moment((gint64)r->values[0], 6);
        g_autofree char *latency = path_format_duration((gint64)r->values[1]);
        g_autoptr(GString) heading = g_string_new(NULL);

        add_line(lines, LOOK_STRONG, width, r->name);
        add_text(lines, LOOK_PLAIN, width, "%s  %s", latency, start);
        append_left(heading, "CALL", call_name_width(width));
        append_times(heading, width, "start", "latency", "own", "network");
        add_line(lines, LOOK_HEADING, width, heading->str);
        view->page = MAX(end, lines->len + 1) - lines->len;
        for (guint i = view->scroll; i < r->calls->len && lines->len < end; i++)
                add_call_line(lines, &g_array_index(r->calls, ScreenCall, i), (gint64)r->values[1],
                              width);
}

/* --- the rest -------------------------------------------------------------------- */

static void add_messages(GPtrArray *lines, ScreenView *view, guint width, guint end)
{
        add_line(lines, LOOK_HEADING, width, "Messages, the latest first");
        view->page = MAX(end, lines->len + 1) - lines->len;
        if (view->messages.length == 0)
                add_line(lines, LOOK_PLAIN, width, "none");
        for (guint i = view->scroll; i < view->messages.length && lines->len < end; i++)
                add_line(lines, LOOK_PLAIN, width, g_queue_peek_nth(&view->messages, i));
}

static void add_help(GPtrArray *lines, guint width)
{
        add_line(lines, LOOK_HEADING, width, "Keys of ravel watch");
        for (const ScreenHelp *h = screen_help; h->keys; h++)
                add_text(lines, LOOK_PLAIN, width, "%-*s %s", KEYS_WIDTH, h->keys, h->what);
}

static void add_head(GPtrArray *lines, const ScreenView *view, guint width)
{
        if (view->data) {
                add_summary(lines, view, width);
                add_state(lines, view, width);
        } else {
                add_text(lines, LOOK_STRONG, width,
                         "ravel watch: the first window of %.15g s is open",
                         (double)view->span / 1e9);
                add_line(lines, LOOK_PLAIN, width,
                         view->messages.length ? g_queue_peek_head((GQueue *)&view->messages) : "");
        }
        add_tabs(lines, view, width);
}

static void add_shown(GPtrArray *lines, ScreenView *view, guint width, guint end)
{
        guint order = lines->len;

        switch (view->shown) {
        case SHOW_REQUEST:
                add_request(lines, view, width, end);
                break;
        case SHOW_MESSAGES:
                add_messages(lines, view, width, end);
                break;
        case SHOW_HELP:
                add_help(lines, width);
                break;
        case SHOW_TABLE:
                if (!view->data)
                        break;
                add_table(lines, view, width, MAX(end, 1) - 1);
                add_order(lines, view, width); /* known only now, but it stands above */
                g_ptr_array_insert(lines, (gint)order,
                                   g_ptr_array_steal_index(lines, lines->len - 1));
        }
}

GPtrArray *screen_view_draw(ScreenView *view, guint width, guint height)
{
        const char *const hints[] = {
                [SHOW_TABLE] =
                        width < NARROW
                                ? "q quit  ? help  Tab view  Enter open"
                                : "q quit  ? help  Tab view  s sort  / filter  Space freeze  "
                                  "Enter open",
                [SHOW_REQUEST] = "Esc back  Up Down scroll  q quit",
                [SHOW_MESSAGES] = "m back  Up Down scroll  q quit",
                [SHOW_HELP] = "? back  q quit"
        };
        GPtrArray *lines = g_ptr_array_new_with_free_func(screen_line_free);

        add_head(lines, view, width);
        add_shown(lines, view, width, MAX(height, 1) - 1);
        while (lines->len + 1 < height)
                add_line(lines, LOOK_PLAIN, width, "");
        g_ptr_array_set_size(lines, (gint)MAX(height, 1) - 1);
        add_line(lines, LOOK_HEADING, width,
                 view->typing ? "type a part of a name  Enter keep  Esc forget"
                              : hints[view->shown]);
        return lines;
}
