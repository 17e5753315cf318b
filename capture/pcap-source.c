/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/pcap-source.h"

#include <errno.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/link-layer.h"
#include "tracefmt/byte-source.h"
#include "tracefmt/error.h"

enum {
        MAX_INTERFACES = 64,
        FILE_BUFFER = 1 << 17, /* bytes */
        LIVE_TIMEOUT = 100,    /* ms until the kernel hands over what there is */
        IDLE_TIMEOUT = 200,    /* ms */
};

typedef struct {
        pcap_t *pcap;
        int link_type;
        int fd; /* to poll */
} Handle;

struct PcapSource {
        PcapOptions options;
        char *name;
        Handle handles[MAX_INTERFACES];
        guint n, next; /* next: whose turn it is */
        char *link_type;
        volatile sig_atomic_t stopped;

        /* A file. */
        ByteSource *bytes;
        guint64 n_bytes;
        char head[33]; /* the first of them, and a NUL */
        GError *read_error;
};

static gint64 monotonic_ns(void)
{
        return g_get_monotonic_time() * 1000;
}

/* Waits until one of fds has something, telling the owner about every while
 * without. FALSE: stopped. */
static gboolean wait_for(PcapSource *s, struct pollfd *fds, nfds_t n)
{
        gint64 since = monotonic_ns();
        while (!s->stopped) {
                int ready = poll(fds, n, IDLE_TIMEOUT);
                if (ready > 0 || (ready < 0 && errno != EINTR))
                        return TRUE;
                gint64 now = monotonic_ns();
                if (ready == 0 && s->options.idle && !s->options.idle(s->options.user, now - since))
                        s->stopped = TRUE;
                if (ready == 0)
                        since = now;
        }
        return FALSE;
}

/* --- files ----------------------------------------------------------------- */

static gboolean wait_for_bytes(gpointer user, int fd)
{
        struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
        return wait_for(user, &poll_fd, 1);
}

static ssize_t cookie_read(void *cookie, char *buffer, size_t n)
{
        PcapSource *s = cookie;
        if (s->stopped || s->read_error)
                return 0;
        gssize got = byte_source_read(s->bytes, buffer, n, &s->read_error);
        if (got > 0 && s->n_bytes < sizeof s->head - 1)
                memcpy(s->head + s->n_bytes, buffer,
                       MIN((gsize)got, sizeof s->head - 1 - s->n_bytes));
        if (got > 0)
                s->n_bytes += (guint64)got;
        return MAX(got, 0);
}

static gboolean looks_like_trace(const PcapSource *s)
{
        const char *p = s->head + strspn(s->head, "-0123456789.");
        if (p == s->head)
                return g_str_has_prefix(p, "# ravel trace ");
        p += strspn(p, " \t");
        return g_str_has_prefix(p, "CALL_") || g_str_has_prefix(p, "RET_") ||
               g_str_has_prefix(p, "MSG_");
}

static void open_error(PcapSource *s, const char *what, GError **error)
{
        if (s->read_error)
                g_propagate_error(error, g_steal_pointer(&s->read_error));
        else if (s->n_bytes == 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: empty, expected a packet capture (pcap or pcapng)", s->name);
        else if (looks_like_trace(s))
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: this is a trace, expected a packet capture: look at it with "
                            "ravel stats, or find its paths with ravel nesting",
                            s->name);
        else
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: not a packet capture (pcap or pcapng): %s", s->name, what);
}

static gboolean handle_setup(PcapSource *s, Handle *handle, const char *name, GError **error)
{
        struct bpf_program program;
        handle->link_type = pcap_datalink(handle->pcap);
        const char *type = pcap_datalink_val_to_name(handle->link_type);
        const char *text = pcap_datalink_val_to_description(handle->link_type);
        if (!link_layer_is_known(handle->link_type)) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: link type %s (%d, %s) carries no IP that can be read here", name,
                            type ? type : "unknown", handle->link_type, text ? text : "unknown");
                return FALSE;
        }
        if (!s->link_type)
                s->link_type = g_strdup_printf("%s (%s)", type ? type : "unknown",
                                               text ? text : "unknown");
        if (!s->options.filter)
                return TRUE;
        if (pcap_compile(handle->pcap, &program, s->options.filter, 1, PCAP_NETMASK_UNKNOWN) < 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE, "the filter \"%s\" is wrong: %s",
                            s->options.filter, pcap_geterr(handle->pcap));
                return FALSE;
        }
        int result = pcap_setfilter(handle->pcap, &program);
        pcap_freecode(&program);
        if (result < 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "the filter \"%s\" cannot be used: %s", s->options.filter,
                            pcap_geterr(handle->pcap));
        return result >= 0;
}

PcapSource *pcap_source_open(const char *path, const PcapOptions *options, GError **error)
{
        g_autoptr(PcapSource) s = g_new0(PcapSource, 1);
        cookie_io_functions_t functions = { .read = cookie_read };
        char text[PCAP_ERRBUF_SIZE] = "";
        s->options = *options;
        if (!(s->bytes = byte_source_new(path, error)))
                return NULL;
        s->name = g_strdup(byte_source_name(s->bytes));
        if (pcap_source_path_is_live(path))
                byte_source_set_wait(s->bytes, wait_for_bytes, s);
        FILE *file = fopencookie(s, "r", functions);
        g_assert(file);
        setvbuf(file, NULL, _IOFBF, FILE_BUFFER);
        s->handles[0].pcap =
                pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, text);
        if (!s->handles[0].pcap) {
                fclose(file);
                open_error(s, text, error);
                return NULL;
        }
        s->n = 1;
        return handle_setup(s, &s->handles[0], s->name, error) ? g_steal_pointer(&s) : NULL;
}

/* --- interfaces ------------------------------------------------------------ */

static char *list_interfaces(void)
{
        GString *list = g_string_new(NULL);
        char text[PCAP_ERRBUF_SIZE];
        pcap_if_t *all = NULL;
        if (pcap_findalldevs(&all, text) == 0)
                for (const pcap_if_t *i = all; i; i = i->next)
                        if (if_nametoindex(i->name) || strcmp(i->name, "any") == 0)
                                g_string_append_printf(list, "%s%s", list->len ? ", " : "",
                                                       i->name);
        pcap_freealldevs(all);
        if (list->len == 0)
                g_string_append(list, "none that you may see");
        return g_string_free(list, FALSE);
}

static void live_error(const char *interface, int result, pcap_t *pcap, GError **error)
{
        gboolean exists = if_nametoindex(interface) || strcmp(interface, "any") == 0;
        if (result == PCAP_ERROR_NO_SUCH_DEVICE || (result == PCAP_ERROR_PERM_DENIED && !exists)) {
                g_autofree char *list = list_interfaces();
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "there is no interface \"%s\"; there are: %s", interface, list);
        } else if (result == PCAP_ERROR_PERM_DENIED || result == PCAP_ERROR_PROMISC_PERM_DENIED) {
                g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "no permission to capture on %s: ravel needs the capability "
                            "CAP_NET_RAW, not root; give it once with: sudo setcap "
                            "cap_net_raw=ep %s",
                            interface, program ? program : "$(command -v ravel)");
        } else if (result == PCAP_ERROR_IFACE_NOT_UP) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "the interface %s is down: bring it up with: sudo ip link set %s up",
                            interface, interface);
        } else {
                const char *text = pcap_geterr(pcap);
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot capture: %s",
                            interface, text && *text ? text : pcap_statustostr(result));
        }
}

static gboolean open_interface(PcapSource *s, const char *interface, GError **error)
{
        char text[PCAP_ERRBUF_SIZE] = "";
        Handle *handle = &s->handles[s->n];
        if (!(handle->pcap = pcap_create(interface, text))) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot capture: %s",
                            interface, text);
                return FALSE;
        }
        s->n++;
        pcap_set_snaplen(handle->pcap, s->options.snapshot);
        pcap_set_promisc(handle->pcap, s->options.promiscuous);
        pcap_set_timeout(handle->pcap, LIVE_TIMEOUT);
        pcap_set_tstamp_precision(handle->pcap, PCAP_TSTAMP_PRECISION_NANO);
        if (s->options.buffer > 0)
                pcap_set_buffer_size(handle->pcap, s->options.buffer * 1024);
        int result = pcap_activate(handle->pcap);
        if (result < 0) {
                live_error(interface, result, handle->pcap, error);
                return FALSE;
        }
        if (pcap_setnonblock(handle->pcap, 1, text) < 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot capture: %s",
                            interface, text);
                return FALSE;
        }
        handle->fd = pcap_get_selectable_fd(handle->pcap);
        return handle_setup(s, handle, interface, error);
}

PcapSource *pcap_source_open_live(const char *const *interfaces, guint n,
                                  const PcapOptions *options, GError **error)
{
        g_autoptr(PcapSource) s = g_new0(PcapSource, 1);
        s->options = *options;
        if (n > MAX_INTERFACES) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "%u interfaces: expected at most %d", n, MAX_INTERFACES);
                return NULL;
        }
        s->name = g_strdup(n == 1 ? interfaces[0] : "the interfaces");
        for (guint i = 0; i < n; i++)
                if (!open_interface(s, interfaces[i], error))
                        return NULL;
        return g_steal_pointer(&s);
}

/* --- reading --------------------------------------------------------------- */

void pcap_source_free(PcapSource *s)
{
        if (!s)
                return;
        for (guint i = 0; i < s->n; i++)
                pcap_close(s->handles[i].pcap);
        byte_source_free(s->bytes);
        g_clear_error(&s->read_error);
        g_free(s->link_type);
        g_free(s->name);
        g_free(s);
}

static void packet_fill(const Handle *handle, const struct pcap_pkthdr *header, const guint8 *bytes,
                        Packet *packet)
{
        gint64 seconds = header->ts.tv_sec, ns = header->ts.tv_usec;
        packet->bytes = bytes;
        packet->captured = header->caplen;
        packet->length = MAX(header->len, header->caplen);
        packet->link_type = handle->link_type;
        packet->time = -1;
        if (seconds >= 0 && seconds < G_MAXINT64 / 1000000000 && ns >= 0 && ns < 1000000000)
                packet->time = seconds * 1000000000 + ns;
}

static int fail(PcapSource *s, pcap_t *pcap, GError **error)
{
        if (s->read_error) {
                g_propagate_error(error, g_steal_pointer(&s->read_error));
                return -1;
        }
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: %s", s->name, pcap_geterr(pcap));
        return -1;
}

static int next_of_file(PcapSource *s, Packet *packet, GError **error)
{
        struct pcap_pkthdr *header;
        const guint8 *bytes;
        int result =
                s->stopped ? PCAP_ERROR_BREAK : pcap_next_ex(s->handles[0].pcap, &header, &bytes);
        if (result == 1) {
                packet_fill(&s->handles[0], header, bytes, packet);
                return 1;
        }
        if (s->stopped || (result == PCAP_ERROR_BREAK && !s->read_error))
                return 0;
        return fail(s, s->handles[0].pcap, error);
}

static gboolean wait_for_packets(PcapSource *s)
{
        struct pollfd fds[MAX_INTERFACES];
        for (guint i = 0; i < s->n; i++)
                fds[i] = (struct pollfd){ .fd = s->handles[i].fd, .events = POLLIN };
        return wait_for(s, fds, s->n);
}

static int next_of_interfaces(PcapSource *s, Packet *packet, GError **error)
{
        struct pcap_pkthdr *header;
        const guint8 *bytes;
        while (!s->stopped) {
                for (guint i = 0; i < s->n; i++) {
                        Handle *handle = &s->handles[s->next];
                        int result = pcap_next_ex(handle->pcap, &header, &bytes);
                        if (result == 1) {
                                packet_fill(handle, header, bytes, packet);
                                return 1;
                        }
                        if (result == PCAP_ERROR_BREAK)
                                return 0;
                        if (result < 0)
                                return fail(s, handle->pcap, error);
                        s->next = (s->next + 1) % s->n;
                }
                if (!wait_for_packets(s))
                        break;
        }
        return 0;
}

int pcap_source_next(PcapSource *s, Packet *packet, GError **error)
{
        return s->bytes ? next_of_file(s, packet, error) : next_of_interfaces(s, packet, error);
}

void pcap_source_stop(PcapSource *s)
{
        s->stopped = TRUE;
        for (guint i = 0; i < s->n; i++)
                pcap_breakloop(s->handles[i].pcap);
}

gboolean pcap_source_path_is_live(const char *path)
{
        struct stat st;
        int result = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st);
        return result == 0 && !S_ISREG(st.st_mode);
}

const char *pcap_source_link_type(const PcapSource *s)
{
        return s->link_type;
}

void pcap_source_drops(const PcapSource *s, guint64 *kernel, guint64 *interface)
{
        *kernel = *interface = 0;
        for (guint i = 0; i < s->n && !s->bytes; i++) {
                struct pcap_stat stat;
                if (pcap_stats(s->handles[i].pcap, &stat) < 0)
                        continue;
                *kernel += stat.ps_drop;
                *interface += stat.ps_ifdrop;
        }
}
