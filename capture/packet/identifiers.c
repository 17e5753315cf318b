/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/packet/identifiers.h"

#include "capture/packet/minute-keys.h"

#define MINUTE (60 * G_GINT64_CONSTANT(1000000000))

enum {
        LEAST_DIGITS = 2,
        LEAST_WORD = 6,
        MOST_WORD = 128, /* a longer one is data */
        MOST_TEXT = 8192 /* of a text that is looked at */
};

struct Identifiers {
        MinuteKeys *keys;
        GRegex *ignore;
        GString *text; /* what is left of one */
};

Identifiers *identifiers_new(const guint8 *secret, gsize n, const char *ignore, GError **error)
{
        GRegex *regex = NULL;
        Identifiers *i;

        if (ignore)
                regex = g_regex_new(ignore, G_REGEX_RAW | G_REGEX_MULTILINE | G_REGEX_OPTIMIZE, 0,
                                    error);
        if (ignore && !regex)
                return NULL;
        i = g_new0(Identifiers, 1);
        i->ignore = regex;
        i->text = g_string_new(NULL);
        i->keys = minute_keys_new(secret, n);
        return i;
}

void identifiers_free(Identifiers *i)
{
        if (!i)
                return;
        if (i->ignore)
                g_regex_unref(i->ignore);
        g_string_free(i->text, TRUE);
        minute_keys_free(i->keys);
        g_free(i);
}

/* --- words ----------------------------------------------------------------- */

static void word_add(Identifiers *i, RequestIdentifiers **call, gint64 start, const char *word,
                     gsize n)
{
        RequestIdentifiers *c = *call;
        gint64 minute = start / MINUTE;
        guint32 hash = minute_keys_hash(i->keys, minute, word, n);

        for (guint k = 0; c && k < c->n; k++)
                if (c->now[k] == hash)
                        return;
        if (!c)
                c = *call = g_new0(RequestIdentifiers, 1);
        c->now[c->n] = hash;
        if (c->n < G_N_ELEMENTS(c->before))
                c->before[c->n] = minute_keys_hash(i->keys, minute - 1, word, n);
        c->n++;
}

enum { DIGIT = 1, LETTER = 2 };

static inline guint class_of(char c)
{
        if (c >= '0' && c <= '9')
                return DIGIT;
        c |= 0x20;
        return c >= 'a' && c <= 'z' ? LETTER : 0;
}

/* The digits at the end of a word, or those at its beginning, where it has no others. */
static gsize digits_of(const char *word, gsize n, gsize n_digits, gsize *at)
{
        gsize first = 0, last = 0;

        while (first < n && class_of(word[first]) == DIGIT)
                first++;
        while (last < n && class_of(word[n - 1 - last]) == DIGIT)
                last++;
        *at = last == n_digits ? n - last : 0;
        return first == n_digits || last == n_digits ? n_digits : 0;
}

static void words_add(Identifiers *i, RequestIdentifiers **call, gint64 start, const char *text,
                      gsize n, gboolean whole)
{
        gsize at = 0;

        while (at < n && (!*call || (*call)->n < MOST_HASHES)) {
                gsize from, n_digits = 0, length, digits;
                guint class;

                while (at < n && !class_of(text[at]))
                        at++;
                for (from = at; at < n && (class = class_of(text[at])); at++)
                        n_digits += class == DIGIT;
                length = at - from;
                if (n_digits == 0 || length > MOST_WORD || (at == n && !whole))
                        continue;
                if (length >= LEAST_WORD)
                        word_add(i, call, start, text + from, length);
                else if (n_digits >= LEAST_DIGITS &&
                         digits_of(text + from, length, n_digits, &digits))
                        word_add(i, call, start, text + from + digits, n_digits);
        }
}

/* What of a text is not to be ignored, into i->text. FALSE: nothing, as it cannot be told. */
static gboolean text_filter(Identifiers *i, const char *text, gsize n)
{
        GMatchInfo *match = NULL;
        GError *error = NULL;
        gsize at = 0;
        int from, to;

        g_string_truncate(i->text, 0);
        g_regex_match_full(i->ignore, text, (gssize)n, 0, 0, &match, &error);
        while (!error && g_match_info_matches(match)) {
                g_match_info_fetch_pos(match, 0, &from, &to);
                if (to > from) {
                        g_string_append_len(i->text, text + at, (gssize)((gsize)from - at));
                        g_string_append_c(i->text, '\n');
                        at = (gsize)to;
                }
                g_match_info_next(match, &error);
        }
        g_match_info_free(match);
        if (error) {
                g_error_free(error);
                return FALSE;
        }
        g_string_append_len(i->text, text + at, (gssize)(n - at));
        return TRUE;
}

void identifiers_add(Identifiers *i, RequestIdentifiers **call, gint64 start, const char *text,
                     gsize n, gboolean whole)
{
        if (*call && (*call)->n >= MOST_HASHES)
                return;
        whole &= n <= MOST_TEXT;
        n = MIN(n, MOST_TEXT);
        if (!i->ignore)
                words_add(i, call, start, text, n, whole);
        else if (text_filter(i, text, n))
                words_add(i, call, start, i->text->str, i->text->len, whole);
}

static char *put_hash(char *at, char sign, guint32 hash)
{
        *at++ = sign;
        for (int shift = 28; shift >= 0; shift -= 4)
                *at++ = "0123456789abcdef"[hash >> shift & 15];
        return at;
}

void identifiers_append(GString *out, const RequestIdentifiers *c)
{
        char text[MOST_HASHES * 9], *at = text;

        for (guint k = 0; k < c->n; k++) {
                at = put_hash(at, ',', c->now[k]);
                if (k < request_identifiers_n_before(c))
                        at = put_hash(at, '.', c->before[k]);
        }
        if (at > text)
                g_string_append_len(out, text + 1, at - text - 1);
}
