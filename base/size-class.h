/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Classes of message sizes: four an octave, so a class tells a size to an eighth. Below 8 bytes
 * each size is a class of its own.
 */
#pragma once

#include <glib.h>

#define SIZE_MOST ((guint64)1 << 60) /* larger sizes count as this */

/* The number of bits of a size behind its three leading bits. */
static inline guint size_more_bits(guint64 size)
{
        return size < 8 ? 0 : g_bit_storage(size) - 3;
}

/* The representative of a size's class: the nearest number of three bits and then zeros. */
static inline guint64 size_round(guint64 size)
{
        guint64 least = MIN(size, SIZE_MOST);
        guint more = size_more_bits(least);

        return (least + ((guint64)1 << more >> 1)) >> more << more;
}

/* The number of the class, below 256, ascending with size; 0 for a size of 0. */
static inline guint8 size_class(guint64 size)
{
        guint64 least = size_round(size);
        guint more = size_more_bits(least);

        return (guint8)(4 * more + (least >> more));
}
