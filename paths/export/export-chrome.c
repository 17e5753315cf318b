/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Trace events as Chrome writes them, for Perfetto and speedscope. A call is a pair of
 * events, its begin and its end, on a lane, which is a thread to the viewer: a request
 * takes a lane that is free, calls within their caller lie below it, and calls that
 * overlap a sibling, as no thread could make them, have a lane of their own. Times are in us since
 * the first stamp of the trace, which otherData has in full: a double does not hold both.
 *
 * What there is to say of a call stands in its end: of a begin speedscope makes it part
 * of the name, and no two calls would be of one node. Events at the same time are in the
 * order in which they nest, as viewers want it that sort by time.
 */
#include "paths/export/export-requests.h"
#include "paths/export/export.h"
#include "paths/write/path-text.h"

#include <string.h>

/* Where a request's call lies, and until when what lies below it there lasts. */
typedef struct {
        guint32 lane;
        gint64 start, end, below;
} Slice;

/* One of the lanes that a request needs: from when to when, and which it is given. */
typedef struct {
        gint64 start, end;
        guint32 lane;
} RequestLane;

typedef struct {
        GString *text;
        const StoreReader *reader;
        GPtrArray *names; /* by NodeId: JSON strings */
        gint64 origin;    /* ns since the epoch */
        GArray *slices;   /* of Slice, by call of the request in hand */
        GArray *wanted;   /* of RequestLane */
        GArray *lanes;    /* of gint64: from when on each is free */
} Chrome;

/* Nanoseconds as us with three decimals. */
static void append_us(GString *text, gint64 ns)
{
        guint64 size = ns < 0 ? -(guint64)ns : (guint64)ns;
        guint rest = size % 1000;
        char decimals[] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                            (char)('0' + rest % 10) };

        if (ns < 0)
                g_string_append_c(text, '-');
        path_append_integer(text, (gint64)(size / 1000));
        if (rest > 0)
                g_string_append_len(text, decimals, sizeof decimals);
}

/* --- lanes ----------------------------------------------------------------- */

/* The first lane of the request that is free at start, or one more. */
static guint32 want_lane(Chrome *o, gint64 start, gint64 end)
{
        RequestLane more = { start, end, 0 };

        for (guint32 i = 0; i < o->wanted->len; i++) {
                RequestLane *lane = &g_array_index(o->wanted, RequestLane, i);

                if (lane->end >= start) /* also where it ends just then, but is written later */
                        continue;
                lane->end = end;
                return i;
        }
        g_array_append_val(o->wanted, more);
        return o->wanted->len - 1;
}

/* Callers come before their callees, and siblings in the order of their calls. */
static void lay_out(Chrome *o, const ExportRequest *request)
{
        g_array_set_size(o->slices, request->n_calls);
        g_array_set_size(o->wanted, 0);
        for (guint32 i = 0; i < request->n_calls; i++) {
                const PathCall *c = &request->calls[i];
                Slice *slice = &g_array_index(o->slices, Slice, i), *caller = NULL;

                *slice = (Slice){ 0, c->start, MAX(c->end, c->start), c->start };
                if (c->parent != NO_PARENT)
                        caller = &g_array_index(o->slices, Slice, c->parent);
                if (caller && slice->start >= caller->below && slice->end <= caller->end) {
                        slice->lane = caller->lane;
                        caller->below = slice->end;
                } else {
                        slice->lane = want_lane(o, slice->start, slice->end);
                }
        }
}

static void append_lane_name(GString *text, guint32 lane)
{
        g_string_append_printf(text,
                               "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%u,"
                               "\"args\":{\"name\":\"lane %u\"}},\n",
                               lane + 1, lane + 1);
}

/* Gives the request lanes that are free for as long as it needs each: the lowest. */
static void take_lanes(Chrome *o)
{
        for (guint32 i = 0; i < o->wanted->len; i++) {
                RequestLane *wanted = &g_array_index(o->wanted, RequestLane, i);
                guint32 lane = 0;

                while (lane < o->lanes->len &&
                       g_array_index(o->lanes, gint64, lane) > wanted->start)
                        lane++;
                if (lane == o->lanes->len) {
                        g_array_append_val(o->lanes, wanted->end);
                        append_lane_name(o->text, lane);
                }
                g_array_index(o->lanes, gint64, lane) = wanted->end;
                wanted->lane = lane;
        }
}

/* --- events ---------------------------------------------------------------- */

#define APPEND(text, literal) g_string_append_len(text, literal, sizeof(literal) - 1)

static void append_event(const Chrome *o, const ExportRequest *request, guint32 i, char phase,
                         gint64 time)
{
        const Slice *slice = &g_array_index(o->slices, Slice, i);
        const char *label = store_reader_label(o->reader, request->calls[i].label);
        GString *text = o->text;

        APPEND(text, "{\"ph\":\"");
        g_string_append_c(text, phase);
        APPEND(text, "\",\"pid\":1,\"tid\":");
        path_append_integer(text, g_array_index(o->wanted, RequestLane, slice->lane).lane + 1);
        APPEND(text, ",\"ts\":");
        append_us(text, time - o->origin);
        APPEND(text, ",\"cat\":\"call\",\"name\":");
        g_string_append(text, o->names->pdata[request->calls[i].callee]);
        if (label) { /* before the quote that ends the name, and without the one it begins with */
                g_autoptr(GString) quoted = g_string_new(NULL);

                path_append_json_string(quoted, label);
                quoted->str[0] = ' ';
                g_string_truncate(text, text->len - 1);
                g_string_append_len(text, quoted->str, (gssize)quoted->len);
        }
}

static void append_begin(const Chrome *o, const ExportRequest *request, guint32 i)
{
        append_event(o, request, i, 'B', g_array_index(o->slices, Slice, i).start);
        APPEND(o->text, "},\n");
}

static void append_end(const Chrome *o, const ExportRequest *request, guint32 i)
{
        const PathCall *c = &request->calls[i];
        GString *text = o->text;

        append_event(o, request, i, 'E', g_array_index(o->slices, Slice, i).end);
        APPEND(text, ",\"args\":{\"caller\":");
        g_string_append(text, o->names->pdata[c->caller]);
        APPEND(text, ",\"own_us\":");
        append_us(text, c->own);
        if (c->network != 0) {
                APPEND(text, ",\"network_us\":");
                append_us(text, c->network);
        }
        if (c->connecting > 0) {
                APPEND(text, ",\"connecting_us\":");
                append_us(text, c->connecting);
        }
        if (c->continues == WORK_QUEUED) {
                APPEND(text, ",\"queued_us\":");
                append_us(text, c->queued);
        }
        if (c->workers > 0) {
                APPEND(text, ",\"own_queued_us\":");
                append_us(text, c->own_queued);
        }
        if (c->parent == NO_PARENT) {
                APPEND(text, ",\"request\":");
                path_append_integer(text, (gint64)request->number);
                g_string_append_printf(text, ",\"pattern\":\"%016" G_GINT64_MODIFIER "x\"",
                                       request->pattern);
                APPEND(text, ",\"request_probability\":");
                export_append_probability(text, request->probability);
        } else {
                APPEND(text, ",\"probability\":");
                export_append_probability(text, (double)c->probability);
                APPEND(text, ",\"candidates\":");
                path_append_integer(text, c->candidates);
        }
        APPEND(text, "}},\n");
}

/* A call ends after those below it, and before the next that is not. */
static void append_request(Chrome *o, const ExportRequest *request)
{
        guint32 open = NO_PARENT; /* the last call that has begun and not ended */

        lay_out(o, request);
        take_lanes(o);
        for (guint32 i = 0; i < request->n_calls; i++) {
                for (; open != NO_PARENT && open != request->calls[i].parent;
                     open = request->calls[open].parent)
                        append_end(o, request, open);
                append_begin(o, request, i);
                open = i;
        }
        for (; open != NO_PARENT; open = request->calls[open].parent)
                append_end(o, request, open);
}

static Chrome *chrome_new(const NodeTable *nodes, const StoreReader *reader)
{
        const StoredRun *run = store_reader_run(reader);
        Chrome *o = g_new0(Chrome, 1);

        o->text = g_string_new("{\"displayTimeUnit\":\"ms\",\"otherData\":{");
        o->reader = reader;
        o->names = export_json_names(nodes);
        o->origin = run->first == NO_TIME ? 0 : run->first;
        o->slices = g_array_new(FALSE, FALSE, sizeof(Slice));
        o->wanted = g_array_new(FALSE, FALSE, sizeof(RequestLane));
        o->lanes = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_string_append_printf(o->text,
                               "\"origin_unix_ns\":\"%" G_GINT64_FORMAT "\",\"inferred\":\"true\"},"
                               "\n\"traceEvents\":[\n",
                               o->origin);
        return o;
}

static void chrome_free(Chrome *o)
{
        g_string_free(o->text, TRUE);
        g_ptr_array_free(o->names, TRUE);
        g_array_free(o->slices, TRUE);
        g_array_free(o->wanted, TRUE);
        g_array_free(o->lanes, TRUE);
        g_free(o);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Chrome, chrome_free)

gboolean export_chrome(StoreReader *reader, const NodeTable *nodes, OutputFile *out, GError **error)
{
        g_autoptr(ExportRequests) requests = export_requests_new(reader, error);
        g_autoptr(Chrome) o = chrome_new(nodes, reader);
        ExportRequest request;
        int status;

        if (!requests)
                return FALSE;
        while ((status = export_requests_next(requests, &request, error)) > 0) {
                append_request(o, &request);
                if (!export_flush(o->text, FALSE, out, error))
                        return FALSE;
        }
        /* The last event has no comma after it. */
        APPEND(o->text, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":1,"
                        "\"args\":{\"name\":\"requests, inferred by ravel\"}}\n]}\n");
        return status == 0 && export_flush(o->text, TRUE, out, error);
}
