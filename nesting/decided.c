/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/decided.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/grow.h"

enum { CHUNK = 1 << 16, CALL_BYTES = 83 };
#define LONGEST_WAIT 1000000000000000000 /* ns */

static void labels_bytes(GPtrArray *labels, Bytes *b)
{
        guint32 n = labels->len;

        bytes_count(b, &n, 4);
        bytes_expect(b, n <= G_MAXUINT16, "at most 65,535 operations");
        for (guint32 i = 0; i < n && bytes_good(b); i++) {
                if (bytes_reads(b))
                        g_ptr_array_add(labels, NULL);
                bytes_text(b, (char **)&labels->pdata[i]);
        }
}

/* One way for both: when reading, id points into the bytes. */
static void call_bytes(PathCall *c, guint32 *ordinal, Bytes *b)
{
        guint8 *none = NULL;

        bytes_u32(b, &c->parent);
        bytes_u32(b, &c->caller);
        bytes_u32(b, &c->callee);
        bytes_i64(b, &c->start);
        bytes_i64(b, &c->enter);
        bytes_i64(b, &c->reply);
        bytes_i64(b, &c->end);
        bytes_i64(b, &c->connect);
        bytes_i64(b, &c->stall);
        bytes_i64(b, &c->ret_stall);
        bytes_i64(b, &c->call_bytes);
        bytes_i64(b, &c->ret_bytes);
        bytes_u8(b, &c->stamps);
        bytes_float(b, &c->probability);
        bytes_float(b, &c->family);
        bytes_u32(b, &c->candidates);
        bytes_u16(b, &c->label);
        bytes_u32(b, ordinal);
        bytes_count(b, &c->id_length, 1);
        if (!bytes_reads(b)) {
                none = (guint8 *)c->id;
                bytes_u8s(b, &none, c->id_length);
                return;
        }
        c->id = (const char *)b->data + b->at;
        b->at += bytes_good(b) ? c->id_length : 0;
}

/* --- writing ------------------------------------------------------------------ */

struct DecidedWriter {
        OutputFile *out;
        Bytes bytes; /* not written yet */
};

static guint64 digest_of(Learned *l)
{
        Bytes b = bytes_to_write();
        g_autoptr(GBytes) bytes = NULL;
        gsize n;
        const char *data;

        learned_bytes(l, TRUE, &b);
        bytes = bytes_written(&b);
        data = g_bytes_get_data(bytes, &n);
        return digest_bytes(DIGEST_BEGIN, data, n);
}

DecidedWriter *decided_writer_new(OutputFile *out, Learned *learned, guint32 slice,
                                  const GPtrArray *labels, const char *digest)
{
        DecidedWriter *w = g_new0(DecidedWriter, 1);
        StateKind kind = STATE_DECIDED;
        guint64 learned_digest = digest_of(learned);
        char *text = (char *)(digest ? digest : "");

        w->out = out;
        w->bytes = bytes_to_write();
        state_head_bytes(&kind, &w->bytes);
        learned_bytes(learned, FALSE, &w->bytes);
        bytes_u64(&w->bytes, &learned_digest);
        bytes_u32(&w->bytes, &slice);
        bytes_text(&w->bytes, &text);
        labels_bytes((GPtrArray *)labels, &w->bytes);
        return w;
}

void decided_writer_free(DecidedWriter *w)
{
        if (!w)
                return;
        if (w->bytes.out)
                g_byte_array_unref(w->bytes.out);
        g_free(w);
}

static gboolean flush(DecidedWriter *w, GError **error)
{
        GByteArray *bytes = w->bytes.out;
        gboolean ok = output_file_write(w->out, bytes->data, bytes->len, error);

        g_byte_array_set_size(bytes, 0);
        return ok;
}

gboolean decided_writer_add(DecidedWriter *w, const PathCall *path, const guint32 *ordinal,
                            guint32 n, gboolean is_cut, GError **error)
{
        bytes_u32(&w->bytes, &n);
        bytes_bool(&w->bytes, &is_cut);
        for (guint32 i = 0; i < n; i++) {
                PathCall call = path[i];
                guint32 o = ordinal[i];

                call_bytes(&call, &o, &w->bytes);
        }
        return w->bytes.out->len < CHUNK || flush(w, error);
}

gboolean decided_writer_end(DecidedWriter *w, const guint64 seam[2], GError **error)
{
        guint32 none = 0;

        bytes_u32(&w->bytes, &none);
        for (guint i = 0; i < 2; i++) {
                guint64 digest = seam[i];

                bytes_u64(&w->bytes, &digest);
        }
        return flush(w, error);
}

/* --- reading ------------------------------------------------------------------- */

gboolean decided_reader_init(DecidedReader *r, const guint8 *data, gsize n, GError **error)
{
        StateKind kind = STATE_DECIDED;
        Bytes *b = &r->bytes;

        *r = (DecidedReader){ .bytes = bytes_to_read(data, n),
                              .learned = learned_new(),
                              .labels = g_ptr_array_new_with_free_func(g_free) };
        state_head_bytes(&kind, b);
        bytes_expect(b, kind == STATE_DECIDED, "what was decided");
        if (bytes_good(b))
                learned_bytes(r->learned, FALSE, b);
        bytes_u64(b, &r->learned_digest);
        bytes_u32(b, &r->slice);
        bytes_expect(b, r->slice < r->learned->slices->len, "a slice");
        bytes_text(b, &r->digest);
        labels_bytes(r->labels, b);
        if (bytes_good(b))
                return TRUE;
        return bytes_end(b, error);
}

void decided_reader_clear(DecidedReader *r)
{
        learned_free(r->learned);
        g_ptr_array_free(r->labels, TRUE);
        g_free(r->digest);
        g_free(r->path);
        g_free(r->ordinal);
        g_free(r->bytes.wrong);
}

static void make_room(DecidedReader *r, guint32 n)
{
        if (n <= r->size)
                return;
        r->size = n + n / 2;
        r->path = g_renew(PathCall, r->path, r->size);
        r->ordinal = g_renew(guint32, r->ordinal, r->size);
}

/* As long as a trace can say. */
static gboolean is_wait(gint64 time)
{
        return time >= 0 && time < LONGEST_WAIT;
}

static void check_call(DecidedReader *r, guint32 i)
{
        PathCall *c = &r->path[i];
        guint n_nodes = node_table_size(r->learned->nodes);

        bytes_expect(&r->bytes, i == 0 ? c->parent == NO_PARENT : c->parent < i,
                     "a parent before its child");
        bytes_expect(&r->bytes, c->caller < n_nodes && c->callee < n_nodes, "a node");
        bytes_expect(&r->bytes, c->label <= r->labels->len, "an operation");
        bytes_expect(&r->bytes, c->stamps < 16, "stamps of a call");
        bytes_expect(&r->bytes, c->probability >= 0 && c->probability <= 1, "a probability");
        bytes_expect(&r->bytes, c->start >= -MAX_STAMP && c->start <= MAX_STAMP, "a moment");
        bytes_expect(&r->bytes, c->end >= -MAX_STAMP && c->end <= MAX_STAMP, "a moment");
        bytes_expect(&r->bytes, c->enter >= -MAX_STAMP && c->enter <= MAX_STAMP, "a moment");
        bytes_expect(&r->bytes, c->reply >= -MAX_STAMP && c->reply <= MAX_STAMP, "a moment");
        bytes_expect(&r->bytes, is_wait(c->connect) && is_wait(c->stall) && is_wait(c->ret_stall),
                     "how long a call waited");
}

int decided_reader_next(DecidedReader *r, guint32 *n, gboolean *is_cut, GError **error)
{
        Bytes *b = &r->bytes;

        bytes_count(b, n, CALL_BYTES);
        if (bytes_good(b) && *n == 0) {
                bytes_u64(b, &r->seam[0]);
                bytes_u64(b, &r->seam[1]);
                return bytes_end(b, error) ? 0 : -1;
        }
        bytes_bool(b, is_cut);
        make_room(r, *n);
        for (guint32 i = 0; i < *n && bytes_good(b); i++) {
                r->path[i] = (PathCall){ .call = i };
                call_bytes(&r->path[i], &r->ordinal[i], b);
                check_call(r, i);
        }
        if (bytes_good(b))
                return 1;
        bytes_end(b, error);
        return -1;
}
