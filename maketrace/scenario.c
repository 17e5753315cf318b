/* SPDX-License-Identifier: BSD-2-Clause */
#include "maketrace/scenario.h"

#include <string.h>

#include "base/each.h"
#include "base/error.h"
#include "tracefmt/trace-reader.h"

enum { MOST_PARALLEL = 1000000, MOST_QUEUE = 1000000, MOST_SERVERS = 1000000 };

#define LATEST_START G_GINT64_CONSTANT(4000000000000000000) /* ns since the epoch */

static const char *const stamps_names[] = { "sent", "both" };

gboolean stamps_lookup(const char *name, Stamps *stamps)
{
        for (guint i = 0; i < G_N_ELEMENTS(stamps_names); i++)
                if (!strcmp(name, stamps_names[i])) {
                        *stamps = i;
                        return TRUE;
                }
        return FALSE;
}

const char *stamps_name(Stamps stamps)
{
        return stamps_names[stamps];
}

void scenario_free(Scenario *s)
{
        if (!s)
                return;
        g_ptr_array_free(s->tracelets, TRUE);
        g_array_free(s->nodes, TRUE);
        key_file_free(s->text);
        g_free(s);
}

/* --- values ---------------------------------------------------------------- */

/* Fails unless the whole value was read. */
static gboolean at_end(TextCursor *c, GError **error, const char *expected)
{
        text_cursor_skip_blanks(c);
        return c->at == c->n || text_cursor_fail(c, c->at, c->n, error, "%s", expected);
}

static gboolean read_integer(TextCursor value, guint64 least, guint64 most, guint64 *number,
                             GError **error)
{
        if (text_cursor_integer(&value, number) && value.at == value.n && *number >= least &&
            *number <= most)
                return TRUE;
        return text_cursor_fail(&value, 0, value.n, error,
                                "an integer from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                                least, most);
}

static gboolean read_guint(TextCursor value, guint most, guint *number, GError **error)
{
        guint64 wide;

        if (!read_integer(value, 1, most, &wide, error))
                return FALSE;
        *number = wide;
        return TRUE;
}

static gboolean read_law(TextCursor value, DelayLaw *law, GError **error)
{
        return delay_law_parse(&value, law, error) &&
               at_end(&value, error, "the end of the line after the time");
}

static gboolean read_duration(TextCursor value, gint64 *duration, GError **error)
{
        double ns;

        if (text_cursor_duration(&value, &ns) && value.at == value.n && ns >= 1) {
                *duration = (gint64)(ns + 0.5);
                return TRUE;
        }
        return text_cursor_fail(&value, 0, value.n, error, "a duration such as 200s or 10min");
}

static gboolean read_start(TextCursor value, gint64 *start, GError **error)
{
        g_autofree char *text = g_strndup((const char *)value.data, value.n);

        return (trace_parse_time(text, start, NULL) && *start >= 0 && *start <= LATEST_START) ||
               text_cursor_fail(&value, 0, value.n, error,
                                "seconds since the epoch, or UTC as 2026-11-21T10:00:00Z, from "
                                "1970 to 2096");
}

static gboolean read_stamps(TextCursor value, Stamps *stamps, GError **error)
{
        g_autofree char *text = g_strndup((const char *)value.data, value.n);

        return stamps_lookup(text, stamps) ||
               text_cursor_fail(&value, 0, value.n, error, "sent or both");
}

static gboolean read_weight(TextCursor value, double *weight, GError **error)
{
        if (text_cursor_number(&value, weight) && value.at == value.n && *weight > 0)
                return TRUE;
        return text_cursor_fail(&value, 0, value.n, error, "a number above 0");
}

static gboolean read_rate(TextCursor value, gint64 *capture_time, GError **error)
{
        double rate;

        if (text_cursor_number(&value, &rate) && text_cursor_accept(&value, "/s") &&
            value.at == value.n && rate >= 1e-3 && rate <= 1e9) {
                *capture_time = (gint64)(1e9 / rate + 0.5);
                return TRUE;
        }
        return text_cursor_fail(&value, 0, value.n, error,
                                "messages a second, from 0.001/s to 1000000000/s, such as 605/s");
}

/* Reads a law of delays that is not always 0. */
static gboolean read_law_above_0(TextCursor *c, DelayLaw *law, GError **error)
{
        gsize at;

        text_cursor_skip_blanks(c);
        at = c->at;
        return delay_law_parse(c, law, error) &&
               (MAX(law->a, law->kind == LAW_UNIFORM ? law->b : 0) > 0 ||
                text_cursor_fail(c, at, c->at - at, error, "a time above 0"));
}

static gboolean read_stall(TextCursor value, ServerLaw *law, GError **error)
{
        law->stalls = TRUE;
        return read_law_above_0(&value, &law->stall, error) &&
               text_cursor_expect(&value, "every", error) &&
               read_law_above_0(&value, &law->every, error) &&
               at_end(&value, error, "the end of the line after the time");
}

static gboolean read_order(TextCursor value, QueueOrder *order, GError **error)
{
        g_autofree char *text = g_strndup((const char *)value.data, value.n);

        return queue_order_lookup(text, order) ||
               text_cursor_fail(&value, 0, value.n, error, "fifo, lifo or random");
}

static gboolean read_holds(TextCursor value, gboolean *loop, GError **error)
{
        *loop = value.n == 4 && !memcmp(value.data, "work", 4);
        return *loop || (value.n == 4 && !memcmp(value.data, "call", 4)) ||
               text_cursor_fail(&value, 0, value.n, error, "call or work");
}

/* --- groups ---------------------------------------------------------------- */

static gboolean unknown_key(const KeyFileKey *key, const char *known, GError **error)
{
        return text_cursor_fail(&key->text, 0, key->text.n, error, "one of the keys %s", known);
}

static gboolean read_general_key(Scenario *s, const KeyFileKey *key, DelayLaw *think,
                                 GError **error)
{
        if (!strcmp(key->name, "seed"))
                return read_integer(key->value, 0, G_MAXUINT64, &s->seed, error);
        if (!strcmp(key->name, "start"))
                return read_start(key->value, &s->start, error);
        if (!strcmp(key->name, "duration"))
                return read_duration(key->value, &s->duration, error);
        if (!strcmp(key->name, "messages"))
                return read_integer(key->value, 1, G_MAXINT64, &s->messages, error);
        if (!strcmp(key->name, "network"))
                return read_law(key->value, &s->network, error);
        if (!strcmp(key->name, "stamps"))
                return read_stamps(key->value, &s->stamps, error);
        if (!strcmp(key->name, "parallel"))
                return read_guint(key->value, MOST_PARALLEL, &s->parallel, error);
        if (!strcmp(key->name, "think"))
                return read_law(key->value, think, error);
        return unknown_key(
                key, "seed, start, duration, messages, network, stamps, parallel and think", error);
}

static gboolean read_sniffer_key(Sniffer *sniffer, const KeyFileKey *key, GError **error)
{
        if (!strcmp(key->name, "rate"))
                return read_rate(key->value, &sniffer->capture_time, error);
        if (!strcmp(key->name, "queue"))
                return read_guint(key->value, MOST_QUEUE, &sniffer->queue, error);
        return unknown_key(key, "rate and queue", error);
}

static gboolean read_tracelet_key(Tracelet *t, const KeyFileKey *key, NodeTable *nodes,
                                  GError **error)
{
        TextCursor value = key->value;

        if (!strcmp(key->name, "parallel"))
                return read_guint(value, MOST_PARALLEL, &t->parallel, error);
        if (!strcmp(key->name, "weight"))
                return read_weight(value, &t->weight, error);
        if (!strcmp(key->name, "count"))
                return read_integer(value, 1, G_MAXINT64, &t->count, error);
        if (!strcmp(key->name, "think"))
                return read_law(value, &t->think, error);
        if (g_str_has_prefix(key->name, "path"))
                return tracelet_add_path(t, &value, nodes, error);
        return unknown_key(key, "path (path2, ...), parallel, weight, count and think", error);
}

static gboolean check_tracelet(Tracelet *t, const KeyFileGroup *group, GError **error)
{
        guint64 never = t->awaited & ~t->marked;

        if (t->paths->len == 0)
                return text_cursor_fail(&group->text, 0, group->text.n, error,
                                        "a path= in this group");
        if (t->weight > 0 && t->parallel > 0)
                return text_cursor_fail(&group->text, 0, group->text.n, error,
                                        "parallel= or weight= in this group, not both: the "
                                        "parallel= of [maketrace] is for tracelets with a weight");
        if (never)
                return text_cursor_fail(
                        &group->text, 0, group->text.n, error,
                        "a !%s in a path of this group, since one waits for it with @",
                        (char *)t->marks->pdata[g_bit_nth_lsf(never, -1)]);
        if (t->weight == 0 && t->parallel == 0)
                t->parallel = 1;
        return TRUE;
}

static gboolean read_node_key(ServerLaw *law, const KeyFileKey *key, GError **error)
{
        if (!strcmp(key->name, "servers"))
                return read_guint(key->value, MOST_SERVERS, &law->workers, error);
        if (!strcmp(key->name, "order"))
                return read_order(key->value, &law->order, error);
        if (!strcmp(key->name, "holds"))
                return read_holds(key->value, &law->loop, error);
        if (!strcmp(key->name, "stall"))
                return read_stall(key->value, law, error);
        return unknown_key(key, "servers, order, holds and stall", error);
}

/* Finds the node of a group. It must be in a path, and in no other group. */
static gboolean find_group_node(const Scenario *s, ServerLaw *law, const KeyFileGroup *group,
                                NodeTable *nodes, GError **error)
{
        guint known = node_table_size(nodes);

        law->node = node_table_add_written(nodes, law->name, strlen(law->name), NULL);
        if (law->node == NO_NODE || law->node >= known)
                return text_cursor_fail(&group->text, 0, group->text.n, error,
                                        "the name of a node in a path after \"node\"");
        for (guint i = 0; i < s->nodes->len; i++)
                if (g_array_index(s->nodes, ServerLaw, i).node == law->node)
                        return text_cursor_fail(&group->text, 0, group->text.n, error,
                                                "another node: a group before is of this one");
        return TRUE;
}

static gboolean check_node(const ServerLaw *law, const KeyFileGroup *group, GError **error)
{
        if (law->workers > 0 || (law->stalls && !law->loop))
                return TRUE;
        return text_cursor_fail(&group->text, 0, group->text.n, error, "a servers=%s in this group",
                                law->loop ? "" : " or a stall=");
}

/* "WORD NAME": the name, else NULL. */
static const char *name_after(const KeyFileGroup *group, const char *word)
{
        const char *name = group->name + strlen(word);

        if (!g_str_has_prefix(group->name, word) || (*name != ' ' && *name != '\t'))
                return NULL;
        while (*name == ' ' || *name == '\t')
                name++;
        return name;
}

static const KeyFileKey *key_at(const Scenario *s, guint i)
{
        return &g_array_index(s->text->keys, KeyFileKey, i);
}

static gboolean read_general_group(Scenario *s, const KeyFileGroup *group, DelayLaw *think,
                                   GError **error)
{
        for (guint i = group->first; i < group->end; i++)
                if (!read_general_key(s, key_at(s, i), think, error))
                        return FALSE;
        return TRUE;
}

static gboolean read_sniffer_group(Scenario *s, const KeyFileGroup *group, GError **error)
{
        for (guint i = group->first; i < group->end; i++)
                if (!read_sniffer_key(&s->sniffer, key_at(s, i), error))
                        return FALSE;
        return s->sniffer.capture_time > 0 ||
               text_cursor_fail(&group->text, 0, group->text.n, error, "a rate= in this group");
}

static gboolean read_tracelet_group(Scenario *s, const KeyFileGroup *group, const char *name,
                                    const DelayLaw *think, NodeTable *nodes, GError **error)
{
        Tracelet *t = tracelet_new(name);

        t->number = s->tracelets->len;
        t->think = *think;
        g_ptr_array_add(s->tracelets, t);
        for (guint i = group->first; i < group->end; i++)
                if (!read_tracelet_key(t, key_at(s, i), nodes, error))
                        return FALSE;
        return check_tracelet(t, group, error);
}

static gboolean read_node_group(Scenario *s, const KeyFileGroup *group, const char *name,
                                NodeTable *nodes, GError **error)
{
        ServerLaw law = { .name = name };

        if (!find_group_node(s, &law, group, nodes, error))
                return FALSE;
        for (guint i = group->first; i < group->end; i++)
                if (!read_node_key(&law, key_at(s, i), error))
                        return FALSE;
        g_array_append_val(s->nodes, law);
        return check_node(&law, group, error);
}

/* [maketrace] is read first, since its think= is for tracelets that have none, and nodes last,
 * since paths name them. */
typedef enum { READ_GENERAL, READ_TRACELETS, READ_NODES } Reading;

static gboolean read_group(Scenario *s, const KeyFileGroup *group, Reading reading, DelayLaw *think,
                           NodeTable *nodes, GError **error)
{
        const char *tracelet = name_after(group, "tracelet"), *node = name_after(group, "node");

        if (!strcmp(group->name, "maketrace"))
                return reading != READ_GENERAL || read_general_group(s, group, think, error);
        if (!strcmp(group->name, "sniffer"))
                return reading != READ_TRACELETS || read_sniffer_group(s, group, error);
        if (tracelet)
                return reading != READ_TRACELETS ||
                       read_tracelet_group(s, group, tracelet, think, nodes, error);
        if (node)
                return reading != READ_NODES || read_node_group(s, group, node, nodes, error);
        return reading != READ_TRACELETS ||
               text_cursor_fail(
                       &group->text, 0, group->text.n, error,
                       "one of the groups [maketrace], [tracelet NAME], [node NAME] and [sniffer]");
}

static gboolean read_groups(Scenario *s, NodeTable *nodes, GError **error)
{
        DelayLaw think = { LAW_CONSTANT, 0, 0 };

        for (Reading reading = READ_GENERAL; reading <= READ_NODES; reading++)
                EACH (const KeyFileGroup, group, s->text->groups) {
                        if (!read_group(s, group, reading, &think, nodes, error))
                                return FALSE;
                }
        return TRUE;
}

static gboolean check_mix(Scenario *s, GError **error)
{
        gboolean mixed = FALSE;

        for (guint i = 0; i < s->tracelets->len; i++)
                mixed |= ((Tracelet *)s->tracelets->pdata[i])->weight > 0;
        if (s->parallel && !mixed)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: found parallel= in [maketrace] and no tracelet with a "
                                  "weight=, expected parallel= in the groups of the tracelets",
                                  s->text->file);
        s->parallel = mixed ? MAX(s->parallel, 1) : 0;
        return TRUE;
}

Scenario *scenario_parse(const guint8 *data, gsize n, const char *file, NodeTable *nodes,
                         GError **error)
{
        g_autoptr(Scenario) s = g_new0(Scenario, 1);

        s->nodes = g_array_new(FALSE, FALSE, sizeof(ServerLaw));
        s->tracelets = g_ptr_array_new_with_free_func((GDestroyNotify)tracelet_free);
        s->seed = 1;
        s->sniffer.queue = 64;
        if (!(s->text = key_file_parse(data, n, file, error)))
                return NULL;
        if (!read_groups(s, nodes, error) || !check_mix(s, error))
                return NULL;
        if (s->tracelets->len == 0) {
                g_set_error(
                        error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                        "%s: found no tracelet, expected a group such as [tracelet a] with a path=",
                        file);
                return NULL;
        }
        return g_steal_pointer(&s);
}

gboolean scenario_ends(const Scenario *s, GError **error)
{
        EACH_OF (const Tracelet, t, s->tracelets) {
                if (s->duration || s->messages || t->count)
                        continue;
                return ravel_fail(
                        error, RAVEL_ERROR_USAGE,
                        "%s: nothing says when to end: expected duration= or messages= in "
                        "[maketrace], --duration, --messages, or a count= in [tracelet %s]",
                        s->text->file, t->name);
        }
        return TRUE;
}
