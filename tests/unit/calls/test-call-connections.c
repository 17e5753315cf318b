/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-connections.h"

#include <string.h>

static void add(CallConnections *c, guint64 call, NodeId callee, const char *id, const char *attrs)
{
        Message m = { .sender = 1, .receiver = callee, .op = CALL_SENT };
        Attributes space;

        message_set_id(&m, id, strlen(id));
        m.attrs = attrs;
        m.attrs_length = (guint32)strlen(attrs);
        call_connections_add(c, call, &m, attributes_of(&m, &space));
}

static void expect(const CallConnections *c, guint32 call, guint32 connection, gint64 lead)
{
        g_assert_cmpuint(call_connections_get(c, call).connection, ==, connection);
        g_assert_cmpint(call_connections_get(c, call).lead, ==, lead);
}

/* Caller, callee and port tell connections apart, and openings, and numbers. */
static void test_ports(void)
{
        CallConnections c = { .by_id = TRUE };

        add(&c, 0, 2, "9c40.1", "syn=500");
        add(&c, 1, 2, "9c40.2", "label=x");
        add(&c, 2, 3, "9c40.1", "");
        add(&c, 3, 2, "9c40.3", "syn=7 label=x");
        add(&c, 4, 2, "9c40.4", "conn=1");
        add(&c, 6, 2, "9c40.5", "");
        add(&c, 7, 2, "-", "");
        add(&c, 8, 2, "9c41", "syn=x");
        expect(&c, 0, 1, 500);
        expect(&c, 1, 1, 0);
        expect(&c, 2, 2, 0);
        expect(&c, 3, 3, 7);
        expect(&c, 4, 4, 0);
        expect(&c, 5, 0, 0);
        expect(&c, 6, 3, 0);
        expect(&c, 7, 0, 0);
        expect(&c, 8, 0, 0);
        expect(&c, 100, 0, 0);
        call_column_move(&c.column, 1, 3, 2);
        expect(&c, 1, 3, 7);
        expect(&c, 2, 4, 0);
        call_column_drop(&c.column, 2);
        expect(&c, 0, 4, 0);
        call_connections_clear(&c);
}

/* Without the fact only conn= does. */
static void test_numbers(void)
{
        CallConnections c = { 0 };
        add(&c, 0, 2, "9c40.1", "syn=5");
        add(&c, 1, 2, "-", "conn=7");
        add(&c, 2, 2, "x", "conn=7");
        add(&c, 3, 2, "x", "conn=99999999999999999999");
        call_connections_add_transaction(&c, 1);
        expect(&c, 0, 0, 0);
        expect(&c, 1, 1, 0);
        expect(&c, 2, 1, 0);
        expect(&c, 3, 0, 0);
        g_assert_true(call_connections_get(&c, 1).transaction);
        g_assert_false(call_connections_get(&c, 2).transaction);
        call_connections_clear(&c);
}

static void test_facts(void)
{
        char *facts[] = { "source: x", "ids: connection.sequence", "ids: other" };

        g_assert_true(call_connections_by_id(facts, 2));
        g_assert_false(call_connections_by_id(facts, 1));
        g_assert_false(call_connections_by_id(facts + 2, 1));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/call-connections/ports", test_ports);
        g_test_add_func("/call-connections/numbers", test_numbers);
        g_test_add_func("/call-connections/facts", test_facts);
        return g_test_run();
}
