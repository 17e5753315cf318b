/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/processes/process-table.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "capture/network/service-names.h"
#include "capture/processes/perf-record.h"
#include "capture/processes/proc-sockets.h"

enum {
        MAX_PROCESSES = 1 << 17,
        MAX_FAMILY = 16,     /* generations of forks that are looked at */
        MAX_ADDRESSES = 256, /* addresses of a machine that are looked at for who listens at all */
        CONTAINER_ID = 64,   /* hexadecimal digits, */
        SHORT_ID = 12,       /* of which the programs for containers show this many, */
        POD_ID = 8,          /* and how many tell a pod */
};

typedef struct {
        guint32 pid, parent;
        char comm[COMM_SIZE];
        gboolean renamed, read; /* comm is from a record; all was read, or will never be */
        char *group;            /* its unit or cgroup, NULL: none of use */
        guint64 network;        /* 0: not known */
        gboolean listens;
        Endpoint at;  /* the first */
        NodeId named; /* by a line for where it listens, or NO_NODE */
        guint64 key;  /* of the service, while it has a node */
        NodeId node;
} Process;

struct ProcessTable {
        char *proc;
        ProcessNaming naming;
        NodeNames *names;
        NodeTable *nodes;
        ServiceNames *services;
        GHashTable *processes; /* of Process, by number */
        GHashTable *users;     /* of guint32: by key of a service that listens nowhere, its only
                                  process, or 0 where there were several */
        guint64 network;       /* ours */
};

static void known_process_free(gpointer user)
{
        Process *p = user;
        g_free(p->group);
        g_free(p);
}

/* --- /proc --------------------------------------------------------------------- */

static char *process_table_read_file(const ProcessTable *t, guint32 pid, const char *name)
{
        char path[128], block[4096];
        g_snprintf(path, sizeof path, "%s/%u/%s", t->proc, pid, name);
        FILE *file = fopen(path, "re");
        if (!file)
                return NULL;
        gsize n = fread(block, 1, sizeof block - 1, file);
        fclose(file);
        block[n] = '\0';
        return g_strdup(block);
}

/* Each network has its own /proc/net/tcp, which says so without any right. */
static guint64 read_network(const ProcessTable *t, const char *who)
{
        g_autofree char *path = g_build_filename(t->proc, who, "net", "tcp", NULL);
        struct stat status;
        return stat(path, &status) == 0 ? status.st_ino : 0;
}

/* "12 (a name) S 1 ...": the name may have any character. */
static gboolean read_stat(const ProcessTable *t, Process *p)
{
        g_autofree char *text = process_table_read_file(t, p->pid, "stat");
        const char *open = text ? strchr(text, '(') : NULL,
                   *close = text ? strrchr(text, ')') : NULL;
        unsigned parent;
        if (!open || !close || close < open || sscanf(close + 1, " %*c %u", &parent) != 1)
                return FALSE;
        p->parent = parent;
        gsize n = MIN((gsize)(close - open - 1), COMM_SIZE - 1);
        memset(p->comm, 0, sizeof p->comm);
        memcpy(p->comm, open + 1, n);
        return TRUE;
}

static gboolean process_table_is_hex(const char *text, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if (!g_ascii_isxdigit(text[i]))
                        return FALSE;
        return TRUE;
}

/* "docker-0123...ef.scope", "cri-containerd-0123...ef.scope" or just the digits. */
static char *container_name(const char *part)
{
        gsize n = strcspn(part, ".");
        if (n < CONTAINER_ID || !process_table_is_hex(part + n - CONTAINER_ID, CONTAINER_ID) ||
            (n > CONTAINER_ID && part[n - CONTAINER_ID - 1] != '-' &&
             part[n - CONTAINER_ID - 1] != ':'))
                return NULL;
        return g_strndup(part + n - CONTAINER_ID, SHORT_ID);
}

/* "kubepods-burstable-pod0a1b2c3d_....slice" or "pod0a1b2c3d-...". */
static char *pod_name(const char *part)
{
        const char *pod = strstr(part, "pod");
        for (; pod; pod = strstr(pod + 1, "pod"))
                if ((pod == part || pod[-1] == '-') && strlen(pod) > 3 + POD_ID &&
                    process_table_is_hex(pod + 3, POD_ID) && strchr("-_", pod[3 + POD_ID]))
                        return g_strdup_printf("pod-%.*s", POD_ID, pod + 3);
        return NULL;
}

static char *unit_name(const char *part)
{
        if (g_str_has_prefix(part, "session-") || strcmp(part, "init.scope") == 0)
                return NULL;
        if (g_str_has_suffix(part, ".service"))
                return g_strndup(part, strlen(part) - strlen(".service"));
        return g_str_has_suffix(part, ".scope") ? g_strdup(part) : NULL;
}

/* The innermost part of a path that says something; a pod before the containers in it. */
static char *path_unit(const char *path)
{
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);
        char *name = NULL;
        for (char **part = parts; *part && !name; part++)
                name = pod_name(*part);
        for (guint i = g_strv_length(parts); i-- > 0 && !name;) {
                name = container_name(parts[i]);
                if (!name)
                        name = unit_name(parts[i]);
        }
        return name;
}

char *process_group_name(const char *cgroups, ProcessNaming naming)
{
        g_auto(GStrv) lines = g_strsplit(cgroups, "\n", -1);
        char *name = NULL;
        /* That of version 2 and systemd's first, then whichever says something. */
        for (guint turn = 0; turn < 2 && !name; turn++)
                for (char **line = lines; *line && !name; line++) {
                        const char *path = strstr(*line, ":/");
                        gboolean first =
                                g_str_has_prefix(*line, "0::") || strstr(*line, "name=systemd:");
                        if (!path || first != (turn == 0) || !path[2])
                                continue;
                        name = naming == NAMED_BY_UNIT ? path_unit(path + 1) : g_strdup(path + 2);
                }
        return name;
}

static void process_table_read_process(ProcessTable *t, Process *p);

static Process *known_process_get(ProcessTable *t, guint32 pid)
{
        Process *p = g_hash_table_lookup(t->processes, GUINT_TO_POINTER(pid));
        if (p)
                return p;
        p = g_new0(Process, 1);
        p->pid = pid;
        p->node = p->named = NO_NODE;
        g_hash_table_insert(t->processes, GUINT_TO_POINTER(pid), p);
        return p;
}

/* It is gone, and was not asked for while it was there: what forks are alike in. */
static void inherit(ProcessTable *t, Process *p)
{
        Process *parent = p->parent ? known_process_get(t, p->parent) : NULL;
        if (!parent || parent == p)
                return;
        process_table_read_process(t, parent);
        if (!p->renamed)
                memcpy(p->comm, parent->comm, sizeof p->comm);
        p->network = parent->network;
        p->group = g_strdup(parent->group);
}

static void process_table_read_process(ProcessTable *t, Process *p)
{
        char number[16], comm[COMM_SIZE];
        if (p->read)
                return;
        p->read = TRUE;
        g_snprintf(number, sizeof number, "%u", p->pid);
        memcpy(comm, p->comm, sizeof comm);
        gboolean there = read_stat(t, p);
        if (p->renamed)
                memcpy(p->comm, comm, sizeof comm);
        if (!there) {
                inherit(t, p);
                return;
        }
        p->network = read_network(t, number);
        g_autofree char *cgroups =
                t->naming == NAMED_BY_COMM ? NULL : process_table_read_file(t, p->pid, "cgroup");
        p->group = cgroups ? process_group_name(cgroups, t->naming) : NULL;
}

/* --- the table ------------------------------------------------------------------- */

ProcessTable *process_table_new(const char *proc, ProcessNaming naming, NodeNames *names,
                                NodeTable *nodes)
{
        ProcessTable *t = g_new0(ProcessTable, 1);
        t->proc = g_strdup(proc);
        t->naming = naming;
        t->names = names;
        t->nodes = nodes;
        t->services = service_names_new(nodes);
        t->processes = g_hash_table_new_full(NULL, NULL, NULL, known_process_free);
        t->users = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        t->network = read_network(t, "self");
        return t;
}

void process_table_free(ProcessTable *t)
{
        if (!t)
                return;
        service_names_free(t->services);
        g_hash_table_destroy(t->processes);
        g_hash_table_destroy(t->users);
        g_free(t->proc);
        g_free(t);
}

/* Before any is in use. */
static void bound(ProcessTable *t)
{
        if (g_hash_table_size(t->processes) >= MAX_PROCESSES)
                g_hash_table_remove_all(t->processes);
}

void process_table_fork(ProcessTable *t, guint32 pid, guint32 parent)
{
        bound(t);
        process_table_exit(t, pid);
        known_process_get(t, pid)->parent = parent;
}

void process_table_rename(ProcessTable *t, guint32 pid, const char *comm, gboolean exec)
{
        bound(t);
        Process *p = known_process_get(t, pid);
        g_strlcpy(p->comm, comm, sizeof p->comm);
        p->renamed = TRUE;
        p->node = p->named;
        if (!exec)
                return;
        g_clear_pointer(&p->group, g_free);
        p->read = p->listens = FALSE;
        p->node = p->named = NO_NODE;
}

void process_table_exit(ProcessTable *t, guint32 pid)
{
        g_hash_table_remove(t->processes, GUINT_TO_POINTER(pid));
}

/* The eldest of a family of forks. */
static Process *family_head(ProcessTable *t, Process *p)
{
        for (guint i = 0; i < MAX_FAMILY && p->parent > 1; i++) {
                Process *parent = known_process_get(t, p->parent);
                process_table_read_process(t, parent);
                if (strcmp(parent->comm, p->comm) != 0 || !*parent->comm)
                        break;
                p = parent;
        }
        return p;
}

/* The key of the service among the services of its name. listener: which of its processes
 * listens; NULL: none. */
static guint64 service_key(ProcessTable *t, Process *p, const Process **listener)
{
        const Process *head = family_head(t, p);
        guint64 h = hash_word(HASH_SEED, p->network);
        *listener = p->listens ? p : head->listens ? head : NULL;
        if (!*listener)
                return hash_word(h, head->parent);
        h = hash_word(hash_word(h, (*listener)->at.address.high), (*listener)->at.address.low);
        return hash_word(h, (guint64)(*listener)->at.port << 32);
}

/* The loopback's addresses of another network are none of ours. */
static gboolean is_of_use(const ProcessTable *t, const Process *p, Address address)
{
        return !address_is_loopback(address) || p->network == t->network;
}

/* Where a process listens, address by address. */
static void list_ends(const ProcessTable *t, const Process *p, const Endpoint *own, GArray *at)
{
        char number[16];
        if (!address_is_any(own->address)) {
                if (is_of_use(t, p, own->address))
                        g_array_append_val(at, *own);
                return;
        }
        g_snprintf(number, sizeof number, "%u", p->pid);
        g_autoptr(GArray) addresses = proc_addresses_read(t->proc, number);
        for (guint i = 0; i < addresses->len && i < MAX_ADDRESSES; i++) {
                Endpoint end = { g_array_index(addresses, Address, i), own->port };
                if (is_of_use(t, p, end.address))
                        g_array_append_val(at, end);
        }
}

/* The node of a line for one of these, NO_NODE where there is none. */
static NodeId user_node(const ProcessTable *t, const GArray *at)
{
        NodeId node = NO_NODE;
        for (guint i = 0; i < at->len && node == NO_NODE; i++)
                node = node_names_service(t->names, &g_array_index(at, Endpoint, i), G_MAXINT64);
        return node;
}

void process_table_listen(ProcessTable *t, guint32 pid, const Endpoint *own, GArray *at)
{
        bound(t);
        Process *p = known_process_get(t, pid);
        process_table_read_process(t, p);
        list_ends(t, p, own, at);
        NodeId node = user_node(t, at);
        if (node != NO_NODE)
                p->named = p->node = node;
        else if (!p->listens && p->node != NO_NODE && p->named == NO_NODE && !p->group &&
                 GPOINTER_TO_UINT(g_hash_table_lookup(t->users, &p->key)) != pid)
                p->node = NO_NODE; /* it is not one with its namesakes any more */
        if (!p->listens)
                p->at = *own;
        p->listens = TRUE;
}

void process_table_expect(ProcessTable *t, guint32 pid)
{
        Process *p = known_process_get(t, pid);
        const Process *listener;
        process_table_read_process(t, p);
        guint64 key = service_key(t, p, &listener);
        if (!p->group && *p->comm && (!listener || listener->named == NO_NODE))
                service_names_expect(t->services, p->comm, key);
}

/* Who listens nowhere is known by its parent and its name, as others may be. */
static void note_user(ProcessTable *t, Process *p)
{
        gpointer user;
        if (!g_hash_table_lookup_extended(t->users, &p->key, NULL, &user)) {
                if (g_hash_table_size(t->users) >= MAX_PROCESSES)
                        g_hash_table_remove_all(t->users);
                g_hash_table_insert(t->users, g_memdup2(&p->key, sizeof p->key),
                                    GUINT_TO_POINTER(p->pid));
        } else if (GPOINTER_TO_UINT(user) != p->pid) {
                g_hash_table_insert(t->users, g_memdup2(&p->key, sizeof p->key), NULL);
        }
}

NodeId process_table_node(ProcessTable *t, guint32 pid)
{
        bound(t);
        Process *p = known_process_get(t, pid);
        const Process *listener;
        if (p->node != NO_NODE)
                return p->node;
        process_table_read_process(t, p);
        if (!*p->comm)
                return NO_NODE;
        p->key = service_key(t, p, &listener);
        if (listener && listener->named != NO_NODE)
                return p->node = listener->named;
        if (!listener)
                note_user(t, p);
        if (p->group)
                p->node = service_names_find(t->services, p->group, 0, 0);
        else
                p->node = service_names_find(t->services, p->comm, p->key,
                                             listener ? listener->at.port : 0);
        return p->node;
}

gboolean process_table_is_near(ProcessTable *t, guint32 pid)
{
        Process *p = known_process_get(t, pid);
        process_table_read_process(t, p);
        return p->network == t->network || p->network == 0;
}
