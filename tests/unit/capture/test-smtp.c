/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/capture/parse-pieces.h"

#define SMTP protocol_smtp

/* Both directions, which know of each other. */
typedef struct {
        guint64 state[2][PROTOCOL_STATE_SIZE / 8];
        GByteArray *pending[2]; /* shown and not settled */
        guint64 skip[2];
        MessageKind kind[2];
        gboolean ends_after_skip[2], lost[2], broken[2];
        gpointer memory;
        GString *out;
} Talk;

static guint64 content; /* of the last message that had any */

/* Parses the text of a side, behind the bytes that are still pending. */
static void hear(Talk *t, guint side, const char *text, gsize n)
{
        GByteArray *pending = t->pending[side];
        gsize skipped = (gsize)MIN(t->skip[side], n);
        if (t->broken[side])
                return;
        t->skip[side] -= skipped;
        if (skipped && t->skip[side] == 0 && t->ends_after_skip[side]) {
                g_string_append_c(t->out, "?CRmi..b"[t->kind[side]]);
                t->kind[side] = KIND_UNKNOWN;
        }
        g_byte_array_append(pending, (const guint8 *)text + skipped, (guint)(n - skipped));
        while (pending->len > 0) {
                g_autofree guint8 *copy = g_memdup2(pending->data, pending->len);
                Parsed parsed = { .other = t->state[!side], .memory = &t->memory };
                if (t->lost[side]) {
                        gsize at = SMTP.find_boundary(copy, pending->len);
                        gboolean found = at < pending->len;
                        g_byte_array_remove_range(pending, 0, (guint)at);
                        if (!found)
                                return;
                        t->lost[side] = FALSE;
                        t->kind[side] = KIND_UNKNOWN;
                        continue;
                }
                ParseStatus status = SMTP.parse(t->state[side], CALL_NONE, copy, pending->len,
                                                FALSE, NULL, &parsed);
                if (parsed.carried.content)
                        content = parsed.carried.content;
                if (status == PARSE_NOT_MINE) {
                        g_string_append_c(t->out, '!');
                        t->broken[side] = TRUE;
                        return;
                }
                if (parsed.kind != KIND_UNKNOWN) {
                        g_assert(t->kind[side] == KIND_UNKNOWN || t->kind[side] == parsed.kind);
                        t->kind[side] = parsed.kind;
                }
                gsize used = (gsize)MIN(parsed.length, pending->len);
                g_byte_array_remove_range(pending, 0, (guint)used);
                t->skip[side] = parsed.length - used;
                t->ends_after_skip[side] = status == PARSE_MESSAGE;
                if (status == PARSE_MORE || t->skip[side])
                        return;
                g_string_append_c(t->out, "?CRmi..b"[t->kind[side]]);
                if (parsed.switches)
                        g_string_append_c(t->out, 's');
                t->kind[side] = KIND_UNKNOWN;
        }
}

static void lose(Talk *t, guint side)
{
        memset(t->state[side], 0, sizeof t->state[side]);
        g_byte_array_set_size(t->pending[side], 0);
        t->skip[side] = 0;
        t->lost[side] = TRUE;
}

/* What comes of lines that begin with the letter of who says them, "C" or "S", shown in
 * pieces of step bytes: a letter a message, as in parse-pieces.h. "[" is a hole. */
static char *talk(const char *const *lines, gsize step)
{
        Talk t = { .out = g_string_new(NULL) };
        t.pending[0] = g_byte_array_new();
        t.pending[1] = g_byte_array_new();
        for (; *lines; lines++) {
                guint side = **lines == 'S';
                const char *text = *lines + 1;
                if (*text == '[') {
                        lose(&t, side);
                        continue;
                }
                for (gsize n = strlen(text), at = 0; at < n; at += MIN(step, n - at))
                        hear(&t, side, text + at, MIN(step, n - at));
        }
        g_byte_array_unref(t.pending[0]);
        g_byte_array_unref(t.pending[1]);
        SMTP.forget(t.memory);
        return g_string_free(t.out, FALSE);
}

static void check_talk(const char *const *lines, const char *expected)
{
        for (gsize step = 1; step < 100; step++) {
                g_autofree char *got = talk(lines, step);
                g_assert_cmpstr(got, ==, expected);
        }
}

#define TALK(expected, ...) check_talk((const char *const[]){ __VA_ARGS__, NULL }, expected)

#define GREETING "S220 b.example ESMTP\r\n"
#define HELLO    "CEHLO a.example\r\n", "S250-b.example\r\n250-PIPELINING\r\n250 CHUNKING\r\n"
#define OPENED   GREETING, HELLO
#define MAIL     "CMAIL FROM:<a@a.example>\r\n", "S250 ok\r\n"
#define RCPT     "CRCPT TO:<b@b.example>\r\n", "S250 ok\r\n"
#define DATA     "CDATA\r\n", "S354 go on\r\n"
#define TEXT     "CSubject: x\r\n\r\n..y\r\nQUIT\r\n250 ok\r\n.\r\n"
#define GROUP    "MAIL FROM:<a@a.example>\r\nRCPT TO:<b@b.example>\r\nDATA\r\n"

/* What the text of a mail is known by, however it is cut. */
static guint64 content_of(const char *text)
{
        g_autofree char *line = g_strconcat("C", text, NULL);
        const char *const lines[] = { OPENED, MAIL, RCPT, DATA, line, "S250 queued\r\n", NULL };
        guint64 first = 0;

        for (gsize step = 1; step < 60; step++) {
                content = 0;
                g_free(talk(lines, step));
                g_assert_true(step == 1 || content == first);
                first = content;
        }
        return first;
}

static void test_message_id(void)
{
        guint64 id = content_of("Message-ID: <1@a>\r\nSubject: x\r\n\r\ny\r\n.\r\n");

        g_assert_cmpuint(id, !=, 0);
        g_assert_cmpuint(id, ==,
                         content_of("Received: from b\r\n\tby c <2@a>\r\nmessage-id:\r\n <1@a>\r\n"
                                    "\r\nother\r\n.\r\n"));
        g_assert_cmpuint(id, !=, content_of("Message-ID: <2@a>\r\n\r\ny\r\n.\r\n"));
        g_assert_cmpuint(0, ==, content_of("Subject: x\r\n\r\nMessage-ID: <1@a>\r\n.\r\n"));
        g_assert_cmpuint(0, ==, content_of("X-Message-ID: <1@a>\r\nIn-Reply-To: <1@a>\r\n.\r\n"));
        g_assert_cmpuint(0, ==, content_of("Message-ID: 1@a\r\n\r\n<1@a>\r\n.\r\n"));
        g_assert_cmpuint(0, ==, content_of("Message-ID: <1@a\r\n>\r\n.\r\n"));
        g_assert_cmpuint(0, ==, content_of(".\r\n"));
}

static void test_mails(void)
{
        TALK("bbbbbbCRbb", OPENED, MAIL, RCPT, DATA, TEXT, "S250 queued\r\n", "CQUIT\r\n",
             "S221 bye\r\n");
        TALK("bbbbbbCRbbbCR", OPENED, MAIL, RCPT, DATA, TEXT, "S250-queued\r\n250 as 1\r\n", MAIL,
             RCPT, DATA, "C.\r\n", "S451 not now\r\n");
        TALK("bbbbCR", GREETING, MAIL, RCPT, DATA, "Cab\n.\ncd\r\n.\r\n", "S250 queued\r\n");
        TALK("bbbbbbCRbb", "S220 b ESMTP\n", "CEHLO a\n", "S250 b\n", "CMAIL FROM:<a@a>\n",
             "S250 ok\n", "CRCPT TO:<b@b>\n", "S250 ok\n", "CDATA\n", "S354 go on\n",
             "CSubject: x\n\n..y\n.z\n\nQUIT\n.\n", "S250 queued\n", "CQUIT\n", "S221 bye\n");
}

static void test_pipelined(void)
{
        TALK("bbbbbbCRbbbCbRb", OPENED, "C" GROUP, "S250 ok\r\n250 ok\r\n", "S354 go on\r\n",
             "Cx\r\n.\r\n" GROUP, "S250 queued\r\n250 ok\r\n250 ok\r\n354 go on\r\n",
             "Cy\r\n.\r\nQUIT\r\n", "S250 queued\r\n221 bye\r\n");
        TALK("bbbbbbbbbbCR", OPENED, "CRSET\r\nNOOP\r\n" GROUP,
             "S250 reset\r\n250 ok\r\n250 ok\r\n550 no such\r\n354 go on\r\n", "C.\r\n",
             "S250 queued\r\n");
}

static void test_given_up(void)
{
        /* the sender is refused, by itself and in a group */
        TALK("bbbRCbb", OPENED, "CMAIL FROM:<x>\r\n", "S550 no\r\n", "CRSET\r\n", "S250 ok\r\n");
        TALK("bbbRbbCbb", OPENED, "C" GROUP, "S550 no\r\n503 no sender\r\n503 no sender\r\n",
             "CQUIT\r\n", "S221 bye\r\n");
        /* nobody is there who takes it */
        TALK("bbbbbRCbb", OPENED, MAIL, "CRCPT TO:<c>\r\nDATA\r\n", "S550 no\r\n554 nobody\r\n",
             "CQUIT\r\n", "S221 bye\r\n");
        TALK("bbbbbCRbb", OPENED, MAIL, "CRCPT TO:<c>\r\n", "S550 no\r\n", "CRSET\r\n",
             "S250 ok\r\n", "CNOOP\r\n", "S250 ok\r\n");
        TALK("bbbbCR", OPENED, MAIL, "CQUIT\r\n", "S221 bye\r\n");
        TALK("bbbbR", OPENED, MAIL, "S421 too slow\r\n");
        /* refused while its text still comes */
        TALK("bbbbbbRCbbb", OPENED, MAIL, RCPT, DATA, "Cone line\r\n", "S552 too much\r\n",
             "Cand another\r\n.\r\n", "CNOOP\r\n", "S250 ok\r\n");
}

static void test_chunks(void)
{
        TALK("bbbbbbCRbb", OPENED, MAIL, RCPT, "CBDAT 10\r\n0\r\n.\r\nQUIT", "S250 ok\r\n",
             "CBDAT 3 LAST\r\n\r\n.", "S250 queued\r\n", "CNOOP\r\n", "S250 ok\r\n");
        TALK("bbbCCbbbRbbR", OPENED,
             "CMAIL FROM:<a>\r\nRCPT TO:<b>\r\nBDAT 2\r\n..BDAT 0 LAST\r\n"
             "MAIL FROM:<c>\r\nRCPT TO:<d>\r\nBDAT 1 LAST\r\n.",
             "S250 ok\r\n250 ok\r\n250 2 bytes\r\n250 queued\r\n250 ok\r\n250 ok\r\n"
             "250 queued\r\n");
        TALK("bbbCbRbbbb", OPENED,
             "CMAIL FROM:<x>\r\nRCPT TO:<b>\r\nBDAT 2\r\n..BDAT 0 LAST\r\nRSET\r\n",
             "S550 no\r\n503 no\r\n503 no\r\n503 no\r\n250 ok\r\n");
        TALK("bbbbb!", OPENED, MAIL, RCPT, "CBDAT 99999999999999999999 LAST\r\n");
        TALK("bbbbb!", OPENED, MAIL, RCPT, "CBDAT x\r\n");
}

static void test_sessions(void)
{
        TALK("bbbbbbbbb", OPENED, "CAUTH LOGIN\r\n", "S334 VXNlcg==\r\n", "CYWJj\r\n",
             "S334 UGFz\r\n", "CZGVm+/==\r\n", "S235 ok\r\n");
        TALK("bbbbbs", OPENED, "CSTARTTLS\r\n", "S220 go on\r\n");
        TALK("bbbbb", OPENED, "CSTARTTLS\r\n", "S454 not now\r\n");
        TALK("bbb!b", OPENED, "CNOOP\1\r\n", "S250 ok\r\n");
        TALK("bbb!", OPENED, "S999 what\r\n");
}

#define LHLO                                                                                       \
        "S220 b.example ready\r\n", "CLHLO a.example\r\n", "S250-b.example\r\n250 PIPELINING\r\n"
#define RCPT_2 "CRCPT TO:<c@b.example>\r\n", "S250 2.1.5 ok\r\n"

/* LMTP: one reply for each recipient that was accepted, and the last is the end. */
static void test_recipients(void)
{
        TALK("bbbbbbCRbb", LHLO, MAIL, RCPT, DATA, TEXT, "S250 2.0.0 <b> saved\r\n", "CQUIT\r\n",
             "S221 bye\r\n");
        TALK("bbbbbbbCRbbbbCR", LHLO, MAIL, RCPT, RCPT_2, DATA, TEXT,
             "S250 <b> saved\r\n452 4.2.2 <c> full\r\n", MAIL, RCPT, RCPT_2, DATA, TEXT,
             "S250-<b>\r\n250 saved\r\n", "S250-<c>\r\n250 saved\r\n");
        /* one of three is refused; nobody is left */
        TALK("bbbbbbbbCRbb", LHLO, MAIL, RCPT, RCPT_2, "CRCPT TO:<d>\r\n", "S550 5.1.1 no\r\n",
             DATA, TEXT, "S250 ok\r\n250 ok\r\n", "CNOOP\r\n", "S250 ok\r\n");
        TALK("bbbbbRCbb", LHLO, MAIL, "CRCPT TO:<d>\r\nDATA\r\n", "S550 no\r\n503 nobody\r\n",
             "CQUIT\r\n", "S221 bye\r\n");
        /* what is asked in between is no recipient */
        TALK("bbbbbbbbCRbb", LHLO, MAIL, RCPT, "CNOOP\r\n", "S250 ok\r\n", "CVRFY x\r\n",
             "S252 perhaps\r\n", DATA, TEXT, "S250 ok\r\n", "CNOOP\r\n", "S250 ok\r\n");
        /* the server closes before the last */
        TALK("bbbbbbbCR", LHLO, MAIL, RCPT, RCPT_2, DATA, TEXT, "S250 ok\r\n421 must go\r\n");
        TALK("bbbbbbbCR", LHLO, MAIL, RCPT, RCPT_2, DATA, TEXT, "S421 must go\r\n");
        TALK("bbbbCR", LHLO, MAIL, "CLHLO again\r\n", "S250 ok\r\n");
}

static void test_recipients_pipelined(void)
{
        TALK("bbbbbbbCbRbbbbCbRb", LHLO, "CMAIL FROM:<a>\r\nRCPT TO:<b>\r\nRCPT TO:<c>\r\nDATA\r\n",
             "S250 ok\r\n250 ok\r\n250 ok\r\n354 go on\r\n", "Cx\r\n.\r\nRSET\r\n" GROUP,
             "S250 <b>\r\n250 <c>\r\n250 reset\r\n250 ok\r\n250 ok\r\n354 go on\r\n",
             "Cy\r\n.\r\nQUIT\r\n", "S250 <b>\r\n221 bye\r\n");
        TALK("bbbCCbbbbRbbbR", LHLO,
             "CMAIL FROM:<a>\r\nRCPT TO:<b>\r\nRCPT TO:<c>\r\nBDAT 2\r\n..BDAT 0 LAST\r\n"
             "MAIL FROM:<c>\r\nRCPT TO:<d>\r\nRCPT TO:<e>\r\nBDAT 1 LAST\r\n.",
             "S250 ok\r\n250 ok\r\n250 ok\r\n250 2 bytes\r\n250 <b>\r\n250 <c>\r\n"
             "250 ok\r\n250 ok\r\n250 ok\r\n250 <d>\r\n250 <e>\r\n");
}

static void test_recipients_lost(void)
{
        /* LHLO was not seen: by the second mail it is known */
        TALK("bbbbCRbbbbbCR", MAIL, RCPT, RCPT_2, DATA, TEXT, "S250 <b>\r\n250 <c>\r\n", MAIL, RCPT,
             RCPT_2, DATA, TEXT, "S250 <b>\r\n250 <c>\r\n");
        /* a hole in what the client says, and in what the server does */
        TALK("bbbbbbbRbbbbCR", LHLO, MAIL, RCPT, RCPT_2, DATA, "Cab\r\n", "C[", "Cyz\r\n.\r\n",
             "S250 <b>\r\n250 <c>\r\n", MAIL, RCPT, RCPT_2, DATA, TEXT, "S250 <b>\r\n250 <c>\r\n");
        TALK("bbbbbbbCRbbbbCR", LHLO, MAIL, RCPT, RCPT_2, DATA, TEXT, "S[", "S250 <c>\r\n", MAIL,
             RCPT, RCPT_2, DATA, TEXT, "S250 <b>\r\n250 <c>\r\n");
}

/* Begun in the middle, and with holes. */
static void test_lost(void)
{
        TALK("bbbCR", MAIL, RCPT, DATA, TEXT, "S250 queued\r\n");
        /* within a text: what goes on from before the hole is not this parser's */
        TALK("bbbbbbRbbbCR", OPENED, MAIL, RCPT, DATA, "Cab\r\n", "C[", "Cyz\r\n.\r\n",
             "S250 queued\r\n", MAIL, RCPT, DATA, TEXT, "S250 queued\r\n");
        /* where the server said that text may come */
        TALK("bbbbbCRbbbCR", OPENED, MAIL, RCPT, "CDATA\r\n", "S[", TEXT, "S250 queued\r\n", MAIL,
             RCPT, DATA, TEXT, "S250 queued\r\n");
        TALK("bbbbbCRbCR", OPENED, MAIL, RCPT, "CDATA\r\n", "S[", "CRSET\r\n", "S250 ok\r\n", MAIL,
             "CBDAT 1 LAST\r\n.", "S250 queued\r\n");
}

static void test_eof(void)
{
        guint64 state[PROTOCOL_STATE_SIZE / 8] = { 0 };
        static const char text[] = "MAIL FROM:<a@a.example>\r\nRCPT";
        Parsed parsed = { 0 };
        g_assert_cmpint(SMTP.parse(state, CALL_NONE, (const guint8 *)text, sizeof text - 1, FALSE,
                                   NULL, &parsed),
                        ==, PARSE_MORE);
        g_assert_cmpint(parsed.kind, ==, KIND_CALL);
        parsed = (Parsed){ 0 };
        g_assert_cmpint(
                SMTP.parse(state, CALL_NONE, (const guint8 *)"RCPT", 4, TRUE, NULL, &parsed), ==,
                PARSE_MESSAGE);
        g_assert_cmpint(parsed.kind, ==, KIND_CALL);
        memset(state, 0, sizeof state);
        g_assert_cmpint(SMTP.parse(state, CALL_NONE, (const guint8 *)"", 0, TRUE, NULL, &parsed),
                        ==, PARSE_NOT_MINE);
}

static void test_bounds(void)
{
        g_autoptr(GString) line = g_string_new("NOOP ");
        while (line->len < 20000)
                g_string_append_c(line, 'x');
        g_string_append(line, "\r\n");
        g_autofree char *command = parse_pieces(&SMTP, line->str, line->len, 0, 1000, NULL);
        g_assert_cmpstr(command, ==, "!");
        memcpy(line->str, "250 ", 4);
        g_autofree char *reply = parse_pieces(&SMTP, line->str, line->len, 0, 1000, NULL);
        g_assert_cmpstr(reply, ==, "!");
        g_string_assign(line, "EHLO a\r\n");
        for (guint i = 0; i < 1000; i++) /* more than a state can hold: no word of the server's */
                g_string_append(line, "MAIL FROM:<a>\r\nBDAT 1 LAST\r\n.");
        g_autofree char *mails = parse_pieces(&SMTP, line->str, line->len, 0, 1000, NULL);
        g_assert_true(g_str_has_prefix(mails, "b8 C37 C66 "));
        g_assert_true(g_str_has_suffix(mails, " C29008"));
}

static void test_recognised(void)
{
        g_assert_true(RECOGNISED(SMTP, "220 mail.example ESMTP Postfix\r\n"));
        g_assert_true(RECOGNISED(SMTP, "220-smtp.example\r\n220 ready\r\n"));
        g_assert_true(RECOGNISED(SMTP, "ehlo a.example\r\n"));
        g_assert_true(RECOGNISED(SMTP, "HELO a\r\nMAIL FROM:<b>\r\n"));
        g_assert_true(RECOGNISED(SMTP, "MAIL FROM:<> SIZE=100\r\n"));
        g_assert_true(RECOGNISED(SMTP, "354 End data\r\n"));
        g_assert_true(RECOGNISED(SMTP, "250 2.1.0 Ok\r\n"));
        g_assert_true(RECOGNISED(SMTP, "250-a.example\r\n250-SIZE 10\r\n250 HELP\r\n"));
        g_assert_true(RECOGNISED(SMTP, "550 5.1.10 no\r\n"));
        g_assert_false(RECOGNISED(SMTP, "220 ftp.example FTP server, not SMTP\r\n"));
        g_assert_false(RECOGNISED(SMTP, "220 ready\r\n"));
        g_assert_false(RECOGNISED(SMTP, "220 mail.example ESMTP"));
        g_assert_false(RECOGNISED(SMTP, "250 ok\r\n"));
        g_assert_false(RECOGNISED(SMTP, "250-a\r\n251 SIZE\r\n"));
        g_assert_false(RECOGNISED(SMTP, "250 4.1.0 ok\r\n"));
        g_assert_true(RECOGNISED(SMTP, "EHLO a.example\n"));
        g_assert_false(RECOGNISED(SMTP, "EHLO\r\n"));
        g_assert_false(RECOGNISED(SMTP, "EHLO a\1\r\n"));
        g_assert_true(RECOGNISED(SMTP, "LHLO a\r\n"));
        g_assert_true(RECOGNISED(SMTP, "220 a LMTP ready\r\n"));
        g_assert_false(RECOGNISED(SMTP, "LHLO\r\n"));
        g_assert_false(RECOGNISED(SMTP, "MAIL FROM:a\r\n"));
        g_assert_false(RECOGNISED(SMTP, "QUIT\r\n"));
        g_assert_false(RECOGNISED(SMTP, "DATA\r\n"));
        g_assert_false(RECOGNISED(SMTP, "HTTP/1.1 200 OK\r\n"));
        g_assert_false(RECOGNISED(SMTP, "200 2.0.0\1\r\n"));
        CHECK(SMTP, "USER a\r\n", CALL_NONE, "!");
        CHECK(SMTP, "EHLO", CALL_NONE, "+");
}

static void test_find_boundary(void)
{
        g_assert_cmpuint(BOUNDARY(SMTP, "MAIL FROM:<a>\r\n"), ==, 0);
        g_assert_cmpuint(BOUNDARY(SMTP, "the rest\r\n.\r\nNOOP\r\n"), ==, 13);
        g_assert_cmpuint(BOUNDARY(SMTP, "200 things\r\nquit it\r\nQUIT\r\n"), ==, 21);
        g_assert_cmpuint(BOUNDARY(SMTP, "ok\r\n250 ok\r\n354 go"), ==, 4);
        g_assert_cmpuint(BOUNDARY(SMTP, "ok\r\n25"), ==, 4);
        g_assert_cmpuint(BOUNDARY(SMTP, "ok\r\n250 ok\r\nno\r\n"), ==, 16);
        g_assert_cmpuint(BOUNDARY(SMTP, "nothing"), ==, 7);
        g_assert_cmpuint(BOUNDARY(SMTP, ""), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/smtp/mails", test_mails);
        g_test_add_func("/smtp/message-id", test_message_id);
        g_test_add_func("/smtp/pipelined", test_pipelined);
        g_test_add_func("/smtp/given-up", test_given_up);
        g_test_add_func("/smtp/chunks", test_chunks);
        g_test_add_func("/smtp/sessions", test_sessions);
        g_test_add_func("/smtp/recipients", test_recipients);
        g_test_add_func("/smtp/recipients-pipelined", test_recipients_pipelined);
        g_test_add_func("/smtp/recipients-lost", test_recipients_lost);
        g_test_add_func("/smtp/lost", test_lost);
        g_test_add_func("/smtp/eof", test_eof);
        g_test_add_func("/smtp/bounds", test_bounds);
        g_test_add_func("/smtp/recognised", test_recognised);
        g_test_add_func("/smtp/find-boundary", test_find_boundary);
        return g_test_run();
}
