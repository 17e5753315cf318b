/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sizes by class: four classes an octave, so that a size is known to an eighth. Below 8 bytes each
 * size is a class of its own.
 */
#ifndef RAVEL_SIZE_CLASS_H
#define RAVEL_SIZE_CLASS_H

#include <glib.h>

#define SIZE_MOST ((guint64)1 << 60) /* what is larger counts as this */

/* By how many bits a size is longer than its three leading ones. */
static inline guint size_more_bits(guint64 size)
{
        return size < 8 ? 0 : g_bit_storage(size) - 3;
}

/* The size that stands for the class of this one: three bits and then zeros, the nearest. */
static inline guint64 size_round(guint64 size)
{
        guint64 least = MIN(size, SIZE_MOST);
        guint more = size_more_bits(least);

        return (least + ((guint64)1 << more >> 1)) >> more << more;
}

/* The number of the class, below 256, ascending; 0: a size of 0. */
static inline guint8 size_class(guint64 size)
{
        guint64 least = size_round(size);
        guint more = size_more_bits(least);

        return (guint8)(4 * more + (least >> more));
}

#endif
