/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The job model: how likely the calls of one job are, where a worker has several processes
 * (work-in-processes.h). A job is what one message makes the worker do.
 *
 *     P(job) =   P(first kind | place 0)          * p(delay of the first call)
 *              * P(number of jobs that overtook it)
 *              * prod P(next kind | place, kind)  * p(pause between the two calls)
 *              * P(end | place, last kind)
 *
 * A place is how many calls of the job come before, up to PLACES - 1. Kinds of calls are numbers
 * (number_kinds()). All parameters are counts first, which job_model_find_logs() smooths and turns
 * into logarithms.
 */
#pragma once

#include <glib.h>

enum {
        KINDS = 32,         /* kinds of calls; all later ones count as the last */
        JOB_KINDS = 16,     /* kinds of jobs, likewise */
        PLACES = 8,         /* places in a job; all later ones count as the last */
        OVERTAKEN = 8,      /* numbers of jobs that overtook one; greater ones count as the last */
        NOT_YET = KINDS,    /* the kind before the first call of a job */
        END = KINDS,        /* the kind after its last call */
        TIMES = 72,         /* bins of times, half an octave each */
        DELAYS = TIMES / 2, /* bins of delays below 0, and of delays above */
};

/* A distribution of times: pauses from 1 ns on, or delays of either sign. */
typedef struct {
        double count[TIMES];
        double log[TIMES]; /* the log density, per ns */
} Times;

/* How likely each kind of call follows, or the end, by place and by the kind of the call before. */
typedef struct {
        double count[PLACES][KINDS + 1][KINDS + 1];
        double log[PLACES][KINDS + 1][KINDS + 1];
} Follows;

typedef struct {
        Follows all;
        Times first[KINDS];        /* delay from the job's beginning to its first call, by kind */
        Times pause[KINDS][KINDS]; /* pause between two calls, by their kinds */
        Times idle;                /* how long the process that takes a job had been idle, */
        Times others;              /* and how long the other processes had been */
        guint n_kinds;             /* kinds of jobs */
        Follows *by_kind;          /* by kind of job; NULL where there is but one */
        double overtaken[OVERTAKEN], overtaken_log[OVERTAKEN]; /* by number of jobs */
} JobModel;

JobModel *job_model_new(guint n_kinds);
void job_model_free(JobModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobModel, job_model_free)

void job_model_clear_counts(JobModel *model);

void job_model_find_logs(JobModel *model);

guint time_bin(gint64 time); /* ns, from 1 on */
guint delay_bin(gint64 delay);

/* How far a bin of delays is from zero: 0 is next to it. */
guint delay_bin_size(guint bin);
double delay_bin_edge(guint size); /* its inner edge, ns */
double delay_bin_width(guint bin); /* ns */

/* The log density of a pause or an idle time, ns. */
static inline double times_log(const Times *times, gint64 time)
{
        return times->log[time_bin(time)];
}
