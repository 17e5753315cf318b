/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How the nesting algorithm cheats (paper, section 7.5.1) to give guaranteed
 * paths: each message has the true position of its call, path=17.1.2 being the
 * second child of the first child of request 17, and the parent is the call with
 * the position one part shorter.
 *
 * Messages are still matched by the matcher of calls. There a position becomes
 * part of the id, since ids may be missing or repeat where positions do not.
 */
#include <string.h>

#include "base/hash.h"
#include "nesting/nesting.h"

void true_path_join(Nesting *n, Message *message)
{
        gsize length = 0;
        const char *path = message_attribute(message, "path", &length);

        n->truth.calls += length > 0 && message_is_call(message);
        n->truth.returns += length > 0 && message_is_return(message);
        n->truth.returns_without += length == 0 && message_is_return(message);
        g_string_truncate(n->key, 0);
        g_string_append_len(n->key, path, (gssize)length);
        g_string_append_c(n->key, ' '); /* neither of them has one */
        g_string_append_len(n->key, message->id, message->id_length);
        message_set_id(message, n->key->str, n->key->len);
}

guint32 true_path_length(const char *id, guint32 length)
{
        return (const char *)memchr(id, ' ', length) - id;
}

/* The position of a call, not NUL-terminated. */
static const char *true_path(const Nesting *n, guint32 call, guint32 *length)
{
        guint32 id_length = (guint32)n->calls.id_at[call];
        const char *id = (const char *)n->ids->data + (n->calls.id_at[call] >> 32) - id_length;

        *length = true_path_length(id, id_length);
        return id;
}

/* Calls by position, in a table of open addressing. */
typedef struct {
        guint32 *call; /* NO_PARENT: free */
        gsize mask;
} Positions;

/* Where the position is in the table, or would be. */
static guint32 *find_position(const Nesting *n, const Positions *p, const char *path,
                              guint32 length)
{
        for (gsize i = hash_bytes(path, length) & p->mask;; i = (i + 1) & p->mask) {
                const char *other;
                guint32 other_length;

                if (p->call[i] == NO_PARENT)
                        return &p->call[i];
                other = true_path(n, p->call[i], &other_length);
                if (other_length == length && !memcmp(other, path, length))
                        return &p->call[i];
        }
}

static void index_positions(Nesting *n, Positions *p)
{
        p->mask = 15;
        while (p->mask / 2 < n->calls.n)
                p->mask = p->mask * 2 + 1;
        p->call = g_new(guint32, p->mask + 1);
        memset(p->call, 0xff, (p->mask + 1) * sizeof *p->call);
        for (guint32 i = 0; i < n->calls.n; i++) {
                guint32 length;
                const char *path;
                guint32 *at;

                if (!n->calls.edge[i])
                        continue;
                path = true_path(n, i, &length);
                if (length == 0) {
                        n->truth.calls_without += nesting_decides(n, i);
                        continue;
                }
                at = find_position(n, p, path, length);
                if (*at == NO_PARENT)
                        *at = i;
                else
                        n->truth.repeated += nesting_decides(n, i);
        }
}

/* The call one part up; NO_PARENT where there is none. */
static guint32 find_true_parent(Nesting *n, const Positions *p, guint32 call)
{
        guint32 length, parent;
        const char *path = true_path(n, call, &length);
        const char *dot = memrchr(path, '.', length);

        if (!dot)
                return NO_PARENT;
        parent = *find_position(n, p, path, dot - path);
        if (parent != NO_PARENT && nesting_edge(n, parent)->callee == nesting_edge(n, call)->caller)
                return parent;
        n->truth.lost += nesting_decides(n, call);
        return NO_PARENT;
}

guint32 *find_true_parents(Nesting *n)
{
        guint32 *parent = g_new(guint32, n->calls.n);
        Positions positions;

        index_positions(n, &positions);
        for (guint32 i = 0; i < n->calls.n; i++)
                parent[i] = n->calls.edge[i] ? find_true_parent(n, &positions, i) : NO_PARENT;
        g_free(positions.call);
        return parent;
}

void take_true_parents(Nesting *n)
{
        g_autofree guint32 *parent = find_true_parents(n);

        for (guint32 i = 0; i < n->calls.n; i++) {
                if (parent[i] != NO_PARENT)
                        n->calls.cause[i] = (Cause){ parent[i], 1 };
                if (n->calls.candidates)
                        n->calls.candidates[i] = parent[i] != NO_PARENT;
        }
}
