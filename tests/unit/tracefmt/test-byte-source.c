/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What was written comes back, whether it was compressed or not, in one member or
 * many, whole from a file or byte by byte from a pipe.
 */
#include "tracefmt/byte-source.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/unit/scratch.h"
#include "base/error.h"

typedef enum { PLAIN, GZIP, ZSTD, N_CODINGS } Coding;

/* Appends n bytes to out as one member or frame. */
static void encode(GByteArray *out, Coding coding, const void *data, gsize n)
{
        gsize room = n + n / 2 + 1000, used = n;
        g_autofree guint8 *packed = g_malloc(room);
        z_stream z = { 0 };

        if (coding == PLAIN) {
                g_byte_array_append(out, data, n);
                return;
        }
        if (coding == ZSTD) {
                used = ZSTD_compress(packed, room, data, n, 3);
                g_assert_false(ZSTD_isError(used));
        } else {
                g_assert_cmpint(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), ==,
                                Z_OK);
                z.next_in = (guint8 *)data;
                z.avail_in = n;
                z.next_out = packed;
                z.avail_out = room;
                g_assert_cmpint(deflate(&z, Z_FINISH), ==, Z_STREAM_END);
                used = z.total_out;
                deflateEnd(&z);
        }
        g_byte_array_append(out, packed, used);
}

/* Reads to the end, up to step bytes at a time. NULL and error set where it fails. */
static GByteArray *read_all(ByteSource *source, gsize step, GError **error)
{
        g_autoptr(GByteArray) all = g_byte_array_new();
        g_autofree guint8 *buffer = g_malloc(step);
        gssize k;

        while ((k = byte_source_read(source, buffer, step, error)) > 0) {
                g_assert_cmpint(k, <=, step);
                g_byte_array_append(all, buffer, k);
        }
        if (k < 0)
                return NULL;
        g_assert_cmpint(byte_source_read(source, buffer, step, error), ==, 0);
        return g_steal_pointer(&all);
}

static GByteArray *some_text(gsize n)
{
        GByteArray *text = g_byte_array_sized_new(n);
        GRand *rand = g_rand_new_with_seed(n);

        for (gsize i = 0; i < n; i++) {
                guint8 c = g_rand_int_range(rand, 'a', 'a' + 4);

                g_byte_array_append(text, &c, 1);
        }
        g_rand_free(rand);
        return text;
}

static void test_round_trip(void)
{
        static const gsize sizes[] = { 0, 1, 2, 3, 4, 5, 1000, 65536, 1000003 };
        static const gsize steps[] = { 1, 7, 4096, 1 << 20 };

        for (Coding coding = PLAIN; coding < N_CODINGS; coding++)
                for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
                        for (guint k = sizes[i] > 100000; k < G_N_ELEMENTS(steps); k++) {
                                g_autoptr(GByteArray) text = some_text(sizes[i]), found = NULL;
                                g_autoptr(GByteArray) stored = g_byte_array_new();
                                g_autoptr(ByteSource) source = NULL;
                                g_autofree char *path = NULL;

                                encode(stored, coding, text->data, text->len);
                                path = scratch_write("bytes", (char *)stored->data, stored->len);
                                source = byte_source_new(path, NULL);
                                g_assert_cmpstr(byte_source_name(source), ==, path);
                                found = read_all(source, steps[k], NULL);
                                g_assert_cmpmem(found->data, found->len, text->data, text->len);
                        }
}

/* Members one after the other are one file, as gzip -d and zstd -d have it. */
static void test_members(void)
{
        for (Coding coding = GZIP; coding < N_CODINGS; coding++) {
                g_autoptr(GByteArray) stored = g_byte_array_new(), found = NULL;
                g_autoptr(ByteSource) source = NULL;
                g_autofree char *path = NULL;

                encode(stored, coding, "one, ", 5);
                encode(stored, coding, "", 0);
                encode(stored, coding, "two", 3);
                path = scratch_write("bytes", (char *)stored->data, stored->len);
                source = byte_source_new(path, NULL);
                found = read_all(source, 2, NULL);
                g_assert_cmpmem(found->data, found->len, "one, two", 8);
        }
}

/* Cut anywhere after the magic number, compressed data ends early. */
static void test_truncated(void)
{
        g_autoptr(GByteArray) text = some_text(300);

        for (Coding coding = GZIP; coding < N_CODINGS; coding++) {
                g_autoptr(GByteArray) stored = g_byte_array_new();

                encode(stored, coding, text->data, text->len);
                for (gsize n = 4; n < stored->len; n++) {
                        g_autofree char *path = scratch_write("bytes", (char *)stored->data, n);
                        g_autoptr(ByteSource) source = byte_source_new(path, NULL);
                        g_autoptr(GError) error = NULL;

                        g_assert_null(read_all(source, 1000, &error));
                        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                        g_assert_nonnull(strstr(error->message, "ends early"));
                }
        }
}

/* Any byte changed: an error or the same bytes as far as they come, never a crash. */
static void test_corrupt(void)
{
        g_autoptr(GByteArray) text = some_text(300);
        guint refused = 0;

        for (Coding coding = GZIP; coding < N_CODINGS; coding++) {
                g_autoptr(GByteArray) stored = g_byte_array_new();

                encode(stored, coding, text->data, text->len);
                for (gsize i = 4; i < stored->len; i++) {
                        g_autoptr(ByteSource) source = NULL;
                        g_autoptr(GByteArray) found = NULL;
                        g_autoptr(GError) error = NULL;
                        g_autofree char *path = NULL;

                        stored->data[i] ^= 0x55;
                        path = scratch_write("bytes", (char *)stored->data, stored->len);
                        source = byte_source_new(path, NULL);
                        found = read_all(source, 1000, &error);
                        g_assert_true((found == NULL) == (error != NULL));
                        refused += !found;
                        stored->data[i] ^= 0x55;
                }
        }
        g_assert_cmpuint(refused, >, 100);
}

typedef struct {
        const GByteArray *bytes;
        int fd;
} Drip;

static gpointer drip(gpointer data)
{
        const Drip *d = data;

        for (guint i = 0; i < d->bytes->len; i++)
                g_assert_cmpint(write(d->fd, d->bytes->data + i, 1), ==, 1);
        close(d->fd);
        return NULL;
}

static void test_pipe(void)
{
        g_autoptr(GByteArray) text = some_text(2000);

        for (Coding coding = PLAIN; coding < N_CODINGS; coding++) {
                g_autoptr(GByteArray) stored = g_byte_array_new(), found = NULL;
                g_autoptr(ByteSource) source = NULL;
                g_autofree char *path = NULL;
                GThread *writer;
                int ends[2];
                Drip d;

                encode(stored, coding, text->data, text->len);
                g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
                d = (Drip){ stored, ends[1] };
                path = g_strdup_printf("/proc/self/fd/%d", ends[0]);
                source = byte_source_new(path, NULL);
                close(ends[0]);
                writer = g_thread_new("drip", drip, &d);
                found = read_all(source, 4096, NULL);
                g_thread_join(writer);
                g_assert_cmpmem(found->data, found->len, text->data, text->len);
        }
}

static void test_digest(void)
{
        g_autofree char *path = scratch_write("bytes", "abc", 3);
        g_autoptr(ByteSource) source = byte_source_new(path, NULL);
        g_autoptr(GByteArray) found = NULL;

        byte_source_want_digest(source);
        g_assert_null(byte_source_digest(source));
        found = read_all(source, 100, NULL);
        g_assert_cmpstr(byte_source_digest(source), ==,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_unreadable(void)
{
        g_autofree char *absent = scratch_path("none");
        g_autoptr(GError) error = NULL, directory = NULL;

        g_assert_null(byte_source_new(absent, &error));
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_assert_null(byte_source_new(scratch, &directory));
        g_assert_error(directory, RAVEL_ERROR, RAVEL_ERROR_INPUT);
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/byte-source/round-trip", test_round_trip);
        g_test_add_func("/byte-source/members", test_members);
        g_test_add_func("/byte-source/truncated", test_truncated);
        g_test_add_func("/byte-source/corrupt", test_corrupt);
        g_test_add_func("/byte-source/pipe", test_pipe);
        g_test_add_func("/byte-source/digest", test_digest);
        g_test_add_func("/byte-source/unreadable", test_unreadable);
        status = g_test_run();
        scratch_remove();
        return status;
}
