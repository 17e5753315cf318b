/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs a fuzz target over the files named, where there is no fuzzer: how
 * `make check` replays inputs that once did harm.
 */
#include <glib.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize n);

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                g_autofree char *data = NULL;
                g_autoptr(GError) error = NULL;
                gsize n;
                if (!g_file_get_contents(argv[i], &data, &n, &error)) {
                        fprintf(stderr, "%s\n", error->message);
                        return 1;
                }
                LLVMFuzzerTestOneInput((const guint8 *)data, n);
        }
        return 0;
}
