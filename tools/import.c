/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel import FILE...: makes a trace from packets or spans that another program recorded.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/compare.h"
#include "base/error.h"
#include "capture/network/node-files.h"
#include "import/import.h"
#include "import/mail.h"
#include "import/spans.h"
#include "tools/run-files.h"
#include "tools/tool.h"
#include "tracefmt/byte-source.h"

enum { READ_SIZE = 1 << 16, MAX_LINE = 64 << 20, HEAD = 1000, MAX_DEPTH = 32, SHOWN = 8 };

/* --- which files are mails, and what is said of them ------------------------------- */

/* Reads the first n bytes, or fewer; -1 with error set. */
static gssize read_head(ByteSource *source, guint8 *head, gsize n, GError **error)
{
        gsize used = 0;
        gssize k;

        while (used < n && (k = byte_source_read(source, head + used, n - used, error)) != 0) {
                if (k < 0)
                        return -1;
                used += (gsize)k;
        }
        return (gssize)used;
}

/* Whether path is a folder, or a file that begins as an mbox or a mail does. "-": FALSE. */
static gboolean import_mail_is(const char *path)
{
        guint8 head[HEAD];
        struct stat st;
        gssize n;

        if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || S_ISDIR(st.st_mode))
                return strcmp(path, "-") != 0 && g_file_test(path, G_FILE_TEST_IS_DIR);
        if (!S_ISREG(st.st_mode))
                return FALSE;
        g_autoptr(ByteSource) source = byte_source_new(path, NULL);
        n = source ? read_head(source, head, sizeof head, NULL) : -1;
        return n > 0 && mail_begins(head, (gsize)n);
}

/* A line may come in parts; bodies have lines of any length, of which only the beginning counts. */
typedef struct {
        MailImport *import;
        GByteArray *line;
} Lines;

static void take_bytes(Lines *l, const guint8 *data, gsize n)
{
        enum { LONGEST = 1 << 16 };

        while (n > 0) {
                const guint8 *end = memchr(data, '\n', n);
                gsize k = end ? (gsize)(end - data) : n;

                g_byte_array_append(l->line, data, (guint)MIN(k, LONGEST - l->line->len));
                if (end) {
                        mail_import_add(l->import, l->line->data, l->line->len);
                        g_byte_array_set_size(l->line, 0);
                }
                k += end != NULL;
                data += k;
                n -= k;
        }
}

static gboolean read_mails(MailImport *import, ByteSource *source, const guint8 *head, gsize n,
                           GError **error)
{
        g_autoptr(GByteArray) line = g_byte_array_new();
        g_autofree guint8 *buffer = g_malloc(READ_SIZE);
        Lines lines = { import, line };
        gssize k;

        take_bytes(&lines, head, n);
        while ((k = byte_source_read(source, buffer, READ_SIZE, error)) > 0)
                take_bytes(&lines, buffer, (gsize)k);
        if (line->len > 0)
                mail_import_add(import, line->data, line->len);
        mail_import_end(import);
        return k == 0;
}

/* is_named: by the user, so it has to be a mail. */
static gboolean read_file(MailImport *import, const char *path, gboolean is_named, guint64 *others,
                          GError **error)
{
        g_autoptr(ByteSource) source = NULL;
        guint8 head[HEAD];
        gssize n;

        if (!run_files_read(path, error) || !(source = byte_source_new(path, error)) ||
            (n = read_head(source, head, sizeof head, error)) < 0)
                return FALSE;
        if (mail_begins(head, (gsize)n))
                return read_mails(import, source, head, (gsize)n, error);
        if (!is_named) {
                (*others)++;
                return TRUE;
        }
        return ravel_fail(
                error, RAVEL_ERROR_INPUT,
                "%s: expected an mbox or a mail: a line \"From sender date\", or a header", path);
}

/* --- folders ------------------------------------------------------------------------ */

/* In the order of their names, so that the same folder always makes the same trace. */
static GPtrArray *list_folder(const char *path, GError **error)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GError) why = NULL;
        GDir *folder = g_dir_open(path, 0, &why);
        const char *name;

        if (!folder) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT, "%s: %s", path, why->message);
                return NULL;
        }
        while ((name = g_dir_read_name(folder)))
                g_ptr_array_add(names, g_strdup(name));
        g_dir_close(folder);
        g_ptr_array_sort(names, compare_strings);
        return g_steal_pointer(&names);
}

/* In a maildir's tmp are mails that are not there yet; what begins with a dot is a subfolder, or no
 * mail. */
static gboolean is_wanted(const char *folder, const char *name)
{
        g_autofree char *cur = g_build_filename(folder, "cur", NULL);

        if (strcmp(name, "tmp") == 0)
                return !g_file_test(cur, G_FILE_TEST_IS_DIR);
        return TRUE;
}

/* Links to folders are not followed: they may lead round. */
static gboolean read_folder(MailImport *import, const char *path, guint depth, guint64 *others,
                            GError **error)
{
        g_autoptr(GPtrArray) names = list_folder(path, error);

        if (!names)
                return FALSE;
        for (guint i = 0; i < names->len; i++) {
                g_autofree char *child = g_build_filename(path, names->pdata[i], NULL);
                struct stat st;
                gboolean ok = TRUE;

                if (!is_wanted(path, names->pdata[i]) || lstat(child, &st) < 0)
                        continue;
                if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
                        ok = read_folder(import, child, depth + 1, others, error);
                else if (S_ISREG(st.st_mode) ||
                         (S_ISLNK(st.st_mode) && g_file_test(child, G_FILE_TEST_IS_REGULAR)))
                        ok = read_file(import, child, FALSE, others, error);
                else
                        (*others)++;
                if (!ok)
                        return FALSE;
        }
        return TRUE;
}

/* Reads a file, or all mails in a folder and below: of a maildir, cur and new and its subfolders.
 * What lies in a folder and is no mail is left out and counted. FALSE: error set. */
static gboolean import_mail_read(MailImport *import, const char *path, guint64 *others,
                                 GError **error)
{
        return g_file_test(path, G_FILE_TEST_IS_DIR) ? read_folder(import, path, 0, others, error)
                                                     : read_file(import, path, TRUE, others, error);
}

/* --- what is said ------------------------------------------------------------------- */

static void say(const char *what, guint64 n)
{
        if (n)
                tool_warn("%s: %" G_GUINT64_FORMAT, what, n);
}

static void say_clocks(const MailImport *import, const NodeTable *nodes)
{
        g_autoptr(GString) text = g_string_new(NULL);
        guint n = 0;

        for (NodeId node = 0; node < node_table_size(nodes); node++) {
                gint64 seconds = mail_import_ahead(import, node) / 1000000000;

                if (seconds && n++ < SHOWN)
                        g_string_append_printf(text, "%s%s by %+" G_GINT64_FORMAT " s",
                                               text->len ? ", " : "",
                                               node_table_written(nodes, node), -seconds);
        }
        if (n > SHOWN)
                g_string_append_printf(text, " and %u more", n - SHOWN);
        if (n)
                tool_warn("clocks put right: %s (--one-clock leaves them)", text->str);
}

/* Says on standard error what was found. others: files that were left out. */
static void import_mail_report(const MailImport *import, const NodeTable *nodes, guint64 others)
{
        const MailCounts *c = mail_import_counts(import);

        tool_warn("%" G_GUINT64_FORMAT " mails, %" G_GUINT64_FORMAT
                  " Received headers: %" G_GUINT64_FORMAT " messages",
                  c->mails, c->headers, c->messages);
        say("files left out, not mails", others);
        say("mails without a Received header", c->no_headers);
        say("mails without a Message-ID, perhaps copies of others", c->no_id);
        say("headers of another copy of a mail that went the same way", c->shared);
        say("headers left out, written where a mail was made", c->first);
        say("headers left out, since the mail stayed on its host", c->within);
        say("headers left out, without a host that took the mail", c->nameless);
        say("headers left out, without a date with a time zone", c->undated);
        say("headers left out, below those of --trust", c->untrusted);
        say("headers left out, longer than 16 KB or beyond the hundredth of a mail", c->too_long);
        say("messages whose sender calls itself by another name", c->otherwise);
        say_clocks(import, nodes);
        say("messages that arrive more than a second before they are sent, because of clocks that "
            "were set or forged headers",
            c->early);
}

static struct {
        gboolean tshark, one_clock, whole;
        char *output, **nodes, *node_attribute, **trust;
} options;

static const GOptionEntry entries[] = {
        { "tshark", 0, 0, G_OPTION_ARG_NONE, &options.tshark,
          "FILE is what tshark -T ek or -T fields writes", NULL },
        { "output", 'w', 0, G_OPTION_ARG_FILENAME, &options.output,
          "Write to FILE instead of standard output", "FILE" },
        { "nodes", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.nodes,
          "Name nodes by the lines of FILE, as in /etc/hosts", "FILE" },
        { "node-attr", 0, 0, G_OPTION_ARG_STRING, &options.node_attribute,
          "Name nodes of spans by this attribute", "NAME" },
        { "one-clock", 0, 0, G_OPTION_ARG_NONE, &options.one_clock,
          "One clock stamped everything: move none", NULL },
        { "trust", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.trust,
          "Mails: believe only headers from DOMAIN", "DOMAIN" },
        { "whole", 0, 0, G_OPTION_ARG_NONE, &options.whole,
          "Leave out traces of spans that lack a part", NULL },
        G_OPTION_ENTRY_NULL
};

/* A format is known by an option, or else by the beginning of a file: the first format that
 * recognises it. */
static const struct {
        const ImportFormat *format;
        const gboolean *wanted; /* NULL: the format has no option */
} formats[] = {
        { &import_tshark, &options.tshark },
        { &import_spans, NULL },
};

typedef struct {
        const ImportFormat *format;
        gpointer import;
        NodeTable *nodes;
        NodeNames *names;
        TraceWriter *writer;
        gboolean cut; /* a file ends early */
} Run;

static void import_run_clear(Run *run)
{
        if (run->import)
                run->format->end(run->import);
        trace_writer_free(run->writer);
        node_names_free(run->names);
        node_table_free(run->nodes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, import_run_clear)

/* ImportName. Text that is no address is a name. */
static NodeId name_node(gpointer user, const ImportEnd *own, const ImportEnd *peer, gint64 time)
{
        Run *run = user;
        Endpoint ends[2] = { { .port = own->port }, { .port = peer->port } };

        if (!address_parse(own->address, strlen(own->address), &ends[0].address))
                return node_table_add(run->nodes, own->address, strlen(own->address));
        return node_names_lookup(
                run->names, &ends[0],
                address_parse(peer->address, strlen(peer->address), &ends[1].address) ? &ends[1]
                                                                                      : NULL,
                time);
}

static gboolean load_names(Run *run, GError **error)
{
        g_autoptr(NodeFiles) files = node_files_new(run->names, run->nodes);

        for (char **p = options.nodes; p && *p; p++)
                if (!node_files_load(files, *p, error))
                        return FALSE;
        node_files_settle(files);
        return TRUE;
}

/* Names the files of the run, and enters the sandbox. */
static gboolean import_name_files(char **sources, int n, GError **error)
{
        for (int i = 0; i < n; i++)
                if (!run_files_read(sources[i], error))
                        return FALSE;
        for (char **p = options.nodes; p && *p; p++)
                if (!run_files_read(*p, error))
                        return FALSE;
        return run_files_write("-w", options.output, error) &&
               run_files_confine_reader(FALSE, error);
}

/* The bytes of a file. The first bytes were read to recognise it. */
typedef struct {
        ByteSource *source;
        guint8 *begin;
        gsize n_begin, at;
} Source;

static void source_clear(Source *s)
{
        byte_source_free(s->source);
        g_free(s->begin);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Source, source_clear)

static gboolean source_open(Source *s, const char *path, GError **error)
{
        gssize n = 1;

        s->source = byte_source_new(path, error);
        if (!s->source)
                return FALSE;
        byte_source_set_progress(s->source, tool_progress_read);
        s->begin = g_malloc(READ_SIZE);
        while (n > 0 && s->n_begin < READ_SIZE) {
                n = byte_source_read(s->source, s->begin + s->n_begin, READ_SIZE - s->n_begin,
                                     error);
                s->n_begin += (gsize)MAX(n, 0);
        }
        return n >= 0;
}

/* ImportInput.read */
static gssize source_read(gpointer user, void *buffer, gsize n, GError **error)
{
        Source *s = user;
        gsize left = MIN(n, s->n_begin - s->at);

        if (left == 0)
                return byte_source_read(s->source, buffer, n, error);
        memcpy(buffer, s->begin + s->at, left);
        s->at += left;
        return (gssize)left;
}

static const ImportFormat *choose_format(const Source *s, GError **error)
{
        for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
                if (formats[i].wanted && *formats[i].wanted)
                        return formats[i].format;
        for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
                if (formats[i].format->is_format &&
                    formats[i].format->is_format(s->begin, s->n_begin))
                        return formats[i].format;
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                    "%s: found neither JSON of spans, nor mails, nor what tshark writes",
                    byte_source_name(s->source));
        return NULL;
}

static gboolean add_line(Run *run, const char *source, guint64 number, const guint8 *line, gsize n,
                         GError **error)
{
        if (n > 0 && line[n - 1] == '\r')
                n--;
        if (run->format->add(run->import, line, n, error))
                return TRUE;
        g_prefix_error(error, "%s:%" G_GUINT64_FORMAT ": ", source, number);
        return FALSE;
}

/* Hands on the complete lines, and at the end the rest. */
static gboolean take_lines(Run *run, const char *source, GByteArray *bytes, gboolean end,
                           guint64 *number, GError **error)
{
        gsize at = 0;

        while (at < bytes->len) {
                const guint8 *line = bytes->data + at;
                const guint8 *newline = memchr(line, '\n', bytes->len - at);
                gsize n = newline ? (gsize)(newline - line) : bytes->len - at;

                if (!newline && !end)
                        break;
                if (!add_line(run, source, ++*number, line, n, error))
                        return FALSE;
                at += n + (newline != NULL);
        }
        g_byte_array_remove_range(bytes, 0, (guint)MIN(at, bytes->len));
        return bytes->len <= MAX_LINE ||
               ravel_fail(error, RAVEL_ERROR_INPUT,
                          "%s:%" G_GUINT64_FORMAT ": the line is longer than %d bytes", source,
                          *number + 1, MAX_LINE);
}

static gboolean read_lines(Run *run, Source *s, GError **error)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        const char *name = byte_source_name(s->source);
        guint8 buffer[READ_SIZE];
        guint64 number = 0;
        gssize n;

        while ((n = source_read(s, buffer, sizeof buffer, error)) > 0) {
                g_byte_array_append(bytes, buffer, (guint)n);
                if (!take_lines(run, name, bytes, FALSE, &number, error))
                        return FALSE;
        }
        return n == 0 && take_lines(run, name, bytes, TRUE, &number, error);
}

/* Reads a whole file. A file that ends within a value is used up to there, as a trace is. */
static gboolean read_whole(Run *run, Source *s, GError **error)
{
        ImportInput input = { byte_source_name(s->source), source_read, s };
        g_autoptr(GError) failed = NULL;

        if (run->format->read(run->import, &input, &failed))
                return TRUE;
        if (!g_error_matches(failed, RAVEL_ERROR, RAVEL_ERROR_PARTIAL)) {
                g_propagate_error(error, g_steal_pointer(&failed));
                return FALSE;
        }
        tool_warn("%s; what stands before is used", failed->message);
        run->cut = TRUE;
        return TRUE;
}

static void begin_trace(Run *run, const ImportFormat *format)
{
        const SpanOptions spans = { run->nodes, options.node_attribute, options.whole,
                                    options.one_clock };

        run->format = format;
        run->import = format->begin(name_node, run);
        if (format == &import_spans)
                import_spans_set(run->import, &spans);
}

static gboolean read_source(Run *run, const char *path, GError **error)
{
        g_auto(Source) source = { 0 };
        const ImportFormat *format;

        if (!source_open(&source, path, error) || !(format = choose_format(&source, error)))
                return FALSE;
        if (!run->format)
                begin_trace(run, format);
        if (run->format != format)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: found %s, expected %s as before: make a trace of each", path,
                                  format->name, run->format->name);
        return format->read ? read_whole(run, &source, error) : read_lines(run, &source, error);
}

static void report_import(const ImportCounts *c)
{
        tool_warn("%" G_GUINT64_FORMAT " packets: %" G_GUINT64_FORMAT " %s", c->packets, c->calls,
                  c->calls == 1 ? "call with its return" : "calls with their returns");
        if (c->lost)
                tool_warn("%" G_GUINT64_FORMAT
                          " responses are left out: the packets of their requests are not there",
                          c->lost);
        if (c->not_between)
                tool_warn("%" G_GUINT64_FORMAT " responses are left out: they do not go back where "
                          "their requests came from",
                          c->not_between);
}

static gboolean write_import_facts(Run *run, char **sources, int n, GError **error)
{
        for (int i = 0; i < n; i++)
                if (!trace_writer_fact(run->writer, "source", sources[i], error))
                        return FALSE;
        return trace_writer_fact(run->writer, "importer", run->format->name, error) &&
               ((run->format != &import_tshark && !options.one_clock) ||
                trace_writer_fact(run->writer, "clocks", "one", error)) &&
               (run->format != &import_tshark ||
                trace_writer_fact(run->writer, "ids", "connection.sequence", error));
}

/* ImportSay: on standard error, and in the trace. */
static gboolean say_fact(gpointer user, const char *what, const char *value, GError **error)
{
        Run *run = user;

        tool_warn("%s: %s", what, value);
        return trace_writer_fact(run->writer, what, value, error);
}

static gboolean check_import_files(int n, GError **error)
{
        if (n == 1 || (n > 1 && !options.tshark))
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "%d files named: expected one, or - for standard input", n);
}

static gboolean read_sources(Run *run, char **sources, int n, GError **error)
{
        if (!import_name_files(sources, n, error) || !load_names(run, error))
                return FALSE;
        tool_progress_start((const char *const *)sources, (guint)n, !options.output);
        for (int i = 0; i < n; i++)
                if (!read_source(run, sources[i], error))
                        return FALSE;
        return TRUE;
}

static gboolean write_imported_trace(Run *run, char **sources, int n, GError **error)
{
        const ImportCounts *counts = run->format->counts ? run->format->counts(run->import) : NULL;

        if (counts && counts->calls == 0)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: found no response to a request in %" G_GUINT64_FORMAT
                                  " packets, expected any",
                                  sources[0], counts->packets);
        if (counts)
                report_import(counts);
        return (run->writer = trace_writer_new(options.output ? options.output : "-", run->nodes,
                                               FALSE, error)) &&
               write_import_facts(run, sources, n, error) &&
               run->format->write(run->import, run->writer, error) &&
               (!run->format->say || run->format->say(run->import, say_fact, run, error)) &&
               trace_writer_close(g_steal_pointer(&run->writer), error);
}

/* --- mails ------------------------------------------------------------------------ */

/* MailName. --nodes knows addresses, and may name them differently from mails. */
static NodeId name_host(gpointer user, const char *name, const char *address)
{
        Run *run = user;
        Endpoint end = { .port = 0 };

        if (address && address_parse(address, strlen(address), &end.address)) {
                NodeId node = node_names_lookup(run->names, &end, NULL, 0);

                if (!name || !node_names_is_nameless(run->names, end.address))
                        return node;
        }
        name = name ? name : address;
        return node_table_add(run->nodes, name, strlen(name));
}

static gboolean write_mails(Run *run, MailImport *mails, char **sources, int n, GError **error)
{
        if (!(run->writer = trace_writer_new(options.output ? options.output : "-", run->nodes,
                                             FALSE, error)))
                return FALSE;
        for (int i = 0; i < n; i++)
                if (!trace_writer_fact(run->writer, "source", sources[i], error))
                        return FALSE;
        return trace_writer_fact(run->writer, "importer", "mail", error) &&
               mail_import_write(mails, run->nodes, run->writer, error) &&
               trace_writer_close(g_steal_pointer(&run->writer), error);
}

static gboolean import_mails(Run *run, char **sources, int n, GError **error)
{
        const MailOptions mail_options = { name_host, run, (const char *const *)options.trust,
                                           options.one_clock };
        g_autoptr(MailImport) mails = mail_import_new(&mail_options);
        guint64 others = 0;

        run->nodes = node_table_new();
        run->names = node_names_new(run->nodes);
        if (!import_name_files(sources, n, error) || !load_names(run, error))
                return FALSE;
        for (int i = 0; i < n; i++)
                if (!import_mail_read(mails, sources[i], &others, error))
                        return FALSE;
        if (mail_import_counts(mails)->headers == 0)
                return ravel_fail(error, RAVEL_ERROR_INPUT,
                                  "%s: found no Received header in %" G_GUINT64_FORMAT
                                  " mails, expected any",
                                  sources[0], mail_import_counts(mails)->mails);
        if (!write_mails(run, mails, sources, n, error))
                return FALSE;
        import_mail_report(mails, run->nodes, others);
        return TRUE;
}

/* --- all -------------------------------------------------------------------------- */

static gboolean import_files(Run *run, char **sources, int n, GError **error)
{
        if (!check_import_files(n, error))
                return FALSE;
        run->nodes = node_table_new();
        run->names = node_names_new(run->nodes);
        return read_sources(run, sources, n, error) && write_imported_trace(run, sources, n, error);
}

int tool_import(int argc, char **argv)
{
        g_auto(Run) run = { 0 };
        GError *error = NULL;
        gboolean is_mail;
        int status;

        if (!tool_parse("FILE... - a trace from spans, tshark or mails", entries, NULL, &argc,
                        &argv, &status))
                return status;
        is_mail = !options.tshark && argc > 1 && import_mail_is(argv[1]);
        if (!(is_mail ? import_mails : import_files)(&run, argv + 1, argc - 1, &error))
                return tool_fail(error);
        return run.cut ? EXIT_PARTIAL : tool_done();
}
