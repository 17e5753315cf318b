/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/processes/proc-sockets.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATE_TIME_WAIT = 6, STATE_LISTEN = 10 };

/* An address as the kernel prints it: words of the machine in hexadecimal. */
static gboolean parse_words(const char *text, gsize digits, Address *address)
{
        guint8 bytes[16];
        guint32 word;
        char copy[9] = { 0 };
        if (digits != 8 && digits != 32)
                return FALSE;
        for (gsize i = 0; i < digits; i += 8) {
                char *end;
                memcpy(copy, text + i, 8);
                word = (guint32)g_ascii_strtoull(copy, &end, 16);
                if (end != copy + 8)
                        return FALSE;
                memcpy(bytes + i / 2, &word, 4);
        }
        *address = digits == 8 ? address_v4(read_u32(bytes)) : address_v6(bytes);
        return TRUE;
}

static gboolean proc_sockets_parse_end(const char *text, Endpoint *end)
{
        const char *colon = strchr(text, ':');
        char *stop = NULL;
        guint64 port = colon ? g_ascii_strtoull(colon + 1, &stop, 16) : 0;
        end->port = (guint16)port;
        return colon && stop && stop != colon + 1 && !*stop && port <= 65535 &&
               parse_words(text, (gsize)(colon - text), &end->address);
}

gboolean proc_socket_parse(const char *line, gsize n, ProcSocket *socket)
{
        char copy[256], own[64], peer[64];
        unsigned state;
        unsigned long long inode;
        if (n >= sizeof copy || memchr(line, '\0', n))
                return FALSE;
        memcpy(copy, line, n);
        copy[n] = '\0';
        if (sscanf(copy, " %*u: %63s %63s %x %*s %*s %*s %*u %*u %llu", own, peer, &state,
                   &inode) != 4)
                return FALSE;
        socket->inode = inode;
        socket->listening = state == STATE_LISTEN;
        return state != STATE_TIME_WAIT && proc_sockets_parse_end(own, &socket->own) &&
               proc_sockets_parse_end(peer, &socket->peer);
}

static void proc_sockets_read_file(const char *proc, const char *name, GArray *sockets)
{
        g_autofree char *path = g_build_filename(proc, "net", name, NULL);
        char line[512];
        ProcSocket socket;
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
                if (proc_socket_parse(line, strcspn(line, "\n"), &socket))
                        g_array_append_val(sockets, socket);
        if (file)
                fclose(file);
}

GArray *proc_sockets_read(const char *proc)
{
        GArray *sockets = g_array_new(FALSE, FALSE, sizeof(ProcSocket));
        proc_sockets_read_file(proc, "tcp", sockets);
        proc_sockets_read_file(proc, "tcp6", sockets);
        return sockets;
}

/* "|-- 10.0.0.1", and on the next line "/32 host LOCAL". */
static void read_addresses_v4(const char *path, GArray *addresses)
{
        char line[256], text[64] = "";
        Address address;
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file)) {
                if (sscanf(line, " |-- %63s", text) == 1 || !strstr(line, "/32 host LOCAL"))
                        continue;
                if (address_parse(text, strlen(text), &address))
                        g_array_append_val(addresses, address);
        }
        if (file)
                fclose(file);
}

static void read_addresses_v6(const char *path, GArray *addresses)
{
        char line[256];
        FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file)) {
                guint8 bytes[16] = { 0 };
                gsize i = 0;
                for (; i < 16 && g_ascii_isxdigit(line[2 * i]) && g_ascii_isxdigit(line[2 * i + 1]);
                     i++)
                        bytes[i] = (guint8)(g_ascii_xdigit_value(line[2 * i]) << 4 |
                                            g_ascii_xdigit_value(line[2 * i + 1]));
                Address address = address_v6(bytes);
                if (i == 16)
                        g_array_append_val(addresses, address);
        }
        if (file)
                fclose(file);
}

GArray *proc_addresses_read(const char *proc, const char *who)
{
        GArray *addresses = g_array_new(FALSE, FALSE, sizeof(Address));
        g_autofree char *four = g_build_filename(proc, who, "net", "fib_trie", NULL);
        g_autofree char *six = g_build_filename(proc, who, "net", "if_inet6", NULL);
        read_addresses_v4(four, addresses);
        read_addresses_v6(six, addresses);
        return addresses;
}

static void proc_sockets_read_process(const char *proc, const char *number, guint64 pid,
                                      GHashTable *owners)
{
        g_autofree char *folder = g_build_filename(proc, number, "fd", NULL);
        GDir *dir = g_dir_open(folder, 0, NULL);
        const char *name;
        if (!dir) /* gone, or not ours to look at */
                return;
        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder, name, NULL);
                char target[64];
                guint64 inode;
                gssize n = readlink(path, target, sizeof target - 1);
                if (n <= 0)
                        continue;
                target[n] = '\0';
                if (sscanf(target, "socket:[%" G_GUINT64_FORMAT "]", &inode) != 1)
                        continue;
                const guint64 *other = g_hash_table_lookup(owners, &inode);
                if (!other || *other > pid)
                        g_hash_table_replace(owners, g_memdup2(&inode, sizeof inode),
                                             g_memdup2(&pid, sizeof pid));
        }
        g_dir_close(dir);
}

GHashTable *proc_owners_new(void)
{
        return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

void proc_owners_add(GHashTable *owners, const char *proc, guint32 pid)
{
        char number[16];
        g_snprintf(number, sizeof number, "%u", pid);
        proc_sockets_read_process(proc, number, pid, owners);
}

void proc_owners_add_all(GHashTable *owners, const char *proc)
{
        GDir *dir = g_dir_open(proc, 0, NULL);
        const char *name;
        while (dir && (name = g_dir_read_name(dir))) {
                guint64 pid;
                if (g_ascii_string_to_unsigned(name, 10, 1, G_MAXUINT32, &pid, NULL))
                        proc_sockets_read_process(proc, name, pid, owners);
        }
        if (dir)
                g_dir_close(dir);
}
