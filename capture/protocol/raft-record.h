/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The messages of raft that the servers of etcd write, one after the other, into responses without
 * end: a chunk has one or several. There are two encodings: a length and the message, each time; or
 * a byte that says which of three records follows.
 */
#pragma once

#include <glib.h>

/* The length of the first record of a chunk of n bytes, which is made of records to its end; n
 * where it is not. */
gsize raft_record_length(const guint8 *chunk, gsize n);
