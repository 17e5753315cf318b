/* SPDX-License-Identifier: BSD-2-Clause */
#include "nesting/nesting-options.h"

const NestingMethodInfo nesting_methods[N_NESTING_METHODS] = {
        [METHOD_JOINT] = { "joint", NULL, PARENTS_JOINT, FALSE },
        [METHOD_PAPER] = { "paper", NULL, PARENTS_SCORED, FALSE },
        [METHOD_ORACLE] = { "oracle", NULL, PARENTS_JOINT, TRUE },
        [METHOD_CHEAT] = { "cheat", "--cheat", PARENTS_READ, TRUE },
};
