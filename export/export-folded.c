/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Folded stacks, for flame graphs: a line for each stack of nodes with their operations, with the
 * own time of the last node over all requests, in us. The operation is the one that most calls of a
 * place of a pattern have. So the width of a frame is the time of a node and its callees,
 * never the number of calls. The network's part of a call is a frame of its own on the stack of its
 * caller. It needs no requests, only the patterns' distributions.
 */
#include "export/export-requests.h"
#include "export/export.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/printable.h"
#include "store/stored-patterns.h"

/* A stack this high is no picture, and a line of all below it for each of its frames
 * would take its square of bytes. */
enum { MAX_DEPTH = 2000 };

typedef struct {
        guint32 parent, name;       /* on whose stack it is; index of a name */
        guint32 depth, child, next; /* child: the first by name; next: of its siblings */
        gint128 ns;
} Frame;

#define NO_FRAME G_MAXUINT32

typedef struct {
        StoreReader *reader;    /* borrowed */
        const NodeTable *nodes; /* borrowed */
        GPtrArray *names;       /* of frames; each once */
        GHashTable *numbers;    /* by name: its index + 1 */
        GArray *frames;         /* of Frame: callers before their callees */
        GHashTable *known;      /* parent and name, as a guint64: index of the frame + 1 */
} Stacks;

static Frame *frame_at(const Stacks *s, guint32 i)
{
        return &g_array_index(s->frames, Frame, i);
}

static const char *frame_name(const Stacks *s, const Frame *f)
{
        return s->names->pdata[f->name];
}

/* The index of a name, which is taken. */
static guint32 take_name(Stacks *s, char *name)
{
        gpointer known = g_hash_table_lookup(s->numbers, name);

        if (known) {
                g_free(name);
                return GPOINTER_TO_UINT(known) - 1;
        }
        g_ptr_array_add(s->names, name);
        g_hash_table_insert(s->numbers, name, GUINT_TO_POINTER(s->names->len));
        return s->names->len - 1;
}

/* ';' ends a frame, and names may have it; no node has parentheses. label: NULL, or the operation.
 */
static guint32 find_name(Stacks *s, NodeId node, const char *label)
{
        g_autoptr(GString) text = g_string_new(node_table_written(s->nodes, node));

        if (label) {
                g_string_append_c(text, ' ');
                printable_append(text, label, -1, PRINTABLE_FIELD);
        }
        g_string_replace(text, ";", "%3B", 0);
        return take_name(s, g_strdup(text->str));
}

static guint32 find_frame(Stacks *s, guint32 parent, guint32 name)
{
        gint64 key = (gint64)((guint64)parent << 32 | name);
        gpointer known = g_hash_table_lookup(s->known, &key);

        if (!known) {
                Frame f = { .parent = parent,
                            .name = name,
                            .depth = parent == NO_FRAME ? 0 : frame_at(s, parent)->depth + 1,
                            .child = NO_FRAME };

                g_array_append_val(s->frames, f);
                known = GUINT_TO_POINTER(s->frames->len);
                g_hash_table_insert(s->known, g_memdup2(&key, sizeof key), known);
        }
        return GPOINTER_TO_UINT(known) - 1;
}

static gboolean add_time(Stacks *s, guint32 frame, const StoredHistogram *stored, GError **error)
{
        Histogram h = HISTOGRAM_INIT;

        if (!store_reader_histogram(s->reader, stored, &h, error))
                return FALSE;
        frame_at(s, frame)->ns += h.sum;
        histogram_clear(&h);
        return TRUE;
}

static gboolean check_depth(const Stacks *s, guint32 frame, GError **error)
{
        return frame_at(s, frame)->depth <= MAX_DEPTH ||
               ravel_fail(error, RAVEL_ERROR_INPUT,
                          "%s: more than %d calls one within the other, which no flame graph shows",
                          store_reader_name(s->reader), MAX_DEPTH);
}

/* places: the frame of each place of the pattern in hand. */
static gboolean folded_add_node(Stacks *s, const StoredPatternNode *node, NodeId client,
                                GArray *places, GError **error)
{
        guint32 caller = node->parent == NO_PARENT
                                 ? find_frame(s, NO_FRAME, find_name(s, client, NULL))
                                 : g_array_index(places, guint32, node->parent);
        guint32 frame = find_frame(s, caller, find_name(s, node->node, node->label));

        g_array_append_val(places, frame);
        return check_depth(s, frame, error) && add_time(s, frame, &node->own, error) &&
               add_time(s, find_frame(s, caller, take_name(s, g_strdup("(network)"))),
                        &node->network, error) &&
               (node->continues != WORK_QUEUED ||
                add_time(s, find_frame(s, caller, take_name(s, g_strdup("(queued)"))),
                         &node->queued, error));
}

static gboolean read_stacks(Stacks *s, GError **error)
{
        g_autoptr(GArray) patterns = stored_patterns_load(s->reader, error);
        g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(guint32));
        StoredPatternNode node;
        int status;

        if (!patterns)
                return FALSE;
        while ((status = store_reader_next_pattern_node(s->reader, &node, error)) > 0) {
                if (node.place == 0)
                        g_array_set_size(places, 0);
                if (!folded_add_node(s, &node, stored_pattern_at(patterns, node.pattern)->client,
                                     places, error))
                        return FALSE;
        }
        return status == 0;
}

/* By name, the last first. */
static int compare_frames(gconstpointer va, gconstpointer vb, gpointer data)
{
        const Stacks *s = data;

        return strcmp(frame_name(s, frame_at(s, *(const guint32 *)vb)),
                      frame_name(s, frame_at(s, *(const guint32 *)va)));
}

/* Links each frame to its siblings and children; the first root, or NO_FRAME. */
static guint32 link_frames(const Stacks *s)
{
        guint32 n = s->frames->len, root = NO_FRAME;
        g_autofree guint32 *order = g_new(guint32, n);

        for (guint32 i = 0; i < n; i++)
                order[i] = i;
        g_qsort_with_data(order, (gint)n, sizeof *order, compare_frames, (gpointer)s);
        for (guint32 i = 0; i < n; i++) {
                Frame *f = frame_at(s, order[i]);
                guint32 *first = f->parent == NO_FRAME ? &root : &frame_at(s, f->parent)->child;

                f->next = *first;
                *first = order[i];
        }
        return root;
}

static guint32 next_in_preorder(const Stacks *s, guint32 i)
{
        if (frame_at(s, i)->child != NO_FRAME)
                return frame_at(s, i)->child;
        while (i != NO_FRAME && frame_at(s, i)->next == NO_FRAME)
                i = frame_at(s, i)->parent;
        return i == NO_FRAME ? NO_FRAME : frame_at(s, i)->next;
}

static gboolean write_stacks(const Stacks *s, OutputFile *out, GError **error)
{
        g_autoptr(GString) stack = g_string_new(NULL), text = g_string_new(NULL);
        g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(gsize)); /* of its names */

        for (guint32 i = link_frames(s); i != NO_FRAME; i = next_in_preorder(s, i)) {
                const Frame *f = frame_at(s, i);
                gint64 us = (gint64)((f->ns + 500) / 1000);

                g_string_truncate(stack, f->depth ? g_array_index(ends, gsize, f->depth - 1) : 0);
                g_string_append(stack, f->depth ? ";" : "");
                g_string_append(stack, frame_name(s, f));
                g_array_set_size(ends, f->depth);
                g_array_append_val(ends, stack->len);
                if (us <= 0)
                        continue;
                g_string_append_len(text, stack->str, (gssize)stack->len);
                g_string_append_printf(text, " %" G_GINT64_FORMAT "\n", us);
                if (!output_file_take(out, text, error))
                        return FALSE;
        }
        return output_file_take(out, text, error);
}

gboolean export_folded(StoreReader *reader, const NodeTable *nodes, OutputFile *out, GError **error)
{
        Stacks s = { .reader = reader,
                     .nodes = nodes,
                     .names = g_ptr_array_new_with_free_func(g_free),
                     .numbers = g_hash_table_new(g_str_hash, g_str_equal),
                     .frames = g_array_new(FALSE, FALSE, sizeof(Frame)),
                     .known = g_hash_table_new_full(hash_int64, g_int64_equal, g_free, NULL) };
        gboolean ok = read_stacks(&s, error) && write_stacks(&s, out, error);

        g_hash_table_unref(s.numbers);
        g_ptr_array_unref(s.names);
        g_array_unref(s.frames);
        g_hash_table_unref(s.known);
        return ok;
}
