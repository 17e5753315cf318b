/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/file-kind.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "tracefmt/byte-source.h"

enum { HEAD = 80, APPLICATION_ID = 68 }; /* where SQLite has it */

/* pcap in both byte orders, with microseconds or nanoseconds, or pcapng. */
static gboolean is_capture(const guint8 *data, gsize n)
{
        static const guint8 magics[][4] = {
                { 0xa1, 0xb2, 0xc3, 0xd4 }, { 0xd4, 0xc3, 0xb2, 0xa1 }, { 0xa1, 0xb2, 0x3c, 0x4d },
                { 0x4d, 0x3c, 0xb2, 0xa1 }, { 0x0a, 0x0d, 0x0d, 0x0a },
        };

        for (guint i = 0; i < G_N_ELEMENTS(magics); i++)
                if (n >= sizeof magics[i] && !memcmp(data, magics[i], sizeof magics[i]))
                        return TRUE;
        return FALSE;
}

/* Our first line, or a stamp and an operation. */
static gboolean is_trace(const char *head)
{
        const char *p = head + strspn(head, "-0123456789.");

        if (p == head)
                return g_str_has_prefix(p, "# ravel trace ");
        p += strspn(p, " \t");
        return g_str_has_prefix(p, "CALL_") || g_str_has_prefix(p, "RET_") ||
               g_str_has_prefix(p, "MSG_");
}

FileKind file_kind_of(const void *data, gsize n)
{
        static const char sqlite[] = "SQLite format 3", ours[] = "rvel";
        const guint8 *bytes = data;
        char head[HEAD + 1] = "";

        if (is_capture(bytes, n))
                return FILE_CAPTURE;
        memcpy(head, data, MIN(n, HEAD));
        if (g_str_has_prefix(head, sqlite))
                return n >= HEAD && memcmp(bytes + APPLICATION_ID, ours, strlen(ours))
                               ? FILE_DATABASE
                               : FILE_STORE;
        return is_trace(head) ? FILE_TRACE : FILE_UNKNOWN;
}

FileKind file_kind_read(const char *path)
{
        g_autoptr(ByteSource) source = NULL;
        guint8 head[HEAD];
        gsize used = 0;
        gboolean is_standard = !strcmp(path, "-");
        struct stat st;
        gssize k = 1;
        off_t start;

        if ((is_standard ? fstat(STDIN_FILENO, &st) : stat(path, &st)) < 0 ||
            !S_ISREG(st.st_mode) || !(source = byte_source_new(path, NULL)))
                return FILE_UNKNOWN;
        start = lseek(STDIN_FILENO, 0, SEEK_CUR);
        while (used < HEAD && (k = byte_source_read(source, head + used, HEAD - used, NULL)) > 0)
                used += (gsize)k;
        if (is_standard)
                lseek(STDIN_FILENO, start, SEEK_SET);
        return file_kind_of(head, used);
}

gboolean file_kind_expect(FileKind found, FileKind wanted, const char *name, GError **error)
{
        static const char *const names[] = { [FILE_CAPTURE] = "a packet capture",
                                             [FILE_TRACE] = "a trace",
                                             [FILE_STORE] = "a store",
                                             [FILE_DATABASE] = "a database of another program" };
        const char *advice = NULL;
        g_autoptr(GString) text = NULL;

        if (found == FILE_UNKNOWN || found == wanted)
                return TRUE;
        switch (found) {
        case FILE_CAPTURE:
                advice = wanted == FILE_TRACE ? "make one with ravel capture -r %s -w FILE"
                                              : "make a trace of it with ravel capture -r %s -w "
                                                "FILE, and a store "
                                                "of that with ravel nesting -o";
                break;
        case FILE_TRACE:
                advice = wanted == FILE_STORE ? "make one with ravel nesting -o FILE.sqlite %s"
                                              : "look at it with ravel stats, or find its paths "
                                                "with ravel nesting";
                break;
        case FILE_STORE:
                advice = "ravel report, query, export, variance, diff, trend and score read it";
                break;
        default:
                advice = "no verb of ravel reads it";
        }
        text = g_string_new(advice);
        g_string_replace(text, "%s", strcmp(name, "standard input") ? name : "-", 1);
        return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: this is %s, expected %s: %s", name,
                          names[found], names[wanted], text->str);
}
