/* SPDX-License-Identifier: BSD-2-Clause */
#include "ranks/ranks.h"

#include <mpi.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

enum { MOST = 1 << 28, TAG = 1, SPINS = 64, LONGEST_NAP = 1000 /* us */ };

static guint mine, n_ranks = 1;
static gboolean has_begun;

static guint number_in_environment(const char *variable)
{
        const char *text = g_getenv(variable);

        return text ? (guint)g_ascii_strtoull(text, NULL, 10) : 0;
}

/* Whether the environment says that more processes were started. */
static gboolean is_of_other(GError **error)
{
        static const char *const sizes[] = { "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE",
                                             "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS" };
        static const char *const numbers[] = { "PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                               "MPI_LOCALRANKID", "SLURM_PROCID" };
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;

        for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
                if (number_in_environment(sizes[i]) < 2)
                        continue;
                MPI_Get_library_version(version, &length);
                version[strcspn(version, ",\n")] = '\0';
                if (number_in_environment(numbers[i]) == 0)
                        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                                    "started as one of %u processes, but not by the MPI that it is "
                                    "linked with, %s, of which it is alone: expected the mpirun of "
                                    "that",
                                    number_in_environment(sizes[i]), version);
                return TRUE;
        }
        return FALSE;
}

gboolean ranks_start(int *argc, char ***argv, GError **error)
{
        int number;

        /* One thread of each process speaks to the others. */
        MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &number);
        MPI_Comm_rank(MPI_COMM_WORLD, &number);
        mine = (guint)number;
        MPI_Comm_size(MPI_COMM_WORLD, &number);
        n_ranks = (guint)number;
        return n_ranks > 1 || !is_of_other(error);
}

/* Waits for a request. MPI's own wait would use the whole CPU. */
static void finish_request(MPI_Request *request)
{
        gulong nap = 20;
        int done = 0;

        for (;;) {
                for (guint i = 0; i < SPINS && !done; i++)
                        MPI_Test(request, &done, MPI_STATUS_IGNORE);
                if (done)
                        return;
                g_usleep(nap);
                nap = MIN(2 * nap, LONGEST_NAP);
        }
}

static void send_all(guint to, gconstpointer data, gsize n)
{
        guint64 length = n;
        MPI_Request request;

        MPI_Isend(&length, 1, MPI_UINT64_T, (int)to, TAG, MPI_COMM_WORLD, &request);
        finish_request(&request);
        for (gsize at = 0; at < n; at += MOST) {
                MPI_Isend((const guint8 *)data + at, (int)MIN(n - at, MOST), MPI_BYTE, (int)to, TAG,
                          MPI_COMM_WORLD, &request);
                finish_request(&request);
        }
}

static GBytes *receive_bytes(guint from)
{
        guint64 length = 0;
        guint8 *data;
        MPI_Request request;

        MPI_Irecv(&length, 1, MPI_UINT64_T, (int)from, TAG, MPI_COMM_WORLD, &request);
        finish_request(&request);
        data = g_malloc(MAX(length, 1));
        for (gsize at = 0; at < length; at += MOST) {
                MPI_Irecv(data + at, (int)MIN(length - at, MOST), MPI_BYTE, (int)from, TAG,
                          MPI_COMM_WORLD, &request);
                finish_request(&request);
        }
        return g_bytes_new_take(data, length);
}

/* Rank 0 gets the bytes of all ranks, by rank; the others get NULL. */
static GPtrArray *gather_bytes(GBytes *bytes)
{
        GPtrArray *all;
        gsize n;
        gconstpointer data = g_bytes_get_data(bytes, &n);

        if (mine > 0) {
                send_all(0, data, n);
                return NULL;
        }
        all = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
        g_ptr_array_add(all, g_bytes_ref(bytes));
        for (guint i = 1; i < n_ranks; i++)
                g_ptr_array_add(all, receive_bytes(i));
        return all;
}

/* All ranks get the bytes of rank 0. The other ranks may pass NULL. */
static GBytes *share_bytes(GBytes *bytes)
{
        guint64 length = bytes && mine == 0 ? g_bytes_get_size(bytes) : 0;
        MPI_Request request;
        guint8 *data;

        MPI_Ibcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
        finish_request(&request);
        data = g_malloc(MAX(length, 1));
        if (mine == 0 && length)
                memcpy(data, g_bytes_get_data(bytes, NULL), length);
        for (gsize at = 0; at < length; at += MOST) {
                MPI_Ibcast(data + at, (int)MIN(length - at, MOST), MPI_BYTE, 0, MPI_COMM_WORLD,
                           &request);
                finish_request(&request);
        }
        return g_bytes_new_take(data, length);
}

/* --- errors ------------------------------------------------------------------- */

static const guint32 no_code = G_MAXUINT32;

static GBytes *error_bytes(const GError *error)
{
        Bytes b = bytes_to_write();
        guint32 code = !error                         ? no_code
                       : error->domain == RAVEL_ERROR ? (guint32)error->code
                                                      : RAVEL_ERROR_INPUT;
        g_autofree char *text =
                error ? g_strdup_printf("rank %u: %s", mine, error->message) : g_strdup("");

        bytes_u32(&b, &code);
        bytes_text(&b, &text);
        return bytes_written(&b);
}

static GError *error_from_bytes(GBytes *bytes)
{
        gsize n;
        const guint8 *data = g_bytes_get_data(bytes, &n);
        Bytes b = bytes_to_read(data, n);
        guint32 code;
        g_autofree char *text = NULL;

        bytes_u32(&b, &code);
        bytes_text(&b, &text);
        g_clear_pointer(&b.wrong, g_free);
        if (code == no_code)
                return NULL;
        return g_error_new_literal(RAVEL_ERROR, (int)code, text);
}

/* TRUE if no rank has an error. Otherwise all ranks get the error of the first rank that has one.
 */
static gboolean agree_on_error(GError **error)
{
        g_autoptr(GBytes) bytes = error_bytes(*error), first = NULL;
        g_autoptr(GPtrArray) all = gather_bytes(bytes);
        GBytes *found = NULL;

        g_clear_error(error);
        for (guint i = 0; all && i < all->len; i++) {
                GError *e = error_from_bytes(all->pdata[i]);

                if (e && !found)
                        found = all->pdata[i];
                g_clear_error(&e);
        }
        first = share_bytes(found ? found : all ? all->pdata[0] : NULL);
        *error = error_from_bytes(first);
        return !*error;
}

/* --- in step ------------------------------------------------------------------ */

static void trade_chunk(guint to, gconstpointer out, int n_out, guint from, gpointer in, int n_in)
{
        MPI_Request sent, received;

        if (n_in)
                MPI_Irecv(in, n_in, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, &received);
        if (n_out)
                MPI_Isend(out, n_out, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD, &sent);
        if (n_in)
                finish_request(&received);
        if (n_out)
                finish_request(&sent);
}

/* Sends to one rank while another one sends. */
static GBytes *trade_bytes(guint to, GBytes *bytes, guint from)
{
        gsize n_out = 0;
        const guint8 *data = bytes ? g_bytes_get_data(bytes, &n_out) : NULL;
        const guint8 *out = data ? data : (const guint8 *)""; /* the data of no bytes may be NULL */
        guint64 told = n_out, n_in = 0;
        guint8 *in;

        trade_chunk(to, &told, sizeof told, from, &n_in, sizeof n_in);
        in = g_malloc(MAX(n_in, 1));
        for (guint64 at = 0; at < MAX(n_in, told); at += MOST)
                trade_chunk(to, out + at, at < told ? (int)MIN(told - at, MOST) : 0, from, in + at,
                            at < n_in ? (int)MIN(n_in - at, MOST) : 0);
        return g_bytes_new_take(in, n_in);
}

static GPtrArray *swap_bytes(GBytes *const *to)
{
        GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);

        g_ptr_array_set_size(all, (gint)n_ranks);
        all->pdata[mine] = g_bytes_new(NULL, 0);
        for (guint i = 1; i < n_ranks; i++) {
                guint next = (mine + i) % n_ranks, before = (mine + n_ranks - i) % n_ranks;

                all->pdata[before] = trade_bytes(next, to[next], before);
        }
        return all;
}

static gboolean agree_on_number(guint64 number, GError **error)
{
        g_autoptr(GBytes) mine_of = g_bytes_new(&number, sizeof number), first = NULL;
        guint64 expected;

        has_begun = TRUE;
        if (!agree_on_error(error))
                return FALSE;
        first = share_bytes(mine_of);
        memcpy(&expected, g_bytes_get_data(first, NULL), sizeof expected);
        if (number != expected)
                g_set_error_literal(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                    "the trace has other calls here than on rank 0: expected the "
                                    "same file by this name");
        return agree_on_error(error);
}

int ranks_end(int status, const char *message)
{
        if (!has_begun && n_ranks > 1) {
                GError *error = status == 0 ? NULL
                                            : g_error_new_literal(RAVEL_ERROR,
                                                                  CLAMP(status, RAVEL_ERROR_USAGE,
                                                                        RAVEL_ERROR_PARTIAL),
                                                                  message);

                agree_on_error(&error);
                g_clear_error(&error);
        }
        MPI_Finalize();
        return status;
}

const Peers *ranks_peers(void)
{
        static Peers peers = { .swap = swap_bytes, .agree = agree_on_number };

        peers.mine = mine;
        peers.n = n_ranks;
        return &peers;
}
