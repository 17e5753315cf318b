/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Mails as a trace (paper, section 7.1.3). Each Received header is a one-way message to the host
 * that wrote it, stamped by that host. The sender is the host that wrote the header below. For the
 * lowest header, it is the host that the header names.
 *
 * A mail is identified by its Message-ID. Copies of one mail share headers up to where their ways
 * part, and a shared header is one message. So the way of a mail is a tree, whose positions are in
 * path=. Of a mail only its Received headers and a hash of its Message-ID are kept: some 150 bytes
 * a header.
 */
#pragma once

#include "tracefmt/trace-writer.h"

/* The node of a host by its name, its address, or both; a missing one is NULL. */
typedef NodeId (*MailName)(gpointer user, const char *name, const char *address);

typedef struct {
        MailName name;
        gpointer user;
        const char *const *trust; /* domains whose hosts are believed, with the headers above
                                     theirs; NULL: all are */
        gboolean one_clock;       /* no clock is corrected */
} MailOptions;

/* Counts of mails and headers; for headers that are no message, the reason. */
typedef struct {
        guint64 mails;
        guint64 headers;   /* Received headers: the sum of the following */
        guint64 messages;  /* headers that are messages of the trace */
        guint64 shared;    /* headers of an earlier copy, too */
        guint64 first;     /* headers without a sender: the mail was written there */
        guint64 within;    /* headers from a host to itself, as to a filter */
        guint64 nameless;  /* headers that name no receiver */
        guint64 undated;   /* headers without a readable date and zone */
        guint64 untrusted; /* headers below the last host of MailOptions.trust */
        guint64 too_long;  /* headers over 16 KB, or beyond a mail's hundredth */
        /* The following count other things. */
        guint64 otherwise;  /* messages whose sender has another name than in the header below */
        guint64 early;      /* messages received more than 1 s before they were sent, with corrected
                               clocks */
        guint64 no_headers; /* mails without Received */
        guint64 no_id;      /* mails without Message-ID, whose copies cannot be recognised */
} MailCounts;

typedef struct MailImport MailImport;

/* options is copied; what it points to is borrowed. */
MailImport *mail_import_new(const MailOptions *options);
void mail_import_free(MailImport *import); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MailImport, mail_import_free)

/* Whether a file with these first bytes is an mbox or one mail; 1,000 bytes are enough. */
gboolean mail_begins(const guint8 *data, gsize n);

/* Add a line of a file, without its newline; end the file. A file that begins with "From " is an
 * mbox, else one mail. Linear time. */
void mail_import_add(MailImport *import, const guint8 *line, gsize n);
void mail_import_end(MailImport *import);

/* After the last file: writes the corrections of clocks as facts, and all messages in the order of
 * time. nodes has the nodes that MailName returned. */
gboolean mail_import_write(MailImport *import, const NodeTable *nodes, TraceWriter *writer,
                           GError **error);
const MailCounts *mail_import_counts(const MailImport *import);

/* After mail_import_write(): how far node's clock was ahead, in ns. The trace has it corrected. */
gint64 mail_import_ahead(const MailImport *import, NodeId node);
