/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/model/serving-order.h"
#include "inference/model/tuning.h"

void serving_order_init(ServingOrder *o, guint32 n_classes)
{
        *o = (ServingOrder){ .n_classes = n_classes };
        o->factor = g_new(double, n_classes);
        o->may = g_new(gboolean, n_classes);
        for (guint32 i = 0; i < n_classes; i++) {
                o->factor[i] = 1;
                o->may[i] = TRUE;
        }
        o->pairs = g_new0(ServedPairs, n_classes);
        o->kept = g_new0(ServedPairs, n_classes);
}

void serving_order_init_for(ServingOrder *o, guint32 n_callees)
{
        serving_order_init(o, n_callees > MOST_ORDERED ? 0 : (2 * n_callees + 1) * (n_callees + 1));
}

void serving_order_begin(ServingOrder *o, const NodeProblem *node, const guint32 *output)
{
        Output *outputs = g_new0(Output, node->n_out + node->n_in);

        for (guint32 i = 0; i < node->n_out; i++)
                outputs[output[i]].time = node->out[i].start;
        for (guint32 p = 0; p < node->n_in; p++)
                outputs[output[node->n_out + p]].time = node->in[p].reply;
        serving_order_take(o, outputs, node->n_out + node->n_in);
}

void serving_order_watch(ServingOrder *o)
{
        o->watched = o->n_classes > 0;
}

void serving_order_take(ServingOrder *o, Output *outputs, guint32 n)
{
        g_free(o->outputs);
        o->outputs = outputs;
        o->n = n;
        serving_order_forget(o);
}

void serving_order_forget(ServingOrder *o)
{
        for (guint32 i = 0; i < o->n; i++) {
                o->outputs[i].class = NO_CLASS;
                o->outputs[i].share = 0;
        }
}

void serving_order_clear(ServingOrder *o)
{
        g_free(o->outputs);
        g_free(o->may);
        g_free(o->factor);
        g_free(o->mixed);
        g_free(o->pairs);
        g_free(o->kept);
        g_free(o->said);
        g_free(o->logs);
}

/* --- pairs ------------------------------------------------------------------- */

gsize serving_order_n_counts(const ServingOrder *o)
{
        gsize n = o->n_classes;

        return n <= MOST_MIXED ? n + n * n : n;
}

/* The index of the count of two classes. */
static inline gsize count_of(const ServingOrder *o, guint32 class, guint32 other)
{
        gsize n = o->n_classes;

        return class == other ? class : n + MIN(class, other) * n + MAX(class, other);
}

/* Counts a pair. share is the probability, by delays, that it is inverted. */
static void add_pair(ServedPairs *pairs, const Output *first, const Output *second, double share)
{
        if (share < tuning.open_pair || share > 1 - tuning.open_pair)
                return;
        pairs->n++;
        pairs->inverted += first->trigger > second->trigger;
        pairs->expected += share;
}

/* The probability, by delays, that a pair of one class is inverted: the output with the later
 * trigger comes first. It is 0 if the later trigger comes after the first output. */
static double inverted_of_same(DelayDensities *delays, const Output *first, const Output *second)
{
        const float *density = delay_densities_row(delays, second->row);
        gint64 early = MIN(first->trigger, second->trigger);
        gint64 late = MAX(first->trigger, second->trigger);
        double in_order = (double)density[density_bin(first->time - early)] *
                          density[density_bin(second->time - late)];
        double inverted = (double)density[density_bin(first->time - late)] *
                          density[density_bin(second->time - early)];

        return late < first->time ? inverted / (in_order + inverted) : 0;
}

/* The probabilities of a shorter delay, by row of densities and bin. A row is NULL until used. */
typedef struct {
        DelayDensities *delays;
        float **row;
} Shorter;

static Shorter *shorter_new(DelayDensities *delays)
{
        Shorter *s = g_new(Shorter, 1);

        *s = (Shorter){ delays, g_new0(float *, delays->n) };
        return s;
}

static void shorter_free(Shorter *s)
{
        for (guint32 row = 0; s && row < s->delays->n; row++)
                g_free(s->row[row]);
        if (s)
                g_free(s->row);
        g_free(s);
}

/* Half of the bin itself counts as shorter. */
static const float *get_shorter(const Shorter *s, guint32 row)
{
        const float *density;
        double sum = 0;

        if (s->row[row])
                return s->row[row];
        density = delay_densities_row(s->delays, row);
        s->row[row] = g_new(float, DENSITY_BINS);
        for (guint bin = 0; bin < DENSITY_BINS; bin++) {
                double mass = (double)density[bin] * density_bin_width(bin);

                s->row[row][bin] = sum + mass / 2;
                sum += mass;
        }
        return s->row[row];
}

/* The probability, by delays alone, that of two outputs whose triggers both have come, the one with
 * the later trigger comes first. later is the time between the triggers. */
static double inverted_by_delays(const float *early, const float *late, gint64 later)
{
        double before = early[density_bin(later)], rest = 1 - before, inverted = 0;

        if (rest < 1e-6)
                return 0;
        for (guint bin = density_bin(later) + 1; bin < DENSITY_BINS && before < 1 - 1e-4; bin++) {
                gint64 delay = density_bin_start(bin) + density_bin_width(bin) / 2;

                inverted += (early[bin] - before) * late[density_bin(delay - later)];
                before = early[bin];
        }
        return inverted / rest;
}

/* The same of a pair of two classes. */
static double inverted_of_mixed(const Shorter *shorter, const Output *first, const Output *second)
{
        const Output *early = first->trigger < second->trigger ? first : second;
        const Output *late = early == first ? second : first;

        return late->trigger < first->time ? inverted_by_delays(get_shorter(shorter, early->row),
                                                                get_shorter(shorter, late->row),
                                                                late->trigger - early->trigger)
                                           : 0;
}

/* A pair; shorter: NULL where only those of one class count. */
static void count_pair(const ServingOrder *o, DelayDensities *delays, const Shorter *shorter,
                       const Output *first, const Output *second, ServedPairs *pairs)
{
        gboolean same = first->class == second->class;
        double share;

        if (!same && !shorter)
                return;
        share = same ? inverted_of_same(delays, first, second)
                     : inverted_of_mixed(shorter, first, second);
        pairs += count_of(o, first->class, second->class);
        if (o->last_first)
                add_pair(pairs, second, first, 1 - share);
        else
                add_pair(pairs, first, second, share);
}

static gboolean is_sure(const Output *x)
{
        return x->class != NO_CLASS && x->share >= tuning.sure_trigger;
}

static gboolean counts(const ServingOrder *o, const Output *x)
{
        return is_sure(x) && o->may[x->class];
}

/* Adds pairs of one class, and pairs of two classes if shorter is not NULL. */
static void count_pairs(const ServingOrder *o, DelayDensities *delays, const Shorter *shorter,
                        ServedPairs *pairs)
{
        for (guint32 i = 0; i < o->n; i++) {
                const Output *second = &o->outputs[i];

                if (!counts(o, second))
                        continue;
                for (guint32 k = i; k-- > 0 && i - k <= REACH;) {
                        const Output *first = &o->outputs[k];

                        if (first->time <= second->trigger)
                                break;
                        if (!counts(o, first) || first->parent == second->parent)
                                continue;
                        count_pair(o, delays, shorter, first, second, pairs);
                }
        }
}

void serving_order_count(const ServingOrder *o, DelayDensities *delays, ServedPairs *pairs)
{
        Shorter *shorter = o->n_classes <= MOST_MIXED ? shorter_new(delays) : NULL;

        count_pairs(o, delays, shorter, pairs);
        shorter_free(shorter);
}

double serving_order_sure(const ServingOrder *o)
{
        guint32 n = 0, sure = 0;

        for (guint32 i = 0; i < o->n; i++) {
                n += o->outputs[i].class != NO_CLASS;
                sure += is_sure(&o->outputs[i]);
        }
        return n > 0 ? (double)sure / n : 0;
}

/* The ratio of the odds of an inversion to the odds by delays. */
static double odds_of(const ServedPairs *p)
{
        return (p->inverted + 1) / (p->n - p->inverted + 1) * (p->n - p->expected + 1) /
               (p->expected + 1);
}

static double odds_of_all(const ServedPairs *pairs, gsize n)
{
        ServedPairs all = { 0 };

        for (gsize i = 0; i < n; i++) {
                all.n += pairs[i].n;
                all.inverted += pairs[i].inverted;
                all.expected += pairs[i].expected;
        }
        return odds_of(&all);
}

double serving_order_odds(const ServingOrder *o, const ServedPairs *pairs)
{
        return odds_of_all(pairs, o->n_classes);
}

/* --- factors ----------------------------------------------------------------- */

/* Learns factors. supposed: each class is in order. */
static void learn(ServingOrder *o, DelayDensities *delays, gboolean supposed)
{
        for (guint32 i = 0; i < o->n_classes; i++)
                o->pairs[i] = o->kept[i];
        count_pairs(o, delays, NULL, o->pairs);
        o->in_use = FALSE;
        for (guint32 i = 0; i < o->n_classes; i++) {
                double factor = odds_of(&o->pairs[i]);

                if (supposed)
                        factor = MIN(factor, tuning.supposed);
                o->factor[i] =
                        !o->may[i] || o->pairs[i].n < tuning.order_pairs || factor > tuning.in_order
                                ? 1
                                : MAX(factor, tuning.least_factor);
                o->in_use |= o->factor[i] < 1;
        }
}

void serving_order_learn(ServingOrder *o, DelayDensities *delays)
{
        learn(o, delays, FALSE);
}

void serving_order_suppose(ServingOrder *o, DelayDensities *delays)
{
        learn(o, delays, TRUE);
}

/* The factor of a count of pairs, which backs off to the odds of all. */
static double fit(ServedPairs p, double all)
{
        double expected = (p.expected + 1) / (p.n + 2);
        double odds = all * expected / (1 - expected), factor;

        p.n += tuning.prior_pairs;
        p.expected += tuning.prior_pairs * expected;
        p.inverted += tuning.prior_pairs * odds / (1 + odds);
        factor = odds_of(&p);
        return factor > tuning.no_order ? 1 : MAX(factor, tuning.least_factor);
}

static void fit_mixed(ServingOrder *o, const ServedPairs *pairs)
{
        gsize n = o->n_classes;
        double all = odds_of_all(pairs + n, n * n);

        if (!o->mixed)
                o->mixed = g_new(float, n *n);
        for (gsize i = 0; i < n; i++) {
                o->mixed[i * n + i] = o->factor[i];
                for (gsize k = i + 1; k < n; k++)
                        o->mixed[i * n + k] = o->mixed[k * n + i] =
                                o->may[i] && o->may[k] ? fit(pairs[count_of(o, i, k)], all) : 1;
        }
}

void serving_order_fit(ServingOrder *o, const ServedPairs *pairs)
{
        double all = serving_order_odds(o, pairs);

        memcpy(o->pairs, pairs, o->n_classes * sizeof *pairs);
        o->in_use = FALSE;
        for (guint32 i = 0; i < o->n_classes; i++) {
                o->factor[i] = o->may[i] ? fit(pairs[i], all) : 1;
                o->in_use |= o->factor[i] < 1;
        }
        if (o->n_classes <= MOST_MIXED)
                fit_mixed(o, pairs);
}

void serving_order_set(ServingOrder *o, double factor)
{
        g_clear_pointer(&o->mixed, g_free);
        for (guint32 i = 0; i < o->n_classes; i++)
                o->factor[i] = o->may[i] ? factor : 1;
        o->in_use = TRUE;
}

void serving_order_allow(ServingOrder *o, guint32 class, gboolean may)
{
        o->may[class] = may;
        if (!may)
                o->factor[class] = 1;
}

void serving_order_drop(ServingOrder *o)
{
        serving_order_set(o, 1);
        for (guint32 i = 0; i < o->n_classes; i++)
                o->pairs[i] = (ServedPairs){ 0 };
        o->in_use = FALSE;
}

void serving_order_keep(ServingOrder *o, gboolean half)
{
        double part = half ? 0.5 : 1;

        for (guint32 i = 0; i < o->n_classes; i++) {
                const ServedPairs *p = &o->pairs[i];

                o->kept[i] = (ServedPairs){ p->n * part, p->inverted * part, p->expected * part };
        }
}

/* --- going back ------------------------------------------------------------------- */

typedef struct {
        ServedPairs pairs;
        double factor;
        gboolean may;
} SavedClass;

typedef struct {
        gboolean in_use;
        gsize n_mixed;
        SavedClass class[]; /* and then as many factors of two classes */
} SavedOrder;

gpointer serving_order_save(const ServingOrder *o)
{
        gsize n = o->n_classes, n_mixed = o->mixed ? n * n : 0;
        SavedOrder *saved =
                g_malloc(sizeof *saved + n * sizeof *saved->class + n_mixed * sizeof *o->mixed);

        saved->in_use = o->in_use;
        saved->n_mixed = n_mixed;
        for (gsize i = 0; i < n; i++)
                saved->class[i] = (SavedClass){ o->pairs[i], o->factor[i], o->may[i] };
        if (n_mixed > 0)
                memcpy(&saved->class[n], o -> mixed, n_mixed * sizeof *o->mixed);
        return saved;
}

void serving_order_restore(ServingOrder *o, gconstpointer from)
{
        const SavedOrder *saved = from;
        gsize n = o->n_classes;

        o->in_use = saved->in_use;
        for (gsize i = 0; i < n; i++) {
                o->pairs[i] = saved->class[i].pairs;
                o->factor[i] = saved->class[i].factor;
                o->may[i] = saved->class[i].may;
        }
        g_free(o->mixed);
        o->mixed = g_memdup2(&saved->class[n], saved -> n_mixed * sizeof *o->mixed);
}

/* --- inversions -------------------------------------------------------------- */

/* The factor of an inversion of an output of this class with another. */
static inline double factor_with(const ServingOrder *o, guint32 class, const Output *other)
{
        if (other->class == class)
                return o->factor[class];
        return o->mixed && other->class != NO_CLASS ? o->mixed[class * o->n_classes + other->class]
                                                    : 1;
}

/* Finds the outputs that output `at` is inverted with if its trigger and parent are these. which
 * has room for 2 * REACH. Returns their number. */
static inline guint32 find_inverted(const ServingOrder *o, guint32 at, gint64 trigger,
                                    guint32 parent, guint32 *which)
{
        const Output *outputs = o->outputs;
        gint64 time = outputs[at].time;
        guint32 n = 0;

        for (guint32 k = at; k-- > 0 && at - k <= REACH && outputs[k].time > trigger;)
                if ((o->last_first ? outputs[k].trigger < trigger : outputs[k].trigger > trigger) &&
                    outputs[k].parent != parent)
                        which[n++] = k;
        for (guint32 k = at + 1; k < o->n && k - at <= REACH; k++)
                if ((o->last_first ? outputs[k].trigger > trigger && outputs[k].trigger < time
                                   : outputs[k].trigger < trigger) &&
                    outputs[k].parent != parent)
                        which[n++] = k;
        return n;
}

double serving_order_factor(const ServingOrder *o, guint32 at, guint32 class, gint64 trigger,
                            guint32 parent)
{
        guint32 which[2 * REACH], n;
        double product = 1;

        if (!o->mixed && o->factor[class] == 1)
                return 1;
        n = find_inverted(o, at, trigger, parent, which);
        for (guint32 i = 0; i < n; i++) {
                const Output *other = &o->outputs[which[i]];

                product *= 1 - other->share * (1 - factor_with(o, class, other));
        }
        return product;
}

void serving_order_get_logs(const ServingOrder *o, gint32 *log)
{
        gsize n = o->n_classes;

        for (gsize i = 0; i < n; i++)
                log[i] = fixed_log(o->factor[i]);
        for (gsize i = n; i < serving_order_n_counts(o); i++)
                log[i] = o->mixed ? fixed_log(o->mixed[i - n]) : 0;
}

/* The log of factor_with(). */
static inline gint32 log_with(const ServingOrder *o, guint32 class, const Output *other,
                              const gint32 *log)
{
        if (other->class != class && (!o->mixed || other->class == NO_CLASS))
                return 0;
        return log[count_of(o, class, other->class)];
}

gint64 serving_order_log(const ServingOrder *o, guint32 at, const gint32 *log)
{
        const Output *x = &o->outputs[at];
        guint32 which[2 * REACH], n = find_inverted(o, at, x->trigger, x->parent, which);
        gint64 sum = 0;

        for (guint32 i = 0; i < n; i++)
                sum += log_with(o, x->class, &o->outputs[which[i]], log);
        return sum;
}

/* --- the trellis ------------------------------------------------------------- */

void serving_order_clear_note(ServingOrder *o, guint32 output, guint32 parent)
{
        Output *x = &o->outputs[output];

        if (x->class != NO_CLASS && x->parent == parent)
                x->share = 0;
}

static void set_output(Output *x, const PlacedOutput *placed, float share)
{
        x->trigger = placed->trigger;
        x->class = placed->class;
        x->parent = placed->parent;
        x->row = placed->row;
        x->share = share;
}

void serving_order_note(ServingOrder *o, const PlacedOutput *placed, double share)
{
        Output *x = &o->outputs[placed->output];

        if (x->class == NO_CLASS || share > x->share)
                set_output(x, placed, share);
}

/* --- the chain --------------------------------------------------------------- */

void serving_order_begin_chain(ServingOrder *o)
{
        if (o->in_use) {
                o->logs = g_renew(gint32, o->logs, serving_order_n_counts(o));
                serving_order_get_logs(o, o->logs);
        }
        serving_order_forget(o);
}

void serving_order_place(ServingOrder *o, const Family *f)
{
        for (guint32 i = 0; i <= f->n; i++)
                set_output(&o->outputs[f->made[i].output], &f->made[i], 1);
}

/* The log likelihood of the inversions of an output with others. */
static gint64 log_of_inversions(const ServingOrder *o, guint32 output)
{
        return o->outputs[output].class == NO_CLASS ? 0 : serving_order_log(o, output, o->logs);
}

/* Sets an output. Returns by how much that changes the log likelihood of all outputs. */
static gint64 swap_output(ServingOrder *o, const PlacedOutput *placed)
{
        Output *x = &o->outputs[placed->output];
        gint64 log;

        if (x->class == placed->class && x->trigger == placed->trigger &&
            x->parent == placed->parent)
                return 0;
        o->replaced[o->n_replaced++] = (ReplacedOutput){ placed->output, *x };
        log = -log_of_inversions(o, placed->output);
        set_output(x, placed, 1);
        return log + log_of_inversions(o, placed->output);
}

gint64 serving_order_swap(ServingOrder *o, const Family f[2])
{
        gint64 log = 0;

        o->n_replaced = 0;
        for (guint32 m = 0; m < 2; m++)
                for (guint32 i = 0; i <= f[m].n; i++)
                        log += swap_output(o, &f[m].made[i]);
        return log;
}

void serving_order_undo(ServingOrder *o)
{
        while (o->n_replaced > 0) {
                const ReplacedOutput *r = &o->replaced[--o->n_replaced];

                o->outputs[r->output] = r->was;
        }
}

/* --- bytes ---------------------------------------------------------------------- */

static void factor_bytes(double *factor, Bytes *b)
{
        bytes_double(b, factor);
        if (!bytes_expect(b, *factor > 0 && *factor <= 1, "a factor"))
                *factor = 1;
}

static void pairs_bytes(ServedPairs *p, Bytes *b)
{
        bytes_double(b, &p->n);
        bytes_double(b, &p->inverted);
        bytes_double(b, &p->expected);
        if (!bytes_expect(b,
                          p->inverted >= 0 && p->expected >= 0 && p->n >= p->inverted &&
                                  p->n >= p->expected,
                          "pairs of outputs"))
                *p = (ServedPairs){ 0 };
}

void serving_order_bytes(ServingOrder *o, Bytes *b)
{
        gboolean mixed = o->mixed != NULL, in_use = o->in_use, no = FALSE;

        bytes_bool(b, &in_use);
        bytes_bool(b, &no);
        bytes_bool(b, &o->in_use);
        bytes_bool(b, &mixed);
        for (guint32 i = 0; i < o->n_classes && bytes_good(b); i++) {
                bytes_bool(b, &o->may[i]);
                factor_bytes(&o->factor[i], b);
                pairs_bytes(&o->pairs[i], b);
                pairs_bytes(&o->kept[i], b);
        }
        if (mixed)
                bytes_floats(b, &o->mixed, (gsize)o->n_classes * o->n_classes);
        for (gsize i = 0; o->mixed && i < (gsize)o->n_classes * o->n_classes; i++)
                if (!bytes_expect(b, o->mixed[i] > 0 && o->mixed[i] <= 1, "a factor"))
                        break;
        bytes_bool(b, &o->by_chain);
        bytes_expect(b, in_use == o->in_use, "the same use twice");
}
