/* SPDX-License-Identifier: BSD-2-Clause
 *
 * LDAP (RFC 4511): messages in BER, paired by their ids. A request is a call; of a search
 * the entries and references are parts of its return, as intermediate responses of any
 * operation are, and its result is the end. An abandoned operation has no return. Binds are of the
 * session, unless no other operation follows: then they check a password, and are calls. Unbinds,
 * StartTLS and what the server says unasked are of the session.
 * After StartTLS the connection is undecided again. After a SASL bind that has agreed on a
 * security layer (RFC 4422, 3.7) messages come in buffers that cannot be read: a run of them
 * is a message, by the generic rule.
 *
 * A message is told by its header, which has its length, id and operation; what follows is
 * passed over. Recognised by a message whose first fields are those of its operation.
 */
#include "capture/protocol/protocol.h"
#include "capture/protocol/values.h"

#include <string.h>

enum {
        BOOLEAN = 0x01,
        INTEGER = 0x02,
        OCTETS = 0x04,
        ENUMERATED = 0x0a,
        SEQUENCE = 0x30,
        CONTROLS = 0xa0,
        CONSTRUCTED = 0x20,
        SIMPLE = 0x80, /* of a bind: a password follows, */
        SASL = 0xa3,   /* or what a mechanism says */
        NAME = 0x80,   /* of an extended operation */

        BIND = 0x60,
        BIND_RESULT = 0x61,
        UNBIND = 0x42,
        SEARCH = 0x63,
        ENTRY = 0x64,
        SEARCH_RESULT = 0x65,
        REFERENCE = 0x73,
        MODIFY = 0x66,
        MODIFY_RESULT = 0x67,
        ADD = 0x68,
        ADD_RESULT = 0x69,
        DELETE = 0x4a,
        DELETE_RESULT = 0x6b,
        RENAME = 0x6c,
        RENAME_RESULT = 0x6d,
        COMPARE = 0x6e,
        COMPARE_RESULT = 0x6f,
        ABANDON = 0x50,
        EXTENDED = 0x77,
        EXTENDED_RESULT = 0x78,
        INTERMEDIATE = 0x79,

        MIN_MESSAGE = 5,          /* an id and an operation without contents */
        MAX_MESSAGE = 1 << 28,    /* entries hold pictures and lists of certificates */
        MAX_RECOGNISED = 1 << 24, /* what servers accept, by default at most */
        MAX_NAME = 4096,          /* of an object, by which a message is recognised */
        RESULT = 4,               /* bytes of a result's code */
        IN_PROGRESS = 14,         /* saslBindInProgress: another step of a bind follows */
        MAX_DEPTH = 16,           /* of a filter */
        LOOK = 256,               /* bytes of an operation that are looked at, where any are */
        MAX_BUFFER = 1 << 24,     /* of a security layer */
        BUFFER_HEADER = 4,
};

typedef struct {
        guint32 tls; /* client: the id of a request for TLS */
        guint8 known;
        guint8 sasl;  /* client: it has bound by SASL */
        guint8 layer; /* messages are in buffers */
} LdapState;

G_STATIC_ASSERT(sizeof(LdapState) <= PROTOCOL_STATE_SIZE);

/* fields is how the contents begin: "n" a name, "b" a boolean, "i" an integer, "c" the code of a
 * result, "v" a version. "2" and "3" are enumerations up to that number. Of some fields only the
 * head is looked at: "t" a text, "s" a sequence, "a" an authentication, "f" a filter, "o" the
 * name of an extended operation. "D" and "I" stand for contents that are a name or an id. */
static const struct {
        guint8 tag, kind, part;
        const char *fields, *label;
} operations[] = {
        { SEARCH, KIND_CALL, PART_BEGINS | PART_ENDS, "n33iibf", "search" },
        { ENTRY, KIND_RETURN, PART_GOES_ON, "ns", NULL },
        { REFERENCE, KIND_RETURN, PART_GOES_ON, "n", NULL },
        { SEARCH_RESULT, KIND_RETURN, PART_ENDS, "cnt", NULL },
        { BIND, KIND_CALL, 0, "vna", "bind" },
        { BIND_RESULT, KIND_RETURN, 0, "cnt", NULL },
        { UNBIND, KIND_SESSION, 0, "", NULL },
        { MODIFY, KIND_CALL, PART_BEGINS | PART_ENDS, "ns", "modify" },
        { MODIFY_RESULT, KIND_RETURN, PART_ENDS, "cnt", NULL },
        { ADD, KIND_CALL, PART_BEGINS | PART_ENDS, "ns", "add" },
        { ADD_RESULT, KIND_RETURN, PART_ENDS, "cnt", NULL },
        { DELETE, KIND_CALL, PART_BEGINS | PART_ENDS, "D", "delete" },
        { DELETE_RESULT, KIND_RETURN, PART_ENDS, "cnt", NULL },
        { RENAME, KIND_CALL, PART_BEGINS | PART_ENDS, "nnb", "modifyDN" },
        { RENAME_RESULT, KIND_RETURN, PART_ENDS, "cnt", NULL },
        { COMPARE, KIND_CALL, PART_BEGINS | PART_ENDS, "ns", "compare" },
        { COMPARE_RESULT, KIND_RETURN, PART_ENDS, "cnt", NULL },
        { ABANDON, KIND_CALL, PART_ABORTS, "I", NULL },
        { EXTENDED, KIND_CALL, PART_BEGINS | PART_ENDS, "o", "extended" },
        { EXTENDED_RESULT, KIND_RETURN, PART_ENDS, "cnt", NULL },
        { INTERMEDIATE, KIND_RETURN, PART_GOES_ON, "o", NULL },
};

typedef struct {
        guint64 length; /* of the message, with its header */
        guint32 id;
        guint operation;  /* index */
        gsize at;         /* where the contents of the operation begin */
        guint32 contents; /* and how many bytes they are */
} LdapMessage;

/* --- BER ------------------------------------------------------------------- */

/* A length, in its short form or the long one of up to four bytes. PARSE_MORE: it is not all
 * there; PARSE_NOT_MINE: it is none that LDAP has. */
static ParseStatus ldap_length_read(Cursor *c, guint32 *length)
{
        guint8 first;
        if (!cursor_u8(c, &first))
                return PARSE_MORE;
        *length = first;
        if (first < 0x80)
                return PARSE_MESSAGE;
        guint n = first & 0x7f;
        if (n == 0 || n > 4)
                return PARSE_NOT_MINE;
        const guint8 *p = cursor_take(c, n);
        if (!p)
                return PARSE_MORE;
        for (*length = 0; n > 0; n--)
                *length = *length << 8 | *p++;
        return PARSE_MESSAGE;
}

/* A tag that has to be there, and a length from least to most. */
static ParseStatus ldap_tag_read(Cursor *c, guint8 tag, guint32 least, guint32 most,
                                 guint32 *length)
{
        guint8 found;
        if (!cursor_u8(c, &found))
                return PARSE_MORE;
        ParseStatus status = found == tag ? ldap_length_read(c, length) : PARSE_NOT_MINE;
        if (status == PARSE_MESSAGE && (*length < least || *length > most))
                return PARSE_NOT_MINE;
        return status;
}

/* The same with what it holds, which is passed over. */
static ParseStatus ldap_field_skip(Cursor *c, guint8 tag, guint32 least, guint32 most)
{
        guint32 length;
        ParseStatus status = ldap_tag_read(c, tag, least, most, &length);
        if (status == PARSE_MESSAGE && !cursor_skip(c, length))
                return PARSE_MORE;
        return status;
}

/* An integer of one byte, of at most most. */
static ParseStatus small_read(Cursor *c, guint8 tag, guint8 most)
{
        guint8 value;
        guint32 length;
        ParseStatus status = ldap_tag_read(c, tag, 1, 1, &length);
        if (status != PARSE_MESSAGE)
                return status;
        if (!cursor_u8(c, &value))
                return PARSE_MORE;
        return value <= most ? PARSE_MESSAGE : PARSE_NOT_MINE;
}

/* The id in n bytes, 1 to 4. */
static guint32 id_read(const guint8 *p, gsize n)
{
        guint32 id = 0;
        while (n-- > 0)
                id = id << 8 | *p++;
        return id;
}

static ParseStatus ldap_header_read(const guint8 *bytes, gsize n, LdapMessage *m)
{
        Cursor c = cursor(bytes, n);
        guint32 length, id_length;
        guint8 tag;
        ParseStatus status = ldap_tag_read(&c, SEQUENCE, MIN_MESSAGE, MAX_MESSAGE, &length);
        if (status != PARSE_MESSAGE)
                return status;
        m->length = (guint64)(c.at - bytes) + length;
        if ((status = ldap_tag_read(&c, INTEGER, 1, 4, &id_length)) != PARSE_MESSAGE)
                return status;
        const guint8 *id = cursor_take(&c, id_length);
        if (!id || !cursor_u8(&c, &tag))
                return PARSE_MORE;
        for (m->operation = 0; operations[m->operation].tag != tag;)
                if (++m->operation == G_N_ELEMENTS(operations))
                        return PARSE_NOT_MINE;
        if ((status = ldap_length_read(&c, &m->contents)) != PARSE_MESSAGE)
                return status;
        m->at = (gsize)(c.at - bytes);
        guint64 end = (guint64)m->at + m->contents; /* after which there may be controls */
        m->id = id_read(id, id_length);
        return id[0] < 0x80 && (end == m->length || end + 2 <= m->length) ? PARSE_MESSAGE
                                                                          : PARSE_NOT_MINE;
}

/* --- recognising ----------------------------------------------------------- */

static ParseStatus one_of(Cursor *c, const char *tags)
{
        guint8 tag;
        if (!cursor_u8(c, &tag))
                return PARSE_MORE;
        return tag && strchr(tags, tag) ? PARSE_MESSAGE : PARSE_NOT_MINE;
}

/* A name of an object, of n bytes, of which those in c are there. */
static ParseStatus ldap_name_read(Cursor *c, guint32 n)
{
        gboolean equals = FALSE;
        for (; cursor_left(c) > 0; c->at++, n--) {
                if (*c->at < ' ')
                        return PARSE_NOT_MINE;
                equals |= *c->at == '=';
        }
        return equals ? PARSE_MESSAGE : n > 0 ? PARSE_MORE : PARSE_NOT_MINE;
}

/* One field as the table has it; n: bytes of the contents in all. */
static ParseStatus ldap_field_read(Cursor *c, char form, guint32 n)
{
        guint32 ignored;
        switch (form) {
        case 'n':
                return ldap_field_skip(c, OCTETS, 0, MAX_NAME);
        case 't':
                return ldap_tag_read(c, OCTETS, 0, MAX_RECOGNISED, &ignored);
        case 's':
                return ldap_tag_read(c, SEQUENCE, 0, MAX_RECOGNISED, &ignored);
        case 'b':
                return small_read(c, BOOLEAN, 0xff);
        case 'i':
                return ldap_field_skip(c, INTEGER, 1, 4);
        case 'c':
                return ldap_field_skip(c, ENUMERATED, 1, 2);
        case 'v':
                return small_read(c, INTEGER, 3);
        case 'a':
                return one_of(c, "\x80\x89\x8a\x8b\xa3"); /* also Microsoft's Sicily */
        case 'f':
                return one_of(c, "\xa0\xa1\xa2\xa3\xa4\xa5\xa6\x87\xa8\xa9");
        case 'o':
                return ldap_tag_read(c, NAME, 3, MAX_NAME, &ignored);
        case 'D':
                return ldap_name_read(c, n);
        case 'I':
                if (n == 0 || n > 4)
                        return PARSE_NOT_MINE;
                return cursor_left(c) == 0 ? PARSE_MORE
                       : *c->at < 0x80     ? PARSE_MESSAGE
                                           : PARSE_NOT_MINE;
        default:
                return small_read(c, ENUMERATED, (guint8)(form - '0'));
        }
}

/* What stands after a message, or at the controls within it, where that is there. */
static gboolean follows(const guint8 *bytes, gsize n, guint64 at, guint8 tag)
{
        return at >= n || bytes[at] == tag;
}

/* PARSE_MESSAGE where the bytes begin with a message of LDAP beyond doubt. */
static ParseStatus ldap_recognise(const guint8 *bytes, gsize n)
{
        LdapMessage m;
        ParseStatus status = ldap_header_read(bytes, n, &m);
        if (status != PARSE_MESSAGE)
                return status;
        guint64 end = (guint64)m.at + m.contents;
        if (m.length > MAX_RECOGNISED || !follows(bytes, n, m.length, SEQUENCE) ||
            (end < m.length && !follows(bytes, n, end, CONTROLS)) ||
            (operations[m.operation].tag == UNBIND && m.contents > 0))
                return PARSE_NOT_MINE;
        Cursor c = cursor(bytes + m.at, (gsize)MIN(n, end) - m.at);
        for (const char *form = operations[m.operation].fields; *form; form++)
                if ((status = ldap_field_read(&c, *form, m.contents)) != PARSE_MESSAGE)
                        return status == PARSE_MORE && n >= end ? PARSE_NOT_MINE : status;
        return PARSE_MESSAGE;
}

/* --- messages -------------------------------------------------------------- */

static gboolean has_result(const LdapMessage *m)
{
        return operations[m->operation].fields[0] == 'c';
}

/* How much of the contents must be there. */
static gsize contents_needed(const LdapMessage *m)
{
        switch (operations[m->operation].tag) {
        case BIND:
        case ABANDON:
        case EXTENDED:
        case EXTENDED_RESULT:
                return MIN(m->contents, (gsize)LOOK);
        default:
                return MIN(m->contents, (gsize)(has_result(m) ? RESULT : 0));
        }
}

/* What a result says, which its contents begin with. */
static Outcome result_read(Cursor c)
{
        guint32 n;
        const guint8 *p;
        if (ldap_tag_read(&c, ENUMERATED, 1, 2, &n) != PARSE_MESSAGE || !(p = cursor_take(&c, n)))
                return OUTCOME_OK;
        guint code = n == 1 ? p[0] : read_u16(p);
        return code == IN_PROGRESS ? OUTCOME_OK : outcome_number(NUMBERS_LDAP, code);
}

/* Whether the client binds by SASL. */
static gboolean is_sasl(Cursor c)
{
        return small_read(&c, INTEGER, 3) == PARSE_MESSAGE &&
               ldap_field_skip(&c, OCTETS, 0, MAX_NAME) == PARSE_MESSAGE && cursor_left(&c) > 0 &&
               *c.at == SASL;
}

static gboolean is_start_tls(Cursor c)
{
        static const char oid[] = "1.3.6.1.4.1.1466.20037";
        guint32 n;
        return ldap_tag_read(&c, NAME, 0, MAX_NAME, &n) == PARSE_MESSAGE && n == sizeof oid - 1 &&
               cursor_begins(&c, oid);
}

/* Operations of which the table does not tell everything; c: their contents. */
static gboolean operation_read(LdapState *s, const LdapState *other, const LdapMessage *m, Cursor c,
                               Parsed *parsed)
{
        switch (operations[m->operation].tag) {
        case BIND:
                s->sasl = is_sasl(c);
                parsed->session = SESSION_UNLESS_LAST;
                return TRUE;
        case ABANDON:
                parsed->key = id_read(c.at, cursor_left(&c));
                return cursor_left(&c) >= 1 && cursor_left(&c) <= 4;
        case EXTENDED:
                if (is_start_tls(c)) {
                        s->tls = m->id;
                        parsed->kind = KIND_SESSION;
                }
                return TRUE;
        case EXTENDED_RESULT:
                if (m->id == 0 || (other && m->id == other->tls))
                        parsed->kind = KIND_SESSION;
                parsed->switches = m->id != 0 && parsed->kind == KIND_SESSION &&
                                   small_read(&c, ENUMERATED, 0) == PARSE_MESSAGE;
                return TRUE;
        default:
                return TRUE;
        }
}

static ParseStatus ldap_message_read(LdapState *s, const LdapState *other, const guint8 *bytes,
                                     gsize n, GString *label, Parsed *parsed)
{
        LdapMessage m;
        ParseStatus status = ldap_header_read(bytes, n, &m);
        if (status != PARSE_MESSAGE)
                return status;
        gsize needed = contents_needed(&m);
        if (n - m.at < needed)
                return PARSE_MORE;
        parsed->kind = (MessageKind)operations[m.operation].kind;
        parsed->key = m.id;
        if (!operation_read(s, other, &m, cursor(bytes + m.at, needed), parsed))
                return PARSE_NOT_MINE;
        parsed->keyed = parsed->kind != KIND_SESSION;
        parsed->part = parsed->keyed ? operations[m.operation].part : 0;
        parsed->length = m.length;
        if (has_result(&m))
                parsed->outcome = result_read(cursor(bytes + m.at, needed));
        if (label && parsed->keyed && operations[m.operation].label)
                g_string_append(label, operations[m.operation].label);
        return PARSE_MESSAGE;
}

/* One buffer of a security layer. */
static ParseStatus buffer_read(LdapState *s, const guint8 *bytes, gsize n, Parsed *parsed)
{
        if (n < BUFFER_HEADER)
                return PARSE_MORE;
        guint32 length = read_u32(bytes);
        if (length == 0 || length >= MAX_BUFFER)
                return PARSE_NOT_MINE;
        s->layer = TRUE;
        parsed->kind = KIND_BY_SIDE;
        parsed->part = PART_OF_RUN;
        parsed->length = BUFFER_HEADER + (guint64)length;
        return PARSE_MESSAGE;
}

static ParseStatus ldap_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                              gboolean eof, GString *label, Parsed *parsed)
{
        LdapState *s = state;
        const LdapState *other = parsed->other;
        (void)call;
        if (eof)
                return s->layer ? PARSE_MESSAGE : PARSE_NOT_MINE; /* a run ends here */
        if (n == 0)
                return PARSE_MORE;
        if (s->layer || (bytes[0] == 0 && (s->sasl || (other && other->sasl))))
                return buffer_read(s, bytes, n, parsed);
        if (!s->known) {
                ParseStatus status = ldap_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
                s->known = TRUE;
        }
        return ldap_message_read(s, other, bytes, n, label, parsed);
}

static gsize ldap_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0; at < n; at++)
                if (bytes[at] == SEQUENCE && ldap_recognise(bytes + at, n - at) != PARSE_NOT_MINE)
                        return at;
        return n;
}

static gboolean is_string(guint8 tag)
{
        return tag == OCTETS || (tag & 0xe0) == NAME;
}

static void strings_append(GString *text, Cursor c, guint depth)
{
        guint8 tag;
        guint32 n;
        Cursor value;
        while (cursor_u8(&c, &tag) && ldap_length_read(&c, &n) == PARSE_MESSAGE &&
               cursor_part(&c, n, &value)) {
                if (is_string(tag)) {
                        g_string_append_len(text, (const char *)value.at, (gssize)MIN(n, LOOK));
                        g_string_append_c(text, '\n');
                } else if ((tag & CONSTRUCTED) && depth < MAX_DEPTH) {
                        strings_append(text, value, depth + 1);
                }
        }
}

/* The name of the object, and of a search also its filter. What is written is no value. */
static void ldap_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes, gsize n)
{
        LdapMessage m;
        if (ldap_header_read(bytes, n, &m) != PARSE_MESSAGE)
                return;
        const char *fields = operations[m.operation].fields;
        Cursor c = cursor(bytes + m.at, MIN(n - m.at, m.contents)), name = c;
        if (operations[m.operation].tag == SEARCH) {
                strings_append(text, c, 0);
        } else if (*fields == 'D' ||
                   (*fields == 'n' && ldap_field_skip(&c, OCTETS, 0, MAX_NAME) == PARSE_MESSAGE)) {
                if (*fields == 'n')
                        name.end = c.at;
                values_append_readable(text, name.at, cursor_left(&name));
        }
}

const Protocol protocol_ldap = {
        .name = "ldap",
        .values = ldap_values,
        .keyed = TRUE,
        .parse = ldap_parse,
        .find_boundary = ldap_find_boundary,
};
