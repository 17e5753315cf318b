/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Steps over a text of JSON that may be cut at any byte, and may not be JSON at all.
 */
#pragma once

#include <string.h>

#include "capture/packet/packet.h"

/* The next byte that is no blank; 0: there is none. */
static inline guint8 json_peek(Cursor *c)
{
        while (c->at < c->end && strchr(" \t\r\n", *c->at ? *c->at : 'x'))
                c->at++;
        return c->at < c->end ? *c->at : 0;
}

/* A string, without its quotes. FALSE: it is not whole, and string is its beginning. */
static inline gboolean json_string_read(Cursor *c, Cursor *string)
{
        *string = cursor(c->at, 0);
        if (json_peek(c) != '"')
                return FALSE;
        string->at = ++c->at;
        while (c->at < c->end && *c->at != '"')
                c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
        string->end = c->at;
        return cursor_skip(c, 1);
}

/* Passes over a value, up to the comma or bracket after it. */
static inline gboolean json_skip_value(Cursor *c)
{
        Cursor string;

        for (guint depth = 0; json_peek(c);) {
                if (*c->at == '"') {
                        if (!json_string_read(c, &string))
                                return FALSE;
                        continue;
                }
                if (depth == 0 && (*c->at == ',' || *c->at == '}' || *c->at == ']'))
                        return TRUE;
                if (*c->at == '{' || *c->at == '[')
                        depth++;
                else if (*c->at == '}' || *c->at == ']')
                        depth--;
                c->at++;
        }
        return FALSE;
}
