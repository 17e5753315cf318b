/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/capture-run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/network/common-address.h"
#include "capture/network/node-files.h"
#include "tools/run-files.h"
#include "tools/tool.h"

enum { MOST_KEYS = 1 << 20 }; /* TLS connections whose secrets are kept in CAPTURE_MEMORY */

void capture_run_free(CaptureRun *run)
{
        g_ptr_array_free(run->sources, TRUE);
        g_ptr_array_free(run->link_types, TRUE);
        g_array_free(run->doubts, TRUE);
        g_array_free(run->edges, TRUE);
        packet_merge_free(run->packets);
        trace_writer_free(run->writer);
        capture_free(run->capture);
        node_names_free(run->names);
        key_log_free(run->keys);
        identifiers_free(run->identifiers);
        tag_rules_free(run->tags);
        learned_names_free(run->learned);
        process_watch_free(run->watch);
        output_file_free(run->process_lines);
        node_table_free(run->nodes);
        g_clear_error(&run->write_error);
        g_free(run->host);
        g_free(run->boot);
        g_free(run);
}

/* A pipe is written as it is read. */
static gboolean any_is_pipe(const CaptureCommand *command)
{
        for (guint list = 0; list < 2; list++)
                for (char **p = list ? command->rest : command->read; p && *p; p++)
                        if (pcap_source_path_is_live(*p))
                                return TRUE;
        return FALSE;
}

/* What the facts call where the packets came from. */
static GPtrArray *list_sources(const CaptureCommand *command)
{
        GPtrArray *sources = g_ptr_array_new_with_free_func(g_free);
        for (guint list = 0; list < 2; list++)
                for (char **p = list ? command->rest : command->read; p && *p; p++)
                        g_ptr_array_add(sources, g_strdup(*p));
        if (command->interfaces)
                g_ptr_array_add(sources, g_strjoinv(" ", command->interfaces));
        return sources;
}

/* Where all packets of the files are from or to one address: the name of its node. Files
 * that cannot be read are none of its business. The caller's to free. */
static char *recognise_host(CaptureRun *run)
{
        PcapOptions pcap = { .filter = run->command->filter };
        g_autoptr(CommonAddress) common = common_address_new();
        gint64 left = run->left;
        Endpoint own = { .port = 0 };
        gint64 first = NO_TIME;
        Packet packet;
        for (guint i = 0; i < run->sources->len; i++) {
                const char *path = pcap_source_path_again(run->sources->pdata[i]);
                g_autoptr(PcapSource) source = pcap_source_open(path, &pcap, NULL);
                while (left != 0 && source && pcap_source_next(source, &packet, NULL) == 1) {
                        if (!common_address_add(common, &packet))
                                return NULL;
                        first = first == NO_TIME ? packet.time : MIN(first, packet.time);
                        left--;
                }
        }
        if (!common_address_find(common, &own.address, &run->host_is_sure))
                return NULL;
        NodeId node = node_names_lookup(run->names, &own, NULL, first);
        return g_strdup(node_table_name(run->nodes, node));
}

/* Adds what the files of --nodes say to names. */
static gboolean load_names(const CaptureCommand *command, NodeNames *names, NodeTable *nodes,
                           GError **error)
{
        g_autoptr(NodeFiles) files = node_files_new(names, nodes);
        for (char **p = command->nodes; p && *p; p++)
                if (!node_files_load(files, *p, error))
                        return FALSE;
        node_files_settle(files);
        return TRUE;
}

static gboolean capture_load_names(CaptureRun *run, GError **error)
{
        g_autofree char *first = NULL;
        guint n;
        if (!load_names(run->command, run->names, run->nodes, error))
                return FALSE;
        n = node_names_count_twice(run->names, &first);
        if (n == 1)
                tool_warn("--nodes %s: %s: the first counts", run->command->nodes[0], first);
        else if (n)
                tool_warn("--nodes %s: %s, and %u more lines are such: the first counts",
                          run->command->nodes[0], first, n - 1);
        return TRUE;
}

void capture_run_reload_names(CaptureRun *run)
{
        g_autoptr(NodeNames) trial = node_names_new(run->nodes);
        g_autoptr(GError) error = NULL;
        if (load_names(run->command, trial, run->nodes, &error)) {
                node_names_clear(run->names);
                if (capture_load_names(run, &error))
                        return;
        }
        tool_warn("names are not read anew: %s", error->message);
}

/* The file of --tls-keys: opened with all rights, and read on while the capture lasts. */
static gboolean load_keys(CaptureRun *run, GError **error)
{
        struct stat status;
        if (!run->command->tls_keys)
                return TRUE;
        int fd = open(run->command->tls_keys, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 || fstat(fd, &status) < 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "--tls-keys %s: %s",
                            run->command->tls_keys, g_strerror(errno));
                if (fd >= 0)
                        close(fd);
                return FALSE;
        }
        if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)))
                tool_warn("--tls-keys %s: others may read it (mode %04o), and with it the traffic: "
                          "chmod 600",
                          run->command->tls_keys, status.st_mode & 07777);
        if (!key_log_read(run->keys, fd, run->command->tls_keys, run->live, error)) {
                g_prefix_error(error, "--tls-keys ");
                return FALSE;
        }
        guint64 broken = key_log_broken_lines(run->keys);
        if (broken)
                tool_warn("--tls-keys %s: %" G_GUINT64_FORMAT " %s not of a key log",
                          run->command->tls_keys, broken, broken == 1 ? "line is" : "lines are");
        return TRUE;
}

/* The secret of --ids-key: bytes, the same on every host. Whoever has it can try out what a hash is
 * of, so nobody else may read it. */
static guint8 *load_secret(const CaptureCommand *command, gsize *n, GError **error)
{
        struct stat status;
        g_autofree guint8 *secret = g_malloc(MOST_SECRET + 1);
        int fd = open(command->ids_key, O_RDONLY | O_CLOEXEC);
        gssize got = 0;
        *n = 0;
        if (fd < 0 || fstat(fd, &status) < 0)
                got = -1;
        while (got >= 0 && *n <= MOST_SECRET &&
               (got = read(fd, secret + *n, MOST_SECRET + 1 - *n)) > 0)
                *n += (gsize)got;
        if (got < 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "--ids-key %s: %s",
                            command->ids_key, g_strerror(errno));
        else if (S_ISREG(status.st_mode) && (status.st_mode & 077))
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "--ids-key %s: others may read it (mode %04o), and with it try out "
                            "what a hash is of: chmod 600",
                            command->ids_key, status.st_mode & 07777);
        else if (*n < LEAST_SECRET || *n > MOST_SECRET)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "--ids-key %s: expected %d to %d random bytes, as of head -c 32 "
                            "/dev/urandom",
                            command->ids_key, LEAST_SECRET, MOST_SECRET);
        else
                got = 1;
        if (fd >= 0)
                close(fd);
        return got == 1 ? g_steal_pointer(&secret) : NULL;
}

static gboolean identifiers_begin(CaptureRun *run, const guint8 *secret, gsize n, GError **error)
{
        if (!run->command->ids)
                return TRUE;
        run->identifiers = identifiers_new(secret, n, run->command->ids_ignore, error);
        if (run->identifiers)
                return TRUE;
        (*error)->domain = RAVEL_ERROR;
        (*error)->code = RAVEL_ERROR_USAGE;
        g_prefix_error(error, "--ids-ignore: ");
        return FALSE;
}

/* A quarter of the machine's memory, at most the default of a capture. */
static guint64 default_memory(void)
{
        glong pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        return pages > 0 && size > 0 ? MIN((guint64)pages * (guint64)size / 4, CAPTURE_MEMORY) : 0;
}

static gboolean tags_begin(CaptureRun *run, const guint8 *secret, gsize n, GError **error)
{
        const CaptureCommand *command = run->command;
        return !command->tags ||
               (run->tags = tag_rules_new(command->tags, command->tag_hash, secret, n, error));
}

static gboolean load_identifiers(CaptureRun *run, GError **error)
{
        gsize n = 0;
        g_autofree guint8 *secret = NULL;
        if (run->command->ids_key && !(secret = load_secret(run->command, &n, error)))
                return FALSE;
        gboolean ok = identifiers_begin(run, secret, n, error) && tags_begin(run, secret, n, error);
        if (secret)
                explicit_bzero(secret, n);
        return ok;
}

/* The folder where later traces are begun, up to a part of its name that is the time. */
static char *traces_folder(const CaptureCommand *command)
{
        const char *time = strchr(command->write, '%');
        g_autofree char *known = time ? g_strndup(command->write, (gsize)(time - command->write))
                                      : g_strdup(command->write);
        return g_path_get_dirname(known);
}

gboolean capture_run_confine(const CaptureRun *run, GError **error)
{
        g_autofree char *folder =
                capture_command_rotates(run->command) ? traces_folder(run->command) : NULL;
        RunNeeds needs = { .packets = TRUE,
                           .interfaces = run->command->interfaces != NULL,
                           .processes = run->watch != NULL,
                           .open_files = run->polls,
                           .folder = folder };
        return run_files_confine(&needs, error);
}

CaptureRun *capture_run_new(CaptureCommand *command, GError **error)
{
        g_autoptr(CaptureRun) run = g_new0(CaptureRun, 1);
        gboolean taps = command->interfaces && command->interfaces[0] && command->interfaces[1];
        run->command = command;
        run->sources = list_sources(command);
        run->doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        run->edges = g_array_new(FALSE, FALSE, sizeof(EdgeCalls));
        run->link_types = g_ptr_array_new_with_free_func(g_free);
        run->nodes = node_table_new();
        run->names = node_names_new(run->nodes);
        run->keys = key_log_new();
        if (!command->memory)
                command->memory = default_memory();
        if (command->memory)
                key_log_bound(run->keys, capture_share(command->memory, MOST_KEYS));
        run->learned = command->names ? learned_names_new() : NULL;
        if (!capture_command_check(command, run->sources, error) ||
            (!command->interfaces && !capture_run_confine(run, error)) ||
            !capture_load_names(run, error))
                return NULL;
        if (command->interfaces &&
            g_file_get_contents("/proc/sys/kernel/random/boot_id", &run->boot, NULL, NULL))
                g_strchomp(run->boot);
        run->live = command->interfaces || any_is_pipe(command);
        if (!load_keys(run, error) || !load_identifiers(run, error))
                return NULL;
        run->left = command->count;
        if (!command->host && !run->live)
                run->host = recognise_host(run);
        if (run->host_is_sure)
                command->host = run->host;
        else if (command->host && !*command->host)
                g_clear_pointer(&command->host, g_free);
        CaptureOptions how = { .patience = run->live ? CAPTURE_PATIENCE_LIVE : CAPTURE_PATIENCE,
                               .disorder = taps ? CAPTURE_DISORDER_TAPS : CAPTURE_DISORDER,
                               .labels = command->no_labels ? LABELS_NONE
                                         : command->labels  ? LABELS_WHOLE
                                                            : LABELS_WORDS,
                               .identifiers = run->identifiers,
                               .tags = run->tags,
                               .in_order = run->live,
                               .host = command->host,
                               .learned = run->learned,
                               .keys = run->keys,
                               .ports = command->protocols ? command->ports : NULL,
                               .named_by_proxy = command->proxy_protocol,
                               .memory = command->memory,
                               .tunnels = command->tunnels ? command->tunnel_ports : NULL };
        run->capture = capture_new(&how, run->nodes, run->names);
        return g_steal_pointer(&run);
}
