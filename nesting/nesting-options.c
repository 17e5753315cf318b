/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/nesting-options.h"

const NestingMethodInfo nesting_methods[N_NESTING_METHODS] = {
        [METHOD_JOINT] = { "joint", NULL, PARENTS_JOINT, FALSE },
        [METHOD_PAPER] = { "paper", NULL, PARENTS_SCORED, FALSE },
        [METHOD_ORACLE] = { "oracle", NULL, PARENTS_JOINT, TRUE },
        [METHOD_CHEAT] = { "cheat", "--cheat", PARENTS_READ, TRUE },
};

void nesting_list_methods(const char *names[N_NESTING_METHODS + 1])
{
        guint n = 0;

        for (guint i = 0; i < N_NESTING_METHODS; i++)
                if (!nesting_methods[i].option)
                        names[n++] = nesting_methods[i].name;
        names[n] = NULL;
}
