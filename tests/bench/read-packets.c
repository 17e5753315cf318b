/* SPDX-License-Identifier: BSD-2-Clause
 *
 * read-packets FILE: the least that a program can do with a capture: a loop of
 * pcap_next_ex() that counts packets and their bytes. What ravel capture is measured
 * against.
 */
#include <pcap/pcap.h>
#include <stdio.h>

int main(int argc, char **argv)
{
        char text[PCAP_ERRBUF_SIZE];
        unsigned long long packets = 0, bytes = 0;
        struct pcap_pkthdr *header;
        const u_char *data;
        pcap_t *pcap;
        int result;

        if (argc != 2)
                return 2;
        if (!(pcap = pcap_open_offline(argv[1], text))) {
                fprintf(stderr, "%s\n", text);
                return 3;
        }
        while ((result = pcap_next_ex(pcap, &header, &data)) == 1) {
                packets++;
                bytes += header->caplen;
        }
        if (result != PCAP_ERROR_BREAK)
                fprintf(stderr, "%s\n", pcap_geterr(pcap));
        pcap_close(pcap);
        printf("%llu packets, %llu bytes\n", packets, bytes);
        return result == PCAP_ERROR_BREAK ? 0 : 3;
}
