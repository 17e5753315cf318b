/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is counted of interfaces: none of their packets is lost without being told.
 */
#include "capture/source/pcap-source.h"

static void test_counts(void)
{
        PcapCounts counts = { 0 };
        /* Ten packets were not read yet: they will be, or never. */
        InterfaceCounts interface = { .received = 100,
                                      .dropped_by_kernel = 30,
                                      .dropped_by_interface = 7 };

        pcap_counts_add(&counts, &interface, 60, FALSE);
        g_assert_cmpuint(counts.received, ==, 100);
        g_assert_cmpuint(counts.dropped_by_kernel, ==, 30);
        g_assert_cmpuint(counts.dropped_by_interface, ==, 7);
        pcap_counts_add(&counts, &interface, 60, TRUE);
        g_assert_cmpuint(counts.received, ==, 200);
        g_assert_cmpuint(counts.dropped_by_kernel, ==, 70);
        g_assert_cmpuint(counts.dropped_by_interface, ==, 14);
}

/* All were read; and a kernel that does not count those it drops among the received. */
static void test_nothing_left(void)
{
        PcapCounts counts = { 0 };
        InterfaceCounts interface = { .received = 100, .dropped_by_kernel = 30 };

        pcap_counts_add(&counts, &interface, 70, TRUE);
        pcap_counts_add(&counts, &interface, 100, TRUE);
        g_assert_cmpuint(counts.dropped_by_kernel, ==, 60);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/pcap-source/counts", test_counts);
        g_test_add_func("/pcap-source/nothing-left", test_nothing_left);
        return g_test_run();
}
