/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The outcome of a call: the status that its return had, by the words and numbers of its protocol
 * alone (docs/trace-format.md, "Outcomes"). It is a number of 64 bits, so it is copied and compared
 * as one. As text it has at most OUTCOME_TEXT bytes of A-Z, 0-9 and _, and reading that gives the
 * same number again. OUTCOME_OK has no text: plain success, or a protocol that is not parsed.
 */
#pragma once

#include <glib.h>

typedef guint64 Outcome;

#define OUTCOME_OK ((Outcome)0)

enum { OUTCOME_TEXT = 24 };

/* What an outcome means for the caller. */
typedef enum {
        CLASS_OK,
        CLASS_CLIENT,  /* the caller's mistake: a repetition ends the same */
        CLASS_SERVER,  /* the callee failed */
        CLASS_REFUSED, /* the callee did not take the call: a limit, or it is not ready */
        CLASS_NONE,    /* there was no answer */
        N_OUTCOME_CLASSES
} OutcomeClass;

/* Numbers that are a text only together with the name of their protocol. */
typedef enum {
        NUMBERS_SMTP,
        NUMBERS_LDAP,
        NUMBERS_MQTT,
        NUMBERS_AMQP,
        NUMBERS_NATS,
        NUMBERS_KAFKA,
        NUMBERS_MONGODB,
        NUMBERS_MSSQL
} NumbersOf;

/* The statuses of protocols that are failures; success is OUTCOME_OK. */
Outcome outcome_http(guint status);    /* 400 to 999 */
Outcome outcome_grpc(guint64 status);  /* 1 to 16; others are UNKNOWN */
Outcome outcome_dns(guint code);       /* the response code; unknown ones are SERVFAIL */
Outcome outcome_http2(guint32 error);  /* of RST_STREAM; unknown ones are INTERNAL_ERROR */
Outcome outcome_fastcgi(guint status); /* of the protocol, in END_REQUEST */
Outcome outcome_mysql(guint number);   /* of an error; no four digits: HY000 */
Outcome outcome_number(NumbersOf of, guint number); /* below 1000; of databases below 10,000,000 */

/* SQLSTATE, five digits or capitals. OUTCOME_OK where these are none, or a success. */
Outcome outcome_sqlstate(const guint8 *five);

/* The word that n bytes begin with: capitals and _, up to 12 of them, and then a blank or the end.
 * other: what stands for any other text. */
Outcome outcome_word(const guint8 *text, gsize n, Outcome other);

/* A word of the table in outcome.c, which has it. */
Outcome outcome_named(const char *name);

/* Reads n bytes of text. OUTCOME_OK where they are no outcome. */
Outcome outcome_read(const char *text, gsize n);

/* The text, ended by NUL; at least OUTCOME_TEXT + 1 bytes. Returns its length. */
gsize outcome_write(Outcome outcome, char *text);

OutcomeClass outcome_class(Outcome outcome);

/* "ok", "client error", "server error", "refused", "none". */
const char *outcome_class_name(OutcomeClass class);

/* Whether a request that ends so has failed: its callee did not serve it. */
static inline gboolean outcome_is_failure(Outcome outcome)
{
        return outcome != OUTCOME_OK && outcome_class(outcome) >= CLASS_SERVER;
}

/* Whether the call is in error, by whoever's fault. */
static inline gboolean outcome_is_error(Outcome outcome)
{
        return outcome != OUTCOME_OK && outcome_class(outcome) != CLASS_OK;
}

/* What spans have: the attributes of OpenTelemetry (export/conventions.h, import/span.h). */
typedef enum {
        STATUS_HTTP,     /* a number */
        STATUS_GRPC,     /* a number */
        STATUS_DB,       /* of a database: SQLSTATE, or MySQL's number */
        STATUS_RESPONSE, /* another word or number */
} StatusKind;

/* number: set where there is one. */
StatusKind outcome_status(Outcome outcome, guint *number);
