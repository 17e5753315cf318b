/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The data of a page, JSON without a blank: its script alone reads it. Each appends to out.
 */
#ifndef RAVEL_PAGE_DATA_H
#define RAVEL_PAGE_DATA_H

#include <glib.h>

/* "key": and a comma before it where it is not the first. It needs no escapes. */
void page_key(GString *out, const char *key);

/* A comma between the elements of an array. */
void page_separator(GString *out);

/* Of four digits; a probability of six, rounded down. */
void page_double(GString *out, double number);
void page_probability(GString *out, double p);

/* A key and its value. Text is escaped; a time, ns, is a string, as a double would round it, and
 * null where it is NO_TIME. */
void page_text(GString *out, const char *key, const char *text);
void page_number(GString *out, const char *key, gint64 n);
void page_time(GString *out, const char *key, gint64 time);

#endif
