/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a view of the screen consists of: for its keys (screen-view.c) and its drawing
 * (screen-draw.c).
 */
#pragma once

#include "watch/screen-data.h"

typedef enum { SHOW_TABLE, SHOW_REQUEST, SHOW_MESSAGES, SHOW_HELP } ScreenShown;

struct ScreenView {
        gint64 span;        /* ns */
        ScreenData *data;   /* shown; NULL: no window was closed yet */
        ScreenData *newest; /* came while the view is frozen; NULL: none did */
        guint64 unseen;     /* windows that came since it is frozen */
        ScreenShown shown;
        ScreenTable table;
        guint sort[N_SCREEN_TABLES];       /* a column; the number of columns: the names */
        gboolean reverse[N_SCREEN_TABLES]; /* the least first */
        guint selected[N_SCREEN_TABLES];   /* an index of rows */
        guint top[N_SCREEN_TABLES];        /* the first row on the screen */
        GPtrArray *rows;                   /* of ScreenRow, borrowed: as filtered and sorted */
        GString *filter;                   /* empty: none */
        ScreenRow *request;                /* opened */
        guint scroll;                      /* the first line of a request or of messages */
        guint page;                        /* rows that the screen has room for */
        GQueue messages;                   /* texts, escaped, the latest first */
        gboolean typing, frozen, ended;
};

/* A key and what it does, for the help. */
typedef struct {
        const char *keys, *what;
} ScreenHelp;

extern const ScreenHelp screen_help[]; /* ends with NULL */
