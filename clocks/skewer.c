/* SPDX-License-Identifier: BSD-2-Clause */
#include "clocks/skewer.h"

#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "tracefmt/trace-reader.h"

#define UNITS G_GINT64_CONSTANT(1000000000000000) /* of drift, in one */

static const char added[] = "skew added: ", removed[] = "skew removed: ";

/* a / b, to the nearest integer; b is positive. */
static __int128 divide_down(__int128 a, __int128 b)
{
        return a < 0 ? -((-a + b / 2) / b) : (a + b / 2) / b;
}

gint64 skew_apply(const Skew *skew, gint64 time)
{
        __int128 t = (__int128)time - skew->since;

        if (skew->remove)
                t = divide_down((t - skew->offset) * UNITS, UNITS + skew->drift);
        else
                t += skew->offset + divide_down(t * skew->drift, UNITS);
        return CLAMP(t + skew->since, G_MININT64, G_MAXINT64);
}

static void put_decimal(GString *out, const char *plus, gint64 billionths)
{
        guint64 n = billionths < 0 ? -(guint64)billionths : (guint64)billionths;

        g_string_append_printf(out, "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
                               billionths < 0 ? "-" : plus, n / 1000000000, n % 1000000000);
}

char *skew_to_fact(const Skew *skew, const NodeTable *nodes)
{
        GString *out = g_string_new(skew->remove ? removed : added);

        g_string_append_printf(out, "%s ", node_table_written(nodes, skew->node));
        put_decimal(out, "+", skew->offset);
        g_string_append(out, " s ");
        put_decimal(out, "+", skew->drift);
        g_string_append(out, " ppm since ");
        put_decimal(out, "", skew->since);
        return g_string_free(out, FALSE);
}

gboolean skew_is_fact(const char *fact)
{
        return g_str_has_prefix(fact, added) || g_str_has_prefix(fact, removed);
}

/* What put_decimal() wrote: but for a plus, a stamp. */
static gboolean parse_decimal(const char *text, gint64 *billionths)
{
        return trace_parse_time(text + (*text == '+'), billionths, NULL);
}

gboolean skew_from_fact(Skew *skew, const char *fact, NodeTable *nodes, GError **error)
{
        enum { NODE, OFFSET, S, PPM, UNIT, SINCE, TIME, N_WORDS };
        const char *text = strchr(fact, ':');
        g_auto(GStrv) words = g_strsplit(text ? text + 2 : "", " ", -1);

        *skew = (Skew){ .remove = g_str_has_prefix(fact, removed) };
        if (skew_is_fact(fact) && g_strv_length(words) == N_WORDS && !strcmp(words[S], "s") &&
            !strcmp(words[UNIT], "ppm") && !strcmp(words[SINCE], "since") &&
            parse_decimal(words[OFFSET], &skew->offset) &&
            parse_decimal(words[PPM], &skew->drift) && ABS(skew->drift) <= SKEW_MAX_DRIFT &&
            parse_decimal(words[TIME], &skew->since)) {
                skew->node = node_table_add_written(nodes, words[NODE], strlen(words[NODE]), error);
                return skew->node != NO_NODE;
        }
        return ravel_fail(error, RAVEL_ERROR_INPUT,
                          "\"%s\" is not a skew: expected such as \"%sNODE +0.030000000 s "
                          "+50.000000000 ppm since 1047680084.482205000\"",
                          fact, skew->remove ? removed : added);
}

typedef struct {
        Message message; /* its time is the new one, its texts lie in text */
        char *text;
        GPtrArray *facts; /* that stand before it; NULL where there are none */
        guint64 number;   /* counts messages in the order of the lines */
} Waiting;

struct Skewer {
        GArray *skews; /* of Skew, those of a node together */
        guint32 *
                first; /* by NodeId, below n_first: the first of its skews, or how many there are */
        NodeId n_first;
        const NodeTable *nodes;
        SkewerPut put;
        gpointer data;    /* for it; a trace writer */
        TraceWriter *out; /* NULL: facts go nowhere */

        GArray *heap; /* of Waiting: a binary heap, the first to write on top */
        GPtrArray *facts;
        guint64 n_read, most_waiting;
        gint64 earliest;       /* nothing that is still to come is stamped before */
        guint64 next_earliest; /* the message that it is found again at */
};

static void waiting_clear(gpointer data)
{
        Waiting *w = data;

        g_free(w->text);
        g_clear_pointer(&w->facts, g_ptr_array_unref);
}

COMPARISON(by_node, Skew, COMPARE(a->node, b->node))

Skewer *skewer_new_to(const Skew *skews, guint n, const NodeTable *nodes, SkewerPut put,
                      gpointer data)
{
        Skewer *s = g_new0(Skewer, 1);

        s->skews = g_array_new(FALSE, FALSE, sizeof(Skew));
        s->heap = g_array_new(FALSE, FALSE, sizeof(Waiting));
        g_array_set_clear_func(s->heap, waiting_clear);
        g_array_append_vals(s->skews, skews, n);
        g_array_sort(s->skews, by_node); /* stable: a node's skews stay in order */
        s->n_first = n ? g_array_index(s->skews, Skew, n - 1).node + 1 : 0;
        s->first = g_new(guint32, s->n_first);
        for (NodeId node = 0; node < s->n_first; node++)
                s->first[node] = n;
        for (guint i = n; i-- > 0;)
                s->first[g_array_index(s->skews, Skew, i).node] = i;
        s->nodes = nodes;
        s->put = put;
        s->data = data;
        return s;
}

static gboolean put_into_trace(gpointer data, const Message *message, GError **error)
{
        return trace_writer_add(data, message, error);
}

Skewer *skewer_new(const Skew *skews, guint n, const NodeTable *nodes, TraceWriter *out)
{
        Skewer *s = skewer_new_to(skews, n, nodes, put_into_trace, out);

        s->out = out;
        return s;
}

/* Through all skews of the node that the i-th is of, from there on. */
static gint64 move(const Skewer *s, guint i, gint64 time)
{
        const Skew *skew = &g_array_index(s->skews, Skew, i);
        NodeId node = skew->node;

        for (; i < s->skews->len && skew->node == node; i++, skew++)
                time = skew_apply(skew, time);
        return time;
}

/* --- the heap -------------------------------------------------------------- */

static gboolean waiting_is_before(const Skewer *s, const Waiting *a, const Waiting *b)
{
        const Message *x = &a->message, *y = &b->message;
        NodeId at_x = message_observer(x), at_y = message_observer(y);

        if (x->time != y->time)
                return x->time < y->time;
        if (message_is_return(x) != message_is_return(y))
                return message_is_return(y);
        if (at_x != at_y)
                return strcmp(node_table_written(s->nodes, at_x),
                              node_table_written(s->nodes, at_y)) < 0;
        return a->number < b->number;
}

static void heap_put(Skewer *s, const Waiting *new)
{
        GArray *heap = s->heap;
        guint i = heap->len;

        g_array_set_size(heap, i + 1);
        while (i > 0) {
                const Waiting *parent = &g_array_index(heap, Waiting, (i - 1) / 2);

                if (!waiting_is_before(s, new, parent))
                        break;
                g_array_index(heap, Waiting, i) = *parent;
                i = (i - 1) / 2;
        }
        g_array_index(heap, Waiting, i) = *new;
        s->most_waiting = MAX(s->most_waiting, heap->len);
}

/* Takes the top, which is then the caller's. */
static Waiting heap_take_first(Skewer *s)
{
        Waiting *w = (Waiting *)s->heap->data;
        Waiting top = w[0], last = w[s->heap->len - 1];
        guint n = s->heap->len - 1, i = 0, child;

        while ((child = 2 * i + 1) < n) {
                if (child + 1 < n && waiting_is_before(s, &w[child + 1], &w[child]))
                        child++;
                if (!waiting_is_before(s, &w[child], &last))
                        break;
                w[i] = w[child];
                i = child;
        }
        w[i] = last;
        memset(&w[n], 0, sizeof w[n]); /* nothing to clear there */
        g_array_set_size(s->heap, n);
        return top;
}

/* --- writing --------------------------------------------------------------- */

static gboolean write_facts(Skewer *s, const GPtrArray *facts, GError **error)
{
        for (guint i = 0; facts && i < facts->len; i++)
                if (!trace_writer_copy_fact(s->out, facts->pdata[i], error))
                        return FALSE;
        return TRUE;
}

/* All messages before time. */
static gboolean write_until(Skewer *s, gint64 time, GError **error)
{
        while (s->heap->len && g_array_index(s->heap, Waiting, 0).message.time < time) {
                Waiting w = heap_take_first(s);
                gboolean ok = write_facts(s, w.facts, error) && s->put(s->data, &w.message, error);

                waiting_clear(&w);
                if (!ok)
                        return FALSE;
        }
        return TRUE;
}

/* Where no stamp is before time, none is before this after it has moved. */
static gint64 earliest_moved(const Skewer *s, gint64 time)
{
        gint64 first = time;

        for (guint i = 0; i < s->skews->len; i++)
                if (s->first[g_array_index(s->skews, Skew, i).node] == i)
                        first = MIN(first, move(s, i, time));
        return first;
}

void skewer_add_fact(Skewer *s, const char *fact)
{
        if (!s->facts)
                s->facts = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(s->facts, g_strdup(fact));
}

static gboolean fail_range(const Skewer *s, const Message *m, GError **error)
{
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "the skew of %s moves the stamp %" G_GINT64_FORMAT
                          ".%09d out of the years 1824 to 2115, which a trace may have",
                          node_table_written(s->nodes, message_observer(m)), m->time / 1000000000,
                          (int)ABS(m->time % 1000000000));
}

gboolean skewer_add(Skewer *s, const Message *m, GError **error)
{
        Waiting w = { .message = *m, .number = s->n_read };
        NodeId observer = message_observer(m);

        if (observer < s->n_first && s->first[observer] < s->skews->len)
                w.message.time = move(s, s->first[observer], m->time);
        if (w.message.time > MAX_STAMP || w.message.time < -MAX_STAMP)
                return fail_range(s, m, error);
        w.text = g_malloc(m->id_length + m->attrs_length + 1);
        memcpy(w.text, m->id, m->id_length);
        memcpy(w.text + m->id_length, m->attrs, m->attrs_length);
        w.message.id = w.text;
        w.message.attrs = w.text + m->id_length;
        w.facts = g_steal_pointer(&s->facts);
        heap_put(s, &w);

        /* The same for every message would cost as many steps as there are clocks. An
         * older value is as right, only less: nothing here goes back. */
        if (s->n_read++ >= s->next_earliest) {
                s->earliest = earliest_moved(s, m->time);
                s->next_earliest = s->n_read + s->skews->len;
        }
        return write_until(s, s->earliest, error);
}

gboolean skewer_finish(Skewer *s, GError **error)
{
        return write_until(s, G_MAXINT64, error) && write_facts(s, s->facts, error);
}

guint64 skewer_most_waiting(const Skewer *s)
{
        return s->most_waiting;
}

void skewer_free(Skewer *s)
{
        if (!s)
                return;
        g_array_free(s->skews, TRUE);
        g_array_free(s->heap, TRUE);
        g_clear_pointer(&s->facts, g_ptr_array_unref);
        g_free(s->first);
        g_free(s);
}
