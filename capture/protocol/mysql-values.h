/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The parameters of an execution in MySQL's binary protocol. A client sends their types with the
 * first execution of a statement, and again when they change. The types of each statement are
 * kept.
 */
#pragma once

#include "capture/protocol/statements.h"

/* Appends the parameters in what follows the command's byte: numbers, the text of strings. FALSE
 * and nothing appended: these bytes are not all, or the types are not known. */
gboolean mysql_values_append(GString *text, Statements **statements, const guint8 *bytes, gsize n);
