/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/pattern-entry.h"

#include "paths/path-failure.h"
#include "paths/path-own-time.h"

/* What an instance adds to the histograms of a node of its pattern. Network times go into their
 * histogram at once, since there are none with stamps of one end. Zeros are counted when the
 * pattern is looked at. */
enum { LATENCY, CALL_DELAY, OWN, N_TIMES };

/* Most patterns are rare, and few are looked at. So the times of their instances wait in the log,
 * and become histograms, which are large, only when they are needed. Times of frequent patterns
 * skip the log, and become histograms in batches. Fewer long instances wait. */
enum {
        MAX_WAITING = 128, /* instances, and */
        MAX_WAITING_NODES = 1 << 14,
        MIN_RARE = 4, /* until they go into the log, or an eighth of the instances there */
        MAX_RARE = 32,
        MAX_RARE_NODES = 1 << 9,
        MAX_LOGGED = 4096, /* in it, until they become histograms */
        MAX_LOGGED_NODES = 1 << 16,
};

/* Most operations that are counted at a node, so that a call costs no more with any number. */
enum { MAX_LABELS = 64 };

/* How often calls at one node of a pattern had an operation. */
typedef struct {
        guint16 label;
        guint64 count;
} LabelCount;

struct LabelCounts {
        guint32 n;
        LabelCount *counts; /* in the order in which they came */
};

void pattern_entry_free(gpointer data)
{
        PatternEntry *entry = data;

        for (guint32 i = 0; entry->labels && i < entry->pattern.n_nodes; i++)
                g_free(entry->labels[i].counts);
        g_free(entry->labels);
        path_pattern_clear(&entry->pattern);
        g_free(entry->wide); /* or narrow */
        g_free(entry);
}

static void make_nodes(PatternEntry *entry)
{
        PathPattern *p = &entry->pattern;
        const guint32 *calls = entry->first->words;
        const guint32 *slot = calls + 2 * (gsize)p->n_nodes;

        p->nodes = g_new0(PatternNode, p->n_nodes);
        for (guint32 i = 0; i < p->n_nodes; i++) {
                PatternNode *node = &p->nodes[slot[i]];
                guint32 parent = calls[2 * (gsize)i + 1];

                node->node = calls[2 * (gsize)i] & (((guint32)1 << CONTINUES_SHIFT) - 1);
                node->continues = (guint8)(calls[2 * (gsize)i] >> CONTINUES_SHIFT);
                node->parent = i == 0 ? NO_PARENT : slot[parent];
                node->depth = i == 0 ? 0 : p->nodes[node->parent].depth + 1;
        }
}

/* How many times one instance has. */
static gsize n_times(const PatternEntry *entry)
{
        return (gsize)entry->pattern.n_nodes * N_TIMES;
}

/* Instances to be counted together. */
typedef struct {
        PatternEntry *entry;
        gint64 *times;
        guint32 n, room;
} Batch;

static void batch_count(Batch *b)
{
        PathPattern *p = &b->entry->pattern;
        gsize n = n_times(b->entry);

        for (guint32 i = 0; i < p->n_nodes; i++) {
                const gint64 *times = b->times + (gsize)i * N_TIMES;

                histogram_add_all(&p->nodes[i].latency, times + LATENCY, b->n, n);
                histogram_add_all(&p->nodes[i].call_delay, times + CALL_DELAY, b->n, n);
                histogram_add_all(&p->nodes[i].own, times + OWN, b->n, n);
        }
        b->n = 0;
}

/* times: of some instances, n in all. */
static void batch_add(Batch *b, gconstpointer times, gsize n, gboolean is_wide)
{
        const gint32 *narrow = times;
        const gint64 *wide = times;
        gsize each = n_times(b->entry);

        for (gsize at = 0; at < n; at += each) {
                gint64 *to = b->times + b->n * each;

                for (gsize i = 0; i < each; i++)
                        to[i] = is_wide ? wide[at + i] : narrow[at + i];
                if (++b->n == b->room)
                        batch_count(b);
        }
}

static guint32 most_together(const PatternEntry *entry)
{
        return CLAMP(MAX_WAITING_NODES / entry->pattern.n_nodes, 1, MAX_WAITING);
}

/* Puts the instances that wait into the histograms. */
static void pattern_entry_count_waiting(TimesLog *log, PatternEntry *entry)
{
        guint32 room = MIN(most_together(entry), entry->n_logged + entry->n_waiting);
        g_autofree gint64 *times = g_new(gint64, room * n_times(entry));
        Batch batch = { .entry = entry, .times = times, .room = room };
        const TimesBlock *b;

        if (!entry->pattern.nodes)
                make_nodes(entry);
        for (; (b = times_log_block(log, entry->logged)); entry->logged = b->before)
                batch_add(&batch, b->times, b->n, b->is_wide);
        batch_add(&batch, entry->wide, entry->n_waiting * n_times(entry), entry->is_wide);
        batch_count(&batch);
        entry->n_waiting = entry->n_logged = 0;
        entry->latency = 0;
}

static guint32 most_waiting(const PatternEntry *entry)
{
        guint32 most = CLAMP(entry->n_logged / 8, MIN_RARE, MAX_RARE);

        return entry->is_common ? most_together(entry)
                                : CLAMP(MAX_RARE_NODES / entry->pattern.n_nodes, 1, most);
}

/* Fewer where they would take memory. */
static guint32 most_logged(const TimesLog *log, const PatternEntry *entry)
{
        return times_log_is_in_memory(log)
                       ? most_together(entry)
                       : CLAMP(MAX_LOGGED_NODES / entry->pattern.n_nodes, 1, MAX_LOGGED);
}

static void log_waiting(TimesLog *log, PatternEntry *entry)
{
        entry->logged = times_log_add(log, entry->logged, entry->wide,
                                      (guint32)(entry->n_waiting * n_times(entry)), entry->is_wide);
        entry->n_logged += entry->n_waiting;
        entry->n_waiting = 0;
        if (entry->n_logged < most_logged(log, entry))
                return;
        entry->is_common = TRUE;
        pattern_entry_count_waiting(log, entry);
}

static void pattern_entry_make_room(PatternEntry *entry, guint32 room)
{
        gsize size = n_times(entry) * (entry->is_wide ? sizeof(gint64) : sizeof(gint32));

        entry->room = room;
        entry->wide = g_realloc(entry->wide, entry->room * size);
}

/* Makes room for the times of one more instance, and counts it. */
static inline void wait_for_more(TimesLog *log, PatternEntry *entry)
{
        if (G_UNLIKELY(entry->n_waiting == entry->room)) {
                guint32 room = MAX(1, 2 * entry->room);

                if (room <= most_waiting(entry))
                        pattern_entry_make_room(entry, room);
                else if (entry->is_common)
                        pattern_entry_count_waiting(log, entry);
                else
                        log_waiting(log, entry);
        }
        entry->n_waiting++;
}

/* A delay of over two seconds came, the last instance's: all times take 64 bits now. */
static void pattern_entry_widen(PatternEntry *entry)
{
        gsize n = n_times(entry);
        gint64 *wide = g_new(gint64, entry->room * n);

        for (gsize i = 0; i < (entry->n_waiting - 1) * n; i++)
                wide[i] = entry->narrow[i];
        g_free(entry->narrow);
        entry->wide = wide;
        entry->is_wide = TRUE;
}

static inline gint64 call_delay(const PathCall *calls, guint32 i)
{
        return i == 0 ? 0 : calls[i].start - calls[calls[i].parent].enter;
}

static void put_wide(PatternEntry *entry, const PathCall *calls, const guint32 *slot)
{
        gint64 *times = entry->wide + (entry->n_waiting - 1) * n_times(entry);

        for (guint32 i = 0; i < entry->pattern.n_nodes; i++) {
                gint64 *to = times + (gsize)slot[i] * N_TIMES;

                to[LATENCY] = calls[i].end - calls[i].start;
                to[CALL_DELAY] = call_delay(calls, i);
                to[OWN] = calls[i].own;
        }
}

/* The same; FALSE where they do not fit. */
static inline gboolean put_narrow(PatternEntry *entry, const PathCall *calls, const guint32 *slot)
{
        gint32 *times = entry->narrow + (entry->n_waiting - 1) * n_times(entry);
        guint64 beyond = 0;

        for (guint32 i = 0; i < entry->pattern.n_nodes; i++) {
                gint32 *to = times + (gsize)slot[i] * N_TIMES;
                gint64 latency = calls[i].end - calls[i].start, delay = call_delay(calls, i);

                to[LATENCY] = (gint32)latency;
                to[CALL_DELAY] = (gint32)delay;
                to[OWN] = (gint32)calls[i].own;
                beyond |= ((guint64)latency + ((guint64)1 << 31)) |
                          ((guint64)delay + ((guint64)1 << 31)) |
                          ((guint64)calls[i].own + ((guint64)1 << 31));
        }
        return beyond >> 32 == 0;
}

static inline void count_network(PatternEntry *entry, const PathCall *calls, const guint32 *slot)
{
        for (guint32 i = 0; i < entry->pattern.n_nodes; i++) {
                if (G_LIKELY(calls[i].network == 0))
                        continue;
                if (!entry->pattern.nodes)
                        make_nodes(entry);
                histogram_add(&entry->pattern.nodes[slot[i]].network, calls[i].network);
                for (guint cause = 0; cause < N_WAY_CAUSES; cause++)
                        if (calls[i].cause[cause])
                                histogram_add(
                                        pattern_node_cause(&entry->pattern.nodes[slot[i]], cause),
                                        calls[i].cause[cause]);
                if (calls[i].connecting == 0)
                        continue;
                histogram_add(&entry->pattern.nodes[slot[i]].connecting, calls[i].connecting);
                entry->connects = TRUE;
        }
}

/* Of nodes with a queue before workers. */
static inline void count_waits(PatternEntry *entry, const PathCall *calls, const guint32 *slot)
{
        for (guint32 i = 0; i < entry->pattern.n_nodes; i++) {
                PatternNode *node;

                if (G_LIKELY(calls[i].workers == 0))
                        continue;
                if (!entry->pattern.nodes)
                        make_nodes(entry);
                node = &entry->pattern.nodes[slot[i]];
                node->workers = calls[i].workers;
                histogram_add(&node->own_queued, calls[i].own_queued);
                histogram_add(&node->serving, calls[i].own - calls[i].own_queued);
                entry->waits = TRUE;
        }
}

/* Of work that goes on: what few patterns have. */
static void count_goes_on(PatternEntry *entry, const PathCall *calls, const guint32 *slot)
{
        PathPattern *p = &entry->pattern;

        if (!p->nodes)
                make_nodes(entry);
        for (guint32 i = 0; i < p->n_nodes; i++)
                histogram_add(&p->nodes[slot[i]].queued, calls[i].queued);
        histogram_add(&p->completion, path_completion(calls, p->n_nodes));
}

static void count_label(LabelCounts *l, guint16 label)
{
        for (guint32 i = 0; i < l->n; i++)
                if (G_LIKELY(l->counts[i].label == label)) {
                        l->counts[i].count++;
                        return;
                }
        if (l->n == MAX_LABELS)
                return;
        if ((l->n & (l->n - 1)) == 0)
                l->counts = g_renew(LabelCount, l->counts, MAX(1, 2 * l->n));
        l->counts[l->n++] = (LabelCount){ label, 1 };
}

static inline void count_labels(PatternEntry *entry, const PathCall *calls, const guint32 *slot)
{
        for (guint32 i = 0; i < entry->pattern.n_nodes; i++) {
                if (calls[i].label == 0)
                        continue;
                if (G_UNLIKELY(!entry->labels))
                        entry->labels = g_new0(LabelCounts, entry->pattern.n_nodes);
                count_label(&entry->labels[slot[i]], calls[i].label);
        }
}

/* The first instance that failed: the latencies of the earlier ones are set aside. */
static void pattern_entry_split(PatternEntry *entry, TimesLog *log)
{
        if (entry->n_waiting + entry->n_logged > 0)
                pattern_entry_count_waiting(log, entry);
        histogram_merge(&entry->pattern.good, &entry->pattern.nodes[0].latency);
}

/* Of an instance with calls in error. */
static void count_faults(PatternEntry *entry, const PathCall *calls, const guint32 *slot)
{
        PathPattern *p = &entry->pattern;
        guint32 culprit = path_culprit(calls, p->n_nodes);
        g_autofree guint32 *retried = path_find_retried(calls, p->n_nodes);

        for (guint32 i = 0; i < p->n_nodes; i++) {
                NodeFaults *f = &p->nodes[slot[i]].faults;

                if (outcome_is_error(calls[i].outcome) || i == culprit) {
                        f->errors++;
                        f->own += calls[i].own;
                        if (f->outcome == OUTCOME_OK)
                                f->outcome = i == culprit ? path_outcome_of_culprit(&calls[i])
                                                          : calls[i].outcome;
                }
                if (retried[i] != NO_PARENT) {
                        f->retries++;
                        f->lost += calls[i].start - calls[retried[i]].start;
                }
        }
        if (culprit != NO_PARENT)
                p->nodes[slot[culprit]].faults.culprits++;
}

static void count_outcomes(PatternEntry *entry, TimesLog *log, const PathCall *calls,
                           const guint32 *slot)
{
        PathPattern *p = &entry->pattern;
        gboolean failed = outcome_is_failure(calls[0].outcome);

        if (!p->nodes)
                make_nodes(entry);
        if (failed && p->failed == 0)
                pattern_entry_split(entry, log);
        p->failed += failed;
        if (!failed && p->failed > 0)
                histogram_add(&p->good, calls[0].end - calls[0].start);
        if (path_has_errors(calls, p->n_nodes))
                count_faults(entry, calls, slot);
}

void pattern_entry_add(PatternEntry *entry, TimesLog *log, const PathCall *calls,
                       const guint32 *slot)
{
        if (G_UNLIKELY(entry->pattern.failed > 0 || path_has_errors(calls, entry->pattern.n_nodes)))
                count_outcomes(entry, log, calls, slot);
        wait_for_more(log, entry);
        entry->latency += calls[0].end - calls[0].start;
        if (!entry->is_wide && !put_narrow(entry, calls, slot))
                pattern_entry_widen(entry);
        if (G_UNLIKELY(entry->is_wide))
                put_wide(entry, calls, slot);
        count_network(entry, calls, slot);
        count_waits(entry, calls, slot);
        count_labels(entry, calls, slot);
        if (G_UNLIKELY(entry->pattern.goes_on))
                count_goes_on(entry, calls, slot);
        entry->pattern.count++;
}

static void name_operations(PatternEntry *entry, const GPtrArray *labels)
{
        for (guint32 i = 0; i < entry->pattern.n_nodes; i++) {
                const LabelCounts *l = &entry->labels[i];
                PatternNode *node = &entry->pattern.nodes[i];
                const LabelCount *most = l->counts;

                for (guint32 k = 1; k < l->n; k++)
                        if (l->counts[k].count > most->count)
                                most = &l->counts[k];
                node->n_labels = l->n;
                node->label = l->n > 0 ? pattern_label_text(labels, most->label) : NULL;
        }
}

void pattern_entry_complete(PatternEntry *entry, TimesLog *log, const GPtrArray *labels)
{
        if (entry->completed == entry->pattern.count)
                return;
        entry->completed = entry->pattern.count;
        if (entry->n_waiting + entry->n_logged > 0)
                pattern_entry_count_waiting(log, entry);
        for (guint32 i = 0; i < entry->pattern.n_nodes; i++) {
                Histogram *network = &entry->pattern.nodes[i].network;
                Histogram *connecting = &entry->pattern.nodes[i].connecting;

                histogram_add_zeros(network, entry->pattern.count - network->count);
                if (connecting->count > 0)
                        histogram_add_zeros(connecting, entry->pattern.count - connecting->count);
        }
        if (entry->labels)
                name_operations(entry, labels);
}
