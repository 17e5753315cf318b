/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes as tests write them: "0a 0b" are two bytes, blanks are for the eye, and
 * 'text' between quotes stands for itself.
 */
#pragma once

#include <glib.h>

/* Newly allocated. */
static inline GByteArray *hex_bytes(const char *text)
{
        GByteArray *out = g_byte_array_new();
        while (*text) {
                guint8 byte;
                if (*text == ' ') {
                        text++;
                        continue;
                }
                if (*text == '\'') {
                        for (text++; *text != '\''; text++)
                                g_byte_array_append(out, (const guint8 *)text, 1);
                        text++;
                        continue;
                }
                g_assert(g_ascii_isxdigit(text[0]) && g_ascii_isxdigit(text[1]));
                byte = (guint8)(g_ascii_xdigit_value(text[0]) << 4 | g_ascii_xdigit_value(text[1]));
                g_byte_array_append(out, &byte, 1);
                text += 2;
        }
        return out;
}
