/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a message out of a queue asks for, as frameworks of jobs say it: the name of a task, a class
 * or a type. It is for a job what method and path are for a request.
 */
#pragma once

#include <glib.h>

enum { MAX_JOB_NAME = 128 }; /* bytes; what is longer is none */

/* Appends a name, after a blank where there is something before it. FALSE, and nothing appended:
 * it is none, as it is empty or has blanks or bytes that are not printable ASCII. */
gboolean job_name_append(GString *label, const char *name, gsize n);

/* Whether a header of a message names the job: "task" (Celery), "__TypeId__" (Spring). */
gboolean job_name_is_header(const char *header, gsize n);

/* Appends the name in a job that is an object of JSON, of which n bytes are at hand: a field "class"
 * (Sidekiq, Resque), "wrapped" (of Active Job), "displayName" (Laravel), "actor_name" (Dramatiq),
 * "task", or "headers" with a "task" (Celery). FALSE where there is none. tag: NULL, or where to put
 * the tag by which it will be settled, a "delivery_tag" in its "properties" (Celery); empty where
 * there is none. */
gboolean job_name_append_json(GString *label, const guint8 *text, gsize n, GString *tag);
