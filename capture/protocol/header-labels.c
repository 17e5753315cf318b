/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/header-labels.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

#include "capture/protocol/path-label.h"
#include "capture/protocol/values.h"

enum {
        MAX_MEMORY = 64 << 20,
        /* Servers may allow for more than the usual 4,096 bytes. A client says when it makes
         * use of that, so what the server allows need not be known. */
        MAX_TABLE = 16384,
        MAX_METHOD = 24,
        MAX_PATH = 4096,
        KNOWN_BLOCKS = 4,
        MAX_KNOWN = 16, /* bytes of a block that is known */
};

/* A block of a response that only refers to the table as it is. */
typedef struct {
        guint8 bytes[MAX_KNOWN];
        guint8 n; /* 0: none */
        Outcome outcome;
} KnownBlock;

struct HeaderLabels {
        nghttp2_hd_inflater *inflater;
        nghttp2_mem allocator;
        GString *method, *path, *action;
        const TagRules *rules; /* NULL: no tags are wanted */
        RequestTags *tags;
        Outcome outcome;
        BodyKind body;
        gboolean grpc, coded, within; /* within a block */
        KnownBlock known[KNOWN_BLOCKS];
        guint next_known; /* the one that another takes the place of */
};

/* --- memory, counted: each piece knows its size ----------------------------- */

typedef union {
        gsize size;
        max_align_t align;
} Piece;

static void *piece_resize(void *old, gsize size, void *user)
{
        gsize *memory = user, had = 0;
        Piece *piece = old;
        if (piece)
                had = (--piece)->size;
        if (size > MAX_MEMORY || *memory - had + size + sizeof *piece > MAX_MEMORY)
                return NULL;
        *memory += size - had + (piece ? 0 : sizeof *piece);
        piece = g_realloc(piece, sizeof *piece + size);
        piece->size = size;
        return piece + 1;
}

static void *piece_new(size_t size, void *user)
{
        return piece_resize(NULL, size, user);
}

static void *piece_new0(size_t n, size_t size, void *user)
{
        if (size > 0 && n > MAX_MEMORY / size)
                return NULL;
        void *piece = piece_resize(NULL, n * size, user);
        return piece ? memset(piece, 0, n * size) : NULL;
}

static void piece_free(void *old, void *user)
{
        gsize *memory = user;
        Piece *piece = old;
        if (!piece)
                return;
        piece--;
        *memory -= piece->size + sizeof *piece;
        g_free(piece);
}

/* --- blocks ---------------------------------------------------------------- */

HeaderLabels *header_labels_new(gsize *memory)
{
        HeaderLabels *h = g_new0(HeaderLabels, 1);
        h->allocator = (nghttp2_mem){ memory, piece_new, piece_free, piece_new0, piece_resize };
        h->method = g_string_new(NULL);
        h->path = g_string_new(NULL);
        h->action = g_string_new(NULL);
        if (nghttp2_hd_inflate_new2(&h->inflater, &h->allocator) != 0 ||
            nghttp2_hd_inflate_change_table_size(h->inflater, MAX_TABLE) != 0) {
                header_labels_free(h);
                return NULL;
        }
        return h;
}

void header_labels_free(HeaderLabels *h)
{
        if (!h)
                return;
        if (h->inflater)
                nghttp2_hd_inflate_del(h->inflater);
        g_string_free(h->method, TRUE);
        g_string_free(h->path, TRUE);
        g_string_free(h->action, TRUE);
        g_free(h->tags);
        g_free(h);
}

static gboolean name_is(const nghttp2_nv *field, const char *name)
{
        return field->namelen == strlen(name) && memcmp(field->name, name, field->namelen) == 0;
}

/* Its digits, up to 4; 0 where it is no number. */
static guint field_number(const nghttp2_nv *field)
{
        guint number = 0;

        for (gsize i = 0; i < field->valuelen; i++) {
                if (!g_ascii_isdigit(field->value[i]) || i == 4)
                        return 0;
                number = 10 * number + (guint)(field->value[i] - '0');
        }
        return number;
}

static void action_take(HeaderLabels *h, const nghttp2_nv *field)
{
        const guint8 *name = field->value;
        gsize n = action_name_find(&name, field->valuelen);

        g_string_append_len(g_string_truncate(h->action, 0), (const char *)name, (gssize)n);
}

static void field_take(HeaderLabels *h, const nghttp2_nv *field)
{
        static const char grpc[] = "application/grpc";
        const char *value = (const char *)field->value;
        if (name_is(field, ":method"))
                g_string_append_len(g_string_truncate(h->method, 0), value,
                                    (gssize)MIN(field->valuelen, MAX_METHOD));
        else if (name_is(field, ":path"))
                g_string_append_len(g_string_truncate(h->path, 0), value,
                                    (gssize)MIN(field->valuelen, MAX_PATH));
        else if (name_is(field, ":status"))
                h->outcome = outcome_http(field_number(field));
        else if (name_is(field, "grpc-status"))
                h->outcome = outcome_grpc(field_number(field));
        else if (name_is(field, "content-encoding"))
                h->coded = TRUE;
        else if (name_is(field, "soapaction") || name_is(field, "x-amz-target"))
                action_take(h, field);
        else if (name_is(field, "content-type")) {
                h->grpc = field->valuelen >= sizeof grpc - 1 &&
                          memcmp(value, grpc, sizeof grpc - 1) == 0;
                h->body = field->valuelen == sizeof grpc - 1 && h->grpc
                                  ? BODY_OTHER /* the usual type of all, at once */
                                  : body_kind(field->value, field->valuelen);
        }
}

/* Path and fields as HTTP/1 has them. */
static void values_take(GString *values, const nghttp2_nv *field)
{
        const char *name = (const char *)field->name;
        if (name_is(field, ":path")) {
                g_string_append_len(values, (const char *)field->value,
                                    (gssize)MIN(field->valuelen, MAX_PATH));
        } else if (field->namelen > 0 && name[0] != ':' &&
                   !values_is_common_header(name, field->namelen)) {
                g_string_append_len(values, name, (gssize)MIN(field->namelen, MAX_PATH));
                g_string_append(values, ": ");
                g_string_append_len(values, (const char *)field->value,
                                    (gssize)MIN(field->valuelen, MAX_PATH));
        }
        g_string_append_c(values, '\n');
}

static void tags_take(HeaderLabels *h, const nghttp2_nv *field)
{
        Cursor value = cursor(field->value, field->valuelen);
        if (name_is(field, ":path"))
                tag_rules_take_target(h->rules, &h->tags, value);
        else
                tag_rules_take_header(h->rules, &h->tags, cursor(field->name, field->namelen),
                                      value);
}

/* A block is whole. */
static void header_labels_label_append(HeaderLabels *h, GString *label)
{
        if (h->grpc && h->path->len > 1 && h->path->str[0] == '/') {
                g_string_append_len(label, h->path->str + 1,
                                    (gssize)MIN(h->path->len - 1, MAX_PATH_LABEL));
        } else if (h->method->len > 0) {
                g_string_append_len(label, h->method->str, (gssize)h->method->len);
                g_string_append_c(label, ' ');
                path_label_append(label, (const guint8 *)h->path->str, h->path->len);
                if (h->action->len > 0)
                        g_string_append_printf(label, " %s", h->action->str);
        }
        g_string_truncate(h->method, 0);
        g_string_truncate(h->path, 0);
        g_string_truncate(h->action, 0);
        h->grpc = FALSE;
}

void header_labels_want_tags(HeaderLabels *h, const TagRules *rules)
{
        h->rules = rules;
}

RequestTags *header_labels_take_tags(HeaderLabels *h)
{
        return g_steal_pointer(&h->tags);
}

BodyKind header_labels_body(const HeaderLabels *h)
{
        return h->coded ? BODY_OTHER : h->body;
}

gboolean header_labels_read(HeaderLabels *h, const guint8 *bytes, gsize n, gboolean last,
                            GString *label, GString *values, Outcome *outcome)
{
        if (!h->within) {
                h->body = BODY_OTHER;
                h->coded = FALSE;
                g_clear_pointer(&h->tags, g_free);
        }
        h->within = !last;
        for (int flags = 0; !(flags & NGHTTP2_HD_INFLATE_FINAL);) {
                nghttp2_nv field;
                flags = 0;
                ssize_t used = nghttp2_hd_inflate_hd2(h->inflater, &field, &flags, bytes, n, last);
                if (used < 0)
                        return FALSE;
                bytes += used;
                n -= (gsize)used;
                if (flags & NGHTTP2_HD_INFLATE_EMIT) {
                        field_take(h, &field);
                        if (values)
                                values_take(values, &field);
                        if (h->rules)
                                tags_take(h, &field);
                } else if (n == 0 && !last) {
                        return TRUE;
                }
        }
        nghttp2_hd_inflate_end_headers(h->inflater);
        header_labels_label_append(h, label);
        if (h->outcome)
                *outcome = h->outcome;
        h->outcome = OUTCOME_OK;
        return TRUE;
}

/* Whether a block is short, and all its fields are indices of one byte. */
static gboolean block_is_indices(const guint8 *bytes, gsize n)
{
        if (n == 0 || n > MAX_KNOWN)
                return FALSE;
        for (gsize i = 0; i < n; i++)
                if (bytes[i] <= 0x80 || bytes[i] == 0xff)
                        return FALSE;
        return TRUE;
}

static const KnownBlock *known_block_find(const HeaderLabels *h, const guint8 *bytes, gsize n)
{
        for (guint i = 0; i < KNOWN_BLOCKS; i++)
                if (h->known[i].n == n && memcmp(h->known[i].bytes, bytes, n) == 0)
                        return &h->known[i];
        return NULL;
}

static void known_block_add(HeaderLabels *h, const guint8 *bytes, gsize n, Outcome outcome)
{
        KnownBlock *k = &h->known[h->next_known++ % KNOWN_BLOCKS];

        memcpy(k->bytes, bytes, n);
        k->n = (guint8)n;
        k->outcome = outcome;
}

gboolean header_labels_read_answer(HeaderLabels *h, const guint8 *bytes, gsize n, gboolean last,
                                   GString *label, Outcome *outcome)
{
        gboolean indices = last && !h->within && block_is_indices(bytes, n);
        const KnownBlock *known = indices ? known_block_find(h, bytes, n) : NULL;
        Outcome found = OUTCOME_OK;

        if (!known) {
                if (!header_labels_read(h, bytes, n, last, label, NULL, &found))
                        return FALSE;
                if (indices)
                        known_block_add(h, bytes, n, found);
                else
                        memset(h->known, 0, sizeof h->known); /* the table may be another */
        } else {
                found = known->outcome;
        }
        if (found)
                *outcome = found;
        return TRUE;
}
