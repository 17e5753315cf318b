/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/removed.h"

#include <glib.h>
#include <string.h>

static const struct {
        const char *verb; /* NULL: the name is a verb */
        const char *name, *instead;
} removed[] = {
        { NULL, "merge-state", "ravel nesting --method paper, in one process" },
        { "nesting", "--halo", "--method paper, in one process" },
        { "nesting", "--partial", "--method paper, in one process" },
        { "nesting", "--slice", "--method paper, in one process" },
        { "nesting", "--state", "--method paper, in one process" },
};

const char *removed_instead(const char *verb, const char *name)
{
        gsize length = strcspn(name, "=");

        for (guint i = 0; i < G_N_ELEMENTS(removed); i++)
                if (g_strcmp0(removed[i].verb, verb) == 0 && strlen(removed[i].name) == length &&
                    strncmp(removed[i].name, name, length) == 0)
                        return removed[i].instead;
        return NULL;
}
