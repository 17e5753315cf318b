/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/pcap-source.h"

#include <errno.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/big-memory.h"
#include "base/error.h"
#include "capture/network/link-layer.h"
#include "capture/source/link-watch.h"
#include "capture/source/packet-relay.h"
#include "capture/source/pcapng.h"
#include "tracefmt/byte-source.h"
#include "tracefmt/file-kind.h"

enum {
        FILE_BUFFER = 1 << 17,           /* bytes */
        LIVE_TIMEOUT = 100,              /* ms until the kernel hands over what there is */
        IDLE_TIMEOUT = 200,              /* ms */
        KERNEL_DELAY = 2 * LIVE_TIMEOUT, /* ms that a packet may stay with the kernel, */
        WRITER_DELAY = 1000, /* or with who writes to a pipe: tcpdump asks once a second */
        WAITING = 128 << 20, /* bytes of packets that wait, live */
        TURN = 256,          /* packets of an interface before it is another's turn */
        MAX_FILTERS = 32,    /* more than there are link types that we know */
        FILTER_SNAPSHOT = 262144,
        KEPT = 64 << 20, /* decompressed bytes that are not decompressed twice */
        HEAD = 32,       /* bytes by which a file is named that is no capture */
};

typedef struct {
        pcap_t *pcap;
        int link_type;
        gint64 unit; /* ns in a unit of the stamps' fraction */

        /* An interface. */
        char *name;
        guint index;   /* 0: for all */
        guint64 taken; /* packets */
        gint64 failed; /* since when (us) it cannot be read, 0: it can */
        gboolean down, gone;
} Handle;

/* A pcapng file has interfaces of several link types, each with its own program. */
typedef struct {
        int link_type;
        struct bpf_program program;
} Filter;

struct PcapSource {
        PcapOptions options;
        char *name;
        Handle *handles;
        guint n;
        char *link_type;
        guint interfaces; /* of a pcapng file, seen so far */
        volatile sig_atomic_t stopped;

        /* Interfaces. */
        PacketRelay *relay;
        int watch;          /* of links */
        int *fds;           /* of each, and that; NULL where there are no interfaces */
        GError *live_error; /* what ended it; the relay's */
        GPtrArray *notices; /* that were not said yet; the relay's */
        volatile gboolean noticed;

        /* A file. */
        ByteSource *bytes;
        guint8 *ahead; /* bytes read and not yet used: from start to end */
        gsize ahead_start, ahead_end, ahead_size;
        GError *read_error;
        StampScan *stamps; /* NULL without scan */

        /* A pcapng file. */
        PcapngReader *pcapng;
        Filter filters[MAX_FILTERS];
        guint n_filters;
        gboolean known; /* an interface has a link type that carries IP */
};

static void tell_idle(PcapSource *s, gint64 ns)
{
        if (s->options.idle && !s->options.idle(s->options.user, ns))
                s->stopped = TRUE;
}

/* Until when (us) all packets are known, where none has come in a wait that began at began. The
 * time that passed says nothing: this process may have stood still while they came. */
static gint64 known_until(PcapSource *s, gint64 began)
{
        if (s->relay)
                return packet_relay_quiet(s->relay) - KERNEL_DELAY * 1000;
        return began + (IDLE_TIMEOUT - WRITER_DELAY) * 1000;
}

static void say_notices(PcapSource *s)
{
        if (!s->noticed)
                return;
        packet_relay_lock(s->relay);
        g_autoptr(GPtrArray) notices = s->notices;
        s->notices = g_ptr_array_new_with_free_func(g_free);
        s->noticed = FALSE;
        packet_relay_unlock(s->relay);
        for (guint i = 0; i < notices->len && s->options.notice; i++)
                s->options.notice(s->options.user, notices->pdata[i]);
}

/* Waits until fd has something, telling the owner before, and about every while without.
 * FALSE: stopped. */
static gboolean wait_for(gpointer user, int fd)
{
        PcapSource *s = user;
        struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
        gint64 told = g_get_monotonic_time();
        tell_idle(s, 0);
        while (!s->stopped) {
                gint64 began = g_get_monotonic_time();
                int ready = poll(&poll_fd, 1, IDLE_TIMEOUT);
                if (ready > 0 || (ready < 0 && errno != EINTR))
                        return TRUE;
                say_notices(s);
                if (ready == 0) {
                        gint64 known = MAX(known_until(s, began), told);
                        tell_idle(s, (known - told) * 1000);
                        told = known;
                }
        }
        return FALSE;
}

/* --- files ----------------------------------------------------------------- */

/* Reads until n bytes are ahead. FALSE: there are fewer, and read_error may be set. */
static gboolean read_ahead(PcapSource *s, gsize n)
{
        if (n > s->ahead_size) {
                gsize size = MAX(n, MAX(FILE_BUFFER, 2 * s->ahead_size));
                s->ahead = big_renew(s->ahead, s->ahead_size, size);
                s->ahead_size = size;
        }
        if (s->ahead_end - s->ahead_start < n && s->ahead_start > 0) {
                memmove(s->ahead, s->ahead + s->ahead_start, s->ahead_end - s->ahead_start);
                s->ahead_end -= s->ahead_start;
                s->ahead_start = 0;
        }
        while (s->ahead_end - s->ahead_start < n) {
                gssize got =
                        s->stopped || s->read_error
                                ? 0
                                : byte_source_read(s->bytes, s->ahead + s->ahead_end,
                                                   s->ahead_size - s->ahead_end, &s->read_error);
                if (got <= 0)
                        return FALSE;
                s->ahead_end += (gsize)got;
        }
        return TRUE;
}

static ssize_t cookie_read(void *cookie, char *buffer, size_t n)
{
        PcapSource *s = cookie;
        gsize left = MIN(n, s->ahead_end - s->ahead_start);
        if (left > 0) {
                memcpy(buffer, s->ahead + s->ahead_start, left);
                s->ahead_start += left;
                return (ssize_t)left;
        }
        if (s->stopped || s->read_error)
                return 0;
        gssize got = byte_source_read(s->bytes, buffer, n, &s->read_error);
        return MAX(got, 0);
}

/* head: how the file begins. */
static void open_error(PcapSource *s, const char *head, const char *what, GError **error)
{
        if (s->read_error)
                g_propagate_error(error, g_steal_pointer(&s->read_error));
        else if (s->ahead_end == 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: empty, expected a packet capture (pcap or pcapng)", s->name);
        else if (file_kind_expect(file_kind_of(head, strlen(head)), FILE_CAPTURE, s->name, error))
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: not a packet capture (pcap or pcapng): %s", s->name, what);
}

/* "EN10MB (Ethernet)". Newly allocated. */
static char *link_type_text(int link_type)
{
        const char *type = pcap_datalink_val_to_name(link_type);
        const char *text = pcap_datalink_val_to_description(link_type);
        return g_strdup_printf("%s (%s)", type ? type : "unknown", text ? text : "unknown");
}

static gboolean link_type_error(const char *name, int link_type, GError **error)
{
        const char *type = pcap_datalink_val_to_name(link_type);
        const char *text = pcap_datalink_val_to_description(link_type);
        return ravel_fail(error, RAVEL_ERROR_INPUT,
                          "%s: link type %s (%d, %s) carries no IP that can be read here", name,
                          type ? type : "unknown", link_type, text ? text : "unknown");
}

static gboolean filter_compile(PcapSource *s, pcap_t *pcap, struct bpf_program *program,
                               GError **error)
{
        return pcap_compile(pcap, program, s->options.filter, 1, PCAP_NETMASK_UNKNOWN) == 0 ||
               ravel_fail(error, RAVEL_ERROR_USAGE, "the filter \"%s\" is wrong: %s",
                          s->options.filter, pcap_geterr(pcap));
}

static gboolean handle_setup(PcapSource *s, Handle *handle, const char *name, GError **error)
{
        struct bpf_program program;
        handle->link_type = pcap_datalink(handle->pcap);
        handle->unit =
                pcap_get_tstamp_precision(handle->pcap) == PCAP_TSTAMP_PRECISION_NANO ? 1 : 1000;
        if (!link_layer_is_known(handle->link_type))
                return link_type_error(name, handle->link_type, error);
        if (!s->link_type)
                s->link_type = link_type_text(handle->link_type);
        if (!s->options.filter)
                return TRUE;
        if (!filter_compile(s, handle->pcap, &program, error))
                return FALSE;
        int result = pcap_setfilter(handle->pcap, &program);
        pcap_freecode(&program);
        if (result < 0)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE,
                            "the filter \"%s\" cannot be used: %s", s->options.filter,
                            pcap_geterr(handle->pcap));
        return result >= 0;
}

/* --- pcapng ----------------------------------------------------------------- */

/* In files bare IP has a number of its own (pcap-linktype(7)). */
static int to_datalink(int link_type)
{
        return link_type == LINK_RAW_OTHER ? LINK_RAW : link_type;
}

/* The program for a link type, compiled where it is the first time. NULL: error set. */
static struct bpf_program *filter_find(PcapSource *s, int link_type, GError **error)
{
        for (guint i = 0; i < s->n_filters; i++)
                if (s->filters[i].link_type == link_type)
                        return &s->filters[i].program;
        g_assert(s->n_filters < MAX_FILTERS);
        Filter *filter = &s->filters[s->n_filters];
        pcap_t *pcap = pcap_open_dead(link_type, FILTER_SNAPSHOT);
        if (!pcap) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "the filter \"%s\" cannot be used: %s", s->options.filter,
                            g_strerror(errno));
                return NULL;
        }
        gboolean ok = filter_compile(s, pcap, &filter->program, error);
        pcap_close(pcap);
        if (!ok)
                return NULL;
        filter->link_type = link_type;
        s->n_filters++;
        return &filter->program;
}

/* 1: it may pass; 0: not; -1: error set. A link type without IP is never asked for,
 * and its packets are counted as what they are. */
static int filter_packet(PcapSource *s, const Packet *packet, GError **error)
{
        struct pcap_pkthdr header = { .caplen = (guint32)packet->captured,
                                      .len = (guint32)packet->length };
        if (!s->options.filter || !link_layer_is_known(packet->link_type))
                return 1;
        struct bpf_program *program = filter_find(s, packet->link_type, error);
        return program ? pcap_offline_filter(program, &header, packet->bytes) != 0 : -1;
}

/* The next block. PCAPNG_MORE: the file ends, and with it the block where at_end is
 * not set. */
static PcapngResult pcap_source_next_block(PcapSource *s, Packet *packet, gboolean *at_end,
                                           GError **error)
{
        PcapngResult result;
        gsize size;
        *at_end = s->ahead_start == s->ahead_end && !read_ahead(s, 1);
        while ((result = pcapng_parse(s->pcapng, s->ahead + s->ahead_start,
                                      s->ahead_end - s->ahead_start, &size, packet, error)) ==
               PCAPNG_MORE)
                if (!read_ahead(s, size))
                        return PCAPNG_MORE;
        if (result == PCAPNG_BROKEN) {
                g_prefix_error(error, "%s: broken pcapng: ", s->name);
                return result;
        }
        for (gsize left; (left = s->ahead_end - s->ahead_start) < size; size -= left) {
                s->ahead_start = s->ahead_end;
                if (!read_ahead(s, 1))
                        return PCAPNG_MORE;
        }
        s->ahead_start += size;
        return result;
}

static void see_interface(PcapSource *s)
{
        int link_type = to_datalink(pcapng_link_type(s->pcapng));
        g_autofree char *text = link_type_text(link_type), *before = s->link_type;
        s->known = s->known || link_layer_is_known(link_type);
        s->interfaces++;
        if (!before)
                s->link_type = g_steal_pointer(&text);
        else if (!strstr(before, text))
                s->link_type = g_strdup_printf("%s, %s", before, text);
        else
                s->link_type = g_steal_pointer(&before);
}

static void see_secrets(PcapSource *s, const Packet *secrets)
{
        if (s->options.secrets)
                s->options.secrets(s->options.user, secrets->bytes, secrets->captured);
}

/* What is wrong where the blocks have come to an end. */
static gboolean check_end(PcapSource *s, gboolean at_end, GError **error)
{
        if (s->read_error)
                g_propagate_error(error, g_steal_pointer(&s->read_error));
        else if (!at_end)
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s: truncated in the middle of a block", s->name);
        else if (s->link_type && !s->known)
                link_type_error(s->name, to_datalink(pcapng_link_type(s->pcapng)), error);
        else
                return TRUE;
        return FALSE;
}

static int next_of_pcapng(PcapSource *s, Packet *packet, GError **error)
{
        while (!s->stopped) {
                gboolean at_end;
                PcapngResult result = pcap_source_next_block(s, packet, &at_end, error);
                if (result == PCAPNG_BROKEN)
                        return -1;
                if (result == PCAPNG_INTERFACE)
                        see_interface(s);
                if (result == PCAPNG_MORE)
                        return s->stopped || check_end(s, at_end, error) ? 0 : -1;
                if (result == PCAPNG_SECRETS)
                        see_secrets(s, packet);
                if (result != PCAPNG_PACKET)
                        continue;
                packet->link_type = to_datalink(packet->link_type);
                if (!s->known) {
                        link_type_error(s->name, packet->link_type, error);
                        return -1;
                }
                int passes = filter_packet(s, packet, error);
                if (passes != 0)
                        return passes;
        }
        return 0;
}

/* Reads as far as the first interface, so that the facts may name its link type. */
static gboolean open_pcapng(PcapSource *s, GError **error)
{
        Packet packet;
        gboolean at_end;
        PcapngResult result;
        s->pcapng = pcapng_reader_new();
        do {
                result = pcap_source_next_block(s, &packet, &at_end, error);
                if (result == PCAPNG_SECRETS)
                        see_secrets(s, &packet);
        } while (result == PCAPNG_SKIP || result == PCAPNG_SECRETS);
        if (result == PCAPNG_BROKEN ||
            (result == PCAPNG_MORE && !s->stopped && !check_end(s, at_end, error)))
                return FALSE;
        if (result == PCAPNG_INTERFACE)
                see_interface(s);
        if (result == PCAPNG_INTERFACE && s->known && s->options.filter)
                return filter_find(s, to_datalink(pcapng_link_type(s->pcapng)), error) != NULL;
        return TRUE;
}

/* A Ctrl-C while a file is looked at. */
static gboolean pcap_source_goes_on(gpointer user)
{
        PcapSource *s = user;
        tell_idle(s, 0);
        return !s->stopped;
}

/* Looks at the stamps of the file. Of one that is compressed, the beginning is kept for reading. */
static void scan_stamps(PcapSource *s, const char *path)
{
        s->stamps = stamp_scan_new();
        if (byte_source_is_packed(s->bytes) && !read_ahead(s, KEPT)) {
                stamp_scan_add(s->stamps, s->ahead, s->ahead_end);
                return;
        }
        g_autoptr(ByteSource) again = byte_source_new(pcap_source_path_again(path), NULL);
        if (again)
                stamp_scan_read(s->stamps, again, pcap_source_goes_on, s);
}

PcapSource *pcap_source_open(const char *path, const PcapOptions *options, GError **error)
{
        g_autoptr(PcapSource) s = g_new0(PcapSource, 1);
        cookie_io_functions_t functions = { .read = cookie_read };
        char text[PCAP_ERRBUF_SIZE] = "";
        s->options = *options;
        s->handles = g_new0(Handle, 1);
        if (!(s->bytes = byte_source_new(path, error)))
                return NULL;
        s->name = g_strdup(byte_source_name(s->bytes));
        byte_source_set_progress(s->bytes, options->progress);
        if (pcap_source_path_is_live(path))
                byte_source_set_wait(s->bytes, wait_for, s);
        gboolean some = read_ahead(s, 4);
        if (some && options->scan && !pcap_source_path_is_live(path))
                scan_stamps(s, path);
        if (some && read_u32(s->ahead) == PCAPNG_MAGIC)
                return open_pcapng(s, error) ? g_steal_pointer(&s) : NULL;
        g_autofree char *head = g_strndup((const char *)s->ahead, MIN(s->ahead_end, HEAD));
        FILE *file = fopencookie(s, "r", functions);
        if (!file) {
                open_error(s, head, g_strerror(errno), error);
                return NULL;
        }
        setvbuf(file, NULL, _IOFBF, FILE_BUFFER);
        s->handles[0].pcap =
                pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, text);
        if (!s->handles[0].pcap) {
                fclose(file);
                open_error(s, head, text, error);
                return NULL;
        }
        s->n = 1;
        return handle_setup(s, &s->handles[0], s->name, error) ? g_steal_pointer(&s) : NULL;
}

/* --- interfaces ------------------------------------------------------------ */

static gboolean interface_exists(const char *name)
{
        return if_nametoindex(name) || strcmp(name, "any") == 0;
}

static char *pcap_list_interfaces(void)
{
        GString *list = g_string_new(NULL);
        char text[PCAP_ERRBUF_SIZE];
        pcap_if_t *all = NULL;
        if (pcap_findalldevs(&all, text) == 0)
                for (const pcap_if_t *i = all; i; i = i->next)
                        if (interface_exists(i->name))
                                g_string_append_printf(list, "%s%s", list->len ? ", " : "",
                                                       i->name);
        pcap_freealldevs(all);
        if (list->len == 0)
                g_string_append(list, "none that you may see");
        return g_string_free(list, FALSE);
}

static void live_error(const char *interface, int result, pcap_t *pcap, GError **error)
{
        gboolean exists = interface_exists(interface);
        if (result == PCAP_ERROR_NO_SUCH_DEVICE || (result == PCAP_ERROR_PERM_DENIED && !exists)) {
                g_autofree char *list = pcap_list_interfaces();
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

/* What can be said only of an interface that is open. */
static gboolean handle_choose(PcapSource *s, pcap_t *pcap, const char *interface, GError **error)
{
        static const pcap_direction_t directions[] = { PCAP_D_INOUT, PCAP_D_IN, PCAP_D_OUT };
        const char *type = s->options.link_type;
        int number = type ? pcap_datalink_name_to_val(type) : 0;
        if (number < 0)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-y %s: there is no such link type",
                                  type);
        if (type && pcap_set_datalink(pcap, number) < 0)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-y %s: %s: %s", type, interface,
                                  pcap_geterr(pcap));
        if (s->options.direction != DIRECTION_BOTH &&
            pcap_setdirection(pcap, directions[s->options.direction]) < 0)
                return ravel_fail(error, RAVEL_ERROR_USAGE,
                                  "%s: the direction of packets cannot be chosen: %s", interface,
                                  pcap_geterr(pcap));
        return TRUE;
}

/* As pcap_activate(), with what has to be said before. */
static int activate(pcap_t *pcap, const PcapOptions *o)
{
        int result;
        if ((result = pcap_set_snaplen(pcap, o->snapshot)) < 0 ||
            (result = pcap_set_promisc(pcap, o->promiscuous)) < 0 ||
            (result = pcap_set_timeout(pcap, LIVE_TIMEOUT)) < 0 ||
            (result = pcap_set_immediate_mode(pcap, o->immediate)) < 0 ||
            (o->buffer > 0 && (result = pcap_set_buffer_size(pcap, o->buffer * 1024)) < 0))
                return result;
        /* Where the kernel's stamps are not so fine, they are taken as they are. */
        result = pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
        return result < 0 && result != PCAP_ERROR_TSTAMP_PRECISION_NOTSUP ? result
                                                                          : pcap_activate(pcap);
}

static gboolean open_interface(PcapSource *s, const char *interface, GError **error)
{
        char text[PCAP_ERRBUF_SIZE] = "";
        Handle *handle = &s->handles[s->n];
        if (!(handle->pcap = pcap_create(interface, text)))
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: cannot capture: %s", interface,
                                  text);
        s->n++;
        int result = activate(handle->pcap, &s->options);
        if (result < 0) {
                live_error(interface, result, handle->pcap, error);
                return FALSE;
        }
        if (pcap_setnonblock(handle->pcap, 1, text) < 0)
                return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: cannot capture: %s", interface,
                                  text);
        if (!handle_choose(s, handle->pcap, interface, error))
                return FALSE;
        handle->name = g_strdup(interface);
        handle->index = if_nametoindex(interface);
        s->fds[s->n - 1] = pcap_get_selectable_fd(handle->pcap);
        return handle_setup(s, handle, interface, error);
}

PcapSource *pcap_source_open_live(const char *const *interfaces, guint n,
                                  const PcapOptions *options, GError **error)
{
        g_autoptr(PcapSource) s = g_new0(PcapSource, 1);
        s->options = *options;
        s->handles = g_new0(Handle, n);
        s->notices = g_ptr_array_new_with_free_func(g_free);
        s->fds = g_new(int, n + 1);
        s->fds[n] = s->watch = link_watch_open();
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
        packet_relay_free(s->relay);
        if (s->fds && s->watch >= 0)
                close(s->watch);
        for (guint i = 0; i < s->n; i++) {
                pcap_close(s->handles[i].pcap);
                g_free(s->handles[i].name);
        }
        for (guint i = 0; i < s->n_filters; i++)
                pcap_freecode(&s->filters[i].program);
        pcapng_reader_free(s->pcapng);
        stamp_scan_free(s->stamps);
        byte_source_free(s->bytes);
        if (s->notices)
                g_ptr_array_free(s->notices, TRUE);
        g_free(s->fds);
        big_free(s->ahead, s->ahead_size);
        g_free(s->handles);
        g_clear_error(&s->read_error);
        g_clear_error(&s->live_error);
        g_free(s->link_type);
        g_free(s->name);
        g_free(s);
}

static void pcap_source_packet_fill(const Handle *handle, const struct pcap_pkthdr *header,
                                    const guint8 *bytes, Packet *packet)
{
        gint64 seconds = header->ts.tv_sec, ns = header->ts.tv_usec * handle->unit;
        packet->bytes = bytes;
        packet->captured = header->caplen;
        packet->length = MAX(header->len, header->caplen);
        packet->link_type = handle->link_type;
        packet->time = -1;
        if (seconds < 0 && seconds >= G_MININT32)
                seconds = (guint32)seconds; /* a file's 32 bits, which libpcap takes for signed */
        if (seconds >= 0 && seconds < G_MAXINT64 / 1000000000 && ns >= 0 && ns < 1000000000)
                packet->time = seconds * 1000000000 + ns;
}

static int pcap_source_fail(PcapSource *s, pcap_t *pcap, GError **error)
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
                pcap_source_packet_fill(&s->handles[0], header, bytes, packet);
                return 1;
        }
        if (s->stopped || (result == PCAP_ERROR_BREAK && !s->read_error))
                return 0;
        return pcap_source_fail(s, s->handles[0].pcap, error);
}

static void add_notice(PcapSource *s, const char *name, const char *what)
{
        g_ptr_array_add(s->notices, g_strconcat(name, what, NULL));
        s->noticed = TRUE;
}

/* A LinkSeen. What is gone is known by that it cannot be read. */
static void see_link(gpointer user, guint index, LinkState state)
{
        PcapSource *s = user;
        for (guint i = 0; i < s->n; i++) {
                Handle *handle = &s->handles[i];
                gboolean down = state == LINK_DOWN;
                if (handle->index != index || state == LINK_GONE || handle->down == down)
                        continue;
                handle->down = down;
                add_notice(s, handle->name, down ? " went down" : " is up again");
        }
}

/* An interface that cannot be read any more has a while to hand out its last packets. FALSE:
 * none is left. */
static gboolean handle_fails(PcapSource *s, Handle *handle)
{
        gint64 now = g_get_monotonic_time();
        guint left = 0;
        if (!handle->failed)
                handle->failed = now;
        if (now - handle->failed < KERNEL_DELAY * 1000)
                return TRUE;
        handle->gone = TRUE;
        s->fds[handle - s->handles] = -1;
        for (guint i = 0; i < s->n; i++)
                left += !s->handles[i].gone;
        if (left == 0)
                g_set_error(&s->live_error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: %s", handle->name,
                            pcap_geterr(handle->pcap));
        else
                add_notice(s, handle->name, " is gone; the capture goes on without it");
        return left > 0;
}

/* Some packets of an interface: as pcap_next_ex(), 1 where there may be more. */
static int take_turn(Handle *handle, PacketQueue *queue)
{
        struct pcap_pkthdr *header;
        const guint8 *bytes;
        Packet packet;
        int result = 1;
        for (guint k = 0; k < TURN; k++) {
                if ((result = pcap_next_ex(handle->pcap, &header, &bytes)) != 1)
                        break;
                pcap_source_packet_fill(handle, header, bytes, &packet);
                packet_queue_add(queue, &packet);
                handle->taken++;
        }
        return result;
}

/* Some packets of each interface: a RelayTake. */
static RelayStatus take_packets(gpointer user, PacketQueue *queue)
{
        PcapSource *s = user;
        RelayStatus status = RELAY_NONE;
        if (s->watch >= 0)
                link_watch_read(s->watch, see_link, s);
        for (guint i = 0; i < s->n; i++) {
                Handle *handle = &s->handles[i];
                int result = handle->gone ? 0 : take_turn(handle, queue);
                if (result == 1)
                        status = RELAY_MORE;
                else if (result == PCAP_ERROR_BREAK || (result < 0 && !handle_fails(s, handle)))
                        return RELAY_OVER;
        }
        return status;
}

static gboolean start_relay(PcapSource *s, GError **error)
{
        s->relay = packet_relay_new(s->fds, s->n + 1, WAITING, take_packets, s, error);
        return s->relay != NULL;
}

static int next_of_interfaces(PcapSource *s, Packet *packet, GError **error)
{
        RelayStatus status;
        if (!s->relay && !start_relay(s, error))
                return -1;
        while ((status = packet_relay_next(s->relay, packet)) == RELAY_NONE) {
                if (!wait_for(s, packet_relay_fd(s->relay)))
                        packet_relay_stop(s->relay);
        }
        say_notices(s);
        if (status == RELAY_MORE)
                return 1;
        if (!s->live_error)
                return 0;
        g_propagate_error(error, g_steal_pointer(&s->live_error));
        return -1;
}

int pcap_source_next(PcapSource *s, Packet *packet, GError **error)
{
        if (s->pcapng)
                return next_of_pcapng(s, packet, error);
        return s->bytes ? next_of_file(s, packet, error) : next_of_interfaces(s, packet, error);
}

void pcap_source_stop(PcapSource *s)
{
        s->stopped = TRUE;
        if (s->relay)
                packet_relay_stop(s->relay);
        else if (s->bytes && s->n)
                pcap_breakloop(s->handles[0].pcap);
}

const StampOrder *pcap_source_order(const PcapSource *s)
{
        return s->stamps ? stamp_scan_order(s->stamps) : NULL;
}

gboolean pcap_source_is_stopped(const PcapSource *s)
{
        return s->stopped;
}

gboolean pcap_source_path_is_live(const char *path)
{
        struct stat st;
        int result = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st);
        return result == 0 && !S_ISREG(st.st_mode);
}

const char *pcap_source_path_again(const char *path)
{
        return strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

const char *pcap_source_link_type(const PcapSource *s)
{
        return s->link_type ? s->link_type : "none";
}

guint pcap_source_interfaces(const PcapSource *s)
{
        return s->pcapng ? s->interfaces : MAX(s->n, 1);
}

void pcap_counts_add(PcapCounts *counts, const InterfaceCounts *interface, guint64 taken,
                     gboolean gone)
{
        guint64 handed = interface->dropped_by_kernel + taken;
        counts->received += interface->received;
        counts->dropped_by_kernel += interface->dropped_by_kernel;
        counts->dropped_by_interface += interface->dropped_by_interface;
        if (gone && interface->received > handed)
                counts->dropped_by_kernel += interface->received - handed;
}

void pcap_source_count(const PcapSource *s, PcapCounts *counts)
{
        guint64 kernel, interface;
        if (s->pcapng) {
                pcapng_drops(s->pcapng, &kernel, &interface);
                counts->dropped_by_kernel += kernel;
                counts->dropped_by_interface += interface;
        }
        if (s->relay)
                packet_relay_lock(s->relay);
        for (guint i = 0; i < s->n && !s->bytes; i++) {
                struct pcap_stat stat;
                if (pcap_stats(s->handles[i].pcap, &stat) < 0)
                        continue;
                InterfaceCounts all = { stat.ps_recv, stat.ps_drop, stat.ps_ifdrop };
                pcap_counts_add(counts, &all, s->handles[i].taken, s->handles[i].gone);
        }
        if (s->relay)
                packet_relay_unlock(s->relay);
}

char *pcap_source_list_interfaces(GError **error)
{
        static const struct {
                bpf_u_int32 flag;
                const char *name;
        } names[] = { { PCAP_IF_UP, "up" },
                      { PCAP_IF_RUNNING, "running" },
                      { PCAP_IF_LOOPBACK, "loopback" },
                      { PCAP_IF_WIRELESS, "wireless" } };
        char text[PCAP_ERRBUF_SIZE];
        pcap_if_t *all = NULL;
        if (pcap_findalldevs(&all, text) < 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "cannot list interfaces: %s",
                            text);
                return NULL;
        }
        GString *list = g_string_new(NULL);
        guint n = 0;
        for (const pcap_if_t *i = all; i; i = i->next) {
                if (!interface_exists(i->name))
                        continue; /* a bus, or a queue of the kernel's */
                g_string_append_printf(list, "%u.%s", ++n, i->name);
                if (i->description)
                        g_string_append_printf(list, " (%s)", i->description);
                for (guint k = 0; k < G_N_ELEMENTS(names); k++)
                        if (i->flags & names[k].flag)
                                g_string_append_printf(list, " %s", names[k].name);
                g_string_append_c(list, '\n');
        }
        pcap_freealldevs(all);
        return g_string_free(list, FALSE);
}
