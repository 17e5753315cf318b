/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Writes what slow requests share (WhyShared), as a part of what write-why.c writes.
 */
#pragma once

#include "analysis/why/why.h"
#include "write/json.h"

/* Lines of text: "tenant=acme: 30 of the 30 slowest, 10 % of all." Values with the same numbers
 * share a line. shared: of WhyShared. */
void why_shared_append_text(GString *out, guint indent, const GArray *shared, guint columns);

/* The first one as cells of TSV, each with a tab behind it. */
#define WHY_SHARED_COLUMNS                                                                         \
        "shared_kind\tshared\tshared_slow\tshared_slowest\tshared_all\tshared_requests\t"          \
        "shared_chance"
void why_shared_append_cells(GString *out, const GArray *shared);

/* All, as the member "shared" of an object. */
void why_shared_put(Json *json, const GArray *shared);
