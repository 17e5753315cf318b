/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Marsaglia's xorshift generator of random numbers (2003). Its state is a word that is not 0.
 */
#pragma once

#include <glib.h>

static inline guint64 xorshift_next(guint64 *state)
{
        *state ^= *state << 13;
        *state ^= *state >> 7;
        return *state ^= *state << 17;
}

/* A random number between 0 and 1, both excluded. */
static inline double xorshift_uniform(guint64 *state)
{
        return ((double)(xorshift_next(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* A random number less than n. */
static inline guint32 xorshift_below(guint64 *state, guint32 n)
{
        return (xorshift_next(state) >> 32) * n >> 32;
}
