/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracefmt/trace-share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct TraceIndex {
        FILE *file;
        guint64 size;
        char *line;
        size_t room; /* of line */
};

/* Of gzip, zstd and xz. */
static gboolean is_compressed(const guint8 *head, gsize n)
{
        return n >= 2 &&
               ((head[0] == 0x1f && head[1] == 0x8b) || (head[0] == 0x28 && head[1] == 0xb5) ||
                (head[0] == 0xfd && head[1] == '7'));
}

TraceIndex *trace_index_new(const char *path)
{
        g_autoptr(TraceIndex) index = g_new0(TraceIndex, 1);
        guint8 head[4];
        struct stat st;

        if (!strcmp(path, "-") || stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
            !(index->file = fopen(path, "re")))
                return NULL;
        index->size = (guint64)st.st_size;
        return is_compressed(head, fread(head, 1, sizeof head, index->file))
                       ? NULL
                       : g_steal_pointer(&index);
}

void trace_index_free(TraceIndex *index)
{
        if (!index)
                return;
        if (index->file)
                fclose(index->file);
        free(index->line);
        g_free(index);
}

guint64 trace_index_size(const TraceIndex *index)
{
        return index->size;
}

/* The time that a line begins with; FALSE where it is no message. */
static gboolean time_of(char *line, gint64 *time)
{
        char *end = line + strcspn(line, " \t\r\n");
        gboolean blank = *end == ' ' || *end == '\t';

        *end = '\0';
        return blank && (g_ascii_isdigit(*line) || *line == '-') &&
               trace_parse_time(line, time, NULL);
}

/* The first message whose line begins at a byte or later: that, and its time. */
static gboolean find_message(TraceIndex *index, guint64 at, guint64 *begin, gint64 *time)
{
        ssize_t n;

        *begin = at ? at - 1 : 0;
        if (fseeko(index->file, (off_t)*begin, SEEK_SET) < 0)
                return FALSE;
        if (at) { /* the rest of the line before */
                if ((n = getline(&index->line, &index->room, index->file)) < 0)
                        return FALSE;
                *begin += (guint64)n;
        }
        while ((n = getline(&index->line, &index->room, index->file)) >= 0) {
                if (time_of(index->line, time))
                        return TRUE;
                *begin += (guint64)n;
        }
        return FALSE;
}

guint64 trace_index_find(TraceIndex *index, gint64 time)
{
        guint64 low = 0, high = index->size, begin;
        gint64 found;

        while (low < high) {
                guint64 middle = low + (high - low) / 2;

                if (!find_message(index, middle, &begin, &found) || found >= time)
                        high = middle;
                else
                        low = begin + 1;
        }
        return find_message(index, low, &begin, &found) ? begin : index->size;
}

gboolean trace_index_time(TraceIndex *index, guint64 at, gint64 *time)
{
        guint64 begin;

        return find_message(index, at, &begin, time);
}
