/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/error.h"

G_DEFINE_QUARK(ravel - error - quark, ravel_error)
