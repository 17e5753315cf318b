/* SPDX-License-Identifier: BSD-2-Clause */
#include "analysis/share-test.h"

#include <math.h>

#include "base/binomial.h"

enum {
        SMALLEST_BATCH = 8,   /* values on average */
        FEWEST_CORRELATED = 8 /* batches of which a correlation says something */
};

/* Degrees of freedom of a variance that is given and not measured. */
#define CERTAIN 1e6

/* How far the share in each batch is from the mean, in standard deviations of independent values.
 * Neighbouring batches are joined as long as they are small. Returns the number of batches. */
static guint batch_residuals(const ShareRun *run, double share, double residuals[SHARE_BATCHES])
{
        guint width = 1, n = 0;

        while (width < SHARE_BATCHES && run->n * width < SMALLEST_BATCH * SHARE_BATCHES)
                width *= 2;
        for (guint i = 0; i < SHARE_BATCHES; i += width) {
                double all = 0, counted = 0;

                for (guint k = i; k < i + width; k++) {
                        all += run->all[k];
                        counted += run->in[k];
                }
                if (all > 0)
                        residuals[n++] = (counted - all * share) / sqrt(all * share * (1 - share));
        }
        return n;
}

ShareScatter share_scatter(const ShareRun *run)
{
        double residuals[SHARE_BATCHES], squares = 0, products = 0;
        double share = run->n > 0 ? run->counted / run->n : 0;

        if (!run->all || !(share > 0) || !(share < 1))
                return (ShareScatter){ 0 };
        guint n = batch_residuals(run, share, residuals);
        for (guint i = 0; i < n; i++) {
                squares += residuals[i] * residuals[i];
                products += i > 0 ? residuals[i - 1] * residuals[i] : 0;
        }
        if (n < 2 || !(squares > 0))
                return (ShareScatter){ 0 };
        ShareScatter scatter = { { squares / (n - 1), n - 1 }, 0 };
        /* Of independent values the mean is -1 / n. */
        if (n >= FEWEST_CORRELATED)
                scatter.correlation = products / squares + 1.0 / n;
        return scatter;
}

ShareScatter share_prior(const GArray *scatters)
{
        g_autofree SeriesPrior *each = g_new(SeriesPrior, MAX(scatters->len, 1));
        double sum = 0;

        for (guint i = 0; i < scatters->len; i++) {
                const ShareScatter *s = &g_array_index(scatters, ShareScatter, i);

                each[i] = s->variance;
                sum += s->correlation;
        }
        return (ShareScatter){ series_prior(each, scatters->len),
                               CLAMP(sum / MAX(scatters->len, 1), 0, 0.9) };
}

/* What a measured scatter exceeds with a probability of 5 % if the prior is right (the
 * approximation of Wilson and Hilferty). */
static double scatter_bound(SeriesPrior prior, double freedom)
{
        double part = 2 / (9 * freedom), root = 1 - part + 1.645 * sqrt(part);

        return MAX(prior.scatter, 1) * root * root * root;
}

double share_dependence(const ShareRun *run, ShareScatter prior, double *freedom)
{
        SeriesPrior own = share_scatter(run).variance, all = prior.variance;
        /* Bartlett: the correlation of neighbouring batches raises the variance of their mean. */
        double factor = (1 + prior.correlation) / (1 - prior.correlation);

        *freedom = CERTAIN;
        if (!run->all)
                return run->least;
        *freedom = MAX(all.freedom + own.freedom, 1);
        /* A burst in this time only is not in what all have in common. */
        if (own.freedom > 0 && own.scatter > scatter_bound(all, own.freedom))
                return MAX(own.scatter * factor, run->least);
        double both = (all.freedom * all.scatter + own.freedom * own.scatter) / *freedom;
        return MAX(both * factor, run->least);
}

/* The variance of the difference of two shares as a multiple of that of independent values. By
 * Welch and Satterthwaite: each run counts by the variance of its own share. */
static double joint_dependence(const ShareRun runs[2], ShareScatter prior, double *freedom)
{
        double sum = 0, weights = 0, errors = 0;

        for (int side = 0; side < 2; side++) {
                const ShareRun *r = &runs[side];
                /* Half a value more, so that a run without any has a variance. */
                double share = (r->counted + 0.5) / (r->n + 1), weight = share * (1 - share) / r->n;
                double own_freedom, part = weight * share_dependence(r, prior, &own_freedom);

                weights += weight;
                sum += part;
                errors += part * part / own_freedom;
        }
        *freedom = sum * sum / errors;
        return sum / weights;
}

/* The logarithm of a probability: that chance gives the run more of the counted values than it has,
 * and half of the probability of its own number (Lancaster's mid-p). n, counted: of both runs. */
static double half_tail(double n, double counted, const ShareRun *run)
{
        double tail = hypergeometric_log_tail(n, counted, run->n, run->counted),
               more = run->counted + 1 > MIN(counted, run->n)
                              ? -HUGE_VAL
                              : hypergeometric_log_tail(n, counted, run->n, run->counted + 1);

        return tail + log((1 + exp(more - tail)) / 2);
}

double share_test(const ShareRun runs[2], ShareScatter prior)
{
        double n = runs[0].n + runs[1].n, counted = runs[0].counted + runs[1].counted, freedom;

        if (!(runs[0].n > 0) || !(runs[1].n > 0) || !(counted > 0) || !(counted < n))
                return 1;
        int more = runs[1].counted / runs[1].n > runs[0].counted / runs[0].n;
        double tail = half_tail(n, counted, &runs[more]);
        double deviate = normal_deviate(MIN(tail + log(2), 0) - log(2));
        double dependence = joint_dependence(runs, prior, &freedom);

        return deviate > 0 ? student_tails(deviate / sqrt(dependence), freedom) : 1;
}

void share_change(const ShareRun runs[2], ShareScatter prior, double *low, double *high)
{
        double share[2], from[2], to[2], freedom;

        for (int side = 0; side < 2; side++) {
                const ShareRun *r = &runs[side];
                double dependence = share_dependence(r, prior, &freedom);

                share[side] = r->n > 0 ? MIN(r->counted / r->n, 1) : 0;
                binomial_interval(r->n / dependence, share[side] * r->n / dependence, 0.025,
                                  &from[side], &to[side]);
        }
        /* Newcombe 1998: the errors of independent runs add up as squares. */
        double change = share[1] - share[0];
        *low = change - hypot(share[1] - from[1], to[0] - share[0]);
        *high = change + hypot(to[1] - share[1], share[0] - from[0]);
}
