/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Appends short texts to a GString without a call, where this is done for every message: before
 * 2.76 GLib's own functions cost 90 instructions each.
 */
#pragma once

#include <string.h>

#include <glib.h>

static inline void text_append_length(GString *out, const char *text, gsize n)
{
        if (n >= out->allocated_len - out->len) {
                g_string_append_len(out, text, (gssize)n);
                return;
        }
        memcpy(out->str + out->len, text, n);
        out->len += n;
        out->str[out->len] = '\0';
}

/* The length of a constant is known when it is compiled. */
static inline void text_append(GString *out, const char *text)
{
        text_append_length(out, text, strlen(text));
}
