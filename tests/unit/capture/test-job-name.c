/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What jobs of several frameworks ask for.
 */
#include <string.h>

#include "capture/protocol/job-name.h"

static void check(const char *job, const char *expected)
{
        g_autoptr(GString) label = g_string_new("deliver q");

        g_assert_cmpint(job_name_append_json(label, (const guint8 *)job, strlen(job), NULL), ==,
                        *expected != '\0');
        if (*expected)
                g_assert_cmpstr(label->str + strlen("deliver q "), ==, expected);
        else
                g_assert_cmpstr(label->str, ==, "deliver q");
}

static void test_json(void)
{
        check("{\"retry\":true,\"queue\":\"default\",\"class\":\"HardJob\",\"args\":[1]}",
              "HardJob");
        check("{\"class\":\"ActiveJob::QueueAdapters::SidekiqAdapter::JobWrapper\","
              "\"wrapped\":\"Shop::Pay\",\"args\":[{\"job_class\":\"x\"}]}",
              "Shop::Pay");
        check("{\"uuid\":\"9f\",\"displayName\":\"App\\\\Jobs\\\\SendMail\",\"job\":\"a@call\"}",
              "App\\Jobs\\SendMail");
        check("{\"body\": \"W1tdXQ==\", \"headers\": {\"lang\": \"py\", \"task\": \"shop.pay\","
              " \"id\": \"9f\"}, \"properties\": {\"task\": \"no\"}}",
              "shop.pay");
        check("{\"id\":\"9f\",\"task\":\"shop.pay\",\"args\":[]}", "shop.pay");
        check("{\"queue_name\":\"default\",\"actor_name\":\"pay\",\"args\":[]}", "pay");
        check(" {\"class\":\"A\"}", "");
        check("[\"class\",\"A\"]", "");
        check("{\"class\":{\"class\":\"A\"},\"args\":{\"task\":\"no\"}}", "");
        check("{\"class\":7,\"task\":null}", "");
        check("{\"class\":\"two words\"}", "");
        check("{\"class\":\"\"}", "");
        check("", "");
}

/* What was seen before the text ends, or is no JSON any more, counts. */
static void test_cut(void)
{
        check("{\"class\":\"A\",\"args\":[\"a long", "A");
        check("{\"class\":\"A\"!", "A");
        check("{\"args\":[\"a long", "");
        check("{\"class\":\"A", "");
}

static void test_names(void)
{
        char name[MAX_JOB_NAME + 2];
        g_autoptr(GString) label = g_string_new(NULL);

        memset(name, 'a', sizeof name);
        g_assert_false(job_name_append(label, name, MAX_JOB_NAME + 1));
        g_assert_false(job_name_append(label, "a\xc3\xa9", 3));
        g_assert_false(job_name_append(label, "a\n", 2));
        g_assert_cmpuint(label->len, ==, 0);
        g_assert_true(job_name_append(label, name, MAX_JOB_NAME));
        g_assert_cmpuint(label->len, ==, MAX_JOB_NAME);
        g_assert_true(job_name_is_header("task", 4));
        g_assert_true(job_name_is_header("__TypeId__", 10));
        g_assert_false(job_name_is_header("tasks", 5));
        g_assert_false(job_name_is_header("", 0));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/job-name/json", test_json);
        g_test_add_func("/job-name/cut", test_cut);
        g_test_add_func("/job-name/names", test_names);
        return g_test_run();
}
