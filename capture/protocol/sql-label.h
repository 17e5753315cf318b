/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The name of the operation that an SQL statement is, for the labels of calls to
 * databases: its verb and the first table that it names, "SELECT items". Never a
 * value: what is in quotes that may hold one is passed over.
 */
#pragma once

#include <glib.h>

enum { SQL_LABEL_BYTES = 2048 }; /* more of a statement is not looked at */

/* n bytes of a statement, perhaps cut. */
void sql_label_append(GString *label, const guint8 *text, gsize n);

/* Whether n bytes, of which perhaps more come, are a statement as far as they
 * go: they begin with a verb, and hold no control characters. */
gboolean sql_is_plausible(const guint8 *text, gsize n, gboolean whole);
