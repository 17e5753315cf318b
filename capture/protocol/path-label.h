/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The path of an HTTP request as the name of an operation, for labels:
 * "/users/{id}/cart". Without the query, and without what names one thing rather
 * than a kind.
 */
#pragma once

#include <glib.h>

enum { MAX_PATH_LABEL = 200 }; /* bytes; the rest of a longer label is left out */

/* Whether a segment or the like is a number or looks like an identifier: it names one thing, not
 * a kind of operation. */
gboolean path_segment_is_id(const guint8 *segment, gsize n);

/* n bytes of a request's target, in any of its forms (RFC 9112, 3.2). */
void path_label_append(GString *label, const guint8 *target, gsize n);
