/* SPDX-License-Identifier: BSD-2-Clause */

#include <string.h>

#include "base/each.h"
#include "tools/capture-run.h"
#include "tools/run-files.h"

/* Which running system stamped the packets of a live capture, where the kernel says: what is
 * rotated has one clock, and so have captures at several interfaces of one machine. */
static gboolean write_observer(CaptureRun *run, GError **error)
{
        return !run->boot || trace_writer_fact(run->writer, "observer", run->boot, error);
}

/* Of a live capture, and of one file of one interface. Who took several files, or wrote several
 * interfaces into one, nothing says; and a host is one of many. */
static gboolean has_one_clock(const CaptureRun *run)
{
        return !run->command->host &&
               (run->command->interfaces || packet_merge_interfaces(run->packets) <= 1);
}

static gboolean capture_trace_write_facts(CaptureRun *run, GError **error)
{
        if ((run->command->filter &&
             !trace_writer_fact(run->writer, "filter", run->command->filter, error)) ||
            (run->command->host &&
             !trace_writer_fact(run->writer, "captured on host", run->command->host, error)))
                return FALSE;
        g_ptr_array_set_size(run->link_types, 0);
        for (guint i = 0; i < run->sources->len; i++) {
                const char *type = packet_merge_link_type(run->packets, i);
                g_ptr_array_add(run->link_types, g_strdup(type));
                if (!trace_writer_fact(run->writer,
                                       run->command->interfaces ? "interface" : "source",
                                       run->sources->pdata[i], error) ||
                    !trace_writer_fact(run->writer, "link type", type, error))
                        return FALSE;
        }
        run->one_clock = has_one_clock(run);
        return write_observer(run, error) &&
               (!run->one_clock || trace_writer_fact(run->writer, "clocks", "one", error)) &&
               trace_writer_fact(run->writer, "ids", "connection.sequence", error);
}

/* A pcapng file may have had more interfaces than were known at its beginning. */
static gboolean write_late_interfaces(CaptureRun *run, GError **error)
{
        for (guint i = 0; i < run->sources->len; i++) {
                const char *type = packet_merge_link_type(run->packets, i);
                if (strcmp(type, run->link_types->pdata[i]) != 0 &&
                    !trace_writer_fact(run->writer, "link type", type, error))
                        return FALSE;
        }
        return run->one_clock == has_one_clock(run) ||
               trace_writer_fact(run->writer, "clocks", "unknown", error);
}

static gboolean open_output(CaptureRun *run, const char *path, GError **error)
{
        run->writer = trace_writer_new(path, run->nodes, run->live, error);
        return run->writer && capture_trace_write_facts(run, error);
}

void capture_trace_take_counts(CaptureRun *run)
{
        PcapCounts counts = packet_merge_counts(run->packets);
        Account *account = capture_account(run->capture);
        account->count[ACCOUNT_DROPPED_KERNEL] = counts.dropped_by_kernel;
        account->count[ACCOUNT_DROPPED_INTERFACE] = counts.dropped_by_interface;
        account->count[ACCOUNT_SORTED] = counts.sorted;
        account->count[ACCOUNT_TOO_LATE] = counts.too_late;
}

/* Of the account, what belongs to this trace: messages as they are in it, which is later
 * than they are counted, and all else since the last one. */
static guint64 count_of_trace(const CaptureRun *run, AccountEntry entry)
{
        guint64 count = capture_account(run->capture)->count[entry];
        if (!capture_command_rotates(run->command))
                return count;
        switch (entry) {
        case ACCOUNT_CALLS:
                return run->in_trace[0];
        case ACCOUNT_RETURNS:
                return run->in_trace[1];
        case ACCOUNT_ONE_WAY:
                return run->in_trace[2];
        case ACCOUNT_ENDED:
                return run->in_trace[3];
        default:
                return count - run->written.count[entry];
        }
}

/* As lines for --nodes: an address, its name, and as an alias where that is from. */
static gboolean write_learned_names(CaptureRun *run, GError **error)
{
        const LearnedName *learned;
        for (guint i = 0; run->learned && (learned = learned_names_get(run->learned, i)); i++) {
                char address[ADDRESS_TEXT_SIZE];
                if (!node_names_is_nameless(run->names, learned->address))
                        continue;
                g_autofree char *line =
                        g_strdup_printf("%s %s %s", address_format(learned->address, address),
                                        learned->name, learned->source);
                if (!trace_writer_fact(run->writer, "learned name", line, error))
                        return FALSE;
        }
        return TRUE;
}

/* Which process is at which address and port. */
static gboolean write_processes(CaptureRun *run, GError **error)
{
        if (!run->watch)
                return TRUE;
        g_autoptr(GPtrArray) facts = process_watch_facts(run->watch);
        ProcessCounts counts = process_watch_counts(run->watch);
        g_autofree char *text =
                g_strdup_printf("%" G_GUINT64_FORMAT " connections opened, %" G_GUINT64_FORMAT
                                " of the kernel's records lost",
                                counts.opened, counts.lost);
        for (guint i = 0; i < facts->len; i++)
                if (!trace_writer_fact(run->writer, "process", facts->pdata[i], error))
                        return FALSE;
        return trace_writer_fact(run->writer, "processes",
                                 run->polls ? "by looking at /proc" : text, error);
}

/* What is doubtful of this trace, as facts; added to what is of all. */
static gboolean capture_trace_write_doubts(CaptureRun *run, GArray *doubts, GArray *edges,
                                           GError **error)
{
        capture_weigh(run->capture, doubts, edges);
        doubts_sort(doubts, run->nodes);
        if (doubts->len > MAX_DOUBTS)
                g_array_set_size(doubts, MAX_DOUBTS);
        EACH (const Doubt, doubt, doubts) {
                g_autofree char *value = doubt_to_value(doubt, run->nodes);
                doubts_add(run->doubts, doubt);
                if (!trace_writer_fact(run->writer, "doubt", value, error))
                        return FALSE;
        }
        g_array_append_vals(run->edges, edges->data, edges->len);
        edge_calls_merge(run->edges);
        return TRUE;
}

/* The account ends the trace. */
static gboolean close_output(CaptureRun *run, GError **error)
{
        guint64 counts[N_ACCOUNT];
        for (guint i = 0; i < N_ACCOUNT; i++) {
                guint64 count = counts[i] = count_of_trace(run, i);
                gboolean always = i == ACCOUNT_PACKETS || i == ACCOUNT_CALLS ||
                                  i == ACCOUNT_RETURNS ||
                                  (run->command->interfaces && i == ACCOUNT_DROPPED_KERNEL);
                g_autofree char *n = g_strdup_printf("%" G_GUINT64_FORMAT, count);
                if ((count || always) && !trace_writer_fact(run->writer, account_key(i), n, error))
                        return FALSE;
        }
        g_autoptr(GArray) doubts = g_array_new(FALSE, FALSE, sizeof(Doubt));
        g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(EdgeCalls));
        if (!capture_trace_write_doubts(run, doubts, edges, error))
                return FALSE;
        g_autofree char *judgement = capture_report_judge(run, counts, doubts, edges);
        run->written = *capture_account(run->capture);
        memset(run->in_trace, 0, sizeof run->in_trace);
        return write_late_interfaces(run, error) && write_learned_names(run, error) &&
               write_processes(run, error) &&
               trace_writer_fact(run->writer, "judgement", judgement, error) &&
               trace_writer_close(g_steal_pointer(&run->writer), error);
}

gboolean capture_trace_begin(CaptureRun *run, GError **error)
{
        g_autoptr(GString) name = g_string_new(NULL);
        g_autofree char *base =
                run->command->rotate
                        ? capture_command_name_at(run->command, run->rotate_start / 1000000000)
                        : g_strdup(run->command->write ? run->command->write : "-");
        g_string_append(name, base);
        if (!run->command->rotate && run->command->files) { /* the oldest is overwritten */
                g_autofree char *last =
                        g_strdup_printf("%" G_GINT64_FORMAT, run->command->files - 1);
                g_string_append_printf(name, "%0*" G_GINT64_FORMAT, (int)strlen(last),
                                       run->part % run->command->files);
        } else if (run->part > 0) {
                g_string_append_printf(name, "%" G_GINT64_FORMAT, run->part);
        }
        run->files++;
        return (!capture_command_rotates(run->command) ||
                run_files_write("-w", name->str, error)) &&
               open_output(run, name->str, error);
}

/* A message of that time (ns) is not for the time of the trace. */
static gboolean is_later(const CaptureRun *run, gint64 time)
{
        return run->command->rotate && (run->files == 0 || time >= run->rotate_time);
}

/* Makes the trace the one for a message of that time (ns). With that, the last one may
 * have been written: then there is none, and the capture ends. */
static gboolean rotate(CaptureRun *run, gint64 time, GError **error)
{
        gint64 length = run->command->rotate * 1000000000;
        gboolean later = is_later(run, time);
        gboolean full =
                run->writer && run->command->megabytes &&
                trace_writer_size(run->writer) >= (guint64)run->command->megabytes * 1000000;
        if (run->writer && !later && !full)
                return TRUE;
        if (run->writer) {
                capture_trace_take_counts(run);
                if (!close_output(run, error))
                        return FALSE;
        }
        if (run->command->rotate && run->command->files && run->files == run->command->files) {
                packet_merge_stop(run->packets);
                return TRUE;
        }
        run->part = later ? 0 : run->part + 1;
        if (later) {
                gint64 whole = run->files ? (time - run->rotate_time) / length * length : 0;
                run->rotate_start = run->files ? run->rotate_time + whole : time;
                run->rotate_time = run->rotate_start + length;
        }
        return capture_trace_begin(run, error);
}

gboolean capture_trace_write(CaptureRun *run, GError **error)
{
        Message message;
        while (capture_next(run->capture, &message)) {
                if (capture_command_rotates(run->command) && !rotate(run, message.time, error))
                        return FALSE;
                if (!run->writer)
                        continue;
                run->in_trace[capture_call_ended(run->capture) ? 3 : message.op >> 1]++;
                if (!trace_writer_add(run->writer, &message, error) ||
                    (run->command->flush && !trace_writer_flush(run->writer, error)))
                        return FALSE;
        }
        return TRUE;
}

gboolean capture_trace_end(CaptureRun *run, GError **error)
{
        capture_finish(run->capture);
        if (!capture_trace_write(run, error))
                return FALSE;
        if (!run->writer && run->files == 0 && !rotate(run, g_get_real_time() * 1000, error))
                return FALSE;
        if (run->writer && !close_output(run, error))
                return FALSE;
        return !run->process_lines ||
               output_file_close(g_steal_pointer(&run->process_lines), error);
}
