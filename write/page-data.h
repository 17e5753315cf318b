/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The data of a page, JSON without a blank: its script alone reads it. Arrays stand for records.
 */
#pragma once

#include "write/json.h"

/* Whole numbers, one after the other. */
#define page_numbers(json, ...)                                                                    \
        page_number_array((json), (const gint64[]){ __VA_ARGS__ },                                 \
                          sizeof((const gint64[]){ __VA_ARGS__ }) / sizeof(gint64))
/* An array of them. */
#define page_record(json, ...)                                                                     \
        (json_open((json), '['), page_numbers(json, __VA_ARGS__), json_close((json), ']'))
void page_number_array(Json *json, const gint64 *numbers, gsize n);

/* Of four digits, or of six; a probability of six, rounded down. */
void page_double(Json *json, double number);
void page_exact(Json *json, double number);
void page_probability(Json *json, double p);

/* Text that may be cut or not be UTF-8. */
void page_string(Json *json, const char *text);

/* A key and its value. A time, ns, is a string, as a double would round it, and null where it is
 * NO_TIME. */
void page_text(Json *json, const char *key, const char *text);
void page_time(Json *json, const char *key, gint64 time);

/* A page that stands alone: one HTML file with its script (write/page.js), its style
 * (write/page.css) and its data. It runs nothing else and fetches nothing: its content-security
 * policy names script and style by their hashes. What comes from packets is in the data alone,
 * which the script sets as text. */

/* Appends the page. title is plain text. data is JSON without '<' (json_string() sees to that). */
void page_append(GString *page, const char *title, const GString *data);
