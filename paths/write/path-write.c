/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/write/path-write.h"

#include <string.h>

static const struct {
        const char *format;
        PathWriter writer;
} formats[] = {
        { "text", path_write_text }, { "dot", path_write_dot }, { "svg", path_write_svg },
        { "json", path_write_json }, { "tsv", path_write_tsv },
};

PathWriter path_writer_lookup(const char *format)
{
        for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
                if (!strcmp(formats[i].format, format))
                        return formats[i].writer;
        return NULL;
}
