/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The prepared statements of a connection to a database. The client sends the text once, under a
 * name, and later only the name; so the operation is kept here. Of more than 2,048 entries the
 * oldest is forgotten: its executions are then without verb and table, as are those of a statement
 * that was prepared before the capture.
 */
#pragma once

#include <glib.h>

typedef struct Statements Statements;

/* Notes a statement's operation. name: its hash, or its number. *statements may be NULL, and is
 * made then. */
void statements_put(Statements **statements, guint64 name, const char *operation);

/* NULL: unknown. Borrowed. */
const char *statements_lookup(const Statements *statements, guint64 name);

void statements_free(Statements *statements);
