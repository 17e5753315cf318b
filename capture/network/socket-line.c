/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/network/socket-line.h"

#include <string.h>

#include "base/digits.h"
#include "capture/network/ip.h"

enum { MAX_FIELDS = 24 };

typedef struct {
        const char *at;
        gsize n;
} Field;

static gboolean socket_line_is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r';
}

/* The first fields of the line, MAX_FIELDS at most. */
static guint socket_line_split(const char *line, gsize n, Field fields[MAX_FIELDS])
{
        guint n_fields = 0;
        for (gsize i = 0; i < n && n_fields < MAX_FIELDS;) {
                gsize start;
                while (i < n && socket_line_is_blank(line[i]))
                        i++;
                for (start = i; i < n && !socket_line_is_blank(line[i]); i++)
                        ;
                if (i > start)
                        fields[n_fields++] = (Field){ line + start, i - start };
        }
        return n_fields;
}

static gboolean socket_line_field_is(const Field *f, const char *text)
{
        return f->n == strlen(text) && memcmp(f->at, text, f->n) == 0;
}

static gboolean field_begins(const Field *f, const char *text)
{
        return f->n >= strlen(text) && memcmp(f->at, text, strlen(text)) == 0;
}

static gboolean field_number(const Field *f, guint32 *number)
{
        guint64 value;
        gboolean good = digits_parse(f->at, f->n, 10, G_MAXUINT32, &value);
        *number = (guint32)value;
        return good;
}

static gboolean is_state(const Field *f)
{
        static const char *const states[] = { "ESTAB",      "LISTEN",     "SYN-SENT",  "SYN-RECV",
                                              "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT",
                                              "LAST-ACK",   "CLOSING",    "UNCONN" };
        for (guint i = 0; i < G_N_ELEMENTS(states); i++)
                if (socket_line_field_is(f, states[i]))
                        return TRUE;
        return FALSE;
}

/* As ss and lsof have it: '*' is every address; of which interface it is may stand behind a '%'. */
static gboolean parse_local(const char *text, gsize n, Endpoint *endpoint)
{
        const char *colon = n > 0 ? memrchr(text, ':', n) : NULL;
        char copy[ADDRESS_TEXT_SIZE + 16];
        if (!colon || n + 4 > sizeof copy)
                return FALSE;
        gsize port = n - (gsize)(colon - text);
        const char *scope = memchr(text, '%', (gsize)(colon - text));
        gsize address = (gsize)((scope ? scope : colon) - text);
        if (address == 1 && *text == '*') {
                text = "[::]";
                address = 4;
        }
        memcpy(copy, text, address);
        if (scope && address > 0 && copy[0] == '[' && copy[address - 1] != ']')
                copy[address++] = ']';
        memcpy(copy + address, colon, port);
        return endpoint_parse(copy, address + port, endpoint);
}

/* --- ss ---------------------------------------------------------------------- */

/* users:(("nginx",pid=2,fd=3),("nginx",pid=1,fd=3)): a name may have any byte but the end of a
 * line, and is 15 bytes long at most. */
static void parse_users(const char *line, gsize n, SocketLine *socket)
{
        static const char begin[] = "users:((\"", pid[] = "\",pid=", next[] = "),(\"";
        const char *end = line + n;
        const char *at = memmem(line, n, begin, sizeof begin - 1);
        if (!at)
                return;
        at += sizeof begin - 1;
        while (socket->n_pids < MAX_SOCKET_PIDS) {
                const char *stop = memmem(at, (gsize)(end - at), pid, sizeof pid - 1);
                const char *digits = stop ? stop + sizeof pid - 1 : NULL;
                guint32 number;
                gsize length = 0;
                while (digits && digits + length < end && g_ascii_isdigit(digits[length]))
                        length++;
                if (!digits || !field_number(&(Field){ digits, length }, &number))
                        return;
                if (socket->n_pids == 0) {
                        socket->comm = at;
                        socket->n_comm = (gsize)(stop - at);
                }
                socket->pid[socket->n_pids++] = number;
                at = memmem(digits, (gsize)(end - digits), next, sizeof next - 1);
                if (!at)
                        return;
                at += sizeof next - 1;
        }
}

static gboolean parse_ss(const char *line, gsize n, SocketLine *socket)
{
        Field fields[MAX_FIELDS];
        guint n_fields = socket_line_split(line, n, fields), i = 0;
        guint32 number;
        if (n_fields > 0 && socket_line_field_is(&fields[0], "tcp"))
                i++;
        if (i < n_fields && is_state(&fields[i])) {
                socket->listening = socket_line_field_is(&fields[i], "LISTEN");
                if (socket_line_field_is(&fields[i], "UNCONN"))
                        return FALSE;
                i++;
        }
        if (i + 4 > n_fields || !field_number(&fields[i], &number) ||
            !field_number(&fields[i + 1], &number) ||
            !parse_local(fields[i + 2].at, fields[i + 2].n, &socket->local) ||
            (!socket->listening && !parse_local(fields[i + 3].at, fields[i + 3].n, &socket->peer)))
                return FALSE;
        parse_users(line, n, socket);
        return TRUE;
}

static gboolean is_ss(const Field *fields, guint n)
{
        guint32 number;
        guint i = n > 0 && (socket_line_field_is(&fields[0], "tcp") ||
                            socket_line_field_is(&fields[0], "udp"));
        if (n < 4)
                return FALSE;
        if (socket_line_field_is(&fields[0], "Netid") ||
            socket_line_field_is(&fields[0], "State") ||
            (socket_line_field_is(&fields[0], "Recv-Q") &&
             socket_line_field_is(&fields[1], "Send-Q")))
                return TRUE;
        i += is_state(&fields[i]);
        return i + 3 < n && field_number(&fields[i], &number) &&
               field_number(&fields[i + 1], &number) &&
               memchr(fields[i + 2].at, ':', fields[i + 2].n);
}

/* --- lsof -------------------------------------------------------------------- */

static gboolean parse_lsof(const char *line, gsize n, SocketLine *socket)
{
        Field fields[MAX_FIELDS];
        guint n_fields = socket_line_split(line, n, fields), i = 4;
        while (i < n_fields && !socket_line_field_is(&fields[i], "TCP"))
                i++;
        if (i + 1 >= n_fields || !field_number(&fields[1], &socket->pid[0]))
                return FALSE;
        const Field *name = &fields[i + 1];
        const char *arrow = memmem(name->at, name->n, "->", 2);
        gsize local = arrow ? (gsize)(arrow - name->at) : name->n;
        socket->listening = !arrow;
        socket->comm = fields[0].at;
        socket->n_comm = fields[0].n;
        socket->n_pids = 1;
        return parse_local(name->at, local, &socket->local) &&
               (!arrow || parse_local(arrow + 2, name->n - local - 2, &socket->peer)) &&
               (arrow || (i + 2 < n_fields && socket_line_field_is(&fields[i + 2], "(LISTEN)")));
}

static gboolean is_lsof(const Field *fields, guint n)
{
        guint32 number;
        if (n > 2 && socket_line_field_is(&fields[0], "COMMAND") &&
            socket_line_field_is(&fields[1], "PID"))
                return TRUE;
        return n > 7 && field_number(&fields[1], &number) &&
               (socket_line_field_is(&fields[4], "IPv4") ||
                socket_line_field_is(&fields[4], "IPv6"));
}

gboolean socket_line_parse(Listing listing, const char *line, gsize n, SocketLine *socket)
{
        memset(socket, 0, offsetof(SocketLine, pid));
        return listing == LISTING_SS     ? parse_ss(line, n, socket)
               : listing == LISTING_LSOF ? parse_lsof(line, n, socket)
                                         : FALSE;
}

/* --- conntrack --------------------------------------------------------------- */

/* The value of the second "key=" where again is set, else of the first. */
static gboolean find_value(const Field *fields, guint n, const char *key, gboolean again,
                           Field *value)
{
        for (guint i = 0; i < n; i++)
                if (field_begins(&fields[i], key) && !again--) {
                        *value = (Field){ fields[i].at + strlen(key), fields[i].n - strlen(key) };
                        return TRUE;
                }
        return FALSE;
}

static gboolean find_end(const Field *fields, guint n, const char *address, const char *port,
                         gboolean again, Endpoint *end)
{
        Field text;
        guint32 number;
        if (!find_value(fields, n, address, again, &text) ||
            !address_parse(text.at, text.n, &end->address) ||
            !find_value(fields, n, port, again, &text) || !field_number(&text, &number) ||
            number > 65535)
                return FALSE;
        end->port = (guint16)number;
        return TRUE;
}

/* [1795354883.123456], as conntrack -E -o timestamp begins a line. */
static gint64 parse_timestamp(const Field *f)
{
        gint64 seconds = 0, fraction = 0, unit = 1000000000;
        gsize i = 1;
        if (f->n < 3 || f->n > 24 || f->at[0] != '[' || !g_ascii_isdigit(f->at[1]))
                return -1;
        for (; i < 11 && i < f->n && g_ascii_isdigit(f->at[i]); i++)
                seconds = seconds * 10 + (f->at[i] - '0');
        if (i < f->n && f->at[i] == '.')
                for (i++; i < f->n && unit > 1 && g_ascii_isdigit(f->at[i]); i++)
                        fraction += (f->at[i] - '0') * (unit /= 10);
        return i < f->n && seconds < G_MAXINT64 / 1000000000 ? seconds * 1000000000 + fraction : -1;
}

gboolean translation_line_parse(const char *line, gsize n, TranslationLine *t)
{
        Field fields[MAX_FIELDS];
        guint n_fields = socket_line_split(line, n, fields), i;
        t->time = n_fields > 0 ? parse_timestamp(&fields[0]) : -1;
        t->protocol = 0;
        for (i = 0; i < n_fields && !field_begins(&fields[i], "src="); i++) {
                if (socket_line_field_is(&fields[i], "tcp"))
                        t->protocol = IP_TCP;
                else if (socket_line_field_is(&fields[i], "udp"))
                        t->protocol = IP_UDP;
                else if (socket_line_field_is(&fields[i], "[DESTROY]"))
                        return FALSE;
        }
        Field *f = fields + i;
        n_fields -= i;
        return t->protocol && find_end(f, n_fields, "src=", "sport=", FALSE, &t->client) &&
               find_end(f, n_fields, "dst=", "dport=", FALSE, &t->server) &&
               find_end(f, n_fields, "src=", "sport=", TRUE, &t->true_server) &&
               find_end(f, n_fields, "dst=", "dport=", TRUE, &t->seen_client);
}

static gboolean is_conntrack(const Field *fields, guint n)
{
        Field value;
        return find_value(fields, n, "src=", TRUE, &value) &&
               find_value(fields, n, "dst=", TRUE, &value);
}

Listing listing_recognise(const char *line, gsize n)
{
        Field fields[MAX_FIELDS];
        guint n_fields = socket_line_split(line, n, fields);
        return is_conntrack(fields, n_fields) ? LISTING_CONNTRACK
               : is_lsof(fields, n_fields)    ? LISTING_LSOF
               : is_ss(fields, n_fields)      ? LISTING_SS
                                              : LISTING_NONE;
}
