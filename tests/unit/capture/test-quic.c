/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The examples of RFC 9001, appendix A, and RFC 9369, appendix A; bytes of a stream in any order
 * against an array; frames of HTTP/3 whole, and cut at every byte.
 */
#include "capture/quic/quic.h"

#include "capture/tls/record-cipher.h"
#include "tests/unit/capture/hex.h"

/* --- keys ------------------------------------------------------------------ */

static void check_hex(const guint8 *bytes, gsize n, const char *hex)
{
        g_autoptr(GString) text = g_string_new(NULL);
        for (gsize i = 0; i < n; i++)
                g_string_append_printf(text, "%02x", bytes[i]);
        g_assert_cmpstr(text->str, ==, hex);
}

static void test_initial_secrets(void)
{
        static const guint8 id[] = { 0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08 };
        static const struct {
                gboolean version_2, server;
                const char *secret, *sample, *mask;
        } examples[] = {
                { FALSE, FALSE, "c00cf151ca5be075ed0ebfb5c80323c42d6b7db67881289af4008f1f6c357aea",
                  "d1b1c98dd7689fb8ec11d242b123dc9b", "437b9aec36" },
                { FALSE, TRUE, "3c199828fd139efd216c155ad844cc81fb82fa8d7446fa7d78be803acdda951b",
                  "2cd0991cd25b0aac406a5816b6394100", "2ec0d8356a" },
                { TRUE, FALSE, "14ec9d6eb9fd7af83bf5a668bc17a7e283766aade7ecd0891f70f9ff7f4bf47b",
                  "ffe67b6abcdb4298b485dd04de806071", "94a0c95e80" },
                { TRUE, TRUE, "0263db1782731bf4588e7e4d93b7463907cb8cd8200b5da55a8bd488eafc37c1",
                  NULL, NULL },
        };
        for (guint i = 0; i < G_N_ELEMENTS(examples); i++) {
                TlsSecret secret;
                guint8 mask[QUIC_MASK];
                record_cipher_initial_secret(examples[i].version_2, id, sizeof id,
                                             examples[i].server, &secret);
                check_hex(secret.bytes, secret.n, examples[i].secret);
                if (!examples[i].sample)
                        continue;
                g_autoptr(RecordCipher) cipher =
                        record_cipher_new_quic(0x1301, examples[i].version_2, &secret);
                g_autoptr(GByteArray) sample = hex_bytes(examples[i].sample);
                record_cipher_mask(cipher, sample->data, mask);
                check_hex(mask, sizeof mask, examples[i].mask);
        }
}

/* A packet with a short header, by ChaCha20-Poly1305: a PING, number 654360564. */
static void test_packet(void)
{
        static const struct {
                gboolean version_2;
                const char *packet, *mask;
        } examples[] = {
                { FALSE, "4cfe4189655e5cd55c41f69080575d7999c25a5bfb", "aefefe7d03" },
                { TRUE, "5558b1c60ae7b6b932bc27d786f4bc2bb20f2162ba", "97580e32bf" },
        };
        g_autoptr(GByteArray) key =
                hex_bytes("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b");
        TlsSecret secret = { .n = (guint8)key->len };
        memcpy(secret.bytes, key->data, key->len);
        for (guint i = 0; i < G_N_ELEMENTS(examples); i++) {
                g_autoptr(GByteArray) packet = hex_bytes(examples[i].packet);
                g_autoptr(RecordCipher) cipher =
                        record_cipher_new_quic(0x1303, examples[i].version_2, &secret);
                guint8 mask[QUIC_MASK], plain[64];
                record_cipher_mask(cipher, packet->data + 5, mask);
                check_hex(mask, sizeof mask, examples[i].mask);
                packet->data[0] ^= mask[0] & 0x1f;
                for (guint k = 0; k < 3; k++)
                        packet->data[1 + k] ^= mask[1 + k];
                check_hex(packet->data, 4, "4200bff4");
                g_assert_cmpint(record_cipher_open_packet(cipher, 654360564, packet->data, 4,
                                                          packet->data + 4, packet->len - 4, plain),
                                ==, 1);
                g_assert_cmpint(plain[0], ==, 1);
                packet->data[8] ^= 1;
                g_assert_cmpint(record_cipher_open_packet(cipher, 654360564, packet->data, 4,
                                                          packet->data + 4, packet->len - 4, plain),
                                ==, -1);
        }
}

/* --- bytes ----------------------------------------------------------------- */

static void test_bytes(void)
{
        enum { LENGTH = 200 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(9000);
        guint8 all[LENGTH];
        for (guint i = 0; i < LENGTH; i++)
                all[i] = (guint8)i;
        for (guint round = 0; round < 200; round++) {
                QuicBytes b = { .end = QUIC_NO_END };
                gsize held = 0;
                for (guint tries = 0; tries < 2000 && b.next < LENGTH; tries++) {
                        guint from = (guint)g_rand_int_range(rand, 0, LENGTH);
                        guint n =
                                (guint)g_rand_int_range(rand, 0, MIN(40, LENGTH - (gint)from + 1));
                        QuicRun run;
                        quic_bytes_add(&b, from, all + from, n, (Stamp){ tries, tries }, &held);
                        while (quic_bytes_next(&b, &run)) {
                                gsize used = MIN(run.n, 1 + round % 7);
                                g_assert_cmpmem(run.bytes, used, all + b.next, used);
                                quic_bytes_take(&b, used, &held);
                        }
                        g_assert_cmpint(quic_bytes_gap(&b) > 0, ==, b.held != NULL);
                }
                g_assert_cmpint(b.next, ==, LENGTH);
                g_assert_cmpint(held, ==, 0);
        }
}

/* --- frames ---------------------------------------------------------------- */

static void text_append(gpointer user, guint side, const guint8 *bytes, gsize n, gsize length,
                        G_GNUC_UNUSED Stamp stamp)
{
        GString **text = user;
        for (gsize i = 0; i < n; i++)
                g_string_append_printf(text[side], "%02x", bytes[i]);
        if (length > n)
                g_string_append_printf(text[side], "(%" G_GSIZE_FORMAT ")", length - n);
}

static void request_add(Http3 *h, Http3Half *half, GByteArray *bytes, gsize step,
                        const Http3Sink *sink)
{
        for (gsize at = 0; at < bytes->len; at += step) {
                QuicRun run = { bytes->data + at, MIN(step, bytes->len - at), { 0, 0 } };
                g_assert_cmpint(http3_add(h, 0, 4, half, &run, sink), ==, run.n);
        }
        http3_end(h, 0, 4, half, (Stamp){ 0, 0 }, sink);
}

/* GET https :path "/a", a frame that nobody knows, two bytes of data. */
#define REQUEST "01 08 0000 d1 d7 51 02 2f61 21 01 ff 00 02 6869"

static void test_frames(void)
{
        g_autoptr(GByteArray) request = hex_bytes(REQUEST);
        for (gsize step = 1; step <= request->len; step++) {
                GString *text[2] = { g_string_new(NULL), g_string_new(NULL) };
                Http3Sink sink = { text_append, text };
                gsize held = 0;
                Http3 *h = http3_new(0, &held, 1 << 20);
                Http3Half half = { 0 };
                request_add(h, &half, request, step, &sink);
                g_assert_false(http3_is_other(h));
                /* HEADERS of stream 3 that begins, then DATA and its end. */
                g_assert_true(g_str_has_prefix(text[0]->str, "000010010480000003"
                                                             "02034745540605687474707304022f61"));
                g_assert_true(g_str_has_suffix(text[0]->str, "000000000100000003"));
                http3_half_clear(h, &half);
                http3_free(h);
                g_assert_cmpint(held, ==, 0);
                g_string_free(text[0], TRUE);
                g_string_free(text[1], TRUE);
        }
}

/* A hole within data is data; any other makes the rest data. */
static void test_holes(void)
{
        g_autoptr(GByteArray) request = hex_bytes(REQUEST);
        for (gsize hole = 0; hole < request->len; hole++) {
                GString *text[2] = { g_string_new(NULL), g_string_new(NULL) };
                Http3Sink sink = { text_append, text };
                gsize held = 0, rest = request->len - hole - 1;
                Http3 *h = http3_new(0, &held, 1 << 20);
                Http3Half half = { 0 };
                QuicRun runs[] = { { request->data, hole, { 0, 0 } },
                                   { NULL, 1, { 0, 0 } },
                                   { request->data + hole + 1, rest, { 0, 0 } } };
                for (guint i = 0; i < G_N_ELEMENTS(runs); i++)
                        if (runs[i].n > 0)
                                http3_add(h, 0, 4, &half, &runs[i], &sink);
                http3_end(h, 0, 4, &half, (Stamp){ 0, 0 }, &sink);
                g_assert_true(
                        strstr(text[0]->str, hole >= 10 ? "02034745540605" : "0104800000030200"));
                g_assert_true(g_str_has_suffix(text[0]->str, "000000000100000003"));
                http3_half_clear(h, &half);
                http3_free(h);
                g_assert_cmpint(held, ==, 0);
                g_string_free(text[0], TRUE);
                g_string_free(text[1], TRUE);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/quic/initial-secrets", test_initial_secrets);
        g_test_add_func("/quic/packet", test_packet);
        g_test_add_func("/quic/bytes", test_bytes);
        g_test_add_func("/http3/frames", test_frames);
        g_test_add_func("/http3/holes", test_holes);
        return g_test_run();
}
