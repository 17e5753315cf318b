/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What processes are called, by a /proc that the test makes.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/processes/process-table.h"

typedef struct {
        char *proc;
        NodeTable *nodes;
        NodeNames *names;
        ProcessTable *table;
} Fixture;

static void remove_all(const char *path)
{
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;
        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *inside = g_build_filename(path, name, NULL);
                remove_all(inside);
        }
        g_remove(path);
}

static void put(const Fixture *f, const char *who, const char *name, const char *text)
{
        g_autofree char *path = g_build_filename(f->proc, who, name, NULL);
        g_autofree char *folder = g_path_get_dirname(path);
        g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
        g_assert(g_file_set_contents(path, text, -1, NULL));
}

static void add_process(const Fixture *f, guint32 pid, guint32 parent, const char *comm,
                        const char *cgroup)
{
        g_autofree char *who = g_strdup_printf("%u", pid);
        g_autofree char *stat = g_strdup_printf("%u (%s) S %u 1 1", pid, comm, parent);
        put(f, who, "stat", stat);
        put(f, who, "cgroup", cgroup);
        /* Of one network all have the same file. */
        g_autofree char *from = g_build_filename(f->proc, "self", "net", "tcp", NULL);
        g_autofree char *folder = g_build_filename(f->proc, who, "net", NULL);
        g_autofree char *to = g_build_filename(folder, "tcp", NULL);
        g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
        g_assert_cmpint(link(from, to), ==, 0);
}

static Fixture fixture_new(ProcessNaming naming, const char *lines)
{
        Fixture f = { g_dir_make_tmp("ravel-proc.XXXXXX", NULL), node_table_new(), NULL, NULL };
        f.names = node_names_new(f.nodes);
        g_assert(node_names_parse(f.names, lines, strlen(lines), "lines", NULL));
        put(&f, "self", "net/tcp", "");
        put(&f, "self", "net/fib_trie", "  |-- 127.0.0.1\n   /32 host LOCAL\n");
        f.table = process_table_new(f.proc, naming, f.names, f.nodes);
        return f;
}

static void fixture_free(Fixture *f)
{
        process_table_free(f->table);
        node_names_free(f->names);
        node_table_free(f->nodes);
        remove_all(f->proc);
        g_free(f->proc);
}

static void check(Fixture *f, guint32 pid, const char *expected)
{
        NodeId node = process_table_node(f->table, pid);
        g_assert_cmpstr(node == NO_NODE ? NULL : node_table_name(f->nodes, node), ==, expected);
}

static void listen_at(Fixture *f, guint32 pid, guint16 port)
{
        g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(Endpoint));
        Endpoint own = { address_v4(0x7f000001), port };
        process_table_listen(f->table, pid, &own, ends);
        g_assert_cmpuint(ends->len, ==, 1);
}

static void test_comm(void)
{
        Fixture f = fixture_new(NAMED_BY_COMM, "127.0.0.1:8080 front\n");
        const char *none = "0::/x.service\n";
        add_process(&f, 10, 1, "node", none); /* of a line */
        add_process(&f, 11, 1, "node", none);
        add_process(&f, 12, 1, "node", none);
        add_process(&f, 20, 1, "nginx", none); /* and its workers */
        add_process(&f, 21, 20, "nginx", none);
        add_process(&f, 22, 20, "nginx", none);
        add_process(&f, 30, 5, "curl", none); /* of one script, */
        add_process(&f, 31, 5, "curl", none);
        add_process(&f, 32, 6, "curl", none); /* and of another */
        add_process(&f, 40, 1, "a (b) #c", none);
        listen_at(&f, 10, 8080);
        listen_at(&f, 11, 8081);
        listen_at(&f, 12, 8082);
        listen_at(&f, 20, 80);
        for (guint32 pid = 10; pid <= 12; pid++)
                process_table_expect(f.table, pid);
        check(&f, 10, "front");
        check(&f, 12, "node-8082");
        check(&f, 11, "node-8081");
        check(&f, 21, "nginx");
        check(&f, 20, "nginx");
        check(&f, 22, "nginx");
        check(&f, 30, "curl");
        check(&f, 31, "curl");
        check(&f, 32, "curl-2");
        check(&f, 40, "a_(b)__c");
        check(&f, 99, NULL); /* nobody knows it */
        fixture_free(&f);
}

/* What the kernel says of processes that are gone when they are looked at. */
static void test_gone(void)
{
        Fixture f = fixture_new(NAMED_BY_UNIT, "");
        add_process(&f, 10, 1, "sh", "0::/system.slice/job.service\n");
        process_table_fork(f.table, 50, 10);
        check(&f, 50, "job");
        process_table_fork(f.table, 51, 10);
        process_table_rename(f.table, 51, "curl", TRUE);
        check(&f, 51, "job");
        process_table_exit(f.table, 51);
        check(&f, 51, NULL);
        process_table_fork(f.table, 52, 99);
        process_table_rename(f.table, 52, "wget", TRUE);
        check(&f, 52, "wget");
        g_assert(process_table_is_near(f.table, 10));
        fixture_free(&f);
}

/* A process that calls before it listens stays who it is, unless others are called so. */
static void test_later(void)
{
        Fixture f = fixture_new(NAMED_BY_COMM, "");
        add_process(&f, 10, 5, "node", "");
        check(&f, 10, "node");
        listen_at(&f, 10, 8080);
        check(&f, 10, "node");
        add_process(&f, 11, 6, "java", "");
        add_process(&f, 12, 6, "java", "");
        check(&f, 11, "java");
        check(&f, 12, "java");
        listen_at(&f, 12, 8082);
        check(&f, 12, "java-8082");
        check(&f, 11, "java");
        fixture_free(&f);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/process-table/comm", test_comm);
        g_test_add_func("/process-table/gone", test_gone);
        g_test_add_func("/process-table/later", test_later);
        return g_test_run();
}
