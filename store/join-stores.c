/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/join-stores.h"

#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "paths/verdict.h"
#include "store/store-reader.h"
#include "store/store.h"

/* The store that is made, and the input in hand. */
typedef struct {
        NodeTable *nodes;
        PathSet *set;
        Store *store;
        GPtrArray *labels;    /* by number less 1: texts */
        GHashTable *label_of; /* numbers of labels */
        GPtrArray *tags;      /* likewise: values of tags=, as in a trace */
        GHashTable *tags_of;  /* numbers of tags */
        GArray *fold;         /* of NodeId, by NodeId */
        GArray *loads;        /* of WorkerLoad, by NodeId: sums */
        Verdict *verdict;     /* the worst */
        char *method;
        double parallelism;     /* the sum, by calls */
        StoreReader *reader;    /* of the input in hand: */
        GArray *clients;        /* of NodeId, by pattern */
        GArray *tag_number;     /* of guint16, by number of the input */
        GArray *label_number;   /* of guint16, by number of the input; 0: not looked for */
        guint32 *workers;       /* by NodeId */
        GArray *calls, *places; /* of the path in hand */
} Join;

static void join_end_input(Join *j)
{
        g_clear_pointer(&j->reader, store_reader_free);
        g_clear_pointer(&j->workers, g_free);
        g_array_set_size(j->clients, 0);
        g_array_set_size(j->tag_number, 0);
        g_array_set_size(j->label_number, 0);
}

static void join_clear(Join *j)
{
        join_end_input(j);
        store_free(j->store);
        path_set_free(j->set);
        g_ptr_array_unref(j->labels);
        g_hash_table_unref(j->label_of);
        g_ptr_array_unref(j->tags);
        g_hash_table_unref(j->tags_of);
        g_array_unref(j->fold);
        g_array_unref(j->loads);
        g_array_unref(j->clients);
        g_array_unref(j->tag_number);
        g_array_unref(j->label_number);
        g_array_unref(j->calls);
        g_array_unref(j->places);
        g_clear_pointer(&j->verdict, verdict_free);
        g_free(j->method);
        node_table_free(j->nodes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Join, join_clear)

static void join_init(Join *j)
{
        *j = (Join){ .nodes = node_table_new(),
                     .labels = g_ptr_array_new_with_free_func(g_free),
                     .label_of = g_hash_table_new(g_str_hash, g_str_equal),
                     .tags = g_ptr_array_new_with_free_func(g_free),
                     .tags_of = g_hash_table_new(g_str_hash, g_str_equal),
                     .fold = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                     .loads = g_array_new(FALSE, TRUE, sizeof(WorkerLoad)),
                     .clients = g_array_new(FALSE, FALSE, sizeof(NodeId)),
                     .tag_number = g_array_new(FALSE, TRUE, sizeof(guint16)),
                     .label_number = g_array_new(FALSE, TRUE, sizeof(guint16)),
                     .calls = g_array_new(FALSE, FALSE, sizeof(PathCall)),
                     .places = g_array_new(FALSE, FALSE, sizeof(guint32)) };
        j->set = path_set_new(j->nodes, SIBLINGS_MULTISET);
        path_set_keep_times(j->set);
        path_set_set_labels(j->set, j->labels);
        path_set_set_tags(j->set, j->tags);
        path_set_summary(j->set)->first = path_set_summary(j->set)->last = NO_TIME;
}

/* The number of a text, from 1; 0 beyond the last one that a call can have. Takes text. */
static guint16 number_text(GPtrArray *texts, GHashTable *numbers, char *text)
{
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, text));

        if (number || texts->len == G_MAXUINT16) {
                g_free(text);
                return (guint16)number;
        }
        g_ptr_array_add(texts, text);
        g_hash_table_insert(numbers, text, GUINT_TO_POINTER(texts->len));
        return (guint16)texts->len;
}

/* --- one input --------------------------------------------------------------- */

/* Tags as a trace has them: NAME:VALUE with commas between. */
static gboolean join_read_tags(Join *j, GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);
        StoredTag tag;
        guint32 id = 0;
        int status;

        do {
                status = store_reader_next_tag(j->reader, &tag, error);
                if (id && (status <= 0 || tag.id != id)) {
                        guint16 number = number_text(j->tags, j->tags_of, g_strdup(text->str));

                        g_array_set_size(j->tag_number, id);
                        g_array_index(j->tag_number, guint16, id - 1) = number;
                        g_string_truncate(text, 0);
                }
                if (status <= 0)
                        break;
                id = tag.id;
                g_string_append_printf(text, "%s%s:", text->len ? "," : "", tag.name);
                node_table_escape(text, tag.value, strlen(tag.value), FALSE);
        } while (TRUE);
        return status == 0;
}

static gboolean join_read_patterns(Join *j, GError **error)
{
        StoredDoubt doubt;
        StoredPattern p;
        StoredPatternNode node;
        int status;

        while ((status = store_reader_next_doubt(j->reader, &doubt, error)) > 0)
                ;
        while (status == 0 && (status = store_reader_next_pattern(j->reader, &p, error)) > 0) {
                g_array_append_val(j->clients, p.client);
                status = 0;
        }
        while (status == 0 &&
               (status = store_reader_next_pattern_node(j->reader, &node, error)) > 0)
                status = 0;
        return status == 0;
}

static gboolean join_read_workers(Join *j, GError **error)
{
        StoredWorkers w;
        int status;

        j->workers = g_new0(guint32, node_table_size(j->nodes) + 1);
        while ((status = store_reader_next_workers(j->reader, &w, error)) > 0) {
                WorkerLoad *sum;

                if (w.node >= j->loads->len)
                        g_array_set_size(j->loads, w.node + 1);
                sum = &g_array_index(j->loads, WorkerLoad, w.node);
                sum->workers = j->workers[w.node] = w.load.workers;
                sum->calls += w.load.calls;
                sum->served += w.load.served;
                sum->waited += w.load.waited;
        }
        return status == 0;
}

static guint16 join_label(Join *j, guint16 label)
{
        guint16 *number;

        if (!label)
                return 0;
        if (label > j->label_number->len)
                g_array_set_size(j->label_number, label);
        number = &g_array_index(j->label_number, guint16, label - 1);
        if (!*number)
                *number = number_text(j->labels, j->label_of,
                                      g_strdup(store_reader_label(j->reader, label)));
        return *number;
}

static gboolean join_add_path(Join *j, const StoredPath *path, GError **error)
{
        PathCall *calls;

        if (!store_reader_path_calls(j->reader, path, j->calls, j->places, error))
                return FALSE;
        calls = (PathCall *)j->calls->data;
        for (guint32 i = 0; i < j->calls->len; i++) {
                PathCall *c = &calls[i];

                c->family = i > 0 ? 1 : (float)path->probability;
                c->label = join_label(j, c->label);
                c->tags = c->tags && c->tags <= j->tag_number->len
                                  ? g_array_index(j->tag_number, guint16, c->tags - 1)
                                  : 0;
                c->workers = c->workers ? MAX(j->workers[c->callee], 1) : 0;
        }
        g_array_index(j->fold, NodeId, calls[0].caller) =
                g_array_index(j->clients, NodeId, path->pattern);
        return path_set_add(j->set, calls, j->calls->len, error);
}

static void join_sum_run(Join *j)
{
        const StoredRun *run = store_reader_run(j->reader);
        PathSetSummary *s = path_set_summary(j->set);

        if (!j->method)
                s->method = j->method = g_strdup(run->method);
        s->messages += run->messages;
        s->calls += run->calls;
        s->unmatched_calls += run->unmatched_calls;
        s->unmatched_returns += run->unmatched_returns;
        s->cut_instances += run->cut_paths;
        s->first = s->first == NO_TIME ? run->first : MIN(s->first, run->first);
        s->last = MAX(s->last, run->last);
        j->parallelism += run->parallelism * (double)run->calls;
        if (run->judgement && (!j->verdict || (j->verdict->fit && !run->fit))) {
                g_clear_pointer(&j->verdict, verdict_free);
                j->verdict = verdict_new(g_strdup(run->judgement), run->fit,
                                         g_array_new(FALSE, FALSE, sizeof(Doubt)));
        }
}

static gboolean join_copy_captures(Join *j, GError **error)
{
        StoredCapture c;
        int status;

        while ((status = store_reader_next_capture(j->reader, &c, error)) > 0) {
                g_auto(GStrv) facts = g_strsplit(c.facts, "\n", -1);
                guint n = g_strv_length(facts);

                if (!store_add_capture(j->store, c.name, c.sha256, facts,
                                       n && !*facts[n - 1] ? n - 1 : n, error))
                        return FALSE;
        }
        return status == 0;
}

/* Opens the next input, up to its paths. */
static gboolean join_open(Join *j, const char *input, GError **error)
{
        NodeId n;

        join_end_input(j);
        if (!(j->reader = store_reader_new(input, j->nodes, error)) ||
            !store_reader_expect_requests(j->reader, error))
                return FALSE;
        if (g_str_has_prefix(store_reader_run(j->reader)->parameters, "slowest="))
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: has only its slowest requests, expected all", input);
        for (n = j->fold->len; n < node_table_size(j->nodes); n++)
                g_array_append_val(j->fold, n);
        path_set_set_fold(j->set, (const NodeId *)j->fold->data);
        return join_read_patterns(j, error);
}

static gboolean join_input(Join *j, const char *input, GError **error)
{
        StoredPath path;
        int status = -1;

        if (!join_open(j, input, error) || !join_read_tags(j, error) ||
            !join_read_workers(j, error) || !join_copy_captures(j, error))
                return FALSE;
        join_sum_run(j);
        while ((status = store_reader_next_path(j->reader, &path, error)) > 0)
                if (!join_add_path(j, &path, error))
                        return FALSE;
        return status == 0;
}

/* --- all ---------------------------------------------------------------------- */

/* The latency of the last request that is kept, ns; 0: all are. */
static gboolean join_find_least(const char *const *inputs, guint n, guint slowest, gint64 *least,
                                GError **error)
{
        g_autoptr(GArray) latencies = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_auto(Join) j;

        join_init(&j);
        *least = 0;
        for (guint i = 0; i < n && slowest; i++) {
                StoredPath path;
                int status;

                if (!join_open(&j, inputs[i], error))
                        return FALSE;
                while ((status = store_reader_next_path(j.reader, &path, error)) > 0)
                        g_array_append_val(latencies, path.latency);
                if (status < 0)
                        return FALSE;
        }
        if (slowest && latencies->len > slowest) {
                g_array_sort(latencies, compare_int64s);
                *least = g_array_index(latencies, gint64, latencies->len - slowest);
        }
        return TRUE;
}

static void join_finish_summary(Join *j)
{
        PathSetSummary *s = path_set_summary(j->set);

        s->parallelism = s->calls ? j->parallelism / (double)s->calls : 0;
        s->verdict = j->verdict;
        for (NodeId i = 0; i < j->loads->len; i++)
                if (g_array_index(j->loads, WorkerLoad, i).calls)
                        path_set_set_workers(j->set, i, &g_array_index(j->loads, WorkerLoad, i));
}

static char *read_parameters(const char *path, GError **error)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(StoreReader) reader = store_reader_new(path, nodes, error);

        return reader ? g_strdup(store_reader_run(reader)->parameters) : NULL;
}

gboolean store_is_thinned(const char *path, gboolean *thinned, GError **error)
{
        g_autofree char *parameters = read_parameters(path, error);

        *thinned = parameters && g_str_has_prefix(parameters, "slowest=");
        return parameters != NULL;
}

/* The parameters of the first input; whether requests were left out comes first. */
static char *join_parameters(const char *input, guint slowest, GError **error)
{
        char *parameters = read_parameters(input, error);
        g_autofree char *of_input = parameters;

        if (!parameters || !slowest)
                return g_steal_pointer(&of_input);
        return g_strdup_printf("slowest=%u\n%s", slowest, parameters);
}

gboolean stores_join(const char *const *inputs, guint n, const char *path,
                     const JoinOptions *options, GError **error)
{
        g_auto(Join) j;
        g_autofree char *parameters = NULL;
        StoreRun run = { .arguments = options->arguments };

        join_init(&j);
        if (!(parameters = join_parameters(inputs[0], options->slowest, error)) ||
            !join_find_least(inputs, n, options->slowest, &run.least, error))
                return FALSE;
        run.parameters = parameters;
        if (!(j.store = store_new(path, j.set, &run, error)))
                return FALSE;
        for (guint i = 0; i < n; i++)
                if (!join_input(&j, inputs[i], error))
                        return FALSE;
        join_finish_summary(&j);
        return store_finish(g_steal_pointer(&j.store), error);
}
