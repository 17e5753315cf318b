/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Mails: as a file of them, and as one Received header.
 */
#include <string.h>

#include "import/mail.h"
#include "import/received.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

static NodeId name_host(gpointer nodes, const char *name, const char *address)
{
        g_assert(name || address);
        name = name ? name : address;
        g_assert(*name && strlen(name) <= RECEIVED_MAX_HOST);
        return node_table_add(nodes, name, strlen(name));
}

static void import(const guint8 *data, gsize n, gboolean one_clock)
{
        static const char *const trust[] = { "b", "example.com", NULL };
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceWriter) writer = trace_writer_new("/dev/null", nodes, TRUE, NULL);
        const MailOptions options = { name_host, nodes, one_clock ? trust : NULL, one_clock };
        g_autoptr(MailImport) mails = mail_import_new(&options);
        const MailCounts *c = mail_import_counts(mails);

        mail_begins(data, n);
        while (n > 0) {
                const guint8 *end = memchr(data, '\n', n);
                gsize length = end ? (gsize)(end - data) : n;
                g_autofree guint8 *line = g_memdup2(data, length); /* so that its end is noticed */

                if (length == 1 && *data == 0x1c) /* a file ends */
                        mail_import_end(mails);
                else
                        mail_import_add(mails, length ? line : data, length);
                data += length + (end != NULL);
                n -= length + (end != NULL);
        }
        mail_import_end(mails);
        g_assert(c->headers == c->messages + c->shared + c->first + c->within + c->nameless +
                                       c->undated + c->untrusted + c->too_long);
        g_assert(writer && mail_import_write(mails, nodes, writer, NULL));
        g_assert(trace_writer_close(g_steal_pointer(&writer), NULL));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autofree char *text = g_memdup2(data, n);
        Received r;

        import(data, n, FALSE);
        import(data, n, TRUE);
        received_parse(text ? text : "", n, &r);
        received_same_host(r.from, r.by);
        return 0;
}
