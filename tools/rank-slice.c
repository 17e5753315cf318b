/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/rank-slice.h"

#include "base/error.h"
#include "tools/ranks.h"
#include "tools/tool.h"

enum { LONGER = 4 }; /* a halo that was too short */

gboolean ranks_leave_it(const char *why)
{
        if (ranks_mine() == 0)
                tool_warn("%s: done by rank 0 alone", why);
        return ranks_mine() > 0;
}

gboolean rank_slice_is_there(const RankSlice *p)
{
        return ranks_mine() < shares_n(&p->shares);
}

/* --- reading -------------------------------------------------------------------- */

static gboolean read_messages(TraceReader *reader, RankSlice *p, NodeTable *nodes, GError **error)
{
        Message message;
        int status;

        p->run = slice_run_new(nodes, &p->how, &p->slice, p->keeps, p->learned);
        while ((status = trace_reader_next(reader, &message, error)) != 0) {
                if (status < 0) {
                        if (p->shares.index ||
                            !g_error_matches(*error, RAVEL_ERROR, RAVEL_ERROR_DISORDER))
                                return FALSE;
                        g_clear_error(error);
                        if (!trace_reader_sort(reader, error))
                                return FALSE;
                        slice_run_free(p->run);
                        p->run = slice_run_new(nodes, &p->how, &p->slice, p->keeps, p->learned);
                        continue;
                }
                if (!slice_run_add(p->run, &message, error))
                        return FALSE;
        }
        return TRUE;
}

/* --- learning ---------------------------------------------------------------------- */

static Learned *learn(RankSlice *p, GError **error)
{
        g_autoptr(Learned) l = NULL;

        g_clear_pointer(&p->run, slice_run_free);
        g_clear_pointer(&p->reader, trace_reader_free);
        g_clear_pointer(&p->nodes, node_table_free);
        p->nodes = node_table_new();
        if (!(p->reader = shares_open(&p->shares, ranks_mine(), &p->slice, p->nodes, error)) ||
            !read_messages(p->reader, p, p->nodes, error) ||
            !(l = p->counts ? slice_run_count(p->run, error) : slice_run_learn(p->run, error)))
                return NULL;
        l->trace = g_strdup(trace_reader_name(p->reader));
        return g_steal_pointer(&l);
}

static Learned *learned_of(GBytes *bytes, GError **error)
{
        g_autoptr(Learned) l = learned_new();
        gsize n;
        const guint8 *data = g_bytes_get_data(bytes, &n);
        Bytes b = bytes_to_read(data, n);

        learned_bytes(l, TRUE, &b);
        return bytes_end(&b, error) ? g_steal_pointer(&l) : NULL;
}

static GBytes *bytes_of(Learned *l)
{
        Bytes b = bytes_to_write();

        if (l)
                learned_bytes(l, TRUE, &b);
        return bytes_written(&b);
}

/* What rank 0 makes of all; NULL with error set as SLICE_ERROR where the halo is too short. */
static Learned *add_up(GPtrArray *all, guint n, GError **error)
{
        g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)learned_free);
        GError *wrong = NULL;
        Learned *whole;

        for (guint i = 0; i < n; i++) {
                Learned *part = learned_of(all->pdata[i], error);

                if (!part)
                        return NULL;
                g_ptr_array_add(parts, part);
        }
        if ((whole = learned_merge((Learned **)parts->pdata, n, &wrong)))
                return whole;
        g_set_error_literal(error, SLICE_ERROR, SLICE_ERROR_HALO, wrong->message);
        g_error_free(wrong);
        return NULL;
}

/* One attempt of all ranks, with a halo. */
static gboolean learn_together(RankSlice *p, gint64 halo, GError **error)
{
        g_autoptr(Learned) mine = NULL, whole = NULL;
        g_autoptr(GBytes) bytes = NULL, sum = NULL, told = NULL;
        g_autoptr(GPtrArray) all = NULL;

        if (rank_slice_is_there(p)) {
                p->slice = shares_slice(&p->shares, ranks_mine(), halo);
                mine = learn(p, error);
        }
        if (!ranks_agree(error))
                return FALSE;
        bytes = bytes_of(mine);
        g_clear_pointer(&mine, learned_free);
        if ((all = ranks_gather(bytes)))
                whole = add_up(all, shares_n(&p->shares), error);
        g_clear_pointer(&all, g_ptr_array_unref);
        if (!ranks_agree(error))
                return FALSE;
        sum = bytes_of(whole);
        told = ranks_share(sum);
        p->learned = learned_of(told, error);
        return ranks_agree(error);
}

/* Longer and longer halos, or the trace in order, until it works, or it is for one process. */
static gboolean learn_all(RankSlice *p, GError **error)
{
        gint64 halo = p->shares.halo;

        while (!learn_together(p, halo, error)) {
                if (g_error_matches(*error, RAVEL_ERROR, RAVEL_ERROR_DISORDER)) {
                        g_clear_error(error);
                        if (!shares_sort(&p->shares, error))
                                return FALSE;
                        continue;
                }
                if (!g_error_matches(*error, SLICE_ERROR, SLICE_ERROR_HALO) ||
                    shares_halo_is_all(&p->shares, halo))
                        return FALSE;
                g_clear_error(error);
                halo *= LONGER;
        }
        return TRUE;
}

/* --- what the ranks have noted of the trace ------------------------------------------- */

static void gather_notes(RankSlice *p)
{
        Bytes b = bytes_to_write();
        g_autoptr(GBytes) mine = NULL;
        g_autoptr(GPtrArray) all = NULL;

        if (p->shares.index && p->reader)
                trace_reader_notes_bytes(p->reader, &b);
        mine = bytes_written(&b);
        all = ranks_gather(mine);
        for (guint i = 1; p->shares.index && all && i < shares_n(&p->shares); i++) {
                gsize n;
                const guint8 *data = g_bytes_get_data(all->pdata[i], &n);
                Bytes part = bytes_to_read(data, n);

                trace_reader_notes_bytes(p->reader, &part);
                g_assert(bytes_end(&part, NULL));
        }
}

TraceReader *rank_slice_reader(const RankSlice *p)
{
        return p->shares.whole ? p->shares.whole : p->reader;
}

TraceReader *rank_slice_take_reader(RankSlice *p)
{
        return p->shares.whole ? g_steal_pointer(&p->shares.whole) : g_steal_pointer(&p->reader);
}

static void take_facts(RankSlice *p)
{
        guint n;
        char *const *facts = trace_reader_facts(rank_slice_reader(p), &n);

        for (guint i = 0; i < n; i++)
                g_ptr_array_add(p->learned->facts, g_strdup(facts[i]));
}

/* --- the door -------------------------------------------------------------------- */

void rank_slice_clear(RankSlice *p)
{
        slice_run_free(p->run);
        trace_reader_free(p->reader);
        learned_free(p->learned);
        node_table_free(p->nodes);
        shares_clear(&p->shares);
}

gboolean rank_slice_learn(RankSlice *p, const char *path, gint64 halo, GError **error)
{
        if (!shares_find(&p->shares, path, halo, error) || !learn_all(p, error))
                return FALSE;
        gather_notes(p);
        if (ranks_mine() == 0)
                take_facts(p);
        return TRUE;
}

gboolean rank_slice_read(RankSlice *p, NodeTable *nodes, GError **error)
{
        g_autoptr(TraceReader) reader = NULL;
        LearnedSlice *mine = &g_array_index(p->learned->slices, LearnedSlice, ranks_mine());

        if (!p->digested)
                mine->calls = slice_run_digest(p->run);
        p->digested = TRUE;
        g_clear_pointer(&p->run, slice_run_free);
        mine->slice = p->slice;
        reader = shares_open(&p->shares, ranks_mine(), &p->slice, nodes, error);
        return reader && read_messages(reader, p, nodes, error);
}
