/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outcome.h"

#include <string.h>

#include "base/digits.h"

/* The highest four bits of an outcome; the others are a value of that kind. */
typedef enum {
        KIND_OK,
        KIND_NAMED,    /* an index of named[], from 1 */
        KIND_WORD,     /* another word: five bits a letter, the first the highest */
        KIND_HTTP,     /* three digits */
        KIND_MYSQL,    /* four digits */
        KIND_SQLSTATE, /* five bytes */
        KIND_NUMBER,   /* protocol and number */
} Kind;

enum {
        KIND_SHIFT = 60,
        LETTER_BITS = 5,
        MAX_LETTERS = 12,
        UNDERSCORE = 27,
        SQLSTATE = 5,
        MAX_STATUS = 1000,     /* of HTTP and the like */
        MAX_NUMBER = 10000000, /* of databases, above any of them */
};

/* Of which protocol a name is. */
typedef enum { OF_WORDS, OF_GRPC, OF_DNS, OF_HTTP2, OF_FASTCGI } NameOf;

static const struct {
        const char *name;
        guint8 of;     /* NameOf */
        guint8 number; /* there */
        guint8 class;  /* OutcomeClass */
} named[] = {
        { "CANCELLED", OF_GRPC, 1, CLASS_CLIENT },
        { "UNKNOWN", OF_GRPC, 2, CLASS_SERVER },
        { "INVALID_ARGUMENT", OF_GRPC, 3, CLASS_CLIENT },
        { "DEADLINE_EXCEEDED", OF_GRPC, 4, CLASS_SERVER },
        { "NOT_FOUND", OF_GRPC, 5, CLASS_CLIENT },
        { "ALREADY_EXISTS", OF_GRPC, 6, CLASS_CLIENT },
        { "PERMISSION_DENIED", OF_GRPC, 7, CLASS_CLIENT },
        { "RESOURCE_EXHAUSTED", OF_GRPC, 8, CLASS_REFUSED },
        { "FAILED_PRECONDITION", OF_GRPC, 9, CLASS_CLIENT },
        { "ABORTED", OF_GRPC, 10, CLASS_SERVER },
        { "OUT_OF_RANGE", OF_GRPC, 11, CLASS_CLIENT },
        { "UNIMPLEMENTED", OF_GRPC, 12, CLASS_SERVER },
        { "INTERNAL", OF_GRPC, 13, CLASS_SERVER },
        { "UNAVAILABLE", OF_GRPC, 14, CLASS_SERVER },
        { "DATA_LOSS", OF_GRPC, 15, CLASS_SERVER },
        { "UNAUTHENTICATED", OF_GRPC, 16, CLASS_CLIENT },
        { "FORMERR", OF_DNS, 1, CLASS_CLIENT },
        { "SERVFAIL", OF_DNS, 2, CLASS_SERVER },
        { "NXDOMAIN", OF_DNS, 3, CLASS_CLIENT },
        { "NOTIMP", OF_DNS, 4, CLASS_SERVER },
        { "REFUSED", OF_DNS, 5, CLASS_REFUSED },
        { "YXDOMAIN", OF_DNS, 6, CLASS_CLIENT },
        { "YXRRSET", OF_DNS, 7, CLASS_CLIENT },
        { "NXRRSET", OF_DNS, 8, CLASS_CLIENT },
        { "NOTAUTH", OF_DNS, 9, CLASS_CLIENT },
        { "NOTZONE", OF_DNS, 10, CLASS_CLIENT },
        { "PROTOCOL_ERROR", OF_HTTP2, 1, CLASS_CLIENT },
        { "INTERNAL_ERROR", OF_HTTP2, 2, CLASS_SERVER },
        { "FLOW_CONTROL_ERROR", OF_HTTP2, 3, CLASS_CLIENT },
        { "SETTINGS_TIMEOUT", OF_HTTP2, 4, CLASS_CLIENT },
        { "STREAM_CLOSED", OF_HTTP2, 5, CLASS_CLIENT },
        { "FRAME_SIZE_ERROR", OF_HTTP2, 6, CLASS_CLIENT },
        { "REFUSED_STREAM", OF_HTTP2, 7, CLASS_REFUSED },
        { "CANCEL", OF_HTTP2, 8, CLASS_SERVER },
        { "COMPRESSION_ERROR", OF_HTTP2, 9, CLASS_CLIENT },
        { "CONNECT_ERROR", OF_HTTP2, 10, CLASS_SERVER },
        { "ENHANCE_YOUR_CALM", OF_HTTP2, 11, CLASS_REFUSED },
        { "INADEQUATE_SECURITY", OF_HTTP2, 12, CLASS_CLIENT },
        { "HTTP_1_1_REQUIRED", OF_HTTP2, 13, CLASS_CLIENT },
        { "CANT_MPX_CONN", OF_FASTCGI, 1, CLASS_REFUSED },
        { "OVERLOADED", OF_FASTCGI, 2, CLASS_REFUSED },
        { "UNKNOWN_ROLE", OF_FASTCGI, 3, CLASS_CLIENT },
        /* AMQP */
        { "NACK", OF_WORDS, 0, CLASS_REFUSED },
        { "REJECT", OF_WORDS, 0, CLASS_REFUSED },
        /* memcached */
        { "ERROR", OF_WORDS, 0, CLASS_CLIENT },
        { "CLIENT_ERROR", OF_WORDS, 0, CLASS_CLIENT },
        { "SERVER_ERROR", OF_WORDS, 0, CLASS_SERVER },
        /* NATS */
        { "NAK", OF_WORDS, 0, CLASS_REFUSED },
        { "TERM", OF_WORDS, 0, CLASS_REFUSED },
        /* Redis; words that are not here are CLASS_SERVER */
        { "ERR", OF_WORDS, 0, CLASS_CLIENT },
        { "MOVED", OF_WORDS, 0, CLASS_OK },
        { "ASK", OF_WORDS, 0, CLASS_OK },
        { "NOSCRIPT", OF_WORDS, 0, CLASS_CLIENT },
        { "WRONGTYPE", OF_WORDS, 0, CLASS_CLIENT },
        { "WRONGPASS", OF_WORDS, 0, CLASS_CLIENT },
        { "NOAUTH", OF_WORDS, 0, CLASS_CLIENT },
        { "NOPERM", OF_WORDS, 0, CLASS_CLIENT },
        { "NOPROTO", OF_WORDS, 0, CLASS_CLIENT },
        { "NOGROUP", OF_WORDS, 0, CLASS_CLIENT },
        { "BUSYGROUP", OF_WORDS, 0, CLASS_CLIENT },
        { "BUSYKEY", OF_WORDS, 0, CLASS_CLIENT },
        { "CROSSSLOT", OF_WORDS, 0, CLASS_CLIENT },
        { "EXECABORT", OF_WORDS, 0, CLASS_CLIENT },
        { "UNBLOCKED", OF_WORDS, 0, CLASS_CLIENT },
        { "READONLY", OF_WORDS, 0, CLASS_CLIENT },
        { "LOADING", OF_WORDS, 0, CLASS_REFUSED },
        { "BUSY", OF_WORDS, 0, CLASS_REFUSED },
        { "OOM", OF_WORDS, 0, CLASS_REFUSED },
        { "TRYAGAIN", OF_WORDS, 0, CLASS_REFUSED },
        { "NOREPLICAS", OF_WORDS, 0, CLASS_REFUSED },
        /* CQL, beside names that others have, too */
        { "BAD_CREDENTIALS", OF_WORDS, 0, CLASS_CLIENT },
        { "IS_BOOTSTRAPPING", OF_WORDS, 0, CLASS_REFUSED },
        { "TRUNCATE_ERROR", OF_WORDS, 0, CLASS_SERVER },
        { "WRITE_TIMEOUT", OF_WORDS, 0, CLASS_SERVER },
        { "READ_TIMEOUT", OF_WORDS, 0, CLASS_SERVER },
        { "READ_FAILURE", OF_WORDS, 0, CLASS_SERVER },
        { "FUNCTION_FAILURE", OF_WORDS, 0, CLASS_CLIENT },
        { "WRITE_FAILURE", OF_WORDS, 0, CLASS_SERVER },
        { "CDC_WRITE_FAILURE", OF_WORDS, 0, CLASS_SERVER },
        { "CAS_WRITE_UNKNOWN", OF_WORDS, 0, CLASS_SERVER },
        { "SYNTAX_ERROR", OF_WORDS, 0, CLASS_CLIENT },
        { "UNAUTHORIZED", OF_WORDS, 0, CLASS_CLIENT },
        { "INVALID", OF_WORDS, 0, CLASS_CLIENT },
        { "CONFIG_ERROR", OF_WORDS, 0, CLASS_CLIENT },
        { "UNPREPARED", OF_WORDS, 0, CLASS_OK }, /* the client prepares it and asks again */
        /* of a call without an answer */
        { "NO_ANSWER", OF_WORDS, 0, CLASS_NONE },
};

static const char *const number_prefixes[] = { "SMTP", "LDAP",  "MQTT", "AMQP",
                                               "NATS", "KAFKA", "MONGO", "MSSQL" };

static Outcome outcome_of(Kind kind, guint64 value)
{
        return (Outcome)kind << KIND_SHIFT | value;
}

static Kind outcome_kind(Outcome outcome)
{
        return (Kind)(outcome >> KIND_SHIFT);
}

static guint64 outcome_value(Outcome outcome)
{
        return outcome & (((Outcome)1 << KIND_SHIFT) - 1);
}

static Outcome named_lookup(const char *text, gsize n)
{
        for (guint i = 0; i < G_N_ELEMENTS(named); i++)
                if (strncmp(named[i].name, text, n) == 0 && named[i].name[n] == '\0')
                        return outcome_of(KIND_NAMED, i + 1);
        return OUTCOME_OK;
}

Outcome outcome_named(const char *name)
{
        return named_lookup(name, strlen(name));
}

/* The name of a number that a protocol gives; other: the number that stands for unknown ones. */
static Outcome named_number(NameOf of, guint64 number, guint8 other)
{
        Outcome outcome = OUTCOME_OK;

        for (guint i = 0; number > 0 && i < G_N_ELEMENTS(named); i++)
                if (named[i].of == of && named[i].number == number)
                        return outcome_of(KIND_NAMED, i + 1);
                else if (named[i].of == of && named[i].number == other)
                        outcome = outcome_of(KIND_NAMED, i + 1);
        return outcome;
}

Outcome outcome_http(guint status)
{
        return status >= 400 && status < MAX_STATUS ? outcome_of(KIND_HTTP, status) : OUTCOME_OK;
}

Outcome outcome_grpc(guint64 status)
{
        return named_number(OF_GRPC, status, 2);
}

Outcome outcome_dns(guint code)
{
        return named_number(OF_DNS, code, 2);
}

Outcome outcome_http2(guint32 error)
{
        return named_number(OF_HTTP2, error, 2);
}

Outcome outcome_fastcgi(guint status)
{
        return named_number(OF_FASTCGI, status, 2);
}

Outcome outcome_mysql(guint number)
{
        if (number >= 1000 && number <= 9999)
                return outcome_of(KIND_MYSQL, number);
        return outcome_sqlstate((const guint8 *)"HY000");
}

Outcome outcome_number(NumbersOf of, guint number)
{
        return number > 0 && number < (of < NUMBERS_MONGODB ? MAX_STATUS : MAX_NUMBER)
                       ? outcome_of(KIND_NUMBER, (guint64)of * MAX_NUMBER + number)
                       : OUTCOME_OK;
}

/* Whose numbers a text of n bytes names, after *prefix bytes; -1: nobody's. */
static gint prefix_find(const char *text, gsize n, gsize *prefix)
{
        for (guint i = 0; i < G_N_ELEMENTS(number_prefixes); i++) {
                *prefix = strlen(number_prefixes[i]);
                if (n > *prefix && memcmp(text, number_prefixes[i], *prefix) == 0)
                        return (gint)i;
        }
        return -1;
}

Outcome outcome_sqlstate(const guint8 *five)
{
        guint64 value = 0;
        gboolean digit = FALSE;
        gsize prefix;

        for (guint i = 0; i < SQLSTATE; i++) {
                if (!g_ascii_isdigit(five[i]) && !g_ascii_isupper(five[i]))
                        return OUTCOME_OK;
                digit |= g_ascii_isdigit(five[i]);
                value = value << 8 | five[i];
        }
        if (prefix_find((const char *)five, SQLSTATE, &prefix) >= 0) /* would be read as that */
                return outcome_sqlstate((const guint8 *)"XX000");
        if (five[0] == '0' && five[1] <= '2') /* success, a warning, no data */
                return OUTCOME_OK;
        return digit ? outcome_of(KIND_SQLSTATE, value) : outcome_word(five, SQLSTATE, OUTCOME_OK);
}

Outcome outcome_word(const guint8 *text, gsize n, Outcome other)
{
        guint64 value = 0;
        gsize i = 0;
        Outcome known;

        for (; i < n && i < MAX_LETTERS && (g_ascii_isupper(text[i]) || text[i] == '_'); i++)
                value = value << LETTER_BITS |
                        (text[i] == '_' ? (guint64)UNDERSCORE : (guint64)(text[i] - 'A' + 1));
        if (i < 2 || (i < n && text[i] > ' '))
                return other;
        known = named_lookup((const char *)text, i);
        return known ? known : outcome_of(KIND_WORD, value);
}

Outcome outcome_read(const char *text, gsize n)
{
        enum { DIGITS = 4, MOST = 9999, MOST_DIGITS = 7 };
        guint64 number;
        gsize prefix;
        Outcome known;
        gint of;

        if (digits_parse(text, n, DIGITS, MOST, &number))
                return n == 3   ? outcome_http((guint)number)
                       : n == 4 ? number < 1000 ? OUTCOME_OK : outcome_mysql((guint)number)
                                : OUTCOME_OK;
        known = named_lookup(text, n);
        if (known)
                return known;
        if ((of = prefix_find(text, n, &prefix)) >= 0) {
                gboolean good = digits_parse(text + prefix, n - prefix, MOST_DIGITS, MAX_NUMBER - 1,
                                             &number);

                return good && text[prefix] != '0' ? outcome_number((NumbersOf)of, (guint)number)
                                                   : OUTCOME_OK;
        }
        if (n == SQLSTATE && (known = outcome_sqlstate((const guint8 *)text)))
                return known;
        for (gsize i = 0; i < n; i++)
                if (!g_ascii_isupper(text[i]) && text[i] != '_')
                        return OUTCOME_OK;
        return outcome_word((const guint8 *)text, n, OUTCOME_OK);
}

static gsize word_write(guint64 value, char *text)
{
        gsize n = 0;

        for (gint shift = LETTER_BITS * (MAX_LETTERS - 1); shift >= 0; shift -= LETTER_BITS) {
                guint letter = value >> shift & ((1 << LETTER_BITS) - 1);

                if (letter)
                        text[n++] = letter == UNDERSCORE ? '_' : (char)('A' + letter - 1);
        }
        text[n] = '\0';
        return n;
}

gsize outcome_write(Outcome outcome, char *text)
{
        guint64 value = outcome_value(outcome);

        text[0] = '\0';
        switch (outcome_kind(outcome)) {
        case KIND_OK:
                return 0;
        case KIND_NAMED:
                return g_strlcpy(text, named[value - 1].name, OUTCOME_TEXT + 1);
        case KIND_WORD:
                return word_write(value, text);
        case KIND_HTTP:
        case KIND_MYSQL:
                return (gsize)g_snprintf(text, OUTCOME_TEXT + 1, "%u", (guint)value);
        case KIND_SQLSTATE:
                for (guint i = 0; i < SQLSTATE; i++)
                        text[i] = (char)(value >> 8 * (SQLSTATE - 1 - i));
                text[SQLSTATE] = '\0';
                return SQLSTATE;
        case KIND_NUMBER:
                return (gsize)g_snprintf(text, OUTCOME_TEXT + 1, "%s%u",
                                         number_prefixes[value / MAX_NUMBER],
                                         (guint)(value % MAX_NUMBER));
        }
        g_assert_not_reached();
}

/* --- classes --------------------------------------------------------------- */

/* Of a database's errors most are the caller's; these lists have the others. */
static OutcomeClass numbers_class(guint number, const guint16 *refused, gsize n_refused,
                                  const guint16 *failed, gsize n_failed)
{
        for (gsize i = 0; i < n_refused; i++)
                if (refused[i] == number)
                        return CLASS_REFUSED;
        for (gsize i = 0; i < n_failed; i++)
                if (failed[i] == number)
                        return CLASS_SERVER;
        return CLASS_CLIENT;
}

static OutcomeClass mysql_class(guint number)
{
        static const guint16 refused[] = { 1040, 1129, 1135, 1203, 1226, 1290, 1836, 3032 };
        static const guint16 failed[] = { 1021, 1023, 1024, 1026, 1030, 1037, 1038, 1041, 1053,
                                          1105, 1114, 1119, 1205, 1213, 1317, 1969, 3024, 3058 };

        return numbers_class(number, refused, G_N_ELEMENTS(refused), failed, G_N_ELEMENTS(failed));
}

/* By the first two bytes, the class of SQLSTATE. */
static OutcomeClass sqlstate_class(guint64 value)
{
        static const char failed[][3] = { "08", "40", "55", "57", "58", "F0", "HV", "HY", "XX" };
        char first[3] = { (char)(value >> 32), (char)(value >> 24), '\0' };

        if (strcmp(first, "53") == 0) /* insufficient resources */
                return CLASS_REFUSED;
        for (guint i = 0; i < G_N_ELEMENTS(failed); i++)
                if (strcmp(first, failed[i]) == 0)
                        return CLASS_SERVER;
        return CLASS_CLIENT;
}

/* By the protocol's table of errors. */
static OutcomeClass kafka_class(guint number)
{
        static const guint8 steps[] = { 27, 70, 71,
                                        79 }; /* of a group, and of a session of fetches */
        static const guint8 refused[] = { 5, 6, 9, 14, 15, 16, 19, 51, 55, 72, 75, 78, 89 };
        static const guint8 failed[] = { 2, 7, 8, 13, 20, 41, 49, 56, 57, 60, 83, 84, 108 };

        for (guint i = 0; i < G_N_ELEMENTS(steps); i++)
                if (steps[i] == number)
                        return CLASS_OK;
        for (guint i = 0; i < G_N_ELEMENTS(refused); i++)
                if (refused[i] == number)
                        return CLASS_REFUSED;
        for (guint i = 0; i < G_N_ELEMENTS(failed); i++)
                if (failed[i] == number)
                        return CLASS_SERVER;
        return CLASS_CLIENT;
}

static OutcomeClass mongodb_class(guint number)
{
        static const guint16 refused[] = { 462, 10107, 13435, 13436 };
        static const guint16 failed[] = { 1,   6,   7,   8,   24,  50,  64,  89,    91,    112,
                                          133, 134, 146, 189, 202, 262, 317, 11600, 11601, 11602 };

        return numbers_class(number, refused, G_N_ELEMENTS(refused), failed, G_N_ELEMENTS(failed));
}

static OutcomeClass mssql_class(guint number)
{
        static const guint16 refused[] = { 10928, 10929, 17809, 40501, 40613, 49918, 49919, 49920 };
        static const guint16 failed[] = { 596,  601,  605,  701,  802,   823,   824,  825,  845,
                                          1101, 1105, 1204, 1205, 1222,  3960,  6005, 8628, 8645,
                                          8651, 9001, 9002, 9100, 40143, 40197, 40540 };

        return numbers_class(number, refused, G_N_ELEMENTS(refused), failed, G_N_ELEMENTS(failed));
}

static OutcomeClass number_class(NumbersOf of, guint number)
{
        switch (of) {
        case NUMBERS_SMTP:
                return number < 400   ? CLASS_OK
                       : number < 500 ? CLASS_SERVER
                       : number < 510 ? CLASS_CLIENT /* a command that is none */
                                      : CLASS_REFUSED;
        case NUMBERS_LDAP:
                switch (number) {
                case 5: /* compareFalse, compareTrue, referral, saslBindInProgress */
                case 6:
                case 10:
                case 14:
                        return CLASS_OK;
                case 1: /* operationsError, timeLimitExceeded, unavailable, other */
                case 3:
                case 52:
                case 80:
                        return CLASS_SERVER;
                case 11: /* adminLimitExceeded, busy, unwillingToPerform */
                case 51:
                case 53:
                        return CLASS_REFUSED;
                default:
                        return CLASS_CLIENT;
                }
        case NUMBERS_MQTT:
                return number < 128 ? CLASS_OK
                       : number == 128 || number == 131 || number == 136 || number == 139
                               ? CLASS_SERVER
                       : number == 137 || number == 147 || number == 150 || number == 151
                               ? CLASS_REFUSED
                               : CLASS_CLIENT;
        case NUMBERS_AMQP:
                return number == 320 || number == 541   ? CLASS_SERVER
                       : number == 506 || number == 313 ? CLASS_REFUSED
                                                        : CLASS_CLIENT;
        case NUMBERS_NATS:
                return number >= 500 ? CLASS_SERVER : CLASS_CLIENT;
        case NUMBERS_KAFKA:
                return kafka_class(number);
        case NUMBERS_MONGODB:
                return mongodb_class(number);
        case NUMBERS_MSSQL:
                return mssql_class(number);
        }
        g_assert_not_reached();
}

OutcomeClass outcome_class(Outcome outcome)
{
        guint64 value = outcome_value(outcome);

        switch (outcome_kind(outcome)) {
        case KIND_OK:
                return CLASS_OK;
        case KIND_NAMED:
                return (OutcomeClass)named[value - 1].class;
        case KIND_WORD:
                return CLASS_SERVER;
        case KIND_HTTP:
                return value == 429 ? CLASS_REFUSED : value < 500 ? CLASS_CLIENT : CLASS_SERVER;
        case KIND_MYSQL:
                return mysql_class((guint)value);
        case KIND_SQLSTATE:
                return sqlstate_class(value);
        case KIND_NUMBER:
                return number_class((NumbersOf)(value / MAX_NUMBER), (guint)(value % MAX_NUMBER));
        }
        g_assert_not_reached();
}

const char *outcome_class_name(OutcomeClass class)
{
        static const char *const names[] = { "ok", "client error", "server error", "refused",
                                             "none" };

        return names[class];
}

StatusKind outcome_status(Outcome outcome, guint *number)
{
        guint64 value = outcome_value(outcome);

        *number = 0;
        if (outcome_kind(outcome) == KIND_HTTP) {
                *number = (guint)value;
                return STATUS_HTTP;
        }
        if (outcome_kind(outcome) == KIND_NAMED && named[value - 1].of == OF_GRPC) {
                *number = named[value - 1].number;
                return STATUS_GRPC;
        }
        return outcome_kind(outcome) == KIND_MYSQL || outcome_kind(outcome) == KIND_SQLSTATE
                       ? STATUS_DB
                       : STATUS_RESPONSE;
}
