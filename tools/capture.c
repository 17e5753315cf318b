/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ravel capture: packets to a trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tools/capture-run.h"
#include "tools/rights.h"
#include "tools/tool.h"

enum { LOOK_AT_CLOCK = 256 }; /* packets between two looks, where they do not cease */

static PacketMerge *volatile current_packets;
static volatile sig_atomic_t interrupted, asked, reloads;

static gboolean reloads_on_hangup; /* SIGHUP does not end it */

static void capture_on_signal(int number)
{
        interrupted = number;
        if (number != SIGHUP) /* a shell that ends sends it, and the kernel for the terminal */
                signal(number, output_files_die); /* the second time */
        if (current_packets)
                packet_merge_stop(current_packets);
}

static void on_question(int number)
{
        asked = number;
}

static void on_reload(int number)
{
        reloads = number;
}

void capture_reload_on_hangup(void)
{
        struct sigaction action = { .sa_handler = on_reload, .sa_flags = SA_RESTART };
        reloads_on_hangup = TRUE;
        sigaction(SIGHUP, &action, NULL);
}

static void capture_catch_signals(void)
{
        struct sigaction question = { .sa_handler = on_question, .sa_flags = SA_RESTART };
        struct sigaction action = { .sa_handler = capture_on_signal }, now;
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGALRM, &action, NULL);
        sigaction(SIGUSR1, &question, NULL);
        if (!reloads_on_hangup && sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* nohup(1) */
                sigaction(SIGHUP, &action, NULL);
}

static void capture_answer(CaptureRun *run)
{
        if (reloads)
                capture_run_reload_names(run);
        reloads = 0;
        if (!asked)
                return;
        asked = 0;
        capture_report_counts(run);
}

static inline void take_packet(CaptureRun *run, const Packet *packet)
{
        capture_add(run->capture, packet);
        capture_answer(run);
        if (++run->since_look >= LOOK_AT_CLOCK) {
                capture_report_progress(run);
                node_names_update(run->names);
        }
        run->left--;
}

/* A recording waits, as its pipe pauses. */
static gboolean take_waiting(CaptureRun *run)
{
        Packet packet;
        while (run->left != 0 && packet_merge_next_waiting(run->packets, &packet)) {
                take_packet(run, &packet);
                if (!capture_trace_write(run, &run->write_error))
                        return FALSE;
        }
        return run->left != 0;
}

static gboolean on_idle(gpointer user, gint64 ns)
{
        CaptureRun *run = user;
        if (interrupted)
                return FALSE;
        if (!run->begun)
                return TRUE;
        capture_answer(run);
        capture_report_progress(run);
        if (run->watch &&
            (!process_watch_update(run->watch, &run->write_error) ||
             (run->process_lines && !output_file_flush(run->process_lines, &run->write_error))))
                return FALSE;
        if (!take_waiting(run))
                return FALSE;
        gint64 time = capture_time(run->capture);
        if (time != NO_TIME) {
                capture_idle(run->capture, time + MIN(ns, G_MAXINT64 - time));
                if (!capture_trace_write(run, &run->write_error))
                        return FALSE;
        }
        return !run->writer || trace_writer_flush(run->writer, &run->write_error);
}

/* Something happened to an interface, which explains what is missing in the trace. */
static void on_notice(gpointer user, const char *text)
{
        CaptureRun *run = user;
        gint64 now = g_get_real_time();
        g_autofree char *fact = g_strdup_printf("%" G_GINT64_FORMAT ".%06" G_GINT64_FORMAT " %s",
                                                now / G_USEC_PER_SEC, now % G_USEC_PER_SEC, text);
        tool_warn("%s", text);
        if (run->writer && !run->write_error)
                trace_writer_fact(run->writer, "interface event", fact, &run->write_error);
}

/* --- the packets ------------------------------------------------------------- */

static gboolean read_packets(CaptureRun *run, GError **error)
{
        Packet packet;
        int result = 0;
        while (run->left != 0 && (result = packet_merge_next(run->packets, &packet, error)) == 1) {
                take_packet(run, &packet);
                if (!capture_trace_write(run, error))
                        return FALSE;
        }
        if (run->write_error) {
                g_clear_error(error);
                g_propagate_error(error, g_steal_pointer(&run->write_error));
                return FALSE;
        }
        return result >= 0;
}

static void on_secrets(gpointer user, const guint8 *bytes, gsize n)
{
        CaptureRun *run = user;
        key_log_add(run->keys, bytes, n);
}

static PacketMerge *open_packets(CaptureRun *run, GError **error)
{
        PcapOptions pcap = { .filter = run->command->filter,
                             .snapshot =
                                     run->command->snapshot ? run->command->snapshot : MAX_SNAPSHOT,
                             .buffer = run->command->buffer,
                             .promiscuous = !run->command->no_promiscuous,
                             .immediate = run->command->immediate,
                             .direction = (Direction)run->command->way,
                             .link_type = run->command->link_type,
                             .idle = on_idle,
                             .notice = on_notice,
                             .secrets = on_secrets,
                             .user = run,
                             .progress = tool_progress_read };
        const char *const *interfaces = (const char *const *)run->command->interfaces;
        guint n = interfaces ? 0 : run->sources->len;
        tool_progress_start((const char *const *)run->sources->pdata, n,
                            !capture_command_rotates(run->command) &&
                                    (!run->command->write || !strcmp(run->command->write, "-")));
        if (interfaces)
                return packet_merge_new_live(interfaces, g_strv_length(run->command->interfaces),
                                             &pcap, error);
        return packet_merge_new((const char *const *)run->sources->pdata, run->sources->len, &pcap,
                                error);
}

/* Where traces are begun later: the folder, which whom we become may not be able to reach, is
 * from now on where we are. One with the time in its name cannot be known. */
static gboolean enter_folder(CaptureCommand *command, GError **error)
{
        g_autofree char *folder = g_path_get_dirname(command->write);
        if (strchr(folder, '%'))
                return TRUE;
        if (chdir(folder) < 0)
                return ravel_fail(error, RAVEL_ERROR_USAGE, "-w %s: cannot enter the folder: %s",
                                  command->write, g_strerror(errno));
        char *name = g_path_get_basename(command->write);
        g_free(command->write);
        command->write = name;
        return TRUE;
}

/* That a trace can be begun there is said now, and not when the first packet comes. */
static gboolean check_folder(const CaptureCommand *command, const Rights *rights, GError **error)
{
        g_autofree char *folder = g_path_get_dirname(command->write);
        if (strchr(folder, '%') || faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0)
                return TRUE;
        return ravel_fail(error, RAVEL_ERROR_USAGE,
                          "%s may not write in the folder of the traces: change its owner, or "
                          "keep root's rights with -Z root",
                          rights->other ? rights->name : "you");
}

/* With interfaces open: opens the output, and gives up root's rights before a packet is looked
 * at. */
static gboolean open_live_output(CaptureRun *run, const Rights *rights, GError **error)
{
        g_autofree char *why = NULL;
        if ((capture_command_rotates(run->command) && !enter_folder(run->command, error)) ||
            (!run->command->rotate && !capture_trace_begin(run, error)))
                return FALSE;
        if (run->writer && rights->other && !rights->keep)
                trace_writer_give(run->writer, rights->user, rights->group);
        if (!rights_drop(rights, &why, error))
                return FALSE;
        if (why)
                tool_warn("%s", why);
        return (!capture_command_rotates(run->command) ||
                check_folder(run->command, rights, error)) &&
               capture_run_confine(run, error);
}

static void update_names(gpointer user)
{
        CaptureRun *run = user;
        if (!run->write_error)
                process_watch_update(run->watch, &run->write_error);
}

/* With all rights. */
static gboolean open_processes(CaptureRun *run, const Rights *rights, GError **error)
{
        g_autofree char *why = NULL;
        if (!run->command->processes)
                return TRUE;
        if (run->command->processes_to) {
                run->process_lines = output_file_new(run->command->processes_to, TRUE, error);
                if (!run->process_lines)
                        return FALSE;
                if (rights->other && !rights->keep)
                        output_file_give(run->process_lines, rights->user, rights->group);
        }
        run->watch = process_watch_new(run->command->naming, run->names, run->nodes, &why);
        if (run->process_lines)
                process_watch_write_to(run->watch, run->process_lines);
        run->polls = why != NULL;
        if (why)
                tool_warn("--processes: the kernel does not say who opens connections (%s; it "
                          "takes CAP_PERFMON and tracefs): polling /proc, which misses short "
                          "connections, and processes of users other than %s",
                          why, rights->other && !rights->keep ? rights->name : "whoever runs this");
        node_names_follow(run->names, update_names, run);
        return TRUE;
}

static gboolean open_everything(CaptureRun *run, GError **error)
{
        g_auto(Rights) rights = { .keep = TRUE };
        if (run->command->interfaces &&
            !rights_find(&rights, run->command->user, run->command->write, error))
                return FALSE;
        run->packets = open_packets(run, error);
        if (!run->packets || interrupted)
                return FALSE;
        if (run->command->interfaces)
                return open_processes(run, &rights, error) && open_live_output(run, &rights, error);
        return run->command->rotate || capture_trace_begin(run, error);
}

/* Opens and reads everything. FALSE: error set, and there may be a trace in part; or
 * interrupted. */
static gboolean capture_packets(CaptureRun *run, GError **error)
{
        if (!open_everything(run, error))
                return FALSE;
        run->begun = TRUE;
        current_packets = run->packets;
        if (run->command->interfaces)
                tool_warn("listening on %s, link type %s", (char *)run->sources->pdata[0],
                          packet_merge_link_type(run->packets, 0));
        if (interrupted)
                packet_merge_stop(run->packets);
        if (run->command->end_after)
                alarm((guint)CLAMP((run->command->end_after + 999999999) / 1000000000, 1,
                                   G_MAXINT32));
        gboolean ok = read_packets(run, error);
        current_packets = NULL;
        capture_trace_take_counts(run);
        return ok;
}

static int capture_all(CaptureRun *run)
{
        GError *error = NULL, *finish_error = NULL;
        capture_catch_signals();
        gboolean ok = capture_packets(run, &error);
        if (interrupted && (!run->live || !run->begun)) {
                g_clear_error(&error);
                return EXIT_INTERRUPTED;
        }
        if (!ok && (!run->begun || g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT) ||
                    g_error_matches(error, RAVEL_ERROR, RAVEL_ERROR_PIPE) ||
                    capture_account(run->capture)->count[ACCOUNT_PACKETS] == 0))
                return tool_fail(error);
        if (!capture_trace_end(run, &finish_error)) {
                g_clear_error(&error);
                return tool_fail(finish_error);
        }
        if (run->command->interfaces)
                capture_report_counts(run);
        gboolean fit = capture_report_end(run);
        if (ok)
                return (run->command->strict && !fit) ||
                                       !capture_account(run->capture)->count[ACCOUNT_PACKETS]
                               ? EXIT_DIFFERS
                               : EXIT_DONE;
        tool_fail(error);
        tool_warn("the trace holds what was read before that");
        return EXIT_PARTIAL;
}

static int capture_list_interfaces(void)
{
        GError *error = NULL;
        g_autofree char *list = pcap_source_list_interfaces(&error);
        if (!list)
                return tool_fail(error);
        fputs(list, stdout);
        return EXIT_DONE;
}

int tool_capture(int argc, char **argv)
{
        GError *error = NULL;
        int status;
        CaptureCommand *command = capture_command_parse(&argc, &argv, &status);
        if (!command)
                return status;
        if (command->list_interfaces)
                return capture_list_interfaces();
        g_autoptr(CaptureRun) run = capture_run_new(command, &error);
        return run ? capture_all(run) : tool_fail(error);
}
