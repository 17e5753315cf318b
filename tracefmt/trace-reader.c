/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/trace-reader.h"

#include <string.h>
#include <sys/stat.h>

#include "base/each.h"
#include "base/error.h"
#include "tracefmt/byte-source.h"
#include "tracefmt/edge-cache.h"
#include "tracefmt/file-kind.h"
#include "tracefmt/sorted-runs.h"
#include "tracefmt/text-words.h"

enum {
        BLOCK = 1 << 17,    /* one read; stays in the second-level cache */
        MAX_LINE = 1 << 26, /* a longer line is not a trace */
        MAX_FACTS = 10000,
};

struct TraceReader {
        TraceReaderOptions options;
        char *path;
        NodeTable *nodes;
        ByteSource *source;

        char *block; /* block[0] to block[used - 1], then TEXT_PAD readable bytes */
        gsize size, used;
        const char *p;      /* the next line */
        const char *stop;   /* after the last complete line */
        guint64 line;       /* number of the line at p, less one */
        gint64 last;        /* time of the message before */
        guint64 second[2];  /* ten digits and the point, bytes 0 to 7 and 3 to 10 */
        gint64 second_time; /* what they mean, ns */
        gboolean at_end, pipe;

        Reorder *held;      /* where messages come out of order by little */
        SortedRuns *sorted; /* where they come in any order */
        gboolean in_order;  /* either of them is in use */
        gboolean ended;     /* there is no more to come into held */
        GString *order;     /* what trace_reader_order() says */

        GPtrArray *facts;
        GHashTable *excluded; /* NodeId + 1 to index into options.exclude, + 1 */
        guint64 *n_excluded;  /* by that index: messages left out */
        guint64 broken[N_BROKEN];
        guint64 late;
        gint64 out_first, out_last; /* stamps of what --from and --to left out */
        gboolean is_ours;           /* the first line says so */
        gboolean tail;              /* stop is the end, and the last line has no newline */
        gboolean cut;
        CachedEdge *cache; /* the last edge seen for each value of a hash */
};

const char *broken_line_name(BrokenLine reason)
{
        static const char *const names[N_BROKEN] = {
                "bad timestamp",  "unknown operation", "bad node name",
                "missing fields", "control character", "line too long",
        };

        return names[reason];
}

/* message_set_id(), where there are SHORT_ID readable bytes at id. */
static inline void set_id(Message *m, const char *id, gsize n)
{
        m->id = id;
        m->id_length = n - (n == 1 && *id == '-');
        if (G_LIKELY(n <= SHORT_ID))
                text_words(id, m->id_length, m->id_words, SHORT_ID / 8);
        else
                message_set_id(m, id, n);
}

/* --- one line ------------------------------------------------------------- */

/* A byte of the input as it is shown in a message. */
static void put_visible(GString *text, guchar c)
{
        if (c < ' ' || c >= 0x7f)
                g_string_append_printf(text, "\\x%02x", c);
        else
                g_string_append_c(text, c);
}

/* Names the line, what was found there and what was expected, or counts it. The
 * bytes at found are shown up to the end of the token or the line. */
static int line_broken(TraceReader *r, BrokenLine reason, const char *found, const char *expected,
                       GError **error)
{
        g_autoptr(GString) text = g_string_new(NULL);

        if (r->tail && r->p == r->stop && r->line > 1) {
                r->cut = TRUE;
                return 0;
        }
        r->broken[reason]++;
        if (r->options.keep_going)
                return 0;
        while (text->len < 60 && *found != '\n' &&
               (reason == BROKEN_FIELDS || (guchar)*found > ' ' || text->len == 0))
                put_visible(text, *found++);
        g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                    "%s:%" G_GUINT64_FORMAT ": %s: found \"%s\", expected %s",
                    byte_source_name(r->source), r->line, broken_line_name(reason), text->str,
                    expected);
        return -1;
}

static gboolean is_blank(char c)
{
        return c == ' ' || c == '\t';
}

/* Leaves p after the operation; NULL where it is none. Calls and returns follow
 * each other at random, so there is no branch on which it is. */
static inline const char *parse_op(const char *p, MessageOp *op)
{
        static const char ops[][16] = {
                [CALL_SENT] = "CALL_SENT", [CALL_RECV] = "CALL_RECV", [RET_SENT] = "RET_SENT",
                [RET_RECV] = "RET_RECV",   [MSG_SENT] = "MSG_SENT",   [MSG_RECV] = "MSG_RECV",
        };
        guint is_call = *p == 'C';
        guint o = (*p == 'M') * MSG_SENT + (*p == 'R') * RET_SENT + (p[4 + is_call] == 'R');
        const char *last = ops[o] + is_call;

        if ((word_load(p) ^ word_load(ops[o])) | (word_load(p + is_call) ^ word_load(last)))
                return NULL;
        *op = o;
        return p + 8 + is_call;
}

static inline const char *skip_blanks(const char *p)
{
        while (*p == ' ' || *p == '\t')
                p++;
        return p;
}

static void add_fact(TraceReader *r, const char *line, const char *end)
{
        const char *p = skip_blanks(line + 1);
        const char *colon = memchr(p, ':', end - p);

        if (end > p && end[-1] == '\r')
                end--;
        if (!colon || colon == p || colon + 1 >= end || colon[1] != ' ' ||
            r->facts->len >= MAX_FACTS)
                return;
        g_ptr_array_add(r->facts, g_strndup(p, end - p));
}

/* A line that is no message: empty or a comment. */
static int parse_comment(TraceReader *r, const char *line, const char *end, GError **error)
{
        static const char magic[] = "# ravel trace ";

        if (*line != '#')
                return 0;
        if (r->line == 1 && (gsize)(end - line) >= sizeof magic - 1 &&
            !memcmp(line, magic, sizeof magic - 1)) {
                const char *version = line + sizeof magic - 1;
                g_autoptr(GString) text = g_string_new(NULL);

                if (version[0] == '1' && (version + 1 == end || (guchar)version[1] <= ' ')) {
                        r->is_ours = TRUE;
                        return 0;
                }
                while (version < end && text->len < 20)
                        put_visible(text, *version++);
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                            "%s:1: a trace of version %s, expected version 1",
                            byte_source_name(r->source), text->str);
                return -1;
        }
        add_fact(r, line, end);
        return 0;
}

/* Ten digits and a point that differ from those of the line before: FALSE where
 * they are not that. a and b are the words that begin 0 and 3 bytes after p. */
static gboolean new_second(TraceReader *r, const char *p, guint64 a, guint64 b)
{
        guint64 high = a ^ (WORD_ONES * '0');
        guint tens = (guchar)(p[8] - '0'), units = (guchar)(p[9] - '0');
        guint64 seconds = word_number(high) * 100 + tens * 10 + units;

        if (word_not_digits(high) || tens > 9 || units > 9 || p[10] != '.' || seconds > MAX_SECONDS)
                return FALSE;
        r->second[0] = a;
        r->second[1] = b;
        r->second_time = (gint64)seconds * 1000000000;
        return TRUE;
}

/* A line that is as we write it: ten digits of seconds, a point, one blank between
 * fields, an edge seen before. FALSE: parse_line() must see what it is. What this
 * accepts, that would read the same. Calls and returns of all edges follow each
 * other at random, so there is no branch on which it is. */
G_ALWAYS_INLINE static inline gboolean parse_usual_line(TraceReader *r, Message *m)
{
        static const char ops[8][16] = {
                "CALL_SENT", "CALL_RECV", "RET_SENT", "RET_RECV",
                "MSG_SENT",  "MSG_RECV",  "\n",       "\n", /* no operation */
        };
        const char *p = r->p, *op, *sender, *id, *end;
        guint64 a = word_load(p), b = word_load(p + 3), fraction;
        guint64 after_sender, after_receiver; /* the separators from there on */
        guint letter, is_call, index;

        if (G_UNLIKELY((a ^ r->second[0]) | (b ^ r->second[1])) && !new_second(r, p, a, b))
                return FALSE;
        if (G_LIKELY(is_blank(p[20]))) { /* nine decimals */
                guint64 low = word_load(p + 12) ^ (WORD_ONES * '0');
                guint first = (guchar)(p[11] - '0');

                if (G_UNLIKELY(word_not_digits(low) | (first > 9)))
                        return FALSE;
                fraction = first * (guint64)100000000 + word_number(low);
                op = p + 21;
        } else {
                guint n = word_digits(word_load(p + 11), &fraction);

                if (!is_blank(p[11 + n]))
                        return FALSE;
                fraction *= stamp_units[n];
                op = p + 12 + n;
        }
        m->time = r->second_time + fraction;

        /* Two bits of the first letter tell calls, returns and messages apart. */
        letter = (guchar)*op;
        is_call = !(letter & 0x18);
        index = (letter >> 3 & 2) + (letter >> 1 & 4) + (op[4 + is_call] == 'R');
        if (G_UNLIKELY((word_load(op) ^ word_load(ops[index])) |
                       (word_load(op + is_call) ^ word_load(ops[index] + is_call))))
                return FALSE;
        m->op = index;
        sender = op + 9 + is_call;

        after_sender = separators32(sender);
        after_receiver = after_sender & (after_sender - 1);
        if (G_UNLIKELY(!(after_receiver & (after_receiver - 1)))) {
                after_sender |= (guint64)separators32(sender + 32) << 32;
                after_receiver = after_sender & (after_sender - 1);
                if (!(after_receiver & (after_receiver - 1)))
                        return FALSE; /* over 64 bytes */
        }
        id = sender + __builtin_ctzll(after_receiver) + 1;
        end = sender + __builtin_ctzll(after_receiver & (after_receiver - 1));
        if (G_UNLIKELY(!is_blank(sender[-1])) || G_UNLIKELY(!is_blank(id[-1])) ||
            G_UNLIKELY(end == id))
                return FALSE;
        if (G_UNLIKELY(!edge_cache_find(r->cache, sender, id - 1 - sender, m)))
                return FALSE;
        set_id(m, id, end - id);
        if (G_UNLIKELY(*end != '\n')) {
                if (!is_blank(*end))
                        return FALSE;
                p = end + 1;
                end = memchr(p, '\n', r->stop - p);
                if ((guchar)*p <= ' ' || (guchar)end[-1] <= ' ')
                        return FALSE;
                m->attrs = p;
        } else {
                m->attrs = end;
        }
        m->attrs_length = end - m->attrs;
        r->p = end + 1;
        r->line++;
        return TRUE;
}

/* The line at r->p, which ends with a newline. 1: a message; 0: none; -1. */
static int parse_line(TraceReader *r, Message *m, GError **error)
{
        const char *line = r->p, *p = line, *end, *sender, *receiver;
        gsize n, n_sender;
        g_autoptr(GError) name_error = NULL;

        r->line++;
        if (G_UNLIKELY((guchar)*p <= ' ' || *p == '#')) {
                p = skip_blanks(p);
                if (*p == '#' || *p == '\n' || (*p == '\r' && p[1] == '\n')) {
                        end = memchr(p, '\n', r->stop - p);
                        r->p = end + 1;
                        return parse_comment(r, p, end, error);
                }
        }

        end = stamp_parse(p, &m->time);
        if (G_UNLIKELY(!end || !is_blank(*end))) {
                r->p = (char *)memchr(p, '\n', r->stop - p) + 1;
                if (end && (*end == '\n' || *end == '\r'))
                        return line_broken(r, BROKEN_FIELDS, p,
                                           "timestamp, operation, sender, receiver and id", error);
                return line_broken(r, BROKEN_TIME, p,
                                   "seconds since the epoch, before 2116, at most 9 decimals",
                                   error);
        }
        p = skip_blanks(end);

        end = parse_op(p, &m->op);
        if (G_UNLIKELY(!end || !is_blank(*end))) {
                r->p = (char *)memchr(p, '\n', r->stop - p) + 1;
                if (*p == '\n' || *p == '\r' || (end && (*end == '\n' || *end == '\r')))
                        return line_broken(r, BROKEN_FIELDS, line,
                                           "timestamp, operation, sender, receiver and id", error);
                return line_broken(r, BROKEN_OPERATION, p,
                                   "CALL_SENT, CALL_RECV, RET_SENT, RET_RECV, MSG_SENT or MSG_RECV",
                                   error);
        }
        p = skip_blanks(end);

        sender = p;
        n = n_sender = token_length(p);
        if (n == 0 || !is_blank(p[n]))
                goto bad_field;
        p = receiver = skip_blanks(p + n);
        n = token_length(p);
        if (n == 0 || !is_blank(p[n]))
                goto bad_field;
        p += n;
        if (!edge_cache_find(r->cache, sender, p - sender, m)) {
                m->sender = node_table_add_written(r->nodes, sender, n_sender, &name_error);
                if (m->sender == NO_NODE) {
                        p = sender;
                        goto bad_field;
                }
                m->receiver = node_table_add_written(r->nodes, receiver, n, &name_error);
                if (m->receiver == NO_NODE) {
                        p = receiver;
                        goto bad_field;
                }
                edge_cache_put(r->cache, sender, p - sender, m);
        }
        p = skip_blanks(p);

        n = token_length(p);
        if (n == 0)
                goto bad_field;
        set_id(m, p, n);
        p += n;

        m->attrs_length = 0;
        m->attrs = p;
        if (*p == '\n') {
                r->p = p + 1;
                return 1;
        }
        if (G_UNLIKELY(!is_blank(*p) && (*p != '\r' || p[1] != '\n'))) {
                n = 0;
                goto bad_field;
        }
        end = memchr(p, '\n', r->stop - p);
        r->p = end + 1;
        p = skip_blanks(p);
        while (end > p && (is_blank(end[-1]) || end[-1] == '\r'))
                end--;
        m->attrs = p;
        m->attrs_length = end - p;
        return 1;

bad_field:
        /* p is at the field that is wrong, or at the byte after it. */
        r->p = (char *)memchr(p, '\n', r->stop - p) + 1;
        if (name_error)
                return line_broken(r, BROKEN_NODE, p, "UTF-8 with %XX for what must be escaped",
                                   error);
        p += n;
        if (*p == '\n' || (*p == '\r' && p[1] == '\n'))
                return line_broken(r, BROKEN_FIELDS, line,
                                   "timestamp, operation, sender, receiver and id", error);
        return line_broken(r, BROKEN_BYTE, p, "printable text, blanks and tabs", error);
}

/* --- blocks --------------------------------------------------------------- */

/* Reads on until there is at least one complete line past r->p. 1, 0 at the end
 * of the input, -1. */
static int block_refill(TraceReader *r, GError **error)
{
        gsize rest = r->block + r->used - r->p;

        memmove(r->block, r->p, rest);
        r->used = rest;
        r->p = r->stop = r->block;
        for (;;) {
                char *newline;
                gssize k;

                if (r->at_end)
                        return 0;
                if (r->size - r->used < BLOCK / 2) {
                        if (r->size > MAX_LINE) {
                                r->line++;
                                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_INPUT,
                                            "%s:%" G_GUINT64_FORMAT
                                            ": a line of over %d bytes, expected a trace",
                                            byte_source_name(r->source), r->line, MAX_LINE);
                                return -1;
                        }
                        r->size *= 2;
                        r->block = g_realloc(r->block, r->size + TEXT_PAD);
                        r->p = r->stop = r->block;
                }
                k = byte_source_read(r->source, r->block + r->used, r->size - r->used, error);
                if (k < 0 && r->line > 0 && byte_source_ended_early(r->source)) {
                        g_clear_error(error);
                        r->cut = TRUE;
                        k = 0;
                }
                if (k < 0)
                        return -1;
                if (k == 0) {
                        r->at_end = TRUE;
                        r->cut |= r->used > 0 && r->is_ours; /* we end each line */
                        if (r->used == 0 || r->cut)
                                return 0;
                        r->block[r->used] = '\n';
                        r->tail = TRUE;
                        k = 1;
                }
                if (G_UNLIKELY(r->line == 0) && r->p == r->block &&
                    !file_kind_expect(file_kind_of(r->block, r->used + k), FILE_TRACE,
                                      byte_source_name(r->source), error))
                        return -1;
                newline = memrchr(r->block + r->used, '\n', k);
                r->used += k;
                memset(r->block + r->used, 0, TEXT_PAD);
                if (newline) {
                        r->stop = newline + 1;
                        return 1;
                }
        }
}

__attribute__((noinline)) static gboolean is_excluded(TraceReader *r, const Message *m)
{
        NodeId ends[] = { m->sender, m->receiver };
        gboolean excluded = FALSE;

        for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
                guint name = GPOINTER_TO_UINT(
                        g_hash_table_lookup(r->excluded, GUINT_TO_POINTER(ends[i] + 1)));

                if (name) {
                        r->n_excluded[name - 1]++;
                        excluded = TRUE;
                }
        }
        return excluded;
}

/* The usual way past it stays short. */
__attribute__((cold, noinline)) static gboolean is_outside(TraceReader *r, gint64 time)
{
        if (time >= r->options.from && time < r->options.to)
                return FALSE;
        r->out_first = MIN(r->out_first, time);
        r->out_last = MAX(r->out_last, time);
        return TRUE;
}

/* The next message in the order of the lines. */
G_ALWAYS_INLINE static inline int next_line(TraceReader *r, Message *m, GError **error)
{
        for (;;) {
                int status;

                if (G_UNLIKELY(r->p == r->stop)) {
                        status = block_refill(r, error);
                        if (status <= 0)
                                return status;
                }
                if (G_UNLIKELY(!parse_usual_line(r, m))) {
                        status = parse_line(r, m, error);
                        if (status < 0)
                                return -1;
                        if (status == 0)
                                continue;
                }
                if (G_UNLIKELY(m->time < r->options.from || m->time >= r->options.to) &&
                    is_outside(r, m->time))
                        continue;
                if (G_UNLIKELY(r->excluded != NULL) && is_excluded(r, m))
                        continue;
                return 1;
        }
}

/* Takes the earliest message of the buffer, once the buffer is so full that no earlier one can
 * come. */
__attribute__((noinline)) static int next_held(TraceReader *r, Message *m, GError **error)
{
        while (!r->ended && !reorder_is_full(r->held)) {
                int status = next_line(r, m, error);

                if (status < 0)
                        return -1;
                if (status > 0)
                        reorder_put(r->held, m);
                else
                        r->ended = TRUE;
        }
        return reorder_take(r->held, m);
}

/* Of a pipe, late ones are handed out as they come. */
__attribute__((cold, noinline)) static int reader_take_late(TraceReader *r, GError **error)
{
        if (r->options.any_order)
                return 1;
        if (!r->pipe) {
                g_set_error(error, RAVEL_ERROR, RAVEL_ERROR_DISORDER,
                            "%s:%" G_GUINT64_FORMAT ": time goes backwards",
                            byte_source_name(r->source), r->line);
                return -1;
        }
        r->late++;
        return 1;
}

__attribute__((noinline)) static int next_in_order(TraceReader *r, Message *m, GError **error)
{
        int status = r->held ? next_held(r, m, error) : sorted_runs_next(r->sorted, m, error);

        if (status <= 0)
                return status;
        if (m->time < r->last)
                return reader_take_late(r, error);
        r->last = m->time;
        return 1;
}

int trace_reader_next(TraceReader *r, Message *m, GError **error)
{
        int status;

        if (G_UNLIKELY(r->in_order))
                return next_in_order(r, m, error);
        status = next_line(r, m, error);
        if (G_UNLIKELY(status <= 0))
                return status;
        if (G_UNLIKELY(m->time < r->last))
                return reader_take_late(r, error);
        r->last = m->time;
        return 1;
}

/* --- sorting -------------------------------------------------------------- */

static gboolean open_source(TraceReader *r, GError **error)
{
        struct stat st;

        g_clear_pointer(&r->source, byte_source_free);
        r->source = byte_source_new(r->path, error);
        if (!r->source)
                return FALSE;
        if (r->options.name)
                byte_source_set_name(r->source, r->options.name(byte_source_name(r->source)));
        byte_source_set_progress(r->source, r->options.progress);
        byte_source_set_wait(r->source, r->options.wait, r->options.wait_user);
        if (r->options.want_digest)
                byte_source_want_digest(r->source);
        r->pipe = !strcmp(r->path, "-") || stat(r->path, &st) < 0 || !S_ISREG(st.st_mode);
        r->p = r->stop = r->block;
        r->used = 0;
        r->at_end = r->ended = r->is_ours = r->tail = r->cut = FALSE;
        r->line = 0;
        r->last = r->out_last = G_MININT64;
        r->out_first = G_MAXINT64;
        r->second[0] = ~(guint64)0; /* bytes 3 to 7 of no text are both */
        r->second[1] = 0;
        memset(r->broken, 0, sizeof r->broken);
        for (guint i = 0; r->n_excluded && r->options.exclude[i]; i++)
                r->n_excluded[i] = 0;
        g_ptr_array_set_size(r->facts, 0);
        return TRUE;
}

static void reader_hold(TraceReader *r)
{
        r->held = reorder_new();
        r->in_order = TRUE;
}

/* From the beginning, with what holds messages until they are in order. */
static gboolean reader_restart(TraceReader *r, GError **error)
{
        g_clear_pointer(&r->held, reorder_free);
        return open_source(r, error);
}

/* Whether a bounded buffer puts all in order. -1: error set. */
static int try_held(TraceReader *r, GError **error)
{
        gint64 latest = G_MININT64, most;
        guint64 n_late;
        Message m;
        int status;

        if (!reader_restart(r, error))
                return -1;
        reader_hold(r);
        while ((status = next_held(r, &m, error)) > 0 && m.time >= latest)
                latest = m.time;
        if (status != 0)
                return status < 0 ? -1 : FALSE;
        n_late = reorder_late(r->held, &most);
        g_string_printf(r->order,
                        "%" G_GUINT64_FORMAT " %s, by %.6g ms at most; put in order as it is read",
                        n_late, n_late == 1 ? "message comes late" : "messages come late",
                        (double)most / 1e6);
        if (!reader_restart(r, error))
                return -1;
        reader_hold(r);
        return TRUE;
}

static gboolean reader_sort_all(TraceReader *r, GError **error)
{
        enum { MEMORY = 1 << 26 };
        Message m;
        int status;

        if (!reader_restart(r, error))
                return FALSE;
        r->sorted = sorted_runs_new(MEMORY);
        r->in_order = TRUE;
        while ((status = next_line(r, &m, error)) > 0)
                if (!sorted_runs_add(r->sorted, &m, error))
                        return FALSE;
        if (status < 0 || !sorted_runs_finish(r->sorted, error))
                return FALSE;
        if (sorted_runs_parts(r->sorted))
                g_string_printf(r->order, "sorted in %u parts in %s", sorted_runs_parts(r->sorted),
                                g_get_tmp_dir());
        else
                g_string_assign(r->order, "sorted in memory");
        return TRUE;
}

gboolean trace_reader_sort(TraceReader *r, GError **error)
{
        int status;

        g_assert(!r->pipe && !r->sorted && !r->held);
        status = try_held(r, error);
        return status < 0 ? FALSE : status || reader_sort_all(r, error);
}

const char *trace_reader_order(const TraceReader *r)
{
        return r->order->str;
}

/* --- the rest ------------------------------------------------------------- */

TraceReader *trace_reader_new(const char *path, NodeTable *nodes, const TraceReaderOptions *options,
                              GError **error)
{
        g_autoptr(TraceReader) r = g_new0(TraceReader, 1);

        r->options = *options;
        r->path = g_strdup(path);
        r->nodes = nodes;
        r->facts = g_ptr_array_new_with_free_func(g_free);
        r->order = g_string_new(NULL);
        r->size = BLOCK;
        r->block = g_malloc0(r->size + TEXT_PAD);
        r->cache = edge_cache_new();
        if (options->exclude && *options->exclude) {
                r->excluded = g_hash_table_new(NULL, NULL);
                for (char *const *name = options->exclude; *name; name++) {
                        NodeId node = node_table_add(nodes, *name, strlen(*name));

                        g_hash_table_insert(r->excluded, GUINT_TO_POINTER(node + 1),
                                            GUINT_TO_POINTER(name - options->exclude + 1));
                }
                r->n_excluded = g_new0(guint64, g_strv_length((char **)options->exclude));
        }
        if (!open_source(r, error))
                return NULL;
        if (r->pipe && !options->any_order)
                reader_hold(r);
        return g_steal_pointer(&r);
}

void trace_reader_take_late(TraceReader *r)
{
        g_clear_pointer(&r->held, reorder_free);
        r->in_order = FALSE;
        r->pipe = TRUE;
}

const char *trace_reader_name(const TraceReader *r)
{
        return byte_source_name(r->source);
}

static gboolean leaves_out(const TraceReader *r, NodeId node)
{
        return r->excluded && g_hash_table_contains(r->excluded, GUINT_TO_POINTER(node + 1));
}

GArray *trace_reader_doubts(const TraceReader *r)
{
        GArray *doubts = doubts_from_facts((char *const *)r->facts->pdata, r->facts->len, r->nodes);

        for (guint i = doubts->len; i-- > 0;) {
                const Doubt *d = &g_array_index(doubts, Doubt, i);
                if (leaves_out(r, d->caller) || leaves_out(r, d->callee))
                        g_array_remove_index(doubts, i);
        }
        return doubts;
}

const NodeTable *trace_reader_nodes(const TraceReader *r)
{
        return r->nodes;
}

char *const *trace_reader_facts(const TraceReader *r, guint *n)
{
        *n = r->facts->len;
        return (char *const *)r->facts->pdata;
}

const guint64 *trace_reader_broken(const TraceReader *r)
{
        return r->broken;
}

guint64 trace_reader_excluded(const TraceReader *r, guint i)
{
        return r->n_excluded[i];
}

gboolean trace_reader_is_empty(const TraceReader *r, gint64 *first, gint64 *last)
{
        *first = r->out_first;
        *last = r->out_last;
        return r->last == G_MININT64;
}

/* What begins as a capture ends with its counts. */
TraceEnd trace_reader_end(const TraceReader *r)
{
        gboolean source = FALSE, link_type = FALSE, counted = FALSE;

        if (r->cut)
                return TRACE_CUT;
        EACH_OF (const char, fact, r->facts) {
                source |=
                        g_str_has_prefix(fact, "source: ") || g_str_has_prefix(fact, "interface: ");
                link_type |= g_str_has_prefix(fact, "link type: ");
                counted |= g_str_has_prefix(fact, "packets: ");
                if (g_str_has_prefix(fact, "incomplete: "))
                        return TRACE_UNFINISHED;
        }
        return source && link_type && !counted && r->facts->len < MAX_FACTS ? TRACE_UNFINISHED
                                                                            : TRACE_WHOLE;
}

guint64 trace_reader_late(const TraceReader *r)
{
        return r->late;
}

const char *trace_reader_digest(TraceReader *r)
{
        return byte_source_digest(r->source);
}

void trace_reader_free(TraceReader *r)
{
        if (!r)
                return;
        byte_source_free(r->source);
        reorder_free(r->held);
        sorted_runs_free(r->sorted);
        g_string_free(r->order, TRUE);
        if (r->excluded)
                g_hash_table_destroy(r->excluded);
        g_free(r->n_excluded);
        g_ptr_array_free(r->facts, TRUE);
        edge_cache_free(r->cache);
        g_free(r->block);
        g_free(r->path);
        g_free(r);
}
