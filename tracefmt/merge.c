/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/merge.h"

#include <string.h>

#include "base/hash.h"

/* No two stamps of a trace differ by more than four times that, so sums do not overflow. */
#define MAX_WINDOW (G_GINT64_CONSTANT(1) << 61)

typedef struct Observation Observation;
typedef struct Key Key;

/* A message that waits: first in the heap, until no earlier one can come; then in the list, until
 * no other trace can bring it, too. */
struct Observation {
        Message message; /* its texts lie in text */
        guint64 number;  /* counts messages as they are read */
        guint trace;
        gboolean dropped;   /* a later stamp was preferred */
        gboolean own;       /* stamped by the node itself */
        Key *key;           /* NULL where no other trace may have it */
        Observation *later; /* in the list */
        Observation *next;  /* of its key */
        char text[];
};

/* What is the same in every trace: edge, operation and id; a long id is its hash. */
enum { KEY_WORDS = 5 };

struct Key {
        guint64 words[KEY_WORDS];
        Observation *first, *last; /* those in the list, in order of time */
        Observation *unseen[];     /* by trace: the first that it has not had; or NULL */
};

typedef struct {
        TraceReader *reader;
        GArray *hosts;     /* of NodeId: where it was captured */
        gint64 latest;     /* stamp read */
        guint head_facts;  /* before the first message */
        gboolean has_head; /* that is known */
        gboolean ended;
} Input;

struct Merge {
        gint64 window;
        NodeTable *nodes;
        GArray *inputs;  /* of Input */
        GPtrArray *heap; /* of Observation: a binary heap, the earliest on top */
        Observation *oldest, *newest;
        GHashTable *keys; /* set of Key */
        Observation *current;
        gint64 now; /* stamp of the latest that leaves the heap */
        guint64 n_read;
        MergeCounts counts;
        MergeLook look;
        gpointer look_user;
};

static guint key_hash(gconstpointer key)
{
        guint64 h = HASH_SEED;

        for (guint i = 0; i < KEY_WORDS; i++)
                h = hash_word(h, ((const Key *)key)->words[i]);
        return (guint)h;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
        return !memcmp(((const Key *)a)->words, ((const Key *)b)->words,
                       KEY_WORDS * sizeof(guint64));
}

static void input_clear(gpointer input)
{
        g_array_unref(((Input *)input)->hosts);
}

Merge *merge_new(gint64 window, NodeTable *nodes)
{
        Merge *m = g_new0(Merge, 1);

        m->window = MIN(window, MAX_WINDOW);
        m->nodes = nodes;
        m->inputs = g_array_new(FALSE, FALSE, sizeof(Input));
        g_array_set_clear_func(m->inputs, input_clear);
        m->heap = g_ptr_array_new_with_free_func(g_free);
        m->keys = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
        m->now = G_MININT64;
        return m;
}

void merge_free(Merge *m)
{
        if (!m)
                return;
        for (Observation *o = m->oldest, *later; o; o = later) {
                later = o->later;
                g_free(o);
        }
        g_free(m->current);
        g_hash_table_destroy(m->keys);
        g_ptr_array_unref(m->heap);
        g_array_unref(m->inputs);
        g_free(m);
}

void merge_add(Merge *m, TraceReader *reader)
{
        Input input = { .reader = reader,
                        .hosts = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                        .latest = G_MININT64 };

        g_array_append_val(m->inputs, input);
}

void merge_set_look(Merge *m, MergeLook look, gpointer user)
{
        m->look = look;
        m->look_user = user;
}

static Input *input_at(const Merge *m, guint trace)
{
        return &g_array_index(m->inputs, Input, trace);
}

/* --- the heap -------------------------------------------------------------- */

static gboolean message_is_before(const Observation *a, const Observation *b)
{
        if (a->message.time != b->message.time)
                return a->message.time < b->message.time;
        return a->trace != b->trace ? a->trace < b->trace : a->number < b->number;
}

static void heap_put(GPtrArray *heap, Observation *o)
{
        guint i = heap->len;

        g_ptr_array_add(heap, o);
        for (guint parent; i > 0 && message_is_before(o, heap->pdata[parent = (i - 1) / 2]);
             i = parent)
                heap->pdata[i] = heap->pdata[parent];
        heap->pdata[i] = o;
}

static Observation *heap_take(GPtrArray *heap)
{
        Observation *top = heap->pdata[0], *last = heap->pdata[heap->len - 1];
        guint n = heap->len - 1, i = 0, child;

        while ((child = 2 * i + 1) < n) {
                if (child + 1 < n && message_is_before(heap->pdata[child + 1], heap->pdata[child]))
                        child++;
                if (!message_is_before(heap->pdata[child], last))
                        break;
                heap->pdata[i] = heap->pdata[child];
                i = child;
        }
        heap->pdata[i] = last;
        heap->pdata[n] = NULL;
        g_ptr_array_set_size(heap, (gint)n);
        return top;
}

/* --- reading --------------------------------------------------------------- */

/* The facts before the first message. A trace without one has its account there too,
 * which begins with a number. */
static void take_head(Merge *m, Input *input, gboolean any_message)
{
        static const char host[] = "captured on host: ";
        guint n;
        char *const *facts = trace_reader_facts(input->reader, &n);

        input->has_head = TRUE;
        for (guint i = 0; i < n; i++) {
                const char *value = g_strrstr(facts[i], ": ");

                if (!any_message && value && g_ascii_isdigit(value[2]))
                        break;
                input->head_facts = i + 1;
                if (g_str_has_prefix(facts[i], host)) {
                        const char *name = facts[i] + sizeof host - 1;
                        NodeId node = node_table_add(m->nodes, name, strlen(name));

                        g_array_append_val(input->hosts, node);
                }
        }
}

static gboolean is_own(const Input *input, NodeId node)
{
        for (guint i = 0; i < input->hosts->len; i++)
                if (g_array_index(input->hosts, NodeId, i) == node)
                        return TRUE;
        return FALSE;
}

static Observation *observation_new(Merge *m, guint trace, const Message *message)
{
        Observation *o =
                g_malloc(sizeof *o + (gsize)message->id_length + message->attrs_length + 1);

        *o = (Observation){ .message = *message, .number = m->n_read++, .trace = trace };
        memcpy(o->text, message->id, message->id_length);
        memcpy(o->text + message->id_length, message->attrs, message->attrs_length);
        o->message.id = o->text;
        o->message.attrs = o->text + message->id_length;
        o->own = is_own(input_at(m, trace), message_observer(message));
        return o;
}

/* The trace that has come least far, or the number of them where all have ended. */
static guint find_slowest(const Merge *m)
{
        guint slowest = m->inputs->len;

        for (guint i = 0; i < m->inputs->len; i++)
                if (!input_at(m, i)->ended &&
                    (slowest == m->inputs->len ||
                     input_at(m, i)->latest < input_at(m, slowest)->latest))
                        slowest = i;
        return slowest;
}

/* One more message into the heap, or the end of this trace. */
static gboolean read_one(Merge *m, guint trace, GError **error)
{
        Input *input = input_at(m, trace);
        Message message;
        int status = trace_reader_next(input->reader, &message, error);

        if (status < 0)
                return FALSE;
        if (!input->has_head)
                take_head(m, input, status > 0);
        if (status == 0) {
                input->ended = TRUE;
                return TRUE;
        }
        if (m->look)
                m->look(m->look_user, trace, &message);
        if (message.time < m->now) {
                m->counts.late++;
                m->counts.needed = MAX(m->counts.needed, input->latest - message.time);
        }
        input->latest = MAX(input->latest, message.time);
        heap_put(m->heap, observation_new(m, trace, &message));
        return TRUE;
}

/* --- what several traces have ---------------------------------------------- */

static void list_append(Merge *m, Observation *o)
{
        if (m->newest)
                m->newest->later = o;
        else
                m->oldest = o;
        m->newest = o;
}

/* The earliest of this key that the trace of o has not had yet. NULL where there is none:
 * then o is new, and the other traces have not had it. */
static Observation *find_same(Merge *m, Observation *o)
{
        const Message *message = &o->message;
        guint n = m->inputs->len;
        Key wanted = { .words = { (guint64)message->sender << 32 | message->receiver,
                                  (guint64)message->id_length << 32 | message->op,
                                  message->id_words[0], message->id_words[1],
                                  message->id_length ? 0 : (guint64)message->time } };
        Key *key = g_hash_table_lookup(m->keys, &wanted);
        Observation *same;

        if (!key) {
                key = g_malloc0(sizeof *key + n * sizeof(Observation *));
                memcpy(key->words, wanted.words, sizeof key->words);
                g_hash_table_add(m->keys, key);
        }
        same = key->unseen[o->trace];
        if (same) {
                key->unseen[o->trace] = same->next;
                return same;
        }
        o->key = key;
        if (key->last)
                key->last->next = o;
        else
                key->first = o;
        key->last = o;
        for (guint i = 0; i < n; i++)
                if (i != o->trace && !key->unseen[i])
                        key->unseen[i] = o;
        return NULL;
}

/* o is the next in order. */
static void take_in(Merge *m, Observation *o)
{
        Observation *same = m->inputs->len > 1 ? find_same(m, o) : NULL;

        if (same) {
                m->counts.dropped++;
                if (same->own || same->dropped || !o->own) {
                        g_free(o);
                        return;
                }
                same->dropped = TRUE; /* but it stays, for the other traces to be found */
        }
        list_append(m, o);
}

/* The oldest leaves the list. NULL where a later stamp has taken its place. */
static Observation *take_observation(Merge *m)
{
        Observation *o = m->oldest;
        Key *key = o->key;

        m->oldest = o->later;
        if (!m->oldest)
                m->newest = NULL;
        if (key) {
                key->first = o->next;
                if (!key->first)
                        g_hash_table_remove(m->keys, key);
                else
                        for (guint i = 0; i < m->inputs->len; i++)
                                if (key->unseen[i] == o)
                                        key->unseen[i] = o->next;
        }
        if (!o->dropped)
                return o;
        g_free(o);
        return NULL;
}

/* --- from outside ---------------------------------------------------------- */

int merge_next(Merge *m, Message *message, guint *trace, GError **error)
{
        g_clear_pointer(&m->current, g_free);
        while (!m->current) {
                guint slowest = find_slowest(m);
                gboolean all_read = slowest == m->inputs->len;
                gint64 reached = all_read ? G_MAXINT64 : input_at(m, slowest)->latest;
                const Observation *top = m->heap->len ? m->heap->pdata[0] : NULL;
                gboolean ready = top && (all_read || (reached != G_MININT64 &&
                                                      top->message.time < reached - m->window));

                if (ready)
                        m->now = MAX(m->now, top->message.time);
                if (m->oldest &&
                    ((all_read && !top) || m->oldest->message.time < m->now - m->window))
                        m->current = take_observation(m);
                else if (ready)
                        take_in(m, heap_take(m->heap));
                else if (all_read)
                        return 0;
                else if (!read_one(m, slowest, error))
                        return -1;
        }
        *message = m->current->message;
        *trace = m->current->trace;
        m->counts.messages++;
        m->counts.without_id += message->id_length == 0;
        return 1;
}

guint merge_head_facts(const Merge *m, guint trace)
{
        return input_at(m, trace)->head_facts;
}

const MergeCounts *merge_counts(const Merge *m)
{
        return &m->counts;
}
