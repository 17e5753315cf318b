/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/processes/process-watch.h"

#include <string.h>

#include "base/each.h"
#include "capture/processes/perf-rings.h"
#include "capture/processes/proc-sockets.h"

enum {
        MAX_PENDING = 1 << 16, /* connections that are asked for */
        MAX_FACTS = 1000,
        SEARCH_SHARE = 20, /* looking at all processes may take one part in 20 of the time */
};

/* us between two looks at the table of sockets. */
#define POLL_TIME (20 * G_GINT64_CONSTANT(1000))

/* ns by which the clock of records may differ from that of packets: one is read after the other. */
#define CLOCK_SLACK G_GINT64_CONSTANT(100000)

/* A connection that a process has asked for. */
typedef struct {
        guint64 socket;
        gint64 time;
        NodeId node;
        gboolean near; /* on our network */
} Pending;

struct ProcessWatch {
        NodeNames *names;
        NodeTable *nodes;
        ProcessTable *processes;
        PerfRings *rings;    /* NULL: /proc is polled */
        GHashTable *pending; /* of Pending, by socket */
        GHashTable *known;   /* of guint64: sockets by inode that need not be looked at again */
        GHashTable *owners;  /* of guint: processes that had sockets */
        GPtrArray *facts;
        GHashTable *told; /* those facts */
        OutputFile *lines;
        GString *earlier; /* lines from before there was where to write */
        GError *error;
        gint64 next_look, next_search; /* us, of the monotonic clock */
        ProcessCounts counts;
};

/* --- what is known ---------------------------------------------------------------- */

static void write_line(ProcessWatch *w, const char *line)
{
        if (w->lines && !w->error)
                output_file_write(w->lines, line, strlen(line), &w->error);
        else if (w->earlier && w->earlier->len < 1 << 24)
                g_string_append(w->earlier, line);
}

static const char *end_text(const Endpoint *end, char text[ADDRESS_TEXT_SIZE + 8])
{
        char address[ADDRESS_TEXT_SIZE];
        address_format(end->address, address);
        g_snprintf(text, ADDRESS_TEXT_SIZE + 8, address_is_v4(end->address) ? "%s:%u" : "[%s]:%u",
                   address, end->port);
        return text;
}

static void write_from(char text[64], gint64 from)
{
        *text = '\0';
        if (from != G_MININT64)
                g_snprintf(text, 64, " from %" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT,
                           from / 1000000000, from % 1000000000);
}

static void tell_connection(ProcessWatch *w, const Endpoint *own, const Endpoint *peer, gint64 from,
                            NodeId node, NodeRole role)
{
        char a[ADDRESS_TEXT_SIZE + 8], b[ADDRESS_TEXT_SIZE + 8], time[64];
        node_names_add_connection(w->names, own, peer, from, node, role);
        if (role != ROLE_CALLER)
                return;
        write_from(time, from);
        g_autofree char *line = g_strdup_printf("%s>%s %s%s\n", end_text(own, a), end_text(peer, b),
                                                node_table_name(w->nodes, node), time);
        write_line(w, line);
}

static void tell_service(ProcessWatch *w, guint32 pid, const GArray *ends, gint64 from)
{
        NodeId node = process_table_node(w->processes, pid);
        char text[ADDRESS_TEXT_SIZE + 8], time[64];
        write_from(time, from);
        for (guint i = 0; node != NO_NODE && i < ends->len; i++) {
                const Endpoint *end = &g_array_index(ends, Endpoint, i);
                const char *name = node_table_name(w->nodes, node);
                node_names_add_service(w->names, end, from, node);
                g_autofree char *line =
                        g_strdup_printf("%s %s%s\n", end_text(end, text), name, time);
                write_line(w, line);
                char *fact = g_strdup_printf("%s %s", name, text);
                if (w->facts->len < MAX_FACTS && !g_hash_table_contains(w->told, fact)) {
                        g_hash_table_add(w->told, fact);
                        g_ptr_array_add(w->facts, fact);
                } else {
                        g_free(fact);
                }
        }
}

/* --- the kernel's records ------------------------------------------------------------ */

static void connects(ProcessWatch *w, const ProcessEvent *event)
{
        Pending *pending = g_new(Pending, 1);
        w->counts.opened++;
        *pending =
                (Pending){ event->socket, event->time, process_table_node(w->processes, event->pid),
                           process_table_is_near(w->processes, event->pid) };
        if (g_hash_table_size(w->pending) >= MAX_PENDING)
                g_hash_table_remove_all(w->pending);
        g_hash_table_replace(w->pending, &pending->socket, pending);
}

static void opened(ProcessWatch *w, const ProcessEvent *event)
{
        const Pending *pending = g_hash_table_lookup(w->pending, &event->socket);
        if (pending && pending->node != NO_NODE &&
            (pending->near || !address_is_loopback(event->own.address)))
                tell_connection(w, &event->own, &event->peer, pending->time - CLOCK_SLACK,
                                pending->node, ROLE_CALLER);
        g_hash_table_remove(w->pending, &event->socket);
}

static void process_watch_take_event(gpointer user, const ProcessEvent *event)
{
        ProcessWatch *w = user;
        g_autoptr(GArray) ends = NULL;
        switch (event->kind) {
        case PROCESS_CONNECTS:
                connects(w, event);
                break;
        case PROCESS_OPENED:
                opened(w, event);
                break;
        case PROCESS_REFUSED:
                g_hash_table_remove(w->pending, &event->socket);
                break;
        case PROCESS_LISTENS:
                ends = g_array_new(FALSE, FALSE, sizeof(Endpoint));
                process_table_listen(w->processes, event->pid, &event->own, ends);
                tell_service(w, event->pid, ends, event->time - CLOCK_SLACK);
                break;
        case PROCESS_NAMED:
        case PROCESS_EXEC:
                process_table_rename(w->processes, event->pid, event->comm,
                                     event->kind == PROCESS_EXEC);
                break;
        case PROCESS_FORK:
                process_table_fork(w->processes, event->pid, event->parent);
                break;
        case PROCESS_EXIT:
                process_table_exit(w->processes, event->pid);
                break;
        case PROCESS_OTHER:
        case PROCESS_LOST:
                break;
        }
}

/* --- /proc ----------------------------------------------------------------------------- */

/* A socket that was not known, and its process. */
typedef struct {
        ProcSocket socket;
        guint32 pid;
} Owned;

static void process_watch_add_number(GHashTable *set, guint64 number)
{
        g_hash_table_add(set, g_memdup2(&number, sizeof number));
}

/* Moves sockets that have a process from fresh to owned. */
static void find_owners(ProcessWatch *w, GArray *fresh, GHashTable *owners, GArray *owned)
{
        guint left = 0;
        for (guint i = 0; i < fresh->len; i++) {
                const ProcSocket *s = &g_array_index(fresh, ProcSocket, i);
                const guint64 *pid = g_hash_table_lookup(owners, &s->inode);
                if (pid) {
                        Owned one = { *s, (guint32)*pid };
                        g_array_append_val(owned, one);
                        g_hash_table_add(w->owners, GUINT_TO_POINTER(one.pid));
                } else {
                        g_array_index(fresh, ProcSocket, left++) = *s;
                }
        }
        g_array_set_size(fresh, left);
}

/* The sockets that were not known, and whose they are. Who had some is asked first; all processes
 * only where that does not do, and not too often. */
static GArray *process_watch_look(ProcessWatch *w)
{
        g_autoptr(GArray) sockets = proc_sockets_read("/proc/self");
        g_autoptr(GArray) fresh = g_array_new(FALSE, FALSE, sizeof(ProcSocket));
        g_autoptr(GHashTable) owners = proc_owners_new();
        GHashTable *known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        GArray *owned = g_array_new(FALSE, FALSE, sizeof(Owned));
        GHashTableIter pids;
        gpointer pid;
        EACH (const ProcSocket, s, sockets) {
                if (s->inode && g_hash_table_contains(w->known, &s->inode))
                        process_watch_add_number(known, s->inode);
                else if (s->inode)
                        g_array_append_val(fresh, *s);
        }
        g_hash_table_iter_init(&pids, w->owners);
        while (fresh->len > 0 && g_hash_table_iter_next(&pids, &pid, NULL))
                proc_owners_add(owners, "/proc", GPOINTER_TO_UINT(pid));
        find_owners(w, fresh, owners, owned);
        gint64 now = g_get_monotonic_time();
        if (fresh->len > 0 && now >= w->next_search) {
                g_hash_table_remove_all(w->owners); /* some may be gone */
                proc_owners_add_all(owners, "/proc");
                for (guint i = 0; i < owned->len; i++)
                        g_hash_table_add(w->owners,
                                         GUINT_TO_POINTER(g_array_index(owned, Owned, i).pid));
                w->next_search = now + (g_get_monotonic_time() - now) * SEARCH_SHARE;
                for (guint i = 0; i < fresh->len; i++) /* also sockets that nobody has */
                        process_watch_add_number(known, g_array_index(fresh, ProcSocket, i).inode);
                find_owners(w, fresh, owners, owned);
        }
        for (guint i = 0; i < owned->len; i++)
                process_watch_add_number(known, g_array_index(owned, Owned, i).socket.inode);
        g_hash_table_destroy(w->known);
        w->known = known;
        return owned;
}

static gboolean has_service(const GArray *ends, const Endpoint *end)
{
        for (guint i = 0; i < ends->len; i++)
                if (endpoint_equal(&g_array_index(ends, Endpoint, i), end))
                        return TRUE;
        return FALSE;
}

/* Who listens is told of first, as a process is called by it. */
static void take_owned(ProcessWatch *w, const GArray *owned, gint64 from)
{
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Endpoint));
        g_autoptr(GArray) first = g_array_new(FALSE, FALSE, sizeof(guint));
        guint start;
        EACH (const Owned, o, owned) {
                start = all->len;
                g_array_append_val(first, start);
                if (o->socket.listening)
                        process_table_listen(w->processes, o->pid, &o->socket.own, all);
        }
        start = all->len;
        g_array_append_val(first, start);
        for (guint i = 0; i < owned->len; i++)
                if (g_array_index(owned, Owned, i).socket.listening)
                        process_table_expect(w->processes, g_array_index(owned, Owned, i).pid);
        for (guint i = 0; i < owned->len; i++) {
                const Owned *o = &g_array_index(owned, Owned, i);
                g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(Endpoint));
                guint at = g_array_index(first, guint, i), end = g_array_index(first, guint, i + 1);
                if (o->socket.listening) {
                        g_array_append_vals(ends, &g_array_index(all, Endpoint, at), end - at);
                        tell_service(w, o->pid, ends, from);
                }
        }
        EACH (const Owned, o, owned) {
                NodeRole role =
                        node_names_role(w->names, &o->socket.own, &o->socket.peer, G_MAXINT64);
                if (o->socket.listening || has_service(all, &o->socket.own) || role == ROLE_SERVER)
                        continue;
                NodeId node = process_table_node(w->processes, o->pid);
                if (node != NO_NODE)
                        tell_connection(w, &o->socket.own, &o->socket.peer, from, node,
                                        ROLE_CALLER);
        }
}

/* The time of a connection is not known then, only that it is there now. */
static void poll_sockets(ProcessWatch *w)
{
        gint64 now = g_get_monotonic_time();
        if (now < w->next_look)
                return;
        g_autoptr(GArray) owned = process_watch_look(w);
        take_owned(w, owned, G_MININT64);
        w->next_look = g_get_monotonic_time() + POLL_TIME;
}

/* --- from outside ------------------------------------------------------------------------ */

ProcessWatch *process_watch_new(ProcessNaming naming, NodeNames *names, NodeTable *nodes,
                                char **why)
{
        ProcessWatch *w = g_new0(ProcessWatch, 1);
        *why = NULL;
        w->names = names;
        w->nodes = nodes;
        w->processes = process_table_new("/proc", naming, names, nodes);
        w->pending = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
        w->known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        w->owners = g_hash_table_new(NULL, NULL);
        w->facts = g_ptr_array_new();
        w->told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        w->earlier = g_string_new(NULL);
        w->rings = perf_rings_open(why); /* before looking: nothing is missed in between */
        node_names_forget(names);
        g_autoptr(GArray) owned = process_watch_look(w);
        take_owned(w, owned, G_MININT64);
        return w;
}

void process_watch_free(ProcessWatch *w)
{
        if (!w)
                return;
        perf_rings_free(w->rings);
        process_table_free(w->processes);
        g_hash_table_destroy(w->pending);
        g_hash_table_destroy(w->known);
        g_hash_table_destroy(w->owners);
        g_ptr_array_free(w->facts, TRUE);
        g_hash_table_destroy(w->told);
        if (w->earlier)
                g_string_free(w->earlier, TRUE);
        g_clear_error(&w->error);
        g_free(w);
}

void process_watch_write_to(ProcessWatch *w, OutputFile *lines)
{
        w->lines = lines;
        write_line(w, w->earlier->str);
        g_string_free(g_steal_pointer(&w->earlier), TRUE);
}

gboolean process_watch_update(ProcessWatch *w, GError **error)
{
        if (w->rings)
                perf_rings_read(w->rings, process_watch_take_event, w);
        else
                poll_sockets(w);
        if (!w->error)
                return TRUE;
        g_propagate_error(error, g_steal_pointer(&w->error));
        w->lines = NULL;
        return FALSE;
}

GPtrArray *process_watch_facts(const ProcessWatch *w)
{
        GPtrArray *facts = g_ptr_array_new_with_free_func(g_free);
        for (guint i = 0; i < w->facts->len; i++)
                g_ptr_array_add(facts, g_strdup(w->facts->pdata[i]));
        return facts;
}

ProcessCounts process_watch_counts(const ProcessWatch *w)
{
        ProcessCounts counts = w->counts;
        counts.lost = w->rings ? perf_rings_lost(w->rings) : 0;
        return counts;
}
