/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum {
        START = 64,         /* first bytes, which tell a file from another of the same name */
        BLOCK = 1 << 16,    /* bytes read at once */
        PAUSE = 200,        /* ms between two looks */
        PCAP_HEADER = 24,   /* bytes */
        PCAP_RECORD = 16,   /* bytes before a packet */
        MOST_UNIT = 1 << 26 /* bytes; a longer packet is none */
};

#define PCAP_MICRO  0xa1b2c3d4u
#define PCAP_NANO   0xa1b23c4du
#define PCAPNG      0x0a0d0d0au
#define PCAPNG_SELF 0x1a2b3c4du

typedef void (*RingSay)(const char *format, ...);

/* A file that was read, or is. */
typedef struct {
        char *path;
        guint8 start[START];
        gsize n_start; /* of start, at the first look */
        ino_t inode;
} Seen;

typedef struct {
        const char *const *patterns;
        gint64 since; /* ns */
        int out;
        RingSay say;
        GArray *seen;               /* of Seen */
        int fd;                     /* of the file in hand; -1: none */
        guint32 in_hand;            /* its place in seen */
        GByteArray *rest;           /* bytes that are no whole unit yet */
        gboolean begun;             /* something was written */
        gboolean swapped;           /* the other byte order */
        gboolean is_pcapng, headed; /* of the file in hand; headed: its header was read */
        guint8 header[PCAP_HEADER]; /* of the first pcap file */
} Ring;

static volatile sig_atomic_t ring_stopped;

static void stop_ring(int number)
{
        ring_stopped = number;
}

/* --- whole units ---------------------------------------------------------------- */

static guint32 ring_word(const Ring *r, const guint8 *at)
{
        guint32 word;

        memcpy(&word, at, sizeof word);
        return r->swapped ? GUINT32_SWAP_LE_BE(word) : word;
}

static gboolean ring_write(Ring *r, const guint8 *data, gsize n, GError **error)
{
        while (n > 0) {
                gssize k = write(r->out, data, n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return ravel_fail(error, RAVEL_ERROR_PIPE, "packets: %s",
                                          g_strerror(errno));
                data += k;
                n -= (gsize)k;
        }
        return TRUE;
}

/* Whether this is a file of packets that can follow the others. */
static gboolean read_magic(Ring *r, const guint8 *at)
{
        guint32 magic;

        r->swapped = FALSE;
        magic = ring_word(r, at);
        r->is_pcapng = magic == PCAPNG;
        if (r->is_pcapng)
                return TRUE;
        r->swapped = magic != PCAP_MICRO && magic != PCAP_NANO;
        magic = ring_word(r, at);
        return magic == PCAP_MICRO || magic == PCAP_NANO;
}

/* The length of the unit at `at` of n bytes; 0: it is not whole. *wrong: there is none. */
static gsize unit_length(Ring *r, const guint8 *at, gsize n, gboolean *wrong)
{
        gsize length;

        if (!r->is_pcapng && n < PCAP_RECORD)
                return 0;
        if (!r->is_pcapng) {
                length = PCAP_RECORD + (gsize)ring_word(r, at + 8);
        } else {
                if (n < 12)
                        return 0;
                if (ring_word(r, at) == PCAPNG) { /* a section begins, in its own byte order */
                        r->swapped = FALSE;
                        r->swapped = ring_word(r, at + 8) != PCAPNG_SELF;
                }
                length = ring_word(r, at + 4);
                *wrong = length < 12 || length % 4 != 0;
        }
        *wrong |= length > MOST_UNIT;
        return !*wrong && length <= n ? length : 0;
}

/* The header of a pcap file is passed on once. */
static gboolean take_header(Ring *r, gboolean *wrong, GError **error)
{
        const guint8 *at = r->rest->data;

        if (r->rest->len < PCAP_HEADER)
                return TRUE;
        if (!read_magic(r, at)) {
                *wrong = TRUE;
                return TRUE;
        }
        r->headed = TRUE;
        if (r->is_pcapng)
                return TRUE;
        /* The magic and the link type must agree; the snapshot length may differ. */
        *wrong = r->begun &&
                 (memcmp(r->header, at, 4) != 0 || memcmp(r->header + 20, at + 20, 4) != 0);
        if (*wrong)
                return TRUE;
        memcpy(r->header, at, PCAP_HEADER);
        if (!r->begun && !ring_write(r, at, PCAP_HEADER, error))
                return FALSE;
        g_byte_array_remove_range(r->rest, 0, PCAP_HEADER);
        return TRUE;
}

static gboolean pass_units(Ring *r, gboolean *wrong, GError **error)
{
        gsize at = 0, length;

        if (!r->headed && (!take_header(r, wrong, error) || !r->headed || *wrong))
                return !error || !*error;
        while ((length = unit_length(r, r->rest->data + at, r->rest->len - at, wrong)) > 0)
                at += length;
        if (at > 0 && !ring_write(r, r->rest->data, at, error))
                return FALSE;
        r->begun |= at > 0;
        g_byte_array_remove_range(r->rest, 0, (guint)at);
        return TRUE;
}

/* --- files ------------------------------------------------------------------------ */

static void clear_seen(gpointer data)
{
        g_free(((Seen *)data)->path);
}

static gsize read_start(int fd, guint8 start[START])
{
        gssize n = pread(fd, start, START, 0);

        return (gsize)MAX(n, 0);
}

static gboolean starts_as_seen(int fd, const Seen *s)
{
        guint8 start[START];

        return read_start(fd, start) >= s->n_start && !memcmp(start, s->start, s->n_start);
}

/* Whether a file was seen, under any name. A ring may write over its oldest file. */
static gboolean was_seen(const Ring *r, const struct stat *st, const guint8 *start, gsize n)
{
        for (guint i = 0; i < r->seen->len; i++) {
                const Seen *s = &g_array_index(r->seen, Seen, i);

                if (s->inode == st->st_ino && n >= s->n_start &&
                    !memcmp(s->start, start, s->n_start))
                        return TRUE;
        }
        return FALSE;
}

static gint64 last_written(const struct stat *st)
{
        return (gint64)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* The file that was written first among new files; NULL: none. */
static char *find_next(const Ring *r)
{
        gint64 first = G_MAXINT64;
        char *next = NULL;

        for (guint p = 0; r->patterns[p]; p++) {
                glob_t found;

                if (glob(r->patterns[p], 0, NULL, &found) != 0)
                        continue;
                for (gsize i = 0; i < found.gl_pathc; i++) {
                        guint8 start[START];
                        struct stat st;
                        int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);

                        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                            last_written(&st) >= r->since && last_written(&st) < first) {
                                gsize n = read_start(fd, start);

                                if (n == START && !was_seen(r, &st, start, n)) {
                                        g_free(next);
                                        next = g_strdup(found.gl_pathv[i]);
                                        first = last_written(&st);
                                }
                        }
                        if (fd >= 0)
                                close(fd);
                }
                globfree(&found);
        }
        return next;
}

/* Forgets files that are no longer there, or have other contents. */
static void forget_gone(Ring *r)
{
        for (guint i = r->seen->len; i-- > 0;) {
                const Seen *s = &g_array_index(r->seen, Seen, i);
                int fd = open(s->path, O_RDONLY | O_CLOEXEC);
                gboolean same = fd >= 0 && starts_as_seen(fd, s);

                if (fd >= 0)
                        close(fd);
                if (!same && i != r->in_hand) {
                        g_array_remove_index(r->seen, i);
                        r->in_hand -= r->in_hand > i;
                }
        }
}

static void open_next(Ring *r, const char *path)
{
        Seen seen = { .path = g_strdup(path) };
        struct stat st;

        r->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (r->fd < 0 || fstat(r->fd, &st) < 0) {
                g_free(seen.path);
                return;
        }
        seen.inode = st.st_ino;
        seen.n_start = read_start(r->fd, seen.start);
        g_array_append_val(r->seen, seen);
        r->in_hand = r->seen->len - 1;
        r->headed = FALSE;
        g_byte_array_set_size(r->rest, 0);
        forget_gone(r);
}

static void end_file(Ring *r)
{
        const char *path = g_array_index(r->seen, Seen, r->in_hand).path;

        if (r->rest->len > 0)
                r->say("%s: its last packet is cut off", path);
        close(r->fd);
        r->fd = -1;
}

/* Whether a writer has begun the file in hand anew. */
static gboolean was_replaced(const Ring *r)
{
        return !starts_as_seen(r->fd, &g_array_index(r->seen, Seen, r->in_hand));
}

/* Passes on what the file in hand has: the number of bytes read, -1 with error set. */
static gssize read_file(Ring *r, GError **error)
{
        static guint8 block[BLOCK];
        gssize n = was_replaced(r) ? 0 : read(r->fd, block, sizeof block);
        gboolean wrong = FALSE;

        if (n <= 0)
                return 0;
        g_byte_array_append(r->rest, block, (guint)n);
        if (!pass_units(r, &wrong, error))
                return -1;
        if (wrong) {
                r->say("%s: no packets that can follow those before: left out from there",
                       g_array_index(r->seen, Seen, r->in_hand).path);
                g_byte_array_set_size(r->rest, 0);
                end_file(r);
        }
        return n;
}

/* Reads on, or waits. A file ends when there is a next one and nothing more to read. */
static gboolean follow_once(Ring *r, GError **error)
{
        g_autofree char *next = NULL;
        gssize n = r->fd >= 0 ? read_file(r, error) : 0;

        if (n != 0)
                return n > 0;
        if ((next = find_next(r))) {
                /* What came before the next file did. */
                while (r->fd >= 0 && (n = read_file(r, error)) > 0)
                        ;
                if (n < 0)
                        return FALSE;
                if (r->fd >= 0)
                        end_file(r);
                open_next(r, next);
        } else {
                struct pollfd reader = { .fd = r->out, .events = 0 };

                if (poll(&reader, 1, PAUSE) > 0 && reader.revents & (POLLERR | POLLHUP))
                        ring_stopped = SIGPIPE;
        }
        return TRUE;
}

gboolean ring_follow(const char *const *patterns, gint64 since, int out,
                     void (*say)(const char *format, ...), GError **error)
{
        struct sigaction action = { .sa_handler = stop_ring };
        Ring r = { .patterns = patterns,
                   .since = since,
                   .out = out,
                   .say = say,
                   .fd = -1,
                   .seen = g_array_new(FALSE, FALSE, sizeof(Seen)),
                   .rest = g_byte_array_new() };
        gboolean ok = TRUE;

        g_array_set_clear_func(r.seen, clear_seen);
        sigaction(SIGTERM, &action, NULL);
        while (ok && !ring_stopped)
                ok = follow_once(&r, error);
        if (r.fd >= 0)
                close(r.fd);
        g_array_unref(r.seen);
        g_byte_array_unref(r.rest);
        return ok;
}
