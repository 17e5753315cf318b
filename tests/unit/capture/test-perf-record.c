/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Records as Linux 6.18 made them for a connection on the loopback, and broken ones.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "capture/processes/perf-record.h"
#include "capture/processes/proc-sockets.h"
#include "capture/processes/process-table.h"

static const char format_text[] =
        "name: inet_sock_set_state\n"
        "ID: 2287\n"
        "format:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
        "\n"
        "\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:int oldstate;\toffset:16;\tsize:4;\tsigned:1;\n"
        "\tfield:int newstate;\toffset:20;\tsize:4;\tsigned:1;\n"
        "\tfield:__u16 sport;\toffset:24;\tsize:2;\tsigned:0;\n"
        "\tfield:__u16 dport;\toffset:26;\tsize:2;\tsigned:0;\n"
        "\tfield:__u16 family;\toffset:28;\tsize:2;\tsigned:0;\n"
        "\tfield:__u16 protocol;\toffset:30;\tsize:2;\tsigned:0;\n"
        "\tfield:__u8 saddr[4];\toffset:32;\tsize:4;\tsigned:0;\n"
        "\tfield:__u8 daddr[4];\toffset:36;\tsize:4;\tsigned:0;\n"
        "\tfield:__u8 saddr_v6[16];\toffset:40;\tsize:16;\tsigned:0;\n"
        "\tfield:__u8 daddr_v6[16];\toffset:56;\tsize:16;\tsigned:0;\n"
        "\n"
        "print fmt: \"family=%s sport=%hu\", REC->family, REC->sport\n";

/* The body of a sample: pid, tid, time, size, and the tracepoint's fields. */
typedef struct {
        struct perf_event_header header;
        guint32 pid, tid;
        guint64 time;
        guint32 size;
        struct {
                guint16 type;
                guint8 flags, preempt;
                gint32 pid;
                guint64 socket;
                gint32 old, new;
                guint16 own_port, peer_port, family, protocol;
                guint8 own4[4], peer4[4], own[16], peer[16];
        } __attribute__((packed)) raw;
        guint32 padding;
} __attribute__((packed)) Sample;

static Sample sample(gint32 old, gint32 new)
{
        Sample s = { .header = { PERF_RECORD_SAMPLE, 1, sizeof s },
                     .pid = 12,
                     .tid = 13,
                     .time = 1000,
                     .size = sizeof s.raw,
                     .raw = { .socket = 77,
                              .old = old,
                              .new = new,
                              .protocol = 6,
                              .own_port = 40000,
                              .peer_port = 80 } };
        static const guint8 loopback[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1 };
        memcpy(s.raw.own, loopback, 16);
        memcpy(s.raw.peer, loopback, 16);
        return s;
}

static SocketFormat format(void)
{
        SocketFormat f;
        g_assert(socket_format_parse(format_text, strlen(format_text), &f));
        return f;
}

static void test_format(void)
{
        static const char *const lacks[] = {
                "ID", "name", "skaddr", "newstate", "daddr_v6", "sport"
        };
        SocketFormat f = format(), other;
        g_assert_cmpuint(f.id, ==, 2287);
        g_assert_cmpuint(f.field[FIELD_OWN_ADDRESS].offset, ==, 40);
        g_assert_cmpuint(f.field[FIELD_PEER_ADDRESS].offset, ==, 56);
        g_assert_cmpuint(f.field[FIELD_OWN_PORT].offset, ==, 24);
        for (guint i = 0; i < G_N_ELEMENTS(lacks); i++) {
                g_auto(GStrv) parts = g_strsplit(format_text, lacks[i], -1);
                g_autofree char *text = g_strjoinv("x", parts);
                g_assert(!socket_format_parse(text, strlen(text), &other));
        }
        for (gsize n = 0; n + 60 < strlen(format_text); n++)
                socket_format_parse(format_text, n, &other);
}

static void test_sample(void)
{
        static const struct {
                gint32 old, new;
                ProcessEventKind kind;
        } steps[] = { { 7, 2, PROCESS_CONNECTS },
                      { 2, 1, PROCESS_OPENED },
                      { 2, 7, PROCESS_REFUSED },
                      { 7, 10, PROCESS_LISTENS },
                      { 1, 4, PROCESS_OTHER } };
        SocketFormat f = format();
        ProcessEvent event;
        for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
                Sample s = sample(steps[i].old, steps[i].new);
                g_assert(perf_record_parse(&f, (const guint8 *)&s, sizeof s, &event));
                g_assert_cmpint(event.kind, ==, steps[i].kind);
                g_assert_cmpuint(event.pid, ==, 12);
                g_assert_cmpint(event.time, ==, 1000);
                g_assert_cmpuint(event.socket, ==, 77);
                g_assert_cmpuint(event.own.port, ==, 40000);
                g_assert(address_equal(event.peer.address, address_v4(0x7f000001)));
        }
        Sample s = sample(7, 2);
        s.raw.protocol = 132;
        g_assert(perf_record_parse(&f, (const guint8 *)&s, sizeof s, &event));
        g_assert_cmpint(event.kind, ==, PROCESS_OTHER);
}

/* Cut anywhere, or with lengths that lie. */
static void test_broken(void)
{
        SocketFormat f = format();
        ProcessEvent event;
        Sample s = sample(7, 2);
        for (gsize n = 0; n < sizeof s; n++) {
                g_autofree guint8 *copy = g_memdup2(&s, n);
                g_assert(!perf_record_parse(&f, copy, n, &event));
                if (n < sizeof s.header)
                        continue;
                ((struct perf_event_header *)(gpointer)copy)->size = (guint16)n;
                g_assert(!perf_record_parse(&f, copy, n, &event) ||
                         n >= sizeof s - sizeof s.padding);
        }
        s.size = G_MAXUINT32;
        g_assert(!perf_record_parse(&f, (const guint8 *)&s, sizeof s, &event));
        s.size = 70;
        g_assert(!perf_record_parse(&f, (const guint8 *)&s, sizeof s, &event));
        f.field[FIELD_PEER_ADDRESS].offset = 4090;
        s.size = sizeof s.raw;
        g_assert(!perf_record_parse(&f, (const guint8 *)&s, sizeof s, &event));
}

static void test_processes(void)
{
        struct {
                struct perf_event_header header;
                guint32 pid, tid;
                char comm[16];
                guint32 end_pid, end_tid;
                guint64 time;
        } comm = { { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof comm },
                   5,
                   5,
                   "0123456789abcdef",
                   5,
                   5,
                   99 };
        struct {
                struct perf_event_header header;
                guint32 pid, parent, tid, parent_tid;
                guint64 time;
        } fork = { { PERF_RECORD_FORK, 0, sizeof fork }, 6, 5, 6, 5, 98 };
        SocketFormat f = format();
        ProcessEvent event;
        g_assert(perf_record_parse(&f, (const guint8 *)&comm, sizeof comm, &event));
        g_assert(event.kind == PROCESS_EXEC && event.pid == 5 && event.time == 99);
        g_assert_cmpstr(event.comm, ==, "0123456789abcde");
        comm.header.misc = 0;
        g_assert(perf_record_parse(&f, (const guint8 *)&comm, sizeof comm, &event));
        g_assert(event.kind == PROCESS_NAMED);
        comm.tid = 8; /* a thread */
        g_assert(perf_record_parse(&f, (const guint8 *)&comm, sizeof comm, &event));
        g_assert(event.kind == PROCESS_OTHER);
        g_assert(perf_record_parse(&f, (const guint8 *)&fork, sizeof fork, &event));
        g_assert(event.kind == PROCESS_FORK && event.pid == 6 && event.parent == 5);
        fork.header.type = PERF_RECORD_EXIT;
        g_assert(perf_record_parse(&f, (const guint8 *)&fork, sizeof fork, &event));
        g_assert(event.kind == PROCESS_EXIT);
}

static void check_group(const char *cgroups, ProcessNaming naming, const char *expected)
{
        g_autofree char *name = process_group_name(cgroups, naming);
        g_assert_cmpstr(name, ==, expected);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_groups(void)
{
        check_group("0::/system.slice/web.service\n", NAMED_BY_UNIT, "web");
        check_group("0::/system.slice/web@1.service\n", NAMED_BY_UNIT, "web@1");
        check_group("0::/system.slice/web.service\n", NAMED_BY_CGROUP, "system.slice/web.service");
        check_group("0::/user.slice/user-0.slice/session-3.scope\n", NAMED_BY_UNIT, NULL);
        check_group("0::/init.scope\n", NAMED_BY_UNIT, NULL);
        check_group("0::/\n", NAMED_BY_CGROUP, NULL);
        check_group("0::/system.slice/docker-" ID ".scope\n", NAMED_BY_UNIT, "0123456789ab");
        check_group("12:memory:/docker/" ID "\n0::/\n", NAMED_BY_UNIT, "0123456789ab");
        check_group("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
                    "pod0a1b2c3d_1111_2222_3333_444455556666.slice/cri-containerd-" ID ".scope\n",
                    NAMED_BY_UNIT, "pod-0a1b2c3d");
        check_group("1:name=systemd:/kubepods/burstable/pod0a1b2c3d-1111-2222-3333-444455556666/" ID
                    "\n",
                    NAMED_BY_UNIT, "pod-0a1b2c3d");
        check_group("3:cpu:/a\n1:name=systemd:/b\n", NAMED_BY_CGROUP, "b");
        check_group("", NAMED_BY_UNIT, NULL);
        check_group("0::/tripod/x\n", NAMED_BY_UNIT, NULL);
}

static void test_proc_net(void)
{
        static const char four[] =
                "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 "
                "00000000     0        0 4711 1 0000000000000000 100 0 0 10 0";
        static const char six[] = "   1: 0000000000000000FFFF00000100007F:9C40 "
                                  "0000000000000000FFFF00000100007F:1F90 01 "
                                  "00000000:00000000 00:00000000 00000000     0        0 4712 1 "
                                  "0000000000000000 20 4 "
                                  "30 10 -1";
        ProcSocket s;
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
        g_assert(proc_socket_parse(four, strlen(four), &s));
        g_assert(s.listening && s.inode == 4711 && s.own.port == 8080);
        g_assert(address_equal(s.own.address, address_v4(0x7f000001)));
        g_assert(proc_socket_parse(six, strlen(six), &s));
        g_assert(!s.listening && s.inode == 4712 && s.own.port == 40000 && s.peer.port == 8080);
        g_assert(address_equal(s.peer.address, address_v4(0x7f000001)));
#endif
        for (gsize n = 0; n < 90; n++)
                g_assert(!proc_socket_parse(four, n, &s));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/perf-record/format", test_format);
        g_test_add_func("/perf-record/sample", test_sample);
        g_test_add_func("/perf-record/broken", test_broken);
        g_test_add_func("/perf-record/processes", test_processes);
        g_test_add_func("/process-table/groups", test_groups);
        g_test_add_func("/proc-sockets/line", test_proc_net);
        return g_test_run();
}
