/* SPDX-License-Identifier: BSD-2-Clause */
#include "maketrace/tracelet.h"

#include <string.h>

enum { MOST_REPEATS = 1000000 };

#define STEP_EXPECTED                                                                              \
        "a time such as 5ms, a call such as DB( 3ms ), a message such as >>log, \"{\", !mark or "  \
        "@mark"

/* The state of the parser. */
typedef struct {
        Tracelet *tracelet;
        TextCursor *c;
        NodeTable *nodes;
        guint calls, blocks; /* calls and blocks around the cursor */
        gboolean sends;      /* something was sent in this path */
} Parser;

static gboolean parse_steps(Parser *p, Step **first, GError **error);

static void step_free(gpointer data)
{
        Step *step = data;

        g_free(step->nodes);
        g_free(step);
}

Tracelet *tracelet_new(const char *name)
{
        Tracelet *t = g_new0(Tracelet, 1);

        t->name = g_strdup(name);
        t->paths = g_ptr_array_new();
        t->steps = g_ptr_array_new_with_free_func(step_free);
        t->marks = g_ptr_array_new_with_free_func(g_free);
        return t;
}

void tracelet_free(Tracelet *t)
{
        if (!t)
                return;
        g_ptr_array_free(t->paths, TRUE);
        g_ptr_array_free(t->steps, TRUE);
        g_ptr_array_free(t->marks, TRUE);
        g_free(t->name);
        g_free(t);
}

static Step *tracelet_add_step(Parser *p, StepKind kind)
{
        Step *step = g_new0(Step, 1);

        step->kind = kind;
        step->turn = -1;
        step->probability = 1;
        step->repeat = 1;
        g_ptr_array_add(p->tracelet->steps, step);
        return step;
}

/* --- nodes ----------------------------------------------------------------- */

static gboolean parse_name(Parser *p, Step *step, GError **error)
{
        g_autoptr(GError) why = NULL;
        NodeId node;
        gsize n;

        text_cursor_skip_blanks(p->c);
        n = text_cursor_word(p->c);
        if (n == 0)
                return text_cursor_fail_here(p->c, error, "the name of a node");
        node = node_table_add_written(p->nodes, (const char *)p->c->data + p->c->at, n, &why);
        if (node == NO_NODE)
                return text_cursor_fail(p->c, p->c->at, n, error, "the name of a node; this is %s",
                                        why->message);
        p->c->at += n;
        step->nodes = g_renew(NodeId, step->nodes, step->n_nodes + 1);
        step->nodes[step->n_nodes++] = node;
        return TRUE;
}

static gboolean parse_callee(Parser *p, Step *step, GError **error)
{
        gboolean commas = FALSE;

        if (!text_cursor_accept(p->c, "["))
                return parse_name(p, step, error);
        for (;;) {
                if (!parse_name(p, step, error))
                        return FALSE;
                if (step->n_nodes == 1 && (commas = text_cursor_accept(p->c, ",")))
                        continue;
                if (text_cursor_accept(p->c, "]"))
                        break;
                if (commas && !text_cursor_accept(p->c, ","))
                        return text_cursor_fail_here(p->c, error, "\",\" or \"]\"");
                if (!commas && text_cursor_accept(p->c, ",")) {
                        p->c->at--;
                        return text_cursor_fail_here(p->c, error,
                                                     "a name or \"]\": commas between all nodes "
                                                     "(in turn) or between none (at random)");
                }
        }
        if (commas)
                step->turn = p->tracelet->n_turns++;
        return TRUE;
}

/* --- how often ------------------------------------------------------------- */

static gboolean parse_probability(Parser *p, Step *step, GError **error)
{
        gsize at;

        text_cursor_skip_blanks(p->c);
        at = p->c->at;
        if (text_cursor_number(p->c, &step->probability) && step->probability > 0 &&
            step->probability <= 1)
                return TRUE;
        p->c->at = at;
        return text_cursor_fail_here(p->c, error, "a probability above 0 and at most 1");
}

static gboolean parse_repeat(Parser *p, Step *step, GError **error)
{
        guint64 count;
        gsize at;

        text_cursor_skip_blanks(p->c);
        at = p->c->at;
        if (text_cursor_accept(p->c, "poisson")) {
                if (!text_cursor_expect(p->c, "(", error))
                        return FALSE;
                text_cursor_skip_blanks(p->c);
                at = p->c->at;
                if (!text_cursor_number(p->c, &step->repeat_mean) || !(step->repeat_mean > 0) ||
                    step->repeat_mean > MOST_REPEATS) {
                        p->c->at = at;
                        return text_cursor_fail_here(p->c, error,
                                                     "a mean above 0 and at most 1000000");
                }
                step->repeat = 0;
                return text_cursor_expect(p->c, ")", error);
        }
        if (text_cursor_integer(p->c, &count) && count >= 1 && count <= MOST_REPEATS) {
                step->repeat = count;
                return TRUE;
        }
        p->c->at = at;
        return text_cursor_fail_here(p->c, error, "a count from 1 to 1000000, or poisson(2)");
}

static gboolean parse_how_often(Parser *p, Step *step, GError **error)
{
        return (!text_cursor_accept(p->c, "?") || parse_probability(p, step, error)) &&
               (!text_cursor_accept(p->c, "*") || parse_repeat(p, step, error));
}

/* --- steps ----------------------------------------------------------------- */

/* Parses a call or message, from its callee on. */
static gboolean parse_call(Parser *p, Step *step, GError **error)
{
        p->sends = TRUE;
        if (!parse_callee(p, step, error) || !parse_how_often(p, step, error))
                return FALSE;
        p->tracelet->depth = MAX(p->tracelet->depth, p->calls + 1);
        if (!text_cursor_accept(p->c, "("))
                return TRUE;
        if (p->calls + 1 == TRACELET_DEPTH) {
                p->c->at--;
                return text_cursor_fail_here(p->c, error, "fewer than 64 calls within each other");
        }
        p->calls++;
        if (!parse_steps(p, &step->first, error))
                return FALSE;
        p->calls--;
        return text_cursor_accept(p->c, ")") ||
               text_cursor_fail_here(p->c, error, STEP_EXPECTED ", or \")\"");
}

/* Parses a block, after its opening brace. */
static gboolean parse_block(Parser *p, Step *step, GError **error)
{
        Step **last = &step->first;

        if (++p->blocks > TRACELET_DEPTH) {
                p->c->at--;
                return text_cursor_fail_here(p->c, error, "at most 64 blocks within each other");
        }
        do {
                *last = tracelet_add_step(p, STEP_BRANCH);
                if (!parse_steps(p, &(*last)->first, error))
                        return FALSE;
                if (!(*last)->first)
                        return text_cursor_fail_here(p->c, error, STEP_EXPECTED);
                last = &(*last)->next;
        } while (text_cursor_accept(p->c, "|"));
        p->blocks--;
        if (!text_cursor_accept(p->c, "}"))
                return text_cursor_fail_here(p->c, error, STEP_EXPECTED ", \"|\" or \"}\"");
        return parse_how_often(p, step, error);
}

static gboolean parse_mark(Parser *p, Step *step, GError **error)
{
        GPtrArray *marks = p->tracelet->marks;
        gsize n = text_cursor_word(p->c);
        g_autofree char *name = g_strndup((const char *)p->c->data + p->c->at, n);
        guint i;

        if (n == 0)
                return text_cursor_fail_here(p->c, error, "the name of a mark");
        if (!g_ptr_array_find_with_equal_func(marks, name, g_str_equal, &i)) {
                i = marks->len;
                if (i == TRACELET_MARKS)
                        return text_cursor_fail_here(p->c, error,
                                                     "one of the 64 marks named before");
                g_ptr_array_add(marks, g_steal_pointer(&name));
        }
        p->c->at += n;
        step->mark = i;
        *(step->kind == STEP_MARK ? &p->tracelet->marked : &p->tracelet->awaited) |= 1ull << i;
        return TRUE;
}

/* Rejects a word such as the 5 of "5 ms", which would be two nodes. */
static gboolean check_name(Parser *p, GError **error)
{
        TextCursor ahead = *p->c;

        if (!g_ascii_isdigit(text_cursor_peek(p->c)))
                return TRUE;
        ahead.at += text_cursor_word(p->c);
        return text_cursor_accept(&ahead, "(") || text_cursor_accept(&ahead, "?") ||
               text_cursor_accept(&ahead, "*") ||
               text_cursor_fail_here(
                       p->c, error,
                       "a time with its unit, such as 5ms (or \"(\" after the name of a node)");
}

/* Parses one step into *last; NULL if none begins at the cursor. */
static gboolean parse_step(Parser *p, Step **last, GError **error)
{
        *last = NULL;
        text_cursor_skip_blanks(p->c);
        if (delay_law_at(p->c)) {
                *last = tracelet_add_step(p, STEP_DELAY);
                return delay_law_parse(p->c, &(*last)->delay, error);
        }
        if (text_cursor_accept(p->c, "{"))
                return parse_block(p, *last = tracelet_add_step(p, STEP_BLOCK), error);
        if (text_cursor_accept(p->c, "!"))
                return parse_mark(p, *last = tracelet_add_step(p, STEP_MARK), error);
        if (text_cursor_accept(p->c, "@"))
                return parse_mark(p, *last = tracelet_add_step(p, STEP_WAIT), error);
        if (text_cursor_accept(p->c, ">>"))
                return parse_call(p, *last = tracelet_add_step(p, STEP_MESSAGE), error);
        if (text_cursor_word(p->c) == 0 && text_cursor_peek(p->c) != '[')
                return TRUE;
        return check_name(p, error) &&
               parse_call(p, *last = tracelet_add_step(p, STEP_CALL), error);
}

static gboolean parse_steps(Parser *p, Step **first, GError **error)
{
        Step **last = first;

        for (;;) {
                if (!parse_step(p, last, error))
                        return FALSE;
                if (!*last)
                        return TRUE;
                last = &(*last)->next;
                text_cursor_accept(p->c, ",");
        }
}

gboolean tracelet_add_path(Tracelet *t, TextCursor *c, NodeTable *nodes, GError **error)
{
        Parser p = { .tracelet = t, .c = c, .nodes = nodes };
        Step *root = tracelet_add_step(&p, STEP_CALL);

        if (!parse_callee(&p, root, error))
                return FALSE;
        text_cursor_skip_blanks(c);
        if (!(c->n - c->at >= 2 && !memcmp(c->data + c->at, ">>", 2)) &&
            !text_cursor_accept(c, ">"))
                return text_cursor_fail_here(c, error,
                                             "\">\" or \">>\" after the node that begins");
        if (!parse_steps(&p, &root->first, error))
                return FALSE;
        if (!root->first || c->at < c->n)
                return text_cursor_fail_here(c, error, STEP_EXPECTED);
        if (!p.sends)
                return text_cursor_fail_here(c, error, "a call or a message: this path has none");
        g_ptr_array_add(t->paths, root);
        return TRUE;
}
