/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/node-files.h"

#include <string.h>

#include "base/each.h"
#include "base/error.h"
#include "base/hash.h"
#include "capture/network/service-names.h"
#include "capture/network/socket-line.h"
#include "tracefmt/byte-source.h"

enum { MAX_FILE = 256 << 20, MAX_COMM = 64 };

/* ns; conntrack stamps an event when it reads it, so the connection began before. */
#define EVENT_DELAY G_GINT64_CONSTANT(1000000000)

typedef struct {
        guint32 pid;
        guint32 shares; /* a socket with this process, itself or with a lower number */
        char *comm;
        guint16 port; /* where it listens, the lowest; 0: nowhere */
        NodeId node;
} Process;

typedef struct {
        Endpoint local, peer;
        guint32 pid; /* the first of the processes */
        gboolean listening;
} Socket;

struct NodeFiles {
        NodeNames *names;
        NodeTable *nodes;
        GArray *sockets;       /* of Socket, each once */
        GHashTable *known;     /* set of indices of those + 1, by their ends and process */
        GHashTable *processes; /* of Process, by number */
        GPtrArray *in_order;   /* the same, as they came */
        GHashTable *peers;     /* how many connections an end has, by Endpoint */
};

static guint node_files_endpoint_hash(gconstpointer p)
{
        const Endpoint *e = p;
        guint64 h = hash_word(hash_word(HASH_SEED, e->address.high), e->address.low);
        return (guint)hash_word(h, e->port);
}

static gboolean endpoint_same(gconstpointer a, gconstpointer b)
{
        return endpoint_equal(a, b);
}

static guint socket_hash(gconstpointer p)
{
        const Socket *s = p;
        return node_files_endpoint_hash(&s->local) * 31 + node_files_endpoint_hash(&s->peer) +
               s->pid;
}

static gboolean socket_same(gconstpointer a, gconstpointer b)
{
        const Socket *x = a, *y = b;
        return endpoint_equal(&x->local, &y->local) && endpoint_equal(&x->peer, &y->peer) &&
               x->pid == y->pid && x->listening == y->listening;
}

static void node_files_process_free(gpointer user)
{
        Process *process = user;
        g_free(process->comm);
        g_free(process);
}

NodeFiles *node_files_new(NodeNames *names, NodeTable *nodes)
{
        NodeFiles *f = g_new0(NodeFiles, 1);
        f->names = names;
        f->nodes = nodes;
        f->known = g_hash_table_new_full(socket_hash, socket_same, g_free, NULL);
        f->sockets = g_array_new(FALSE, FALSE, sizeof(Socket));
        f->processes = g_hash_table_new_full(NULL, NULL, NULL, node_files_process_free);
        f->in_order = g_ptr_array_new();
        f->peers = g_hash_table_new_full(node_files_endpoint_hash, endpoint_same, g_free, NULL);
        return f;
}

void node_files_free(NodeFiles *f)
{
        if (!f)
                return;
        g_hash_table_destroy(f->known);
        g_array_free(f->sockets, TRUE);
        g_hash_table_destroy(f->processes);
        g_ptr_array_free(f->in_order, TRUE);
        g_hash_table_destroy(f->peers);
        g_free(f);
}

/* --- sockets ----------------------------------------------------------------- */

static Process *node_files_process_get(NodeFiles *f, guint32 pid, const char *comm, gsize n)
{
        Process *process = g_hash_table_lookup(f->processes, GUINT_TO_POINTER(pid));
        if (process)
                return process;
        process = g_new0(Process, 1);
        process->pid = process->shares = pid;
        process->comm = g_strndup(comm, MIN(n, MAX_COMM));
        process->node = NO_NODE;
        g_hash_table_insert(f->processes, GUINT_TO_POINTER(pid), process);
        g_ptr_array_add(f->in_order, process);
        return process;
}

/* The process that stands for all that share sockets. */
static Process *process_first(NodeFiles *f, guint32 pid)
{
        Process *process = g_hash_table_lookup(f->processes, GUINT_TO_POINTER(pid));
        while (process->shares != process->pid)
                process = g_hash_table_lookup(f->processes, GUINT_TO_POINTER(process->shares));
        return process;
}

static void share(NodeFiles *f, guint32 a, guint32 b)
{
        Process *x = process_first(f, a), *y = process_first(f, b);
        if (x->pid < y->pid)
                y->shares = x->pid;
        else
                x->shares = y->pid;
}

static guint connections_at(const NodeFiles *f, const Endpoint *end)
{
        return GPOINTER_TO_UINT(g_hash_table_lookup(f->peers, end));
}

/* FALSE: whose it is is not said. */
static gboolean add_socket(NodeFiles *f, Listing listing, const char *text, gsize n)
{
        SocketLine socket, *line = &socket;
        if (!socket_line_parse(listing, text, n, line) || line->n_pids == 0)
                return FALSE;
        Socket s = { line->local, line->peer, line->pid[0], line->listening };
        for (guint i = 0; i < line->n_pids; i++) {
                node_files_process_get(f, line->pid[i], line->comm, line->n_comm);
                share(f, line->pid[0], line->pid[i]);
        }
        if (!g_hash_table_add(f->known, g_memdup2(&s, sizeof s)))
                return TRUE;
        g_array_append_val(f->sockets, s);
        g_hash_table_insert(f->peers, g_memdup2(&s.local, sizeof s.local),
                            GUINT_TO_POINTER(connections_at(f, &s.local) + 1));
        return TRUE;
}

/* Whether the local end of the socket serves. A line of the user says so; or something listens
 * there; or it has several connections, and more than its peer has. */
static gboolean is_server(const NodeFiles *f, const Socket *s, const guint8 *listened)
{
        return s->listening || listened[s->local.port] ||
               node_names_service(f->names, &s->local, G_MAXINT64) != NO_NODE ||
               connections_at(f, &s->local) > MAX(connections_at(f, &s->peer), 1);
}

/* A process that serves where a line of the user has a name is called by it. */
static void take_user_names(NodeFiles *f, const guint8 *serves)
{
        for (guint i = 0; i < f->sockets->len; i++) {
                const Socket *s = &g_array_index(f->sockets, Socket, i);
                Process *process = process_first(f, s->pid);
                if (!serves[i])
                        continue;
                if (process->node == NO_NODE)
                        process->node = node_names_service(f->names, &s->local, G_MAXINT64);
                if (!process->port || s->local.port < process->port)
                        process->port = s->local.port;
        }
}

static void name_processes(NodeFiles *f)
{
        ServiceNames *services = service_names_new(f->nodes);
        EACH_OF (const Process, p, f->in_order)
                if (p->shares == p->pid && p->node == NO_NODE)
                        service_names_expect(services, p->comm, p->pid);
        EACH_OF (Process, p, f->in_order)
                if (p->shares == p->pid && p->node == NO_NODE)
                        p->node = service_names_find(services, p->comm, p->pid, p->port);
        service_names_free(services);
}

static void add_listener(NodeFiles *f, const Socket *listener, NodeId node)
{
        Endpoint end = listener->local;
        if (!address_is_any(end.address)) {
                node_names_add_service(f->names, &end, G_MININT64, node);
                return;
        }
        end.address = address_v4(0x7f000001);
        node_names_add_service(f->names, &end, G_MININT64, node);
        end.address = (Address){ 0, 1 };
        node_names_add_service(f->names, &end, G_MININT64, node);
}

/* --- translation --------------------------------------------------------------- */

/* The true ends are who asked and who answers. In between it may look as the client's side has
 * it, or as the server's has it. */
static gboolean add_translation(NodeFiles *f, const char *line, gsize n)
{
        TranslationLine t;
        if (!translation_line_parse(line, n, &t))
                return FALSE;
        const Endpoint ends[2] = { t.client, t.true_server };
        const Endpoint first[2] = { t.client, t.server },
                       last[2] = { t.seen_client, t.true_server };
        gint64 from = t.time < 0 ? G_MININT64 : t.time - EVENT_DELAY;
        if (!endpoint_equal(&t.server, &t.true_server))
                node_names_add_translation(f->names, first, ends, from);
        if (!endpoint_equal(&t.client, &t.seen_client))
                node_names_add_translation(f->names, last, ends, from);
        return TRUE;
}

/* --- files ----------------------------------------------------------------------- */

static gsize node_files_line_length(const char *text, gsize n)
{
        const char *end = n > 0 ? memchr(text, '\n', n) : NULL;
        return end ? (gsize)(end - text) : n;
}

/* By the first line that is neither empty nor a comment. */
static Listing node_files_recognise(const char *text, gsize n)
{
        while (n > 0) {
                gsize length = node_files_line_length(text, n), i = 0;
                while (i < length && g_ascii_isspace(text[i]))
                        i++;
                if (i < length && text[i] != '#')
                        return listing_recognise(text, length);
                length += length < n;
                text += length;
                n -= length;
        }
        return LISTING_NONE;
}

gboolean node_files_parse(NodeFiles *f, const char *text, gsize n, const char *source,
                          GError **error)
{
        static const char *const missing[] = {
                [LISTING_SS] = "no line names the process of a TCP socket: use what ss -tnp prints "
                               "for root",
                [LISTING_LSOF] = "no line has a TCP socket by numbers: use what lsof -nP -i prints",
                [LISTING_CONNTRACK] = "no line has an established connection"
        };
        Listing listing = node_files_recognise(text, n);
        gboolean any = FALSE;
        if (listing == LISTING_NONE)
                return node_names_parse(f->names, text, n, source, error);
        while (n > 0) {
                gsize length = node_files_line_length(text, n);
                any |= listing == LISTING_CONNTRACK ? add_translation(f, text, length)
                                                    : add_socket(f, listing, text, length);
                length += length < n;
                text += length;
                n -= length;
        }
        if (!any)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: %s", source,
                            missing[listing]);
        return any;
}

gboolean node_files_load(NodeFiles *f, const char *path, GError **error)
{
        g_autoptr(ByteSource) source = byte_source_new(path, error);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        guint8 block[16384];
        gssize n;
        if (!source)
                return FALSE;
        while ((n = byte_source_read(source, block, sizeof block, error)) > 0) {
                g_byte_array_append(bytes, block, (guint)n);
                if (bytes->len > MAX_FILE)
                        return ravel_fail(error, RAVEL_ERROR_INPUT,
                                          "%s: too large for a file of node names", path);
        }
        return n == 0 && node_files_parse(f, (const char *)bytes->data, bytes->len,
                                          byte_source_name(source), error);
}

void node_files_settle(NodeFiles *f)
{
        g_autofree guint8 *listened = g_new0(guint8, 65536);
        g_autofree guint8 *serves = g_new0(guint8, f->sockets->len + 1);
        EACH (const Socket, s, f->sockets)
                listened[s->local.port] |= (guint8)s->listening;
        for (guint i = 0; i < f->sockets->len; i++)
                serves[i] = is_server(f, &g_array_index(f->sockets, Socket, i), listened);
        take_user_names(f, serves);
        name_processes(f);
        for (guint i = 0; i < f->sockets->len; i++) {
                const Socket *s = &g_array_index(f->sockets, Socket, i);
                NodeId node = process_first(f, s->pid)->node;
                if (s->listening) {
                        add_listener(f, s, node);
                        continue;
                }
                node_names_add_connection(f->names, &s->local, &s->peer, G_MININT64, node,
                                          serves[i] ? ROLE_SERVER : ROLE_CALLER);
                if (serves[i])
                        node_names_add_service(f->names, &s->local, G_MININT64, node);
        }
}
