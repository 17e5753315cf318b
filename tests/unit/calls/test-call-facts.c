/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-facts.h"

#include <string.h>

static void add(CallFacts *f, guint64 call, MessageOp op, const char *attrs)
{
        Message m = { .op = op, .attrs = attrs, .attrs_length = (guint32)strlen(attrs) };
        Attributes space;

        call_facts_add(f, call, op, attributes_of(&m, &space), TRUE);
}

static void expect(const CallFacts *f, guint32 call, CallFact expected)
{
        CallFact found = call_facts_get(f, call);

        g_assert_cmpint(found.call_bytes, ==, expected.call_bytes);
        g_assert_cmpint(found.ret_bytes, ==, expected.ret_bytes);
        g_assert_cmpint(found.wait, ==, expected.wait);
        g_assert_cmpuint(found.workers, ==, expected.workers);
        g_assert_cmpuint(found.outcome, ==, expected.outcome);
}

static CallDelays delays_of(const CallFacts *f, guint32 call)
{
        CallFact fact = call_facts_get(f, call);
        const CallDelays *delays = call_facts_delays(f, &fact);

        return delays ? *delays : (CallDelays){ .opened = -1 };
}

/* Each fact is of the message that may have it, and of numbers. */
static void test_attributes(void)
{
        CallFacts f = { 0 };
        Message m = { .op = CALL_SENT, .attrs = "bytes=9 syn=8", .attrs_length = 13 };
        Attributes space;
        CallDelays d;

        add(&f, 1, CALL_SENT,
            "bytes=10 syn=20 tcp=9 tls=8 login=7 stall=30 shut=5 label=x resent=6");
        add(&f, 1, CALL_RECV, "dur=4000000 syn=3 stall=29");
        add(&f, 1, RET_SENT, "bytes=11\tsyn=21 stall=31 dur=999999 ack=17 resent=55 again=66");
        add(&f, 1, RET_RECV, "dur=3000000 stall=32 way=1000000");
        expect(&f, 0, (CallFact){ 0 });
        expect(&f, 1, (CallFact){ .call_bytes = 10, .ret_bytes = 11 });
        d = delays_of(&f, 1);
        g_assert_cmpint(d.opened, ==, 20);
        g_assert_cmpint(d.tcp * 10000 + d.tls * 1000 + d.login * 100 + d.syn_again, ==, 98706);
        g_assert_cmpint(d.call.stall * 100 + d.call.shut, ==, 3005);
        g_assert_cmpint(d.call.span[AT_SENDER] + d.call.span[AT_RECEIVER], ==, 4000000);
        g_assert_cmpint(d.call.again * 100 + d.ret.again, ==, 5566);
        g_assert_cmpint(d.ret.span[AT_SENDER] + d.ret.span[AT_RECEIVER], ==, 3000000);
        g_assert_cmpint(d.ret.pause, ==, 2000000);
        add(&f, 1, RET_RECV, "dur=3000000 way=999999"); /* is nothing */
        g_assert_cmpint(delays_of(&f, 1).ret.pause, ==, 3000000);
        g_assert_cmpint(d.ret.stall * 100 + d.ret.ack, ==, 3217);
        add(&f, 4, CALL_SENT, "bytes=x syn= stall=-1 bytes again= xbytes=5");
        expect(&f, 4, (CallFact){ 0 });
        call_facts_add(&f, 5, CALL_SENT, attributes_of(&m, &space), FALSE);
        g_assert_cmpint(delays_of(&f, 5).opened, ==, 8);
        g_assert_cmpint(delays_of(&f, 3).opened, ==, -1);
        add(&f, 6, RET_SENT, "st=503");
        add(&f, 6, RET_RECV, "st=404 st=<b>");
        add(&f, 6, RET_RECV, "st=PASSWORD1");
        expect(&f, 6, (CallFact){ .outcome = outcome_http(404) });
        add(&f, 6, RET_SENT, "end=closed");
        g_assert_cmpuint(call_facts_get(&f, 6).unanswered, ==, UNANSWERED);
        add(&f, G_MAXUINT32, CALL_SENT, "syn=1");
        g_assert_cmpuint(f.column.n, ==, 7);
        call_facts_clear(&f);
}

/* Delays of calls that were forgotten leave their place to others. */
static void test_drop(void)
{
        CallFacts f = { 0 };

        for (guint32 i = 0; i < 1000; i++) {
                add(&f, 3, CALL_SENT, "stall=5");
                add(&f, 5, CALL_SENT, "syn=7");
                call_facts_drop(&f, 4);
                g_assert_cmpint(delays_of(&f, 1).opened, ==, 7);
                g_assert_cmpint(delays_of(&f, 1).call.stall, ==, 0);
        }
        g_assert_cmpuint(f.delays->len, <=, 4);
        call_facts_clear(&f);
}

/* What was found first stays; calls become others, and the first are forgotten. */
static void test_calls(void)
{
        CallFacts f = { 0 };

        for (guint32 i = 0; i < 3000; i++)
                call_facts_add_wait(&f, i, i + 1, 10 * i);
        call_facts_add_wait(&f, 7, 3, 4);
        expect(&f, 7, (CallFact){ .workers = 8, .wait = 70 });
        call_column_move(&f.column, 5, 7, 2);
        expect(&f, 5, (CallFact){ .workers = 8, .wait = 70 });
        expect(&f, 6, (CallFact){ .workers = 9, .wait = 80 });
        expect(&f, 7, (CallFact){ .workers = 8, .wait = 70 });
        call_column_move(&f.column, 2998, 2999, 3);
        expect(&f, 2998, (CallFact){ .workers = 3000, .wait = 29990 });
        expect(&f, 2999, (CallFact){ 0 });
        call_facts_drop(&f, 6);
        expect(&f, 0, (CallFact){ .workers = 9, .wait = 80 });
        expect(&f, 2991, (CallFact){ .workers = 2998, .wait = 29970 });
        expect(&f, 2994, (CallFact){ 0 });
        g_assert_cmpuint(f.column.n, ==, 2994);
        call_facts_drop(&f, 5000);
        expect(&f, 0, (CallFact){ 0 });
        call_facts_clear(&f);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/call-facts/attributes", test_attributes);
        g_test_add_func("/call-facts/drop", test_drop);
        g_test_add_func("/call-facts/calls", test_calls);
        return g_test_run();
}
