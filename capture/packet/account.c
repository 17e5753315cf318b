/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/packet/account.h"

#include <string.h>

const char *account_key(AccountEntry entry)
{
        static const char *const keys[] = {
#define X(name, key) key,
                ACCOUNT_ENTRIES(X)
#undef X
        };
        g_assert(entry < N_ACCOUNT);
        return keys[entry];
}

void account_add_unopened(Account *account, guint32 what)
{
        UnopenedCount *u = account->unopened, *end = u + MAX_UNOPENED;
        while (u < end && u->n > 0 && u->what != what)
                u++;
        if (u < end) {
                u->what = what;
                u->n++;
        }
}

/* "3 calls", "1 call": many where n is not 1. */
static void account_append_count(GString *text, guint64 n, const char *one, const char *many)
{
        g_string_append_printf(text, "%" G_GUINT64_FORMAT " %s", n, n == 1 ? one : many);
}

/* The same after a comma; nothing where there are none. */
static void append_any(GString *text, guint64 n, const char *one, const char *many)
{
        if (n == 0)
                return;
        g_string_append(text, ", ");
        account_append_count(text, n, one, many);
}

char *account_summary(const Account *account)
{
        const guint64 *n = account->count;
        GString *text = g_string_new(NULL);
        guint64 unused = n[ACCOUNT_BAD_TIME] + n[ACCOUNT_NOT_IP] + n[ACCOUNT_BAD_LINK] +
                         n[ACCOUNT_BAD_IP] + n[ACCOUNT_BAD_TRANSPORT] + n[ACCOUNT_NOT_TRANSPORT] +
                         n[ACCOUNT_GROUP] + n[ACCOUNT_TOO_DEEP] + n[ACCOUNT_FRAGMENTS_LOST];
        account_append_count(text, n[ACCOUNT_PACKETS], "packet", "packets");
        g_string_append(text, ", ");
        account_append_count(text, n[ACCOUNT_CONNECTIONS], "connection", "connections");
        g_string_append(text, ": ");
        account_append_count(text, n[ACCOUNT_CALLS], "call", "calls");
        g_string_append(text, ", ");
        account_append_count(text, n[ACCOUNT_RETURNS], "return", "returns");
        g_string_append(text, ", ");
        account_append_count(text, n[ACCOUNT_ONE_WAY], "one-way message", "one-way messages");
        append_any(text, n[ACCOUNT_UNANSWERED], "call without return", "calls without return");
        append_any(text, n[ACCOUNT_RETURN_WITHOUT_CALL], "return whose call was not seen",
                   "returns whose call was not seen");
        append_any(text, n[ACCOUNT_ROLE_BY_PORTS],
                   "connection whose server is known by the port numbers",
                   "connections whose server is known by the port numbers");
        append_any(text, n[ACCOUNT_UNPARSED], "piece not understood", "pieces not understood");
        append_any(text, n[ACCOUNT_HOLES], "hole", "holes");
        append_any(text, unused, "packet not used", "packets not used");
        append_any(text, n[ACCOUNT_DROPPED_KERNEL], "dropped by the kernel",
                   "dropped by the kernel");
        append_any(text, n[ACCOUNT_DROPPED_INTERFACE], "dropped by the interface",
                   "dropped by the interface");
        return g_string_free(text, FALSE);
}

Fitness account_fitness(const guint64 *n, const Account *account)
{
        return (Fitness){ .calls = n[ACCOUNT_CALLS],
                          .returns = n[ACCOUNT_RETURNS] + n[ACCOUNT_ENDED],
                          .one_way = n[ACCOUNT_ONE_WAY],
                          .packets = n[ACCOUNT_PACKETS],
                          .lost = n[ACCOUNT_DROPPED_KERNEL] + n[ACCOUNT_DROPPED_INTERFACE] +
                                  n[ACCOUNT_HOLES],
                          .one_sided = account->tcp_one_sided > 0 && account->tcp_two_sided == 0 };
}

/* Suggests options for the three ports with the most unclear messages: " --proto 5432=generic
 * ...". */
static char *suggest_ports(const Account *account)
{
        GString *text = g_string_new(NULL);
        guint32 below = G_MAXUINT32;
        guint last = 0;
        for (guint shown = 0; shown < 3; shown++) {
                guint best = 0;
                for (guint port = 1; port < 65536; port++) {
                        guint32 n = account->unclear_port[port];
                        if ((n < below || (n == below && port > last)) &&
                            n > account->unclear_port[best])
                                best = port;
                }
                if (account->unclear_port[best] == 0)
                        break;
                below = account->unclear_port[last = best];
                g_string_append_printf(text, " --proto %u=generic", best);
        }
        return g_string_free(text, FALSE);
}

static void judge_roles(const Account *account, GPtrArray *lines)
{
        const guint64 *n = account->count;
        if (n[ACCOUNT_ROLE_UNKNOWN] * 20 < n[ACCOUNT_CALLS] + n[ACCOUNT_ONE_WAY])
                return;
        g_autofree char *ports = suggest_ports(account);
        g_ptr_array_add(lines, g_strdup_printf("%" G_GUINT64_FORMAT
                                               " messages are one-way because their connections "
                                               "were open before the capture and it is not known "
                                               "who calls: say which ports serve, for instance "
                                               "with%s",
                                               n[ACCOUNT_ROLE_UNKNOWN], ports));
}

static void judge_names(const Account *account, GPtrArray *lines)
{
        GString *text;
        if (account->count[ACCOUNT_NOT_AS_SAID] == 0)
                return;
        text = g_string_new(NULL);
        account_append_count(text, account->count[ACCOUNT_NOT_AS_SAID], "connection does",
                             "connections do");
        g_string_append(text, " not speak what --proto says: runs of bytes are messages there");
        g_ptr_array_add(lines, g_string_free(text, FALSE));
}

static void judge_doubt(const Account *account, GPtrArray *lines)
{
        guint64 doubted = account->count[ACCOUNT_ROLE_DOUBTED];
        if (doubted)
                g_ptr_array_add(lines, g_strdup_printf("%" G_GUINT64_FORMAT
                                                       " connections were open before the capture "
                                                       "and were taken to be called from the end "
                                                       "with the higher port, which has accepted "
                                                       "others since: say with --proto "
                                                       "PORT=generic which ports serve",
                                                       doubted));
}

static void judge_callers(const Account *account, GPtrArray *lines)
{
        const guint64 *n = account->count;
        if (n[ACCOUNT_CALLER_UNKNOWN])
                g_ptr_array_add(
                        lines,
                        g_strdup_printf("the processes that opened %" G_GUINT64_FORMAT
                                        " of %" G_GUINT64_FORMAT
                                        " connections of an address with itself were missed",
                                        n[ACCOUNT_CALLER_UNKNOWN],
                                        n[ACCOUNT_CALLER_UNKNOWN] + n[ACCOUNT_CALLER_BY_PROCESS]));
}

static void judge_cut(const Account *account, GPtrArray *lines)
{
        const guint64 *n = account->count;
        if (n[ACCOUNT_CUT_UNSEEN] * 10 > n[ACCOUNT_CALLS])
                g_ptr_array_add(lines,
                                g_strdup_printf("of %" G_GUINT64_FORMAT
                                                " calls no byte was captured: what is known of "
                                                "them is when who talked, and a login or a "
                                                "command of a mail looks like a call; capture at "
                                                "least 128 bytes of each packet (-s 128)",
                                                n[ACCOUNT_CUT_UNSEEN]));
}

/* What a header is, for a user. Newly allocated. */
static char *unopened_name(guint32 what)
{
        static const struct {
                guint32 what;
                const char *name;
        } names[] = {
                { UNOPENED_ETHERTYPE | 0x0806, "ARP" },
                { UNOPENED_ETHERTYPE | 0x8863, "PPPoE discovery" },
                { UNOPENED_ETHERTYPE | 0x888e, "EAPOL" },
                { UNOPENED_ETHERTYPE | 0x88cc, "LLDP" },
                { UNOPENED_ETHERTYPE | 0x88e5, "MACsec with encryption" },
                { UNOPENED_ETHERTYPE | 0x88f7, "PTP" },
                { UNOPENED_ETHERTYPE | 0x8906, "FCoE" },
                { UNOPENED_ETHERTYPE | 0x8915, "RoCE" },
                { UNOPENED_PPP | 0x00fd, "compressed or encrypted" },
                { UNOPENED_IP_PROTOCOL | 1, "ICMP" },
                { UNOPENED_IP_PROTOCOL | 50, "ESP of IPsec" },
                { UNOPENED_IP_PROTOCOL | 58, "ICMPv6" },
                { UNOPENED_IP_PROTOCOL | 89, "OSPF" },
                { UNOPENED_IP_PROTOCOL | 132, "SCTP" },
                { UNOPENED_UDP_PORT | 1194, "OpenVPN" },
                { UNOPENED_UDP_PORT | 4500, "IPsec" },
                { UNOPENED_UDP_PORT | 51820, "WireGuard" },
        };
        GString *text = g_string_new(NULL);
        guint number = what & 0xffff;
        switch (what - number) {
        case UNOPENED_ETHERTYPE:
                if (number < 0x600)
                        g_string_append(text, "IEEE 802.2 without SNAP");
                else
                        g_string_append_printf(text, "EtherType 0x%04x", number);
                break;
        case UNOPENED_PPP:
                g_string_append_printf(text, "PPP protocol 0x%04x", number);
                break;
        case UNOPENED_ENCRYPTED_802_11:
                g_string_append(text, "802.11 with encryption");
                break;
        case UNOPENED_IP_PROTOCOL:
                g_string_append_printf(text, "IP protocol %u", number);
                break;
        case UNOPENED_UDP_PORT:
                g_string_append_printf(text, "UDP port %u", number);
                break;
        default:
                g_string_append_printf(text, "link type %u, without IP", number);
        }
        for (guint i = 0; i < G_N_ELEMENTS(names); i++)
                if (names[i].what == what)
                        g_string_append_printf(text, ", %s", names[i].name);
        return g_string_free(text, FALSE);
}

/* What hides the calls where most packets end at one header: "9 of 10 packets are of ...". NULL:
 * nothing does. Newly allocated. */
static char *find_hidden(const Account *account)
{
        UnopenedCount most = { 0, 0 };
        for (guint i = 0; i < MAX_UNOPENED; i++)
                if (account->unopened[i].n > most.n)
                        most = account->unopened[i];
        for (guint port = 1024; port < 65536; port++) /* no tunnel has one of the system's */
                if (account->udp_port[port] > most.n)
                        most = (UnopenedCount){ UNOPENED_UDP_PORT | port, account->udp_port[port] };
        if (most.n == 0 || most.n * 2 <= account->count[ACCOUNT_PACKETS])
                return NULL;
        g_autofree char *name = unopened_name(most.what);
        GString *text = g_string_new(NULL);
        g_string_append_printf(text,
                               "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " packets are of %s",
                               most.n, account->count[ACCOUNT_PACKETS], name);
        if (most.what >= UNOPENED_UDP_PORT && !strchr(name, ','))
                g_string_append_printf(text,
                                       ": if they are a tunnel's, say of which kind with "
                                       "--tunnel %u=KIND",
                                       most.what & 0xffff);
        return g_string_free(text, FALSE);
}

static void judge_calls(const Account *account, GPtrArray *lines)
{
        g_autofree char *hidden = account->count[ACCOUNT_CALLS] ? NULL : find_hidden(account);
        const guint64 *n = account->count;
        if (n[ACCOUNT_TOO_LATE])
                g_ptr_array_add(lines, g_strdup_printf("%" G_GUINT64_FORMAT
                                                       " packets came too late in a pipe to be "
                                                       "sorted: read the file itself",
                                                       n[ACCOUNT_TOO_LATE]));
        else if (account->tcp_one_sided > 0 && account->tcp_two_sided == 0)
                g_ptr_array_add(lines, g_strdup("only one direction of every connection was seen: "
                                                "capture where both pass (mirror both directions, "
                                                "or capture on the hosts themselves)"));
        else if (n[ACCOUNT_CALLS] == 0)
                g_ptr_array_add(lines,
                                g_strdup_printf("no call was found%s: %s",
                                                n[ACCOUNT_ONE_WAY]
                                                        ? ", only one-way messages, and nesting "
                                                          "needs calls"
                                                        : "",
                                                hidden ? hidden
                                                       : "check the interface, the filter, and "
                                                         "that requests were made while "
                                                         "capturing"));
        else if (n[ACCOUNT_RETURNS] == 0)
                g_ptr_array_add(lines, g_strdup("no call has a return: check that the packets that "
                                                "answer pass here too, and that the filter lets "
                                                "them through"));
}

static void judge_quic(const Account *account, GPtrArray *lines)
{
        const guint64 *n = account->count;
        guint64 hidden = n[ACCOUNT_QUIC_NO_KEYS] + n[ACCOUNT_QUIC_NO_HANDSHAKE];
        if (hidden > 0)
                g_ptr_array_add(lines,
                                g_strdup_printf("QUIC without keys: %" G_GUINT64_FORMAT
                                                " connection%s, whose requests are unseen: capture "
                                                "from before they are opened, with --tls-keys, or "
                                                "turn HTTP/3 off",
                                                hidden, hidden == 1 ? "" : "s"));
}

static void judge_memory(const Account *account, GPtrArray *lines)
{
        static const struct {
                AccountEntry entry;
                const char *name;
        } kinds[] = { { ACCOUNT_EVICTED, "connections" },
                      { ACCOUNT_EVICTED_HALF_OPEN, "half-open connections" },
                      { ACCOUNT_FORGOTTEN_NAMES, "operations" },
                      { ACCOUNT_FORGOTTEN_LINKS, "links" },
                      { ACCOUNT_FORGOTTEN_KEYS, "keys of TLS connections" } };
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (account->count[kinds[i].entry] > 0)
                        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT " %s",
                                               text->len ? ", " : "",
                                               account->count[kinds[i].entry], kinds[i].name);
        if (text->len) {
                g_string_append(text, " were forgotten, the oldest first: --memory bounds them");
                g_ptr_array_add(lines, g_string_free(text, FALSE));
        } else {
                g_string_free(text, TRUE);
        }
}

char **account_judge(const Account *account)
{
        const guint64 *n = account->count;
        GPtrArray *lines = g_ptr_array_new();
        if (n[ACCOUNT_PACKETS] > 0)
                judge_calls(account, lines);
        if (n[ACCOUNT_ROLE_UNKNOWN] > 0)
                judge_roles(account, lines);
        judge_names(account, lines);
        judge_doubt(account, lines);
        judge_cut(account, lines);
        judge_callers(account, lines);
        judge_quic(account, lines);
        judge_memory(account, lines);
        if (account->to_itself > 0 && account->to_others == 0 && !account->to_named)
                g_ptr_array_add(lines, g_strdup("everything talks to itself on one address: name "
                                                "the services by port with --nodes (lines such as "
                                                "\"127.0.0.1:8080 web\")"));
        if (n[ACCOUNT_DROPPED_KERNEL] > n[ACCOUNT_PACKETS] / 100)
                g_ptr_array_add(lines, g_strdup("the kernel dropped more than one packet in a "
                                                "hundred: use a larger buffer (-B) or a narrower "
                                                "filter (-f)"));
        if (n[ACCOUNT_REPEATED] > n[ACCOUNT_PACKETS] / 20)
                g_ptr_array_add(
                        lines,
                        g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                        " packets repeat what was seen, and are left out: the "
                                        "network loses packets, or the capture has them twice",
                                        n[ACCOUNT_REPEATED], n[ACCOUNT_PACKETS]));
        g_ptr_array_add(lines, NULL);
        return (char **)g_ptr_array_free(lines, FALSE);
}
