/* SPDX-License-Identifier: BSD-2-Clause */
#include "inference/search/event-loop.h"

#include <stdlib.h>

#include "base/compare.h"
#include "inference/model/kinds.h"
#include "inference/model/problem.h"
#include "inference/model/tuning.h"

/* An input that may have triggered an output, and the probability that it did. */
typedef struct {
        guint32 input;
        float share;
} Trigger;

/* The likeliest triggers of one output. */
typedef struct {
        Trigger of[LOOP_TRIGGERS];
} Triggers;

/* An input: a call into the node enters, or a call out of the node returns. */
typedef struct {
        gint64 time;
        guint32 call; /* index of a call out of the node, or n_out + that of a call into it */
        guint32 kind;
} Input;

typedef struct {
        gint64 time;
        guint32 call; /* as above */
        guint32 kind;
        guint32 end; /* the inputs before this one had come */
} LoopOutput;

/* Probabilities of where the loop is after an output: at an input that has triggered nothing yet,
 * or at one that has triggered an output. */
typedef struct {
        double fresh, used;
} Place;

/* The places before one output: inputs from `first` on. */
typedef struct {
        guint32 first, n;
        Place at[LOOP_REACH];
} Places;

#define NOT_HEARD G_MAXUINT32

struct EventLoop {
        const Joint *j;
        gboolean begun; /* a round was run */
        Input *inputs;
        LoopOutput *outputs;
        guint32 n_inputs, n_outputs;
        guint32 n_kinds, n_made;    /* kinds of inputs, and of outputs; n_made stands for none */
        double *step[2], *count[2]; /* by kind of input and of output: the probability that it is
                                       next, first and later */
        double *part;               /* by kind of output: its share of all outputs */
        Triggers *triggers;         /* by output */
        guint32 *row;               /* by part of outputs: of the first in agreement; NOT_HEARD:
                                       none of them is of a parent that is learned from */
        float *agreement;           /* by output and input in reach, as of this round */
        float *before, *after;      /* by candidate: by what led to the call, and by what its return
                                       leads to; the latter is 1 in the mean */
        guint32 *input_of;          /* by call out of the node: its return */
};

COMPARISON(compare_inputs, Input, COMPARE(a->time, b->time) ?: COMPARE(a->call, b->call))

static inline gsize step_of(const EventLoop *l, guint32 input, guint32 made)
{
        return (gsize)input * (l->n_made + 1) + made;
}

/* --- beginning ------------------------------------------------------------------- */

static void gather(EventLoop *l)
{
        const Joint *j = l->j;
        const NodeProblem *node = j->problem->node;
        guint32 n_out = node->n_out, n_callees = j->model->n_callees;

        l->n_made = n_callees + 1;
        l->n_kinds = n_callees + j->model->in.n;
        l->n_inputs = l->n_outputs = n_out + node->n_in;
        l->inputs = g_new(Input, l->n_inputs);
        l->outputs = g_new(LoopOutput, l->n_outputs);
        for (guint32 i = 0; i < n_out; i++) {
                const WalkCall *call = &j->kinds->calls[i];
                guint32 kind = call->callee;

                l->inputs[i] = (Input){ call->end, i, kind };
                l->outputs[j->problem->output[i]] =
                        (LoopOutput){ .time = call->start, .call = i, .kind = kind };
        }
        for (guint32 p = 0; p < node->n_in; p++) {
                l->inputs[n_out + p] =
                        (Input){ node->in[p].enter, n_out + p, n_callees + j->kinds->kind[p] };
                l->outputs[j->problem->output[n_out + p]] = (LoopOutput){ .time = node->in[p].reply,
                                                                          .call = n_out + p,
                                                                          .kind = n_callees };
        }
        qsort(l->inputs, l->n_inputs, sizeof *l->inputs, compare_inputs);
        l->input_of = g_new(guint32, n_out + 1);
        for (guint32 i = 0; i < l->n_inputs; i++)
                if (l->inputs[i].call < n_out)
                        l->input_of[l->inputs[i].call] = i;
        for (guint32 o = 0, end = 0; o < l->n_outputs; o++) {
                while (end < l->n_inputs && l->inputs[end].time < l->outputs[o].time)
                        end++;
                l->outputs[o].end = end;
        }
}

/* Whether something is learned of an output. Order may be tried with fewer parents than those for
 * which candidates were found. */
static gboolean is_heard(const EventLoop *l, guint32 o)
{
        const Problem *p = l->j->problem;
        guint32 call = l->outputs[o].call;

        if (call >= p->node->n_out)
                return is_training_parent(p, call - p->node->n_out);
        for (gsize k = p->candidates[call]; k < p->candidates[call + 1]; k++)
                if (is_training_parent(p, p->candidate[k]))
                        return TRUE;
        return FALSE;
}

static inline gboolean is_heard_part(const EventLoop *l, guint32 o)
{
        return o < l->n_outputs && l->row[o / LOOP_PART] != NOT_HEARD;
}

/* Gives each part of the outputs room for its agreement. Returns how many outputs have room. */
static gsize find_rows(EventLoop *l)
{
        guint32 n_parts = l->n_outputs / LOOP_PART + 1;
        gsize n_rows = 0;

        l->row = g_new(guint32, n_parts);
        memset(l->row, 0xff, n_parts * sizeof *l->row);
        for (guint32 o = 0; o < l->n_outputs; o++)
                if (!is_heard_part(l, o) && is_heard(l, o)) {
                        l->row[o / LOOP_PART] = (guint32)n_rows;
                        n_rows += LOOP_PART;
                }
        return n_rows;
}

/* The agreement of an output of a part that is heard. */
static inline float *agreement_of(const EventLoop *l, guint32 o)
{
        return l->agreement + ((gsize)l->row[o / LOOP_PART] + o % LOOP_PART) * LOOP_REACH;
}

static void begin(EventLoop *l)
{
        gsize n_steps = (gsize)l->n_kinds * (l->n_made + 1), n = problem_n_all(l->j->problem);

        for (guint used = 0; used < 2; used++) {
                l->step[used] = g_new(double, n_steps);
                l->count[used] = g_new(double, n_steps);
                for (guint32 i = 0; i < l->n_kinds; i++)
                        for (guint32 k = 0; k <= l->n_made; k++)
                                l->step[used][step_of(l, i, k)] =
                                        k == l->n_made ? (used ? 0.8 : 0.4)
                                                       : (used ? 0.2 : 0.6) / l->n_made;
        }
        l->part = g_new0(double, l->n_made);
        for (guint32 o = 0; o < l->n_outputs; o++)
                l->part[l->outputs[o].kind] += 1.0 / l->n_outputs;
        l->triggers = g_new0(Triggers, l->n_outputs);
        l->agreement = g_new0(float, find_rows(l) * LOOP_REACH); /* of what is out of reach: 0 */
        l->before = g_new(float, n + 1);
        l->after = g_new(float, n + 1);
        for (guint32 i = 0; i < l->j->problem->node->n_out; i++)
                for (gsize k = l->j->problem->candidates[i]; k < l->j->problem->candidates[i + 1];
                     k++) {
                        l->before[k] = 1.0 / n_candidates(l->j->problem, i);
                        l->after[k] = 1;
                }
}

static void loop_clear(EventLoop *l)
{
        g_free(l->inputs);
        g_free(l->outputs);
        g_free(l->input_of);
        for (guint used = 0; used < 2; used++) {
                g_free(l->step[used]);
                g_free(l->count[used]);
        }
        g_free(l->part);
        g_free(l->triggers);
        g_free(l->row);
        g_free(l->agreement);
        g_free(l->before);
        g_free(l->after);
}

/* --- whether an input and an output have one parent ---------------------------------- */

/* The probability that an input and an output have one parent, by what is known so far. */
static double agreement(const EventLoop *l, const Input *input, const LoopOutput *output)
{
        const Problem *p = l->j->problem;
        guint32 n_out = p->node->n_out;
        gsize k, m;
        double sum = 0;

        if (input->call >= n_out && output->call >= n_out)
                return input->call == output->call;
        if (output->call >= n_out) {
                k = problem_find_candidate(p, input->call, output->call - n_out);
                return k == G_MAXSIZE ? 0 : (double)l->before[k];
        }
        if (input->call >= n_out) {
                k = problem_find_candidate(p, output->call, input->call - n_out);
                return k == G_MAXSIZE ? 0 : (double)l->after[k];
        }
        k = p->candidates[input->call];
        m = p->candidates[output->call];
        while (k < p->candidates[input->call + 1] && m < p->candidates[output->call + 1])
                if (p->candidate[k] == p->candidate[m])
                        sum += (double)l->before[k++] * (double)l->after[m++];
                else if (p->candidate[k] < p->candidate[m])
                        k++;
                else
                        m++;
        return sum;
}

static inline guint32 first_in_reach(const LoopOutput *o)
{
        return o->end > LOOP_REACH ? o->end - LOOP_REACH : 0;
}

static void find_agreement(EventLoop *l)
{
        for (guint32 o = 0; o < l->n_outputs; o++) {
                const LoopOutput *output = &l->outputs[o];
                guint32 first = first_in_reach(output);
                float *row;

                if (!is_heard_part(l, o))
                        continue;
                row = agreement_of(l, o);
                for (guint32 i = first; i < output->end; i++)
                        row[i - first] =
                                tuning.loop_least_agreement + agreement(l, &l->inputs[i], output);
        }
}

/* --- one output after the other ---------------------------------------------------------- */

/* The ways in which the loop may have come to one output, given where it was before. */
typedef struct {
        guint32 n;                 /* inputs, from Places.first on */
        double arrive[LOOP_REACH]; /* the probability to come to an input from others */
        double fresh[LOOP_REACH];  /* the rate at which it makes this output then */
        double used[LOOP_REACH];   /* and at which it does after another output */
        double none[LOOP_REACH], end[LOOP_REACH]; /* to go on from it, from either */
        double stray;
} Ways;

/* The number of leading places to drop: places before the first in reach, and places where the loop
 * hardly can be any more. */
static guint32 n_left_behind(const Places *at, guint32 first)
{
        guint32 n = MIN(first - at->first, at->n);

        while (n + 1 < at->n && at->at[n].fresh + at->at[n].used < LOOP_NOWHERE)
                n++;
        return n;
}

/* Moves the first place on to an input from which all inputs that have come are in reach. */
static void move_on(Places *at, const LoopOutput *o)
{
        guint32 first = MAX(first_in_reach(o), at->first), gone = n_left_behind(at, first);
        double lost = 0;

        for (guint32 i = 0; i < gone; i++)
                lost += at->at[i].fresh + at->at[i].used;
        at->n -= gone;
        memmove(at->at, at->at + gone, at->n * sizeof *at->at);
        at->first = MAX(first, at->first + gone);
        for (; at->first + at->n < o->end; at->n++)
                at->at[at->n] = (Place){ 0, 0 };
        if (at->n > 0)
                at->at[0].fresh += lost;
}

static void find_ways(const EventLoop *l, const Places *at, guint32 number, Ways *w)
{
        const LoopOutput *o = &l->outputs[number];
        const float *agreement = agreement_of(l, number) + (at->first - first_in_reach(o));
        double coming = 0, in_turn = 1 - tuning.loop_error_rate;

        w->n = at->n;
        w->stray = tuning.loop_error_rate * l->part[o->kind];
        for (guint32 i = 0; i < at->n; i++) {
                const Input *input = &l->inputs[at->first + i];
                gsize step = step_of(l, input->kind, o->kind),
                      none = step_of(l, input->kind, l->n_made);
                double alike = in_turn * (double)agreement[i];

                w->arrive[i] = coming;
                w->none[i] = l->step[0][none];
                w->end[i] = l->step[1][none];
                w->fresh[i] = alike * l->step[0][step];
                w->used[i] = alike * l->step[1][step];
                coming = (coming + at->at[i].fresh) * w->none[i] + at->at[i].used * w->end[i];
        }
}

/* The places after an output, scaled to a sum of 1. Returns the sum before that. */
static double step_forward(const Places *before, const Ways *w, Places *after)
{
        double sum = 0;

        after->first = before->first;
        after->n = before->n;
        for (guint32 i = 0; i < w->n; i++) {
                Place *p = &after->at[i];

                p->used = (before->at[i].fresh + w->arrive[i]) * w->fresh[i] +
                          before->at[i].used * (w->used[i] + w->stray);
                p->fresh = before->at[i].fresh * w->stray;
                sum += p->used + p->fresh;
        }
        for (guint32 i = 0; i < w->n; i++) {
                after->at[i].used /= sum;
                after->at[i].fresh /= sum;
        }
        return sum;
}

static void note_trigger(Triggers *t, guint32 input, double share)
{
        guint i = LOOP_TRIGGERS;

        if (share <= (double)t->of[i - 1].share)
                return;
        for (; i > 1 && share > (double)t->of[i - 2].share; i--)
                t->of[i - 1] = t->of[i - 2];
        t->of[i - 1] = (Trigger){ input, (float)share };
}

/* rest: the likelihood of all later outputs, by the place after this one. It becomes the likelihood
 * with this output included, by the place before it. sum: what step_forward() returned. */
static void step_backward(EventLoop *l, guint32 o, const Places *before, const Ways *w, double sum,
                          Place *rest)
{
        const LoopOutput *output = &l->outputs[o];
        double beyond = 0;

        memset(&l->triggers[o], 0, sizeof *l->triggers);
        for (guint32 i = w->n; i-- > 0;) {
                const Place *at = &before->at[i];
                guint32 kind = l->inputs[before->first + i].kind;
                gsize step = step_of(l, kind, output->kind), none = step_of(l, kind, l->n_made);
                double come = at->fresh + w->arrive[i], after = rest[i].used / sum;
                double first = come * w->fresh[i] * after, more = at->used * w->used[i] * after;

                note_trigger(&l->triggers[o], before->first + i, first + more);
                l->count[0][step] += first;
                l->count[1][step] += more;
                l->count[0][none] += come * w->none[i] * beyond;
                l->count[1][none] += at->used * w->end[i] * beyond;
                rest[i].used = w->used[i] * after + w->stray * after + w->end[i] * beyond;
                rest[i].fresh =
                        w->fresh[i] * after + w->stray * rest[i].fresh / sum + w->none[i] * beyond;
                beyond = w->fresh[i] * after + w->none[i] * beyond;
        }
}

/* Moves from places to the places that begin `shift` inputs earlier. Inputs out of reach then count
 * as the first place. More inputs may come between two outputs than are in reach. */
static void shift_places(Place *rest, guint32 shift)
{
        Place first = rest[0];
        guint32 gone = MIN(shift, LOOP_REACH);

        memmove(rest + gone, rest, (LOOP_REACH - gone) * sizeof *rest);
        for (guint32 i = 0; i < gone; i++)
                rest[i] = first;
}

/* Runs over the outputs from first to end - 1. at: where the loop is before them; becomes where it
 * is after them. */
static void run_block(EventLoop *l, guint32 first, guint32 end, Places *at)
{
        g_autofree Places *before = g_new(Places, end - first);
        g_autofree double *sum = g_new(double, end - first);
        Place rest[LOOP_REACH];
        Ways w;

        for (guint32 o = first; o < end; o++) {
                move_on(at, &l->outputs[o]);
                before[o - first] = *at;
                find_ways(l, at, o, &w);
                sum[o - first] = step_forward(&before[o - first], &w, at);
        }
        for (guint i = 0; i < LOOP_REACH; i++)
                rest[i] = (Place){ 1, 1 };
        for (guint32 o = end; o-- > first;) {
                const Places *b = &before[o - first];

                find_ways(l, b, o, &w);
                step_backward(l, o, b, &w, sum[o - first], rest);
                if (o > first)
                        shift_places(rest, b->first - before[o - first - 1].first);
        }
}

/* --- learning -------------------------------------------------------------------------- */

static void run(EventLoop *l)
{
        Places *at = g_new0(Places, 1);

        for (guint used = 0; used < 2; used++)
                for (gsize k = 0; k < (gsize)l->n_kinds * (l->n_made + 1); k++)
                        l->count[used][k] = tuning.loop_backoff;
        at->n = 1;
        at->at[0].fresh = 1;
        for (guint32 first = 0, end; first < l->n_outputs; first = end) {
                end = first + LOOP_PART;
                if (!is_heard_part(l, first))
                        continue;
                while (end < first + LOOP_BLOCK && is_heard_part(l, end))
                        end += LOOP_PART;
                run_block(l, first, MIN(end, l->n_outputs), at);
        }
        g_free(at);
}

static void learn(EventLoop *l)
{
        for (guint used = 0; used < 2; used++)
                for (guint32 i = 0; i < l->n_kinds; i++) {
                        double sum = 0;

                        for (guint32 k = 0; k <= l->n_made; k++)
                                sum += l->count[used][step_of(l, i, k)];
                        for (guint32 k = 0; k <= l->n_made; k++)
                                l->step[used][step_of(l, i, k)] =
                                        l->count[used][step_of(l, i, k)] / sum;
                }
}

/* --- parents ------------------------------------------------------------------------------ */

/* Scales the values of the candidates of a call to this sum. */
static void scale(const Problem *p, guint32 call, float *value, double to)
{
        double sum = 0;

        for (gsize k = p->candidates[call]; k < p->candidates[call + 1]; k++)
                sum += (double)value[k];
        for (gsize k = p->candidates[call]; k < p->candidates[call + 1]; k++)
                value[k] = sum > 0 ? value[k] * to / sum : to / n_candidates(p, call);
}

/* Adds share times value of the candidates of one call to the same candidates of another. */
static void add_shared(const Problem *p, guint32 from, const float *value, guint32 to, float *sum,
                       double share)
{
        gsize k = p->candidates[from], m = p->candidates[to];

        while (k < p->candidates[from + 1] && m < p->candidates[to + 1])
                if (p->candidate[k] == p->candidate[m])
                        sum[m++] += share * (double)value[k++];
                else if (p->candidate[k] < p->candidate[m])
                        k++;
                else
                        m++;
}

/* Passes parents on from triggers to outputs, in order of time: a call has its trigger's. */
static void pass_on(EventLoop *l)
{
        const Problem *p = l->j->problem;

        for (guint32 o = 0; o < l->n_outputs; o++) {
                guint32 call = l->outputs[o].call;
                double rest = 1;

                if (call >= p->node->n_out || n_candidates(p, call) == 0)
                        continue;
                for (gsize k = p->candidates[call]; k < p->candidates[call + 1]; k++)
                        l->before[k] = 0;
                for (guint i = 0; i < LOOP_TRIGGERS; i++) {
                        const Trigger *t = &l->triggers[o].of[i];
                        guint32 by = l->inputs[t->input].call;
                        gsize k;

                        rest -= (double)t->share;
                        if (by < p->node->n_out) {
                                add_shared(p, by, l->before, call, l->before, (double)t->share);
                                continue;
                        }
                        k = problem_find_candidate(p, call, by - p->node->n_out);
                        if (k != G_MAXSIZE)
                                l->before[k] += t->share;
                }
                for (gsize k = p->candidates[call]; k < p->candidates[call + 1]; k++)
                        l->before[k] +=
                                MAX(rest, tuning.loop_least_agreement) / n_candidates(p, call);
                scale(p, call, l->before, 1);
        }
}

/* Passes what is known about an output's parent to its trigger. room: by its candidate. */
static void tell(EventLoop *l, guint32 o, guint32 by, double share, float *room)
{
        const Problem *p = l->j->problem;
        guint32 call = l->outputs[o].call;
        gsize first = p->candidates[by], n = p->candidates[by + 1] - first, k;

        memset(room + first, 0, n * sizeof *room);
        if (call < p->node->n_out)
                add_shared(p, call, l->after, by, room, share);
        else if ((k = problem_find_candidate(p, by, call - p->node->n_out)) != G_MAXSIZE)
                room[k] = share * n;
        for (k = first; k < first + n; k++)
                l->after[k] *= room[k] + MAX(1 - share, tuning.loop_least_agreement);
        scale(p, by, l->after, n);
}

/* Passes parents from outputs to triggers, in reverse order of time. */
static void pass_back(EventLoop *l)
{
        const Problem *p = l->j->problem;
        g_autofree float *room = g_new(float, problem_n_all(p) + 1);

        for (gsize k = 0; k < problem_n_all(p); k++)
                l->after[k] = 1;
        for (guint32 o = l->n_outputs; o-- > 0;)
                for (guint i = 0; i < LOOP_TRIGGERS; i++) {
                        const Trigger *t = &l->triggers[o].of[i];
                        guint32 by = l->inputs[t->input].call;

                        if (t->share > tuning.loop_least_agreement && by < p->node->n_out)
                                tell(l, o, by, (double)t->share, room);
                }
}

EventLoop *event_loop_new(const Joint *j)
{
        EventLoop *l = g_new0(EventLoop, 1);

        l->j = j;
        gather(l);
        begin(l);
        return l;
}

void event_loop_free(EventLoop *l)
{
        loop_clear(l);
        g_free(l);
}

void event_loop_round(EventLoop *l, float *chance)
{
        const Problem *p = l->j->problem;

        find_agreement(l);
        for (guint i = 0; i < (l->begun ? tuning.loop_later_steps : tuning.loop_first_steps); i++) {
                run(l);
                learn(l);
        }
        l->begun = TRUE;
        pass_on(l);
        pass_back(l);
        for (gsize k = 0; k < problem_n_all(p); k++)
                chance[k] = l->before[k] * l->after[k];
        for (guint32 i = 0; i < p->node->n_out; i++)
                scale(p, i, chance, 1);
}
