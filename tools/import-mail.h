/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel import of mails: which files are some, and what is said of them.
 */
#pragma once

#include "import/mail.h"

/* Whether path is a folder, or a file that begins as an mbox or a mail does. "-": FALSE. */
gboolean import_mail_is(const char *path);

/* Reads a file, or all mails in a folder and below: of a maildir, cur and new and its subfolders.
 * What lies in a folder and is no mail is left out and counted. FALSE: error set. */
gboolean import_mail_read(MailImport *import, const char *path, guint64 *others, GError **error);

/* Says on standard error what was found. others: files that were left out. */
void import_mail_report(const MailImport *import, const NodeTable *nodes, guint64 others);
