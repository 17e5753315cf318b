/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The trace reader against a parser of the format that is slow and plain, and by
 * hand where that would not do.
 */
#include "tracefmt/trace-reader.h"

#include <fcntl.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "tests/unit/message-attribute.h"
#include "tests/unit/scratch.h"

/* A line in the form that the fast path is made for. */
#define USUAL      "1047680084.482205000\tCALL_SENT\tnodeA\tnodeB\tid37"
#define USUAL_READ "1047680084482205000 CALL_SENT nodeA nodeB id37 \n"

/* --- reading a whole trace ------------------------------------------------- */

/* What a reader gave, as text that tells every field apart. */
typedef struct {
        GString *messages;
        guint n;
        GError *error;
        guint64 broken[N_BROKEN], n_broken, late;
        gboolean sorted;
} Result;

static void result_clear(Result *r)
{
        g_string_free(r->messages, TRUE);
        g_clear_error(&r->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Result, result_clear)

static void put_message(GString *out, const NodeTable *nodes, const Message *m)
{
        Message plain;

        g_string_append_printf(out, "%" G_GINT64_FORMAT " %s %s %s ", m->time,
                               message_op_name(m->op), node_table_name(nodes, m->sender),
                               node_table_name(nodes, m->receiver));
        g_string_append_len(out, m->id, m->id_length);
        g_string_append_c(out, ' ');
        g_string_append_len(out, m->attrs, m->attrs_length);
        g_string_append_c(out, '\n');
        message_set_id(&plain, m->id, m->id_length);
        g_assert_cmpmem(m->id_words, sizeof m->id_words, plain.id_words, sizeof plain.id_words);
}

static Result read_path(const char *path, const TraceReaderOptions *options)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        Result r = { .messages = g_string_new(NULL) };
        g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, options, &r.error);
        Message m;
        int status;

        if (!reader) {
                g_assert_nonnull(r.error);
                return r;
        }
        while ((status = trace_reader_next(reader, &m, &r.error)) != 0) {
                if (status > 0) {
                        g_assert_no_error(r.error);
                        put_message(r.messages, nodes, &m);
                        r.n++;
                        continue;
                }
                g_assert_nonnull(r.error);
                if (r.sorted || !g_error_matches(r.error, RAVEL_ERROR, RAVEL_ERROR_DISORDER))
                        break;
                g_clear_error(&r.error);
                g_string_truncate(r.messages, 0);
                r.n = 0;
                r.sorted = TRUE;
                if (!trace_reader_sort(reader, &r.error))
                        break;
        }
        if (status == 0) { /* and it stays at its end */
                g_assert_cmpint(trace_reader_next(reader, &m, &r.error), ==, 0);
                g_assert_no_error(r.error);
        }
        for (guint i = 0; i < N_BROKEN; i++)
                r.n_broken += r.broken[i] = trace_reader_broken(reader)[i];
        r.late = trace_reader_late(reader);
        return r;
}

static const TraceReaderOptions defaults = TRACE_READER_DEFAULTS;
static const TraceReaderOptions keep_going = { .from = G_MININT64,
                                               .to = G_MAXINT64,
                                               .keep_going = TRUE };

static Result read_bytes(const char *data, gssize n, const TraceReaderOptions *options)
{
        g_autofree char *path = scratch_write("trace", data, n);

        return read_path(path, options);
}

static Result read_text(const char *text)
{
        return read_bytes(text, -1, &defaults);
}

static void assert_reads(const char *text, const char *expected)
{
        g_auto(Result) r = read_text(text);

        g_assert_no_error(r.error);
        g_assert_cmpstr(r.messages->str, ==, expected);
}

/* --- what is accepted ------------------------------------------------------ */

static void test_stamps(void)
{
        static const struct {
                const char *text;
                gint64 time;
        } stamps[] = {
                { "0", 0 },
                { "7", 7000000000 },
                { "7.", 7000000000 },
                { "7.5", 7500000000 },
                { "7.000000001", 7000000001 },
                { "00000007", 7000000000 },
                { "000000000000007.25", 7250000000 },
                { "12345678", 12345678000000000 },
                { "123456789.123456789", 123456789123456789 },
                { "1047680084.482205000", 1047680084482205000 },
                { "1047680084.482205", 1047680084482205000 },
                { "1047680084", 1047680084000000000 },
                { "4611486017.999999999", 4611486017999999999 },
                { "-0.5", -500000000 },
                { "-1", -1000000000 },
                { "-1047680084.482205001", -1047680084482205001 },
        };

        for (guint i = 0; i < G_N_ELEMENTS(stamps); i++) {
                g_autofree char *text = g_strdup_printf("%s CALL_SENT a b -\n", stamps[i].text);
                g_autofree char *expected =
                        g_strdup_printf("%" G_GINT64_FORMAT " CALL_SENT a b  \n", stamps[i].time);

                assert_reads(text, expected);
        }
        /* Any number of decimals, of any number of seconds, at both speeds. */
        for (int digits = 1; digits <= 10; digits++)
                for (int decimals = 0; decimals <= 9; decimals++) {
                        gint64 seconds = 1047680084, fraction = 482205917;
                        g_autofree char *text = NULL, *expected = NULL;

                        for (int i = 10; i > digits; i--)
                                seconds /= 10;
                        for (int i = 9; i > decimals; i--)
                                fraction /= 10;
                        text = g_strdup_printf(decimals ? "%" G_GINT64_FORMAT ".%0*" G_GINT64_FORMAT
                                                        : "%" G_GINT64_FORMAT,
                                               seconds, decimals, fraction);
                        for (int i = 9; i > decimals; i--)
                                fraction *= 10;
                        if (decimals == 0)
                                fraction = 0;
                        expected = g_strdup_printf("%" G_GINT64_FORMAT " CALL_SENT a b i \n"
                                                   "%" G_GINT64_FORMAT " RET_SENT b a i \n",
                                                   seconds * 1000000000 + fraction,
                                                   seconds * 1000000000 + fraction);
                        g_autofree char *lines = g_strdup_printf(
                                "%s\tCALL_SENT\ta\tb\ti\n%s\tRET_SENT\tb\ta\ti\n", text, text);
                        assert_reads(lines, expected);
                }
}

static void test_layout(void)
{
        assert_reads("", "");
        assert_reads("\n\n", "");
        assert_reads(USUAL, USUAL_READ); /* no newline at the end */
        assert_reads(USUAL "\n", USUAL_READ);
        assert_reads(USUAL "\r\n" USUAL "\r\n", USUAL_READ USUAL_READ);
        assert_reads(USUAL "\r", USUAL_READ);
        assert_reads("\r\n \t\r\n" USUAL "\n\t\n", USUAL_READ);
        assert_reads("  " USUAL "  \t\n", USUAL_READ);
        assert_reads("# ravel trace 1\n" USUAL "\n# end: yes\n", USUAL_READ);
        assert_reads("# ravel trace 1\r\n" USUAL "\n", USUAL_READ);
        assert_reads("#\n#\r\n##\n# ravel trace\n" USUAL, USUAL_READ);
        /* A version is the first line's to say. */
        assert_reads(USUAL "\n# ravel trace 2\n", USUAL_READ);
        /* A byte order is nobody's: fields, not columns. */
        assert_reads("1047680084.482205000 CALL_SENT  nodeA\t nodeB \t id37\n", USUAL_READ);
}

/* Each gap of a line wider than usual, in turn, once the names are known. */
static void test_wide_gaps(void)
{
        static const char *const fields[] = { "1047680084.482205000", "CALL_SENT", "nodeA", "nodeB",
                                              "id37" };
        static const char *const gaps[] = { "  ", "\t\t", " \t", "\t ", "            " };

        for (guint gap = 1; gap < G_N_ELEMENTS(fields); gap++)
                for (guint g = 0; g < G_N_ELEMENTS(gaps); g++) {
                        g_autoptr(GString) text = g_string_new(USUAL "\n");

                        for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
                                if (i)
                                        g_string_append(text, i == gap ? gaps[g] : "\t");
                                g_string_append(text, fields[i]);
                        }
                        g_string_append(text, " k=v\n");
                        assert_reads(text->str, USUAL_READ
                                     "1047680084482205000 CALL_SENT nodeA nodeB id37 k=v\n");
                }
}

static void test_operations(void)
{
        static const char *const ops[] = { "CALL_SENT", "CALL_RECV", "RET_SENT",
                                           "RET_RECV",  "MSG_SENT",  "MSG_RECV" };

        for (guint op = 0; op < N_MESSAGE_OPS; op++) {
                g_autofree char *text = g_strdup_printf("%s\n1047680084.482205000\t%s\tnodeA\tnodeB"
                                                        "\tid37\n",
                                                        USUAL, ops[op]);
                g_autofree char *expected = g_strdup_printf(
                        USUAL_READ "1047680084482205000 %s nodeA nodeB id37 \n", ops[op]);

                assert_reads(text, expected);
                g_assert_cmpstr(message_op_name(op), ==, ops[op]);
        }
}

/* Ids and names of all lengths, those of one length alike up to the last byte. */
static void test_lengths(void)
{
        static const int lengths[] = { 1,  2,  3,  7,  8,  9,  15,  16,  17,  23,   24,   25,
                                       31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 9999, 10000 };
        g_autoptr(GString) text = g_string_new(NULL), expected = g_string_new(NULL);

        for (guint i = 0; i < 3 * G_N_ELEMENTS(lengths);
             i++) { /* three times: the names are known */
                int n = lengths[i % G_N_ELEMENTS(lengths)];
                g_autofree char *stem = g_strnfill(n - 1, 'n');

                g_string_append_printf(text, "1047680084.482205000\tCALL_SENT\t%sA\t%sB\t%sC\n",
                                       stem, stem, stem);
                g_string_append_printf(expected, "1047680084482205000 CALL_SENT %sA %sB %sC \n",
                                       stem, stem, stem);
        }
        assert_reads(text->str, expected->str);
}

static void test_names(void)
{
        /* One node, however it is written; and a name that is just "-". */
        assert_reads("1 CALL_SENT a%20b %2D i\n1 CALL_SENT %61%20b %2d i\n1 CALL_SENT a%20b - i\n",
                     "1000000000 CALL_SENT a b - i \n"
                     "1000000000 CALL_SENT a b - i \n"
                     "1000000000 CALL_SENT a b - i \n");
        assert_reads("1 CALL_SENT gr\xc3\xbc\xc3\x9f"
                     "e %C3%bc i%20d\n",
                     "1000000000 CALL_SENT gr\xc3\xbc\xc3\x9f"
                     "e \xc3\xbc i%20d \n");
        /* What must be escaped when written is no harm when read. */
        assert_reads("1 CALL_SENT 10.0.0.1:80 (a,b)>~ #5\n",
                     "1000000000 CALL_SENT 10.0.0.1:80 (a,b)>~ #5 \n");
}

static void test_attributes(void)
{
        static const char line[] = USUAL " path=17.1.2\tlabel=GET%20/  bytes=10 x=\n";
        g_autofree char *path = scratch_write("trace", line, -1);
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, &defaults, NULL);
        Message m;
        gsize n = 0;
        const char *value;

        g_assert_cmpint(trace_reader_next(reader, &m, NULL), ==, 1);
        value = message_attribute(&m, "path", &n);
        g_assert_cmpmem(value, n, "17.1.2", 6);
        value = message_attribute(&m, "label", &n);
        g_assert_cmpmem(value, n, "GET%20/", 7);
        value = message_attribute(&m, "bytes", &n);
        g_assert_cmpmem(value, n, "10", 2);
        g_assert_nonnull(message_attribute(&m, "x", &n));
        g_assert_cmpuint(n, ==, 0);
        g_assert_null(message_attribute(&m, "pat", &n));
        g_assert_null(message_attribute(&m, "paths", &n));
        g_assert_null(message_attribute(&m, "", &n));
        assert_reads(USUAL "\tk=v\r\n", "1047680084482205000 CALL_SENT nodeA nodeB id37 k=v\n");
        assert_reads(USUAL "\tk=v \t\n" USUAL " k=v",
                     "1047680084482205000 CALL_SENT nodeA nodeB id37 k=v\n"
                     "1047680084482205000 CALL_SENT nodeA nodeB id37 k=v\n");
}

static void test_facts(void)
{
        static const char text[] =
                "# ravel trace 1\n# source: eth0\n#link: Ethernet \n"
                "# a comment\n" USUAL "\n# dropped: 3: of many\r\n#: none\n#x:\n";
        g_autofree char *path = scratch_write("trace", text, -1);
        g_autoptr(NodeTable) nodes = node_table_new();
        TraceReaderOptions options = { .from = G_MININT64, .to = G_MAXINT64, .want_digest = TRUE };
        g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, &options, NULL);
        g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
        char *const *facts;
        Message m;
        guint n;

        g_assert_cmpstr(trace_reader_name(reader), ==, path);
        g_assert_cmpint(trace_reader_next(reader, &m, NULL), ==, 1);
        trace_reader_facts(reader, &n);
        g_assert_cmpuint(n, ==, 2); /* those before the first message */
        g_assert_cmpint(trace_reader_next(reader, &m, NULL), ==, 0);
        facts = trace_reader_facts(reader, &n);
        g_assert_cmpuint(n, ==, 3);
        g_assert_cmpstr(facts[0], ==, "source: eth0");
        g_assert_cmpstr(facts[2], ==, "dropped: 3: of many");
        g_assert_cmpstr(trace_reader_digest(reader), ==, digest);
}

/* --- what is refused ------------------------------------------------------- */

static const struct {
        const char *line;
        BrokenLine reason;
        const char *found, *expected; /* expected: how that begins */
} refused[] = {
        { "x CALL_SENT a b i", BROKEN_TIME, "x", "seconds since the epoch" },
        { "1.0000000001 CALL_SENT a b i", BROKEN_TIME, "1.0000000001", "seconds" },
        { "1x CALL_SENT a b i", BROKEN_TIME, "1x", "seconds" },
        { "- CALL_SENT a b i", BROKEN_TIME, "-", "seconds" },
        { ".5 CALL_SENT a b i", BROKEN_TIME, ".5", "seconds" },
        { "+1 CALL_SENT a b i", BROKEN_TIME, "+1", "seconds" },
        { "1e9 CALL_SENT a b i", BROKEN_TIME, "1e9", "seconds" },
        { "4611486018 CALL_SENT a b i", BROKEN_TIME, "4611486018", "seconds" },
        { "4611486018.000000000\tCALL_SENT\ta\tb\ti", BROKEN_TIME, "4611486018.000000000", "sec" },
        { "9999999999.000000000\tCALL_SENT\ta\tb\ti", BROKEN_TIME, "9999999999.000000000", "sec" },
        { "-4611486018 CALL_SENT a b i", BROKEN_TIME, "-4611486018", "seconds" },
        { "99999999999999999999 CALL_SENT a b i", BROKEN_TIME, "99999999999999999999", "sec" },
        { "1047680084.48220500x\tCALL_SENT\ta\tb\ti", BROKEN_TIME, "1047680084.48220500x", "sec" },
        { "1047680084:482205000\tCALL_SENT\ta\tb\ti", BROKEN_TIME, "1047680084:482205000", "sec" },
        { "1\x01 CALL_SENT a b i", BROKEN_TIME, "1", "seconds" },
        { "1 CALL a b i", BROKEN_OPERATION, "CALL", "CALL_SENT, CALL_RECV" },
        { "1 CALL_SENTX a b i", BROKEN_OPERATION, "CALL_SENTX", "CALL_SENT" },
        { "1 CALL_SEND a b i", BROKEN_OPERATION, "CALL_SEND", "CALL_SENT" },
        { "1 RET_SEND a b i", BROKEN_OPERATION, "RET_SEND", "CALL_SENT" },
        { "1 call_sent a b i", BROKEN_OPERATION, "call_sent", "CALL_SENT" },
        { "1047680084.482205000\tCALL_SANT\ta\tb\ti", BROKEN_OPERATION, "CALL_SANT", "CALL_SENT" },
        { "1047680084.482205000\tMALL_SENT\ta\tb\ti", BROKEN_OPERATION, "MALL_SENT", "CALL_SENT" },
        { "1 CALL_SENT a% b i", BROKEN_NODE, "a%", "UTF-8 with %XX" },
        { "1 CALL_SENT a b%2 i", BROKEN_NODE, "b%2", "UTF-8 with %XX" },
        { "1 CALL_SENT a%2G b i", BROKEN_NODE, "a%2G", "UTF-8" },
        { "1 CALL_SENT a%00 b i", BROKEN_NODE, "a%00", "UTF-8" },
        { "1 CALL_SENT \xff b i", BROKEN_NODE, "\\xff", "UTF-8" },
        { "1 CALL_SENT a %ff i", BROKEN_NODE, "%ff", "UTF-8" },
        { "1", BROKEN_FIELDS, "1", "timestamp, operation, sender, receiver and id" },
        { "1\r", BROKEN_FIELDS, "1\\x0d", "timestamp, operation" },
        { "1 ", BROKEN_FIELDS, "1 ", "timestamp, operation" },
        { "1 CALL_SENT", BROKEN_FIELDS, "1 CALL_SENT", "timestamp" },
        { "1 CALL_SENT a", BROKEN_FIELDS, "1 CALL_SENT a", "timestamp" },
        { "1 CALL_SENT a b", BROKEN_FIELDS, "1 CALL_SENT a b", "timestamp" },
        { "1 CALL_SENT a b ", BROKEN_FIELDS, "1 CALL_SENT a b ", "timestamp" },
        { "1047680084.482205000\tCALL_SENT\tnodeA\tnodeB", BROKEN_FIELDS,
          "1047680084.482205000\\x09CALL_SENT\\x09nodeA\\x09nodeB", "timestamp" },
        { "1047680084.482205000\tCALL_SENT\tnodeA\tnodeB\t", BROKEN_FIELDS,
          "1047680084.482205000\\x09CALL_SENT\\x09nodeA\\x09nodeB\\x09", "timestamp" },
        { "1 CALL_SENT a\x01 b i", BROKEN_BYTE, "\\x01", "printable text" },
        { "1 CALL_SENT a b\x1b[0m i", BROKEN_BYTE, "\\x1b[0m", "printable text" },
        { "1 CALL_SENT a b i\x02", BROKEN_BYTE, "\\x02", "printable text" },
        { "1 CALL_SENT a b i\rx", BROKEN_BYTE, "\\x0dx", "printable text" },
        { "1 CALL_SENT a b\ri x", BROKEN_BYTE, "\\x0di", "printable text" },
        { "1047680084.482205000\tCALL_SENT\tnodeA\tnodeB\ti\x02", BROKEN_BYTE, "\\x02", "print" },
};

static void test_refused(void)
{
        for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_autofree char *text =
                        g_strconcat("# ravel trace 1\n" USUAL "\n", refused[i].line, "\n", NULL);
                g_auto(Result) r = read_text(text);
                g_autofree char *begin = g_strdup_printf(
                        "%s/trace:3: %s: found \"%s\", expected %s", scratch,
                        broken_line_name(refused[i].reason), refused[i].found, refused[i].expected);

                g_assert_error(r.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                if (!g_str_has_prefix(r.error->message, begin))
                        g_assert_cmpstr(r.error->message, ==, begin);
                g_assert_cmpstr(r.messages->str, ==, USUAL_READ);
        }
}

/* Zeros are no seconds, not even the reader's own before it has read any. */
static void test_zeros(void)
{
        static const char text[] = "1 CALL_SENT a b i\n"
                                   "\0\0\0\0\0\0\0\0\0\0\0"
                                   "482205000 CALL_SENT a b i\n";
        g_auto(Result) r = read_bytes(text, sizeof text - 1, &keep_going);

        g_assert_no_error(r.error);
        g_assert_cmpuint(r.n, ==, 1);
        g_assert_cmpuint(r.broken[BROKEN_TIME], ==, 1);
}

/* The same lines, all of them in one trace. */
static void test_keep_going(void)
{
        g_autoptr(GString) text = g_string_new(NULL), expected = g_string_new(NULL);
        guint64 counts[N_BROKEN] = { 0 };

        for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_string_append_printf(text, "%s\n" USUAL "\n", refused[i].line);
                g_string_append(expected, USUAL_READ);
                counts[refused[i].reason]++;
        }
        g_auto(Result) r = read_bytes(text->str, text->len, &keep_going);
        g_assert_no_error(r.error);
        g_assert_cmpstr(r.messages->str, ==, expected->str);
        for (guint i = 0; i < N_BROKEN; i++)
                g_assert_cmpuint(r.broken[i], ==, counts[i]);

        /* Sorting begins again, and so do the counts. */
        g_string_append(text, "5 CALL_SENT a b i\n");
        g_auto(Result) sorted = read_bytes(text->str, text->len, &keep_going);
        g_assert_true(sorted.sorted);
        g_assert_cmpuint(sorted.n_broken, ==, G_N_ELEMENTS(refused));
        g_assert_cmpuint(sorted.n, ==, G_N_ELEMENTS(refused) + 1);
}

/* A message is one line of text, however long or strange what it shows. */
static void test_message_text(void)
{
        g_autofree char *junk = g_strnfill(100000, '\x80');
        g_auto(Result) r = read_text(junk);

        g_assert_error(r.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_assert_cmpuint(strlen(r.error->message), <, 1000);
        g_assert_true(g_utf8_validate(r.error->message, -1, NULL));
}

static void test_versions(void)
{
        static const char *const others[] = { "# ravel trace 2\n", "# ravel trace 10\n",
                                              "# ravel trace \n", "# ravel trace 1.5",
                                              "# ravel trace \xff\1\n" };

        for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
                g_auto(Result) r = read_text(others[i]);

                g_assert_error(r.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                g_assert_nonnull(strstr(r.error->message, "trace:1: "));
                g_assert_nonnull(strstr(r.error->message, "expected version 1"));
                g_assert_true(g_utf8_validate(r.error->message, -1, NULL));
                g_assert_null(strchr(r.error->message, 1));
        }
}

static void test_unreadable(void)
{
        g_auto(Result) absent = read_path("/nonexistent/trace", &defaults);
        g_auto(Result) directory = read_path(scratch, &defaults);

        g_assert_error(absent.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_assert_cmpstr(absent.error->message, ==,
                        "/nonexistent/trace: cannot open: No such file or directory");
        g_assert_error(directory.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_assert_nonnull(strstr(directory.error->message, "is a directory"));
}

/* --- a second parser ------------------------------------------------------- */

static gboolean is_control(char c)
{
        return (guchar)c <= ' ';
}

static char *slow_field(const char **p)
{
        const char *begin;

        while (**p == ' ' || **p == '\t')
                (*p)++;
        begin = *p;
        while (**p && !is_control(**p))
                (*p)++;
        /* Nothing but blanks may end it, or the end of the line. */
        if (*p == begin || (**p && **p != ' ' && **p != '\t' && strcmp(*p, "\r")))
                return NULL;
        return g_strndup(begin, *p - begin);
}

static gboolean slow_time(const char *text, gint64 *time)
{
        g_autoptr(GRegex) regex = g_regex_new("^(-?)([0-9]{1,15})(\\.([0-9]{0,9}))?$",
                                              G_REGEX_DOLLAR_ENDONLY, 0, NULL);
        g_autoptr(GMatchInfo) match = NULL;
        g_autofree char *sign = NULL, *seconds = NULL, *decimals = NULL, *nine = NULL;

        if (!g_regex_match(regex, text, 0, &match))
                return FALSE;
        sign = g_match_info_fetch(match, 1);
        seconds = g_match_info_fetch(match, 2);
        decimals = g_match_info_fetch(match, 4);
        nine = g_strconcat(decimals ? decimals : "", "000000000", NULL);
        nine[9] = 0;
        if (g_ascii_strtoull(seconds, NULL, 10) > 4611486017)
                return FALSE;
        *time = g_ascii_strtoll(seconds, NULL, 10) * 1000000000 + g_ascii_strtoll(nine, NULL, 10);
        if (*sign)
                *time = -*time;
        return TRUE;
}

static char *slow_name(const char *text)
{
        g_autoptr(GString) name = g_string_new(NULL);

        for (; *text; text++) {
                if (*text != '%') {
                        g_string_append_c(name, *text);
                        continue;
                }
                if (!g_ascii_isxdigit(text[1]) || !g_ascii_isxdigit(text[2]))
                        return NULL;
                g_string_append_c(name, g_ascii_xdigit_value(text[1]) * 16 +
                                                g_ascii_xdigit_value(text[2]));
                text += 2;
        }
        if (strlen(name->str) != name->len || !g_utf8_validate(name->str, -1, NULL))
                return NULL;
        return g_strdup(name->str);
}

typedef enum { SLOW_NOTHING, SLOW_MESSAGE, SLOW_BROKEN } Slow;

/* A line without its newline and without NUL bytes. Appends to out as
 * put_message() does. */
static Slow slow_parse(const char *line, GString *out)
{
        static const char *const ops[] = { "CALL_SENT", "CALL_RECV", "RET_SENT", "RET_RECV",
                                           "MSG_SENT",  "MSG_RECV",  NULL };
        g_autofree char *stamp = NULL, *op = NULL, *from = NULL, *to = NULL, *id = NULL;
        g_autofree char *sender = NULL, *receiver = NULL, *attrs = NULL;
        const char *p = line;
        gint64 time = 0;

        p += strspn(p, " \t");
        if (*p == 0 || *p == '#' || !strcmp(p, "\r"))
                return SLOW_NOTHING;
        if (!(stamp = slow_field(&p)) || !slow_time(stamp, &time) || !(op = slow_field(&p)) ||
            !g_strv_contains(ops, op) || !(from = slow_field(&p)) || !(sender = slow_name(from)) ||
            !(to = slow_field(&p)) || !(receiver = slow_name(to)) || !(id = slow_field(&p)))
                return SLOW_BROKEN;
        attrs = g_strdup(p + strspn(p, " \t"));
        while (*attrs && strchr(" \t\r", attrs[strlen(attrs) - 1]))
                attrs[strlen(attrs) - 1] = 0;
        g_string_append_printf(out, "%" G_GINT64_FORMAT " %s %s %s %s %s\n", time, op, sender,
                               receiver, strcmp(id, "-") ? id : "", attrs);
        return SLOW_MESSAGE;
}

static const char *pick(GRand *rand, const char *const *of, guint n)
{
        return of[g_rand_int_range(rand, 0, n)];
}
#define PICK(rand, of) pick(rand, of, G_N_ELEMENTS(of))

/* A line that may be as we write it, or odd, or broken; the odder the more. */
static void random_line(GRand *rand, GString *out, double odd)
{
        static const char *const ops[] = { "CALL_SENT", "RET_SENT", "CALL_RECV",
                                           "RET_RECV",  "MSG_SENT", "MSG_RECV" };
        static const char *const odd_ops[] = { "CALL", "RET_SENTX", "CALL_SENd", "", "MSG_RECW" };
        static const char *const names[] = { "a",        "web1",
                                             "10.0.0.1", "catalog-service",
                                             "b%20c",    "a-name-of-more-than-sixteen-bytes" };
        static const char *const odd_names[] = { "%61",  "-", "b%20%63", "a%",  "%zz",
                                                 "\xff", "#", "%c3%bc",  "%00", "w\x01" };
        static const char *const ids[] = { "id37", "-",
                                           "1",    "c0ffee0123456789",
                                           "--",   "an-id-of-more-than-twenty-four-bytes" };
        static const char *const gaps[] = { "  ", "\t\t", " \t ", "\t    \t", "", "\x0b" };
        static const char *const attrs[] = { "k=v", "path=1.2.3 label=GET%20/x", "=", "a  b" };
        static const char *const ends[] = { "\r", " ", "\t", " \r", " \t \r" };
        gboolean is_odd[12];
        const char *gap[4];

        for (guint i = 0; i < G_N_ELEMENTS(is_odd); i++)
                is_odd[i] = g_rand_double(rand) < odd;
        for (guint i = 0; i < G_N_ELEMENTS(gap); i++)
                gap[i] = is_odd[i] ? PICK(rand, gaps) : g_rand_boolean(rand) ? "\t" : " ";
        if (is_odd[4] && is_odd[5] && is_odd[6]) {
                g_string_append(out, g_rand_boolean(rand) ? "# a comment" : " ");
                return;
        }
        if (is_odd[4])
                g_string_append(out, g_rand_boolean(rand) ? " " : "\t ");
        if (is_odd[5])
                g_string_append_printf(out, "%s%u%s%0*u", g_rand_boolean(rand) ? "-" : "",
                                       g_rand_int(rand) >> g_rand_int_range(rand, 0, 32),
                                       g_rand_boolean(rand) ? "." : "",
                                       g_rand_int_range(rand, 1, 11), g_rand_int_range(rand, 0, 9));
        else
                g_string_append_printf(out, g_rand_boolean(rand) ? "%u.%09u" : "%u.%06u",
                                       g_rand_int_range(rand, 1000000000, 2000000000),
                                       g_rand_int_range(rand, 0, 1000000));
        g_string_append_printf(out, "%s%s", gap[0],
                               is_odd[6] ? PICK(rand, odd_ops) : PICK(rand, ops));
        g_string_append_printf(out, "%s%s", gap[1],
                               is_odd[7] ? PICK(rand, odd_names) : PICK(rand, names));
        g_string_append_printf(out, "%s%s", gap[2],
                               is_odd[8] ? PICK(rand, odd_names) : PICK(rand, names));
        g_string_append_printf(out, "%s%s", gap[3], PICK(rand, ids));
        if (is_odd[9])
                for (int n = g_rand_int_range(rand, 0, 300); n > 0; n--)
                        g_string_append_c(out, 'x');
        if (is_odd[10])
                g_string_append_printf(out, "%s%s", g_rand_boolean(rand) ? " " : "\t ",
                                       PICK(rand, attrs));
        if (is_odd[11])
                g_string_append(out, PICK(rand, ends));
}

/* All broken lines left out, both parsers read the same; up to the first of
 * them, too, and they name the same line. Both take order as it comes. */
static void compare_with_slow(GRand *rand, int lines, double odd)
{
        g_autoptr(GString) text = g_string_new(NULL), expected = g_string_new(NULL);
        guint64 broken = 0, first_broken = 0;
        gsize before = 0;

        for (int i = 0; i < lines; i++) {
                g_autoptr(GString) line = g_string_new(NULL);

                random_line(rand, line, odd);
                if (slow_parse(line->str, expected) == SLOW_BROKEN && broken++ == 0) {
                        first_broken = i + 1;
                        before = expected->len;
                }
                g_string_append(text, line->str);
                g_string_append_c(text, '\n');
        }
        /* These are in no order of time. */
        for (int keep = 0; keep < 2; keep++) {
                TraceReaderOptions options = keep ? keep_going : defaults;
                g_autofree char *path = scratch_write("trace", text->str, text->len);
                int saved = dup(0), fd = open(path, O_RDONLY);

                options.any_order = TRUE;
                dup2(fd, 0);
                g_auto(Result) r = read_path("-", &options);
                dup2(saved, 0);
                close(saved);
                close(fd);
                if (!keep && broken) {
                        g_autofree char *where = g_strdup_printf(
                                "standard input:%" G_GUINT64_FORMAT ": ", first_broken);

                        g_assert_error(r.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                        g_assert_true(g_str_has_prefix(r.error->message, where));
                        g_assert_cmpmem(r.messages->str, r.messages->len, expected->str, before);
                        continue;
                }
                g_assert_no_error(r.error);
                g_assert_cmpstr(r.messages->str, ==, expected->str);
                g_assert_cmpuint(r.n_broken, ==, broken);
        }
}

static void test_random_lines(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);

        for (int round = 0; round < 600; round++)
                compare_with_slow(rand, g_rand_int_range(rand, 1, 100), (round % 10) * 0.02);
}

/* Over several blocks, so that lines lie across their edges. */
static void test_blocks(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(2);

        for (int round = 0; round < 4; round++)
                compare_with_slow(rand, 10000, round * 0.05);
}

/* Every place of a block's edge in a line. */
static void test_block_edges(void)
{
        g_autofree char *comment = g_strnfill((1 << 17) - 1, '#');

        for (gsize cut = 0; cut < sizeof USUAL + 2; cut++) {
                g_autofree char *text =
                        g_strconcat(comment + cut, "\n" USUAL "\n" USUAL "\n", NULL);

                assert_reads(text, USUAL_READ USUAL_READ);
        }
}

static void test_long_lines(void)
{
        g_autofree char *id = g_strnfill(300000, 'i'), *path = scratch_path("trace");
        g_autofree char *text =
                g_strconcat(USUAL "\n1047680085 CALL_SENT nodeA nodeB ", id, " k=", id,
                            "\n1047680086 CALL_SENT ", id, " nodeB i\n", NULL);
        g_autofree char *expected =
                g_strconcat(USUAL_READ "1047680085000000000 CALL_SENT nodeA nodeB ", id, " k=", id,
                            "\n1047680086000000000 CALL_SENT ", id, " nodeB i \n", NULL);
        int fd;

        assert_reads(text, expected);
        /* 200 MB of zeros, none of them on the disk. */
        fd = open(path, O_RDWR | O_TRUNC);
        g_assert_cmpint(ftruncate(fd, 200 << 20), ==, 0);
        close(fd);
        g_auto(Result) r = read_path(path, &defaults);
        g_assert_error(r.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_assert_nonnull(strstr(r.error->message, "trace:1: a line of over"));
}

/* --- compressed ------------------------------------------------------------ */

static GString *gzip(const char *data, gsize n)
{
        GString *out = g_string_new(NULL);
        z_stream z = { 0 };

        g_assert_cmpint(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
        g_string_set_size(out, deflateBound(&z, n));
        z.next_in = (Bytef *)data;
        z.avail_in = n;
        z.next_out = (Bytef *)out->str;
        z.avail_out = out->len;
        g_assert_cmpint(deflate(&z, Z_FINISH), ==, Z_STREAM_END);
        g_string_set_size(out, out->len - z.avail_out);
        deflateEnd(&z);
        return out;
}

static GString *zstd(const char *data, gsize n)
{
        GString *out = g_string_new(NULL);

        g_string_set_size(out, ZSTD_compressBound(n));
        g_string_set_size(out, ZSTD_compress(out->str, out->len, data, n, 3));
        return out;
}

static GString *xz(const char *data, gsize n)
{
        GString *out = g_string_new(NULL);
        size_t used = 0;

        g_string_set_size(out, lzma_stream_buffer_bound(n));
        g_assert_cmpint(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const guint8 *)data, n,
                                                (guint8 *)out->str, &used, out->len),
                        ==, LZMA_OK);
        g_string_set_size(out, used);
        return out;
}

static void check_compressed(GString *(*compress)(const char *, gsize))
{
        static const char text[] = "# ravel trace 1\n" USUAL "\n" USUAL "\n";
        g_autoptr(GString) whole = compress(text, sizeof text - 1);
        g_autoptr(GString) none = compress("", 0);
        g_autoptr(GString) two = g_string_new_len(whole->str, whole->len);
        g_auto(Result) r = read_bytes(whole->str, whole->len, &defaults);
        g_auto(Result) empty = read_bytes(none->str, none->len, &defaults);

        g_assert_no_error(r.error);
        g_assert_cmpstr(r.messages->str, ==, USUAL_READ USUAL_READ);
        g_assert_no_error(empty.error);
        g_assert_cmpuint(empty.n, ==, 0);

        g_string_append_len(two, none->str, none->len);
        g_string_append_len(two, whole->str, whole->len);
        g_auto(Result) members = read_bytes(two->str, two->len, &defaults);
        g_assert_no_error(members.error);
        g_assert_cmpstr(members.messages->str, ==, USUAL_READ USUAL_READ USUAL_READ USUAL_READ);

        /* Cut anywhere, what came before is right; it is an error where that is nothing. */
        for (gsize n = 1; n < whole->len; n++) {
                g_auto(Result) cut = read_bytes(whole->str, n, &defaults);

                if (cut.n)
                        g_assert_no_error(cut.error);
                if (n < whole->len / 2)
                        g_assert_cmpuint(cut.n, <, 2);
                g_assert_true(g_str_has_prefix(USUAL_READ USUAL_READ, cut.messages->str));
        }
        for (gsize i = 0; i < whole->len; i++) { /* no crash, whatever byte is wrong */
                whole->str[i] ^= 0x55;
                Result wrong = read_bytes(whole->str, whole->len, &defaults);
                result_clear(&wrong);
                whole->str[i] ^= 0x55;
        }
        g_string_append(two, "rubbish");
        g_auto(Result) rubbish = read_bytes(two->str, two->len, &defaults);
        if (compress != xz) /* to which it is the beginning of another stream */
                g_assert_error(rubbish.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
}

static void test_gzip(void)
{
        check_compressed(gzip);
}

static void test_zstd(void)
{
        check_compressed(zstd);
}

static void test_xz(void)
{
        check_compressed(xz);
}

/* The file fills more than one buffer, and the digest is of the compressed bytes. */
static void test_compressed_large(void)
{
        const int n = g_getenv("RAVEL_LONG") ? 50000 : 20000;
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GRand) rand = g_rand_new_with_seed(3);

        for (int i = 0; i < n; i++)
                g_string_append_printf(text, "1047680084.482205000\tCALL_SENT\tnodeA\tnodeB\t%x\n",
                                       g_rand_int(rand));
        g_auto(Result) plain = read_bytes(text->str, text->len, &defaults);
        for (int kind = 0; kind < 3; kind++) {
                g_autoptr(GString) packed = (kind == 2 ? xz
                                             : kind    ? zstd
                                                       : gzip)(text->str, text->len);
                g_autofree char *path = scratch_write("trace", packed->str, packed->len);
                g_autofree char *digest = g_compute_checksum_for_data(
                        G_CHECKSUM_SHA256, (guchar *)packed->str, packed->len);
                g_auto(Result) r = read_path(path, &defaults);
                TraceReaderOptions options = { G_MININT64, G_MAXINT64, .want_digest = TRUE };
                g_autoptr(NodeTable) nodes = node_table_new();
                g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, &options, NULL);
                Message m;

                g_assert_no_error(r.error);
                g_assert_cmpuint(r.n, ==, (guint)n);
                g_assert_cmpstr(r.messages->str, ==, plain.messages->str);
                while (trace_reader_next(reader, &m, NULL) > 0)
                        ;
                g_assert_cmpstr(trace_reader_digest(reader), ==, digest);
        }
}

/* --- pipes ----------------------------------------------------------------- */

typedef struct {
        int fd;
        const GString *bytes;
} Feed;

static gpointer feed_bytewise(gpointer data)
{
        const Feed *f = data;

        for (gsize i = 0; i < f->bytes->len; i++)
                g_assert_cmpint(write(f->fd, f->bytes->str + i, 1), ==, 1);
        close(f->fd);
        return NULL;
}

/* Reads bytes from standard input as they are written one at a time. */
static Result read_pipe(const GString *bytes)
{
        int fds[2], saved = dup(0);
        Feed feed;
        GThread *thread;
        Result r;

        g_assert_cmpint(pipe(fds), ==, 0);
        dup2(fds[0], 0);
        close(fds[0]);
        feed = (Feed){ fds[1], bytes };
        thread = g_thread_new("feed", feed_bytewise, &feed);
        r = read_path("-", &defaults);
        g_thread_join(thread);
        dup2(saved, 0);
        close(saved);
        return r;
}

static void test_pipe(void)
{
        static const char text[] = "# ravel trace 1\n" USUAL "\n" USUAL "\n";
        g_autoptr(GString) plain = g_string_new(text);
        GString *packed[] = { gzip(text, sizeof text - 1), zstd(text, sizeof text - 1) };

        g_auto(Result) r = read_pipe(plain);
        g_assert_no_error(r.error);
        g_assert_cmpstr(r.messages->str, ==, USUAL_READ USUAL_READ);
        for (int i = 0; i < 2; i++) {
                g_auto(Result) unpacked = read_pipe(packed[i]);

                g_assert_no_error(unpacked.error);
                g_assert_cmpstr(unpacked.messages->str, ==, USUAL_READ USUAL_READ);
                g_string_truncate(packed[i], packed[i]->len - 1);
                g_auto(Result) cut = read_pipe(packed[i]);
                if (cut.error)
                        g_assert_nonnull(strstr(cut.error->message, "standard input"));
                g_string_free(packed[i], TRUE);
        }
}

/* A line is handed out when it is there, not when a block is full. */
static void test_live_pipe(void)
{
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = NULL;
        int fds[2], saved = dup(0);
        Message m;

        g_assert_cmpint(pipe(fds), ==, 0);
        dup2(fds[0], 0);
        close(fds[0]);
        reader = trace_reader_new("-", nodes, &defaults, NULL);
        trace_reader_take_late(reader);
        for (int i = 0; i < 10; i++) {
                g_assert_cmpint(write(fds[1], USUAL "\n1047", sizeof USUAL + 4), >, 0);
                g_assert_cmpint(trace_reader_next(reader, &m, NULL), ==, 1);
                g_assert_cmpint(write(fds[1], "680084 RET_SENT b a i\n", 22), ==, 22);
                g_assert_cmpint(trace_reader_next(reader, &m, NULL), ==, 1);
        }
        close(fds[1]);
        g_assert_cmpint(trace_reader_next(reader, &m, NULL), ==, 0);
        dup2(saved, 0);
        close(saved);
}

/* --- order ----------------------------------------------------------------- */

static void test_disorder(void)
{
        static const char text[] = "3 CALL_SENT a b x\n5 CALL_SENT a b 1\n5 CALL_SENT a b 2\n"
                                   "4 CALL_SENT a b 3\n5 CALL_SENT a b 4\n3 CALL_SENT a b 5";
        static const char in_order[] = "3000000000 CALL_SENT a b x \n3000000000 CALL_SENT a b 5 \n"
                                       "4000000000 CALL_SENT a b 3 \n5000000000 CALL_SENT a b 1 \n"
                                       "5000000000 CALL_SENT a b 2 \n5000000000 CALL_SENT a b 4 \n";
        g_autofree char *path = scratch_write("trace", text, -1);
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, &defaults, NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(GString) packed = gzip(text, sizeof text - 1), plain = g_string_new(text);
        Message m;

        for (int i = 0; i < 3; i++)
                g_assert_cmpint(trace_reader_next(reader, &m, &error), ==, 1);
        g_assert_cmpint(trace_reader_next(reader, &m, &error), ==, -1);
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_DISORDER);
        g_assert_nonnull(strstr(error->message, "trace:4: time goes backwards"));

        g_auto(Result) r = read_text(text);
        g_assert_true(r.sorted);
        g_assert_no_error(r.error);
        g_assert_cmpstr(r.messages->str, ==, in_order);
        g_assert_cmpuint(r.late, ==, 0);
        g_auto(Result) unpacked = read_bytes(packed->str, packed->len, &defaults);
        g_assert_true(unpacked.sorted);
        g_assert_cmpstr(unpacked.messages->str, ==, in_order);

        /* A pipe is read through the buffer. */
        g_auto(Result) held = read_pipe(plain);
        g_assert_no_error(held.error);
        g_assert_false(held.sorted);
        g_assert_cmpstr(held.messages->str, ==, in_order);
        g_assert_cmpuint(held.late, ==, 0);
}

/* Later than a buffer holds: a file is sorted, a pipe has one chance. */
static void test_disorder_far(void)
{
        enum { N = 70000 };
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = NULL;
        g_autoptr(GError) error = NULL;
        g_autofree char *path = NULL;
        Message m;

        for (int i = 0; i < N; i++)
                g_string_append_printf(text, "%d CALL_SENT a b %d\n", 10 + i, i);
        g_string_append(text, "5 CALL_SENT a b first\n9 CALL_SENT a b second\n");
        path = scratch_write("trace", text->str, (gssize)text->len);
        g_auto(Result) sorted = read_path(path, &defaults);
        g_assert_no_error(sorted.error);
        g_assert_true(sorted.sorted);
        g_assert_true(g_str_has_prefix(sorted.messages->str,
                                       "5000000000 CALL_SENT a b first \n9000000000 CALL_SENT a b "
                                       "second \n10000000000 CALL_SENT a b 0 \n"));
        g_assert_cmpuint(sorted.n, ==, N + 2);
        g_auto(Result) late = read_pipe(text);
        g_assert_no_error(late.error);
        g_assert_cmpuint(late.n, ==, N + 2);
        g_assert_cmpuint(late.late, ==, 2);

        reader = trace_reader_new(path, nodes, &defaults, &error);
        while (trace_reader_next(reader, &m, &error) > 0)
                ;
        g_assert_true(trace_reader_sort(reader, &error) || error);
        g_assert_cmpstr(trace_reader_order(reader), ==, "sorted in memory");
}

/* --- an end too early ------------------------------------------------------- */

static TraceEnd end_of(const char *text, gssize length, guint n_messages)
{
        g_autofree char *path = scratch_write("trace", text, length);
        g_autoptr(NodeTable) nodes = node_table_new();
        g_autoptr(TraceReader) reader = trace_reader_new(path, nodes, &defaults, NULL);
        g_autoptr(GError) error = NULL;
        guint n = 0;
        Message m;

        while (trace_reader_next(reader, &m, &error) > 0)
                n++;
        g_assert_no_error(error);
        g_assert_cmpuint(n, ==, n_messages);
        return trace_reader_end(reader);
}

#define MINE     "# ravel trace 1\n"
#define CAPTURED MINE "# source: x.pcap\n# link type: EN10MB (Ethernet)\n"

static void test_cut(void)
{
        g_autoptr(GString) text = g_string_new(MINE), packed = NULL;

        g_assert_cmpint(end_of(MINE USUAL "\n" USUAL "\n", -1, 2), ==, TRACE_WHOLE);
        /* What could be a line is not what was written. */
        g_assert_cmpint(end_of(MINE USUAL "\n" USUAL, -1, 1), ==, TRACE_CUT);
        g_assert_cmpint(end_of(MINE USUAL "\n1047680084.48", -1, 1), ==, TRACE_CUT);
        g_assert_cmpint(end_of(MINE USUAL "\n# pack", -1, 1), ==, TRACE_CUT);
        g_assert_cmpint(end_of(MINE USUAL, -1, 0), ==, TRACE_CUT);
        /* Somebody else's may lack the newline. */
        g_assert_cmpint(end_of(USUAL "\n" USUAL, -1, 2), ==, TRACE_WHOLE);
        g_assert_cmpint(end_of(USUAL "\n1047680084.48", -1, 1), ==, TRACE_CUT);
        g_assert_cmpint(end_of(USUAL "\n1047680084.48 CALL_SENT a", -1, 1), ==, TRACE_CUT);
        g_auto(Result) alone = read_text("1047680084.48 CALL_SENT a");
        g_assert_error(alone.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_auto(Result) broken = read_text(USUAL "\n1047680084.48 CALL_SENT a\n" USUAL);
        g_assert_error(broken.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);

        for (guint i = 0; i < 100000; i++)
                g_string_append(text, USUAL "\n");
        packed = gzip(text->str, text->len);
        g_assert_cmpint(end_of(packed->str, (gssize)packed->len, 100000), ==, TRACE_WHOLE);
        g_assert_cmpint(end_of(packed->str, (gssize)packed->len - 8, 100000), ==, TRACE_CUT);
        g_auto(Result) half = read_bytes(packed->str, (gssize)packed->len / 2, &defaults);
        g_assert_no_error(half.error);
        g_assert_cmpuint(half.n, >, 1000);
        g_assert_cmpuint(half.n, <, 99000);
}

static void test_unfinished(void)
{
        g_assert_cmpint(end_of(CAPTURED USUAL "\n", -1, 1), ==, TRACE_UNFINISHED);
        g_assert_cmpint(end_of(CAPTURED, -1, 0), ==, TRACE_UNFINISHED);
        g_assert_cmpint(end_of(CAPTURED USUAL "\n# packets: 1\n", -1, 1), ==, TRACE_WHOLE);
        g_assert_cmpint(end_of(CAPTURED USUAL "\n# packets: 1", -1, 1), ==, TRACE_CUT);
        g_assert_cmpint(end_of(CAPTURED USUAL "\n# packets: 1\n# incomplete: y\n", -1, 1), ==,
                        TRACE_UNFINISHED);
        g_assert_cmpint(end_of(MINE "# source: by hand\n" USUAL "\n", -1, 1), ==, TRACE_WHOLE);
}

/* Large enough for blocks to move, and a broken line past the disorder. */
static void test_disorder_large(void)
{
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GRand) rand = g_rand_new_with_seed(4);
        gint64 last = G_MININT64;
        guint n = 0;

        for (int i = 0; i < 30000; i++)
                g_string_append_printf(text, "%d.%06d\tCALL_SENT\tnode%d\tb\t%d\n",
                                       g_rand_int_range(rand, 1000000000, 1000000100),
                                       g_rand_int_range(rand, 0, 1000000), i % 300, i);
        g_auto(Result) r = read_bytes(text->str, text->len, &defaults);
        g_assert_no_error(r.error);
        g_assert_true(r.sorted);
        for (const char *p = r.messages->str; *p; p = strchr(p, '\n') + 1, n++) {
                gint64 time = g_ascii_strtoll(p, NULL, 10);

                g_assert_cmpint(time, >=, last);
                last = time;
        }
        g_assert_cmpuint(n, ==, 30000);
        g_string_append(text, "broken\n");
        g_auto(Result) broken = read_bytes(text->str, text->len, &defaults);
        g_assert_error(broken.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
        g_assert_nonnull(strstr(broken.error->message, "trace:30001: "));
}

/* --- options --------------------------------------------------------------- */

static void test_from_to(void)
{
        static const char text[] = "1 CALL_SENT a b 1\n2 CALL_SENT a b 2\n3 CALL_SENT a b 3\n"
                                   "4 CALL_SENT a b 4\n";
        TraceReaderOptions options = { .from = 2000000000, .to = 4000000000 };
        g_auto(Result) r = read_bytes(text, -1, &options);

        g_assert_cmpstr(r.messages->str, ==,
                        "2000000000 CALL_SENT a b 2 \n3000000000 CALL_SENT a b 3 \n");
        /* What is left out may be in any order. */
        g_auto(Result) early = read_bytes("9 CALL_SENT a b 1\n2 CALL_SENT a b 2\n", -1, &options);
        g_assert_false(early.sorted);
        g_assert_cmpuint(early.n, ==, 1);
        options = (TraceReaderOptions){ .from = 3, .to = 3 };
        g_auto(Result) none = read_bytes(text, -1, &options);
        g_assert_cmpuint(none.n, ==, 0);
}

static void test_exclude(void)
{
        static const char text[] = "1 CALL_SENT a b 1\n2 CALL_SENT b c%20d 2\n3 CALL_SENT a d 3\n"
                                   "4 RET_SENT d a 3\n5 RET_SENT b a 1\n";
        char *both[] = { (char *)"c d", (char *)"d", NULL }, *none[] = { NULL };
        TraceReaderOptions options = { G_MININT64, G_MAXINT64, .exclude = both };
        g_auto(Result) r = read_bytes(text, -1, &options);

        g_assert_cmpstr(r.messages->str, ==,
                        "1000000000 CALL_SENT a b 1 \n5000000000 RET_SENT b a 1 \n");
        options.exclude = none;
        g_auto(Result) all = read_bytes(text, -1, &options);
        g_assert_cmpuint(all.n, ==, 5);
}

/* Cut at every byte: messages or an error, and none that was not there. */
static void test_truncated(void)
{
        static const char text[] = "# ravel trace 1\n# source: eth0\n" USUAL "\r\n"
                                   "1047680084.482205001\tCALL_RECV\tnodeA\tnode%20B\t-\tk=v\n"
                                   "1047680085 RET_SENT node%20B nodeA - \n";

        for (gsize n = 0; n < sizeof text; n++) {
                g_auto(Result) r = read_bytes(text, n, &defaults);
                g_auto(Result) kept = read_bytes(text, n, &keep_going);

                /* Without its number the first line says an unknown version. */
                if (n == strlen("# ravel trace "))
                        g_assert_error(kept.error, RAVEL_ERROR, RAVEL_ERROR_INPUT);
                else
                        g_assert_no_error(kept.error);
                g_assert_true(g_str_has_prefix(kept.messages->str, r.messages->str));
                g_assert_cmpuint(kept.n + kept.n_broken, <=, 3);
        }
}

static void test_parse_time(void)
{
        static const struct {
                const char *text;
                gint64 time;
        } good[] = {
                { "0", 0 },
                { "1047680084.5", 1047680084500000000 },
                { "-1", -1000000000 },
                { "2003-03-14T22:14:44Z", 1047680084000000000 },
                { "2003-03-14T22:14:44.25Z", 1047680084250000000 },
                { "2003-03-14T23:14:44+01:00", 1047680084000000000 },
                { "2003-03-14T22:14:44", 1047680084000000000 },
                { "2003-03-14", 1047600000000000000 },
        };
        static const char *const bad[] = { "",           "x",           "1x",
                                           "10:00",      "2003-03-14T", "2003-13-14",
                                           "9999-01-01", "1 2",         "1.0000000001" };

        for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
                g_autoptr(GError) error = NULL;
                gint64 ns;

                g_assert_true(trace_parse_time(good[i].text, &ns, &error));
                g_assert_no_error(error);
                g_assert_cmpint(ns, ==, good[i].time);
        }
        for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autoptr(GError) error = NULL;
                gint64 ns;

                if (trace_parse_time(bad[i], &ns, &error))
                        g_error("\"%s\" was taken for a time", bad[i]);
                g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_USAGE);
        }
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        scratch_make();
        g_test_add_func("/trace-reader/stamps", test_stamps);
        g_test_add_func("/trace-reader/layout", test_layout);
        g_test_add_func("/trace-reader/wide-gaps", test_wide_gaps);
        g_test_add_func("/trace-reader/operations", test_operations);
        g_test_add_func("/trace-reader/lengths", test_lengths);
        g_test_add_func("/trace-reader/names", test_names);
        g_test_add_func("/trace-reader/attributes", test_attributes);
        g_test_add_func("/trace-reader/facts", test_facts);
        g_test_add_func("/trace-reader/refused", test_refused);
        g_test_add_func("/trace-reader/zeros", test_zeros);
        g_test_add_func("/trace-reader/keep-going", test_keep_going);
        g_test_add_func("/trace-reader/message-text", test_message_text);
        g_test_add_func("/trace-reader/versions", test_versions);
        g_test_add_func("/trace-reader/unreadable", test_unreadable);
        g_test_add_func("/trace-reader/random-lines", test_random_lines);
        g_test_add_func("/trace-reader/blocks", test_blocks);
        g_test_add_func("/trace-reader/block-edges", test_block_edges);
        g_test_add_func("/trace-reader/long-lines", test_long_lines);
        g_test_add_func("/trace-reader/gzip", test_gzip);
        g_test_add_func("/trace-reader/zstd", test_zstd);
        g_test_add_func("/trace-reader/xz", test_xz);
        g_test_add_func("/trace-reader/compressed-large", test_compressed_large);
        g_test_add_func("/trace-reader/pipe", test_pipe);
        g_test_add_func("/trace-reader/live-pipe", test_live_pipe);
        g_test_add_func("/trace-reader/disorder", test_disorder);
        g_test_add_func("/trace-reader/disorder-large", test_disorder_large);
        g_test_add_func("/trace-reader/disorder-far", test_disorder_far);
        g_test_add_func("/trace-reader/cut", test_cut);
        g_test_add_func("/trace-reader/unfinished", test_unfinished);
        g_test_add_func("/trace-reader/from-to", test_from_to);
        g_test_add_func("/trace-reader/exclude", test_exclude);
        g_test_add_func("/trace-reader/truncated", test_truncated);
        g_test_add_func("/trace-reader/parse-time", test_parse_time);
        status = g_test_run();
        scratch_remove();
        return status;
}
