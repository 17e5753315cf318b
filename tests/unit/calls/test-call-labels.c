/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/call-labels.h"

#include <string.h>

static void add(CallLabels *l, guint64 call, const char *attrs)
{
        Message m = { .op = CALL_SENT, .attrs = attrs, .attrs_length = (guint32)strlen(attrs) };
        Attributes space;

        call_labels_add(l, call, attributes_of(&m, &space)->label);
}

/* NULL: the call has none. */
static void expect(const CallLabels *l, guint32 call, const char *name)
{
        guint16 number = call_labels_get(l, call);

        g_assert_cmpstr(number ? l->names->pdata[number - 1] : NULL, ==, name);
}

/* The first stamp that has a label counts, a gap has none, and the first calls are forgotten. */
static void test_calls(void)
{
        CallLabels l;

        call_labels_init(&l);
        add(&l, 0, "");
        add(&l, 1, "label=a bytes=1");
        add(&l, 1, "label=b");
        add(&l, 2, "bytes=1");
        add(&l, 2, "label=b");
        add(&l, 4, "syn=1 label=a");
        add(&l, (guint64)G_MAXUINT32, "label=c");
        expect(&l, 0, NULL);
        expect(&l, 1, "a");
        expect(&l, 2, "b");
        expect(&l, 3, NULL);
        expect(&l, 4, "a");
        expect(&l, 5, NULL);
        g_assert_cmpuint(l.column.n, ==, 5);
        g_assert_cmpuint(l.names->len, ==, 2);
        add(&l, 3000, "label=d");
        expect(&l, 4, "a");
        expect(&l, 2999, NULL);
        expect(&l, 3000, "d");
        call_column_move(&l.column, 1, 2, 3);
        expect(&l, 1, "b");
        expect(&l, 2, NULL);
        expect(&l, 3, "a");
        call_column_drop(&l.column, 3);
        expect(&l, 0, "a");
        expect(&l, 2997, "d");
        expect(&l, 2998, NULL);
        add(&l, 3002, "label=a"); /* where those stood that are fewer numbers now */
        expect(&l, 3000, NULL);
        call_column_drop(&l.column, 5000);
        expect(&l, 0, NULL);
        g_assert_cmpuint(l.column.n, ==, 0);
        call_labels_clear(&l);
}

/* Labels that share a place in the cache of recent look-ups, and one that begins another place. */
static void test_many(void)
{
        enum { N = 2000 };
        CallLabels l;

        call_labels_init(&l);
        for (guint32 turn = 0; turn < 2; turn++)
                for (guint32 i = 0; i < N; i++) {
                        g_autofree char *attrs = g_strdup_printf("label=%u", i);

                        add(&l, turn * N + i, attrs);
                }
        g_assert_cmpuint(l.names->len, ==, N);
        for (guint32 i = 0; i < 2 * N; i++) {
                g_autofree char *name = g_strdup_printf("%u", i % N);

                expect(&l, i, name);
        }
        call_labels_clear(&l);
}

/* A label that starts like the one that was looked for last, and has its place, is another. */
static void test_beginning(void)
{
        CallLabels l;

        call_labels_init(&l);
        add(&l, 0, "label=GET%20/a/b");
        for (guint i = 0; i < G_N_ELEMENTS(l.cache); i++)
                l.cache[i] = 1; /* it has every place */
        add(&l, 1, "label=GET%20/a");
        add(&l, 2, "label=GET%20/a/b");
        expect(&l, 1, "GET /a");
        expect(&l, 2, "GET /a/b");
        call_labels_clear(&l);
}

/* What stands for no text stays as it is written. */
static void test_escapes(void)
{
        static const char *const labels[][2] = {
                { "GET%20/%41", "GET /A" }, { "%c3%a9", "\303\251" },
                { "100%", "100%" },         { "%4", "%4" },
                { "%zz", "%zz" },           { "%2", "%2" },
                { "a%00b", "a%00b" },       { "%ff", "%ff" },
                { "%41%ff", "%41%ff" },
        };
        CallLabels l;

        call_labels_init(&l);
        for (guint32 i = 0; i < G_N_ELEMENTS(labels); i++) {
                g_autofree char *attrs = g_strdup_printf("label=%s", labels[i][0]);

                add(&l, i, attrs);
                expect(&l, i, labels[i][1]);
                g_assert_cmpstr(l.written->pdata[i], ==, labels[i][0]);
        }
        call_labels_clear(&l);
}

/* There are 65,535; the others are none. */
static void test_too_many(void)
{
        CallLabels l;

        call_labels_init(&l);
        for (guint32 i = 0; i <= G_MAXUINT16; i++) {
                g_autofree char *attrs = g_strdup_printf("label=%u", i);

                add(&l, i, attrs);
        }
        expect(&l, G_MAXUINT16 - 1, "65534");
        expect(&l, G_MAXUINT16, NULL);
        g_assert_cmpuint(l.names->len, ==, G_MAXUINT16);
        call_labels_clear(&l);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/call-labels/calls", test_calls);
        g_test_add_func("/call-labels/many", test_many);
        g_test_add_func("/call-labels/beginning", test_beginning);
        g_test_add_func("/call-labels/escapes", test_escapes);
        g_test_add_func("/call-labels/too-many", test_too_many);
        return g_test_run();
}
