/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/export.h"

#include <string.h>

const char *const export_formats[] = { "otlp", "folded", "chrome", "tsv", "wireshark", NULL };
static const ExportWriter writers[] = { export_otlp, export_folded, export_chrome, export_tsv,
                                        export_wireshark };

ExportWriter export_writer_lookup(const char *format)
{
        for (gsize i = 0; i < G_N_ELEMENTS(writers); i++)
                if (!strcmp(export_formats[i], format))
                        return writers[i];
        return NULL;
}
