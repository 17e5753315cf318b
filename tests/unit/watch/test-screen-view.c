/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/screen-state.h"
#include "watch/screen-view.h"

#include <string.h>

#include "write/text-table.h"

/* The rows of a table by name, with one value that is their place. */
static void add_named_rows(GPtrArray *rows, guint n)
{
        for (guint i = 0; i < n; i++) {
                ScreenRow *row = screen_row_new();

                row->name = g_strdup_printf("name%03u", i);
                row->values[0] = row->values[1] = row->values[2] = row->values[3] = i;
                g_ptr_array_add(rows, row);
        }
}

static ScreenData *make_data(guint64 number, guint n)
{
        ScreenData *data = g_new0(ScreenData, 1);

        data->number = number;
        data->from = G_GINT64_CONSTANT(1795262400000000000) + (gint64)number * 10000000000;
        data->to = data->from + 10000000000;
        data->requests = 730;
        data->in_time = TRUE;
        for (guint i = 0; i < N_SCREEN_TABLES; i++) {
                data->rows[i] = g_ptr_array_new_with_free_func((GDestroyNotify)screen_row_unref);
                if (i != SCREEN_REQUESTS)
                        add_named_rows(data->rows[i], n);
        }
        return data;
}

/* A path set with a node whose name has an escape sequence, and a request through it. */
typedef struct {
        NodeTable *nodes;
        PathSet *set;
        PathCall calls[2];
} Hostile;

static void hostile_begin(Hostile *h)
{
        static const char name[] = "\033[2Jdb\tx\n";

        *h = (Hostile){ .nodes = node_table_new() };
        node_table_add(h->nodes, "client", 6);
        node_table_add(h->nodes, "web", 3);
        node_table_add(h->nodes, name, strlen(name));
        h->set = path_set_new(h->nodes, SIBLINGS_MULTISET);
        h->calls[0] =
                (PathCall){ .parent = NO_PARENT, .callee = 1, .end = 9000000, .own = 2000000 };
        h->calls[1] = (PathCall){ .caller = 1,
                                  .callee = 2,
                                  .start = 1000000,
                                  .end = 8000000,
                                  .own = 7000000,
                                  .outcome = outcome_http(500) };
}

static void hostile_end(Hostile *h)
{
        path_set_free(h->set);
        node_table_free(h->nodes);
}

/* All lines in one text. They are as many and as wide as they may be, and have runs up to their
 * ends. */
static char *drawn(ScreenView *view, guint width, guint height)
{
        g_autoptr(GPtrArray) lines = screen_view_draw(view, width, height);
        GString *text = g_string_new(NULL);

        g_assert_cmpuint(lines->len, ==, height);
        for (guint i = 0; i < lines->len; i++) {
                const ScreenLine *line = g_ptr_array_index(lines, i);
                gsize end = 0;

                g_assert_cmpuint(text_width(line->text->str), <=, width);
                for (guint k = 0; k < line->runs->len; k++) {
                        g_assert_cmpuint(g_array_index(line->runs, ScreenRun, k).end, >=, end);
                        end = g_array_index(line->runs, ScreenRun, k).end;
                }
                g_assert_cmpuint(end, ==, line->text->len);
                for (const char *c = line->text->str; *c; c++)
                        g_assert_false(g_ascii_iscntrl(*c));
                g_string_append(text, line->text->str);
                g_string_append_c(text, '\n');
        }
        return g_string_free(text, FALSE);
}

static void assert_shows(ScreenView *view, const char *what)
{
        g_autofree char *text = drawn(view, 80, 24);

        if (!strstr(text, what))
                g_error("\"%s\" is not in\n%s", what, text);
}

static void assert_hides(ScreenView *view, const char *what)
{
        g_autofree char *text = drawn(view, 80, 24);

        if (strstr(text, what))
                g_error("\"%s\" is in\n%s", what, text);
}

static void type_keys(ScreenView *view, const char *keys)
{
        for (; *keys; keys++)
                g_assert_true(screen_view_key(view, (guchar)*keys));
}

static void test_sizes(void)
{
        static const char keys[] = "123?";

        for (guint rows = 0; rows <= 200; rows += 100)
                for (guint width = 1; width <= 200; width += width < 90 ? 1 : 50)
                        for (guint height = 1; height <= 60; height += 1 + height / 8)
                                for (guint k = 0; keys[k]; k++) {
                                        g_autoptr(ScreenView) view = screen_view_new(10000000000);

                                        screen_view_key(view, (guchar)keys[k]);
                                        g_free(drawn(view, width, height));
                                        screen_view_take(view, make_data(1, rows));
                                        g_free(drawn(view, width, height));
                                        screen_view_key(view, SCREEN_END);
                                        g_free(drawn(view, width, height));
                                }
}

static void test_sort_and_scroll(void)
{
        g_autoptr(ScreenView) view = screen_view_new(10000000000);

        screen_view_take(view, make_data(1, 200));
        assert_shows(view, "of 200 by time");
        assert_shows(view, "\nname199");
        assert_hides(view, "name000");
        screen_view_key(view, SCREEN_END);
        assert_shows(view, "-200 of 200");
        assert_shows(view, "\nname000");
        type_keys(view, "gr");
        assert_shows(view, "by time, reversed");
        assert_shows(view, "\nname000");
        type_keys(view, "rssss"); /* errors, names, and round */
        assert_shows(view, "by p50");
        type_keys(view, "SS");
        assert_shows(view, "by name");
        assert_shows(view, "\nname000");
        type_keys(view, "jjjk");
        g_assert_cmpuint(view->selected[SCREEN_OPERATIONS], ==, 2);
        screen_view_key(view, SCREEN_PAGE_DOWN);
        g_assert_cmpuint(view->selected[SCREEN_OPERATIONS], ==, 2 + view->page);
        screen_view_take(view, make_data(2, 100)); /* the selection stays with its row */
        g_assert_cmpstr(
                ((ScreenRow *)g_ptr_array_index(view->rows, view->selected[SCREEN_OPERATIONS]))
                        ->name,
                ==, "name014");
}

static void test_filter(void)
{
        g_autoptr(ScreenView) view = screen_view_new(10000000000);

        screen_view_take(view, make_data(1, 200));
        type_keys(view, "/NAME17q");
        assert_shows(view, "no match");
        screen_view_key(view, SCREEN_BACKSPACE);
        assert_shows(view, "of 10 by time  /NAME17_");
        screen_view_key(view, SCREEN_ENTER);
        type_keys(view, "2");
        assert_shows(view, "of 10 by own  /NAME17");
        screen_view_key(view, SCREEN_ESCAPE);
        assert_shows(view, "of 200");
        g_assert_false(screen_view_key(view, 'q'));
}

static void test_freeze(void)
{
        g_autoptr(ScreenView) view = screen_view_new(10000000000);

        assert_shows(view, "the first window of 10 s is open");
        screen_view_take(view, make_data(1, 1));
        type_keys(view, " ");
        screen_view_take(view, make_data(2, 2));
        screen_view_take(view, make_data(3, 3));
        assert_shows(view, "FROZEN (2 windows since)");
        assert_shows(view, "12:00:10");
        type_keys(view, " ");
        assert_shows(view, "12:00:30");
        assert_hides(view, "FROZEN");
        screen_view_end(view);
        assert_shows(view, "the input has ended");
}

static void test_messages(void)
{
        g_autoptr(ScreenView) view = screen_view_new(10000000000);

        screen_view_take(view, make_data(1, 1));
        assert_shows(view, "all is well");
        for (guint i = 0; i < 150; i++) {
                g_autofree char *message = g_strdup_printf("\033[31mmessage %u", i);

                screen_view_say(view, message);
        }
        assert_shows(view, "message 149 (m: all messages)");
        g_assert_cmpuint(view->messages.length, ==, 100);
        type_keys(view, "mG");
        assert_shows(view, "\\x1b[31mmessage 50\n");
        type_keys(view, "m");
        assert_shows(view, "OPERATION");
        view->data->dropped = 12;
        assert_shows(view, "12 packets dropped");
}

static void test_help(void)
{
        g_autoptr(ScreenView) view = screen_view_new(10000000000);
        g_autofree char *narrow = NULL;

        type_keys(view, "?");
        narrow = drawn(view, 40, 20);
        for (const ScreenHelp *h = screen_help; h->keys; h++) {
                assert_shows(view, h->what);
                g_assert_nonnull(strstr(narrow, h->what));
        }
}

static void test_request(void)
{
        g_autoptr(ScreenView) view = screen_view_new(10000000000);
        ScreenData *data = make_data(1, 1);
        Hostile h;

        hostile_begin(&h);
        g_ptr_array_add(data->rows[SCREEN_REQUESTS], screen_request_new(h.set, h.calls, 2));
        hostile_end(&h);
        screen_view_take(view, data);
        assert_shows(view, "9.00 ms      2      1  78 % \\x1b[2Jdb\\..."); /* below operations */
        type_keys(view, "3");
        screen_view_key(view, SCREEN_ENTER);
        assert_shows(view, "\n  \\x1b[2Jdb\\tx\\n 500 ");
        assert_shows(view, "1.00 ms  7.00 ms  7.00 ms     0 ns |  ================  |");
        screen_view_take(view, make_data(2, 1)); /* it stays open */
        assert_shows(view, "7.00 ms");
        screen_view_key(view, SCREEN_ESCAPE);
        assert_shows(view, "no requests in this window");
}

/* A window of a real set: the tables have its operations and nodes. */
static void test_window(void)
{
        g_autoptr(ScreenView) view = screen_view_new(10000000000);
        g_autoptr(GPtrArray) none = g_ptr_array_new();
        WatchWindow window = { .to = 10000000000, .in_time = TRUE };
        Hostile h;

        hostile_begin(&h);
        g_assert_true(path_set_add(h.set, h.calls, 2, NULL));
        window.set = h.set;
        watch_window_sum(&window);
        screen_view_take(view, screen_data_new(&window, none));
        watch_window_clear(&window);
        hostile_end(&h);
        assert_shows(view, "\nweb ");
        assert_shows(view, "100 %");
        type_keys(view, "2");
        assert_shows(view, "\\x1b[2Jdb\\tx\\n");
        screen_view_key(view, SCREEN_ENTER); /* the requests through it */
        assert_shows(view, "of 0 by latency");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/screen-view/sizes", test_sizes);
        g_test_add_func("/screen-view/sort-and-scroll", test_sort_and_scroll);
        g_test_add_func("/screen-view/filter", test_filter);
        g_test_add_func("/screen-view/freeze", test_freeze);
        g_test_add_func("/screen-view/messages", test_messages);
        g_test_add_func("/screen-view/help", test_help);
        g_test_add_func("/screen-view/request", test_request);
        g_test_add_func("/screen-view/window", test_window);
        return g_test_run();
}
