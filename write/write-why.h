/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Writes why requests were slow (analysis/why/why.h): for people, as tab separated fields, as JSON.
 */
#pragma once

#include "analysis/why/why-failed.h"
#include "analysis/why/why-waiting.h"
#include "analysis/why/why.h"
#include "write/json.h"

/* In the order of the option's words. */
typedef enum { WHY_TEXT, WHY_TSV, WHY_JSON } WhyFormat;

/* Appends a request. first: nothing was written before it. columns: the width of lines of text; 0:
 * no limit. */
void why_write_request(GString *out, const WhyRequest *request, WhyFormat format, gboolean first,
                       guint columns);

/* Appends what they share, after the requests; nothing as TSV. shared: of WhyShared. */
void why_write_shared(GString *out, const GArray *shared, WhyFormat format, guint columns);

/* Appends what slow requests have, of WhyKind, the pauses, of WhyPause, and who held what they
 * waited for; TSV has the first two, as tables with an empty line between them. */
void why_write_kinds(GString *out, const GPtrArray *kinds, const WhyBurst *burst,
                     const GArray *pauses, const WhyWaiting *waiting, guint64 requests,
                     WhyFormat format, guint columns);

/* "web2 stood still 15 times with calls to serve, 44.0 ms in the mean, every 2.90 s; ..." Newly
 * allocated. */
char *why_pause_sentence(const WhyPause *pause);

void why_write_failures(GString *out, const WhyFailures *failures, WhyFormat format, guint columns);

/* Appends who held locks and the connections of pools, as a few sentences after an empty line, or
 * nothing; or the first ones as a list "held". */
void why_append_held(GString *out, const WhyWaiting *waiting, guint columns);
void why_put_held(Json *json, const WhyWaiting *waiting, guint most);

void why_write_waiting(GString *out, const WhyWaiting *waiting, WhyFormat format, guint columns);
