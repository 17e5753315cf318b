/* SPDX-License-Identifier: BSD-2-Clause
 *
 * All ranks learn of their slices; rank 0 adds that up, and all decide by the sum. A rank whose
 * slice does not begin as the one before it ends reads more of what came before and decides again,
 * until all fit: at the latest when it has read all. What only one process can know is left to
 * rank 0.
 */
#include "tools/nesting-ranks.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "nesting/decided.h"
#include "tools/merged.h"
#include "tools/nesting-report.h"
#include "tools/partial.h"
#include "tools/rank-slice.h"
#include "tools/ranks.h"
#include "tools/result.h"
#include "tools/tool.h"
#include "tracefmt/output-file.h"

enum { LONGER = 4 }; /* a halo that was too short */

typedef struct {
        const NestingJob *job;
        RankSlice of;
        NodeTable *nodes; /* of all ranks, and folded ones */
        guint64 seam[2];
        PathSet *set;      /* of this slice; NULL: its instances are in a file */
        GPtrArray *labels; /* operations of the slice, as written */
        char *file;
        DecidedWriter *writer;
        PathCall *path; /* the instance in hand */
        guint32 *ordinal;
        guint32 room;
} Part;

static void part_clear(Part *p)
{
        path_set_free(p->set);
        if (p->labels)
                g_ptr_array_unref(p->labels);
        decided_writer_free(p->writer);
        output_scratch_remove(p->file);
        g_free(p->path);
        g_free(p->ordinal);
        rank_slice_clear(&p->of);
        node_table_free(p->nodes); /* the run had it */
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Part, part_clear)

/* Whether instances must come to rank 0 one by one. A store that keeps none of them counts the
 * calls of each hour, too. */
static gboolean wants_instances(const NestingJob *job)
{
        return job->calls || result_has_store();
}

static SliceKeeps keeps(const NestingJob *job)
{
        return job->calls             ? SLICE_KEEPS_ALL
               : wants_instances(job) ? SLICE_KEEPS_FACTS
                                      : SLICE_KEEPS_LITTLE;
}

/* --- deciding ------------------------------------------------------------------------- */

static void make_room(Part *p, guint32 n)
{
        if (n <= p->room)
                return;
        p->room = 2 * n;
        p->path = g_renew(PathCall, p->path, p->room);
        p->ordinal = g_renew(guint32, p->ordinal, p->room);
}

/* InstanceTaken; data: the part. */
static gboolean take(gpointer data, const PathCall *path, guint32 n, gboolean is_cut,
                     GError **error)
{
        Part *p = data;

        make_room(p, n);
        if (p->writer) {
                for (guint32 i = 0; i < n; i++)
                        p->ordinal[i] = slice_run_ordinal(p->of.run, path[i].call);
                return decided_writer_add(p->writer, path, p->ordinal, n, is_cut, error);
        }
        path_set_set_fold(p->set, slice_run_calls(p->of.run)->roles.fold);
        if (is_cut) {
                path_set_summary(p->set)->cut_instances++;
                return TRUE;
        }
        memcpy(p->path, path, n * sizeof *path);
        return path_set_add(p->set, p->path, n, error);
}

static gboolean decide_to_file(Part *p, GError **error)
{
        g_autoptr(OutputFile) out = NULL;
        gboolean ok;

        output_scratch_remove(g_steal_pointer(&p->file));
        if (!(p->file = output_scratch_new(".state", error)) ||
            !(out = output_file_new(p->file, TRUE, error)))
                return FALSE;
        p->writer = decided_writer_new(out, p->of.learned, ranks_mine(),
                                       slice_run_calls(p->of.run)->labels.written, NULL);
        ok = slice_run_decide(p->of.run, take, p, p->seam, error) &&
             decided_writer_end(p->writer, p->seam, error);
        g_clear_pointer(&p->writer, decided_writer_free);
        return ok && output_file_close(g_steal_pointer(&out), error);
}

static gboolean decide_to_set(Part *p, GError **error)
{
        p->set = path_set_new(p->nodes, p->of.how.strict ? SIBLINGS_STRICT : SIBLINGS_MULTISET);
        path_set_set_labels(p->set, slice_run_calls(p->of.run)->labels.names);
        path_set_be_part(p->set);
        return slice_run_decide(p->of.run, take, p, p->seam, error);
}

/* Makes the run one that decides, with the calls that it has or ones that are read. Folded clients
 * make a node more, so each attempt has a table of its own. */
static gboolean prepare(Part *p, gboolean again, GError **error)
{
        NodeTable *nodes = node_table_new();
        gboolean ok;

        node_table_add_all(nodes, p->of.learned->nodes);
        ok = (!again && slice_run_turn(p->of.run, nodes, p->of.learned)) ||
             rank_slice_read(&p->of, nodes, error);
        g_clear_pointer(&p->set, path_set_free);
        node_table_free(p->nodes);
        p->nodes = nodes;
        return ok;
}

/* Decides on the slice, after a longer halo where it is too short. */
static gboolean decide(Part *p, gboolean again, GError **error)
{
        for (;; again = TRUE) {
                if (!prepare(p, again, error))
                        return FALSE;
                if (wants_instances(p->job) ? decide_to_file(p, error) : decide_to_set(p, error))
                        return TRUE;
                if (!g_error_matches(*error, SLICE_ERROR, SLICE_ERROR_HALO) ||
                    shares_halo_is_all(&p->of.shares, p->of.slice.halo))
                        return FALSE;
                g_clear_error(error);
                p->of.slice.halo *= LONGER;
        }
}

/* Which ranks must decide again, as their slice begins otherwise than the one before it ends: a
 * byte each. */
static GBytes *find_misfits(GPtrArray *seams, guint n)
{
        GByteArray *misfits = g_byte_array_new();

        for (guint i = 0; i < n; i++) {
                const guint64 *seam = g_bytes_get_data(seams->pdata[i], NULL);
                const guint64 *before = i > 0 ? g_bytes_get_data(seams->pdata[i - 1], NULL) : NULL;
                guint8 is_one = before && before[1] != seam[0];

                g_byte_array_append(misfits, &is_one, 1);
        }
        return g_byte_array_free_to_bytes(misfits);
}

static GBytes *compare_seams(const Part *p)
{
        g_autoptr(GBytes) mine = g_bytes_new(p->seam, sizeof p->seam), misfits = NULL;
        g_autoptr(GPtrArray) all = ranks_gather(mine);

        if (all)
                misfits = find_misfits(all, shares_n(&p->of.shares));
        return ranks_share(misfits);
}

static gboolean decide_all(Part *p, GError **error)
{
        gboolean wrong = FALSE;

        if (rank_slice_is_there(&p->of))
                decide(p, FALSE, error);
        for (;;) {
                g_autoptr(GBytes) misfits = NULL;
                const guint8 *is_one;
                gsize n;

                if (!ranks_agree(error))
                        return FALSE;
                misfits = compare_seams(p);
                is_one = g_bytes_get_data(misfits, &n);
                wrong = n > 0 && memchr(is_one, 1, n);
                if (!wrong)
                        return TRUE;
                if (!rank_slice_is_there(&p->of) || !is_one[ranks_mine()])
                        continue;
                if (!shares_halo_is_all(&p->of.shares, p->of.slice.halo))
                        p->of.slice.halo *= LONGER;
                decide(p, TRUE, error);
        }
}

/* --- the result ------------------------------------------------------------------------- */

/* The calls of the slice are no longer needed. */
static void forget_calls(Part *p)
{
        const GPtrArray *labels = slice_run_calls(p->of.run)->labels.written;

        p->labels = g_ptr_array_new_with_free_func(g_free);
        for (guint i = 0; labels && i < labels->len; i++)
                g_ptr_array_add(p->labels, g_strdup(labels->pdata[i]));
        g_clear_pointer(&p->of.run, slice_run_free);
}

static GBytes *label_bytes(const Part *p)
{
        Bytes b = bytes_to_write();

        state_texts_bytes(p->labels, &b);
        return bytes_written(&b);
}

/* The next piece of the set, which has less then. */
static GBytes *piece_of(const Part *p, gboolean *more)
{
        Bytes b = bytes_to_write();

        *more = path_set_bytes(p->set, NULL, 0, &b);
        return bytes_written(&b);
}

static gboolean add_piece(Merged *merged, GBytes *bytes, const guint16 *number, guint n,
                          gboolean *more, GError **error)
{
        gsize size;
        const guint8 *data = g_bytes_get_data(bytes, &size);
        Bytes b = bytes_to_read(data, size);

        *more = path_set_bytes(merged->set, number, n, &b);
        return bytes_end(&b, error);
}

static guint16 *number_labels(Merged *merged, GBytes *bytes, guint *n, GError **error)
{
        g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
        gsize size;
        const guint8 *data = g_bytes_get_data(bytes, &size);
        Bytes b = bytes_to_read(data, size);

        state_texts_bytes(labels, &b);
        *n = labels->len;
        return bytes_end(&b, error) ? merged_number_labels(merged, labels) : NULL;
}

/* On rank 0: adds the set of another rank, piece by piece. */
static gboolean add_set(Merged *merged, guint rank, GError **error)
{
        g_autoptr(GBytes) labels = ranks_receive(rank);
        guint n = 0;
        g_autofree guint16 *number = number_labels(merged, labels, &n, error);
        gboolean more = number != NULL;

        while (more) {
                g_autoptr(GBytes) bytes = ranks_receive(rank);

                if (!add_piece(merged, bytes, number, n, &more, error))
                        return FALSE;
        }
        return number != NULL;
}

static void send_bytes(GBytes *bytes)
{
        gsize n;
        gconstpointer data = g_bytes_get_data(bytes, &n);

        ranks_send(data, n);
}

static void send_set(const Part *p)
{
        g_autoptr(GBytes) labels = label_bytes(p);
        gboolean more = TRUE;

        send_bytes(labels);
        while (more) {
                g_autoptr(GBytes) bytes = piece_of(p, &more);

                send_bytes(bytes);
        }
}

/* The instances of a slice, from its file. */
static gboolean add_file(Merged *merged, const char *path, GError **error)
{
        g_autoptr(GMappedFile) file = partial_map(path, error);
        DecidedReader reader;
        gboolean ok;

        if (!file)
                return FALSE;
        ok = decided_reader_init(&reader, (const guint8 *)g_mapped_file_get_contents(file),
                                 g_mapped_file_get_length(file), error) &&
             merged_add(merged, &reader, path, error);
        decided_reader_clear(&reader);
        return ok;
}

/* On rank 0: what a rank sends goes to the file in place of what was there. */
static gboolean receive_file(guint from, const char *path, GError **error)
{
        g_autoptr(OutputFile) out = output_file_new(path, TRUE, error);
        gboolean ok = out != NULL;

        for (;;) {
                g_autoptr(GBytes) chunk = ranks_receive(from);
                gsize n;
                gconstpointer data = g_bytes_get_data(chunk, &n);

                if (n == 0)
                        break;
                ok = ok && output_file_write(out, data, n, error);
        }
        return ok && output_file_close(g_steal_pointer(&out), error);
}

static void send_file(const char *path)
{
        enum { CHUNK = 1 << 22 };
        g_autoptr(GMappedFile) file = partial_map(path, NULL);
        const char *data = file ? g_mapped_file_get_contents(file) : NULL;
        gsize n = file ? g_mapped_file_get_length(file) : 0;

        for (gsize at = 0; at < n; at += CHUNK)
                ranks_send(data + at, MIN(CHUNK, n - at));
        ranks_send("", 0);
}

/* On rank 0, of which the others have what is missing. All is received whatever goes wrong. */
static gboolean add_all(Part *p, Merged *merged, GError **error)
{
        gboolean files = wants_instances(p->job), ok = TRUE;

        for (guint i = 0; i < shares_n(&p->of.shares); i++) {
                if (!files) {
                        if (i > 0 && !add_set(merged, i, error))
                                return FALSE; /* of ranks of one program: it cannot happen */
                        continue;
                }
                ok = (i == 0 || receive_file(i, p->file, ok ? error : NULL)) && ok;
                ok = ok && add_file(merged, p->file, error);
        }
        return ok;
}

static void send_mine(Part *p)
{
        if (!rank_slice_is_there(&p->of))
                return;
        if (wants_instances(p->job))
                send_file(p->file);
        else
                send_set(p);
}

/* SHA-256 of the trace as stored; NULL where it cannot be read. */
static char *digest_of(const char *path)
{
        enum { CHUNK = 1 << 16 };
        g_autofree guchar *data = g_malloc(CHUNK);
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
        FILE *file = fopen(path, "re");
        gsize n;

        while (file && (n = fread(data, 1, CHUNK, file)) > 0)
                g_checksum_update(sum, data, (gssize)n);
        if (file)
                fclose(file);
        return file ? g_strdup(g_checksum_get_string(sum)) : NULL;
}

static gboolean write_result(Part *p, Merged *merged, const Verdict *verdict, int *status,
                             GError **error)
{
        const NestingJob *job = p->job;
        g_autoptr(Store) store = NULL;
        g_autofree char *digest = result_has_store() ? digest_of(p->of.shares.path) : NULL;

        if (result_has_store())
                store = merged_open_store(merged, job->arguments, job->no_requests, error);
        /* Even so, the others wait to be heard. */
        if (!add_all(p, merged, *error ? NULL : error) || *error ||
            (store && !merged_close_store(merged, g_steal_pointer(&store), digest, error)))
                return FALSE;
        *status = result_status(verdict, path_set_instances(merged->set));
        return (!job->calls || merged_write_calls(merged, job->calls, error)) &&
               result_write(merged->set, error);
}

static int report(Part *p)
{
        g_auto(Merged) merged = { .learned = NULL };
        g_autoptr(Verdict) verdict = NULL;
        TraceReader *reader = rank_slice_reader(&p->of);
        GError *error = NULL;
        int status = EXIT_DONE;

        tool_report_reader(reader);
        merged_init(&merged, p->of.learned, p->of.learned->nodes, p->job->calls != NULL);
        if (p->set)
                merged_take(&merged, g_steal_pointer(&p->set), p->labels);
        nesting_report_matching(&merged.known, reader, trace_reader_name(reader));
        verdict = merged_judge(&merged, trace_reader_doubts(reader));
        merged_summarise(&merged, verdict);
        if (!verdict->fit && strcmp(result_format(), "text") != 0)
                tool_warn("no probabilities are shown: the capture is %s", verdict->judgement);
        return write_result(p, &merged, verdict, &status, &error) ? status : tool_fail(error);
}

/* --- the door -------------------------------------------------------------------------- */

static gboolean find_all(Part *p, GError **error)
{
        if (!rank_slice_learn(&p->of, p->job->path, partial_halo(), error))
                return FALSE;
        return decide_all(p, error);
}

/* Why it is for one process. */
static const char *not_for_ranks(const NestingJob *job)
{
        return job->other                    ? job->other
               : strcmp(job->path, "-") == 0 ? "standard input, which rank 0 alone has"
                                             : NULL;
}

gboolean nesting_on_ranks(const NestingJob *job, int *status)
{
        g_auto(Part) p = { .job = job,
                           .of = { .how = partial_how(job->nesting, job->siblings),
                                   .keeps = keeps(job) } };
        const char *why = not_for_ranks(job);
        GError *error = NULL;

        *status = EXIT_DONE;
        if (ranks_n() == 1)
                return FALSE;
        if (!ranks_begin(&error)) {
                *status = tool_fail(error);
                return TRUE;
        }
        if (why)
                return ranks_leave_it(why);
        if (nesting_parents_from(job->nesting) == PARENTS_JOINT) {
                *job->peers = ranks_peers();
                return FALSE;
        }
        if (!find_all(&p, &error)) {
                if (error->domain == SLICE_ERROR) {
                        g_autoptr(GError) left = error;

                        return ranks_leave_it(left->message);
                }
                *status = tool_fail(error); /* the others are quiet */
                return TRUE;
        }
        if (rank_slice_is_there(&p.of))
                forget_calls(&p);
        if (ranks_mine() == 0)
                *status = report(&p);
        else
                send_mine(&p);
        return TRUE;
}
