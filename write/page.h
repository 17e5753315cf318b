/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A page that stands alone: one HTML file with its script (write/page.js), its style
 * (write/page.css) and its data. It runs nothing else and fetches nothing: its content-security
 * policy names script and style by their hashes. What comes from packets is in the data alone,
 * which the script sets as text.
 */
#pragma once

#include <glib.h>

/* Appends the page. title is plain text. data is JSON without '<' (json_string() sees to that). */
void page_append(GString *page, const char *title, const GString *data);
