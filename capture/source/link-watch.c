/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/link-watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE = 32768 }; /* more than the kernel sends at once */

int link_watch_open(void)
{
        struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
        int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
        if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
                close(fd);
                return -1;
        }
        return fd;
}

void link_watch_parse(const void *message, gsize n, LinkSeen seen, gpointer user)
{
        const guint8 *at = message;
        struct nlmsghdr header;
        struct ifinfomsg link;
        for (gsize length; n >= sizeof header; at += length, n -= length) {
                memcpy(&header, at, sizeof header);
                if (header.nlmsg_len < sizeof header || header.nlmsg_len > n)
                        return;
                length = MIN(NLMSG_ALIGN((gsize)header.nlmsg_len), n);
                if ((header.nlmsg_type != RTM_NEWLINK && header.nlmsg_type != RTM_DELLINK) ||
                    header.nlmsg_len < NLMSG_LENGTH(sizeof link))
                        continue;
                memcpy(&link, at + NLMSG_HDRLEN, sizeof link);
                if (link.ifi_family != AF_UNSPEC) /* of a bridge: it has left that */
                        continue;
                seen(user, (guint)link.ifi_index,
                     header.nlmsg_type == RTM_DELLINK                              ? LINK_GONE
                     : (link.ifi_flags & IFF_UP) && (link.ifi_flags & IFF_RUNNING) ? LINK_UP
                                                                                   : LINK_DOWN);
        }
}

void link_watch_read(int fd, LinkSeen seen, gpointer user)
{
        guint8 message[MESSAGE];
        struct sockaddr_nl from;
        for (;;) {
                socklen_t size = sizeof from;
                gssize n = recvfrom(fd, message, sizeof message, MSG_DONTWAIT,
                                    (struct sockaddr *)&from, &size);
                if (n < 0)
                        return; /* also if the kernel could not keep all messages */
                if (size >= sizeof from && from.nl_pid == 0) /* the kernel's own */
                        link_watch_parse(message, (gsize)n, seen, user);
        }
}
