/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A result file is there whole or not at all.
 */
#include "tracefmt/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/unit/scratch.h"

static OutputFile *open_output(const char *path, gboolean in_place)
{
        g_autoptr(GError) error = NULL;
        OutputFile *out = output_file_new(path, in_place, &error);

        g_assert_no_error(error);
        g_assert_cmpstr(output_file_name(out), ==, path);
        return out;
}

static void put(OutputFile *out, const char *text)
{
        g_autoptr(GError) error = NULL;

        g_assert_true(output_file_write(out, text, strlen(text), &error));
        g_assert_no_error(error);
}

static void close_output(OutputFile *out)
{
        g_autoptr(GError) error = NULL;

        g_assert_true(output_file_close(out, &error));
        g_assert_no_error(error);
}

static void assert_holds(const char *path, const char *expected)
{
        g_autofree char *text = NULL;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, expected);
}

/* Nothing by the final name, and one temporary file, until it is closed. */
static void test_absent(void)
{
        g_autofree char *path = scratch_path("out");
        OutputFile *out;

        scratch_empty();
        out = open_output(path, FALSE);
        put(out, "half");
        g_assert_true(output_file_flush(out, NULL));
        g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
        g_assert_cmpuint(scratch_count(), ==, 1);
        put(out, " and half");
        close_output(out);
        assert_holds(path, "half and half");
        g_assert_cmpuint(scratch_count(), ==, 1);
}

static void test_replaced(void)
{
        g_autofree char *path = scratch_write("out", "old", -1);
        OutputFile *out = open_output(path, FALSE);

        put(out, "new");
        assert_holds(path, "old");
        close_output(out);
        assert_holds(path, "new");
}

static void test_given_up(void)
{
        g_autofree char *path = NULL;
        OutputFile *out;

        scratch_empty();
        path = scratch_write("out", "old", -1);
        out = open_output(path, FALSE);
        put(out, "new");
        output_file_free(out);
        assert_holds(path, "old");
        g_assert_cmpuint(scratch_count(), ==, 1);
        output_file_free(NULL);
}

/* As open() would make it, not as mkstemp() does. */
static void test_permissions(void)
{
        g_autofree char *path = NULL;
        struct stat st;
        mode_t mask = umask(027);

        scratch_empty();
        path = scratch_path("out");
        close_output(open_output(path, FALSE));
        g_assert_cmpint(stat(path, &st), ==, 0);
        g_assert_cmpuint(st.st_mode & 0777, ==, 0640);
        umask(mask);
}

static void test_in_place(void)
{
        g_autofree char *path = NULL;
        OutputFile *out;

        scratch_empty();
        path = scratch_path("out");
        out = open_output(path, TRUE);
        put(out, "live");
        g_assert_true(output_file_flush(out, NULL));
        assert_holds(path, "live");
        output_file_free(out); /* what was written stays */
        assert_holds(path, "live");
        g_assert_cmpuint(scratch_count(), ==, 1);
}

/* A link stays a link; its target is written. */
static void test_link(void)
{
        g_autofree char *target = NULL, *link_path = NULL;
        OutputFile *out;

        scratch_empty();
        target = scratch_write("target", "old and long", -1);
        link_path = scratch_path("link");
        g_assert_cmpint(symlink("target", link_path), ==, 0);
        out = open_output(link_path, FALSE);
        put(out, "new");
        close_output(out);
        g_assert_true(g_file_test(link_path, G_FILE_TEST_IS_SYMLINK));
        assert_holds(target, "new");
        g_assert_cmpuint(scratch_count(), ==, 2);
}

static void test_device(void)
{
        struct stat st;
        OutputFile *out = open_output("/dev/null", FALSE);

        put(out, "gone");
        close_output(out);
        g_assert_cmpint(stat("/dev/null", &st), ==, 0);
        g_assert_true(S_ISCHR(st.st_mode));
}

/* More than fits any buffer, in pieces of all sizes. */
static void test_large(void)
{
        enum { SIZE = 1000000 };
        g_autofree char *path = scratch_path("large"), *data = g_malloc(SIZE + 1), *found = NULL;
        OutputFile *out = open_output(path, FALSE);
        gsize n;

        for (gsize i = 0; i < SIZE; i++)
                data[i] = 'a' + i * 7 % 26;
        for (gsize at = 0, piece = 1; at < SIZE; at += piece, piece = piece * 3 % 200003) {
                piece = MIN(piece, SIZE - at);
                g_assert_true(output_file_write(out, data + at, piece, NULL));
        }
        close_output(out);
        g_assert_true(g_file_get_contents(path, &found, &n, NULL));
        g_assert_cmpmem(found, n, data, SIZE);
}

static void test_full_disk(void)
{
        g_autoptr(GError) error = NULL;
        OutputFile *out = open_output("/dev/full", FALSE);

        put(out, "little"); /* is noticed in the end */
        g_assert_false(output_file_close(out, &error));
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
        g_assert_nonnull(strstr(error->message, "/dev/full"));
}

/* The reader of a pipe has gone. */
static void test_closed_pipe(void)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *path = NULL;
        OutputFile *out;
        int ends[2];

        g_assert_cmpint(pipe(ends), ==, 0);
        path = g_strdup_printf("/proc/self/fd/%d", ends[1]);
        out = open_output(path, FALSE);
        close(ends[0]);
        close(ends[1]);
        put(out, "text");
        g_assert_false(output_file_close(out, &error));
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_PIPE);
}

static void test_no_directory(void)
{
        g_autofree char *path = scratch_path("none/out");
        g_autoptr(GError) error = NULL, in_place = NULL, by_name = NULL;

        g_assert_null(output_file_new(path, FALSE, &error));
        g_assert_error(error, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
        g_assert_null(output_file_new(path, TRUE, &in_place));
        g_assert_error(in_place, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
        g_assert_null(output_path_temporary(path, &by_name));
        g_assert_error(by_name, RAVEL_ERROR, RAVEL_ERROR_OUTPUT);
}

static void test_by_name(void)
{
        g_autofree char *path = NULL, *temporary = NULL, *device = NULL;

        scratch_empty();
        path = scratch_path("out");
        temporary = output_path_temporary(path, NULL);
        g_assert_cmpstr(temporary, !=, path);
        g_assert_true(g_file_set_contents(temporary, "text", -1, NULL));
        g_assert_true(output_path_commit(temporary, path, NULL));
        assert_holds(path, "text");
        g_assert_cmpuint(scratch_count(), ==, 1);

        device = output_path_temporary("/dev/null", NULL);
        g_assert_cmpstr(device, ==, "/dev/null");
        g_assert_true(output_path_commit(device, "/dev/null", NULL));
}

static void test_scratch_new(void)
{
        g_autoptr(GError) error = NULL;
        char *path = output_scratch_new(".sqlite", &error), *other = output_scratch_new("", &error);

        g_assert_no_error(error);
        g_assert_true(g_str_has_prefix(path, g_get_tmp_dir()) && g_str_has_suffix(path, ".sqlite"));
        g_assert_cmpstr(path, !=, other);
        g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
        g_autofree char *name = g_strdup(path);
        output_scratch_remove(path);
        g_assert_false(g_file_test(name, G_FILE_TEST_EXISTS));
        output_scratch_remove(other);
        output_scratch_remove(NULL);
}

int main(int argc, char **argv)
{
        int status;

        g_test_init(&argc, &argv, NULL);
        signal(SIGPIPE, SIG_IGN);
        scratch_make();
        g_test_add_func("/output-file/absent", test_absent);
        g_test_add_func("/output-file/replaced", test_replaced);
        g_test_add_func("/output-file/given-up", test_given_up);
        g_test_add_func("/output-file/permissions", test_permissions);
        g_test_add_func("/output-file/in-place", test_in_place);
        g_test_add_func("/output-file/link", test_link);
        g_test_add_func("/output-file/device", test_device);
        g_test_add_func("/output-file/large", test_large);
        g_test_add_func("/output-file/full-disk", test_full_disk);
        g_test_add_func("/output-file/closed-pipe", test_closed_pipe);
        g_test_add_func("/output-file/no-directory", test_no_directory);
        g_test_add_func("/output-file/by-name", test_by_name);
        g_test_add_func("/output-file/scratch-new", test_scratch_new);
        status = g_test_run();
        scratch_remove();
        return status;
}
