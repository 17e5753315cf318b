/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Writes why requests failed (analysis/why/why-failed.h): for people, as tab separated fields, as
 * JSON.
 */
#pragma once

#include "analysis/why/why-failed.h"
#include "write/write-why.h"

void why_write_failures(GString *out, const WhyFailures *failures, WhyFormat format, guint columns);
