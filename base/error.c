/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

G_DEFINE_QUARK(ravel - error - quark, ravel_error)
