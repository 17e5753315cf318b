/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Blocks made here, in both byte orders, and what the reader makes of them.
 */
#include <string.h>

#include "capture/source/pcapng.h"
#include "base/error.h"

enum { SECTION = 0x0a0d0d0a, INTERFACE = 1, OLD = 2, SIMPLE = 3, STATISTICS = 5, ENHANCED = 6 };

/* A file that is being made. */
typedef struct {
        GByteArray *bytes;
        gboolean little;
        guint block; /* where the block under way begins */
} File;

static void put(File *f, guint64 value, guint size)
{
        for (guint i = 0; i < size; i++) {
                guint8 byte = (guint8)(value >> 8 * (f->little ? i : size - 1 - i));
                g_byte_array_append(f->bytes, &byte, 1);
        }
}

static void pad(File *f)
{
        while (f->bytes->len % 4)
                put(f, 0, 1);
}

static void begin(File *f, guint32 type)
{
        f->block = f->bytes->len;
        put(f, type, 4);
        put(f, 0, 4);
}

static void end(File *f)
{
        pad(f);
        File length = { g_byte_array_new(), f->little, 0 };
        put(&length, f->bytes->len + 4 - f->block, 4);
        memcpy(f->bytes->data + f->block + 4, length.bytes->data, 4);
        g_byte_array_append(f->bytes, length.bytes->data, 4);
        g_byte_array_free(length.bytes, TRUE);
}

static void option(File *f, guint16 code, guint16 length, guint64 value)
{
        put(f, code, 2);
        put(f, length, 2);
        put(f, value, length);
        pad(f);
}

static void section(File *f, gboolean little)
{
        f->little = little;
        begin(f, SECTION);
        put(f, 0x1a2b3c4d, 4);
        put(f, 1, 2);
        put(f, 0, 2);
        put(f, G_MAXUINT64, 8);
        end(f);
}

/* resolution and offset: 0 leaves the option out. */
static void interface(File *f, guint16 link_type, guint32 snapshot, guint8 resolution,
                      gint64 offset)
{
        begin(f, INTERFACE);
        put(f, link_type, 2);
        put(f, 0, 2);
        put(f, snapshot, 4);
        option(f, 2, 3, 0x657468); /* a name */
        if (resolution)
                option(f, 9, 1, resolution);
        if (offset)
                option(f, 14, 8, (guint64)offset);
        option(f, 0, 0, 0);
        end(f);
}

static void enhanced(File *f, guint32 number, guint64 stamp, guint32 captured, guint32 length)
{
        begin(f, ENHANCED);
        put(f, number, 4);
        put(f, stamp >> 32, 4);
        put(f, stamp & 0xffffffff, 4);
        put(f, captured, 4);
        put(f, length, 4);
        for (guint i = 0; i < captured; i++)
                put(f, i, 1);
        end(f);
}

/* Reads the file, and never shows more than was asked for. Expects a packet as
 * "link type:captured/length@time", and at the end the drops or the error. */
static void check(File *f, const char *expected)
{
        g_autoptr(PcapngReader) r = pcapng_reader_new();
        g_autoptr(GString) found = g_string_new(NULL);
        g_autoptr(GError) error = NULL;
        guint64 kernel, interfaces;
        gsize at = 0, shown = 0, size;
        while (at < f->bytes->len) {
                Packet p;
                g_autofree guint8 *copy = g_memdup2(f->bytes->data + at, shown);
                PcapngResult result =
                        pcapng_parse(r, copy ? copy : f->bytes->data, shown, &size, &p, &error);
                if (result == PCAPNG_BROKEN)
                        break;
                if (result == PCAPNG_MORE) {
                        g_assert_cmpuint(size, >, shown);
                        if (size > f->bytes->len - at)
                                break;
                        shown = size;
                        continue;
                }
                if (result == PCAPNG_PACKET) {
                        g_string_append_printf(found, "%d:%zu/%zu@%" G_GINT64_FORMAT " ",
                                               p.link_type, p.captured, p.length, p.time);
                        for (gsize i = 0; i < p.captured; i++)
                                g_assert_cmpuint(p.bytes[i], ==, i & 0xff);
                }
                g_assert_cmpuint(size, >=, 12);
                at += size;
                shown = 0;
        }
        pcapng_drops(r, &kernel, &interfaces);
        if (kernel || interfaces)
                g_string_append_printf(found,
                                       "%" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT " dropped ",
                                       kernel, interfaces);
        if (error) {
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                g_string_append(found, error->message);
        } else if (at < f->bytes->len) {
                g_string_append(found, "cut");
        }
        g_assert_cmpstr(g_strchomp(found->str), ==, expected);
        g_byte_array_set_size(f->bytes, 0);
}

static void test_mixed(void)
{
        for (gboolean little = FALSE; little <= TRUE; little++) {
                File f = { g_byte_array_new(), little, 0 };
                section(&f, little);
                interface(&f, 1, 96, 0, 0);
                interface(&f, 101, 0, 9, 0);
                enhanced(&f, 1, 5000000000, 3, 3);
                interface(&f, 276, 65535, 6, 100);
                enhanced(&f, 0, 7000001, 4, 1500);
                enhanced(&f, 2, 7000001, 0, 60);
                check(&f, "101:3/3@5000000000 1:4/1500@7000001000 276:0/60@107000001000");
                g_byte_array_free(f.bytes, TRUE);
        }
}

static void test_resolutions(void)
{
        static const struct {
                guint8 resolution;
                gint64 offset;
                guint64 stamp;
                const char *time;
        } rows[] = {
                { 3, 0, 1234, "1234000000" },
                { 9, 0, 1234567890123, "1234567890123" },
                { 12, 0, 1234567890123, "1234567890" },
                { 19, 0, G_GUINT64_CONSTANT(15000000000000000000), "1500000000" },
                { 20, 0, G_GUINT64_CONSTANT(15000000000000000000), "150000000" },
                { 127, 0, G_MAXUINT64, "0" },
                { 0x80, 0, 3, "3000000000" },
                { 0x81, 0, 3, "1500000000" },
                { 0x80 + 32, 0, G_GUINT64_CONSTANT(0x180000000), "1500000000" },
                { 0x80 + 34, 0, (G_GUINT64_CONSTANT(1) << 34) - 1, "999999999" },
                { 0x80 + 63, 0, G_GUINT64_CONSTANT(3) << 62, "1500000000" },
                { 0x80 + 64, 0, G_GUINT64_CONSTANT(1) << 63, "500000000" },
                { 0x80 + 65, 0, G_GUINT64_CONSTANT(1) << 63, "250000000" },
                { 0xff, 0, G_MAXUINT64, "0" },
                { 6, -10, 11000000, "1000000000" },
                { 6, -10, 9000000, "-1" },
                { 6, G_MAXINT64, 1000000, "-1" },
                { 0x80, 0, G_MAXUINT64, "-1" },
                { 0x80, 0, G_MAXINT64, "-1" },
        };
        for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
                File f = { g_byte_array_new(), TRUE, 0 };
                g_autofree char *expected = g_strdup_printf("1:1/1@%s", rows[i].time);
                section(&f, i & 1);
                interface(&f, 1, 0, rows[i].resolution, rows[i].offset);
                enhanced(&f, 0, rows[i].stamp, 1, 1);
                check(&f, expected);
                g_byte_array_free(f.bytes, TRUE);
        }
}

static void test_sections(void)
{
        File f = { g_byte_array_new(), TRUE, 0 };
        section(&f, TRUE);
        interface(&f, 1, 0, 0, 0);
        enhanced(&f, 0, 1, 1, 1);
        section(&f, FALSE);
        interface(&f, 113, 0, 0, 0);
        enhanced(&f, 0, 2, 1, 1);
        section(&f, TRUE);
        enhanced(&f, 0, 3, 1, 1);
        check(&f, "1:1/1@1000 113:1/1@2000 a block of interface 0, but 0 were described");
        g_byte_array_free(f.bytes, TRUE);
}

static void test_old_and_simple(void)
{
        File f = { g_byte_array_new(), FALSE, 0 };
        section(&f, FALSE);
        interface(&f, 1, 2, 0, 0);
        begin(&f, OLD);
        put(&f, 0, 2);
        put(&f, 7, 2); /* dropped */
        put(&f, 0, 4);
        put(&f, 9, 4);
        put(&f, 2, 4);
        put(&f, 5, 4);
        put(&f, 0x0001, 2);
        end(&f);
        begin(&f, SIMPLE);
        put(&f, 1500, 4);
        put(&f, 0x0001, 2);
        end(&f);
        check(&f, "1:2/5@9000 1:2/1500@-1 7+0 dropped");
        g_byte_array_free(f.bytes, TRUE);
}

static void statistics(File *f, guint32 number, guint64 by_interface, guint64 by_kernel)
{
        begin(f, STATISTICS);
        put(f, number, 4);
        put(f, 0, 8);
        option(f, 4, 8, 1000);
        option(f, 5, 8, by_interface);
        option(f, 7, 8, by_kernel);
        end(f);
}

static void test_drops(void)
{
        File f = { g_byte_array_new(), TRUE, 0 };
        section(&f, TRUE);
        interface(&f, 1, 0, 0, 0);
        interface(&f, 1, 0, 0, 0);
        statistics(&f, 0, 1, 10);
        statistics(&f, 1, 5, 0);
        statistics(&f, 0, 2, 20); /* counts go on from the first ones */
        section(&f, FALSE);
        interface(&f, 1, 0, 0, 0);
        statistics(&f, 0, 0, 100);
        check(&f, "120+7 dropped");
        g_byte_array_free(f.bytes, TRUE);
}

static void test_others_are_skipped(void)
{
        File f = { g_byte_array_new(), TRUE, 0 };
        section(&f, TRUE);
        interface(&f, 1, 0, 0, 0);
        begin(&f, 4); /* names */
        put(&f, 0x12345678, 4);
        end(&f);
        begin(&f, 0x80001234);
        end(&f);
        enhanced(&f, 0, 1, 1, 1);
        check(&f, "1:1/1@1000");
        /* As long as there are no bytes for; it is not asked for either. */
        section(&f, TRUE);
        put(&f, 10, 4);
        put(&f, 0xfffffff0, 4);
        put(&f, 0, 8);
        check(&f, "");
        g_byte_array_free(f.bytes, TRUE);
}

static void hostile(guint32 type, guint32 length, const guint8 *body, gsize n, const char *expected)
{
        File f = { g_byte_array_new(), TRUE, 0 };
        section(&f, TRUE);
        interface(&f, 1, 0, 0, 0);
        put(&f, type, 4);
        put(&f, length, 4);
        if (n)
                g_byte_array_append(f.bytes, body, (guint)n);
        put(&f, length, 4);
        check(&f, expected);
        g_byte_array_free(f.bytes, TRUE);
}

static void test_hostile(void)
{
        guint8 body[64] = { 0 };
        hostile(ENHANCED, 0, body, 20, "a block of 0 bytes, expected 12 at least");
        hostile(ENHANCED, 8, body, 20, "a block of 8 bytes, expected 12 at least");
        hostile(ENHANCED, 12, body, 0, "a packet block with 0 bytes, expected 20 at least");
        hostile(SIMPLE, 12, body, 0, "a packet block with 0 bytes, expected 4 at least");
        hostile(STATISTICS, 12, body, 0, "interface statistics of 0 bytes, expected 12 at least");
        hostile(INTERFACE, 12, body, 0, "an interface description of 0 bytes, expected 8 at least");
        hostile(ENHANCED, 0x7ffffffc, body, 20,
                "a block of type 6 with 2147483644 bytes, expected 16777216 at most");
        hostile(ENHANCED, 32, body, 24, "a block of 32 bytes that ends as one of 0");
        hostile(ENHANCED, 36, body, 20, "cut");
        memset(body + 12, 0xff, 4);
        hostile(ENHANCED, 32, body, 20,
                "a packet of 4294967295 bytes in a block that has 0 for it");
        body[0] = 9;
        hostile(ENHANCED, 32, body, 20, "a block of interface 9, but 1 were described");
}

static void test_hostile_sections(void)
{
        File f = { g_byte_array_new(), TRUE, 0 };
        interface(&f, 1, 0, 0, 0);
        check(&f, "no section header");
        section(&f, TRUE);
        f.bytes->data[8] = 0;
        check(&f, "a section with byte-order magic 0x003c2b1a, expected 0x1a2b3c4d");
        section(&f, FALSE);
        f.bytes->data[13] = 2;
        check(&f, "a section in version 2.0, expected 1.0");
        section(&f, TRUE);
        f.bytes->data[4] = 12;
        check(&f, "a section header of 12 bytes, expected 28 at least");
        g_byte_array_free(f.bytes, TRUE);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pcapng/mixed", test_mixed);
        g_test_add_func("/pcapng/resolutions", test_resolutions);
        g_test_add_func("/pcapng/sections", test_sections);
        g_test_add_func("/pcapng/old-and-simple", test_old_and_simple);
        g_test_add_func("/pcapng/drops", test_drops);
        g_test_add_func("/pcapng/others-are-skipped", test_others_are_skipped);
        g_test_add_func("/pcapng/hostile", test_hostile);
        g_test_add_func("/pcapng/hostile-sections", test_hostile_sections);
        return g_test_run();
}
