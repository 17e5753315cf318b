/* SPDX-License-Identifier: BSD-2-Clause */
#include "paths/export/export.h"

#include <string.h>

static const struct {
        const char *format;
        ExportWriter writer;
} formats[] = {
        { "otlp", export_otlp },
        { "folded", export_folded },
        { "chrome", export_chrome },
        { "tsv", export_tsv },
};

ExportWriter export_writer_lookup(const char *format)
{
        for (gsize i = 0; i < G_N_ELEMENTS(formats); i++)
                if (!strcmp(formats[i].format, format))
                        return formats[i].writer;
        return NULL;
}
