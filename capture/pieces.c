/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/pieces.h"

enum {
        MAX_HELD = 65536, /* of a message */
};

struct Pieces {
        Piece open, first;
        GArray *others; /* of Piece, held after the first; NULL where there is none */
        guint held;     /* complete, with the first */
        PieceMemory *memory;
        Pieces *next; /* that is spare */
        gboolean is_open, endless;
};

void piece_memory_clear(PieceMemory *memory)
{
        for (Pieces *p = memory->spare, *next; p; p = next) {
                next = p->next;
                g_free(p);
        }
        memory->spare = NULL;
}

Pieces *pieces_new(gboolean endless, PieceMemory *memory)
{
        Pieces *p = memory->spare;
        if (p)
                memory->spare = p->next;
        else
                p = g_new(Pieces, 1);
        p->others = NULL;
        p->held = 0;
        p->memory = memory;
        p->is_open = FALSE;
        p->endless = endless;
        return p;
}

static void forget_held(Pieces *p)
{
        p->memory->held -= p->held;
        p->held = 0;
        if (p->others)
                g_array_free(p->others, TRUE);
        p->others = NULL;
}

void pieces_free(Pieces *p)
{
        if (!p)
                return;
        forget_held(p);
        p->next = p->memory->spare;
        p->memory->spare = p;
}

static gboolean is_room(const Pieces *p)
{
        return p->endless ||
               (p->held < MAX_HELD && (!p->memory->most || p->memory->held < p->memory->most));
}

static void pieces_hold(Pieces *p, const Piece *piece)
{
        p->memory->held++;
        if (p->held++ == 0) {
                p->first = *piece;
                return;
        }
        if (!p->others)
                p->others = g_array_new(FALSE, FALSE, sizeof(Piece));
        g_array_append_vals(p->others, piece, 1);
}

gboolean pieces_begin(Pieces *p, guint64 number, Stamp first)
{
        p->open = (Piece){ .first = first, .last = first, .number = number };
        p->is_open = TRUE;
        return is_room(p);
}

gboolean pieces_end(Pieces *p, Stamp last, WritePiece write, gpointer user)
{
        if (!p->is_open)
                return TRUE; /* it was written before its end */
        p->is_open = FALSE;
        if (stamp_before(p->open.last, last))
                p->open.last = last;
        if (p->endless) {
                write(user, &p->open);
                return TRUE;
        }
        pieces_hold(p, &p->open);
        return is_room(p);
}

void pieces_settle(Pieces *p, WritePiece write, gpointer user)
{
        if (p->held > 0)
                write(user, &p->first);
        for (guint i = 0; p->others && i < p->others->len; i++)
                write(user, &g_array_index(p->others, Piece, i));
        if (p->is_open)
                write(user, &p->open);
        forget_held(p);
        p->is_open = FALSE;
        p->endless = TRUE;
}

gboolean pieces_are_endless(const Pieces *p)
{
        return p && p->endless;
}

gboolean pieces_time(const Pieces *p, gint64 *time)
{
        if (!p || (p->held == 0 && !p->is_open))
                return FALSE;
        *time = p->held ? p->first.first.time : p->open.first.time;
        return TRUE;
}
