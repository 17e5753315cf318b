/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The distribution of a delay: how long a node works, the network takes, a client thinks (paper,
 * sections 7.1.1 and 7.5.4). docs/maketrace.md says what each is for.
 */
#pragma once

#include "maketrace/random.h"
#include "maketrace/text-cursor.h"

typedef enum {
        LAW_CONSTANT,    /* a */
        LAW_GAUSSIAN,    /* mean a, standard deviation b; delays below 0 become 0 */
        LAW_EXPONENTIAL, /* mean a */
        LAW_LOGNORMAL,   /* median a, standard deviation of the logarithm b */
        LAW_UNIFORM,     /* from a to b */
} DelayLawKind;

typedef struct {
        DelayLawKind kind;
        double a, b; /* ns, but for b of LAW_LOGNORMAL, which has no unit */
} DelayLaw;

/* The text of an error message: the laws that delay_law_parse() expects. */
#define DELAY_LAW_EXPECTED                                                                         \
        "a time such as 5ms, 5ms~1ms, exp(5ms), lognormal(5ms,0.5) or uniform(1ms,9ms)"

/* Whether a law begins at the cursor, which stands on no blank: a number with a
 * unit, or the name of a law and "(". */
gboolean delay_law_at(const TextCursor *c);

/* Parses a law at the cursor. FALSE and error set if there is none. */
gboolean delay_law_parse(TextCursor *c, DelayLaw *law, GError **error);

/* Draws a delay, 0 to 10^17 ns. */
gint64 delay_law_draw(const DelayLaw *law, Random *random, const Ziggurat *ziggurat);
