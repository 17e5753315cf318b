/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/moved-messages.h"

#include <string.h>

#include "base/each.h"
#include "clocks/skewer.h"
#include "nesting/nesting.h"

enum { MOST_HELD = 1 << 16 }; /* messages that offsets are estimated from */

struct MovedMessages {
        NodeTable *nodes;
        const NestingOptions *options;
        MessageNext next;
        gpointer data;
        GArray *clocks;  /* of ClockOffset */
        gboolean known;  /* they are of facts */
        Skewer *skewer;  /* NULL: messages pass */
        GPtrArray *held; /* of Message, each with its texts behind it; NULL: none wait */
        Nesting *probe;  /* the calls of the messages held */
        gint64 until;    /* messages are held up to it, ns */
};

MovedMessages *moved_messages_new(NodeTable *nodes, const NestingOptions *options, MessageNext next,
                                  gpointer data)
{
        MovedMessages *m = g_new0(MovedMessages, 1);

        m->nodes = nodes;
        m->options = options;
        m->next = next;
        m->data = data;
        m->clocks = g_array_new(FALSE, FALSE, sizeof(ClockOffset));
        return m;
}

void moved_messages_free(MovedMessages *m)
{
        if (!m)
                return;
        g_array_free(m->clocks, TRUE);
        skewer_free(m->skewer);
        if (m->held)
                g_ptr_array_free(m->held, TRUE);
        nesting_free(m->probe);
        g_free(m);
}

/* --- facts ----------------------------------------------------------------- */

static void note_known(MovedMessages *m, const Skew *skew)
{
        ClockOffset new = { .node = skew->node };
        ClockOffset *c = NULL;

        for (guint i = 0; i < m->clocks->len && !c; i++)
                if (g_array_index(m->clocks, ClockOffset, i).node == skew->node)
                        c = &g_array_index(m->clocks, ClockOffset, i);
        if (!c) {
                g_array_append_val(m->clocks, new);
                c = &g_array_index(m->clocks, ClockOffset, m->clocks->len - 1);
        }
        c->offset += skew->offset;
        c->least = c->most = c->offset;
}

/* The skews of the facts, the last first. Empty if a skew was removed: then the rest is unknown.
 * NULL with error set. */
static GArray *known_skews(const MovedMessages *m, char *const *facts, guint n, GError **error)
{
        g_autoptr(GArray) skews = g_array_new(FALSE, FALSE, sizeof(Skew));

        for (guint i = n; i-- > 0;) {
                Skew skew;

                if (!skew_is_fact(facts[i]))
                        continue;
                if (!skew_from_fact(&skew, facts[i], m->nodes, error))
                        return NULL;
                if (skew.remove) {
                        g_array_set_size(skews, 0);
                        break;
                }
                g_array_append_val(skews, skew);
        }
        return g_steal_pointer(&skews);
}

TraceClocks moved_messages_trace_clocks(const MovedMessages *m, char *const *facts, guint n)
{
        g_autofree char **others = g_new(char *, n + 1);
        guint kept = 0;

        for (guint i = 0; i < n; i++)
                if (!m->known || !skew_is_fact(facts[i]))
                        others[kept++] = facts[i];
        return trace_clocks(others, kept);
}

gboolean moved_messages_begin(MovedMessages *m, char *const *facts, guint n, GError **error)
{
        g_autoptr(GArray) skews = known_skews(m, facts, n, error);

        if (!skews)
                return FALSE;
        if (m->options->max_offset == 0)
                return TRUE;
        m->known = skews->len > 0;
        for (guint i = 0; i < skews->len; i++) {
                note_known(m, &g_array_index(skews, Skew, i));
                g_array_index(skews, Skew, i).remove = TRUE;
        }
        if (m->known) {
                m->skewer = skewer_new_to((const Skew *)skews->data, skews->len, m->nodes, m->next,
                                          m->data);
        } else if (m->options->span > 0) {
                TraceClocks clocks = trace_clocks(facts, n);
                NestingOptions options = *m->options;

                if (clocks == CLOCKS_ONE)
                        return TRUE;
                options.span = 0;
                options.fold = FALSE; /* it would name a node */
                options.keep = options.places = FALSE;
                m->held = g_ptr_array_new_with_free_func(g_free);
                m->probe = nesting_new(m->nodes, &options);
                nesting_set_clocks(m->probe, clocks);
        }
        return TRUE;
}

/* --- estimates --------------------------------------------------------------- */

static Message *copy_message(const Message *message)
{
        Message *copy = g_malloc(sizeof *copy + message->id_length + message->attrs_length);
        char *text = (char *)(copy + 1);

        *copy = *message;
        copy->id = text;
        copy->attrs = text + message->id_length;
        memcpy(text, message->id, message->id_length);
        memcpy(text + message->id_length, message->attrs, message->attrs_length);
        return copy;
}

static gboolean pass(MovedMessages *m, const Message *message, GError **error)
{
        return m->skewer ? skewer_add(m->skewer, message, error) : m->next(m->data, message, error);
}

/* Estimates the offsets, and lets go of the messages held. */
static gboolean let_go(MovedMessages *m, GError **error)
{
        g_autoptr(GArray) skews = g_array_new(FALSE, FALSE, sizeof(Skew));
        g_autoptr(GPtrArray) held = g_steal_pointer(&m->held);
        const GArray *found;

        nesting_end_calls(m->probe);
        found = nesting_clocks(m->probe);
        if (found)
                g_array_append_vals(m->clocks, found->data, found->len);
        g_clear_pointer(&m->probe, nesting_free);
        EACH (const ClockOffset, c, m->clocks) {
                Skew skew = { .node = c->node, .offset = c->offset, .remove = TRUE };

                if (!c->doubtful)
                        g_array_append_val(skews, skew);
        }
        if (skews->len > 0)
                m->skewer = skewer_new_to((const Skew *)skews->data, skews->len, m->nodes, m->next,
                                          m->data);
        for (guint i = 0; i < held->len; i++)
                if (!pass(m, held->pdata[i], error))
                        return FALSE;
        return TRUE;
}

/* --- messages ---------------------------------------------------------------- */

gboolean moved_messages_add(MovedMessages *m, const Message *message, GError **error)
{
        if (G_LIKELY(!m->held))
                return pass(m, message, error);
        if (m->held->len == 0)
                m->until = message->time + m->options->span;
        if (!nesting_add(m->probe, message, error))
                return FALSE;
        g_ptr_array_add(m->held, copy_message(message));
        return (message->time < m->until && m->held->len < MOST_HELD) || let_go(m, error);
}

gboolean moved_messages_finish(MovedMessages *m, GError **error)
{
        return (!m->held || let_go(m, error)) && (!m->skewer || skewer_finish(m->skewer, error));
}

const GArray *moved_messages_clocks(const MovedMessages *m)
{
        return m->clocks;
}
