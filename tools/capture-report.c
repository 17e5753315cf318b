/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/capture-run.h"

#include "tools/tool.h"

void capture_report_counts(CaptureRun *run)
{
        const guint64 *n = capture_account(run->capture)->count;
        PcapCounts counts = packet_merge_counts(run->packets);
        g_autoptr(GString) text = g_string_new(NULL);
        g_string_append_printf(text, "%" G_GUINT64_FORMAT " packets captured", n[ACCOUNT_PACKETS]);
        if (run->command->interfaces)
                g_string_append_printf(text,
                                       ", %" G_GUINT64_FORMAT " packets received by filter"
                                       ", %" G_GUINT64_FORMAT " packets dropped by kernel",
                                       counts.received, counts.dropped_by_kernel);
        if (counts.dropped_by_interface)
                g_string_append_printf(text, ", %" G_GUINT64_FORMAT " packets dropped by interface",
                                       counts.dropped_by_interface);
        tool_warn("%s", text->str);
}

static CaptureCounts *shared_counts; /* NULL: nobody looks */

void capture_share_counts(CaptureCounts *shared)
{
        shared_counts = shared;
}

static void update_shared_counts(CaptureRun *run)
{
        const guint64 *n = capture_account(run->capture)->count;
        PcapCounts counts = packet_merge_counts(run->packets);
        *shared_counts = (CaptureCounts){ n[ACCOUNT_PACKETS],
                                          counts.dropped_by_kernel + counts.dropped_by_interface,
                                          n[ACCOUNT_HOLES] };
}

void capture_report_progress(CaptureRun *run)
{
        run->since_look = 0;
        if (shared_counts)
                update_shared_counts(run);
        if (!run->command->interfaces || !tool_progress_due())
                return;
        const guint64 *n = capture_account(run->capture)->count;
        PcapCounts counts = packet_merge_counts(run->packets);
        tool_progress_say("%" G_GUINT64_FORMAT " packets, %" G_GUINT64_FORMAT
                          " messages, %" G_GUINT64_FORMAT " dropped",
                          n[ACCOUNT_PACKETS],
                          n[ACCOUNT_CALLS] + n[ACCOUNT_RETURNS] + n[ACCOUNT_ONE_WAY],
                          counts.dropped_by_kernel + counts.dropped_by_interface);
}

char *capture_report_judge(const CaptureRun *run, const guint64 *count, const GArray *doubts,
                           const GArray *edges)
{
        Fitness fitness = account_fitness(count, capture_account(run->capture));
        return fitness_judge(&fitness, doubts, (const EdgeCalls *)(gconstpointer)edges->data,
                             edges->len, run->nodes);
}

/* Less (ns) than this is the resolution of most stamps, and moves no message. */
#define LEAST_LATE 1001

static void report_order(const CaptureRun *run)
{
        PcapCounts counts = packet_merge_counts(run->packets);
        if (counts.late > counts.too_late && counts.most_late >= LEAST_LATE)
                tool_warn("%" G_GUINT64_FORMAT " %s after one with a later stamp, by %.6g ms at "
                          "most: %s",
                          counts.late, counts.late == 1 ? "packet came" : "packets came",
                          (double)counts.most_late / 1e6,
                          counts.sorted + counts.too_late == counts.late ? "sorted by time"
                          : counts.sorted ? "sorted by time but where the clock was "
                                            "set back"
                                          : "the clock was set back, so they are "
                                            "used in the order of the file");
}

static void report_no_packet(const CaptureRun *run)
{
        if (run->command->interfaces)
                tool_warn("no packet came: check the interface and the filter");
        else
                tool_warn("%s: no packet %s", (char *)run->sources->pdata[0],
                          run->command->filter ? "passes the filter" : "in it");
}

gboolean capture_report_end(CaptureRun *run)
{
        if (!capture_account(run->capture)->count[ACCOUNT_PACKETS]) {
                report_no_packet(run);
                return FALSE;
        }
        const Account *account = capture_account(run->capture);
        g_autofree char *summary = account_summary(account);
        g_auto(GStrv) lines = account_judge(account);
        doubts_fold(run->doubts);
        doubts_sort(run->doubts, run->nodes);
        g_auto(GStrv) doubts = doubts_to_lines(run->doubts, run->nodes);
        g_autofree char *judgement =
                capture_report_judge(run, account->count, run->doubts, run->edges);
        tool_warn("%s", summary);
        report_order(run);
        if (run->host && run->host_is_sure)
                tool_warn(
                        "every packet is from or to %s: taken for captured there (--host NAME says "
                        "where, --host '' on no host)",
                        run->host);
        else if (run->host)
                tool_warn("every packet is from or to %s: if they were captured there, say so with "
                          "--host %s",
                          run->host, run->host);
        for (char **line = lines; *line; line++)
                tool_warn("%s", *line);
        if (run->command->nodes && account->count[ACCOUNT_PACKETS] &&
            !node_names_is_used(run->names))
                tool_warn("--nodes %s: it names no address that was seen", run->command->nodes[0]);
        for (char **line = doubts; *line; line++)
                tool_warn("%s", *line);
        tool_warn("%s", judgement);
        return judgement_is_fit_for_nesting(judgement);
}
