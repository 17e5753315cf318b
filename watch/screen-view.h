/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The screen of ravel watch without its terminal: keys change a view, and a view is drawn as lines
 * of text with looks. watch/screen.c has the terminal.
 */
#pragma once

#include "watch/screen-data.h"

/* Keys that are no characters; others are Unicode characters. */
typedef enum {
        SCREEN_UP = 0x110000,
        SCREEN_DOWN,
        SCREEN_PAGE_UP,
        SCREEN_PAGE_DOWN,
        SCREEN_HOME,
        SCREEN_END,
        SCREEN_ENTER,
        SCREEN_ESCAPE,
        SCREEN_BACKSPACE
} ScreenKey;

/* How a part of a line looks. Each can be told apart without colour. */
typedef enum {
        LOOK_PLAIN,
        LOOK_STRONG,   /* bold */
        LOOK_HEADING,  /* reverse */
        LOOK_SELECTED, /* reverse and bold */
        LOOK_BAD       /* red and bold */
} ScreenLook;

typedef struct {
        gsize end; /* bytes of the text up to which it goes */
        ScreenLook look;
} ScreenRun;

typedef struct {
        GString *text;
        GArray *runs; /* of ScreenRun, by rising end */
} ScreenLine;

typedef struct ScreenView ScreenView;

/* span: the length of a window, ns. */
ScreenView *screen_view_new(gint64 span);
void screen_view_free(ScreenView *view);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ScreenView, screen_view_free)

/* A closed window, which the view takes. A frozen view shows it later. */
void screen_view_take(ScreenView *view, ScreenData *data);

/* A message to the user, unescaped. The last 100 are kept. */
void screen_view_say(ScreenView *view, const char *message);

/* No more windows come. */
void screen_view_end(ScreenView *view);

/* FALSE: the key ends the program. */
gboolean screen_view_key(ScreenView *view, gunichar key);

/* Exactly height lines of ScreenLine, of at most width cells. Scrolls the view so that its
 * selected row is among them. The caller's to free. */
GPtrArray *screen_view_draw(ScreenView *view, guint width, guint height);
