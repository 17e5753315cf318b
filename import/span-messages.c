/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/span-messages.h"

#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "base/printable.h"
#include "tracefmt/sorted-runs.h"

/* A prefix of a message's attributes until it is written. It has the request and the number of
 * messages of that request, after which the request is forgotten. Behind it are the position
 * without its first number, and the other attributes. */
typedef struct {
        guint64 request;
        guint32 n_messages;
        guint32 position; /* bytes of the position */
} Prefix;

/* A request some of whose messages were written. */
typedef struct {
        guint64 request, number;
        guint32 left; /* messages still to be written */
} Open;

struct SpanMessages {
        const NodeTable *nodes;
        SortedRuns *runs;
        guint64 n_requests;
        GByteArray *attributes;
        GString *id, *text;
};

/* The calls of a trace while they are added. */
typedef struct {
        SpanMessages *m;
        const SpanTrace *trace;
        const GArray *calls;
        GPtrArray *positions; /* by call: its position without the number of the request, such as
                                 ".1.2" */
        guint64 *request;     /* by root call: its request */
        guint32 *n_messages;  /* by root call: the messages of its request */
} Adding;

SpanMessages *span_messages_new(const NodeTable *nodes, gsize memory)
{
        SpanMessages *m = g_new0(SpanMessages, 1);

        m->nodes = nodes;
        m->runs = sorted_runs_new(memory);
        m->attributes = g_byte_array_new();
        m->id = g_string_new(NULL);
        m->text = g_string_new(NULL);
        return m;
}

void span_messages_free(SpanMessages *m)
{
        if (!m)
                return;
        sorted_runs_free(m->runs);
        g_byte_array_unref(m->attributes);
        g_string_free(m->id, TRUE);
        g_string_free(m->text, TRUE);
        g_free(m);
}

static const SpanCall *added_call(const Adding *a, guint32 i)
{
        return &g_array_index(a->calls, SpanCall, i);
}

/* --- positions ------------------------------------------------------------------- */

static int compare_call_siblings(const void *x, const void *y, void *data)
{
        const Adding *a = data;
        guint32 i = *(const guint32 *)x, k = *(const guint32 *)y;
        const SpanCall *c = added_call(a, i), *d = added_call(a, k);
        gint64 from = span_call_start(c), to = span_call_start(d);

        return COMPARE(c->parent, d->parent) ?: COMPARE(from, to) ?: COMPARE(i, k);
}

/* By call: its number among its siblings in the order of time, from 1. */
static guint32 *rank_siblings(const Adding *a)
{
        guint32 n = a->calls->len, *rank = g_new(guint32, n + 1);
        g_autofree guint32 *sorted = g_new(guint32, n + 1);

        for (guint32 i = 0; i < n; i++)
                sorted[i] = i;
        if (n > 0)
                g_qsort_with_data(sorted, (gint)n, sizeof *sorted, compare_call_siblings,
                                  (gpointer)a);
        for (guint32 i = 0; i < n; i++)
                rank[sorted[i]] = i > 0 && added_call(a, sorted[i])->parent ==
                                                          added_call(a, sorted[i - 1])->parent
                                          ? rank[sorted[i - 1]] + 1
                                          : 1;
        return rank;
}

static void find_positions(Adding *a)
{
        g_autofree guint32 *rank = rank_siblings(a);

        for (guint32 i = 0; i < a->calls->len; i++) {
                const SpanCall *c = added_call(a, i);

                if (c->parent == NO_SPAN)
                        a->request[i] = a->m->n_requests++;
                g_ptr_array_add(a->positions,
                                c->parent == NO_SPAN
                                        ? g_strdup("")
                                        : g_strdup_printf("%s.%u",
                                                          (char *)a->positions->pdata[c->parent],
                                                          rank[i]));
                for (guint op = 0; op < N_MESSAGE_OPS; op++)
                        a->n_messages[c->root] += c->stamp[op] != NO_TIME;
        }
}

/* --- a message ------------------------------------------------------------------- */

static void append_id(GString *to, guint64 trace, guint64 id)
{
        g_string_append_printf(to, "%08x.%" G_GINT64_MODIFIER "x", (guint32)trace, id);
}

/* Appends an id as it was in a trace. Escapes only characters that a trace does not allow. */
static void append_written(GString *to, const char *id, gsize n)
{
        gsize from = to->len;

        printable_append(to, id, (gssize)n, PRINTABLE_FIELD);
        for (gsize i = from; i < to->len; i++)
                if ((guint8)to->str[i] <= ' ')
                        to->str[i] = '_';
}

static void append_call_id(const Adding *a, GString *to, const SpanCall *c)
{
        const Span *s = span_trace_span(a->trace, c->span);

        if (s->text_length)
                append_written(to, s->text, s->text_length);
        else
                append_id(to, s->trace.low, s->id);
}

/* Whether the span's name is an operation. ravel export names the span of a call without one
 * "CALLER > CALLEE". */
static gboolean has_operation(const Adding *a, const SpanCall *c, const Span *s)
{
        static const char arrow[] = " > ";
        const char *callee = node_table_name(a->m->nodes, c->callee);
        gsize n = strlen(callee) + strlen(arrow);

        if (s->name_length == 0 || !(s->flags & SPAN_INFERRED) || s->name_length <= n)
                return s->name_length > 0;
        return memcmp(s->name + s->name_length - n, arrow, strlen(arrow)) != 0 ||
               memcmp(s->name + s->name_length - strlen(callee), callee, strlen(callee)) != 0;
}

static void append_label(const Adding *a, GString *to, const SpanCall *c)
{
        const Span *s = span_trace_span(a->trace, c->span);
        g_autofree char *name = NULL;

        if (!has_operation(a, c, s))
                return;
        name = g_utf8_make_valid(s->name, s->name_length);
        g_string_append(to, " label=");
        node_table_escape(to, name, strlen(name), FALSE);
}

static void append_link(const Adding *a, GString *to, const SpanCall *c)
{
        const Span *s = span_trace_span(a->trace, c->span);

        if (c->link == NO_SPAN && !c->elsewhere)
                return;
        g_string_append(to, " link=");
        if (c->link != NO_SPAN)
                append_call_id(a, to, added_call(a, c->link));
        else
                append_id(to, s->other_trace.low, s->other);
}

/* The outcome that the callee's span says, else the caller's. */
static void append_outcome(const Adding *a, GString *to, const SpanCall *c)
{
        Outcome outcome = span_trace_span(a->trace, c->span)->outcome;
        guint32 via = span_trace_place(a->trace, c->span)->via;
        char text[OUTCOME_TEXT + 1];

        if (outcome == OUTCOME_OK && via != NO_SPAN)
                outcome = span_trace_span(a->trace, via)->outcome;
        if (outcome_write(outcome, text) > 0)
                g_string_append_printf(to, " st=%s", text);
}

/* Sets the attributes of a message. Only the first stamp of a call has its operation. */
static void make_attributes(const Adding *a, guint32 i, MessageOp op)
{
        const SpanCall *c = added_call(a, i);
        const char *position = a->positions->pdata[i];
        Prefix prefix = { a->request[c->root], a->n_messages[c->root], (guint32)strlen(position) };
        GByteArray *to = a->m->attributes;
        GString *text = a->m->text;

        g_string_truncate(text, 0);
        if (op == CALL_SENT || op == MSG_SENT ||
            (op == CALL_RECV && c->stamp[CALL_SENT] == NO_TIME) ||
            (op == MSG_RECV && c->stamp[MSG_SENT] == NO_TIME))
                append_label(a, text, c);
        if (op != RET_SENT && op != RET_RECV)
                append_link(a, text, c);
        else
                append_outcome(a, text, c);
        g_byte_array_set_size(to, 0);
        g_byte_array_append(to, (const guint8 *)&prefix, sizeof prefix);
        g_byte_array_append(to, (const guint8 *)position, prefix.position);
        g_byte_array_append(to, (const guint8 *)text->str, (guint)text->len);
}

/* Adds a message to the sort. Its key is twice the time, plus 1 for a return: so of equal stamps
 * calls come before returns. The key does not overflow, since stamps use less than 63 bits. */
static gboolean add_message(Adding *a, guint32 i, MessageOp op, GError **error)
{
        const SpanCall *c = added_call(a, i);
        gboolean is_return = op == RET_SENT || op == RET_RECV;
        Message m = { .sender = is_return ? c->callee : c->caller,
                      .receiver = is_return ? c->caller : c->callee,
                      .op = op };

        if (c->stamp[op] == NO_TIME)
                return TRUE;
        m.time = 2 * c->stamp[op] + is_return;
        g_string_truncate(a->m->id, 0);
        append_call_id(a, a->m->id, c);
        make_attributes(a, i, op);
        m.id = a->m->id->str;
        m.id_length = (guint32)a->m->id->len;
        m.attrs = (const char *)a->m->attributes->data;
        m.attrs_length = a->m->attributes->len;
        return sorted_runs_add(a->m->runs, &m, error);
}

/* Adds all messages of a trace. Of equal stamps, calls come from the outermost to the innermost,
 * and returns the other way. */
static gboolean add_messages(Adding *a, GError **error)
{
        static const MessageOp calls[] = { CALL_SENT, MSG_SENT, CALL_RECV, MSG_RECV };

        for (guint32 i = 0; i < a->calls->len; i++)
                for (guint k = 0; k < G_N_ELEMENTS(calls); k++)
                        if (!add_message(a, i, calls[k], error))
                                return FALSE;
        for (guint32 i = a->calls->len; i-- > 0;)
                if (!add_message(a, i, RET_SENT, error) || !add_message(a, i, RET_RECV, error))
                        return FALSE;
        return TRUE;
}

gboolean span_messages_add(SpanMessages *m, const SpanTrace *trace, const GArray *calls,
                           GError **error)
{
        g_autoptr(GPtrArray) positions = g_ptr_array_new_with_free_func(g_free);
        g_autofree guint64 *request = g_new0(guint64, calls->len + 1);
        g_autofree guint32 *n_messages = g_new0(guint32, calls->len + 1);
        Adding a = { m, trace, calls, positions, request, n_messages };

        find_positions(&a);
        return add_messages(&a, error);
}

/* --- all of them ----------------------------------------------------------------- */

/* The number of the message's request. */
static guint64 take_request_number(GHashTable *open, const Prefix *prefix, guint64 *last)
{
        Open *o = g_hash_table_lookup(open, &prefix->request);
        guint64 number;

        if (!o) {
                o = g_new(Open, 1);
                *o = (Open){ prefix->request, ++*last, prefix->n_messages };
                g_hash_table_insert(open, &o->request, o);
        }
        number = o->number;
        if (--o->left == 0)
                g_hash_table_remove(open, &prefix->request);
        return number;
}

static gboolean write_message(SpanMessages *m, Message *message, GHashTable *open, guint64 *last,
                              TraceWriter *writer, GError **error)
{
        Prefix prefix;
        const char *rest = message->attrs + sizeof prefix;

        memcpy(&prefix, message->attrs, sizeof prefix);
        g_string_printf(m->text, "path=%" G_GUINT64_FORMAT,
                        take_request_number(open, &prefix, last));
        g_string_append_len(m->text, rest, (gssize)(message->attrs_length - sizeof prefix));
        message->time = (message->time - message_is_return(message)) / 2;
        message->attrs = m->text->str;
        message->attrs_length = (guint32)m->text->len;
        return trace_writer_add(writer, message, error);
}

gboolean span_messages_write(SpanMessages *m, TraceWriter *writer, GError **error)
{
        g_autoptr(GHashTable) open = g_hash_table_new_full(hash_int64, g_int64_equal, NULL, g_free);
        guint64 last = 0;
        Message message;
        int status;

        if (!sorted_runs_finish(m->runs, error))
                return FALSE;
        while ((status = sorted_runs_next(m->runs, &message, error)) > 0)
                if (!write_message(m, &message, open, &last, writer, error))
                        return FALSE;
        return status == 0;
}
