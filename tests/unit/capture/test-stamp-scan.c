/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A scan says what a second, plain reading of all stamps says, however the file comes in pieces.
 */
#include "capture/source/stamp-scan.h"

enum { N = 5000, RECORD = 16, HEADER = 24 };

static void put_u32(GByteArray *file, guint32 value)
{
        value = GUINT32_TO_LE(value);
        g_byte_array_append(file, (const guint8 *)&value, 4);
}

/* Packets of 0 to 50 bytes; their stamps (us). */
static GByteArray *make_file(const guint32 *stamps, guint n)
{
        static const guint8 bytes[50];
        GByteArray *file = g_byte_array_new();
        put_u32(file, 0xa1b2c3d4);
        for (guint i = 4; i < HEADER; i += 4)
                put_u32(file, 1);
        for (guint i = 0; i < n; i++) {
                put_u32(file, stamps[i] / 1000000);
                put_u32(file, stamps[i] % 1000000);
                put_u32(file, i % 50);
                put_u32(file, i % 50);
                g_byte_array_append(file, bytes, i % 50);
        }
        return file;
}

/* Bytes skipped beyond a piece are not shown. */
static void scan_in_pieces(StampScan *scan, const GByteArray *file, GRand *random)
{
        gsize at = 0, shown = 0;
        while (at < file->len) {
                shown += (gsize)g_rand_int_range(random, 1, 300);
                shown = MIN(shown, file->len - at);
                gsize used = stamp_scan_add(scan, file->data + at, shown);
                if (used == 0 && shown == file->len - at)
                        break;
                shown -= MIN(used, shown);
                at += used;
        }
}

/* Each late packet is in a range, with all that come before it and belong after it. */
static gboolean is_in_ranges(const StampOrder *order, guint64 from, guint64 to)
{
        for (guint i = 0; i < order->ranges->len; i++) {
                const DisorderedRange *range = &g_array_index(order->ranges, DisorderedRange, i);
                g_assert_true(i == 0 || g_array_index(order->ranges, DisorderedRange, i - 1).last <
                                                range->first);
                if (range->first <= from && range->last >= to)
                        return TRUE;
        }
        return FALSE;
}

static void check_scan(const guint32 *stamps, guint n, GRand *random)
{
        g_autoptr(GByteArray) file = make_file(stamps, n);
        g_autoptr(StampScan) scan = stamp_scan_new();
        scan_in_pieces(scan, file, random);
        const StampOrder *order = stamp_scan_order(scan);
        guint64 late = 0, behind = 0;
        gint64 most = 0, latest = 0;
        for (guint i = 0; i < n; i++) {
                guint first = 0;
                latest = MAX(latest, stamps[i]);
                if (stamps[i] == latest)
                        continue;
                while (stamps[first] <= stamps[i])
                        first++;
                late++;
                most = MAX(most, latest - stamps[i]);
                behind = MAX(behind, i - first);
                g_assert_true(is_in_ranges(order, first, i));
        }
        g_assert_cmpuint(order->late, ==, late);
        g_assert_cmpint(order->most_late, ==, most * 1000);
        g_assert_cmpuint(order->behind_packets, >=, behind);
        g_assert_cmpuint(order->behind_packets, <=, behind + 256);
        g_assert_true(late || order->ranges->len == 0);
}

static void test_scan(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(1);
        static const gint32 spread[] = { 1, 20, 500, 100000 };
        guint32 stamps[N];
        for (guint k = 0; k < G_N_ELEMENTS(spread); k++)
                for (guint rare = 1; rare <= 1000; rare *= 10) {
                        for (guint i = 0; i < N; i++)
                                stamps[i] =
                                        1000000 + i * 10 +
                                        (i % rare ? 0
                                                  : (guint)g_rand_int_range(random, 0, spread[k]));
                        check_scan(stamps, N, random);
                        check_scan(stamps, 1, random);
                }
}

/* Neither a broken record nor what is no capture makes it read on. */
static void test_broken(void)
{
        const guint32 stamps[] = { 20, 10, 5 };
        g_autoptr(GByteArray) file = make_file(stamps, 3);
        g_autoptr(StampScan) scan = stamp_scan_new(), none = stamp_scan_new();
        file->data[HEADER + 2 * RECORD + 11 + 1] =
                0xff; /* the third record's size, its highest byte */
        g_assert_cmpuint(stamp_scan_add(none, (const guint8 *)"no capture", 10), ==, 10);
        g_assert_cmpuint(stamp_scan_order(none)->late, ==, 0);
        g_assert_cmpuint(stamp_scan_add(scan, file->data, file->len), >=, file->len);
        g_assert_cmpuint(stamp_scan_order(scan)->late, ==, 1);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/stamp-scan/scan", test_scan);
        g_test_add_func("/stamp-scan/broken", test_broken);
        return g_test_run();
}
