/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/path-shape.h"

#include <string.h>

#define NONE NO_PARENT

/* Trees are walked along links and never by recursion: a hostile trace nests
 * calls as deep as it is long. */
typedef struct {
        guint32 parent, child, next; /* NONE: none; child is the first in the order so far */
        const char *name;            /* written form */
} Link;

/* What stands in the signature after the subtree at i of the tree below top. */
static char text_after(const Link *links, guint32 i, guint32 top)
{
        if (i == top)
                return 0;
        return links[i].next != NONE ? ',' : ')';
}

/* How the texts of two names differ where what follows them is a or b. No name
 * has one of these characters in its written form. */
static int compare_names(const char *x, char a, const char *y, char b)
{
        while (*x && *x == *y)
                x++, y++;
        return (guchar)(*x ? *x : a) - (guchar)(*y ? *y : b);
}

/* Compares the texts of two subtrees whose own siblings are in order already,
 * without making them: it walks both as long as they agree, so it costs no more
 * than the smaller one. */
static int compare_subtrees(const Link *links, guint32 x, guint32 y)
{
        const guint32 top_x = x, top_y = y;

        for (;;) {
                char a = links[x].child != NONE ? '(' : text_after(links, x, top_x);
                char b = links[y].child != NONE ? '(' : text_after(links, y, top_y);
                if (links[x].name != links[y].name || a != b)
                        return compare_names(links[x].name, a, links[y].name, b);
                if (a == '(') {
                        x = links[x].child;
                        y = links[y].child;
                        continue;
                }
                /* Past every ')' that both have, to the next ','. */
                while (a == ')' && b == ')') {
                        x = links[x].parent;
                        y = links[y].parent;
                        a = text_after(links, x, top_x);
                        b = text_after(links, y, top_y);
                }
                if (a != b || a == 0)
                        return (guchar)a - (guchar)b;
                x = links[x].next;
                y = links[y].next;
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
static char *write_signature(const Link *links, const char *client, guint32 *slot)
{
        GString *text = g_string_new(client);
        guint32 i = 0, place = 0;

        g_string_append_c(text, '>');
        for (;;) {
                g_string_append(text, links[i].name);
                slot[i] = place++;
                if (links[i].child != NONE) {
                        g_string_append_c(text, '(');
                        i = links[i].child;
                        continue;
                }
                while (text_after(links, i, 0) == ')') {
                        g_string_append_c(text, ')');
                        i = links[i].parent;
                }
                if (i == 0)
                        return g_string_free(text, FALSE);
                g_string_append_c(text, ',');
                i = links[i].next;
        }
}

char *path_shape_signature(const NodeTable *nodes, NodeId client, const PathCall *calls, guint32 n,
                           SiblingOrder order, guint32 *slot)
{
        g_autofree Link *links = g_new(Link, n);

        for (guint32 i = 0; i < n; i++)
                links[i] = (Link){ calls[i].parent, NONE, NONE,
                                   node_table_written(nodes, calls[i].callee) };
        /* Children come after their parents: backwards, each finds its own
         * children in order, and goes to the front of its parent's. */
        for (guint32 i = n; i-- > 0;) {
                if (order == SIBLINGS_MULTISET)
                        links[i].child = sort_siblings(links, links[i].child);
                if (i == 0)
                        break;
                Link *parent = &links[links[i].parent];
                links[i].next = parent->child;
                parent->child = i;
        }
        return write_signature(links, node_table_written(nodes, client), slot);
}
