/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names of addresses that packets tell: answers of DNS, the server name that a TLS client asks
 * for, the Host of an HTTP request. They are only shown. Anybody can send such packets, so no
 * node is named by them, and no two nodes are taken for one. What is no host name is not
 * learned.
 *
 * Packets are looked at one by one, and what is cut in two is missed; there will be another.
 */
#pragma once

#include "capture/network/address.h"

typedef struct LearnedNames LearnedNames;

LearnedNames *learned_names_new(void);
void learned_names_free(LearnedNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LearnedNames, learned_names_free)

/* The payload of a datagram; of a segment to receiver. */
void learned_names_add_datagram(LearnedNames *names, const guint8 *bytes, gsize n);
void learned_names_add_segment(LearnedNames *names, Address receiver, const guint8 *bytes, gsize n);

/* The hello of a TLS client to receiver, from its version on. */
void learned_names_add_hello(LearnedNames *names, Address receiver, const guint8 *bytes, gsize n);

typedef struct {
        Address address;
        const char *source; /* "DNS", "TLS" or "HTTP" */
        char name[254];     /* a-z, 0-9, '-', '_' and '.' */
} LearnedName;

/* The i-th, in the order in which they were learned; NULL past the last. The first of each
 * source for an address; at most 1,000. Borrowed. */
const LearnedName *learned_names_get(const LearnedNames *names, guint i);
