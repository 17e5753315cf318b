/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/source/link-watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct {
        struct nlmsghdr header;
        struct ifinfomsg link;
        guint8 attributes[5]; /* and three bytes of padding */
        guint8 padding[3];
} LinkMessage;

static LinkMessage link_message(guint type, int index, guint flags)
{
        LinkMessage m = { .header = { .nlmsg_len = sizeof m - sizeof m.padding,
                                      .nlmsg_type = (guint16)type },
                          .link = { .ifi_index = index, .ifi_flags = flags } };
        return m;
}

static void say(gpointer user, guint index, LinkState state)
{
        g_string_append_printf(user, "%u%c ", index, "+-x"[state]);
}

static void check(const void *message, gsize n, const char *expected)
{
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree void *copy = g_memdup2(message, n);
        link_watch_parse(copy, n, say, out);
        g_assert_cmpstr(out->str, ==, expected);
}

static void test_parse(void)
{
        LinkMessage m[] = { link_message(RTM_NEWLINK, 3, IFF_UP | IFF_RUNNING),
                            link_message(RTM_NEWLINK, 3, IFF_UP), /* no cable */
                            link_message(RTM_NEWLINK, 4, IFF_RUNNING),
                            link_message(RTM_NEWADDR, 4, 0), link_message(RTM_DELLINK, 5, 0) };
        check(m, sizeof m, "3+ 3- 4- 5x ");
        for (gsize n = 0; n < sizeof m; n++) { /* cut anywhere */
                g_autoptr(GString) out = g_string_new(NULL);
                g_autofree void *copy = g_memdup2(m, n);
                link_watch_parse(copy, n, say, out);
                g_assert_true(g_str_has_prefix("3+ 3- 4- 5x ", out->str));
        }
        m[0].link.ifi_family = AF_BRIDGE;
        check(m, sizeof *m, "");
        m[0].header.nlmsg_len = NLMSG_LENGTH(sizeof m->link) - 1; /* too short */
        check(m, sizeof *m, "");
        m[0].header.nlmsg_len = 0; /* or for ever */
        check(m, sizeof m, "");
        m[0].header.nlmsg_len = G_MAXUINT32;
        check(m, sizeof m, "");
}

static void test_read(void)
{
        g_autoptr(GString) out = g_string_new(NULL);
        int fd = link_watch_open();
        if (fd < 0) {
                g_test_skip("no netlink");
                return;
        }
        link_watch_read(fd, say, out); /* does not wait */
        close(fd);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-watch/parse", test_parse);
        g_test_add_func("/link-watch/read", test_read);
        return g_test_run();
}
