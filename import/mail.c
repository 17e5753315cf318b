/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/mail.h"

#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "import/mail-clocks.h"
#include "import/received.h"

enum {
        MAX_FIELD = 16 << 10,
        MAX_HEADERS = 100, /* more is a loop (RFC 5321, 6.3); so a path is never longer */
        DIGEST = 16,
        NO_HOP = G_MAXUINT32,
};

/* A message. One without a stamp is only a place in the path. */
typedef struct {
        gint64 time;
        NodeId from, to;
        guint32 before;   /* the hop that brought the mail to from, or NO_HOP */
        guint32 mail;     /* index in MailImport.ids plus 1; 0: no Message-ID */
        guint32 position; /* its number among the hops after `before`, from 1 */
        guint32 after;    /* the number of hops after this one */
} Hop;

typedef struct {
        guint8 bytes[DIGEST];
} Digest;

static const gint64 RESOLUTION = 1000000000; /* of the stamps, ns */

typedef enum { AT_START, IN_HEADERS, IN_BODY } Place;

struct MailImport {
        MailOptions options;
        MailCounts counts;

        Place place;
        gboolean is_mbox, was_blank;
        GString *field; /* the current header, unfolded */
        gboolean is_too_long;
        GPtrArray *received; /* its Received headers as written: the last hop first */
        char *message_id;    /* of this mail, or NULL */

        GArray *hops;      /* of Hop */
        GArray *ids;       /* of Digest */
        GHashTable *known; /* digest of a way that ends with a hop -> the hop's index + 1 */
        gint64 *ahead;     /* by node: clock offset, ns; or NULL */
        guint n_nodes;
};

static gboolean digest_equal(gconstpointer a, gconstpointer b)
{
        return memcmp(a, b, DIGEST) == 0;
}

MailImport *mail_import_new(const MailOptions *options)
{
        MailImport *m = g_new0(MailImport, 1);

        m->options = *options;
        m->field = g_string_new(NULL);
        m->received = g_ptr_array_new_with_free_func(g_free);
        m->hops = g_array_new(FALSE, FALSE, sizeof(Hop));
        m->ids = g_array_new(FALSE, FALSE, sizeof(Digest));
        m->known = g_hash_table_new_full(hash_int64, digest_equal, g_free, NULL);
        return m;
}

void mail_import_free(MailImport *m)
{
        if (!m)
                return;
        g_string_free(m->field, TRUE);
        g_ptr_array_unref(m->received);
        g_free(m->message_id);
        g_array_unref(m->hops);
        g_array_unref(m->ids);
        g_hash_table_unref(m->known);
        g_free(m->ahead);
        g_free(m);
}

const MailCounts *mail_import_counts(const MailImport *m)
{
        return &m->counts;
}

gint64 mail_import_ahead(const MailImport *m, NodeId node)
{
        return m->ahead && node < m->n_nodes ? m->ahead[node] : 0;
}

/* --- a mail's way ------------------------------------------------------------------ */

static Hop *hop_at(const MailImport *m, guint32 i)
{
        return &g_array_index(m->hops, Hop, i);
}

/* Extends the digest *to by a text, in which a run of blanks counts as one. */
static void digest_add(Digest *to, const char *text)
{
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
        g_auto(GStrv) words = g_strsplit_set(text, " \t", -1);
        guint8 bytes[32];
        gsize n = sizeof bytes;

        g_checksum_update(sum, to->bytes, DIGEST);
        for (guint i = 0; words[i]; i++)
                if (*words[i])
                        g_checksum_update(sum, (const guint8 *)words[i],
                                          (gssize)strlen(words[i]) + 1);
        g_checksum_get_digest(sum, bytes, &n);
        memcpy(to->bytes, bytes, DIGEST);
}

static gboolean is_trusted(const MailImport *m, const char *host)
{
        const char *const *suffix = m->options.trust;

        for (; suffix && *suffix; suffix++) {
                gsize n = strlen(host), k = strlen(*suffix);

                if (n >= k && g_ascii_strcasecmp(host + n - k, *suffix) == 0 &&
                    (n == k || host[n - k - 1] == '.' || **suffix == '.'))
                        return TRUE;
        }
        return !m->options.trust;
}

/* The number of headers down to the last trusted host. Anyone may have written the headers
 * below. */
static guint count_trusted(MailImport *m, const Received *received, guint n)
{
        guint k = 0;

        while (k < n && (!*received[k].by || is_trusted(m, received[k].by)))
                k++;
        m->counts.untrusted += n - k;
        return k;
}

/* Where the mail is while the headers are followed upwards. */
typedef struct {
        Digest digest;
        NodeId node; /* NO_NODE: nobody has it yet */
        char name[RECEIVED_MAX_HOST + 1];
        guint32 hop, mail;
} Way;

static NodeId node_of_host(const MailImport *m, const char *name, const char *address)
{
        if (!*name && !*address)
                return NO_NODE;
        return m->options.name(m->options.user, *name ? name : NULL, *address ? address : NULL);
}

static void add_hop(MailImport *m, Way *way, NodeId from, NodeId to, gint64 time)
{
        Hop hop = { time, from, to, way->hop, way->mail, 0, 0 };
        guint32 at = GPOINTER_TO_UINT(g_hash_table_lookup(m->known, &way->digest));

        if (at) {
                m->counts.shared++;
                way->hop = at - 1;
                return;
        }
        if (time == NO_TIME)
                m->counts.undated++;
        else
                m->counts.messages++;
        way->hop = m->hops->len;
        g_array_append_val(m->hops, hop);
        if (way->mail)
                g_hash_table_insert(m->known, g_memdup2(&way->digest, DIGEST),
                                    GUINT_TO_POINTER(m->hops->len));
}

/* Whether the sender has another name than in the header below, which is believed. A sender may
 * name itself anything, and its address may be translated. */
static gboolean is_otherwise(const Way *way, const Received *r)
{
        return *way->name && (*r->from || *r->claimed) &&
               !(*r->from && received_same_host(r->from, way->name)) &&
               !(*r->claimed && received_same_host(r->claimed, way->name));
}

static void take_received(MailImport *m, Way *way, const Received *r)
{
        NodeId to = node_of_host(m, r->by, *r->by ? "" : r->by_address);
        NodeId from = way->node != NO_NODE ? way->node : node_of_host(m, r->from, r->from_address);

        if (to == NO_NODE) {
                m->counts.nameless++;
                return;
        }
        if (from == NO_NODE) {
                m->counts.first++;
        } else if (from == to) {
                m->counts.within++;
        } else {
                m->counts.otherwise += is_otherwise(way, r);
                add_hop(m, way, from, to, r->time);
        }
        way->node = to;
        strcpy(way->name, r->by);
}

/* Starts a way. A mail without Message-ID has no known copies. */
static void mail_begin_way(MailImport *m, Way *way)
{
        *way = (Way){ .node = NO_NODE, .hop = NO_HOP };
        if (!m->message_id) {
                m->counts.no_id++;
                return;
        }
        digest_add(&way->digest, m->message_id);
        g_array_append_val(m->ids, way->digest);
        way->mail = m->ids->len;
}

static gboolean is_nameless(const Received *r)
{
        return !*r->by && !*r->by_address;
}

static void take_digest(const MailImport *m, Way *way, guint i)
{
        if (way->mail)
                digest_add(&way->digest, m->received->pdata[i]);
}

/* Adds the hops of a mail, from the lowest header up. A header that names no host belongs to the
 * one below. qmail writes the number of the mail there, which tells apart two mails of one
 * second. */
static void take_mail(MailImport *m)
{
        guint n = m->received->len;
        g_autofree Received *received = g_new(Received, n);
        Way way;

        m->counts.mails++;
        m->counts.no_headers += n == 0;
        for (guint i = 0; i < n; i++) {
                const char *text = m->received->pdata[i];

                received_parse(text, strlen(text), &received[i]);
        }
        n = count_trusted(m, received, n);
        if (n > 0)
                mail_begin_way(m, &way);
        for (guint i = n, named; i-- > 0;) {
                named = i;
                take_digest(m, &way, i);
                for (; i > 0 && is_nameless(&received[i - 1]); i--)
                        take_digest(m, &way, i - 1);
                take_received(m, &way, &received[named]);
                m->counts.nameless += named - i;
        }
}

/* --- files -------------------------------------------------------------------------- */

/* The length of a header's name and colon, or 0. RFC 5322 (2.2) allows more characters, but real
 * names have these alone, and no JSON begins so. */
static gsize measure_name(const guint8 *line, gsize n)
{
        gsize i = 0;

        while (i < n && (g_ascii_isalnum(line[i]) || line[i] == '-' || line[i] == '_'))
                i++;
        return i > 0 && i < n && line[i] == ':' ? i + 1 : 0;
}

/* Whether a line is "From sender date" of an mbox. A line of text may begin with "From ", but has
 * no time of day. */
static gboolean is_from_line(const guint8 *line, gsize n)
{
        if (n < 5 || memcmp(line, "From ", 5) != 0)
                return FALSE;
        for (gsize i = 5; i + 4 < n; i++)
                if (line[i + 2] == ':' && g_ascii_isdigit(line[i]) &&
                    g_ascii_isdigit(line[i + 1]) && g_ascii_isdigit(line[i + 3]) &&
                    g_ascii_isdigit(line[i + 4]))
                        return TRUE;
        return FALSE;
}

static gsize skip_mark(const guint8 *line, gsize n)
{
        return n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

gboolean mail_begins(const guint8 *data, gsize n)
{
        gsize skip = skip_mark(data, n), length;
        const guint8 *end;

        data += skip;
        n -= skip;
        if (n == 0)
                return FALSE;
        end = memchr(data, '\n', n);
        length = end ? (gsize)(end - data) : n;
        return is_from_line(data, length) || measure_name(data, length) > 0;
}

static gboolean mail_field_is(const GString *field, const char *name)
{
        return g_ascii_strncasecmp(field->str, name, strlen(name)) == 0;
}

static void end_field(MailImport *m)
{
        static const char received[] = "Received:", id[] = "Message-ID:";

        if (mail_field_is(m->field, received)) {
                m->counts.headers++;
                if (m->is_too_long || m->received->len == MAX_HEADERS)
                        m->counts.too_long++;
                else
                        g_ptr_array_add(m->received, g_strdup(m->field->str + sizeof received - 1));
        } else if (mail_field_is(m->field, id) && !m->message_id) {
                m->message_id = g_strstrip(g_strdup(m->field->str + sizeof id - 1));
                if (!*m->message_id)
                        g_clear_pointer(&m->message_id, g_free);
        }
        g_string_truncate(m->field, 0);
        m->is_too_long = FALSE;
}

static void end_headers(MailImport *m)
{
        end_field(m);
        take_mail(m);
        g_ptr_array_set_size(m->received, 0);
        g_clear_pointer(&m->message_id, g_free);
        m->place = IN_BODY;
}

static void add_to_field(MailImport *m, const guint8 *line, gsize n)
{
        if (m->field->len + n > MAX_FIELD) {
                m->is_too_long = TRUE;
                n = MAX_FIELD - MIN(m->field->len, MAX_FIELD);
        }
        for (gsize i = 0; i < n; i++) /* a NUL would end the text */
                g_string_append_c(m->field, line[i] ? (char)line[i] : '?');
}

static void take_header_line(MailImport *m, const guint8 *line, gsize n)
{
        gboolean is_folded = n > 0 && (line[0] == ' ' || line[0] == '\t');

        if (n == 0) {
                end_headers(m);
                return;
        }
        if (!is_folded)
                end_field(m);
        if (is_folded ? m->field->len > 0 : measure_name(line, n) > 0)
                add_to_field(m, line, n);
}

void mail_import_add(MailImport *m, const guint8 *line, gsize n)
{
        gboolean is_first = m->place == AT_START, is_from;

        if (is_first) {
                gsize skip = skip_mark(line, n);

                line += skip;
                n -= skip;
                m->place = IN_HEADERS;
        }
        n -= n > 0 && line[n - 1] == '\r';
        is_from = (is_first || (m->is_mbox && (m->was_blank || m->place == IN_HEADERS))) &&
                  is_from_line(line, n);
        m->was_blank = n == 0;
        if (is_from) {
                m->is_mbox = TRUE;
                if (!is_first && m->place == IN_HEADERS)
                        end_headers(m);
                m->place = IN_HEADERS;
        } else if (m->place == IN_HEADERS) {
                take_header_line(m, line, n);
        }
}

void mail_import_end(MailImport *m)
{
        if (m->place == IN_HEADERS)
                end_headers(m);
        m->place = AT_START;
        m->is_mbox = m->was_blank = FALSE;
}

/* --- the trace ------------------------------------------------------------------------ */

static void find_clocks(MailImport *m, guint n_nodes)
{
        g_autofree MailTransit *transits = g_new(MailTransit, m->hops->len);
        gsize n = 0;

        for (guint32 i = 0; i < m->hops->len; i++) {
                const Hop *hop = hop_at(m, i);
                gint64 before = hop->before == NO_HOP ? NO_TIME : hop_at(m, hop->before)->time;

                if (before != NO_TIME && hop->time != NO_TIME)
                        transits[n++] = (MailTransit){ hop_at(m, hop->before)->to, hop->to,
                                                       hop->time - before };
        }
        m->n_nodes = n_nodes;
        m->ahead = mail_clocks_find(transits, n, n_nodes);
}

static void correct_hops(MailImport *m)
{
        for (guint32 i = 0; i < m->hops->len; i++) {
                Hop *hop = hop_at(m, i);

                if (hop->time != NO_TIME)
                        hop->time = CLAMP(hop->time - mail_import_ahead(m, hop->to), -MAX_STAMP,
                                          MAX_STAMP);
                if (hop->before != NO_HOP && hop->time != NO_TIME &&
                    hop_at(m, hop->before)->time != NO_TIME)
                        m->counts.early += hop->time < hop_at(m, hop->before)->time - RESOLUTION;
        }
}

static int compare_hops(gconstpointer a, gconstpointer b, gpointer hops)
{
        guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;
        const Hop *x = &((const Hop *)hops)[i], *y = &((const Hop *)hops)[k];

        return COMPARE(x->time, y->time) ?: COMPARE(i, k);
}

/* Hops in order of time; of equal stamps in order of index, which is along the way. */
static guint32 *order_hops(const MailImport *m)
{
        guint32 n = m->hops->len, *order = g_new(guint32, n);

        for (guint32 i = 0; i < n; i++)
                order[i] = i;
        if (n > 0)
                g_qsort_with_data(order, (gint)n, sizeof *order, compare_hops, m->hops->data);
        return order;
}

static void number_hops(MailImport *m, const guint32 *order)
{
        guint32 roots = 0;

        for (guint32 i = 0; i < m->hops->len; i++) {
                Hop *hop = hop_at(m, order[i]);

                hop->position = hop->before == NO_HOP ? ++roots : ++hop_at(m, hop->before)->after;
        }
}

static void append_path(GString *out, const MailImport *m, const Hop *hop)
{
        guint32 positions[MAX_HEADERS];
        guint n = 0;

        for (; n < MAX_HEADERS; hop = hop_at(m, hop->before)) {
                positions[n++] = hop->position;
                if (hop->before == NO_HOP)
                        break;
        }
        g_string_append(out, "path=");
        while (n-- > 0)
                g_string_append_printf(out, n ? "%u." : "%u", positions[n]);
}

static gboolean write_hop(const MailImport *m, const Hop *hop, TraceWriter *writer, GError **error)
{
        g_autoptr(GString) attrs = g_string_new(NULL);
        char id[DIGEST + 1] = "";
        Message message = {
                .time = hop->time, .sender = hop->from, .receiver = hop->to, .op = MSG_RECV
        };

        append_path(attrs, m, hop);
        message.attrs = attrs->str;
        message.attrs_length = (guint32)attrs->len;
        if (hop->mail) {
                const Digest *digest = &g_array_index(m->ids, Digest, hop->mail - 1);

                for (guint i = 0; i < DIGEST / 2; i++)
                        g_snprintf(id + 2 * i, 3, "%02x", digest->bytes[i]);
                message_set_id(&message, id, strlen(id));
        }
        return trace_writer_add(writer, &message, error);
}

/* Writes the facts about clocks as ravel skewer does. */
static gboolean write_clock_facts(const MailImport *m, const NodeTable *nodes, TraceWriter *writer,
                                  GError **error)
{
        if (!trace_writer_fact(writer, "clocks", m->options.one_clock ? "one" : "several", error))
                return FALSE;
        for (NodeId node = 0; m->ahead && node < m->n_nodes; node++) {
                g_autofree char *fact = g_strdup_printf(
                        "%s %c%" G_GINT64_FORMAT ".000000000 s +0.000000000 ppm since 0.000000000",
                        node_table_written(nodes, node), m->ahead[node] < 0 ? '-' : '+',
                        ABS(m->ahead[node]) / 1000000000);

                if (m->ahead[node] && !trace_writer_fact(writer, "skew removed", fact, error))
                        return FALSE;
        }
        return TRUE;
}

gboolean mail_import_write(MailImport *m, const NodeTable *nodes, TraceWriter *writer,
                           GError **error)
{
        if (!m->options.one_clock)
                find_clocks(m, node_table_size(nodes));
        correct_hops(m);
        g_autofree guint32 *order = order_hops(m);
        number_hops(m, order);
        if (!write_clock_facts(m, nodes, writer, error))
                return FALSE;
        for (guint32 i = 0; i < m->hops->len; i++) {
                const Hop *hop = hop_at(m, order[i]);

                if (hop->time != NO_TIME && !write_hop(m, hop, writer, error))
                        return FALSE;
        }
        return TRUE;
}
