/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Link layers and IP, from bytes written out by hand.
 */
#include <string.h>

#include "capture/network/ip.h"
#include "capture/network/link-layer.h"

/* "0a 0b" to bytes. */
static GByteArray *hex(const char *text)
{
        GByteArray *out = g_byte_array_new();
        for (; *text; text++) {
                if (!g_ascii_isxdigit(*text))
                        continue;
                guint8 byte = (guint8)(g_ascii_xdigit_value(text[0]) << 4 |
                                       g_ascii_xdigit_value(text[1]));
                g_byte_array_append(out, &byte, 1);
                text++;
        }
        return out;
}

/* The IP packet must begin at offset; -1 where there is none, -2 broken. */
static void check_link(int link_type, const char *text, int offset)
{
        g_autoptr(GByteArray) bytes = hex(text);
        for (guint n = 0; n <= bytes->len; n++) {
                g_autofree guint8 *copy = g_memdup2(bytes->data, n);
                Cursor c = cursor(copy, n);
                guint32 unopened;
                AccountEntry result = link_layer_decode(link_type, &c, &unopened);
                if (n == bytes->len && offset >= 0) {
                        g_assert_cmpint(result, ==, ACCOUNT_NONE);
                        g_assert_cmpint(c.at - copy, ==, offset);
                } else if (n == bytes->len) {
                        g_assert_cmpint(result, ==,
                                        offset == -1 ? ACCOUNT_NOT_IP : ACCOUNT_BAD_LINK);
                }
        }
}

#define MACS "02 00 00 00 00 01 02 00 00 00 00 02 "

static void test_links(void)
{
        check_link(LINK_ETHERNET, MACS "0800 45", 14);
        check_link(LINK_ETHERNET, MACS "86dd 60", 14);
        check_link(LINK_ETHERNET, MACS "8100 0005 0800 45", 18);
        check_link(LINK_ETHERNET, MACS "88a8 0005 8100 0006 86dd 60", 22);
        check_link(LINK_ETHERNET, MACS "8847 0000 1040 0000 2140 45", 22);
        check_link(LINK_ETHERNET, MACS "8864 11000001 0003 0021 45", 22);
        check_link(LINK_ETHERNET, MACS "0030 aaaa03 000000 0800 45", 22);
        check_link(LINK_ETHERNET, MACS "0806 00", -1);
        check_link(LINK_ETHERNET, MACS "8100 0005", -2);
        check_link(LINK_ETHERNET, MACS "8926 00000001 8100 0007 0800 45", 24);
        check_link(LINK_ETHERNET, MACS "893f 000000010000 0800 45", 22);
        check_link(LINK_ETHERNET, MACS "88e7 00000102" MACS "86dd 60", 32);
        check_link(LINK_ETHERNET, MACS "8903 0010" MACS "0800 45", 30);
        check_link(LINK_ETHERNET, MACS "22f3 0045 0001 0002 0000abcd" MACS "0800 45", 38);
        check_link(LINK_ETHERNET, MACS "894f 0fc20101 00000100 45", 22);
        check_link(LINK_ETHERNET, MACS "894f 0fc20103 00000100" MACS "0800 45", 36);
        check_link(LINK_ETHERNET, MACS "894f 0fc20106 00000100 45", -1);
        check_link(LINK_ETHERNET, MACS "894f 0fc10101 00000100 45", -1);
        check_link(LINK_ETHERNET, MACS "88e5 0000 00000001 0800 45", 22);
        check_link(LINK_ETHERNET, MACS "88e5 2000 00000001 0200000000010001 0800 45", 30);
        check_link(LINK_ETHERNET, MACS "88e5 2c00 00000001 0200000000010001 0800 45", -1);
        check_link(LINK_ETHERNET, MACS "8847 000021ff 00000007" MACS "0800 45", 36);
        check_link(LINK_ETHERNET, MACS "8847 000021ff 1200000000010200000000020800 45", 32);
        check_link(LINK_ETHERNET, MACS "8847 000021ff 4200000000010200000000020800 45", 32);
        check_link(LINK_PPP_SERIAL, "ff03 0021 45", 4);
        check_link(LINK_PPP_SERIAL, "0f00 0800 45", 4);
        check_link(LINK_C_HDLC, "8f00 86dd 60", 4);
        check_link(LINK_FRAME_RELAY, "1841 03 cc 45", 4);
        check_link(LINK_FRAME_RELAY, "18405041 03 00 8e 60", 7);
        check_link(LINK_FRAME_RELAY, "1841 03 80 000000 0800 45", 9);
        check_link(LINK_FRAME_RELAY, "1841 03 80 0080c2 0007" MACS "0800 45", 23);
        check_link(LINK_FRAME_RELAY, "1841 03 80 0080c2 000e" MACS "0800 45", -1);
        check_link(LINK_FRAME_RELAY, "1841 0800 45", 4);
        check_link(LINK_JUNIPER_ETHERNET, "4d4743 81 0002 0000" MACS "0800 45", 22);
        check_link(LINK_JUNIPER_ETHERNET, "4d4743 03 00000002 45", 8);
        check_link(LINK_JUNIPER_ETHERNET, "4d4744 01" MACS "0800 45", -1);
        check_link(LINK_PKTAP, "0c000000 01000000 0c000000 45", 12);
        check_link(LINK_PKTAP, "0000000c 00000001 00000001" MACS "0800 45", 26);
        check_link(LINK_PKTAP, "0b000000 01000000 0c000000 45", -2);
        check_link(LINK_DSA_BROADCOM, MACS "20000001 0800 45", 18);
        check_link(LINK_DSA_BROADCOM_PREPENDED, "20000001" MACS "0800 45", 18);
        check_link(LINK_DSA, MACS "40080001 0800 45", 18);
        check_link(LINK_DSA_WITH_TYPE, MACS "dada0000 40080001 0800 45", 22);
        check_link(LINK_802_11, "0801 0000" MACS "020000000003 1000 aaaa03000000 0800 45", 32);
        check_link(LINK_802_11,
                   "8803 0000" MACS "020000000003 1000 020000000004 0000 aaaa03000000 0800 45", 40);
        check_link(LINK_802_11,
                   "8881 0000" MACS "020000000003 1000 0000 00000000 aaaa03000000 0800 45", 38);
        check_link(LINK_802_11,
                   "8801 0000" MACS "020000000003 1000 8000" MACS "0030 aaaa03000000 0800 45", 48);
        check_link(LINK_802_11, "0841 0000" MACS "020000000003 1000 aaaa03000000 0800 45", -1);
        check_link(LINK_802_11, "0805 0000" MACS "020000000003 1000 aaaa03000000 0800 45", -1);
        check_link(LINK_802_11, "4801 0000" MACS "020000000003 1000 aaaa03000000 0800 45", -1);
        check_link(LINK_802_11, "8000 0000" MACS "020000000003 1000 aaaa03000000 0800 45", -1);
        check_link(LINK_RADIOTAP,
                   "0000 0800 00000000 0801 0000" MACS "020000000003 1000 aaaa03000000 0800 45",
                   40);
        check_link(LINK_PPI, "0000 0800 01000000" MACS "0800 45", 22);
        check_link(LINK_PRISM,
                   "44000000 08000000 0801 0000" MACS "020000000003 1000 aaaa03000000 0800 45", 40);
        check_link(LINK_AVS,
                   "80211001 00000008 0801 0000" MACS "020000000003 1000 aaaa03000000 0800 45", 40);
        check_link(LINK_LINUX_SLL, "0000 0001 0006 0200000000010000 0800 45", 16);
        check_link(LINK_LINUX_SLL2, "86dd 0000 00000001 0001 00 06 0200000000010000 60", 20);
        check_link(LINK_NULL, "02000000 45", 4);
        check_link(LINK_LOOP, "00000018 60", 4);
        check_link(LINK_NULL, "1c000000 00", -1);
        check_link(LINK_RAW, "45", 0);
        check_link(LINK_PPP, "ff03 0021 45", 4);
        check_link(LINK_PPP, "21 45", 1);
        check_link(LINK_PPP, "c021 01", -1);
        check_link(LINK_NFLOG, "02000000 0800 0100 00000000 0500 0900 45", 16);
        g_assert(link_layer_is_known(LINK_ETHERNET));
        g_assert(!link_layer_is_known(195)); /* IEEE 802.15.4 */
}

typedef struct {
        IpFragments *fragments;
        Account account;
        IpPacket ip;
} Fixture;

static AccountEntry decode(Fixture *f, const char *text, gsize length, gint64 time)
{
        g_autoptr(GByteArray) bytes = hex(text);
        g_autofree guint8 *copy = g_memdup2(bytes->data, bytes->len);
        return ip_decode(f->fragments, copy, bytes->len, MAX(length, bytes->len), time, &f->ip,
                         &f->account);
}

#define V4(length, fragment, protocol)                                                             \
        "45 00 " length " abcd " fragment " 40 " protocol " 0000 0a000001 0a000002 "

static void check_payload(Fixture *f, guint8 protocol, gsize captured, gsize length)
{
        g_assert_cmpuint(f->ip.protocol, ==, protocol);
        g_assert_cmpuint(f->ip.captured, ==, captured);
        g_assert_cmpuint(f->ip.length, ==, length);
}

static void test_v4(void)
{
        Fixture f = { .fragments = ip_fragments_new() };
        char text[ADDRESS_TEXT_SIZE];
        g_assert_cmpint(decode(&f, V4("0018", "0000", "06") "01020304", 0, 1), ==, ACCOUNT_NONE);
        check_payload(&f, IP_TCP, 4, 4);
        g_assert_cmpstr(address_format(f.ip.source, text), ==, "10.0.0.1");
        /* padded by the link, cut by the snapshot length, length left to offload */
        g_assert_cmpint(decode(&f, V4("0018", "4000", "06") "01020304 0000", 0, 1), ==,
                        ACCOUNT_NONE);
        check_payload(&f, IP_TCP, 4, 4);
        g_assert_cmpint(decode(&f, V4("0100", "4000", "06") "01020304", 256, 1), ==, ACCOUNT_NONE);
        check_payload(&f, IP_TCP, 4, 236);
        g_assert_cmpint(decode(&f, V4("0000", "4000", "11") "01020304", 30000, 1), ==,
                        ACCOUNT_NONE);
        check_payload(&f, IP_UDP, 4, 29980);
        /* broken */
        g_assert_cmpint(decode(&f, V4("0010", "0000", "06") "01020304", 0, 1), ==, ACCOUNT_BAD_IP);
        g_assert_cmpint(decode(&f, "45 00 0014", 0, 1), ==, ACCOUNT_BAD_IP);
        g_assert_cmpint(decode(&f, "44 00 0018 0000 0000 4006 0000 0a000001 0a000002 0000", 0, 1),
                        ==, ACCOUNT_BAD_IP);
        g_assert_cmpint(decode(&f, "95", 0, 1), ==, ACCOUNT_NOT_IP);
        ip_fragments_free(f.fragments);
}

#define V6(length, next)                                                                           \
        "60000000 " length " " next " 40 20010db8000000000000000000000001 "                        \
        "20010db8000000000000000000000002 "

static void test_v6(void)
{
        Fixture f = { .fragments = ip_fragments_new() };
        char text[ADDRESS_TEXT_SIZE];
        g_assert_cmpint(decode(&f, V6("0004", "06") "01020304 00", 0, 1), ==, ACCOUNT_NONE);
        check_payload(&f, IP_TCP, 4, 4);
        g_assert_cmpstr(address_format(f.ip.destination, text), ==, "2001:db8::2");
        /* hop-by-hop, routing, destination, a fragment that is whole */
        g_assert_cmpint(decode(&f,
                               V6("0022", "00") "2b00000000000000 3c00000000000000 "
                                                "2c00000000000000 1100000000000001 0102",
                               0, 1),
                        ==, ACCOUNT_NONE);
        check_payload(&f, IP_UDP, 2, 2);
        g_assert_cmpint(decode(&f, V6("0008", "00") "06ff000000000000", 0, 1), ==, ACCOUNT_BAD_IP);
        g_assert_cmpint(decode(&f, V6("0000", "3b"), 0, 1), ==, ACCOUNT_NOT_TRANSPORT);
        g_assert_cmpint(decode(&f, "60000000 0000 06", 0, 1), ==, ACCOUNT_BAD_IP);
        ip_fragments_free(f.fragments);
}

static void test_fragments(void)
{
        Fixture f = { .fragments = ip_fragments_new() };
        /* the last first, one twice */
        g_assert_cmpint(decode(&f, V4("0016", "0002", "11") "1112", 0, 1), ==, ACCOUNT_FRAGMENTS);
        g_assert_cmpint(decode(&f, V4("001c", "2000", "11") "0102030405060708", 0, 1), ==,
                        ACCOUNT_FRAGMENTS);
        g_assert_cmpint(decode(&f, V4("001c", "2000", "11") "0102030405060708", 0, 1), ==,
                        ACCOUNT_FRAGMENTS);
        g_assert_cmpint(decode(&f, V4("001c", "2001", "11") "090a0b0c0d0e0f10", 0, 1), ==,
                        ACCOUNT_NONE);
        check_payload(&f, IP_UDP, 18, 18);
        for (guint i = 0; i < 18; i++)
                g_assert_cmpuint(f.ip.payload[i], ==, i + 1);
        ip_fragments_flush(f.fragments, &f.account);
        g_assert_cmpuint(f.account.count[ACCOUNT_FRAGMENTS_LOST], ==, 0);
        /* one that waits for too long, one that is cut */
        decode(&f, V4("001c", "2000", "11") "0102030405060708", 0, 1);
        decode(&f, V4("001c", "2001", "11") "090a0b0c0d0e0f10", 0, 40000000000);
        decode(&f, V4("001c", "2001", "11") "090a0b0c", 28, 40000000000);
        g_assert_cmpuint(f.account.count[ACCOUNT_FRAGMENTS_LOST], ==, 2);
        ip_fragments_flush(f.fragments, &f.account);
        g_assert_cmpuint(f.account.count[ACCOUNT_FRAGMENTS_LOST], ==, 3);
        /* version 6 */
        g_assert_cmpint(decode(&f, V6("0010", "2c") "1100 0001 00000007 0102030405060708", 0, 1),
                        ==, ACCOUNT_FRAGMENTS);
        g_assert_cmpint(decode(&f, V6("000a", "2c") "1100 0008 00000007 090a", 0, 1), ==,
                        ACCOUNT_NONE);
        check_payload(&f, IP_UDP, 10, 10);
        ip_fragments_free(f.fragments);
}

/* Bytes after the end do not stand for bytes that are missing before the end. */
static void test_fragments_after_end(void)
{
        Fixture f = { .fragments = ip_fragments_new() };
        g_assert_cmpint(decode(&f, V4("001c", "2000", "11") "0102030405060708", 0, 1), ==,
                        ACCOUNT_FRAGMENTS);
        g_assert_cmpint(decode(&f, V4("0016", "0002", "11") "1112", 0, 1), ==, ACCOUNT_FRAGMENTS);
        g_assert_cmpint(decode(&f, V4("001c", "2003", "11") "191a1b1c1d1e1f20", 0, 1), ==,
                        ACCOUNT_FRAGMENTS);
        g_assert_cmpint(decode(&f, V4("001c", "2001", "11") "090a0b0c0d0e0f10", 0, 1), ==,
                        ACCOUNT_NONE);
        check_payload(&f, IP_UDP, 18, 18);
        for (guint i = 0; i < 18; i++)
                g_assert_cmpuint(f.ip.payload[i], ==, i + 1);
        ip_fragments_free(f.fragments);
}

/* Any number of datagrams that stay incomplete. */
static void test_fragments_bounded(void)
{
        Fixture f = { .fragments = ip_fragments_new() };
        for (guint i = 0; i < 1000; i++) {
                g_autofree char *text = g_strdup_printf("45 00 001c %04x 2000 40 11 0000 0a000001 "
                                                        "0a000002 0102030405060708",
                                                        i);
                g_assert_cmpint(decode(&f, text, 0, i), ==, ACCOUNT_FRAGMENTS);
        }
        ip_fragments_flush(f.fragments, &f.account);
        g_assert_cmpuint(f.account.count[ACCOUNT_FRAGMENTS_LOST], ==, 1000);
        ip_fragments_free(f.fragments);
}

static void test_addresses(void)
{
        static const char *const texts[] = { "10.0.0.1", "::1", "2001:db8::1", "fe80::1:2" };
        Address a;
        char text[ADDRESS_TEXT_SIZE];
        for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_assert(address_parse(texts[i], strlen(texts[i]), &a));
                g_assert_cmpstr(address_format(a, text), ==, texts[i]);
        }
        g_assert(!address_parse("10.0.0", 6, &a));
        g_assert(!address_parse("", 0, &a));
        g_assert(address_parse("239.1.2.3", 9, &a) && address_is_group(a));
        g_assert(address_parse("255.255.255.255", 15, &a) && address_is_group(a));
        g_assert(address_parse("ff02::1", 7, &a) && address_is_group(a));
        g_assert(address_parse("10.1.2.3", 8, &a) && !address_is_group(a));
        g_assert_cmpstr(address_format(address_prefix(a, 96 + 8), text), ==, "10.0.0.0");
        g_assert_cmpstr(address_format(address_prefix(a, 0), text), ==, "::");
        g_assert(address_equal(address_prefix(a, 128), a));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ip/links", test_links);
        g_test_add_func("/ip/v4", test_v4);
        g_test_add_func("/ip/v6", test_v6);
        g_test_add_func("/ip/fragments", test_fragments);
        g_test_add_func("/ip/fragments-after-end", test_fragments_after_end);
        g_test_add_func("/ip/fragments-bounded", test_fragments_bounded);
        g_test_add_func("/ip/addresses", test_addresses);
        return g_test_run();
}
