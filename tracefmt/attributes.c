/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/attributes.h"

#include <string.h>

#include "base/digits.h"

const Attributes no_attributes;

/* One word: its key up to the equals sign, and its value. */
typedef struct {
        const char *key;
        gsize key_length;
        AttributeText value;
} Word;

/* 0 where the text is no number of up to 18 digits. */
static gint64 text_number(AttributeText text)
{
        guint64 number;

        return digits_parse(text.at, text.length, 18, G_MAXINT64, &number) ? (gint64)number : 0;
}

static inline gboolean word_is(const Word *w, const char *key, gsize length)
{
        return w->key_length == length && !memcmp(w->key, key, length);
}

static inline void word_text(const Word *w, const char *key, AttributeText *text)
{
        if (word_is(w, key, strlen(key)) && !text->at)
                *text = w->value;
}

static inline void word_number(const Word *w, const char *key, gint64 *number)
{
        if (word_is(w, key, strlen(key)) && *number == 0)
                *number = text_number(w->value);
}

static inline void word_take(const Word *w, Attributes *a)
{
        switch (*w->key) {
        case 'a':
                word_number(w, "ack", &a->ack);
                word_number(w, "again", &a->again);
                break;
        case 'b':
                word_number(w, "bytes", &a->bytes);
                break;
        case 'c':
                word_number(w, "conn", &a->conn);
                break;
        case 'd':
                word_number(w, "dur", &a->dur);
                break;
        case 'e':
                word_text(w, "end", &a->end);
                break;
        case 'f':
                word_text(w, "fetch", &a->fetch);
                break;
        case 'i':
                word_text(w, "ids", &a->ids);
                break;
        case 'l':
                word_text(w, "label", &a->label);
                word_text(w, "link", &a->link);
                word_number(w, "login", &a->login);
                break;
        case 'p':
                word_text(w, "path", &a->path);
                break;
        case 'r':
                word_text(w, "relay", &a->relay);
                word_number(w, "resent", &a->resent);
                break;
        case 's':
                word_number(w, "syn", &a->syn);
                word_number(w, "stall", &a->stall);
                if (word_is(w, "st", 2) && !a->outcome)
                        a->outcome = outcome_read(w->value.at, w->value.length);
                word_number(w, "shut", &a->shut);
                break;
        case 't':
                word_text(w, "tags", &a->tags);
                word_number(w, "txn", &a->txn);
                word_number(w, "tcp", &a->tcp);
                word_number(w, "tls", &a->tls);
                break;
        case 'w':
                word_number(w, "way", &a->way);
                break;
        }
}

void attributes_parse(Attributes *a, const char *text, gsize length)
{
        const char *p = text, *end = text + length;

        memset(a, 0, sizeof *a);
        while (p < end) {
                Word w = { .key = p };

                while (p < end && (guchar)*p > ' ' && *p != '=')
                        p++;
                w.key_length = (gsize)(p - w.key);
                if (p < end && *p == '=') {
                        w.value.at = ++p;
                        while (p < end && (guchar)*p > ' ')
                                p++;
                        w.value.length = (gsize)(p - w.value.at);
                        word_take(&w, a);
                }
                while (p < end && (guchar)*p <= ' ')
                        p++;
        }
}

char *attribute_unescape(const char *field)
{
        GString *text = g_string_new(NULL);
        const char *p = field;

        while (*p) {
                int high = *p == '%' ? g_ascii_xdigit_value(p[1]) : -1;
                int low = high >= 0 ? g_ascii_xdigit_value(p[2]) : -1;

                g_string_append_c(text, low >= 0 ? (char)(high << 4 | low) : *p);
                p += low >= 0 ? 3 : 1;
        }
        if (strlen(text->str) < text->len || !g_utf8_validate(text->str, (gssize)text->len, NULL))
                g_string_assign(text, field);
        return g_string_free(text, FALSE);
}
