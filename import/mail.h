/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Mails as a trace (paper, section 7.1.3): each Received header is a one-way message, from the host
 * that had the mail to the one that says it took it, stamped by the latter. The sender is who took
 * the mail before, by the header below; of the lowest header, whom it names.
 *
 * A mail is known by its Message-ID. Where several copies of one are found, headers that they share
 * are of the way that they went together, and are one message each. So the mail's way is a tree,
 * which path= tells. Nothing of a mail but its Received headers and a hash of its Message-ID is
 * kept: some 150 bytes a header.
 */
#ifndef RAVEL_MAIL_H
#define RAVEL_MAIL_H

#include "tracefmt/trace-writer.h"

/* The node of a host by its name, its address, or both; the other is NULL. */
typedef NodeId (*MailName)(gpointer user, const char *name, const char *address);

typedef struct {
        MailName name;
        gpointer user;
        const char *const *trust; /* hosts of these domains are believed, and the headers above
                                     theirs; NULL: all are */
        gboolean one_clock;       /* hosts' clocks are left as they are */
} MailOptions;

/* What was found; of headers, why they are no message. */
typedef struct {
        guint64 mails;
        guint64 headers;   /* Received: what follows adds up to them */
        guint64 messages;  /* of the trace */
        guint64 shared;    /* were of another copy, too */
        guint64 first;     /* headers below which nobody is named: the mail was made there */
        guint64 within;    /* went from a host to itself, as to a filter */
        guint64 nameless;  /* name no host that took the mail */
        guint64 undated;   /* have no date with a zone that can be read */
        guint64 untrusted; /* stand below the last of MailOptions.trust */
        guint64 too_long;  /* are longer than 16 KB, or a mail's more than a hundredth */
        /* These are besides. */
        guint64 otherwise; /* messages: the sender is called by another name than the header below
                            */
        guint64 early; /* messages: more than 1 s before they were sent, with clocks put right */
        guint64 no_headers; /* mails without Received */
        guint64 no_id;      /* mails without Message-ID, whose copies are not known */
} MailCounts;

typedef struct MailImport MailImport;

/* What options points to is borrowed. */
MailImport *mail_import_new(const MailOptions *options);
void mail_import_free(MailImport *import); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MailImport, mail_import_free)

/* Whether a file that begins so is an mbox or one mail; 1,000 bytes tell. */
gboolean mail_begins(const guint8 *data, gsize n);

/* A line of a file, without its end; and the end of a file. A file that begins with "From " is an
 * mbox, else one mail. Linear time. */
void mail_import_add(MailImport *import, const guint8 *line, gsize n);
void mail_import_end(MailImport *import);

/* After the last file: the clocks as they were put right, as facts, and all messages in the order
 * of time. nodes: whose MailName told of. */
gboolean mail_import_write(MailImport *import, const NodeTable *nodes, TraceWriter *writer,
                           GError **error);
const MailCounts *mail_import_counts(const MailImport *import);

/* After mail_import_write(): how far node's clock was found ahead, ns; it was put right. */
gint64 mail_import_ahead(const MailImport *import, NodeId node);

#endif
