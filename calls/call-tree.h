/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Trees of calls: the path instances (CreatePathNode of the paper's Figure 4). They are put
 * together while parents are found, call by call in the order of CallOrder.
 *
 * A tree is complete when the time has passed in which any of its calls can get a child. Complete
 * trees are handed on in order of their roots' start. So memory holds the calls that are open, and
 * calls that started after the earliest open root.
 */
#pragma once

#include "calls/call-links.h"

#define NO_TREE G_MAXUINT32

/* Links from a tree to another: its first child, in order of start; the next child of its
 * parent, or the next unused tree. */
enum { FIRST_CHILD, NEXT_CHILD };

/* A call in a tree; the others are named by their index. */
typedef struct {
        guint32 call;
        guint32 parent;    /* NO_TREE: it has none, or none yet */
        guint32 link[2];   /* NO_TREE: none */
        guint32 last;      /* the last child; itself while it has none */
        float probability; /* of the parent; 1 without one */
        gint64 until;      /* after this time nothing in it is given a child */
} CallTree;

/* Takes a tree that is complete; FALSE with error set stops. */
typedef gboolean (*CallTreeDone)(gpointer data, guint32 root, GError **error);

typedef struct {
        CallPairs *calls;       /* borrowed; its column of trees is kept up to date */
        gint64 window;          /* the skew window, ns */
        gboolean hold;          /* complete trees are kept until the end */
        const CallLinks *links; /* of calls that may go on for goes_on; NULL: none may */
        gint64 goes_on;         /* ns */
        CallTree *tree;
        float *family; /* by tree, as CallPairs has it; NULL where they are not kept */
        guint32 n, size, unused;
        guint32 *roots; /* those not handed on yet are first_root to n_roots - 1 */
        guint32 first_root, n_roots, roots_size;
        CallTreeDone done;
        gpointer data;
} CallTrees;

/* Without a column of trees call_trees_open() must not be asked for the same call again. */
void call_trees_init(CallTrees *trees, CallPairs *calls, gint64 window, CallTreeDone done,
                     gpointer data);
void call_trees_clear(CallTrees *trees); /* frees what it holds */

void call_trees_keep_families(CallTrees *trees);

/* The tree of a call, which is made where it is not there yet. */
guint32 call_trees_open(CallTrees *trees, guint32 call);

/* Puts a tree below its parent, or makes it a root (NO_TREE). Trees come in order of their
 * calls' start. FALSE with error set where a tree that was done could not be taken. */
gboolean call_trees_place(CallTrees *trees, guint32 tree, guint32 parent, double probability,
                          GError **error);

/* Hands on the trees that are complete before a moment; G_MAXINT64: all trees. */
gboolean call_trees_hand_on(CallTrees *trees, gint64 before, GError **error);

/* The start of the first root that was not handed on; G_MAXINT64: there is none. */
gint64 call_trees_first_start(const CallTrees *trees);

void call_trees_drop_calls(CallTrees *trees, guint32 n);

/* Forgets a tree, but not the trees below it. */
static inline void call_trees_free_one(CallTrees *trees, guint32 tree)
{
        if (trees->calls->tree)
                trees->calls->tree[trees->tree[tree].call] = 0;
        trees->tree[tree].link[NEXT_CHILD] = trees->unused;
        trees->unused = tree;
}
