/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/path-label.h"

#include <string.h>

#include "base/append.h"

gboolean path_segment_is_id(const guint8 *p, gsize n)
{
        gsize digits = 0, hex = 0;
        for (gsize i = 0; i < n; i++) {
                digits += g_ascii_isdigit(p[i]) != 0;
                hex += g_ascii_isxdigit(p[i]) || p[i] == '-';
        }
        return n > 0 && (digits == n || (n >= 8 && hex == n && digits > 0));
}

void path_label_append(GString *label, const guint8 *target, gsize n)
{
        const guint8 *at = target, *end = target + n;
        const guint8 *blank = n > 0 ? memchr(at, ' ', n) : NULL; /* after it other words go on */
        if (blank)
                end = blank;
        const guint8 *query = at < end ? memchr(at, '?', (gsize)(end - at)) : NULL;
        if (query)
                end = query;
        if (at < end && *at != '/' && *at != '*') { /* absolute form: the path only */
                const guint8 *host = memmem(at, (gsize)(end - at), "://", 3);
                if (!host)
                        return; /* CONNECT: the target is a name, not an operation */
                at = memchr(host + 3, '/', (gsize)(end - host - 3));
                if (!at)
                        at = end;
        }
        while (at < end && label->len < MAX_PATH_LABEL) {
                const guint8 *slash = memchr(at + 1, '/', (gsize)(end - at - 1));
                const guint8 *stop = slash ? slash : end;
                if (path_segment_is_id(at + 1, (gsize)(stop - at - 1)))
                        text_append(label, "/{id}");
                else
                        text_append_length(label, (const char *)at, (gsize)(stop - at));
                at = stop;
        }
        if (label->len > MAX_PATH_LABEL)
                g_string_truncate(label, MAX_PATH_LABEL);
}
