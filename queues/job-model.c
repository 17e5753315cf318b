/* SPDX-License-Identifier: BSD-2-Clause */
#include "queues/job-model.h"

#include <math.h>
#include <string.h>

enum {
        LEAST_DELAY = 10, /* delays within 2^10 ns share the bin next to zero */
        FEW_TIMES = 4,    /* counts that the prior of a distribution of times weighs */
        SMOOTH_BY = 20,   /* a kind that never followed counts as 1/20 */
};

/* Counts that the prior of what follows weighs: what follows at any place, or in any job. */
#define PRIOR 20.0

JobModel *job_model_new(guint n_kinds)
{
        JobModel *m = g_new0(JobModel, 1);

        m->n_kinds = n_kinds;
        if (n_kinds > 1)
                m->by_kind = g_new0(Follows, n_kinds);
        return m;
}

void job_model_free(JobModel *m)
{
        g_free(m->by_kind);
        g_free(m);
}

void job_model_clear_counts(JobModel *m)
{
        Follows *by_kind = m->by_kind;
        guint n_kinds = m->n_kinds;

        if (by_kind)
                memset(by_kind, 0, n_kinds * sizeof *by_kind);
        memset(m, 0, sizeof *m);
        m->n_kinds = n_kinds;
        m->by_kind = by_kind;
}

/* --- bins ---------------------------------------------------------------------------- */

/* The whole part of twice the logarithm to base 2. */
static guint half_octaves(guint64 time)
{
        guint octave = g_bit_storage(time) - 1;

        return 2 * octave + ((double)time >= M_SQRT2 * (double)((guint64)1 << octave));
}

guint time_bin(gint64 time)
{
        return MIN(half_octaves((guint64)MAX(time, 1)), TIMES - 1);
}

static double time_bin_width(guint bin)
{
        return exp2((bin + 1) / 2.0) - exp2(bin / 2.0);
}

guint delay_bin(gint64 delay)
{
        guint64 far = MAX((guint64)ABS(delay), (guint64)1 << LEAST_DELAY);
        guint size = MIN(half_octaves(far) - 2 * LEAST_DELAY, DELAYS - 1);

        return delay < 0 ? DELAYS - 1 - size : DELAYS + size;
}

guint delay_bin_size(guint bin)
{
        return bin < DELAYS ? DELAYS - 1 - bin : bin - DELAYS;
}

double delay_bin_edge(guint size)
{
        return exp2(LEAST_DELAY + size / 2.0);
}

double delay_bin_width(guint bin)
{
        guint size = delay_bin_size(bin);

        return delay_bin_edge(size + 1) - (size ? delay_bin_edge(size) : 0);
}

/* --- logarithms ---------------------------------------------------------------------- */

/* prior: the distribution that few counts are drawn to; NULL: all bins alike. */
static void times_find_logs(Times *times, const Times *prior, double (*width)(guint bin))
{
        double sum = 0, n_prior = 0;

        for (guint i = 0; i < TIMES; i++) {
                sum += times->count[i];
                n_prior += prior ? prior->count[i] : 0;
        }
        for (guint i = 0; i < TIMES; i++) {
                double share = ((prior ? prior->count[i] : 0) + 0.1) / (n_prior + 0.1 * TIMES);

                times->log[i] =
                        log((times->count[i] + FEW_TIMES * share) / (sum + FEW_TIMES) / width(i));
        }
}

static void idle_find_logs(JobModel *m)
{
        Times all;

        for (guint i = 0; i < TIMES; i++)
                all.count[i] = m->idle.count[i] + m->others.count[i];
        times_find_logs(&m->idle, &all, time_bin_width);
        times_find_logs(&m->others, &all, time_bin_width);
}

/* What follows a kind of call. The prior at each place is what follows at any place. */
static void follows_find_logs(Follows *f, guint last)
{
        double all[KINDS + 1], n_all = 0;

        for (guint next = 0; next <= KINDS; next++) {
                all[next] = 1.0 / SMOOTH_BY;
                for (guint place = 0; place < PLACES; place++)
                        all[next] += f->count[place][last][next];
                n_all += all[next];
        }
        for (guint place = 0; place < PLACES; place++) {
                double sum = PRIOR;

                for (guint next = 0; next <= KINDS; next++)
                        sum += f->count[place][last][next];
                for (guint next = 0; next <= KINDS; next++)
                        f->log[place][last][next] = log(
                                (f->count[place][last][next] + PRIOR * all[next] / n_all) / sum);
        }
}

/* What follows in jobs of one kind. The prior is what follows in any job. */
static void follows_find_kind_logs(Follows *f, const Follows *all, guint place, guint last)
{
        double sum = PRIOR;

        for (guint next = 0; next <= KINDS; next++)
                sum += f->count[place][last][next];
        for (guint next = 0; next <= KINDS; next++)
                f->log[place][last][next] = log(
                        (f->count[place][last][next] + PRIOR * exp(all->log[place][last][next])) /
                        sum);
}

/* Each number of jobs counts once more than it was seen. */
static void overtaken_find_logs(JobModel *m)
{
        double sum = OVERTAKEN;

        for (guint n = 0; n < OVERTAKEN; n++)
                sum += m->overtaken[n];
        for (guint n = 0; n < OVERTAKEN; n++)
                m->overtaken_log[n] = log((m->overtaken[n] + 1) / sum);
}

void job_model_find_logs(JobModel *m)
{
        for (guint last = 0; last <= KINDS; last++)
                follows_find_logs(&m->all, last);
        for (guint i = 0; m->by_kind && i < m->n_kinds; i++)
                for (guint place = 0; place < PLACES; place++)
                        for (guint last = 0; last <= KINDS; last++)
                                follows_find_kind_logs(&m->by_kind[i], &m->all, place, last);
        for (guint kind = 0; kind < KINDS; kind++) {
                times_find_logs(&m->first[kind], NULL, delay_bin_width);
                for (guint next = 0; next < KINDS; next++)
                        times_find_logs(&m->pause[kind][next], NULL, time_bin_width);
        }
        idle_find_logs(m);
        overtaken_find_logs(m);
}
