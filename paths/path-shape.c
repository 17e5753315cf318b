/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-shape.h"
#include "paths/path-pattern.h"

#define NONE NO_PARENT

/* Trees are walked along links and never by recursion: a hostile trace nests
 * calls as deep as it is long. */
typedef struct {
        guint32 parent;
        guint32 child[2]; /* the first in the order so far: nested, and what goes on; NONE: none */
        guint32 next;     /* its sibling of the same kind */
        gboolean goes_on;
        char mark;        /* '!': no answer, '*': late; 0: none */
        const char *name; /* written form */
} Link;

enum { NESTED, GOES_ON };

/* Where a walk through the text of a subtree stands: what comes next at a node. */
typedef enum { AT_NAME, AT_MARK, AT_NESTED, AT_GOES_ON, AT_BRACE, AT_END } Stage;

typedef struct {
        const Link *links;
        guint32 top, at;
        Stage stage;
} Walk;

/* What comes next in the text: a node's name, where *name is set, else a sign, '~' standing for
 * "~>"; 0 after the last. */
static char walk_next(Walk *w, const char **name)
{
        *name = NULL;
        for (;;) {
                const Link *l = &w->links[w->at];

                switch (w->stage) {
                case AT_NAME:
                        *name = l->name;
                        w->stage = AT_MARK;
                        return 0;
                case AT_MARK:
                        w->stage = AT_NESTED;
                        if (!l->mark)
                                continue;
                        return l->mark;
                case AT_NESTED:
                        w->stage = AT_GOES_ON;
                        if (l->child[NESTED] == NONE)
                                continue;
                        w->at = l->child[NESTED];
                        w->stage = AT_NAME;
                        return '(';
                case AT_GOES_ON:
                        w->stage = AT_END;
                        if (l->child[GOES_ON] == NONE)
                                continue;
                        w->at = l->child[GOES_ON];
                        w->stage = w->links[w->at].next == NONE ? AT_NAME : AT_BRACE;
                        return '~';
                case AT_BRACE:
                        w->stage = AT_NAME;
                        return '{';
                case AT_END:
                        if (w->at == w->top)
                                return 0;
                        if (l->next != NONE) {
                                w->at = l->next;
                                w->stage = AT_NAME;
                                return ',';
                        }
                        w->at = l->parent;
                        if (!l->goes_on) {
                                w->stage = AT_GOES_ON;
                                return ')';
                        }
                        if (w->links[w->links[w->at].child[GOES_ON]].next != NONE)
                                return '}';
                }
        }
}

/* How the texts of two names differ where what follows them is a or b. No name
 * has one of these characters in its written form. */
static int path_shape_compare_names(const char *x, char a, const char *y, char b)
{
        while (*x && *x == *y)
                x++, y++;
        return (guchar)(*x ? *x : a) - (guchar)(*y ? *y : b);
}

/* Compares the texts of two subtrees whose siblings are in order, without making the texts. It
 * walks both while they agree, so it costs no more than the smaller one. */
static int compare_subtrees(const Link *links, guint32 x, guint32 y)
{
        Walk a = { links, x, x, AT_NAME }, b = { links, y, y, AT_NAME };

        for (;;) {
                const char *name, *other, *unused;
                char sign = walk_next(&a, &name), other_sign = walk_next(&b, &other);

                if (name && other) {
                        if (name != other) {
                                sign = walk_next(&a, &unused);
                                return path_shape_compare_names(name, sign, other,
                                                                walk_next(&b, &unused));
                        }
                } else if (name || other) {
                        return (guchar)(name ? *name : sign) -
                               (guchar)(other ? *other : other_sign);
                } else if (sign != other_sign || sign == 0) {
                        return (guchar)sign - (guchar)other_sign;
                }
        }
}

static guint32 merge_siblings(Link *links, guint32 a, guint32 b)
{
        guint32 head = NONE, *tail = &head;

        while (a != NONE && b != NONE) {
                guint32 *least = compare_subtrees(links, a, b) <= 0 ? &a : &b;
                *tail = *least;
                tail = &links[*tail].next;
                *least = *tail;
        }
        *tail = a != NONE ? a : b;
        return head;
}

/* A stable merge sort of the list that begins at first. run[k] is a sorted list
 * of 2^k siblings, all older than those in run[k - 1]. */
static guint32 sort_siblings(Link *links, guint32 first)
{
        guint32 run[32], n_runs = 0;

        if (first == NONE || links[first].next == NONE)
                return first;
        while (first != NONE) {
                guint32 next = links[first].next, k = 0;
                links[first].next = NONE;
                for (; k < n_runs && run[k] != NONE; k++) {
                        first = merge_siblings(links, run[k], first);
                        run[k] = NONE;
                }
                if (k == n_runs)
                        n_runs++;
                run[k] = first;
                first = next;
        }
        guint32 sorted = NONE;
        for (guint32 k = 0; k < n_runs; k++)
                if (run[k] != NONE)
                        sorted = merge_siblings(links, run[k], sorted);
        return sorted;
}

/* Writes the tree in its final order, which is also the pattern's pre-order. */
static char *path_shape_write_signature(const Link *links, const char *client, guint32 *slot)
{
        GString *text = g_string_new(client);
        Walk w = { links, 0, 0, AT_NAME };
        guint32 place = 0;

        g_string_append(text, links[0].goes_on ? "~>" : ">");
        for (;;) {
                guint32 at = w.at;
                const char *name;
                char sign = walk_next(&w, &name);

                if (name) {
                        g_string_append(text, name);
                        slot[at] = place++;
                } else if (sign == '~') {
                        g_string_append(text, "~>");
                } else if (sign) {
                        g_string_append_c(text, sign);
                } else {
                        return g_string_free(text, FALSE);
                }
        }
}

char *path_shape_signature(const NodeTable *nodes, NodeId client, const PathCall *calls, guint32 n,
                           SiblingOrder order, guint32 *slot)
{
        g_autofree Link *links = g_new(Link, n);

        for (guint32 i = 0; i < n; i++)
                links[i] = (Link){ calls[i].parent,
                                   { NONE, NONE },
                                   NONE,
                                   work_goes_on(calls[i].continues),
                                   path_continues_mark(calls[i].continues),
                                   node_table_written(nodes, calls[i].callee) };
        /* Children come after their parents: backwards, each finds its own
         * children in order, and goes to the front of its parent's. */
        for (guint32 i = n; i-- > 0;) {
                for (guint k = NESTED; order == SIBLINGS_MULTISET && k <= GOES_ON; k++)
                        links[i].child[k] = sort_siblings(links, links[i].child[k]);
                if (i == 0)
                        break;
                guint32 *first = &links[links[i].parent].child[links[i].goes_on ? GOES_ON : NESTED];
                links[i].next = *first;
                *first = i;
        }
        return path_shape_write_signature(links, node_table_written(nodes, client), slot);
}
