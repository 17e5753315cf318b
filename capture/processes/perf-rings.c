/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/processes/perf-rings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compare.h"

enum {
        RING_SIZE = 1 << 20,  /* bytes a processor: some 9,000 records, */
        LEAST_RING = 1 << 15, /* or this, where the kernel has a bound */
        MAX_FORMAT = 1 << 16,
        MAX_RECORD = 1 << 16, /* of 16 bits */
};

typedef struct {
        int fd;
        struct perf_event_mmap_page *page;
        gsize size; /* of the data behind it */
} Ring;

struct PerfRings {
        SocketFormat format;
        Ring *rings;
        guint n;
        GArray *events; /* of ProcessEvent, that were read and are to wait */
        guint8 *record;
        guint64 lost;
};

/* --- tracefs ------------------------------------------------------------------- */

static const char format_name[] = "events/sock/inet_sock_set_state/format";

static int open_in(const char *folder)
{
        int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int fd = dir < 0 ? -1 : openat(dir, format_name, O_RDONLY | O_CLOEXEC);
        if (dir >= 0)
                close(dir);
        return fd;
}

/* Where nobody has mounted it: for ourselves alone, without a place in the tree of files. */
static int open_unmounted(void)
{
#if defined SYS_fsopen && defined SYS_fsconfig && defined SYS_fsmount
        enum { CONFIG_CREATE = 6, CLOSE_ON_EXEC = 1 };
        int context = (int)syscall(SYS_fsopen, "tracefs", CLOSE_ON_EXEC), mount = -1, fd = -1;
        if (context >= 0 && syscall(SYS_fsconfig, context, CONFIG_CREATE, NULL, NULL, 0) == 0)
                mount = (int)syscall(SYS_fsmount, context, CLOSE_ON_EXEC, 0);
        if (mount >= 0) {
                fd = openat(mount, format_name, O_RDONLY | O_CLOEXEC);
                close(mount);
        }
        if (context >= 0)
                close(context);
        return fd;
#else
        errno = ENOENT;
        return -1;
#endif
}

static gboolean read_format(SocketFormat *format, char **why)
{
        char *text;
        gsize n = 0;
        gssize got;
        int fd = open_in("/sys/kernel/tracing");
        if (fd < 0)
                fd = open_in("/sys/kernel/debug/tracing");
        if (fd < 0)
                fd = open_unmounted();
        if (fd < 0) {
                *why = g_strdup_printf("tracefs: %s", g_strerror(errno));
                return FALSE;
        }
        text = g_malloc(MAX_FORMAT);
        while (n < MAX_FORMAT && (got = read(fd, text + n, MAX_FORMAT - n)) > 0)
                n += (gsize)got;
        close(fd);
        gboolean known = socket_format_parse(text, n, format);
        g_free(text);
        if (!known)
                *why = g_strdup("tracefs: its sock:inet_sock_set_state is another one");
        return known;
}

/* --- rings ----------------------------------------------------------------------- */

static gboolean ring_open(Ring *ring, guint64 tracepoint, int processor)
{
        /* To SYN_SENT, and from there on; to LISTEN. */
        static const char filter[] = "protocol == 6 && (newstate == 2 || oldstate == 2 || "
                                     "newstate == 10)";
        struct perf_event_attr attributes = { .type = PERF_TYPE_TRACEPOINT,
                                              .size = sizeof attributes,
                                              .config = tracepoint,
                                              .sample_period = 1,
                                              .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                             PERF_SAMPLE_RAW,
                                              .sample_id_all = 1,
                                              .comm = 1,
                                              .comm_exec = 1,
                                              .task = 1,
                                              .use_clockid = 1,
                                              .clockid = CLOCK_MONOTONIC };
        long page = sysconf(_SC_PAGESIZE);
        ring->page = MAP_FAILED;
        ring->fd = (int)syscall(SYS_perf_event_open, &attributes, -1, processor, -1,
                                PERF_FLAG_FD_CLOEXEC);
        if (ring->fd < 0 || ioctl(ring->fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0)
                return FALSE;
        for (ring->size = RING_SIZE; ring->size >= LEAST_RING; ring->size /= 2) {
                ring->page = mmap(NULL, ring->size + (gsize)page, PROT_READ | PROT_WRITE,
                                  MAP_SHARED, ring->fd, 0);
                if (ring->page != MAP_FAILED)
                        return TRUE;
        }
        return FALSE;
}

static void ring_close(Ring *ring)
{
        if (ring->page != MAP_FAILED)
                munmap(ring->page, ring->size + (gsize)sysconf(_SC_PAGESIZE));
        if (ring->fd >= 0)
                close(ring->fd);
}

PerfRings *perf_rings_open(char **why)
{
        SocketFormat format;
        long processors = sysconf(_SC_NPROCESSORS_CONF);
        if (!read_format(&format, why))
                return NULL;
        PerfRings *r = g_new0(PerfRings, 1);
        r->format = format;
        r->rings = g_new0(Ring, MAX(processors, 1));
        r->events = g_array_new(FALSE, FALSE, sizeof(ProcessEvent));
        r->record = g_malloc(MAX_RECORD);
        for (int i = 0; i < processors; i++) {
                Ring *ring = &r->rings[r->n];
                if (ring_open(ring, format.id, i)) {
                        r->n++;
                        continue;
                }
                int code = errno;
                ring_close(ring);
                if (code == ENODEV || code == ENXIO) /* it is off */
                        continue;
                *why = g_strdup_printf("perf_event_open: %s", g_strerror(code));
                perf_rings_free(r);
                return NULL;
        }
        return r;
}

void perf_rings_free(PerfRings *r)
{
        if (!r)
                return;
        for (guint i = 0; i < r->n; i++)
                ring_close(&r->rings[i]);
        g_array_free(r->events, TRUE);
        g_free(r->rings);
        g_free(r->record);
        g_free(r);
}

/* n bytes from there, which may go round its end. */
static void ring_copy(const Ring *ring, guint64 at, void *to, gsize n)
{
        const guint8 *data = (const guint8 *)ring->page + ring->page->data_offset;
        gsize start = at % ring->size, first = MIN(n, ring->size - start);
        memcpy(to, data + start, first);
        memcpy((guint8 *)to + first, data, n - first);
}

static void ring_read(PerfRings *r, Ring *ring)
{
        guint64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        guint64 tail = ring->page->data_tail;
        while (tail < head) {
                struct perf_event_header header;
                ProcessEvent event;
                ring_copy(ring, tail, &header, sizeof header);
                if (header.size < sizeof header || header.size > head - tail) {
                        tail = head; /* it is not as the kernel makes them */
                        r->lost++;
                        break;
                }
                ring_copy(ring, tail, r->record, header.size);
                if (!perf_record_parse(&r->format, r->record, header.size, &event))
                        r->lost++;
                else if (event.kind == PROCESS_LOST)
                        r->lost += event.lost;
                else if (event.kind != PROCESS_OTHER)
                        g_array_append_val(r->events, event);
                tail += header.size;
        }
        __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static gint64 clock_time(clockid_t clock)
{
        struct timespec now;
        clock_gettime(clock, &now);
        return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

COMPARISON(perf_rings_by_time, ProcessEvent, COMPARE(a->time, b->time))

/* What causes an event on another processor is in its ring before. So of events until now all
 * are there whose effects are, while of later ones a ring that was read before may lack some. */
void perf_rings_read(PerfRings *r, void (*take)(gpointer user, const ProcessEvent *event),
                     gpointer user)
{
        gint64 now = clock_time(CLOCK_MONOTONIC), since_epoch = clock_time(CLOCK_REALTIME) - now;
        guint n = 0;
        for (guint i = 0; i < r->n; i++)
                ring_read(r, &r->rings[i]);
        if (r->events->len > 1)
                g_array_sort(r->events, perf_rings_by_time);
        for (; n < r->events->len; n++) {
                ProcessEvent event = g_array_index(r->events, ProcessEvent, n);
                if (event.time >= now)
                        break;
                event.time += since_epoch;
                take(user, &event);
        }
        if (n > 0)
                g_array_remove_range(r->events, 0, n);
}

guint64 perf_rings_lost(const PerfRings *r)
{
        return r->lost;
}
