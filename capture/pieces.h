/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pieces: what a message that does not end is made of, chunks of HTTP/1 or frames of HTTP/2. Of
 * a message that ends they are nothing. A message counts as endless if it says so, or if it has
 * lasted for as long as the trace may wait. Then each piece is a one-way message. If the message
 * ends all the same it is written like any other.
 *
 * Until that is known complete pieces are held, a few bytes each, and an open item stands at the
 * first piece.
 */
#pragma once

#include "capture/packet/packet.h"

/* Made with the first piece of a message. */
typedef struct Pieces Pieces;

typedef struct {
        Stamp first, last;
        guint64 number; /* of its id */
} Piece;

/* Of all messages; zero before the first. */
typedef struct {
        gsize held;    /* how many pieces are */
        gsize most;    /* how many may be; 0: there is no bound */
        Pieces *spare; /* in no use: most returns of HTTP/2 need one for a moment */
} PieceMemory;

void piece_memory_clear(PieceMemory *memory);

/* Where pieces are written to. */
typedef void (*WritePiece)(gpointer user, const Piece *piece);

/* endless: it is known from the first. memory: borrowed. */
Pieces *pieces_new(gboolean endless, PieceMemory *memory);

/* Forgets the pieces that are held: the message has ended. */
void pieces_free(Pieces *pieces);

/* A piece begins at first; it ends at last. FALSE: too many are held, and the message is to be
 * settled. */
gboolean pieces_begin(Pieces *pieces, guint64 number, Stamp first);
gboolean pieces_end(Pieces *pieces, Stamp last, WritePiece write, gpointer user);

/* The message has lasted for too long: it is endless, and what is held is written. */
void pieces_settle(Pieces *pieces, WritePiece write, gpointer user);

gboolean pieces_are_endless(const Pieces *pieces);

/* The time of the first that may yet be written. FALSE where there is none. */
gboolean pieces_time(const Pieces *pieces, gint64 *time);
