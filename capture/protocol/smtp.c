/* SPDX-License-Identifier: BSD-2-Clause
 *
 * SMTP (RFC 5321), with pipelining (RFC 2920) and chunks (BDAT, RFC 3030). A mail
 * is a call: from MAIL to the end of its text, or to RSET, QUIT, EHLO or HELO where
 * it is given up. Its return is the reply to that, or the error that ends the mail
 * before. The greeting and all other commands are of the session and no messages.
 * After STARTTLS the connection is undecided again.
 *
 * LMTP (RFC 2033), which begins with LHLO, answers a text once for each recipient that it
 * has accepted. These replies are one return, which ends with the last of them.
 *
 * Which command a reply answers, and whether text follows DATA, is known only from
 * both directions. The client's state says how many commands it sent and which of
 * the last ones matter; the server's, how many it has answered. After a hole both
 * agree again at a 354, which answers all that was sent, else at the next MAIL.
 *
 * What a mail carries is its Message-ID, which no hop changes: the header of a text is looked
 * through for it.
 */
#include "capture/protocol/protocol.h"

#include <string.h>

#include "base/hash.h"

enum {
        MAX_LINE = 16384,      /* credentials of AUTH may be long */
        MAX_RECOGNISED = 1024, /* bytes of replies that have to say what they are */
        MAX_SIZE_DIGITS = 12,
        REPLY_CODE = 3,
        START_TEXT = 354,
        CLOSING = 421,
        N_MARKS = 7,
        MARK_MAILS = 32, /* mails are told apart modulo this */
        MAX_MESSAGE_ID = 998,
};

typedef enum {
        COMMANDS,
        ANSWER, /* to DATA, which decides what comes */
        TEXT,
        LATE, /* the mail is over or was not seen to begin, and its text may go on */
        REST, /* it does, and its end is no command */
} Phase;

/* How much of CR LF "." CR LF was just seen, or of LF "." LF. */
typedef enum { WITHIN_LINE, AFTER_CR, AFTER_LINE, AFTER_DOT, AFTER_DOT_CR } LineEnd;

/* What the reply to a command means for its mail. */
typedef enum {
        MARK_NONE,
        MARK_BEGINS, /* an error ends it, though */
        MARK_ERROR_ENDS,
        MARK_ENDS,
        MARK_TEXT_ENDS, /* and so does the mail: with LMTP there is a reply a recipient */
        MARK_ASIDE,     /* nothing, but it is no recipient */
        MARK_TLS
} MarkKind;

typedef struct {
        guint8 side;
        guint8 begun;             /* mails, modulo 256 */
        guint16 asked;            /* commands */
        guint16 mail_at;          /* which of them the last MAIL was */
        guint16 mark_at[N_MARKS]; /* and those whose replies matter */
        guint8 mark[N_MARKS];     /* MarkKind * MARK_MAILS + mail */
        guint8 n_marks;           /* modulo N_MARKS, where the next one goes */
        guint8 phase, line_end;
        guint8 mail; /* one goes on */
        guint8 lmtp : 1;
        guint8 bare : 1; /* its lines end with LF alone, and so does the text */
} ClientState;

typedef struct {
        guint8 side;
        guint8 ended;     /* mails, modulo 256 */
        guint8 begun;     /* of the client's mails, the last by which it was put right */
        guint8 sure;      /* answered is right */
        guint8 text;      /* 354 was the last reply */
        guint8 kind;      /* of the reply in progress, or KIND_UNKNOWN */
        guint8 switches;  /* after it */
        guint16 answered; /* commands */
        guint16 code;     /* of the last reply */
        guint16 accepted; /* recipients of the mail */
        guint16 left;     /* replies of the return in progress, after the next */
        guint8 lmtp;
        guint8 doubt; /* a mail of several recipients was the last answered: it may be LMTP */
} ServerState;

typedef union {
        guint8 side;
        ClientState client;
        ServerState server;
} SmtpState;

G_STATIC_ASSERT(sizeof(SmtpState) <= PROTOCOL_STATE_SIZE);

/* --- lines ----------------------------------------------------------------- */

/* The length of the first line without its end; *next is where the following one
 * begins, 0 where the end is not there yet. */
static gsize smtp_line_length(const guint8 *bytes, gsize n, gsize *next)
{
        const guint8 *end = n > 0 ? memchr(bytes, '\n', MIN(n, MAX_LINE)) : NULL;
        *next = end ? (gsize)(end - bytes) + 1 : 0;
        if (!end)
                return n;
        gsize length = *next - 1;
        return length > 0 && bytes[length - 1] == '\r' ? length - 1 : length;
}

static gboolean is_text(const guint8 *p, gsize n)
{
        for (gsize i = 0; i < n; i++)
                if ((p[i] < ' ' && p[i] != '\t' && p[i] != '\r') || p[i] == 0x7f)
                        return FALSE;
        return TRUE;
}

static gboolean smtp_begins(const guint8 *p, gsize n, const char *text)
{
        gsize length = strlen(text);
        return n >= length && g_ascii_strncasecmp((const char *)p, text, length) == 0;
}

static gboolean contains(const guint8 *p, gsize n, const char *text)
{
        for (gsize at = 0; at < n; at++)
                if (smtp_begins(p + at, n - at, text))
                        return TRUE;
        return FALSE;
}

/* Commands that nothing else begins like; a blank at the end stands for an argument,
 * nothing for none. */
static const char *const sure_commands[] = { "EHLO ", "HELO ", "LHLO ", "MAIL FROM:<", "RCPT TO:<",
                                             "DATA",  "BDAT ", "RSET",  "QUIT",        "STARTTLS" };

/* PARSE_MESSAGE: the line is a command beyond doubt; PARSE_MORE: it may become one. */
static ParseStatus command_is_sure(const guint8 *bytes, gsize n)
{
        gsize next, length = smtp_line_length(bytes, n, &next);
        for (guint i = 0; i < G_N_ELEMENTS(sure_commands); i++) {
                gsize name = strlen(sure_commands[i]);
                gboolean bare = g_ascii_isalpha(sure_commands[i][name - 1]);
                if (next == 0 && n <= name &&
                    g_ascii_strncasecmp((const char *)bytes, sure_commands[i], n) == 0)
                        return PARSE_MORE;
                if (!smtp_begins(bytes, length, sure_commands[i]))
                        continue;
                if (next == 0)
                        return n < MAX_LINE && is_text(bytes, n) && (!bare || n == name + 1)
                                       ? PARSE_MORE
                                       : PARSE_NOT_MINE;
                return is_text(bytes, length) && (bare ? length == name : length > name)
                               ? PARSE_MESSAGE
                               : PARSE_NOT_MINE;
        }
        return PARSE_NOT_MINE;
}

/* The code of a line of a reply, 0 where it is none. n bytes are there. */
static guint reply_code(const guint8 *p, gsize n)
{
        if (n < REPLY_CODE || p[0] < '2' || p[0] > '5' || p[1] < '0' || p[1] > '5' ||
            !g_ascii_isdigit(p[2]) ||
            (n > REPLY_CODE && p[3] != ' ' && p[3] != '-' && p[3] != '\r' && p[3] != '\n'))
                return 0;
        return (guint)((p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0'));
}

/* --- recognising ----------------------------------------------------------- */

/* "2.1.0 ", an enhanced status code of the same class (RFC 2034). */
static gboolean is_enhanced(guint code, const guint8 *p, gsize n)
{
        return n >= 5 && p[0] == '0' + code / 100 && p[1] == '.' && g_ascii_isdigit(p[2]) &&
               (p[3] == '.' || (g_ascii_isdigit(p[3]) && p[4] == '.'));
}

/* What FTP, whose replies look the same, does not say. */
static gboolean reply_is_sure(guint code, const guint8 *p, gsize n)
{
        static const char *const keywords[] = { "SIZE",     "8BITMIME", "PIPELINING",
                                                "STARTTLS", "CHUNKING", "ENHANCEDSTATUSCODES",
                                                "SMTPUTF8" };
        if (code == START_TEXT || is_enhanced(code, p, n))
                return TRUE;
        if (code == 220)
                return (contains(p, n, "SMTP") || contains(p, n, "LMTP")) && !contains(p, n, "FTP");
        for (guint i = 0; code == 250 && i < G_N_ELEMENTS(keywords); i++)
                if (smtp_begins(p, n, keywords[i]))
                        return TRUE;
        return FALSE;
}

static ParseStatus recognise_reply(const guint8 *bytes, gsize n)
{
        guint first = 0;
        for (gsize at = 0, next; at < n; at += next) {
                gsize length = smtp_line_length(bytes + at, n - at, &next);
                guint code = reply_code(bytes + at, n - at);
                if (n - at <= REPLY_CODE && next == 0)
                        return PARSE_MORE;
                if (code == 0 || (first && code != first) || !is_text(bytes + at, length) ||
                    at > MAX_RECOGNISED)
                        return PARSE_NOT_MINE;
                if (length > REPLY_CODE &&
                    reply_is_sure(code, bytes + at + REPLY_CODE + 1, length - REPLY_CODE - 1))
                        return PARSE_MESSAGE;
                if (next == 0)
                        return PARSE_MORE;
                first = code;
                if (bytes[at + REPLY_CODE] != '-')
                        return PARSE_NOT_MINE;
        }
        return PARSE_MORE;
}

/* A reply of the server, or a command by which a mail or a session begins. */
static ParseStatus smtp_recognise(const guint8 *bytes, gsize n)
{
        guint8 letter = n > 0 ? bytes[0] & 0xdf : 0;
        if (n > 0 && g_ascii_isdigit(bytes[0]))
                return recognise_reply(bytes, n);
        return letter == 'E' || letter == 'H' || letter == 'L' || letter == 'M'
                       ? command_is_sure(bytes, n)
                       : PARSE_NOT_MINE;
}

/* --- the client ------------------------------------------------------------ */

/* A command is sent, whose reply means something or not. */
static void smtp_ask(ClientState *c, MarkKind kind)
{
        if (kind != MARK_NONE) {
                c->mark_at[c->n_marks] = c->asked;
                c->mark[c->n_marks] = (guint8)(kind * MARK_MAILS + c->begun % MARK_MAILS);
                c->n_marks = (c->n_marks + 1) % N_MARKS;
        }
        c->asked++;
}

/* BDAT's number of bytes, and whether they are the last. */
static gboolean chunk_size(const guint8 *p, gsize n, guint64 *size, gboolean *last)
{
        gsize digits = 0;
        *size = 0;
        for (; digits < n && g_ascii_isdigit(p[digits]); digits++) {
                if (digits == MAX_SIZE_DIGITS)
                        return FALSE;
                *size = *size * 10 + (guint64)(p[digits] - '0');
        }
        *last = n - digits == 5 && smtp_begins(p + digits, 5, " LAST");
        return digits > 0 && (*last || n == digits);
}

static gboolean gives_up(const guint8 *p, gsize n)
{
        return smtp_begins(p, n, "RSET") || smtp_begins(p, n, "QUIT") ||
               smtp_begins(p, n, "EHLO ") || smtp_begins(p, n, "HELO ") ||
               smtp_begins(p, n, "LHLO ");
}

/* One line. FALSE where no client sends it. */
static gboolean smtp_command_read(ClientState *c, const guint8 *p, gsize n, Parsed *parsed)
{
        gboolean in_mail = c->mail;
        guint64 size;
        gboolean last;
        if (!is_text(p, n))
                return FALSE;
        c->lmtp |= smtp_begins(p, n, "LHLO ");
        if (smtp_begins(p, n, "MAIL FROM:") && !in_mail) {
                c->mail = TRUE;
                c->begun++;
                c->mail_at = c->asked;
                smtp_ask(c, MARK_BEGINS);
        } else if (smtp_begins(p, n, "DATA") && n == 4) {
                c->phase = ANSWER;
                smtp_ask(c, in_mail ? MARK_ERROR_ENDS : MARK_NONE);
        } else if (smtp_begins(p, n, "BDAT ")) {
                if (!chunk_size(p + 5, n - 5, &size, &last))
                        return FALSE;
                parsed->length += size;
                c->mail &= !last;
                smtp_ask(c, !in_mail ? MARK_NONE : last ? MARK_TEXT_ENDS : MARK_ERROR_ENDS);
        } else if (in_mail && gives_up(p, n)) {
                c->mail = FALSE;
                smtp_ask(c, MARK_ENDS);
        } else if (in_mail && c->lmtp && !smtp_begins(p, n, "RCPT TO:")) {
                smtp_ask(c, MARK_ASIDE);
        } else {
                smtp_ask(c, smtp_begins(p, n, "STARTTLS") ? MARK_TLS : MARK_NONE);
        }
        return TRUE;
}

/* --- the header of a text ------------------------------------------------------ */

typedef enum { HEADER_NAME, HEADER_LINE, HEADER_VALUE, HEADER_FOLD, HEADER_ID, HEADER_DONE } Stage;

/* Where the walk through it is. */
typedef struct {
        guint8 stage;  /* Stage */
        guint8 agrees; /* of the line's first bytes: with the name that is looked for */
        guint16 n;     /* bytes of the Message-ID */
        guint64 hash;  /* of them */
} MailHeader;

/* The Message-ID is complete after this byte. */
static gboolean header_step(MailHeader *h, guint8 byte)
{
        static const char name[] = "message-id:";
        switch ((Stage)h->stage) {
        case HEADER_FOLD:
                h->stage = byte == ' ' || byte == '\t' ? HEADER_VALUE : HEADER_NAME;
                if (h->stage == HEADER_VALUE)
                        return FALSE;
                G_GNUC_FALLTHROUGH;
        case HEADER_NAME:
                if (h->agrees == 0 && (byte == '\r' || byte == '\n'))
                        h->stage = HEADER_DONE; /* a line without anything ends it */
                else if (g_ascii_tolower((char)byte) != name[h->agrees])
                        h->stage = byte == '\n' ? HEADER_NAME : HEADER_LINE;
                else if (++h->agrees == sizeof name - 1)
                        h->stage = HEADER_VALUE;
                if (h->stage != HEADER_NAME || byte == '\n')
                        h->agrees = 0;
                return FALSE;
        case HEADER_LINE:
                if (byte == '\n')
                        h->stage = HEADER_NAME;
                return FALSE;
        case HEADER_VALUE:
                if (byte == '\n')
                        h->stage = HEADER_FOLD;
                else if (byte == '<') {
                        h->stage = HEADER_ID;
                        h->hash = HASH_SEED;
                        h->n = 0;
                }
                return FALSE;
        case HEADER_ID:
                if (byte == '>' || byte == '\n' || h->n == MAX_MESSAGE_ID) {
                        h->stage = HEADER_DONE;
                        return byte == '>' && h->n > 0;
                }
                h->hash = (h->hash ^ byte) * HASH_SEED;
                h->n++;
                return FALSE;
        case HEADER_DONE:
                break;
        }
        return FALSE;
}

static void smtp_header_read(MailHeader *h, const guint8 *bytes, gsize n, Parsed *parsed)
{
        for (gsize i = 0; i < n && h->stage != HEADER_DONE; i++)
                if (header_step(h, bytes[i]))
                        parsed->carried.content = MAX(hash_word(h->hash, h->n), 1);
}

/* Of the text of a mail; anew: of its first bytes. */
static void text_look(Parsed *parsed, const guint8 *bytes, gsize n, gboolean anew)
{
        if (!parsed->memory)
                return;
        if (!*parsed->memory)
                *parsed->memory = g_new0(MailHeader, 1);
        if (anew)
                *(MailHeader *)*parsed->memory = (MailHeader){ 0 };
        smtp_header_read(*parsed->memory, bytes, n, parsed);
}

/* How many of the bytes are of the text; it has ended where the phase says so. */
static gsize smtp_text_read(ClientState *c, const guint8 *p, gsize n)
{
        gsize at = 0;
        while (at < n) {
                if (c->line_end == WITHIN_LINE) {
                        const guint8 *end = memchr(p + at, c->bare ? '\n' : '\r', n - at);
                        if (!end)
                                return n;
                        at = (gsize)(end - p);
                }
                guint8 byte = p[at++];
                if (byte == '\n' &&
                    (c->line_end == AFTER_DOT_CR || (c->bare && c->line_end == AFTER_DOT))) {
                        c->phase = COMMANDS;
                        return at;
                }
                if (byte == '\r')
                        c->line_end = c->line_end == AFTER_DOT ? AFTER_DOT_CR : AFTER_CR;
                else if (byte == '\n' && (c->line_end == AFTER_CR || c->bare))
                        c->line_end = AFTER_LINE;
                else if (byte == '.' && c->line_end == AFTER_LINE)
                        c->line_end = AFTER_DOT;
                else
                        c->line_end = WITHIN_LINE;
        }
        return n;
}

/* After DATA, or a mail that was refused within its text: whether text comes. FALSE: more
 * must be seen. Where the server does not say, what looks like a command is one: mails
 * begin with a header. */
static gboolean phase_find(ClientState *c, const SmtpState *other, const guint8 *bytes, gsize n,
                           Parsed *parsed)
{
        if (c->phase == ANSWER && other->side == SIDE_SERVER &&
            other->server.answered == c->asked) {
                c->phase = other->server.code == START_TEXT ? TEXT : COMMANDS;
        } else {
                ParseStatus status = command_is_sure(bytes, n);
                if (status == PARSE_MORE)
                        return FALSE;
                c->phase = status == PARSE_MESSAGE ? COMMANDS : c->phase == LATE ? REST : TEXT;
        }
        c->line_end = AFTER_LINE;
        if (c->phase == TEXT)
                text_look(parsed, bytes, 0, TRUE);
        return TRUE;
}

/* The first bytes that are seen of the client: a command, or text that was asked for. */
static ParseStatus client_begin(ClientState *c, const SmtpState *other, const guint8 *bytes,
                                gsize n)
{
        gboolean server_seen = other->side == SIDE_SERVER;
        ParseStatus command = command_is_sure(bytes, n);
        gboolean text = server_seen && (other->server.text || command == PARSE_NOT_MINE);
        if (!text && command != PARSE_MESSAGE)
                return command;
        c->side = SIDE_CLIENT;
        if (server_seen) {
                c->asked = other->server.answered;
                c->begun = other->server.ended;
                c->lmtp = other->server.lmtp;
        }
        if (text) { /* also where nobody has seen 354: the next reply ends the mail */
                c->phase = LATE;
                c->begun++;
                smtp_ask(c, MARK_ENDS);
        }
        return PARSE_MESSAGE;
}

/* The text goes on, or ends with the mail. */
static gboolean smtp_text_parse(ClientState *c, const guint8 *bytes, gsize n, Parsed *parsed)
{
        gboolean answered = c->phase == TEXT;
        gsize used = smtp_text_read(c, bytes, n);
        parsed->length += used;
        if (c->mail && answered)
                text_look(parsed, bytes, used, FALSE);
        if (c->phase != COMMANDS)
                return FALSE;
        if (answered)
                smtp_ask(c, c->mail ? MARK_TEXT_ENDS : MARK_NONE);
        c->mail = FALSE;
        return TRUE;
}

static ParseStatus client_parse(ClientState *c, const SmtpState *other, const guint8 *bytes,
                                gsize n, Parsed *parsed)
{
        ParseStatus status =
                c->side == SIDE_UNKNOWN ? client_begin(c, other, bytes, n) : PARSE_MESSAGE;
        if (status != PARSE_MESSAGE)
                return status;
        if (c->mail && other->side == SIDE_SERVER && other->server.ended == c->begun) {
                parsed->kind = KIND_CALL; /* the server has ended it */
                c->mail = FALSE;
                if (c->phase == TEXT)
                        c->phase = LATE;
                return PARSE_MESSAGE;
        }
        parsed->kind = c->mail ? KIND_CALL : KIND_UNKNOWN;
        while (parsed->length < n) {
                gsize at = (gsize)parsed->length, next;
                if ((c->phase == ANSWER || c->phase == LATE) &&
                    !phase_find(c, other, bytes + at, n - at, parsed))
                        break;
                if (c->phase != COMMANDS) {
                        if (parsed->kind == KIND_UNKNOWN)
                                parsed->kind = KIND_SESSION;
                        if (!smtp_text_parse(c, bytes + at, n - at, parsed))
                                break;
                        return PARSE_MESSAGE;
                }
                gsize length = smtp_line_length(bytes + at, n - at, &next);
                if (next == 0) {
                        if (n - at >= MAX_LINE)
                                return PARSE_NOT_MINE;
                        break;
                }
                parsed->length += next;
                c->bare = next == length + 1;
                if (!smtp_command_read(c, bytes + at, length, parsed))
                        return PARSE_NOT_MINE;
                if (parsed->kind == KIND_UNKNOWN)
                        parsed->kind = c->mail ? KIND_CALL : KIND_SESSION;
                if (!c->mail)
                        return PARSE_MESSAGE;
        }
        return PARSE_MORE;
}

/* --- the server ------------------------------------------------------------ */

/* What the command that is answered next means for its mail. */
static MarkKind mark_find(const ServerState *s, const ClientState *c)
{
        for (guint i = 0; i < N_MARKS; i++) {
                MarkKind kind = c->mark[i] / MARK_MAILS;
                if (kind == MARK_NONE || c->mark_at[i] != s->answered)
                        continue;
                if (kind == MARK_TLS || c->mark[i] % MARK_MAILS == (s->ended + 1) % MARK_MAILS)
                        return kind;
        }
        return MARK_NONE;
}

/* Whether the reply to a command that means mark ends its mail. */
static gboolean reply_ends(MarkKind mark, guint code)
{
        return mark == MARK_ENDS || mark == MARK_TEXT_ENDS ||
               ((mark == MARK_BEGINS || mark == MARK_ERROR_ENDS) && code >= 400);
}

/* The first reply that is seen of the server: it answers the last command. */
static void server_begin(ServerState *s, const SmtpState *other, guint code)
{
        const ClientState *c = &other->client;
        s->side = SIDE_SERVER;
        if (other->side != SIDE_CLIENT) {
                s->sure = code == 220;
                return;
        }
        s->answered = c->asked - 1;
        s->begun = c->begun;
        s->ended = c->begun - 1;
        if (!c->mail && !reply_ends(mark_find(s, c), 0))
                s->ended = c->begun;
}

static gboolean mail_ends(ServerState *s, const SmtpState *other, guint code, gboolean asked,
                          MarkKind mark)
{
        gboolean open = other->side == SIDE_CLIENT && s->ended != other->client.begun;
        if (s->text) {
                s->text = FALSE;
                s->ended += open;
                return TRUE; /* also of a mail that was not seen to begin */
        }
        if (!open || !((asked && reply_ends(mark, code)) || code == CLOSING))
                return FALSE;
        s->ended++;
        return TRUE;
}

/* Recipients are accepted; and LMTP, where LHLO was not seen, is known by a reply that nobody
 * has asked for. */
static void count_recipients(ServerState *s, const ClientState *c, guint code, gboolean asked,
                             MarkKind mark)
{
        s->lmtp |= c->lmtp || (s->doubt && !asked && code != CLOSING);
        s->doubt = FALSE;
        if (mark == MARK_BEGINS)
                s->accepted = 0;
        else if (asked && mark == MARK_NONE && s->ended != c->begun && code / 100 == 2)
                s->accepted++;
}

/* The first line of a reply. */
static void smtp_reply_begin(ServerState *s, const SmtpState *other, guint code)
{
        const ClientState *c = &other->client;
        gboolean client_seen = other->side == SIDE_CLIENT;
        if (s->side == SIDE_UNKNOWN)
                server_begin(s, other, code);
        if (client_seen && !s->sure && s->begun != c->begun) {
                s->begun = c->begun;
                s->ended = c->begun - 1;
                s->answered = c->mail_at;
        }
        gboolean asked = client_seen && s->answered != c->asked;
        MarkKind mark = asked ? mark_find(s, c) : MARK_NONE;
        s->kind = KIND_SESSION;
        s->code = (guint16)code;
        s->switches = mark == MARK_TLS && code == 220;
        if (client_seen)
                count_recipients(s, c, code, asked, mark);
        gboolean several = s->accepted > 1 && (s->text || mark == MARK_TEXT_ENDS);
        if (code == START_TEXT && client_seen) {
                s->answered = c->asked;
                s->ended = c->begun - c->mail;
                s->sure = TRUE;
        } else {
                s->answered += asked;
        }
        if (code == START_TEXT)
                s->text = TRUE;
        else if (mail_ends(s, other, code, asked, mark)) {
                s->kind = KIND_RETURN;
                s->left = several && s->lmtp ? s->accepted - 1 : 0;
                s->doubt = several && !s->lmtp;
        }
}

static ParseStatus server_parse(ServerState *s, const SmtpState *other, const guint8 *bytes,
                                gsize n, Parsed *parsed)
{
        while (parsed->length < n) {
                gsize at = (gsize)parsed->length, next;
                gsize length = smtp_line_length(bytes + at, n - at, &next);
                guint code = reply_code(bytes + at, n - at);
                if (n - at > REPLY_CODE && (code == 0 || !is_text(bytes + at, length)))
                        return PARSE_NOT_MINE;
                if (s->kind == KIND_UNKNOWN && n - at > REPLY_CODE) /* the rest may be cut off */
                        smtp_reply_begin(s, other, code);
                if (next == 0) {
                        if (n - at >= MAX_LINE)
                                return PARSE_NOT_MINE;
                        break;
                }
                if (code == 0)
                        return PARSE_NOT_MINE;
                parsed->kind = (MessageKind)s->kind;
                if (code >= 400 && !parsed->outcome)
                        parsed->outcome = outcome_number(NUMBERS_SMTP, code);
                parsed->length += next;
                if (length <= REPLY_CODE || bytes[at + REPLY_CODE] != '-') {
                        if (s->left > 0 && code != CLOSING) {
                                s->left--;
                                continue;
                        }
                        s->left = 0;
                        parsed->switches = s->switches;
                        s->kind = KIND_UNKNOWN;
                        return PARSE_MESSAGE;
                }
        }
        if (s->kind != KIND_UNKNOWN)
                parsed->kind = (MessageKind)s->kind;
        return PARSE_MORE;
}

/* --- both ------------------------------------------------------------------ */

static ParseStatus either_parse(SmtpState *s, guint8 call, const guint8 *bytes, gsize n,
                                gboolean eof, Parsed *parsed)
{
        static const SmtpState unknown;
        const SmtpState *other = parsed->other ? parsed->other : &unknown;
        if (eof) { /* a mail that is not sent to its end is a call all the same, and so is a return
                    */
                gboolean returns = s->side == SIDE_SERVER && s->server.kind == KIND_RETURN;
                parsed->kind = returns ? KIND_RETURN : KIND_CALL;
                parsed->length = n;
                return returns || (s->side == SIDE_CLIENT && s->client.mail) ? PARSE_MESSAGE
                                                                             : PARSE_NOT_MINE;
        }
        if (call == CALL_PROBE) {
                ParseStatus status = smtp_recognise(bytes, n);
                if (status != PARSE_MESSAGE)
                        return status;
        }
        gboolean may_serve = s->side == SIDE_UNKNOWN && other->side != SIDE_SERVER;
        if (s->side == SIDE_SERVER || (may_serve && n > 0 && g_ascii_isdigit(bytes[0])))
                return server_parse(&s->server, other, bytes, n, parsed);
        return client_parse(&s->client, other, bytes, n, parsed);
}

static ParseStatus smtp_parse(gpointer state, guint8 call, const guint8 *bytes, gsize n,
                              gboolean eof, GString *label, Parsed *parsed)
{
        ParseStatus status = either_parse(state, call, bytes, n, eof, parsed);
        if (label && parsed->kind == KIND_CALL)
                g_string_append(label, "MAIL");
        return status;
}

/* The first line of those shown that is no reply, or n. */
static gsize replies_end(const guint8 *bytes, gsize n)
{
        static const guint8 success[] = "250";
        gsize at = 0, next;
        while (at < n && reply_code(bytes + at, n - at)) {
                smtp_line_length(bytes + at, n - at, &next);
                if (next == 0)
                        return n;
                at += next;
        }
        return n - at < REPLY_CODE && memcmp(bytes + at, success, n - at) == 0 ? n : at;
}

/* A command, the line after the end of a text, or replies and nothing but replies. */
static gsize smtp_find_boundary(const guint8 *bytes, gsize n)
{
        for (gsize at = 0, next; at < n; at += next) {
                const guint8 *p = bytes + at;
                gsize left = n - at, replies = replies_end(p, left);
                if (replies == left || command_is_sure(p, left) != PARSE_NOT_MINE)
                        return at;
                smtp_line_length(p, left, &next);
                if (next == 0)
                        return n;
                if (next == 3 && p[0] == '.' && p[1] == '\r')
                        return at + next;
                next = MAX(next, replies);
        }
        return n;
}

/* Addresses and names of mails. */
static void smtp_values(GString *text, G_GNUC_UNUSED gpointer *memory, const guint8 *bytes, gsize n)
{
        static const char *const names[] = {
                "MAIL FROM:", "RCPT TO:", "Message-ID:", "From:",
                "To:",        "Cc:",      "References:", "In-Reply-To:"
        };
        for (gsize at = 0, next; at < n; at += next) {
                gsize length = smtp_line_length(bytes + at, n - at, &next);
                if (next == 0)
                        return;
                for (guint i = 0; i < G_N_ELEMENTS(names); i++)
                        if (length > strlen(names[i]) &&
                            !g_ascii_strncasecmp((const char *)bytes + at, names[i],
                                                 strlen(names[i])))
                                g_string_append_len(text, (const char *)bytes + at, (gssize)next);
        }
}

const Protocol protocol_smtp = {
        .name = "smtp",
        .values = smtp_values,
        .greets = TRUE,
        .parse = smtp_parse,
        .find_boundary = smtp_find_boundary,
        .forget = g_free,
};
