/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "base/printable.h"
#include "watch/screen-state.h"
#include "watch/screen-view.h"

enum {
        MOST_MESSAGES = 100,
        MOST_FILTER = 200 /* characters */
};

const ScreenHelp screen_help[] = { { "1 2 3 Tab", "operations, nodes, slowest" },
                                   { "Up Down k j", "the row before, after" },
                                   { "PgUp PgDn", "a page up, down" },
                                   { "Home End g G", "the first, last row" },
                                   { "Enter", "open: requests, its path" },
                                   { "Esc", "back; without the filter" },
                                   { "/", "filter by a part of a name" },
                                   { "s S", "sort by next, last column" },
                                   { "r", "reverse the order" },
                                   { "Space", "freeze, go on" },
                                   { "m", "messages" },
                                   { "?", "help" },
                                   { "q", "quit" },
                                   { NULL, NULL } };

/* --- rows ------------------------------------------------------------------------ */

static gboolean row_matches(const ScreenRow *row, const char *filter)
{
        return strcasestr(row->name, filter) || (row->note && strcasestr(row->note, filter)) ||
               (row->search && strcasestr(row->search, filter));
}

static double value_or_least(double value)
{
        return isnan(value) ? -1 : value;
}

/* The greatest first; ties by name, and then the earliest first. */
static int compare_screen_rows(gconstpointer va, gconstpointer vb, gpointer data)
{
        const ScreenRow *a = *(ScreenRow *const *)va, *b = *(ScreenRow *const *)vb;
        const ScreenView *view = data;
        guint by = view->sort[view->table];
        int order = 0;

        if (by < screen_tables[view->table].n)
                order = COMPARE(value_or_least(b->values[by]), value_or_least(a->values[by]));
        else
                order = strcmp(a->name, b->name);
        if (view->reverse[view->table])
                order = -order;
        return order ?: strcmp(a->name, b->name) ?: COMPARE(a->values[0], b->values[0]);
}

static void arrange_rows(ScreenView *view)
{
        const GPtrArray *all = view->data ? view->data->rows[view->table] : NULL;

        g_ptr_array_set_size(view->rows, 0);
        for (guint i = 0; all && i < all->len; i++)
                if (row_matches(g_ptr_array_index(all, i), view->filter->str))
                        g_ptr_array_add(view->rows, g_ptr_array_index(all, i));
        g_ptr_array_sort_with_data(view->rows, compare_screen_rows, view);
        if (view->selected[view->table] >= view->rows->len)
                view->selected[view->table] = MAX(view->rows->len, 1) - 1;
}

/* The row with the selection, which stays with it when another window comes. */
static ScreenRow *selected_row(const ScreenView *view)
{
        guint selected = view->selected[view->table];

        return selected < view->rows->len ? g_ptr_array_index(view->rows, selected) : NULL;
}

static gboolean is_same_row(const ScreenRow *a, const ScreenRow *b)
{
        return a == b || (!a->calls && !b->calls && !strcmp(a->name, b->name));
}

static void select_row(ScreenView *view, const ScreenRow *row)
{
        for (guint i = 0; row && i < view->rows->len; i++)
                if (is_same_row(g_ptr_array_index(view->rows, i), row)) {
                        view->selected[view->table] = i;
                        return;
                }
}

static void show_data(ScreenView *view, ScreenData *data)
{
        ScreenRow *row = selected_row(view);
        gboolean moved = view->selected[view->table] > 0;

        if (row)
                screen_row_ref(row);
        screen_data_free(view->data);
        view->data = data;
        arrange_rows(view);
        if (row && moved)
                select_row(view, row);
        g_clear_pointer(&row, screen_row_unref);
}

/* --- a view ---------------------------------------------------------------------- */

ScreenView *screen_view_new(gint64 span)
{
        ScreenView *view = g_new0(ScreenView, 1);

        view->span = span;
        view->rows = g_ptr_array_new();
        view->filter = g_string_new(NULL);
        for (guint i = 0; i < N_SCREEN_TABLES; i++)
                view->sort[i] = screen_tables[i].sort;
        g_queue_init(&view->messages);
        return view;
}

void screen_view_free(ScreenView *view)
{
        if (!view)
                return;
        screen_data_free(view->data);
        screen_data_free(view->newest);
        g_clear_pointer(&view->request, screen_row_unref);
        g_ptr_array_unref(view->rows);
        g_string_free(view->filter, TRUE);
        g_queue_clear_full(&view->messages, g_free);
        g_free(view);
}

void screen_view_take(ScreenView *view, ScreenData *data)
{
        if (!view->frozen) {
                show_data(view, data);
                return;
        }
        screen_data_free(view->newest);
        view->newest = data;
        view->unseen++;
}

void screen_view_say(ScreenView *view, const char *message)
{
        g_queue_push_head(&view->messages, printable_new(message, PRINTABLE_CELL));
        if (view->messages.length > MOST_MESSAGES)
                g_free(g_queue_pop_tail(&view->messages));
}

void screen_view_end(ScreenView *view)
{
        view->ended = TRUE;
}

/* --- keys ------------------------------------------------------------------------ */

static void set_filter(ScreenView *view, const char *filter)
{
        g_string_assign(view->filter, filter);
        arrange_rows(view);
}

static void type_key(ScreenView *view, gunichar key)
{
        char *last =
                g_utf8_find_prev_char(view->filter->str, view->filter->str + view->filter->len);

        if (key == SCREEN_ENTER || key == SCREEN_ESCAPE)
                view->typing = FALSE;
        if (key == SCREEN_ESCAPE)
                g_string_truncate(view->filter, 0);
        else if (key == SCREEN_BACKSPACE && last)
                g_string_truncate(view->filter, (gsize)(last - view->filter->str));
        else if (key < SCREEN_UP && printable_is_character(key) && view->filter->len < MOST_FILTER)
                g_string_append_unichar(view->filter, key);
        arrange_rows(view);
}

/* How far a key moves, in rows; 0: it does not. */
static gint64 step_of(const ScreenView *view, gunichar key)
{
        const gint64 far = G_MAXINT32;

        switch (key) {
        case SCREEN_UP:
        case 'k':
                return -1;
        case SCREEN_DOWN:
        case 'j':
                return 1;
        case SCREEN_PAGE_UP:
                return -(gint64)view->page;
        case SCREEN_PAGE_DOWN:
                return view->page;
        case SCREEN_HOME:
        case 'g':
                return -far;
        case SCREEN_END:
        case 'G':
                return far;
        default:
                return 0;
        }
}

static void screen_move(ScreenView *view, gint64 step)
{
        gboolean table = view->shown == SHOW_TABLE;
        guint *at = table ? &view->selected[view->table] : &view->scroll;
        guint n = table                         ? view->rows->len
                  : view->shown == SHOW_REQUEST ? view->request->calls->len
                                                : view->messages.length;
        guint last = table ? MAX(n, 1) - 1 : n - MIN(n, view->page);

        *at = (guint)CLAMP(*at + step, 0, (gint64)last);
}

static void show_table(ScreenView *view, ScreenTable table)
{
        view->shown = SHOW_TABLE;
        view->table = table;
        arrange_rows(view);
}

static void open_row(ScreenView *view)
{
        ScreenRow *row = selected_row(view);

        if (!row || view->shown != SHOW_TABLE)
                return;
        if (!row->calls) {
                g_autofree char *name = g_strdup(row->name);

                view->selected[SCREEN_REQUESTS] = 0;
                g_string_assign(view->filter, name);
                show_table(view, SCREEN_REQUESTS);
                return;
        }
        g_clear_pointer(&view->request, screen_row_unref);
        view->request = screen_row_ref(row);
        view->shown = SHOW_REQUEST;
        view->scroll = 0;
}

static void go_back(ScreenView *view)
{
        if (view->shown == SHOW_TABLE)
                set_filter(view, "");
        view->shown = SHOW_TABLE;
}

static void sort_by_next(ScreenView *view, guint step)
{
        guint n = screen_tables[view->table].n + 1;

        view->sort[view->table] = (view->sort[view->table] + step) % n;
        arrange_rows(view);
}

static void toggle_freeze(ScreenView *view)
{
        view->frozen = !view->frozen;
        view->unseen = 0;
        if (view->newest)
                show_data(view, g_steal_pointer(&view->newest));
}

static void toggle_shown(ScreenView *view, ScreenShown shown)
{
        view->shown = view->shown == shown ? SHOW_TABLE : shown;
        view->scroll = 0;
}

static void command_key(ScreenView *view, gunichar key)
{
        ScreenRow *row = selected_row(view);

        switch (key) {
        case '1':
        case '2':
        case '3':
                show_table(view, (ScreenTable)(key - '1'));
                break;
        case '\t':
                show_table(view, (view->table + 1) % N_SCREEN_TABLES);
                break;
        case SCREEN_ENTER:
                open_row(view);
                break;
        case SCREEN_ESCAPE:
                go_back(view);
                break;
        case '/':
                view->shown = SHOW_TABLE;
                view->typing = TRUE;
                break;
        case 's':
                sort_by_next(view, 1);
                break;
        case 'S':
                sort_by_next(view, screen_tables[view->table].n);
                break;
        case 'r':
                view->reverse[view->table] = !view->reverse[view->table];
                arrange_rows(view);
                select_row(view, view->selected[view->table] ? row : NULL);
                break;
        case ' ':
                toggle_freeze(view);
                break;
        case 'm':
                toggle_shown(view, SHOW_MESSAGES);
                break;
        case '?':
                toggle_shown(view, SHOW_HELP);
                break;
        default:
                break;
        }
}

gboolean screen_view_key(ScreenView *view, gunichar key)
{
        gint64 step = step_of(view, key);

        if (view->typing)
                type_key(view, key);
        else if (key == 'q')
                return FALSE;
        else if (step)
                screen_move(view, step);
        else
                command_key(view, key);
        return TRUE;
}
