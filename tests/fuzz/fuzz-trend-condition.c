/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A condition of ravel trend --fail-on: it is one, with a limit that is a number, or an error.
 */
#include <math.h>

#include "analysis/trend/trend-condition.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *copy = g_memdup2(data, n); /* no NUL at its end */
        TrendCondition c;
        Trend untimed = { .timed = FALSE };

        if (!trend_condition_parse(copy ? copy : "", n, &c, &error)) {
                g_assert_true(error && g_utf8_validate(error->message, -1, NULL));
                return 0;
        }
        g_assert_true(c.pattern || (c.kind < N_TREND_KINDS && isfinite(c.limit)));
        g_assert_true(trend_condition_check(&c, &untimed, &error) == (error == NULL));
        return 0;
}
