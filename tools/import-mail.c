/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/import-mail.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/byte-source.h"

enum { READ_SIZE = 1 << 16, HEAD = 1000, MAX_DEPTH = 32, SHOWN = 8 };

/* --- one file ---------------------------------------------------------------------- */

/* Reads the first n bytes, or fewer; -1 with error set. */
static gssize read_head(ByteSource *source, guint8 *head, gsize n, GError **error)
{
        gsize used = 0;
        gssize k;

        while (used < n && (k = byte_source_read(source, head + used, n - used, error)) != 0) {
                if (k < 0)
                        return -1;
                used += (gsize)k;
        }
        return (gssize)used;
}

gboolean import_mail_is(const char *path)
{
        guint8 head[HEAD];
        struct stat st;
        gssize n;

        if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || S_ISDIR(st.st_mode))
                return strcmp(path, "-") != 0 && g_file_test(path, G_FILE_TEST_IS_DIR);
        if (!S_ISREG(st.st_mode))
                return FALSE;
        g_autoptr(ByteSource) source = byte_source_new(path, NULL);
        n = source ? read_head(source, head, sizeof head, NULL) : -1;
        return n > 0 && mail_begins(head, (gsize)n);
}

/* A line may come in parts; bodies have lines of any length, of which only the beginning counts. */
typedef struct {
        MailImport *import;
        GByteArray *line;
} Lines;

static void take_bytes(Lines *l, const guint8 *data, gsize n)
{
        enum { LONGEST = 1 << 16 };

        while (n > 0) {
                const guint8 *end = memchr(data, '\n', n);
                gsize k = end ? (gsize)(end - data) : n;

                g_byte_array_append(l->line, data, (guint)MIN(k, LONGEST - l->line->len));
                if (end) {
                        mail_import_add(l->import, l->line->data, l->line->len);
                        g_byte_array_set_size(l->line, 0);
                }
                k += end != NULL;
                data += k;
                n -= k;
        }
}

static gboolean read_mails(MailImport *import, ByteSource *source, const guint8 *head, gsize n,
                           GError **error)
{
        g_autoptr(GByteArray) line = g_byte_array_new();
        g_autofree guint8 *buffer = g_malloc(READ_SIZE);
        Lines lines = { import, line };
        gssize k;

        take_bytes(&lines, head, n);
        while ((k = byte_source_read(source, buffer, READ_SIZE, error)) > 0)
                take_bytes(&lines, buffer, (gsize)k);
        if (line->len > 0)
                mail_import_add(import, line->data, line->len);
        mail_import_end(import);
        return k == 0;
}

/* is_named: by the user, so it has to be a mail. */
static gboolean read_file(MailImport *import, const char *path, gboolean is_named, guint64 *others,
                          GError **error)
{
        g_autoptr(ByteSource) source = NULL;
        guint8 head[HEAD];
        gssize n;

        if (!run_files_read(path, error) || !(source = byte_source_new(path, error)) ||
            (n = read_head(source, head, sizeof head, error)) < 0)
                return FALSE;
        if (mail_begins(head, (gsize)n))
                return read_mails(import, source, head, (gsize)n, error);
        if (!is_named) {
                (*others)++;
                return TRUE;
        }
        return ravel_fail(
                error, RAVEL_ERROR_INPUT,
                "%s: expected an mbox or a mail: a line \"From sender date\", or a header", path);
}

/* --- folders ------------------------------------------------------------------------ */

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names, so that the same folder always makes the same trace. */
static GPtrArray *list_folder(const char *path, GError **error)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GError) why = NULL;
        GDir *folder = g_dir_open(path, 0, &why);
        const char *name;

        if (!folder) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: %s", path, why->message);
                return NULL;
        }
        while ((name = g_dir_read_name(folder)))
                g_ptr_array_add(names, g_strdup(name));
        g_dir_close(folder);
        g_ptr_array_sort(names, compare_names);
        return g_steal_pointer(&names);
}

/* In a maildir's tmp are mails that are not there yet; what begins with a dot is a subfolder, or no
 * mail. */
static gboolean is_wanted(const char *folder, const char *name)
{
        g_autofree char *cur = g_build_filename(folder, "cur", NULL);

        if (strcmp(name, "tmp") == 0)
                return !g_file_test(cur, G_FILE_TEST_IS_DIR);
        return TRUE;
}

/* Links to folders are not followed: they may lead round. */
static gboolean read_folder(MailImport *import, const char *path, guint depth, guint64 *others,
                            GError **error)
{
        g_autoptr(GPtrArray) names = list_folder(path, error);

        if (!names)
                return FALSE;
        for (guint i = 0; i < names->len; i++) {
                g_autofree char *child = g_build_filename(path, names->pdata[i], NULL);
                struct stat st;
                gboolean ok = TRUE;

                if (!is_wanted(path, names->pdata[i]) || lstat(child, &st) < 0)
                        continue;
                if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
                        ok = read_folder(import, child, depth + 1, others, error);
                else if (S_ISREG(st.st_mode) ||
                         (S_ISLNK(st.st_mode) && g_file_test(child, G_FILE_TEST_IS_REGULAR)))
                        ok = read_file(import, child, FALSE, others, error);
                else
                        (*others)++;
                if (!ok)
                        return FALSE;
        }
        return TRUE;
}

gboolean import_mail_read(MailImport *import, const char *path, guint64 *others, GError **error)
{
        return g_file_test(path, G_FILE_TEST_IS_DIR) ? read_folder(import, path, 0, others, error)
                                                     : read_file(import, path, TRUE, others, error);
}

/* --- what is said ------------------------------------------------------------------- */

static void say(const char *what, guint64 n)
{
        if (n)
                tool_warn("%s: %" G_GUINT64_FORMAT, what, n);
}

static void say_clocks(const MailImport *import, const NodeTable *nodes)
{
        g_autoptr(GString) text = g_string_new(NULL);
        guint n = 0;

        for (NodeId node = 0; node < node_table_size(nodes); node++) {
                gint64 seconds = mail_import_ahead(import, node) / 1000000000;

                if (seconds && n++ < SHOWN)
                        g_string_append_printf(text, "%s%s by %+" G_GINT64_FORMAT " s",
                                               text->len ? ", " : "",
                                               node_table_written(nodes, node), -seconds);
        }
        if (n > SHOWN)
                g_string_append_printf(text, " and %u more", n - SHOWN);
        if (n)
                tool_warn("clocks put right: %s (--one-clock leaves them)", text->str);
}

void import_mail_report(const MailImport *import, const NodeTable *nodes, guint64 others)
{
        const MailCounts *c = mail_import_counts(import);

        tool_warn("%" G_GUINT64_FORMAT " mails, %" G_GUINT64_FORMAT
                  " Received headers: %" G_GUINT64_FORMAT " messages",
                  c->mails, c->headers, c->messages);
        say("files left out, not mails", others);
        say("mails without a Received header", c->no_headers);
        say("mails without a Message-ID, perhaps copies of others", c->no_id);
        say("headers of another copy of a mail that went the same way", c->shared);
        say("headers left out, written where a mail was made", c->first);
        say("headers left out, since the mail stayed on its host", c->within);
        say("headers left out, without a host that took the mail", c->nameless);
        say("headers left out, without a date with a time zone", c->undated);
        say("headers left out, below those of --trust", c->untrusted);
        say("headers left out, longer than 16 KB or beyond the hundredth of a mail", c->too_long);
        say("messages whose sender calls itself by another name", c->otherwise);
        say_clocks(import, nodes);
        say("messages that arrive more than a second before they are sent, because of clocks that "
            "were set or forged headers",
            c->early);
}
