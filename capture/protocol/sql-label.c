/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/protocol/sql-label.h"

#include <string.h>

enum { MAX_NAME = 64, MAX_VERB = 10 };

static const char *const verbs[] = {
        "ALTER",    "ANALYZE",   "BEGIN",   "CALL",    "CHECKPOINT", "CLOSE",   "CLUSTER",
        "COMMENT",  "COMMIT",    "COPY",    "CREATE",  "DEALLOCATE", "DECLARE", "DELETE",
        "DESC",     "DESCRIBE",  "DISCARD", "DO",      "DROP",       "END",     "EXECUTE",
        "EXPLAIN",  "FETCH",     "FLUSH",   "GRANT",   "HANDLER",    "INSERT",  "KILL",
        "LISTEN",   "LOAD",      "LOCK",    "MERGE",   "MOVE",       "NOTIFY",  "OPTIMIZE",
        "PREPARE",  "REFRESH",   "REINDEX", "RELEASE", "REPLACE",    "RESET",   "REVOKE",
        "ROLLBACK", "SAVEPOINT", "SELECT",  "SET",     "SHOW",       "START",   "TABLE",
        "TRUNCATE", "UNLISTEN",  "UNLOCK",  "UPDATE",  "USE",        "VACUUM",  "VALUES",
        "WITH",     "XA",        NULL,
};

/* A word, or one other character. */
typedef struct {
        const guint8 *text;
        gsize n;
        gboolean is_name; /* of a table, perhaps, with its quotes off */
        gboolean quoted;
} Token;

typedef struct {
        const guint8 *at, *end;
} Scanner;

static Scanner scanner(const guint8 *text, gsize n)
{
        return (Scanner){ text, n > 0 ? text + n : text }; /* of no bytes text may be NULL */
}

static gboolean is_word_char(guint8 c)
{
        return g_ascii_isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

static void skip_past(Scanner *s, const char *end)
{
        const guint8 *found = memmem(s->at, (gsize)(s->end - s->at), end, strlen(end));
        s->at = found ? found + strlen(end) : s->end;
}

/* Blanks and comments. */
static void sql_label_skip_blanks(Scanner *s)
{
        while (s->at < s->end) {
                gsize left = (gsize)(s->end - s->at);
                if (g_ascii_isspace(*s->at))
                        s->at++;
                else if (left >= 2 && memcmp(s->at, "--", 2) == 0)
                        skip_past(s, "\n");
                else if (left >= 2 && memcmp(s->at, "/*", 2) == 0)
                        skip_past(s, "*/");
                else
                        return;
        }
}

/* Where a text may begin or go on, and dialects do not agree where it ends: a "\" in quotes, the
 * dollars of PostgreSQL, the # of MySQL. What follows may be a value. */
static gboolean is_unsure(const Scanner *s)
{
        guint8 c = *s->at, next = s->end - s->at > 1 ? s->at[1] : 0;
        if (c == '#' || (c == '$' && !g_ascii_isdigit(next)))
                return TRUE;
        if (c != '"' && c != '`' && c != '\'')
                return FALSE;
        const guint8 *close = memchr(s->at + 1, c, (gsize)(s->end - s->at - 1));
        return memchr(s->at, '\\', (gsize)((close ? close : s->end) - s->at)) != NULL;
}

/* FALSE at the end, and where it is not sure what comes. */
static gboolean sql_label_next_token(Scanner *s, Token *t)
{
        sql_label_skip_blanks(s);
        if (s->at == s->end || is_unsure(s))
                return FALSE;
        guint8 c = *s->at;
        t->quoted = c == '"' || c == '`';
        if (t->quoted || c == '\'') {
                t->text = ++s->at;
                const guint8 *close = memchr(s->at, c, (gsize)(s->end - s->at));
                t->n = (gsize)((close ? close : s->end) - t->text);
                t->is_name = t->quoted && close;
                s->at = close ? close + 1 : s->end;
                return TRUE;
        }
        t->text = s->at++;
        t->is_name = (is_word_char(c) && !g_ascii_isdigit(c) && c != '$') || c == '_';
        if (is_word_char(c))
                while (s->at < s->end && is_word_char(*s->at))
                        s->at++;
        t->n = (gsize)(s->at - t->text);
        return TRUE;
}

static gboolean sql_label_token_is(const Token *t, const char *word)
{
        return !t->quoted && t->n > 0 && (t->text[0] & ~0x20) == *word && strlen(word) == t->n &&
               g_ascii_strncasecmp((const char *)t->text, word, t->n) == 0;
}

static gboolean token_is_one_of(const Token *t, const char *const *words)
{
        for (; *words; words++)
                if (sql_label_token_is(t, *words))
                        return TRUE;
        return FALSE;
}

static gboolean is_char(const Token *t, char c)
{
        return !t->quoted && t->n == 1 && t->text[0] == (guint8)c && !t->is_name;
}

/* The table's name, after "FROM" and the like: [schema .] name. FALSE where none
 * stands there. */
static gboolean sql_label_name_append(Scanner *s, GString *label)
{
        static const char *const noise[] = { "IF",     "NOT",     "EXISTS",
                                             "ONLY",   "TABLE",   "LOW_PRIORITY",
                                             "IGNORE", "LATERAL", "DELAYED",
                                             NULL };
        Token t;
        do {
                if (!sql_label_next_token(s, &t) || !t.is_name)
                        return FALSE;
        } while (token_is_one_of(&t, noise));
        for (gsize parts = 0; parts < 3; parts++) {
                Scanner ahead = *s;
                Token dot;
                g_string_append_c(label, parts ? '.' : ' ');
                for (gsize i = 0; i < MIN(t.n, MAX_NAME); i++)
                        if (t.text[i] >= ' ')
                                g_string_append_c(label, (char)t.text[i]);
                if (!sql_label_next_token(&ahead, &dot) || !is_char(&dot, '.') ||
                    !sql_label_next_token(&ahead, &t) || !t.is_name)
                        break;
                *s = ahead;
        }
        return TRUE;
}

void sql_label_append(GString *label, const guint8 *text, gsize n)
{
        static const char *const before_table[] = { "FROM", "INTO", "TABLE", NULL };
        static const char *const at_once[] = { "UPDATE", "COPY", "TRUNCATE", "REPLACE", NULL };
        static const char *const with_table[] = { "SELECT", "INSERT",  "UPDATE", "DELETE",
                                                  "MERGE",  "REPLACE", "COPY",   "TRUNCATE",
                                                  "CREATE", "ALTER",   "DROP",   "LOCK",
                                                  "WITH",   "TABLE",   "LOAD",   NULL };
        Scanner s = scanner(text, MIN(n, SQL_LABEL_BYTES));
        Token verb, t;
        gint depth = 0;
        do {
                if (!sql_label_next_token(&s, &verb))
                        return;
        } while (is_char(&verb, '('));
        if (!token_is_one_of(&verb, verbs))
                return;
        for (gsize i = 0; i < verb.n; i++)
                g_string_append_c(label, g_ascii_toupper((char)verb.text[i]));
        if (!token_is_one_of(&verb, with_table))
                return;
        Scanner after = s;
        if (token_is_one_of(&verb, at_once) && sql_label_name_append(&after, label))
                return;
        while (sql_label_next_token(&s, &t)) {
                depth += is_char(&t, '(') - is_char(&t, ')');
                if (!token_is_one_of(&t, before_table) || depth > 0)
                        continue;
                after = s;
                if (sql_label_name_append(&after, label))
                        return;
                after = s;
                if (sql_label_next_token(&after, &t) && is_char(&t, '(')) {
                        s = after; /* a subquery: its table */
                        depth = 0;
                }
        }
}

gboolean sql_is_plausible(const guint8 *text, gsize n, gboolean whole)
{
        Scanner s = scanner(text, n);
        Token t;
        for (gsize i = 0; i < n; i++)
                if (text[i] < ' ' && !g_ascii_isspace(text[i]))
                        return FALSE;
        do {
                if (!sql_label_next_token(&s, &t))
                        return FALSE;
        } while (is_char(&t, '('));
        if (!t.is_name || t.quoted)
                return FALSE;
        if (s.at == s.end && !whole) /* the verb may go on */
                return t.n <= MAX_VERB;
        return token_is_one_of(&t, verbs);
}
