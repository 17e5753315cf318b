/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json-reader.h"

#include <string.h>

#include "base/error.h"

enum { PIECE = 1 << 16 };

/* Flags of an entered object or array. */
enum { IS_OBJECT = 1, HAS_ANY = 2 };

struct JsonReader {
        JsonFill fill;
        gpointer user;
        const char *given; /* bytes not yet filled in, of json_reader_new_text() */
        gsize n_given;
        char *data; /* data[at] is the next byte; data[end - 1] the last in memory */
        gsize size, at, end;
        gsize mark;     /* where the current text begins, which is kept when more is read */
        guint64 passed; /* bytes before data */
        guint64 line, line_begins; /* newlines so far; the byte at which the line begins */
        gboolean begun, at_end;
        gboolean pending;
        guint depth;
        guint8 within[JSON_DEEPEST];
        GString *key, *unescaped;
        const char *text;
        gsize length;
        gboolean is_text;
        GError *error;
};

JsonReader *json_reader_new(JsonFill fill, gpointer user)
{
        JsonReader *r = g_new0(JsonReader, 1);

        r->fill = fill;
        r->user = user;
        r->size = PIECE;
        r->data = g_malloc(r->size);
        r->key = g_string_new(NULL);
        r->unescaped = g_string_new(NULL);
        r->text = "";
        return r;
}

/* A JsonFill whose user is the reader. */
static gssize fill_from_given(gpointer user, void *buffer, gsize n, GError **error)
{
        JsonReader *r = user;

        (void)error;
        n = MIN(n, r->n_given);
        if (n > 0)
                memcpy(buffer, r->given, n);
        r->given += n;
        r->n_given -= n;
        return (gssize)n;
}

JsonReader *json_reader_new_text(gconstpointer text, gsize n)
{
        JsonReader *r = json_reader_new(fill_from_given, NULL);

        r->user = r;
        r->given = text;
        r->n_given = n;
        return r;
}

void json_reader_free(JsonReader *r)
{
        if (!r)
                return;
        g_free(r->data);
        g_string_free(r->key, TRUE);
        g_string_free(r->unescaped, TRUE);
        g_clear_error(&r->error);
        g_free(r);
}

const GError *json_reader_error(const JsonReader *r)
{
        return r->error;
}

/* --- bytes ----------------------------------------------------------------------- */

static gboolean fail_finding(JsonReader *r, const char *found, const char *expected)
{
        gboolean cut = r->at_end && r->at == r->end;

        if (!r->error)
                g_set_error(&r->error, RAVEL_ERROR, cut ? RAVEL_ERROR_PARTIAL : RAVEL_ERROR_INPUT,
                            "%" G_GUINT64_FORMAT ": byte %" G_GUINT64_FORMAT
                            ": found %s, expected %s",
                            r->line + 1, r->passed + r->at - r->line_begins + 1, found, expected);
        return FALSE;
}

static gboolean fail_expecting(JsonReader *r, const char *expected)
{
        guint8 c = r->at < r->end ? (guint8)r->data[r->at] : 0;
        char found[16];

        if (r->at == r->end)
                return fail_finding(r, "the end of the data", expected);
        g_snprintf(found, sizeof found, c > ' ' && c < 0x7f ? "\"%c\"" : "the byte 0x%02x", c);
        return fail_finding(r, found, expected);
}

/* Reads more bytes behind data[end]. FALSE at the end, and if a text is too long. */
static gboolean read_more(JsonReader *r)
{
        gssize n;

        if (r->at_end || r->error)
                return FALSE;
        memmove(r->data, r->data + r->mark, r->end - r->mark);
        r->passed += r->mark;
        r->at -= r->mark;
        r->end -= r->mark;
        r->mark = 0;
        if (r->end == r->size) {
                if (r->size >= JSON_LONGEST)
                        return fail_finding(r, "a text that does not end", "one of 16 MB at most");
                r->data = g_realloc(r->data, r->size *= 2);
        }
        n = r->fill(r->user, r->data + r->end, r->size - r->end, &r->error);
        r->at_end = n <= 0;
        r->end += (gsize)MAX(n, 0);
        return n > 0;
}

/* Skips the byte order mark with which Windows begins a text. */
static void skip_mark(JsonReader *r)
{
        static const char mark[] = "\xef\xbb\xbf";

        r->begun = TRUE;
        while (r->end < strlen(mark) && memcmp(r->data, mark, r->end) == 0 && read_more(r))
                ;
        if (r->end >= strlen(mark) && memcmp(r->data, mark, strlen(mark)) == 0)
                r->at = r->mark = strlen(mark);
}

/* Skips blanks. Returns the byte behind them, or 0 at the end. */
static char skip_json_blanks(JsonReader *r)
{
        for (;;) {
                for (; r->at < r->end; r->at++) {
                        char c = r->data[r->at];

                        if (c == '\n') {
                                r->line++;
                                r->line_begins = r->passed + r->at + 1;
                        } else if (c != ' ' && c != '\t' && c != '\r') {
                                return c;
                        }
                }
                r->mark = r->at;
                if (!read_more(r))
                        return 0;
        }
}

/* Skips blanks, and the byte c, which must follow. */
static gboolean accept_byte(JsonReader *r, char c, const char *expected)
{
        if (skip_json_blanks(r) != c || r->at == r->end)
                return r->error ? FALSE : fail_expecting(r, expected);
        r->at++;
        return TRUE;
}

/* --- texts ----------------------------------------------------------------------- */

static gboolean read_hex_digits(JsonReader *r, gunichar *code)
{
        *code = 0;
        for (guint i = 0; i < 4; i++) {
                int digit;

                if (r->at == r->end && !read_more(r))
                        return fail_expecting(r, "four hexadecimal digits");
                digit = g_ascii_xdigit_value(r->data[r->at]);
                if (digit < 0)
                        return fail_expecting(r, "four hexadecimal digits");
                *code = *code << 4 | (gunichar)digit;
                r->at++;
        }
        return TRUE;
}

/* After the first half of a surrogate pair: joins the second half to *code. Without one, *code
 * stays the same and nothing is read. */
static gboolean read_second_half(JsonReader *r, gunichar *code)
{
        gunichar second;

        while (r->end - r->at < 2 && read_more(r))
                ;
        if (r->error || r->end - r->at < 2 || memcmp(r->data + r->at, "\\u", 2) != 0)
                return !r->error;
        r->at += 2;
        if (!read_hex_digits(r, &second))
                return FALSE;
        if (second >= 0xdc00 && second < 0xe000)
                *code = 0x10000 + ((*code & 0x3ff) << 10 | (second & 0x3ff));
        else if (second < 0xd800)
                g_string_append_unichar(r->unescaped, 0xfffd), *code = second;
        return TRUE;
}

/* Reads the four digits after \u. A code that is no character becomes U+FFFD. */
static gboolean read_code(JsonReader *r)
{
        gunichar code;

        if (!read_hex_digits(r, &code) ||
            (code >= 0xd800 && code < 0xdc00 && !read_second_half(r, &code)))
                return FALSE;
        if (code == 0 || (code >= 0xd800 && code < 0xe000))
                code = 0xfffd;
        g_string_append_unichar(r->unescaped, code);
        return TRUE;
}

/* Reads the rest of an escape, after its backslash. */
static gboolean read_escape(JsonReader *r)
{
        static const char escapes[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
        const char *escape;
        char c;

        if (r->at == r->end && !read_more(r))
                return fail_expecting(r, "an escape");
        c = r->data[r->at];
        if (c == 'u') {
                r->at++;
                return read_code(r);
        }
        escape = c ? strchr(escapes, c) : NULL;
        if (!escape)
                return fail_expecting(r, "an escape");
        r->at++;
        g_string_append_c(r->unescaped, meaning[escape - escapes]);
        return TRUE;
}

/* Skips bytes up to a quote, a backslash or a control character. */
static gboolean skip_plain(JsonReader *r)
{
        for (;;) {
                for (; r->at < r->end; r->at++) {
                        guint8 c = (guint8)r->data[r->at];

                        if (G_UNLIKELY(c == '"' || c == '\\' || c < ' '))
                                return c >= ' ' || fail_expecting(r, "\" at the end of a text");
                }
                if (!read_more(r))
                        return r->error ? FALSE : fail_expecting(r, "\" at the end of a text");
        }
}

/* Reads a text with escapes, from its first escape on. The part before is from mark to at. */
static gboolean read_escaped(JsonReader *r)
{
        g_string_truncate(r->unescaped, 0);
        for (;;) {
                g_string_append_len(r->unescaped, r->data + r->mark, (gssize)(r->at - r->mark));
                if (r->data[r->at++] == '"')
                        break;
                r->mark = r->at;
                if (!read_escape(r))
                        return FALSE;
                r->mark = r->at;
                if (!skip_plain(r))
                        return FALSE;
        }
        r->text = r->unescaped->str;
        r->length = r->unescaped->len;
        return TRUE;
}

/* Reads a text, after its opening quote. */
static gboolean read_json_text(JsonReader *r)
{
        r->mark = r->at;
        if (!skip_plain(r))
                return FALSE;
        if (G_UNLIKELY(r->data[r->at] == '\\'))
                return read_escaped(r);
        r->text = r->data + r->mark;
        r->length = r->at - r->mark;
        r->at++;
        return TRUE;
}

/* --- numbers and words ----------------------------------------------------------- */

static gsize count_digits(const char *text, gsize n)
{
        gsize i = 0;

        while (i < n && g_ascii_isdigit(text[i]))
                i++;
        return i;
}

/* The parts of a JSON number. */
typedef struct {
        gboolean negative;
        const char *whole, *fraction;
        gsize n_whole, n_fraction;
        gint64 exponent; /* at most G_MAXINT32 either way */
} Number;

static gboolean split_exponent(const char *text, gsize n, Number *to)
{
        gboolean negative = n > 0 && *text == '-';
        gsize sign = n > 0 && (*text == '-' || *text == '+');

        if (n == sign || count_digits(text + sign, n - sign) != n - sign)
                return FALSE;
        for (gsize i = sign; i < n; i++)
                to->exponent = MIN(to->exponent * 10 + (text[i] - '0'), G_MAXINT32);
        if (negative)
                to->exponent = -to->exponent;
        return TRUE;
}

static gboolean split_number(const char *text, gsize n, Number *to)
{
        gsize i = n > 0 && *text == '-';

        *to = (Number){ .negative = i > 0, .whole = text + i };
        to->n_whole = count_digits(text + i, n - i);
        if (to->n_whole == 0 || (to->n_whole > 1 && text[i] == '0'))
                return FALSE;
        i += to->n_whole;
        if (i < n && text[i] == '.') {
                to->fraction = text + ++i;
                to->n_fraction = count_digits(text + i, n - i);
                if (to->n_fraction == 0)
                        return FALSE;
                i += to->n_fraction;
        }
        return i == n ||
               ((text[i] == 'e' || text[i] == 'E') && split_exponent(text + i + 1, n - i - 1, to));
}

/* Digit i of the whole part and the fraction together; 0 behind the last. */
static guint digit_at(const Number *a, gsize i)
{
        if (i < a->n_whole)
                return (guint)(a->whole[i] - '0');
        i -= a->n_whole;
        return i < a->n_fraction ? (guint)(a->fraction[i] - '0') : 0;
}

gboolean json_parse_number(const char *text, gsize n, guint places, gint64 *value)
{
        gint64 sum = 0, digits, count;
        Number a;

        if (!split_number(text, n, &a))
                return FALSE;
        digits = (gint64)(a.n_whole + a.n_fraction);
        count = (gint64)a.n_whole + a.exponent + places; /* digits before the point, once moved */
        for (gint64 i = 0; i < count && (sum > 0 || i < digits); i++) {
                gint64 digit = i < digits ? digit_at(&a, (gsize)i) : 0;

                if (sum > (G_MAXINT64 - digit) / 10)
                        return FALSE;
                sum = sum * 10 + digit;
        }
        *value = a.negative ? -sum : sum;
        return TRUE;
}

/* Reads letters, digits, signs and points. FALSE if there are none. */
static gboolean read_word(JsonReader *r)
{
        r->mark = r->at;
        do {
                while (r->at < r->end &&
                       (g_ascii_isalnum(r->data[r->at]) || strchr("+-.", r->data[r->at])) &&
                       r->data[r->at])
                        r->at++;
        } while (r->at == r->end && read_more(r));
        r->text = r->data + r->mark;
        r->length = r->at - r->mark;
        return r->length > 0;
}

static gboolean is_json_word(const JsonReader *r)
{
        Number number;

        return json_reader_text_is(r, "true") || json_reader_text_is(r, "false") ||
               json_reader_text_is(r, "null") || split_number(r->text, r->length, &number);
}

/* --- values ---------------------------------------------------------------------- */

gboolean json_reader_scalar(JsonReader *r)
{
        char c = json_reader_peek(r);

        if (c == 0 || c == '{' || c == '[')
                return FALSE;
        r->is_text = c == '"';
        if (r->is_text) {
                r->at++;
                if (!read_json_text(r))
                        return FALSE;
        } else {
                gboolean any = read_word(r);

                if (!r->error && (!any || !is_json_word(r))) {
                        gboolean cut = any && r->at == r->end && r->at_end;

                        if (!cut)
                                r->at = r->mark;
                        return fail_expecting(r, "a JSON value");
                }
        }
        r->pending = FALSE;
        return !r->error;
}

const char *json_reader_text(const JsonReader *r)
{
        return r->text;
}

gsize json_reader_length(const JsonReader *r)
{
        return r->length;
}

void json_reader_keep_text(const JsonReader *r, GString *to)
{
        g_string_append_len(g_string_truncate(to, 0), r->text, (gssize)r->length);
}

gboolean json_reader_text_is(const JsonReader *r, const char *text)
{
        return r->length == strlen(text) && memcmp(r->text, text, r->length) == 0;
}

gboolean json_reader_is_null(const JsonReader *r)
{
        return !r->is_text && json_reader_text_is(r, "null");
}

char json_reader_peek(JsonReader *r)
{
        char c;

        if (!r->pending || r->error)
                return 0;
        c = skip_json_blanks(r);
        if (c == 0) /* the end, or a zero byte */
                fail_expecting(r, "a JSON value");
        return r->error ? 0 : c;
}

static gboolean enter_value(JsonReader *r, gboolean is_object)
{
        if (json_reader_peek(r) != (is_object ? '{' : '['))
                return FALSE;
        if (r->depth == JSON_DEEPEST) {
                fail_expecting(r, "no more than 128 objects and arrays in each other");
                return FALSE;
        }
        r->at++;
        r->within[r->depth++] = is_object ? IS_OBJECT : 0;
        r->pending = FALSE;
        return TRUE;
}

gboolean json_reader_enter_object(JsonReader *r)
{
        return enter_value(r, TRUE);
}

gboolean json_reader_enter_array(JsonReader *r)
{
        return enter_value(r, FALSE);
}

/* Leaves the entered object or array, FALSE, if it ends here. Else goes to its next item. */
static gboolean next_part(JsonReader *r, char end, const char *expected)
{
        guint8 *within = &r->within[r->depth - 1];

        if (skip_json_blanks(r) == end && r->at < r->end) {
                r->at++;
                r->depth--;
                return FALSE;
        }
        if (r->error || ((*within & HAS_ANY) && !accept_byte(r, ',', expected)))
                return FALSE;
        *within |= HAS_ANY;
        return TRUE;
}

static gboolean read_key(JsonReader *r)
{
        if (!accept_byte(r, '"', "\" before a key, or }") || !read_json_text(r))
                return FALSE;
        g_string_truncate(r->key, 0);
        g_string_append_len(r->key, r->text, (gssize)r->length);
        r->pending = accept_byte(r, ':', ": behind a key");
        return r->pending;
}

static void skip_value(JsonReader *r)
{
        guint depth = r->depth;

        do {
                if (r->pending && !json_reader_enter_object(r) && !json_reader_enter_array(r) &&
                    !json_reader_scalar(r))
                        return;
                if (r->depth == depth)
                        return;
                if (r->within[r->depth - 1] & IS_OBJECT)
                        r->pending = next_part(r, '}', ", or }") && read_key(r);
                else
                        r->pending = next_part(r, ']', ", or ]");
        } while (!r->error && (r->pending || r->depth > depth));
}

gboolean json_reader_next_key(JsonReader *r)
{
        if (r->pending)
                skip_value(r);
        g_assert(r->error || (r->depth > 0 && (r->within[r->depth - 1] & IS_OBJECT)));
        return !r->error && next_part(r, '}', ", or }") && read_key(r);
}

gboolean json_reader_next_element(JsonReader *r)
{
        if (r->pending)
                skip_value(r);
        g_assert(r->error || (r->depth > 0 && !(r->within[r->depth - 1] & IS_OBJECT)));
        r->pending = !r->error && next_part(r, ']', ", or ]");
        return r->pending;
}

gboolean json_reader_next_value(JsonReader *r)
{
        if (r->pending)
                skip_value(r);
        g_assert(r->error || r->depth == 0);
        if (r->error)
                return FALSE;
        if (!r->begun)
                skip_mark(r);
        skip_json_blanks(r);
        r->pending = r->at < r->end && !r->error;
        return r->pending;
}

gboolean json_reader_key_is(const JsonReader *r, const char *key)
{
        return r->key->len == strlen(key) && memcmp(r->key->str, key, r->key->len) == 0;
}

gboolean json_reader_key_is_field(const JsonReader *r, const char *field)
{
        const char *key = r->key->str; /* ends with a NUL */

        for (; *key && *field; key++, field++) {
                gboolean is_word = *key == '_' && g_ascii_isupper(*field);

                if (is_word ? g_ascii_toupper(*++key) != *field : *key != *field)
                        return FALSE;
        }
        return !*field && key == r->key->str + r->key->len;
}

const char *json_reader_key(const JsonReader *r, gsize *length)
{
        *length = r->key->len;
        return r->key->str;
}
