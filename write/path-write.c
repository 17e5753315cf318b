/* SPDX-License-Identifier: BSD-2-Clause */
#include "write/path-write.h"

#include <string.h>

const char *const path_write_formats[] = { "text", "dot",     "svg",      "json", "tsv",
                                           "map",  "map-svg", "map-json", NULL };
static const PathWriter writers[] = { path_write_text,    path_write_dot,     path_write_svg,
                                      path_write_json,    path_write_tsv,     path_write_map,
                                      path_write_map_svg, path_write_map_json };

PathWriter path_writer_lookup(const char *format)
{
        for (gsize i = 0; i < G_N_ELEMENTS(writers); i++)
                if (!strcmp(path_write_formats[i], format))
                        return writers[i];
        return NULL;
}
