/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An event loop is told, and the triggers of its outputs are found.
 */
#include "inference/solve/weigh.h"

/* An input of an event loop: a call into the node, or the return of a call that it made. */
typedef struct {
        gint64 time;
        guint32 parent;
        guint32 returned; /* calls of the parent that have returned */
} LoopInput;

static int compare_in_calls(const void *a, const void *b)
{
        const CallIn *x = a, *y = b;

        return (x->enter > y->enter) - (x->enter < y->enter);
}

static gint compare_loop_inputs(gconstpointer a, gconstpointer b)
{
        const LoopInput *x = a, *y = b;

        return (x->time > y->time) - (x->time < y->time);
}

static guint32 draw_below(guint32 *random, guint32 n)
{
        *random = *random * 1103515245 + 12345;
        return (*random >> 8) % n;
}

/* One thread takes its inputs as they come, from 16 clients that ask again when they are answered.
 * A call makes one call; when that has returned, two more, or one in a quarter of cases; and
 * replies when all have returned. */
static guint32 play_loop(CallIn *in, CallOut *out, guint32 n, guint32 *random)
{
        g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(LoopInput));
        g_autofree guint8 *due = g_new0(guint8, n);
        guint32 n_in = 16, n_out = 0;
        gint64 time = 0;

        for (guint32 p = 0; p < n_in; p++) {
                LoopInput first = { 1000 * (p + 1), p, 0 };

                g_array_append_val(queue, first);
                in[p] = (CallIn){ .enter = first.time, .call = 4 * n + p };
        }
        while (queue->len > 0) {
                LoopInput at = g_array_index(queue, LoopInput, 0);
                guint32 calls = 0;

                g_array_remove_index(queue, 0);
                time = MAX(time, at.time) + 60000 + draw_below(random, 150000);
                if (at.returned == 0)
                        calls = 1;
                else if (at.returned == 1)
                        calls = due[at.parent] = draw_below(random, 4) ? 2 : 1;
                else
                        due[at.parent]--;
                for (guint32 i = 0; i < calls; i++) {
                        LoopInput back = { time + 300000 + draw_below(random, 3000000), at.parent,
                                           at.returned + 1 };

                        out[n_out] = (CallOut){ .start = time,
                                                .end = back.time,
                                                .callee = 1 + at.returned + i };
                        out[n_out++].parent = at.parent;
                        time += 10000;
                        g_array_append_val(queue, back);
                }
                if (at.returned == 2 && due[at.parent] == 0) {
                        in[at.parent].reply = time;
                        if (n_in < n) {
                                LoopInput next = { time + 100000 + draw_below(random, 400000), n_in,
                                                   0 };

                                in[n_in] = (CallIn){ .enter = next.time, .call = 4 * n + n_in };
                                n_in++;
                                g_array_append_val(queue, next);
                        }
                }
                g_array_sort(queue, compare_loop_inputs);
        }
        qsort(in, n, sizeof *in, compare_in_calls);
        return n_out;
}

/* The parents at an event loop that is always busy are found by the order of its inputs. */
static void test_event_loop(void)
{
        enum { N = 1000 };
        CallIn *in = g_new(CallIn, N);
        CallOut *out = g_new(CallOut, 3 * N);
        g_autofree guint32 *truth = g_new(guint32, 3 * N);
        guint32 random = 3, n_right = 0, n_out = play_loop(in, out, N, &random);
        NodeAnswer answer;
        NodeProblem node = { .in = in,
                             .out = out,
                             .n_in = N,
                             .n_out = n_out,
                             .from = G_MININT64,
                             .decide = G_MAXINT64 };

        for (guint32 i = 0; i < n_out; i++) {
                truth[i] = 4 * N + out[i].parent;
                out[i].call = i;
        }
        find_parents_jointly(&node, NULL, &answer);
        for (guint32 i = 0; i < n_out; i++) {
                gsize best = answer.first[i];

                for (gsize c = best; c < answer.first[i + 1]; c++)
                        if (answer.score[c] > answer.score[best])
                                best = c;
                n_right += answer.parent[best] == truth[answer.call[i]];
        }
        g_test_message("%u of %u right", n_right, n_out);
        g_assert_cmpuint(n_right, >=, n_out * 9 / 10);
        node_answer_clear(&answer);
        g_free(in);
        g_free(out);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/event-loop/event-loop", test_event_loop);
        return g_test_run();
}
