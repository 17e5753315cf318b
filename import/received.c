/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/received.h"

#include <string.h>

#include "tracefmt/message.h"

/* --- tokens -------------------------------------------------------------------- */

typedef enum { TOKEN_END, TOKEN_WORD, TOKEN_COMMENT, TOKEN_SEMICOLON } TokenKind;

typedef struct {
        TokenKind kind;
        const char *text; /* of a comment: the text inside its parentheses */
        gsize n;
} Token;

typedef struct {
        const char *at, *end;
} Scan;

static gboolean is_header_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Reads a comment. Comments nest, and an unclosed one goes to the end of the header. */
static Token next_comment(Scan *s)
{
        Token token = { TOKEN_COMMENT, ++s->at, 0 };
        guint depth = 1;

        for (; s->at < s->end; s->at++) {
                if (*s->at == '\\' && s->end - s->at > 1)
                        s->at++;
                else if (*s->at == '(')
                        depth++;
                else if (*s->at == ')' && --depth == 0)
                        break;
        }
        token.n = (gsize)(s->at - token.text);
        s->at += s->at < s->end;
        return token;
}

static Token next_header_word(Scan *s)
{
        Token token = { TOKEN_WORD, s->at, 0 };
        gboolean is_quoted = FALSE;

        for (; s->at < s->end; s->at++) {
                if (*s->at == '"')
                        is_quoted = !is_quoted;
                else if (!is_quoted && (is_header_blank(*s->at) || strchr("();", *s->at)) && *s->at)
                        break;
        }
        token.n = (gsize)(s->at - token.text);
        return token;
}

static Token next_header_token(Scan *s)
{
        while (s->at < s->end && (is_header_blank(*s->at) || *s->at == ')'))
                s->at++;
        if (s->at == s->end)
                return (Token){ TOKEN_END, s->at, 0 };
        if (*s->at == '(')
                return next_comment(s);
        if (*s->at == ';')
                return (Token){ TOKEN_SEMICOLON, s->at++, 1 };
        return next_header_word(s);
}

static gboolean header_token_is(const Token *token, const char *word)
{
        return token->kind == TOKEN_WORD && token->n == strlen(word) &&
               g_ascii_strncasecmp(token->text, word, token->n) == 0;
}

/* --- hosts ---------------------------------------------------------------------- */

static gboolean is_loopback(const char *host)
{
        return g_str_has_prefix(host, "127.") || strcmp(host, "::1") == 0 ||
               g_str_has_prefix(host, "::ffff:127.");
}

/* Whether a name is common to many hosts. It would join unrelated paths. */
static gboolean is_anyone(const char *name)
{
        return g_str_has_prefix(name, "localhost.") || strcmp(name, "localhost") == 0 ||
               strcmp(name, "localhost6") == 0 || strcmp(name, "unknown") == 0 ||
               strcmp(name, "unspecified") == 0 || strcmp(name, "helo") == 0 ||
               strcmp(name, "ehlo") == 0 || is_loopback(name);
}

/* Reads "[192.0.2.1]", "[IPv6:2001:db8::1]", or the same without brackets. */
static gboolean read_address(const char *text, gsize n, char *address)
{
        char host[RECEIVED_MAX_HOST + 1];
        char *scope;

        if (n > 2 && text[0] == '[') {
                const char *close = memchr(text, ']', n);

                n = close ? (gsize)(close - text) - 1 : n - 1;
                text++;
        }
        if (n > 5 && g_ascii_strncasecmp(text, "IPv6:", 5) == 0) {
                text += 5;
                n -= 5;
        }
        if (n == 0 || n > RECEIVED_MAX_HOST || memchr(text, 0, n))
                return FALSE;
        memcpy(host, text, n);
        host[n] = 0;
        if ((scope = strchr(host, '%')))
                *scope = 0;
        if (!g_hostname_is_ip_address(host))
                return FALSE;
        if (!is_loopback(host))
                strcpy(address, host);
        return TRUE;
}

static void lower(char *name)
{
        for (; *name; name++)
                *name = g_ascii_tolower(*name);
}

/* Reads the name of a host, also behind an '@'. An address is no name. */
static void read_name(const char *text, gsize n, char *name)
{
        char host[RECEIVED_MAX_HOST + 1];

        for (const char *at; (at = memchr(text, '@', n));) {
                n -= (gsize)(at + 1 - text);
                text = at + 1;
        }
        while (n > 0 && (text[n - 1] == '.' || text[n - 1] == ','))
                n--;
        if (n == 0 || n > RECEIVED_MAX_HOST || text[0] == '[')
                return;
        for (gsize i = 0; i < n; i++)
                if ((guchar)text[i] <= ' ' || strchr("<>\"\\\177", text[i]))
                        return;
        memcpy(host, text, n);
        host[n] = 0;
        lower(host);
        if (!is_anyone(host) && !g_hostname_is_ip_address(host))
                strcpy(name, host);
}

gboolean received_same_host(const char *a, const char *b)
{
        gsize n = strcspn(a, "."), m = strcspn(b, ".");

        if (a[n] && b[m])
                return strcmp(a, b) == 0;
        return n == m && strncmp(a, b, n) == 0;
}

/* --- the clauses ------------------------------------------------------------------ */

typedef enum { CLAUSE_NONE, CLAUSE_FROM, CLAUSE_BY, CLAUSE_OTHER } Clause;

typedef struct {
        Received *r;
        Clause clause;
        guint words;                           /* words of this clause so far */
        char looked_up[RECEIVED_MAX_HOST + 1]; /* the name of the sender's address */
        char helo[RECEIVED_MAX_HOST + 1];
        gboolean many; /* "from" has several words, so no host: "mail pickup service" */
        gboolean with, local;
} Reading;

static void take_header_word(Reading *g, const Token *t)
{
        char *name = g->clause == CLAUSE_FROM ? g->r->from : g->r->by;
        char *address = g->clause == CLAUSE_FROM ? g->r->from_address : g->r->by_address;

        if (g->clause == CLAUSE_OTHER && g->with)
                g->local |= header_token_is(t, "local");
        if (g->clause != CLAUSE_FROM && g->clause != CLAUSE_BY)
                return;
        if (read_address(t->text, t->n, address))
                return;
        if (g->words++ == 0)
                read_name(t->text, t->n, name);
        else
                g->many |= g->clause == CLAUSE_FROM;
}

static gboolean begins_helo(const char *word, gsize n)
{
        return n >= 4 &&
               (!g_ascii_strncasecmp(word, "helo", 4) || !g_ascii_strncasecmp(word, "ehlo", 4));
}

/* Reads word i of a comment, which has a bracket: "name [address]", "name[address]" or "[address]".
 * Only there a name counts as looked up, since comments hold all kinds of remarks. */
static void take_bracket(Reading *g, guint i, const char *word, gsize n, char *first)
{
        const char *bracket = memchr(word, '[', n);
        gsize before = (gsize)(bracket - word);

        if (i == 0)
                read_name(word, before, first);
        if (!*g->r->from_address && read_address(bracket, n - before, g->r->from_address) && i <= 1)
                strcpy(g->looked_up, first);
}

/* Reads a comment of "from": the forms above, "HELO name", "[address] helo=name" and "address". */
static void take_from_comment(Reading *g, const Token *t)
{
        const char *p = t->text, *end = t->text + t->n;
        char first[RECEIVED_MAX_HOST + 1] = "";
        gboolean is_helo = FALSE;

        for (guint i = 0; p < end; i++) {
                const char *word = p;
                gsize n;

                while (p < end && !is_header_blank(*p))
                        p++;
                n = (gsize)(p - word);
                p += p < end;
                if (is_helo)
                        read_name(word, n, g->helo);
                else if (begins_helo(word, n) && n > 5 && word[4] == '=')
                        read_name(word + 5, n - 5, g->helo);
                else if (memchr(word, '[', n))
                        take_bracket(g, i, word, n, first);
                else if (i == 0 && !read_address(word, n, g->r->from_address))
                        read_name(word, n, first);
                is_helo = n == 4 && begins_helo(word, n);
        }
}

static void take_comment(Reading *g, const Token *t)
{
        if (g->clause == CLAUSE_FROM)
                take_from_comment(g, t);
        else if (g->clause == CLAUSE_BY)
                read_address(t->text, t->n, g->r->by_address);
}

/* Begins a clause if the word is a keyword. Of repeated clauses the first counts. */
static gboolean begin_clause(Reading *g, const Token *t)
{
        static const char *const others[] = { "with", "via", "id", "for" };
        Clause clause = CLAUSE_NONE;

        if (header_token_is(t, "from") && g->clause == CLAUSE_NONE)
                clause = CLAUSE_FROM;
        else if (header_token_is(t, "by") && g->clause <= CLAUSE_FROM)
                clause = CLAUSE_BY;
        else
                for (guint i = 0; i < G_N_ELEMENTS(others); i++)
                        if (header_token_is(t, others[i]))
                                clause = CLAUSE_OTHER;
        if (clause == CLAUSE_NONE)
                return FALSE;
        g->clause = clause;
        g->with = header_token_is(t, "with");
        g->words = 0;
        return TRUE;
}

/* Chooses the sender's name: the one looked up, else its own name for itself. */
static void settle_sender(Reading *g)
{
        Received *r = g->r;

        if (g->local || g->many) {
                *r->from = *r->from_address = 0;
                return;
        }
        strcpy(r->claimed, *g->helo ? g->helo : r->from);
        if (*g->looked_up)
                strcpy(r->from, g->looked_up);
        else if (!*r->from && !*r->from_address)
                strcpy(r->from, g->helo);
        if (strcmp(r->claimed, r->from) == 0)
                *r->claimed = 0;
}

/* --- the date (RFC 5322, 3.3 and 4.3) ------------------------------------------------ */

enum { DATE_WORDS = 8, DATE_WORD = 16 };

static int find_word(const char *word, const char *words, guint n)
{
        for (guint i = 0; i < n; i++)
                if (g_ascii_strncasecmp(word, words + 3 * (gsize)i, 3) == 0)
                        return (int)i;
        return -1;
}

static int find_month(const char *word)
{
        return strlen(word) < 3 ? -1 : find_word(word, "janfebmaraprmayjunjulaugsepoctnovdec", 12);
}

static gboolean read_date_digits(const char **p, guint most, int *value)
{
        guint n = 0;

        for (*value = 0; n < most && g_ascii_isdigit(**p); n++)
                *value = 10 * *value + *(*p)++ - '0';
        return n > 0;
}

static gboolean read_time_of_day(const char *p, int hms[3])
{
        hms[2] = 0;
        if (!read_date_digits(&p, 2, &hms[0]) || *p++ != ':' || !read_date_digits(&p, 2, &hms[1]))
                return FALSE;
        if (*p == ':' && (p++, !read_date_digits(&p, 2, &hms[2])))
                return FALSE;
        if (*p == '.')
                p += 1 + strspn(p + 1, G_CSET_DIGITS);
        return *p == 0 && hms[0] < 24 && hms[1] < 60 && hms[2] <= 60;
}

/* Reads a zone, "+0200" or a name of RFC 5322. Other names are ambiguous. */
static gboolean read_zone(const char *p, int *minutes)
{
        static const struct {
                char name[4];
                int hours;
        } zones[] = { { "UT", 0 },   { "GMT", 0 },  { "UTC", 0 },  { "Z", 0 },
                      { "EST", -5 }, { "EDT", -4 }, { "CST", -6 }, { "CDT", -5 },
                      { "MST", -7 }, { "MDT", -6 }, { "PST", -8 }, { "PDT", -7 } };
        int sign = *p == '-' ? -1 : 1, hours, rest;

        if (*p == '+' || *p == '-') {
                p++;
                if (strlen(p) != 4 || !read_date_digits(&p, 2, &hours) ||
                    !read_date_digits(&p, 2, &rest))
                        return FALSE;
                *minutes = sign * (60 * hours + rest);
                return hours < 24 && rest < 60;
        }
        for (guint i = 0; i < G_N_ELEMENTS(zones); i++)
                if (g_ascii_strcasecmp(p, zones[i].name) == 0) {
                        *minutes = 60 * zones[i].hours;
                        return TRUE;
                }
        return FALSE;
}

static gboolean read_year(const char *p, int *year)
{
        gsize n = strlen(p);

        if (n < 2 || n > 4 || !read_date_digits(&p, 4, year) || *p)
                return FALSE;
        if (n < 4)
                *year += n == 2 && *year < 50 ? 2000 : 1900;
        return *year >= 1970 && *year <= 2110;
}

/* Reads "1 Apr 2003 12:00:00 +0200", or as asctime(3) has it: "Apr 1 12:00:00 2003 +0200". */
static gint64 read_date(char words[][DATE_WORD], guint n)
{
        gboolean is_asctime;
        const char *day;
        int month, number, year, hms[3], zone;

        if (n == 6 && find_word(words[0], "montuewedthufrisatsun", 7) >= 0) {
                words++;
                n--;
        }
        if (n != 5)
                return NO_TIME;
        is_asctime = !g_ascii_isdigit(words[0][0]);
        day = words[is_asctime];
        month = find_month(words[!is_asctime]);
        if (!read_date_digits(&day, 2, &number) || *day || month < 0 ||
            !read_year(words[is_asctime ? 3 : 2], &year) ||
            !read_time_of_day(words[is_asctime ? 2 : 3], hms) || !read_zone(words[4], &zone) ||
            !g_date_valid_dmy((GDateDay)number, (GDateMonth)(month + 1), (GDateYear)year))
                return NO_TIME;
        g_autoptr(GDateTime) date = g_date_time_new_utc(year, month + 1, number, hms[0], hms[1], 0);
        return (g_date_time_to_unix(date) + hms[2] - 60 * (gint64)zone) *
               G_GINT64_CONSTANT(1000000000);
}

/* Copies a word, truncated: a word that long is no part of a date. The text ends with no NUL, so
 * this is no g_strlcpy(). */
static void copy_word(char word[DATE_WORD], const char *text, gsize n)
{
        n = MIN(n, DATE_WORD - 1);
        memcpy(word, text, n);
        word[n] = '\0';
}

/* Splits a date into words and reads it. The comma behind the day of the week counts as a blank. */
static gint64 take_date(const char *at, const char *end)
{
        char words[DATE_WORDS][DATE_WORD];
        Scan scan = { at, end };
        guint n = 0;
        Token t;

        while ((t = next_header_token(&scan)).kind != TOKEN_END && n < DATE_WORDS) {
                for (gsize i = 0; t.kind == TOKEN_WORD && i < t.n && n < DATE_WORDS;) {
                        gsize k = i;

                        while (k < t.n && t.text[k] != ',')
                                k++;
                        if (k > i)
                                copy_word(words[n++], t.text + i, k - i);
                        i = k + 1;
                }
        }
        return read_date(words, n);
}

/* The text behind the last semicolon outside comments. If a comment does not end, behind the last
 * semicolon. */
static const char *find_date(const char *text, gsize n)
{
        Scan scan = { text, text + n };
        const char *date = NULL;
        Token t;

        while ((t = next_header_token(&scan)).kind != TOKEN_END)
                if (t.kind == TOKEN_SEMICOLON)
                        date = scan.at;
        for (const char *p = text + n; !date && p > text; p--)
                if (p[-1] == ';')
                        date = p;
        return date;
}

void received_parse(const char *text, gsize n, Received *received)
{
        const char *end = text + n, *date = find_date(text, n);
        Scan scan = { text, date ? date - 1 : end };
        Reading reading = { .r = received };
        Token t;

        memset(received, 0, sizeof *received);
        while ((t = next_header_token(&scan)).kind != TOKEN_END) {
                if (t.kind == TOKEN_COMMENT)
                        take_comment(&reading, &t);
                else if (t.kind == TOKEN_WORD && !begin_clause(&reading, &t))
                        take_header_word(&reading, &t);
        }
        settle_sender(&reading);
        received->time = date ? take_date(date, end) : NO_TIME;
}
