/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/learn/worker-count.h"

#include "base/exact-log.h"
#include "base/fill.h"
#include "inference/model/kinds.h"
#include "inference/model/node-model.h"
#include "inference/model/problem.h"
#include "inference/search/assignment.h"

/* Ages, since a call was taken or entered: shorter than 8 us, then half octaves. Times until the
 * reply: shorter than 16 us, then octaves. A cell is an age and a time until the reply. */
enum { AGES = 44, UNTILS = 20, CELLS = AGES * UNTILS, AGE_OCTAVE = 13, UNTIL_OCTAVE = 14 };

/* The most calls that are open at a time. */
static guint32 find_most_open(const CallIn *in, guint32 n, const gint64 *replies)
{
        guint32 most = 0;

        for (guint32 i = 0, gone = 0; i < n; i++) {
                while (gone < i && replies[gone] < in[i].enter)
                        gone++;
                most = MAX(most, i + 1 - gone);
        }
        return most;
}

/* --- cells ------------------------------------------------------------------- */

/* The octave of a time of at least 2^least ns, from 0, with the next bit of its mantissa below
 * it. */
static inline guint half_octaves(gint64 time, guint least)
{
        double d = (double)time;
        guint64 bits;

        memcpy(&bits, &d, 8);
        return (guint)(bits >> 51) - 2 * (1023 + least);
}

static inline guint age_of(gint64 time)
{
        if (time < (gint64)1 << AGE_OCTAVE)
                return 0;
        return MIN(1 + half_octaves(time, AGE_OCTAVE), AGES - 1);
}

/* The least time of an age. */
static inline gint64 age_start(guint age)
{
        return age == 0 ? 0 : (gint64)(2 + (age - 1) % 2) << (AGE_OCTAVE - 1 + (age - 1) / 2);
}

static inline guint until_of(gint64 time)
{
        if (time < (gint64)1 << UNTIL_OCTAVE)
                return 0;
        return MIN(1 + half_octaves(time, UNTIL_OCTAVE) / 2, UNTILS - 1);
}

static inline gint64 until_start(guint until)
{
        return until == 0 ? 0 : (gint64)1 << (UNTIL_OCTAVE + until - 1);
}

/* --- the sample ---------------------------------------------------------------- */

/* The sampled calls and the rates learned from them. Rows are by half, by kind of call into the
 * node, and by whether that waits. A rate is by row, callee and cell; time is by row and cell. */
typedef struct {
        const Joint *j;
        guint32 first_in, end_in, first_out, end_out;
        const gint64 *replies; /* of all calls into the node, in order */
        gint64 *start;         /* by call into the node */
        guint8 *kind, *callee; /* kind: by call into the node; callee: by call out */
        guint n_kinds, n_callees, n_rows;
        guint32 *rate_of; /* by candidate: index of its rate in its own half's rates */
        double *rate, *count, *time;
} Sample;

static inline guint row_of(const Sample *s, guint half, guint32 parent, gboolean waits)
{
        return (half * s->n_kinds + s->kind[parent]) * 2 + waits;
}

static inline guint half_of(guint32 parent)
{
        return parent / WORKER_BLOCK % 2;
}

static int compare_counts(const void *a, const void *b)
{
        guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

        return (x < y) - (x > y);
}

/* Numbers the most frequent values from 0; all others have the last number. Returns how many
 * numbers there are. number is by value. */
static guint number_values(const guint32 *count, guint32 n, guint8 *number)
{
        g_autofree guint64 *order = g_new(guint64, n);

        for (guint32 i = 0; i < n; i++)
                order[i] = (guint64)count[i] << 32 | (n - 1 - i);
        qsort(order, n, sizeof *order, compare_counts);
        for (guint32 i = 0; i < n; i++)
                number[n - 1 - (guint32)order[i]] = (guint8)MIN(i, WORKER_KINDS - 1);
        return MIN(n, WORKER_KINDS);
}

static void number_parents(Sample *s)
{
        const Joint *j = s->j;
        guint32 n = j->model->in.n;
        g_autofree guint32 *count = g_new0(guint32, n);
        g_autofree guint8 *number = g_new(guint8, n);

        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                count[j->kinds->kind[p]]++;
        s->n_kinds = number_values(count, n, number);
        s->kind = g_new(guint8, j->problem->node->n_in);
        for (guint32 p = 0; p < j->problem->node->n_in; p++)
                s->kind[p] = number[j->kinds->kind[p]];
}

static void number_callees(Sample *s)
{
        const NodeProblem *node = s->j->problem->node;
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        g_autofree guint32 *nth = g_new(guint32, node->n_out);
        g_autofree guint32 *count = g_new0(guint32, node->n_out);
        g_autofree guint8 *number = g_new(guint8, node->n_out);

        for (guint32 i = 0; i < node->n_out; i++) {
                gpointer callee = GUINT_TO_POINTER(node->out[i].callee), n;

                if (!g_hash_table_lookup_extended(seen, callee, NULL, &n)) {
                        n = GUINT_TO_POINTER(g_hash_table_size(seen));
                        g_hash_table_insert(seen, callee, n);
                }
                nth[i] = GPOINTER_TO_UINT(n);
                count[nth[i]]++;
        }
        s->n_callees = number_values(count, g_hash_table_size(seen), number);
        s->callee = g_new(guint8, node->n_out);
        for (guint32 i = 0; i < node->n_out; i++)
                s->callee[i] = number[nth[i]];
}

/* Finds the busiest stretch of training parents. */
static void find_busiest(Sample *s)
{
        const Joint *j = s->j;
        guint32 n = j->problem->node->n_in,
                length = j->problem->n_stretches > 1 ? STRETCH : WORKER_CALLS;
        guint64 most = 0;

        s->end_in = MIN(n, length);
        for (guint32 from = 0; from < n; from += length) {
                guint32 to = MIN(from + length, n);
                guint64 sum = 0;

                if (!is_training_parent(j->problem, from) || (from > 0 && to - from < length))
                        continue;
                for (guint32 p = from; p < to; p++)
                        sum += j->problem->concurrency[p] / 256;
                if (sum > most) {
                        most = sum;
                        s->first_in = from;
                        s->end_in = to;
                }
        }
}

/* The calls of that stretch, as long as there are not too many candidates. */
static void find_calls(Sample *s)
{
        const Joint *j = s->j;
        const NodeProblem *node = j->problem->node;
        guint32 i = 0;

        while (i < node->n_out && s->first_in > 0 &&
               node->out[i].start <= node->in[s->first_in].enter)
                i++;
        s->first_out = i;
        while (i < node->n_out &&
               (s->end_in == node->n_in || node->out[i].start < node->in[s->end_in].enter) &&
               j->problem->candidates[i + 1] - j->problem->candidates[s->first_out] <= WORKER_PAIRS)
                i++;
        s->end_out = i;
        if (i < node->n_out)
                while (s->end_in > s->first_in &&
                       node->in[s->end_in - 1].enter >= node->out[i].start)
                        s->end_in--;
}

static void sample_init(Sample *s, const Joint *j, const gint64 *replies)
{
        gsize n_rates;

        *s = (Sample){ .j = j, .replies = replies };
        number_parents(s);
        number_callees(s);
        find_busiest(s);
        find_calls(s);
        s->start = g_new(gint64, j->problem->node->n_in);
        s->rate_of = g_new(guint32, j->problem->candidates[s->end_out] -
                                            j->problem->candidates[s->first_out]);
        s->n_rows = 2 * s->n_kinds * 2;
        n_rates = (gsize)s->n_rows * s->n_callees * CELLS;
        s->rate = g_new(double, n_rates);
        s->count = g_new(double, n_rates);
        s->time = g_new(double, (gsize)s->n_rows *CELLS);
}

static void sample_clear(Sample *s)
{
        g_free(s->start);
        g_free(s->kind);
        g_free(s->callee);
        g_free(s->rate_of);
        g_free(s->rate);
        g_free(s->count);
        g_free(s->time);
}

/* --- rates --------------------------------------------------------------------- */

static inline gsize rate_index(const Sample *s, guint row, guint callee, guint cell)
{
        return ((gsize)row * s->n_callees + callee) * CELLS + cell;
}

/* Adds the time that a call is in each cell from its start to its reply. */
static void add_time_taken(double *time, gint64 life)
{
        gint64 at = 0;
        guint age = 0, until = until_of(life);

        while (at < life) {
                gint64 older = age + 1 < AGES ? age_start(age + 1) : G_MAXINT64;
                gint64 nearer = until > 0 ? life - until_start(until) + 1 : G_MAXINT64;
                gint64 to = MIN(MIN(older, nearer), life);

                time[age * UNTILS + until] += (double)(to - at);
                at = to;
                age += older <= to;
                until -= nearer <= to;
        }
}

/* Adds the time that a call waits at each age. The reply of a waiting call does not count. */
static void add_time_waiting(double *time, gint64 life)
{
        for (guint age = 0; age < AGES && age_start(age) < life; age++) {
                gint64 older = age + 1 < AGES ? age_start(age + 1) : G_MAXINT64;

                time[age * UNTILS] += (double)(MIN(older, life) - age_start(age));
        }
}

static void add_times(Sample *s)
{
        const CallIn *in = s->j->problem->node->in;

        fill(s->time, 0, (gsize)s->n_rows * CELLS * sizeof *s->time);
        for (guint32 p = s->first_in; p < s->end_in; p++) {
                double *row = s->time + (gsize)row_of(s, half_of(p), p, FALSE) * CELLS;

                add_time_taken(row, in[p].reply - s->start[p]);
                add_time_waiting(row + CELLS, MIN(s->start[p], in[p].reply) - in[p].enter);
        }
}

/* The half that a call out of the node is in: that of its first candidate. */
static inline guint half_of_call(const Sample *s, guint32 call)
{
        return half_of(s->j->problem->candidate[s->j->problem->candidates[call]]);
}

/* Finds the index of the rate that each candidate has for its call. */
static void find_rates_of(Sample *s)
{
        const Joint *j = s->j;
        guint32 *rate_of = s->rate_of;

        for (guint32 i = s->first_out; i < s->end_out; i++) {
                gint64 start = j->kinds->calls[i].start;

                for (gsize k = j->problem->candidates[i]; k < j->problem->candidates[i + 1]; k++) {
                        guint32 p = j->problem->candidate[k];
                        const CallIn *in = &j->problem->node->in[p];
                        gboolean waits = start < s->start[p];
                        guint age = age_of(start - (waits ? in->enter : s->start[p]));
                        guint until = waits ? 0 : until_of(in->reply - start);

                        *rate_of++ = rate_index(s, row_of(s, half_of_call(s, i), p, waits),
                                                s->callee[i], age * UNTILS + until);
                }
        }
}

/* Counts each call for its candidates, by their rates. Returns the log likelihood of the calls by
 * the rates of the other half. The time without calls is left out. */
static double count_calls(Sample *s, gboolean judge)
{
        const Joint *j = s->j;
        const guint32 *rate_of = s->rate_of;
        gsize half = (gsize)s->n_rows / 2 * s->n_callees * CELLS;
        double log = 0;

        fill(s->count, 0, 2 * half * sizeof *s->count);
        for (guint32 i = s->first_out; i < s->end_out; i++) {
                gsize n = j->problem->candidates[i + 1] - j->problem->candidates[i];
                double sum = 0, other = 0;

                if (n == 0)
                        continue;
                for (gsize k = 0; k < n; k++)
                        sum += s->rate[rate_of[k]];
                for (gsize k = 0; k < n; k++)
                        s->count[rate_of[k]] += s->rate[rate_of[k]] / sum;
                for (gsize k = 0; judge && k < n; k++)
                        other += s->rate[rate_of[k] < half ? rate_of[k] + half : rate_of[k] - half];
                if (judge)
                        log += exact_log(other);
                rate_of += n;
        }
        return log;
}

/* The sums of n counts and times. */
typedef struct {
        double count, time;
} Seen;

static Seen see(const double *count, const double *time, guint n)
{
        Seen sum = { 0 };

        for (guint i = 0; i < n; i++) {
                sum.count += count[i];
                sum.time += time[i];
        }
        return sum;
}

/* A rate backs off to a more general one, as if that one had caused one more call. */
static double rate_of(Seen seen, double general)
{
        return (seen.count + 1) / (seen.time + 1 / general);
}

/* Learns the rates of one row and callee. A cell backs off to its age, an age to the row, and a row
 * to the mean of all. */
static void learn_row(const Sample *s, guint row, guint callee, double mean)
{
        const double *count = s->count + rate_index(s, row, callee, 0);
        const double *time = s->time + (gsize)row * CELLS;
        double *rate = s->rate + rate_index(s, row, callee, 0);

        double of_row = rate_of(see(count, time, CELLS), mean);

        for (guint first = 0; first < CELLS; first += UNTILS) {
                double of_age = rate_of(see(count + first, time + first, UNTILS), of_row);

                for (guint cell = first; cell < first + UNTILS; cell++)
                        rate[cell] = rate_of((Seen){ count[cell], time[cell] }, of_age);
        }
}

static void learn_rates(Sample *s)
{
        for (guint half = 0; half < 2; half++) {
                guint first = half * s->n_rows / 2, end = first + s->n_rows / 2;
                double time = 1;

                for (gsize cell = (gsize)first * CELLS; cell < (gsize)end * CELLS; cell++)
                        time += s->time[cell];
                for (guint callee = 0; callee < s->n_callees; callee++) {
                        double n = 0.01;

                        for (guint row = first; row < end; row++)
                                for (guint cell = 0; cell < CELLS; cell++)
                                        n += s->count[rate_index(s, row, callee, cell)];
                        for (guint row = first; row < end; row++)
                                learn_row(s, row, callee, n / time);
                }
        }
}

static void start_rates(Sample *s)
{
        for (guint row = 0; row < s->n_rows; row++) {
                double *rate = s->rate + rate_index(s, row, 0, 0);

                for (gsize i = 0; i < (gsize)s->n_callees * CELLS; i++)
                        rate[i] = row % 2 ? tuning.rate_of_waiting : 1;
        }
}

/* The number of calls that the rates of the other half expect. */
static double expect_calls(const Sample *s)
{
        guint half = s->n_rows / 2;
        double sum = 0;

        for (guint row = 0; row < s->n_rows; row++)
                for (guint callee = 0; callee < s->n_callees; callee++) {
                        guint other = row < half ? row + half : row - half;
                        const double *rate = s->rate + rate_index(s, other, callee, 0);
                        const double *time = s->time + (gsize)row * CELLS;

                        for (guint cell = 0; cell < CELLS; cell++)
                                sum += rate[cell] * time[cell];
                }
        return sum;
}

/* The log likelihood of the calls out of the node if it has k workers. */
static double judge(Sample *s, guint32 k)
{
        const NodeProblem *node = s->j->problem->node;

        workers_find_starts_by(node->in, node->n_in, k, s->replies, s->start);
        add_times(s);
        find_rates_of(s);
        start_rates(s);
        for (guint round = 0; round < tuning.worker_rounds; round++) {
                count_calls(s, FALSE);
                learn_rates(s);
        }
        return count_calls(s, TRUE) - expect_calls(s);
}

static guint32 count_waiting(const Sample *s, guint32 k)
{
        const CallIn *in = s->j->problem->node->in;
        guint32 n = 0;

        for (guint32 p = MAX(s->first_in, k); p < s->end_in; p++)
                n += s->replies[p - k] > in[p].enter;
        return n;
}

/* --- how many ------------------------------------------------------------------- */

/* Whether waiting calls make few calls, or make them at a lower rate than others. */
static gboolean do_little(const Sample *s)
{
        double count[2] = { 0 }, time[2] = { 0 };

        for (guint row = 0; row < s->n_rows; row++) {
                for (gsize i = rate_index(s, row, 0, 0); i < rate_index(s, row + 1, 0, 0); i++)
                        count[row % 2] += s->count[i];
                for (gsize i = (gsize)row * CELLS; i < (gsize)(row + 1) * CELLS; i++)
                        time[row % 2] += s->time[i];
        }
        return count[1] <= tuning.few_waiting * (count[0] + count[1]) ||
               count[1] * time[0] <= tuning.low_waiting * count[0] * time[1];
}

/* Whether k workers are possible: hardly a call is answered before a worker takes it. Workers would
 * serve in order, and each would hold a call until its reply. */
static gboolean is_possible(const Sample *s, guint32 k)
{
        const CallIn *in = s->j->problem->node->in;
        guint32 n_early = 0;

        for (guint32 p = MAX(s->first_in, k); p < s->end_in; p++)
                n_early += s->replies[p - k] > in[p].reply;
        return n_early <= tuning.most_too_early * count_waiting(s, k);
}

static gboolean is_among(const GArray *guesses, guint32 k)
{
        for (guint i = 0; i < guesses->len; i++)
                if (g_array_index(guesses, WorkersGuess, i).k == k)
                        return TRUE;
        return FALSE;
}

/* Adds k to the guesses if it may be. */
static void try(Sample *s, guint32 k, GArray *guesses, WorkersGuess *best)
{
        WorkersGuess guess = { .k = k };

        if (is_among(guesses, k) || !is_possible(s, k))
                return;
        guess.log = judge(s, k);
        if (!do_little(s))
                return;
        g_array_append_val(guesses, guess);
        if (guess.log > best->log)
                *best = guess;
}

GArray *workers_find(const Joint *j)
{
        const NodeProblem *node = j->problem->node;
        g_autofree gint64 *replies = workers_sort_replies(node->in, node->n_in);
        guint32 most = find_most_open(node->in, node->n_in, replies), waiting;
        g_autoptr(GArray) guesses = NULL;
        WorkersGuess best = { 0 };
        double none, per_parent;
        Sample s;

        if (most < 2)
                return NULL;
        guesses = g_array_new(FALSE, FALSE, sizeof(WorkersGuess));
        sample_init(&s, j, replies);
        best.log = none = judge(&s, 0);
        for (guint32 k = 1; k < most && count_waiting(&s, k) > 0; k += k < WORKERS_EACH ? 1 : k / 8)
                try(&s, k, guesses, &best);
        for (guint32 step = best.k > WORKERS_EACH ? best.k / 16 : 0; step > 0; step /= 2) {
                guint32 k = best.k;

                try(&s, k - step, guesses, &best);
                try(&s, k + step, guesses, &best);
        }
        for (guint i = guesses->len; i-- > 0;)
                if (g_array_index(guesses, WorkersGuess, i).k > best.k)
                        g_array_remove_index(guesses, i);
        waiting = count_waiting(&s, best.k);
        sample_clear(&s);
        per_parent = MAX((double)node->n_out / node->n_in, 1);
        return best.log - none >= tuning.least_queue_gain * per_parent +
                                          tuning.least_gain_waits * waiting
                       ? g_steal_pointer(&guesses)
                       : NULL;
}

/* --- whether it was right --------------------------------------------------------- */

/* The time of a parent's first call, or else of its reply. */
static gint64 first_output(const Joint *j, guint32 parent)
{
        guint32 child = j->assignment->first[parent];

        return child == NO_PARENT ? j->problem->node->in[parent].reply
                                  : j->kinds->calls[child].start;
}

/* The share of waiting parents that make calls before their start. */
static double early_share(const Joint *j)
{
        guint32 n = 0, n_early = 0;

        for (guint32 p = 0; p < j->problem->node->n_in; p++) {
                if (!is_training_parent(j->problem, p) || !problem_waited(j->problem, p))
                        continue;
                n++;
                n_early += first_output(j, p) < j->problem->start[p];
        }
        return (double)n_early / MAX(n, 1);
}

/* Whether hardly a call comes while all its candidates still wait. */
static gboolean can_have_made_calls(const Problem *p)
{
        guint32 n_contested = 0, n_unmade = 0;

        for (guint32 i = 0; i < p->node->n_out; i++) {
                guint32 n_waiting = 0;

                for (gsize k = p->candidates[i]; k < p->candidates[i + 1]; k++)
                        n_waiting += p->start[p->candidate[k]] > p->node->out[i].start;
                n_contested += n_waiting > 0;
                n_unmade += n_waiting > 0 && n_waiting == n_candidates(p, i);
        }
        return n_unmade <= MAX(tuning.few_unmade, tuning.most_unmade * n_contested);
}

/* A queue is credible if few parents make calls before their start, and some served parent could
 * have made each call. If nearly all parents make calls before their start, evidence that ties
 * families together may have found them. The queue does no harm then. */
gboolean workers_are_consistent(const Joint *j)
{
        const EvidenceSet *evidence = &j->model->evidence;
        double early;

        if (evidence->workers.n == 0)
                return TRUE;
        early = early_share(j);
        if (early > tuning.overruled && evidence_swaps(evidence))
                return TRUE;
        return early <= tuning.most_early && can_have_made_calls(j->problem);
}
