/* SPDX-License-Identifier: BSD-2-Clause
 *
 * For a pair of hosts (i, k), t is the transit of a fast mail, in seconds, and w the weight of the
 * pair. The clock offsets x minimise the sum of absolute values
 *
 *     sum over pairs w * c(r) * |r| + STAYS * sum over hosts |x_i|,   r = t - x_k + x_i
 *
 * with c = NEGATIVE if r < 0 and 1 else. Absolute values let most hosts keep x = 0, and let a few
 * slow pairs not count. They are minimised by iteratively reweighted least squares.
 */
#include "import/mail-clocks.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/each.h"

/* Chosen on five synthetic systems of relays (tests/experiments/mail.py, seeds 101 to 105, clocks
 * off by 3 to 300 s). With STAYS 0.5 or 2 some clocks differ by a second. With STAYS 0 and NEGATIVE
 * 1 clocks that agree may all be moved together, which changes no path. */
enum {
        ROUNDS = 200,
        QUICKEST = 50, /* a pair's transit is that of mail n / QUICKEST, fastest first: single
                          stamps may be wrong */
        ENOUGH = 10,   /* mails that give a pair its full weight */
};
static const double NEGATIVE = 4; /* weight of a negative transit */
static const double STAYS = 1;    /* weight of a moved clock, in pairs of hosts */
static const gint64 SECOND = 1000000000;

typedef struct {
        NodeId from, to;
        double seconds; /* the transit of a fast mail */
        double weight;  /* 0 to 1 */
} Pair;

typedef struct {
        GArray *pairs; /* of Pair */
        guint n_nodes;
        guint *first, *incident; /* pairs of node i: incident[first[i] .. first[i + 1] - 1] */
        double *ahead;           /* by node: how far its clock is ahead, s */
} Fit;

COMPARISON(compare_transits, MailTransit,
           COMPARE(a->from, b->from) ?:
           COMPARE(a->to, b->to) ?:
           COMPARE(a->transit, b->transit))

static GArray *find_host_pairs(MailTransit *transits, gsize n)
{
        GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));

        if (n > 0)
                qsort(transits, n, sizeof *transits, compare_transits);
        for (gsize i = 0, end; i < n; i = end) {
                for (end = i; end < n && transits[end].from == transits[i].from &&
                              transits[end].to == transits[i].to;)
                        end++;
                gsize many = end - i;
                Pair pair = { transits[i].from, transits[i].to,
                              (double)transits[i + many / QUICKEST].transit / (double)SECOND,
                              (double)MIN(many, ENOUGH) / ENOUGH };

                g_array_append_val(pairs, pair);
        }
        return pairs;
}

static gboolean is_fit_needed(const GArray *pairs)
{
        for (guint i = 0; i < pairs->len; i++)
                if (g_array_index(pairs, Pair, i).seconds <= -2)
                        return TRUE;
        return FALSE;
}

static void list_incident(Fit *fit)
{
        g_autofree guint *next = NULL;

        fit->first = g_new0(guint, fit->n_nodes + 1);
        fit->incident = g_new(guint, 2 * (gsize)fit->pairs->len);
        EACH (const Pair, p, fit->pairs) {
                fit->first[p->from + 1]++;
                fit->first[p->to + 1]++;
        }
        for (guint i = 0; i < fit->n_nodes; i++)
                fit->first[i + 1] += fit->first[i];
        next = g_memdup2(fit->first, fit->n_nodes * sizeof *next);
        for (guint i = 0; i < fit->pairs->len; i++) {
                const Pair *p = &g_array_index(fit->pairs, Pair, i);

                fit->incident[next[p->from]++] = i;
                fit->incident[next[p->to]++] = i;
        }
}

static double absolute_weight(double weight, double x)
{
        x = x < 0 ? -x : x;
        return weight / (x > 1 ? x : 1);
}

/* One step for one node: its offset becomes the mean of the offsets that its pairs and STAYS ask
 * for. Each is weighed by 1 / |r|, so that squares become absolute values. */
static void fit_node(Fit *fit, NodeId node)
{
        double weights = absolute_weight(STAYS, fit->ahead[node]), sum = 0;

        for (guint i = fit->first[node]; i < fit->first[node + 1]; i++) {
                const Pair *p = &g_array_index(fit->pairs, Pair, fit->incident[i]);
                double rest = p->seconds - fit->ahead[p->to] + fit->ahead[p->from];
                double weight = absolute_weight(rest < 0 ? NEGATIVE * p->weight : p->weight, rest);

                weights += weight;
                sum += weight * (fit->ahead[node] + (p->to == node ? rest : -rest));
        }
        fit->ahead[node] = sum / weights;
}

static gint64 whole_seconds(double x)
{
        return (gint64)(x < 0 ? x - 0.5 : x + 0.5) * SECOND;
}

gint64 *mail_clocks_find(MailTransit *transits, gsize n, guint n_nodes)
{
        g_autoptr(GArray) pairs = find_host_pairs(transits, n);
        Fit fit = { .pairs = pairs, .n_nodes = n_nodes };
        gint64 *ahead;

        if (!is_fit_needed(pairs))
                return NULL;
        fit.ahead = g_new0(double, n_nodes);
        list_incident(&fit);
        for (guint round = 0; round < ROUNDS; round++)
                for (NodeId node = 0; node < n_nodes; node++)
                        fit_node(&fit, node);
        ahead = g_new(gint64, n_nodes);
        for (NodeId node = 0; node < n_nodes; node++)
                ahead[node] = whole_seconds(fit.ahead[node]);
        g_free(fit.first);
        g_free(fit.incident);
        g_free(fit.ahead);
        return ahead;
}
