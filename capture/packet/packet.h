/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A packet as it was captured, and the bounds-checked cursor through which
 * everything in it is read.
 *
 * A packet is bytes from a stranger. A reader takes a Cursor by value or by pointer and asks it
 * for what comes next. A read past the end fails and moves nothing. Numbers are big-endian, as
 * on the wire.
 *
 * Two lengths go with all data in packets: what was captured, and what there
 * was on the wire. A snapshot length makes the first smaller; the second is
 * what sequence numbers and message boundaries count in.
 */
#pragma once

#include <glib.h>
#include <string.h>

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

/* When something was seen: the time, and the number of the packet. The number orders packets of
 * equal time as they were captured. */
typedef struct {
        gint64 time; /* ns since the Unix epoch */
        guint64 packet;
} Stamp;

static inline gboolean stamp_before(Stamp a, Stamp b)
{
        return a.time != b.time ? a.time < b.time : a.packet < b.packet;
}

typedef struct {
        const guint8 *bytes; /* borrowed until the next packet is asked for */
        gsize captured;      /* bytes at hand */
        gsize length;        /* bytes on the wire, at least captured */
        int link_type;       /* a DLT_ value, see link-layer.h */
        gint64 time;         /* ns since the Unix epoch */
} Packet;

/* Of no bytes both may be NULL, to which C adds not even 0. */
typedef struct {
        const guint8 *at, *end;
} Cursor;

static inline Cursor cursor(const guint8 *bytes, gsize n)
{
        return (Cursor){ bytes, n > 0 ? bytes + n : bytes };
}

static inline gsize cursor_left(const Cursor *c)
{
        return (gsize)(c->end - c->at);
}

static inline gboolean cursor_begins(const Cursor *c, const char *with)
{
        gsize n = strlen(with);
        return cursor_left(c) >= n && memcmp(c->at, with, n) == 0;
}

static inline guint16 read_u16(const guint8 *p)
{
        return (guint16)(p[0] << 8 | p[1]);
}

static inline guint32 read_u32(const guint8 *p)
{
        return (guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3];
}

static inline guint64 read_u64(const guint8 *p)
{
        return (guint64)read_u32(p) << 32 | read_u32(p + 4);
}

/* The next n bytes, or NULL where fewer are left. */
static inline const guint8 *cursor_take(Cursor *c, gsize n)
{
        const guint8 *p = c->at;
        if (cursor_left(c) < n)
                return NULL;
        if (n > 0)
                c->at += n;
        return p;
}

static inline gboolean cursor_skip(Cursor *c, gsize n)
{
        return cursor_take(c, n) != NULL;
}

static inline gboolean cursor_u8(Cursor *c, guint8 *value)
{
        const guint8 *p = cursor_take(c, 1);
        if (p)
                *value = *p;
        return p != NULL;
}

static inline gboolean cursor_u16(Cursor *c, guint16 *value)
{
        const guint8 *p = cursor_take(c, 2);
        if (p)
                *value = read_u16(p);
        return p != NULL;
}

static inline gboolean cursor_u32(Cursor *c, guint32 *value)
{
        const guint8 *p = cursor_take(c, 4);
        if (p)
                *value = read_u32(p);
        return p != NULL;
}

static inline gboolean cursor_u64(Cursor *c, guint64 *value)
{
        const guint8 *p = cursor_take(c, 8);
        if (p)
                *value = read_u64(p);
        return p != NULL;
}

/* The next n bytes, as a cursor of their own. */
static inline gboolean cursor_part(Cursor *c, gsize n, Cursor *part)
{
        const guint8 *p = cursor_take(c, n);
        if (p)
                *part = cursor(p, n);
        return p != NULL;
}
