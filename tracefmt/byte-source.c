/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/byte-source.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

enum { IN_SIZE = 1 << 17, MAGIC = 4, XZ_MEMORY = 1 << 28 }; /* xz -9 takes a quarter */

typedef enum { PLAIN, GZIP, ZSTD, XZ } Coding;

struct ByteSource {
        int fd;
        char *name;
        Coding coding;
        gboolean at_end; /* of the stored bytes */
        gboolean inside; /* a compressed frame has begun and not ended */
        gboolean early;  /* which is an error at the end */
        z_stream gzip;
        ZSTD_DStream *zstd;
        lzma_stream xz;
        guint8 *in; /* stored bytes not yet handed out: in[start] to in[end - 1] */
        gsize start, end;
        GChecksum *digest;
        ByteSourceWait wait; /* or NULL */
        gpointer wait_user;
        ByteSourceProgress progress; /* or NULL */
};

static gboolean source_fail(ByteSource *s, GError **error, const char *what)
{
        return ravel_fail(error, RAVEL_ERROR_INPUT, "%s: %s", s->name, what);
}

/* One read of stored bytes straight into data: how many, 0 at the end, -1. */
static gssize read_stored(ByteSource *s, void *data, gsize n, GError **error)
{
        gssize k;

        if (s->wait && !s->wait(s->wait_user, s->fd)) {
                s->at_end = TRUE;
                return 0;
        }
        do
                k = read(s->fd, data, n);
        while (k < 0 && errno == EINTR);
        if (k < 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot read: %s", s->name,
                            g_strerror(errno));
                return -1;
        }
        s->at_end |= k == 0;
        if (s->progress)
                s->progress(k);
        if (s->digest)
                g_checksum_update(s->digest, data, k);
        return k;
}

static gboolean fail_memory(ByteSource *s, GError **error)
{
        return source_fail(s, error, "there is not enough memory to decompress it");
}

static gboolean input_refill(ByteSource *s, GError **error)
{
        gssize k;

        if (s->start > 0)
                memmove(s->in, s->in + s->start, s->end - s->start);
        s->end -= s->start;
        s->start = 0;
        k = read_stored(s, s->in + s->end, IN_SIZE - s->end, error);
        if (k < 0)
                return FALSE;
        s->end += k;
        return TRUE;
}

static gboolean recognise_packing(ByteSource *s, GError **error)
{
        static const guint8 zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
        static const guint8 xz_magic[] = { 0xfd, '7', 'z', 'X' };

        /* Four bytes tell, but a live pipe may bring them one by one. A first
         * byte that is neither magic's ends the wait. */
        while (s->end < MAGIC && !s->at_end &&
               (s->end == 0 || s->in[0] == 0x1f || s->in[0] == zstd_magic[0] ||
                s->in[0] == xz_magic[0]))
                if (!input_refill(s, error))
                        return FALSE;
        if (s->end >= 2 && s->in[0] == 0x1f && s->in[1] == 0x8b) {
                if (inflateInit2(&s->gzip, 15 + 16) != Z_OK)
                        return fail_memory(s, error);
                s->coding = GZIP;
        } else if (s->end >= MAGIC && !memcmp(s->in, zstd_magic, MAGIC)) {
                if (!(s->zstd = ZSTD_createDStream()))
                        return fail_memory(s, error);
                s->coding = ZSTD;
        } else if (s->end >= MAGIC && !memcmp(s->in, xz_magic, MAGIC)) {
                if (lzma_stream_decoder(&s->xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
                        return fail_memory(s, error);
                s->coding = XZ;
        }
        return TRUE;
}

ByteSource *byte_source_new(const char *path, GError **error)
{
        g_autoptr(ByteSource) s = g_new0(ByteSource, 1); /* LZMA_STREAM_INIT is zeros, too */
        struct stat st;

        if (!strcmp(path, "-")) {
                s->fd = STDIN_FILENO;
                s->name = g_strdup("standard input");
        } else {
                s->fd = open(path, O_RDONLY | O_CLOEXEC);
                s->name = g_strdup(path);
        }
        s->in = g_malloc(IN_SIZE);
        if (s->fd < 0) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: cannot open: %s", path,
                            g_strerror(errno));
                return NULL;
        }
        if (fstat(s->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
                source_fail(s, error, "is a directory");
                return NULL;
        }
        return g_steal_pointer(&s);
}

static gssize read_gzip(ByteSource *s, guint8 *buffer, gsize n, GError **error)
{
        int result;

        s->gzip.next_in = s->in + s->start;
        s->gzip.avail_in = s->end - s->start;
        s->gzip.next_out = buffer;
        s->gzip.avail_out = MIN(n, G_MAXUINT32);
        n = s->gzip.avail_out;
        s->inside = TRUE;
        result = inflate(&s->gzip, Z_NO_FLUSH);
        s->start = s->end - s->gzip.avail_in;
        if (result == Z_STREAM_END) { /* another member may follow */
                s->inside = FALSE;
                inflateReset(&s->gzip);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
                source_fail(s, error, "the gzip data is corrupt");
                return -1;
        }
        return n - s->gzip.avail_out;
}

static gssize read_zstd(ByteSource *s, guint8 *buffer, gsize n, GError **error)
{
        ZSTD_inBuffer in = { s->in, s->end, s->start };
        ZSTD_outBuffer out = { buffer, n, 0 };
        size_t result = ZSTD_decompressStream(s->zstd, &out, &in);

        s->start = in.pos;
        s->inside = result != 0;
        if (ZSTD_isError(result)) {
                if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
                        fail_memory(s, error);
                else
                        source_fail(s, error, "the zstd data is corrupt");
                return -1;
        }
        return out.pos;
}

static gssize read_xz(ByteSource *s, guint8 *buffer, gsize n, GError **error)
{
        lzma_ret result;

        s->xz.next_in = s->in + s->start;
        s->xz.avail_in = s->end - s->start;
        s->xz.next_out = buffer;
        s->xz.avail_out = n;
        s->inside = TRUE;
        /* Streams may follow each other, so only the end of the input is the end. */
        result = lzma_code(&s->xz, s->at_end ? LZMA_FINISH : LZMA_RUN);
        s->start = s->end - s->xz.avail_in;
        if (result == LZMA_STREAM_END) {
                s->inside = FALSE;
        } else if (result == LZMA_MEMLIMIT_ERROR || result == LZMA_MEM_ERROR) {
                source_fail(s, error, "the xz data needs over 256 MB of memory to unpack");
                return -1;
        } else if (result != LZMA_OK && result != LZMA_BUF_ERROR) {
                source_fail(s, error, "the xz data is corrupt");
                return -1;
        }
        return n - s->xz.avail_out;
}

static gssize unpack(ByteSource *s, guint8 *buffer, gsize n, GError **error)
{
        switch (s->coding) {
        case GZIP:
                return read_gzip(s, buffer, n, error);
        case ZSTD:
                return read_zstd(s, buffer, n, error);
        default:
                return read_xz(s, buffer, n, error);
        }
}

gssize byte_source_read(ByteSource *s, void *buffer, gsize n, GError **error)
{
        gssize k;

        g_assert(n > 0);
        if (s->end == 0 && !s->at_end && s->coding == PLAIN && !recognise_packing(s, error))
                return -1;
        if (s->coding == PLAIN) {
                k = MIN(n, s->end - s->start);
                if (k == 0)
                        return s->at_end ? 0 : read_stored(s, buffer, n, error);
                memcpy(buffer, s->in + s->start, k);
                s->start += k;
                return k;
        }
        for (;;) {
                /* Inside a frame the decoder may hold output back even where
                 * there is no more input. */
                k = 0;
                if (s->start < s->end || s->inside)
                        k = unpack(s, buffer, n, error);
                if (k != 0)
                        return k;
                if (s->start < s->end)
                        continue;
                if (s->at_end)
                        break;
                if (!input_refill(s, error))
                        return -1;
        }
        if (s->inside) {
                s->early = TRUE;
                source_fail(s, error, "the compressed data ends early");
                return -1;
        }
        return 0;
}

void byte_source_set_wait(ByteSource *s, ByteSourceWait wait, gpointer user)
{
        s->wait = wait;
        s->wait_user = user;
}

void byte_source_set_progress(ByteSource *s, ByteSourceProgress progress)
{
        s->progress = progress;
}

gboolean byte_source_ended_early(const ByteSource *s)
{
        return s->early;
}

gboolean byte_source_is_packed(const ByteSource *s)
{
        return s->coding != PLAIN;
}

const char *byte_source_name(const ByteSource *s)
{
        return s->name;
}

void byte_source_set_name(ByteSource *s, const char *name)
{
        char *copy = g_strdup(name);

        g_free(s->name);
        s->name = copy;
}

void byte_source_want_digest(ByteSource *s)
{
        g_assert(s->end == 0 && !s->at_end);
        s->digest = g_checksum_new(G_CHECKSUM_SHA256);
}

const char *byte_source_digest(ByteSource *s)
{
        return s->digest && s->at_end ? g_checksum_get_string(s->digest) : NULL;
}

void byte_source_free(ByteSource *s)
{
        if (!s)
                return;
        if (s->fd > STDIN_FILENO)
                close(s->fd);
        if (s->coding == GZIP)
                inflateEnd(&s->gzip);
        ZSTD_freeDStream(s->zstd);
        lzma_end(&s->xz);
        g_clear_pointer(&s->digest, g_checksum_free);
        g_free(s->in);
        g_free(s->name);
        g_free(s);
}
