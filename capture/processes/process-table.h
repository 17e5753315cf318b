/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The processes of this machine that have connections, and which node each is.
 *
 * A process that listens where a line of --nodes has a name is that node. Else, if that is asked
 * for, it is called by its systemd unit, container or pod, or by its cgroup. A cgroup that only
 * says that somebody has logged in does not count. Else it has its own name. Services that share
 * a name have numbers (service-names.h).
 *
 * A process that listens somewhere is one service with its forks. Other processes are one
 * service if they have one parent and one name, like programs that a script starts again and
 * again.
 *
 * What is not known of a process is read from /proc, of one that is gone taken from its parent.
 */
#pragma once

#include "capture/network/node-names.h"

typedef enum { NAMED_BY_COMM, NAMED_BY_UNIT, NAMED_BY_CGROUP } ProcessNaming;

typedef struct ProcessTable ProcessTable;

/* proc is "/proc"; everything is borrowed. */
ProcessTable *process_table_new(const char *proc, ProcessNaming naming, NodeNames *names,
                                NodeTable *nodes);
void process_table_free(ProcessTable *table);

/* What happens to processes. */
void process_table_fork(ProcessTable *table, guint32 pid, guint32 parent);
void process_table_rename(ProcessTable *table, guint32 pid, const char *comm, gboolean exec);
void process_table_exit(ProcessTable *table, guint32 pid);

/* The process listens at own, with all addresses meant by none at each of its own. What it
 * listens at is added to at, of Endpoint, where that is of use to name who is seen there. */
void process_table_listen(ProcessTable *table, guint32 pid, const Endpoint *own, GArray *at);

/* It will be asked for, with others: before the first is. */
void process_table_expect(ProcessTable *table, guint32 pid);

/* Which node the process is; NO_NODE: nothing is known about it any more. */
NodeId process_table_node(ProcessTable *table, guint32 pid);

/* Whether it is in the network that we are in. */
gboolean process_table_is_near(ProcessTable *table, guint32 pid);

/* What a cgroup is called, with a line of /proc/PID/cgroup for each: NULL: nothing of use. The
 * caller's to free. */
char *process_group_name(const char *cgroups, ProcessNaming naming);
