/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/evidence/lease-table.h"

#include "base/exact-log.h"
#include "base/fixed-log.h"
#include "inference/model/tuning.h"

#define MOST_COUNTED 1e12 /* no table counts more */

static double sum_of(const double *counts)
{
        double sum = 0;

        for (guint i = 0; i < N_STANDINGS; i++)
                sum += counts[i];
        return sum;
}

/* The ratio of frequencies for a standing. */
static double ratio_of(const double *seen, const double *dealt, guint standing)
{
        double n = sum_of(seen), n_dealt = sum_of(dealt);
        double chance = (dealt[standing] + 0.5) / (n_dealt + 0.5 * N_STANDINGS);

        return (seen[standing] + tuning.lease_backoff * chance) /
               ((n + tuning.lease_backoff) * chance);
}

/* The ratio of frequencies for all parents that do not hold the connection. */
static double ratio_of_others(const double *seen, const double *dealt)
{
        const double others[N_STANDINGS] = { seen[HOLDS], sum_of(seen) - seen[HOLDS] };
        const double dealt_others[N_STANDINGS] = { dealt[HOLDS], sum_of(dealt) - dealt[HOLDS] };

        return ratio_of(others, dealt_others, USED);
}

/* The gain of the counts by their frequencies over the frequencies at random, in nats. */
static double gain_of(const double *seen, const double *dealt)
{
        double gain = 0;

        for (guint i = 0; i < N_STANDINGS; i++)
                if (seen[i] > 0)
                        gain += seen[i] * exact_log(ratio_of(seen, dealt, i));
        return gain;
}

/* Supposes that a parent that may hold the connection does, if that is more than random. */
static void suppose(double *seen, const double *dealt, double gain, double by_chance)
{
        double n = sum_of(seen);

        if (gain <= tuning.evidence_gain + tuning.evidence_times * MAX(by_chance, 0) ||
            ratio_of(seen, dealt, HOLDS) <= 1)
                return;
        for (guint k = 0; k < N_STANDINGS; k++)
                seen[k] *= (1 - tuning.lease_supposed) * n / MAX(n - seen[HOLDS], 1);
        seen[HOLDS] = MAX(seen[HOLDS], tuning.lease_supposed * n);
}

/* Whether one parent is known to have made the call before and this one, if it may have. */
static gboolean is_known(const LeaseTable *t, guint i)
{
        return t->leased == LEASED_WHOLE
                       ? i % 2
                       : t->leased == LEASED_TRANSACTION && i == situation(TRANSACTION, TRUE);
}

static void hold(double *seen)
{
        double n = sum_of(seen);

        for (guint k = 0; k < N_STANDINGS; k++)
                seen[k] = k == HOLDS ? n : 0;
}

/* The mean number of calls in a row on a connection with one parent. */
static double mean_run(const LeaseTable *t)
{
        double all = 0, held = 0;

        for (guint i = 0; i < N_SITUATIONS; i++) {
                all += sum_of(t->seen[i]);
                held += i % 2 ? t->seen[i][HOLDS] : 0;
        }
        return all / MAX(all - held, 1);
}

/* Whether to suppose leases in a situation. Within a transaction they are. On an idle connection
 * they are if there are transactions, or if most connections are opened as needed: a parent then
 * opens its own. Other pools may deal connections last in, first out, which looks like leases at
 * first. There, leases are only learned. */
static gboolean is_supposed(const LeaseTable *t, guint i)
{
        const double *transaction = t->seen[situation(TRANSACTION, TRUE)];

        return i == situation(TRANSACTION, TRUE) ||
               (i == situation(IDLE, TRUE) &&
                (2 * t->n_opened > t->n_connections || sum_of(transaction) > 0));
}

/* Finds the ratios, and what else follows from the counts. */
static void find_ratios(LeaseTable *t)
{
        for (guint i = 0; i < N_SITUATIONS; i++) {
                gboolean counts = !t->only_known || is_known(t, i);

                if (i % 2)
                        t->ties[i / 2] = counts &&
                                         t->seen[i][HOLDS] > tuning.lease_tied * sum_of(t->seen[i]);
                for (guint k = 0; k < N_STANDINGS; k++) {
                        t->ratio[i][k] = counts ? ratio_of(t->seen[i], t->dealt[i], k) : 1;
                        t->log[i][k] = fixed_log(t->ratio[i][k]);
                }
                t->other[i] = counts && i % 2 ? ratio_of_others(t->seen[i], t->dealt[i]) : 1;
        }
        t->run = t->only_known ? 1 : mean_run(t);
}

void lease_table_learn(LeaseTable *t, LeaseCounts *more, gboolean supposes)
{
        double gain = 0, by_chance = 0;

        for (guint i = 0; i < N_SITUATIONS; i++) {
                double of_this = gain_of(t->seen[i], t->dealt[i]);
                double of_chance = gain_of((*more)[i], t->dealt[i]);

                gain += of_this;
                by_chance += of_chance;
                if (is_known(t, i))
                        hold(t->seen[i]);
                else if (supposes && is_supposed(t, i))
                        suppose(t->seen[i], t->dealt[i], of_this, of_chance);
        }
        find_ratios(t);
        t->in_use = t->leased != LEASED_NO ||
                    (!t->only_known &&
                     gain > tuning.evidence_gain + tuning.evidence_times * MAX(by_chance, 0));
}

void lease_table_reject(LeaseTable *t, gboolean rejected)
{
        if (t->only_known == rejected)
                return;
        t->only_known = rejected;
        find_ratios(t);
}

static void counts_bytes(LeaseCounts counts, Bytes *b)
{
        for (guint i = 0; i < N_SITUATIONS; i++)
                for (guint k = 0; k < N_STANDINGS; k++) {
                        bytes_double(b, &counts[i][k]);
                        if (!bytes_expect(b, counts[i][k] >= 0 && counts[i][k] <= MOST_COUNTED,
                                          "a count"))
                                counts[i][k] = 0;
                }
}

void lease_table_bytes(LeaseTable *t, Bytes *b)
{
        guint8 leased = t->leased;

        bytes_bool(b, &t->in_use);
        bytes_bool(b, &t->only_known);
        bytes_u8(b, &leased);
        t->leased = bytes_expect(b, leased < N_LEASED, "what connections are leased for")
                            ? (Leased)leased
                            : LEASED_NO;
        counts_bytes(t->seen, b);
        counts_bytes(t->dealt, b);
        if (bytes_reads(b))
                find_ratios(t);
}
