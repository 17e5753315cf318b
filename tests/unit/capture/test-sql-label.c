/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "capture/protocol/sql-label.h"

static void check(const char *statement, const char *expected)
{
        g_autoptr(GString) label = g_string_new(NULL);
        gsize n = strlen(statement);
        for (gsize cut = 0; cut <= n; cut++) { /* in memory of its own, for the sanitizers */
                g_autofree guint8 *copy = g_memdup2(statement, cut);
                g_string_truncate(label, 0);
                sql_label_append(label, copy, cut);
        }
        g_assert_cmpstr(label->str, ==, expected);
}

static void test_labels(void)
{
        check("SELECT * FROM items WHERE name = 'FROM secret'", "SELECT items");
        check("select a, ' from secret ' from t", "SELECT t");
        check("/* by: me */ -- and\n ( SELECT 1 ) ", "SELECT");
        check("SELECT extract(year FROM day) FROM public.\"Orders\" o", "SELECT public.Orders");
        check("SELECT * FROM (SELECT x FROM inner_table) q", "SELECT inner_table");
        check("INSERT INTO `shop`.`t` VALUES ('secret')", "INSERT shop.t");
        check("INSERT IGNORE INTO t VALUES (1)", "INSERT t");
        check("update only t set x = 'secret'", "UPDATE t");
        check("DELETE FROM t", "DELETE t");
        check("COPY t (a) FROM STDIN", "COPY t");
        check("COPY (SELECT * FROM t) TO STDOUT", "COPY");
        check("TRUNCATE TABLE t", "TRUNCATE t");
        check("CREATE TABLE IF NOT EXISTS t (x int)", "CREATE t");
        check("DROP TABLE IF EXISTS t", "DROP t");
        check("WITH q AS (SELECT 1) SELECT * FROM q", "WITH q");
        check("SET password = 'secret'", "SET");
        check("BEGIN", "BEGIN");
        check("SELECT 'it''s from secret' FROM t", "SELECT t");
        /* Dialects differ: what looks like code may be a value. */
        check("SELECT 'it\\'s from secret' FROM t", "SELECT");
        check("SELECT \"a\\\" from secret \" FROM t", "SELECT");
        check("SELECT $$ from secret $$ FROM t", "SELECT");
        check("SELECT $x$ from secret $x$ FROM t", "SELECT");
        check("SELECT # from secret\n * FROM t", "SELECT");
        check("SELECT * FROM t WHERE a = $1 AND b = 'x\\'", "SELECT t");
        check("secret", "");
        check("'secret'", "");
        check("", "");
}

static gboolean plausible(const char *text, gboolean whole)
{
        return sql_is_plausible((const guint8 *)text, strlen(text), whole);
}

static void test_plausible(void)
{
        g_assert_true(plausible("SELECT 1", TRUE));
        g_assert_true(plausible(" /* x */ (select 1)", TRUE));
        g_assert_true(plausible("SEL", FALSE));
        g_assert_false(plausible("SEL", TRUE));
        g_assert_false(plausible("GET / HTTP", FALSE));
        g_assert_false(plausible("SELECT \1", FALSE));
        g_assert_false(plausible("", TRUE));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/sql-label/labels", test_labels);
        g_test_add_func("/sql-label/plausible", test_plausible);
        return g_test_run();
}
