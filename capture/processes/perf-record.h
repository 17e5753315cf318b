/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Records of perf_event_open(2) that say which process opens or awaits connections: samples of
 * the kernel's tracepoint sock:inet_sock_set_state, and how processes are called, begin and end.
 * Where a sample has what, the tracepoint's format file in tracefs says. Numbers are the
 * machine's own; records are checked all the same, as what a socket is called a stranger chose.
 */
#pragma once

#include "capture/network/address.h"

/* A field of a sample. */
typedef struct {
        guint32 offset, size;
} SampleField;

enum {
        FIELD_SOCKET,
        FIELD_OLD_STATE,
        FIELD_NEW_STATE,
        FIELD_OWN_PORT,
        FIELD_PEER_PORT,
        FIELD_PROTOCOL,
        FIELD_OWN_ADDRESS,
        FIELD_PEER_ADDRESS,
        N_FIELDS
};

typedef struct {
        guint64 id; /* of the tracepoint: perf_event_attr.config */
        SampleField field[N_FIELDS];
} SocketFormat;

/* The text of events/sock/inet_sock_set_state/format. FALSE: it is not that, or lacks a field. */
gboolean socket_format_parse(const char *text, gsize n, SocketFormat *format);

typedef enum {
        PROCESS_OTHER,    /* of no interest */
        PROCESS_CONNECTS, /* asks for a connection, which has no port of its own yet */
        PROCESS_OPENED,   /* that connection is open, or was accepted half */
        PROCESS_REFUSED,  /* or is none */
        PROCESS_LISTENS,
        PROCESS_NAMED, /* calls itself so */
        PROCESS_EXEC,  /* runs another program, which is called so */
        PROCESS_FORK,
        PROCESS_EXIT,
        PROCESS_LOST /* records were */
} ProcessEventKind;

enum { COMM_SIZE = 16 };

typedef struct {
        ProcessEventKind kind;
        gint64 time; /* ns, of the clock that was asked for */
        guint32 pid, parent;
        guint64 socket; /* which one, while it is there */
        Endpoint own, peer;
        guint64 lost;
        char comm[COMM_SIZE];
} ProcessEvent;

/* A record of n bytes, its header included. FALSE: it is broken. */
gboolean perf_record_parse(const SocketFormat *format, const guint8 *record, gsize n,
                           ProcessEvent *event);
