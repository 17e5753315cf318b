/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/page-data.h"

#include <string.h>

/* Made of the files' bytes at build. */
static const char script[] =
#include "write/page-script.h"
        ;
static const char style[] =
#include "write/page-style.h"
        ;

static char *sha256(const char *text)
{
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
        guint8 digest[32];
        gsize n = sizeof digest;

        g_checksum_update(sum, (const guint8 *)text, (gssize)strlen(text));
        g_checksum_get_digest(sum, digest, &n);
        return g_base64_encode(digest, n);
}

void page_append(GString *page, const char *title, const GString *data)
{
        g_autofree char *script_hash = sha256(script), *style_hash = sha256(style);
        g_autofree char *head = g_markup_printf_escaped(
                "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "script-src 'sha256-%s'; style-src 'sha256-%s'; base-uri 'none'; form-action "
                "'none'\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n",
                script_hash, style_hash, title);

        g_assert(!memchr(data->str, '<', data->len));
        g_string_append(page, head);
        g_string_append_printf(page, "<style>%s</style>\n</head>\n<body>\n", style);
        g_string_append(page, "<noscript><p>This page draws what is in it with a script of its "
                              "own, which this browser does not run.</p></noscript>\n"
                              "<script type=\"application/json\" id=\"data\">");
        g_string_append_len(page, data->str, (gssize)data->len);
        g_string_append_printf(page, "</script>\n<script>%s</script>\n</body>\n</html>\n", script);
}
