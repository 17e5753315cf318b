/* SPDX-License-Identifier: BSD-2-Clause
 *
 * gen-trace MESSAGES PARALLELISM [OPTION...]: a trace of the paper's multi-tier
 * system (Figure 10) for tests and benchmarks, on standard output.
 *
 *   client > WS1|WS2 ( AUTH ( DB1|DB2 ) AP1|AP2 ( DB1|DB2 ) )
 *
 * PARALLELISM, 1 or more, is the mean number of candidate parents of a call that has any. It is the
 * paper's measure, which ravel nesting prints. At 1 a request begins when the one before it has
 * ended.
 *   --seed N       another trace
 *   --clients N    requests come from N addresses in turn (default 1: "client")
 *   --four         stamps of both ends, 50 to 150 us apart
 *   --skew MS      with --four: the clock of WS2 is MS milliseconds ahead
 *   --repeat N     AUTH, AP1 and AP2 call their database N times at once (default 1;
 *                  with more, PARALLELISM is a little off)
 *   --path         each message says path=, the true position of its call
 *   --truth FILE   a line a call, in call order: id and the parent's id or "-"
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT, WS1, WS2, AUTH, AP1, AP2, DB1, DB2 };
/* Mean times, in ns: a service thinks before each call that it makes, and every node
 * before it replies. With those of its children, a request lasts 250 ms. */
#define THINK    50e6
#define REPLY    10e6
#define DB_LASTS REPLY
#define AP_LASTS (THINK + DB_LASTS + REPLY) /* and AUTH */
#define WS_LASTS (2 * (THINK + AP_LASTS) + REPLY)

static const char *const names[] = { "client", "WS1", "WS2", "AUTH", "AP1", "AP2", "DB1", "DB2" };

typedef struct {
        gint64 time;
        guint32 call, client;
        guint8 op, from, to;
} Event;

typedef struct {
        guint32 parent;
        guint32 position; /* among the children of its parent, or the requests; from 1 */
        guint32 children; /* so far */
} CallInfo;

static GArray *events, *calls;
static guint64 state;
static gint64 skew;
static gboolean four;
static guint32 client, repeat = 1, n_requests;

static double uniform(void)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (state >> 11) / 9007199254740992.0;
}

/* Gaussian with a deviation of a fifth of the mean, not below a twentieth. */
static gint64 delay(double mean)
{
        double u = MAX(uniform(), 1e-300), v = uniform();
        double x = mean * (1 + 0.2 * sqrt(-2 * log(u)) * cos(2 * G_PI * v));

        return MAX(x, mean / 20);
}

static void put(gint64 time, int op, int at, int from, int to, guint32 call)
{
        Event e = { time + (at == WS2 ? skew : 0), call, client, op, from, to };

        g_array_append_val(events, e);
}

/* A call at time t; returns when its return is back. */
static gint64 call(gint64 t, int from, int to, guint32 parent)
{
        CallInfo info = { parent, 0, 0 };
        guint32 id = calls->len;

        info.position = parent == G_MAXUINT32 ? ++n_requests
                                              : ++g_array_index(calls, CallInfo, parent).children;
        g_array_append_val(calls, info);
        put(t, 0, from, from, to, id);
        if (four) {
                t += delay(1e5);
                put(t, 1, to, from, to, id);
        }
        if (to == WS1 || to == WS2) {
                t = call(t + delay(THINK), to, AUTH, id);
                /* Drawn before the delay, whichever argument a compiler evaluates first. */
                int ap = uniform() < 0.5 ? AP1 : AP2;

                t = call(t + delay(THINK), to, ap, id);
        } else if (to < DB1) {
                int db = uniform() < 0.5 ? DB1 : DB2;
                gint64 next = t + delay(THINK);

                for (guint32 i = 0; i < repeat; i++) {
                        gint64 end = call(next, to, db, id);

                        t = MAX(t, end);
                        if (i + 1 < repeat)
                                next += delay(REPLY / 10);
                }
        }
        t += delay(REPLY);
        put(t, 2, to, to, from, id);
        if (four) {
                t += delay(1e5);
                put(t, 3, from, to, from, id);
        }
        return t;
}

/* The rate of requests, per second, that gives a call this mean number of candidate parents. These
 * are the true one, and calls into its caller that are under way all the time that the call is. If
 * these come at random at a rate r and last P, and the call lasts C, there are r * (P - C) in the
 * mean. A request makes four calls with parents. WS1 or WS2 calls AUTH and an application server,
 * at half the rate of requests each. AUTH, at the whole rate, and AP1 or AP2, at half, call a
 * database. */
static double rate_for(double parallelism)
{
        double others = (0.5 * (WS_LASTS - AP_LASTS) + 0.5 * (WS_LASTS - AP_LASTS) +
                         1.0 * (AP_LASTS - DB_LASTS) + 0.5 * (AP_LASTS - DB_LASTS)) /
                        4;

        return (parallelism - 1) / others;
}

static void put_path(GString *path, guint32 call)
{
        const CallInfo *c = &g_array_index(calls, CallInfo, call);

        if (c->parent == G_MAXUINT32) {
                g_string_printf(path, "%u", c->position);
        } else {
                put_path(path, c->parent);
                g_string_append_printf(path, ".%u", c->position);
        }
}

static int by_time(gconstpointer a, gconstpointer b)
{
        gint64 x = ((const Event *)a)->time, y = ((const Event *)b)->time;

        return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
        static const char *const ops[] = { "CALL_SENT", "CALL_RECV", "RET_SENT", "RET_RECV" };
        guint64 messages, n_clients = 1, seed = 1, requests, next = 0;
        g_autofree guint64 *number = NULL;
        const char *truth = NULL;
        double parallelism, rate;
        gboolean paths = FALSE;
        g_autoptr(GString) path = g_string_new(NULL);
        FILE *f;

        if (argc < 3)
                return 2;
        messages = g_ascii_strtoull(argv[1], NULL, 10);
        parallelism = g_ascii_strtod(argv[2], NULL);
        for (int i = 3; i < argc; i++) {
                if (!strcmp(argv[i], "--four")) {
                        four = TRUE;
                        continue;
                }
                if (!strcmp(argv[i], "--path")) {
                        paths = TRUE;
                        continue;
                }
                if (i + 1 == argc)
                        return 2;
                if (!strcmp(argv[i], "--seed"))
                        seed = g_ascii_strtoull(argv[++i], NULL, 10);
                else if (!strcmp(argv[i], "--clients"))
                        n_clients = g_ascii_strtoull(argv[++i], NULL, 10);
                else if (!strcmp(argv[i], "--skew"))
                        skew = g_ascii_strtoll(argv[++i], NULL, 10) * 1000000;
                else if (!strcmp(argv[i], "--repeat"))
                        repeat = g_ascii_strtoull(argv[++i], NULL, 10);
                else if (!strcmp(argv[i], "--truth"))
                        truth = argv[++i];
                else
                        return 2;
        }
        if (!(parallelism >= 1) || repeat < 1)
                return 2;
        state = seed * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + 1;
        events = g_array_new(FALSE, FALSE, sizeof(Event));
        calls = g_array_new(FALSE, FALSE, sizeof(CallInfo));

        requests = MAX(messages / ((four ? 4 : 2) * (3 + 2 * repeat)), 1);
        rate = rate_for(parallelism);
        for (guint64 i = 0; i < requests; i++) {
                int ws = uniform() < 0.5 ? WS1 : WS2;

                client = i % n_clients;
                call(rate > 0 ? uniform() * requests / rate : i * 2 * WS_LASTS, CLIENT, ws,
                     G_MAXUINT32);
        }
        g_array_sort(events, by_time);

        /* Ids in the order of the calls, as a sniffer would give them. */
        number = g_new0(guint64, calls->len);
        puts("# ravel trace 1");
        for (guint i = 0; i < events->len; i++) {
                Event *e = &g_array_index(events, Event, i);
                gint64 t = e->time + G_GINT64_CONSTANT(1047680084000000000);
                char address[32];

                if (!number[e->call])
                        number[e->call] = ++next;
                g_snprintf(address, sizeof address, "10.%u.%u.%u", e->client >> 16,
                           e->client >> 8 & 255, e->client & 255);
                printf("%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT
                       "\t%s\t%s\t%s\tid%" G_GUINT64_FORMAT,
                       t / 1000000000, t % 1000000000, ops[e->op],
                       e->from == CLIENT && n_clients > 1 ? address : names[e->from],
                       e->to == CLIENT && n_clients > 1 ? address : names[e->to], number[e->call]);
                if (paths) {
                        put_path(path, e->call);
                        printf("\tpath=%s", path->str);
                }
                putchar('\n');
        }
        if (truth) {
                if (!(f = fopen(truth, "w"))) {
                        perror(truth);
                        return 3;
                }
                for (guint i = 0; i < calls->len; i++) {
                        guint32 parent = g_array_index(calls, CallInfo, i).parent;

                        if (parent == G_MAXUINT32)
                                fprintf(f, "id%" G_GUINT64_FORMAT "\t-\n", number[i]);
                        else
                                fprintf(f, "id%" G_GUINT64_FORMAT "\tid%" G_GUINT64_FORMAT "\n",
                                        number[i], number[parent]);
                }
                if (ferror(f) | fclose(f)) {
                        perror(truth);
                        return 4;
                }
        }
        if (fflush(stdout) || ferror(stdout)) {
                perror("standard output");
                return 4;
        }
        return 0;
}
